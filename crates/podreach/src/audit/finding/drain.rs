//! F0107: is there a node without which a workload has nowhere to run?

use std::collections::BTreeSet;

use podreach_core::rule::hard;
use podreach_core::{Action, Goal, NodeId, PodId, Verdict};

use super::Finding;
use super::scene::{From, Scene, Subject};
use crate::audit::changed::Step;
use crate::audit::item::{Item, Severity};
use crate::audit::policy::ruling::reason;
use crate::lower::Kind;
use crate::words;

/// A workload that one drain leaves without a node.
pub(super) const DRAIN: Finding = Finding {
    code: "F0107",
    title: "a drain of one node leaves it nowhere to run",
    severity: Severity::Warning,
    explanation: "While this node is drained, or lost, no other node can ever take the workload's pods, even with everything else out of \
        the way: an upgrade of the node is an outage of the workload.",
    fix: "Let it also run on another node: label or add one, tolerate its taints, or loosen the constraint that names the only place.",
};

/// How many other runs are looked at, which may do without the nodes of the first.
const OTHER_RUNS: usize = 3;

/// Looks for it; in a cluster of one node it goes without saying.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    if scene.now.model.nodes().len() < 2 {
        return Vec::new();
    }
    let lasting = [Kind::Deployment, Kind::StatefulSet, Kind::ReplicaSet, Kind::ReplicationController];
    let subjects: Vec<Subject> =
        scene.subjects.iter().filter(|subject| lasting.contains(&subject.kind)).cloned().collect();
    scene.each(&subjects, item)
}

fn item(scene: &mut Scene<'_>, subject: &Subject) -> Option<Item> {
    let (mut nodes, mut evidence, mut open) = (Vec::new(), Vec::new(), None);
    for node in candidates(scene, subject.pod) {
        let drained = scene.world.made(&Step::Drain(node));
        let goal = scene.anywhere(subject.pod);
        let decision = scene.ask_of(&drained.problem, &goal);
        if decision.checked.answer().is_none() {
            open.get_or_insert((drained.model().node_name(node).to_owned(), reason(&decision)));
        }
        if decision.checked.answer() == Some(false) {
            let name = drained.model().node_name(node).to_owned();
            let shows = format!("with {name} drained no node can ever run it");
            let changed = Some(format!("{name} is drained"));
            evidence.push(scene.evidence_of(&drained, shows, decision, changed));
            nodes.push(name);
        }
    }
    if nodes.is_empty() {
        let (node, why) = open?;
        let what = format!("whether {} has a place while {node} is drained", subject.shown());
        return scene.undecided(&DRAIN, &subject.names, &what, &why);
    }
    let which = if nodes.len() == 1 { nodes[0].clone() } else { format!("any of {}", words::all(&nodes)) };
    let message = format!("draining {which} leaves {} nowhere to run", subject.shown());
    let severity = if is_pinned(scene, subject.pod) { Severity::Note } else { DRAIN.severity };
    Some(Item { severity, evidence, ..scene.item(&DRAIN, &subject.names, message) })
}

/// The nodes whose drain could matter: those that a run to the workload uses. A run without a node survives its drain.
fn candidates(scene: &mut Scene<'_>, pod: PodId) -> Vec<NodeId> {
    let m = scene.model();
    let easy: Vec<NodeId> = m.nodes().filter(|&node| hard(&m, &scene.fresh.start, pod, node)).take(2).collect();
    match easy.as_slice() {
        [_, _, ..] => return Vec::new(),
        [one] => return vec![*one],
        [] => {}
    }
    let goal = scene.anywhere(pod);
    let Some(mut used) = used(scene, &goal) else { return Vec::new() };
    for node in m.nodes().rev().filter(|&node| m.placeable(pod, node)).take(OTHER_RUNS) {
        let Some(others) = self::used(scene, &Goal::atom((pod, node))).filter(|_| !used.is_empty()) else { continue };
        used.retain(|node| others.contains(node));
    }
    used.into_iter().collect()
}

/// The nodes that a run to a goal from nothing uses, if there is one.
fn used(scene: &mut Scene<'_>, goal: &Goal) -> Option<BTreeSet<NodeId>> {
    let decision = scene.ask(From::Fresh, goal);
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return None };
    let used = trace.iter().filter_map(|action| match action {
        Action::Deploy(_, node) => Some(node),
        _ => None,
    });
    Some(used.collect())
}

/// Whether a pod names its node: then someone decided that it runs there and nowhere else.
fn is_pinned(scene: &Scene<'_>, pod: PodId) -> bool {
    let m = &scene.now.model;
    let spec = m.pod(pod);
    let hostname = m.cluster().symbols.symbol("kubernetes.io/hostname");
    let by_label = hostname.is_some_and(|key| spec.node_selector.value(key).is_some());
    let by_term = spec.node_affinity.as_ref().is_some_and(|terms| {
        terms
            .iter()
            .all(|term| !term.names.is_empty() || term.expressions.iter().any(|(key, _)| Some(*key) == hostname))
    });
    spec.node_name.is_some() || by_label || by_term
}
