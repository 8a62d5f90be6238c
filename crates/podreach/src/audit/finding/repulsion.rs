//! F0114: whose anti-affinity keeps pods of other namespaces out?

use std::collections::BTreeMap;

use podreach_core::cluster::Term;
use podreach_core::{Atom, Goal, Model, PodId, Semantics};

use super::Finding;
use super::scene::{From, Open, Scene, Subject, ruled_out};
use crate::audit::item::{Evidence, Item, Severity};
use crate::words;

/// An anti-affinity that reaches into other namespaces.
pub(super) const KEEPS_OUT: Finding = Finding {
    code: "F0114",
    title: "its anti-affinity keeps pods of other namespaces out",
    severity: Severity::Warning,
    explanation: "Required anti-affinity is symmetric: while a pod with such a term runs, kube-scheduler refuses every pod that the term \
        matches from its domain, whoever owns it. Whoever may deploy this workload can keep the others out of nodes, or of whole zones.",
    fix: "Leave out namespaces and namespaceSelector, so that the term looks at its own namespace only; or use preferred anti-affinity.",
};

/// The most blocked pod types for which a proof is shown.
const SHOWN: usize = 4;

/// The most pod types that are looked at for one workload.
const MOST: usize = 200;

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    if scene.now.model.semantics() == Semantics::Paper {
        return Vec::new();
    }
    let subjects = scene.subjects.clone();
    scene.each(&subjects, |scene, subject| item(scene, subject, &subjects))
}

fn item(scene: &mut Scene<'_>, subject: &Subject, others: &[Subject]) -> Option<Item> {
    let m = scene.model();
    let mut blocked = BTreeMap::<String, Vec<String>>::new();
    let (mut evidence, mut open) = (Vec::new(), None);
    for &term in &m.pod(subject.pod).anti_affinity {
        for other in others.iter().filter(|other| is_foreign(&m, subject.pod, term, other.pod)).take(MOST) {
            let shown = match meeting(scene, subject.pod, term, other.pod) {
                Ok(Some(shown)) => shown,
                Ok(None) => continue,
                Err(why) => {
                    open.get_or_insert((other.names[0].clone(), why));
                    continue;
                }
            };
            let namespace = m.str(m.cluster().namespaces[m.pod(other.pod).namespace]).to_owned();
            let names = blocked.entry(namespace).or_default();
            if !names.contains(&other.names[0]) {
                names.push(other.names[0].clone());
                evidence.push(shown);
            }
        }
    }
    if blocked.is_empty() {
        let (other, why) = open?;
        let what = format!("whether {} can keep {other} out", subject.shown());
        return scene.undecided(&KEEPS_OUT, &subject.names, &what, &why.to_string());
    }
    evidence.truncate(SHOWN);
    let namespaces: Vec<String> = blocked.keys().cloned().collect();
    let names = words::first(blocked.values().flatten().cloned().collect::<Vec<_>>().into_iter(), 4);
    let home = m.str(m.cluster().namespaces[m.pod(subject.pod).namespace]);
    let message = format!(
        "{} of namespace {home} can keep pods of {} out: {}",
        subject.shown(),
        words::all(&words::first(namespaces.into_iter(), 4)),
        words::all(&names),
    );
    Some(Item { evidence, ..scene.item(&KEEPS_OUT, &subject.names, message) })
}

/// Whether a term of a resident pod refuses another that is of another namespace.
fn is_foreign(m: &Model, pod: PodId, term: Term, other: PodId) -> bool {
    m.pod(pod).namespace != m.pod(other).namespace && m.notices(term.matcher, other)
}

/// The evidence that two pods which may use one domain are never in it together, if so; the error says why that is not known.
fn meeting(scene: &mut Scene<'_>, pod: PodId, term: Term, other: PodId) -> Result<Option<Evidence>, Open> {
    let m = scene.model();
    let Some([a, b]) = shared(&m, pod, term, other) else { return Ok(None) };
    let goal = Goal::all([(a, 1), (b, 1)].into_iter().collect());
    let decision = scene.ask(From::Fresh, &goal);
    let shows = format!("{} and {} can never be there together", words::atom(&m, a), words::atom(&m, b));
    ruled_out(shows, decision)
}

/// Two nodes of one domain, or one, that the two may use.
fn shared(m: &Model, pod: PodId, term: Term, other: PodId) -> Option<[Atom; 2]> {
    m.nodes().filter(|&node| m.placeable(pod, node)).find_map(|node| {
        let near = m.neighbours(term.key, node).iter().copied().find(|&near| m.placeable(other, near))?;
        Some([(pod, node), (other, near)])
    })
}
