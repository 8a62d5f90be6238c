//! `neverTogether`: no two pods, one of each selection, are ever near each other.
//!
//! Near is: on one node, or on two nodes that share a value of the topology key. A pod that both selections select is near another of
//! its kind; it takes two pods to be together.

use std::collections::BTreeMap;

use podreach_core::{Configuration, Goal, NodeId, PodId};

use super::never::{met, sentence};
use super::ruling::{ALTERNATIVES, Asking, Ruling, reason};
use crate::audit::item::Status;
use crate::words;

/// The most pairs that are looked at one by one.
const PAIRS: usize = 400_000;

/// The nodes by what they are near to: one list per value of the key, and one per node without it.
pub(crate) type Places = Vec<Vec<NodeId>>;

/// Groups nodes by a value each, if it has one.
pub(crate) fn places(nodes: impl Iterator<Item = (NodeId, Option<String>)>) -> Places {
    let (mut shared, mut alone) = (BTreeMap::<String, Vec<NodeId>>::new(), Vec::new());
    for (node, value) in nodes {
        match value {
            Some(value) => shared.entry(value).or_default().push(node),
            None => alone.push(vec![node]),
        }
    }
    shared.into_values().chain(alone).collect()
}

/// Every way for two pods to be together, those on one node first.
pub(crate) fn pairs(a: &[PodId], b: &[PodId], places: &Places, alive: impl Fn(PodId, NodeId) -> bool) -> Goal {
    let mut any: Vec<Configuration> = Vec::new();
    for place in places {
        for (i, &m) in place.iter().enumerate() {
            for &n in &place[i..] {
                add_pairs(a, b, (m, n), &alive, &mut any);
            }
        }
    }
    any.sort_by_key(|pair| pair.iter().map(|((_, node), _)| node).collect::<std::collections::BTreeSet<_>>().len());
    any.dedup();
    Goal { any }
}

fn add_pairs(
    a: &[PodId],
    b: &[PodId],
    (m, n): (NodeId, NodeId),
    alive: &impl Fn(PodId, NodeId) -> bool,
    any: &mut Vec<Configuration>,
) {
    let mut add = |x: (PodId, NodeId), y: (PodId, NodeId)| {
        if alive(x.0, x.1) && alive(y.0, y.1) && any.len() <= PAIRS {
            any.push([(x, 1), (y, 1)].into_iter().collect());
        }
    };
    for &p in a {
        for &q in b {
            add((p, m), (q, n));
            let mirrored = p == q || (a.contains(&q) && b.contains(&p));
            if m != n && !mirrored {
                add((p, n), (q, m));
            }
        }
    }
}

/// Decides the rule.
pub(crate) fn ruling(asking: &mut Asking<'_>, a: &[PodId], b: &[PodId], places: &Places) -> Ruling {
    let all: usize = places.iter().map(|place| place.len() * place.len()).sum::<usize>() * a.len() * b.len();
    let mut evidence = Vec::new();
    let goal = if all <= ALTERNATIVES {
        pairs(a, b, places, |_, _| true)
    } else {
        let dead = dead(asking, a, b, places);
        let goal = pairs(a, b, places, |pod, node| dead.binary_search(&(pod, node)).is_err());
        if !dead.is_empty() {
            let absent = Goal { any: dead.iter().map(|&atom| [(atom, 1)].into_iter().collect()).collect() };
            let decision = asking.answer(&absent);
            if decision.checked.answer() == Some(false) {
                evidence.push(asking.evidence("these pods can never run on these nodes at all", decision));
            }
        }
        goal
    };
    if goal.any.len() > PAIRS {
        let mut ruling = Ruling::new(Status::Undecided, "there are too many pairs of pods and nodes to look at".into());
        ruling.explanation.push("Select fewer pods, or use a finer topology key.".into());
        return ruling;
    }
    for chunk in goal.any.chunks(ALTERNATIVES) {
        let goal = Goal { any: chunk.to_vec() };
        let decision = asking.answer(&goal);
        match decision.checked.answer() {
            Some(true) => return violated(asking, goal, decision),
            Some(false) => evidence.push(asking.evidence("no such two pods are ever together", decision)),
            None => {
                let mut ruling = Ruling::new(Status::Undecided, "not decided whether two of the pods meet".into());
                ruling.explanation.push(sentence(&reason(&decision)));
                ruling.evidence.push(asking.evidence("whether such two pods can meet", decision));
                return ruling;
            }
        }
    }
    let what = format!("{} and {}", words::number(a.len(), "pod type"), words::number(b.len(), "pod type"));
    let mut ruling = Ruling::new(Status::Holds, format!("no two pods selected are ever together ({what})"));
    ruling.evidence = evidence;
    ruling
}

/// The pairs of a pod and a node that can never be, sorted.
fn dead(asking: &mut Asking<'_>, a: &[PodId], b: &[PodId], places: &Places) -> Vec<(PodId, NodeId)> {
    let mut dead = Vec::new();
    let mut pods: Vec<PodId> = a.iter().chain(b).copied().collect();
    pods.sort_unstable();
    pods.dedup();
    for pod in pods {
        for &node in places.iter().flatten() {
            if !asking.is_stopped() && asking.answer(&Goal::atom((pod, node))).checked.answer() == Some(false) {
                dead.push((pod, node));
            }
        }
    }
    dead.sort_unstable();
    dead
}

fn violated(asking: &Asking<'_>, goal: Goal, decision: crate::answer::Sure) -> Ruling {
    let m = asking.world.model();
    let met = met(asking, &goal, &decision);
    let atoms: Vec<String> = met.iter().map(|entry| words::counted(m, entry)).collect();
    let message = format!("{} can be there at the same time", words::all(&atoms));
    let mut ruling = Ruling::new(Status::Violated, message.clone());
    ruling.subject = met.iter().map(|((pod, _), _)| m.pod_name(pod).to_owned()).collect();
    ruling.subject.dedup();
    ruling.fix =
        Some("keep them apart by required anti-affinity with this topology key, or give each its own nodes".into());
    ruling.evidence.push(asking.evidence(message, decision));
    ruling
}
