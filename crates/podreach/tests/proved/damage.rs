//! Evidence with one thing changed.

use podreach_core::testing::Rng;
use podreach_core::verdict::AtMostOne;
use podreach_core::{Action, Exchange, Id, Model, NodeId, PodId, Proof, Trace, Verdict};

/// The same verdict with one thing changed.
pub(crate) fn damaged(rng: &mut Rng, m: &Model, verdict: &Verdict) -> Verdict {
    match verdict {
        Verdict::Never(proof) => Verdict::Never(damaged_proof(rng, m, proof)),
        Verdict::Deployable(trace) => Verdict::Deployable(damaged_trace(rng, m, trace)),
        Verdict::Unknown(_) => verdict.clone(),
    }
}

fn damaged_proof(rng: &mut Rng, m: &Model, proof: &Proof) -> Proof {
    let mut damaged = proof.clone();
    let (groups, classes) = (damaged.forbidden.len(), damaged.classes.len());
    let exchanges = damaged.exchanges.len();
    if exchanges > 0 && rng.one_in(2) {
        damage_exchange(rng, m, &mut damaged.exchanges);
        return damaged;
    }
    if !damaged.at_most_one.is_empty() && rng.one_in(2) {
        damage_constraint(rng, classes, &mut damaged.at_most_one);
        return damaged;
    }
    match rng.below(8) {
        0 if groups > 0 => drop(damaged.forbidden.remove(rng.below(groups))),
        1 if groups > 0 => {
            let group = &mut damaged.forbidden[rng.below(groups)];
            group.values_mut().next().into_iter().for_each(|count| *count += 1);
        }
        2 if groups > 0 => drop(damaged.forbidden[rng.below(groups)].pop_last()),
        3 if groups > 0 => drop(damaged.forbidden[rng.below(groups)].insert(rng.below(classes + 1), 1)),
        4 if classes > 1 => {
            let moved = damaged.classes[classes - 1].pop();
            damaged.classes[0].extend(moved);
        }
        5 if classes > 0 => {
            let atom = (some_pod(rng, m), some_node(rng, m));
            damaged.classes[rng.below(classes)].push(atom);
        }
        6 if groups > 0 => {
            let group = &mut damaged.forbidden[rng.below(groups)];
            group.values_mut().next_back().into_iter().for_each(|count| *count = (*count - 1).max(1));
        }
        _ => damaged.forbidden.push([(rng.below(classes + 1), 1 + rng.below(2) as u64)].into_iter().collect()),
    }
    damaged
}

/// One constraint of some is left out, lacks a part or a class, or has another one, perhaps one that does not exist.
fn damage_constraint(rng: &mut Rng, classes: usize, at_most_one: &mut Vec<AtMostOne>) {
    let at = rng.below(at_most_one.len());
    let some = rng.below(classes + 1);
    let constraint = &mut at_most_one[at];
    let part = rng.below(constraint.len().max(1));
    match rng.below(7) {
        0 => drop(at_most_one.remove(at)),
        1 if !constraint.is_empty() => drop(constraint.remove(part)),
        2 if !constraint.is_empty() => drop(constraint[part].pop()),
        3 if !constraint.is_empty() => constraint[part].push(some),
        4 if constraint.len() > 1 => {
            let moved = constraint[part].pop();
            constraint[0].extend(moved);
        }
        5 if constraint.len() > 1 => {
            let merged = constraint.remove(part);
            constraint[0].extend(merged);
        }
        _ => constraint.push(vec![some]),
    }
}

/// One exchange of some leads elsewhere, is left out, or is another.
fn damage_exchange(rng: &mut Rng, m: &Model, exchanges: &mut Vec<Exchange>) {
    let at = rng.below(exchanges.len());
    let (from, to) = (some_node(rng, m), some_node(rng, m));
    match rng.below(6) {
        0 => drop(exchanges.remove(at)),
        1 => drop(exchanges[at].pop()),
        2 => exchanges[at].iter_mut().take(1).for_each(|pair| pair.1 = to),
        3 => exchanges[at].push((from, to)),
        4 => exchanges[at].iter_mut().for_each(|pair| *pair = (pair.0, pair.0)),
        _ => exchanges.push(vec![(from, to), (to, from)]),
    }
}

fn damaged_trace(rng: &mut Rng, m: &Model, trace: &Trace) -> Trace {
    let mut steps: Vec<Action> = trace.iter().collect();
    let at = rng.below(steps.len().max(1));
    match rng.below(4) {
        0 if !steps.is_empty() => drop(steps.remove(at)),
        1 if steps.len() > 1 => steps.swap(0, at),
        2 if !steps.is_empty() => steps[at] = some_action(rng, m),
        _ => steps.insert(at, some_action(rng, m)),
    }
    steps.into_iter().collect()
}

fn some_action(rng: &mut Rng, m: &Model) -> Action {
    let (pod, node) = (some_pod(rng, m), some_node(rng, m));
    match rng.below(6) {
        0 | 1 => Action::Deploy(pod, node),
        2 => Action::Terminate(pod, node),
        3 => Action::Settle(node),
        4 => Action::Withdraw(pod),
        _ => Action::Delete(pod, node),
    }
}

/// A pod type, one being deleted, one that waits, or sometimes one that does not exist.
fn some_pod(rng: &mut Rng, m: &Model) -> PodId {
    let beyond = usize::from(rng.one_in(8));
    PodId::from_index(rng.below(m.every_pod().len() + beyond))
}

/// A node, where pods are that wait, or sometimes one that does not exist.
fn some_node(rng: &mut Rng, m: &Model) -> NodeId {
    if rng.one_in(8) {
        return NodeId::NOWHERE;
    }
    let beyond = usize::from(rng.one_in(8));
    NodeId::from_index(rng.below(m.nodes().len() + beyond))
}
