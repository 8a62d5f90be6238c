//! F0110: can every domain that a spread constraint counts ever have a pod?
//!
//! A domain that stays empty holds the minimum at zero, and then no domain ever has more than maxSkew. A domain whose nodes all come and go
//! is not one: it is counted only while one of them is there.

use std::collections::BTreeMap;

use podreach_core::id::DomainId;
use podreach_core::rule::{hard, spread};
use podreach_core::{Configuration, Goal, Model, NodeId, PodId};

use super::Finding;
use super::scene::{From, Open, Scene, Subject, ruled_out};
use crate::audit::item::{Evidence, Item, Severity};
use crate::words;

/// A spread constraint with a domain that stays empty.
pub(super) const MINIMUM: Finding = Finding {
    code: "F0110",
    title: "a spread constraint counts a domain that can never have a pod",
    severity: Severity::Warning,
    explanation: "A hard topology spread constraint lets no domain get further ahead of the emptiest one than maxSkew. A domain that can \
        never have a matching pod stays at zero, so no other domain ever has more than maxSkew of them, however many are asked for.",
    fix: "Leave the domain out of the count: nodeTaintsPolicy: Honor for tainted nodes, node affinity for others; or let the pods run there.",
};

/// The most alternatives of one question.
const ALTERNATIVES: usize = 4_096;

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let subjects: Vec<Subject> =
        scene.subjects.iter().filter(|subject| !scene.now.model.pod(subject.pod).spread.is_empty()).cloned().collect();
    scene.each(&subjects, |scene, subject| {
        let constraints = 0..scene.now.model.pod(subject.pod).spread.len();
        constraints.filter_map(|index| item(scene, subject, index)).collect::<Vec<_>>()
    })
}

fn item(scene: &mut Scene<'_>, subject: &Subject, index: usize) -> Option<Item> {
    let m = scene.model();
    let constraint = m.pod(subject.pod).spread[index];
    let domains = domains(&m, subject.pod, index);
    if !spread::counts_pods(&m, &constraint) || !m.sees_unbound(constraint.matcher, subject.pod) {
        return None;
    }
    let noun = words::domain(&m, constraint.key, true);
    let settled = domains.values().flatten().all(|&node| !m.comes_and_goes(node));
    let few = settled && (domains.len() as u64) < constraint.min_domains;
    let mut empty = Vec::new();
    let (mut evidence, mut open) = (Vec::new(), None);
    let lasting = domains.values().filter(|nodes| nodes.iter().any(|&node| !m.comes_and_goes(node)));
    for nodes in lasting.filter(|_| !few) {
        match stays_empty(scene, subject.pod, index, nodes) {
            Ok(Some(shown)) => {
                evidence.push(shown);
                empty.push(words::near(&m, constraint.key, nodes[0]));
            }
            Ok(None) => {}
            Err(why) => open = open.or(Some((words::near(&m, constraint.key, nodes[0]), why))),
        }
    }
    // If all stay empty, the workload cannot run at all, which is another finding.
    let live = domains.len() - empty.len();
    if live == 0 || (empty.is_empty() && !few) {
        let (near, why) = open?;
        let what = format!("whether a pod that {} counts can ever run {near}", subject.shown());
        return scene.undecided(&MINIMUM, &subject.names, &what, &why.to_string());
    }
    let why = match few {
        true => format!("it asks for {} {noun} and there are {}", constraint.min_domains, domains.len()),
        false => format!("none can ever run {}", words::either(&words::first(empty.into_iter(), 4))),
    };
    // Nodes that come may bring more domains.
    let room = if settled { constraint.max_skew.saturating_mul(live as u64) } else { u64::MAX };
    let message = match settled {
        true => format!("{} can have only {room} pods over all {noun}, maxSkew in each: {why}", subject.shown()),
        false => format!("{} can have only maxSkew pods in each of the {noun}: {why}", subject.shown()),
    };
    let replicas = replicas(scene, subject);
    let severity = if replicas <= room { Severity::Note } else { MINIMUM.severity };
    let mut item = scene.item(&MINIMUM, &subject.names, message);
    item.subject.push(m.str(m.cluster().keys[constraint.key]).to_owned());
    Some(Item { severity, evidence, ..item })
}

/// The nodes of each domain that a constraint counts.
fn domains(m: &Model, pod: PodId, index: usize) -> BTreeMap<DomainId, Vec<NodeId>> {
    let key = m.pod(pod).spread[index].key;
    let mut domains = BTreeMap::<DomainId, Vec<NodeId>>::new();
    for node in m.nodes().filter(|&node| m.eligible(pod, index, node)) {
        domains.entry(m.domain(key, node).expect("an eligible node has the key")).or_default().push(node);
    }
    domains
}

/// The evidence that no pod that a constraint counts can ever run on any of some nodes, if so; the error says why that is not known.
fn stays_empty(scene: &mut Scene<'_>, pod: PodId, index: usize, nodes: &[NodeId]) -> Result<Option<Evidence>, Open> {
    let m = scene.model();
    let matcher = m.pod(pod).spread[index].matcher;
    let matching = m.pods().filter(|&q| m.depends_on_node(matcher) || m.sees_unbound(matcher, q));
    let pods: Vec<PodId> = matching.filter(|&q| spread::is_counted(&m, q)).collect();
    if pods.iter().any(|&q| nodes.iter().any(|&node| hard(&m, &scene.fresh.start, q, node))) {
        return Ok(None);
    }
    if pods.len() * nodes.len() > ALTERNATIVES {
        return Err(Open::TooMany);
    }
    let atoms = pods.iter().flat_map(|&q| nodes.iter().map(move |&node| (q, node)));
    let goal = Goal { any: atoms.map(|atom| [(atom, 1)].into_iter().collect::<Configuration>()).collect() };
    let decision = scene.ask(From::Now, &goal);
    let shows =
        format!("no pod that is counted can ever run {}", words::near(&m, m.pod(pod).spread[index].key, nodes[0]));
    ruled_out(shows, decision)
}

fn replicas(scene: &Scene<'_>, subject: &Subject) -> u64 {
    let all = scene.declared();
    let own = all.iter().filter(|(name, ..)| subject.names.iter().any(|own| own == name));
    own.map(|(_, _, declared)| declared.replicas).max().unwrap_or(u64::MAX)
}
