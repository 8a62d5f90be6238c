//! From evidence about an encoded net back to the net: firings from a trace, sets of places from a proof.
//!
//! * A run of pods fires `a` when `execute a` is deployed: the tokens of Pre(a) were there, the consumed ones are gone, and nothing else
//!   can start before `ready` comes back. Tokens that get lost on the way only make the net's own marking larger.
//! * Groups of token pods that can never be present together are sets of places that are never marked together. Between firings there
//!   are only tokens and `ready`, so these groups alone form an invariant of the net: a firing from a marking without any of them
//!   leads to a marking without any of them.
//!
//! Neither is taken on trust: firings are replayed in the net, and sets of places are kept only if the net itself shows them inductive.

use std::collections::{BTreeSet, HashMap};

use podreach_core::{Action, Id, Problem, Proof, Trace};

use super::DecodeError;
use super::net::{Net, covers};
use super::petri::{Encoding, Role};

/// The most sets of places, times transitions, for which an invariant is looked for.
const INVARIANT_EFFORT: usize = 4_000_000;

/// The firings of a run that reach the goal, replayed in the net; otherwise what is wrong with them.
pub fn firings(
    net: &Net,
    goal: &[usize],
    encoding: &Encoding<'_>,
    problem: &Problem,
    trace: &Trace,
) -> Result<Vec<usize>, DecodeError> {
    let roles = roles(encoding, problem);
    let mut fired = Vec::new();
    let mut executing = false;
    for action in trace.iter() {
        let Action::Deploy(pod, _) = action else { continue };
        match roles.get(pod.index()) {
            Some(Some(Role::Execute(a))) if !executing => {
                fired.push(*a);
                executing = true;
            }
            Some(Some(Role::Ready(_))) => executing = false,
            Some(Some(_)) => {}
            _ => return Err(DecodeError::NoPart { pod: problem.model.pod_name(pod).to_owned(), source: "net" }),
        }
    }
    until_goal(net, goal, fired)
}

/// The firings up to the first marking that covers the goal.
fn until_goal(net: &Net, goal: &[usize], mut fired: Vec<usize>) -> Result<Vec<usize>, DecodeError> {
    let mut marking = net.initial();
    for position in 0..=fired.len() {
        if covers(&marking, goal) {
            fired.truncate(position);
            return Ok(fired);
        }
        let Some(&a) = fired.get(position) else { break };
        marking = net
            .fire(&marking, a)
            .ok_or_else(|| DecodeError::NotEnabled(position + 1, net.transitions[a].name.clone()))?;
    }
    Err(DecodeError::FiringsMissGoal)
}

/// The role of each pod type of a problem.
fn roles(encoding: &Encoding<'_>, problem: &Problem) -> Vec<Option<Role>> {
    let by_name: HashMap<String, Role> = encoding.roles().collect();
    let pods = problem.model.cluster().pods.values();
    pods.map(|pod| by_name.get(&pod.name).copied()).collect()
}

/// Sets of places that are never marked together, the goal among them, as the net itself confirms.
pub(crate) fn invariant(
    net: &Net,
    goal: &[usize],
    encoding: &Encoding<'_>,
    problem: &Problem,
    proof: &Proof,
) -> Option<Vec<BTreeSet<usize>>> {
    let roles = roles(encoding, problem);
    let mut sets: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    for group in &proof.in_groups().forbidden {
        sets.extend(group.iter().try_fold(BTreeSet::new(), |places, (&class, &count)| {
            let members = proof.classes.get(class)?.iter().map(|(pod, _)| roles.get(pod.index()).copied().flatten());
            join(places, members.collect::<Option<Vec<Role>>>()?, count)
        }));
    }
    // What no pod stands for is not in the proof: places that nothing ever marks, and the goal as a whole.
    sets.extend((0..net.places.len()).map(|place| BTreeSet::from([place])));
    sets.insert(goal.iter().copied().collect());
    sets.remove(&BTreeSet::new());
    Some(smallest(inductive(net, goal, sets.into_iter().collect())?))
}

/// The sets of an inductive collection that contain no other; together they forbid the same and are inductive still.
fn smallest(sets: Vec<BTreeSet<usize>>) -> Vec<BTreeSet<usize>> {
    sets.iter().filter(|set| !sets.iter().any(|other| other != *set && other.is_subset(set))).cloned().collect()
}

/// Adds the place that a class of pods is about; `None` when it is about something else.
fn join(mut places: BTreeSet<usize>, roles: Vec<Role>, count: u64) -> Option<BTreeSet<usize>> {
    if roles.iter().all(|role| matches!(role, Role::Ready(_) | Role::InitialReady)) && count == 1 {
        return Some(places);
    }
    let first = place(roles.first()?)?;
    (count == 1 && roles.iter().all(|role| place(role) == Some(first))).then(|| {
        places.insert(first);
        places
    })
}

/// The place whose tokens pods of a role are.
fn place(role: &Role) -> Option<usize> {
    match role {
        Role::InitialToken(place) | Role::Token { place, .. } => Some(*place),
        _ => None,
    }
}

/// The largest part of `sets` that is inductive in a 1-safe net, if it rules out the goal.
///
/// ```text
/// b may be completed by a   iff   b ∩ Produced(a) ≠ ∅  and  b ∩ Consumed(a) = ∅;    before it, Pre(a) ∪ (b − Post(a)) is marked
/// ```
pub fn inductive(net: &Net, goal: &[usize], mut sets: Vec<BTreeSet<usize>>) -> Option<Vec<BTreeSet<usize>>> {
    if sets.len().saturating_mul(net.transitions.len()) > INVARIANT_EFFORT {
        return None;
    }
    let marked = net.initial();
    sets.retain(|set| !set.iter().all(|place| marked.contains_key(place)));
    loop {
        let kept: Vec<BTreeSet<usize>> = sets.iter().filter(|set| !is_completed(net, set, &sets)).cloned().collect();
        if kept.len() == sets.len() {
            break;
        }
        sets = kept;
    }
    sets.iter().any(|set| set.iter().all(|place| goal.contains(place))).then_some(sets)
}

/// Whether some firing completes a set from a marking without any of `sets`.
fn is_completed(net: &Net, set: &BTreeSet<usize>, sets: &[BTreeSet<usize>]) -> bool {
    net.transitions.iter().any(|a| {
        let helps = a.produced().any(|place| set.contains(&place));
        if !helps || a.consumed().any(|place| set.contains(&place)) {
            return false;
        }
        let rest = set.iter().copied().filter(|place| !a.post.contains_key(place));
        let before: BTreeSet<usize> = a.pre.keys().copied().chain(rest).collect();
        !sets.iter().any(|other| other.is_subset(&before))
    })
}

/// A firing in a sentence: `take: left, right -> eating`.
pub fn sentence(net: &Net, a: usize) -> String {
    let transition = &net.transitions[a];
    let pre = net.named(transition.pre.keys().copied());
    let post = net.named(transition.post.keys().copied());
    format!("{}: {pre} -> {post}", transition.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bits_exclude_each_other() {
        let mut net = Net::new("bit");
        let [zero, one] = [net.add_place("zero", 1), net.add_place("one", 0)];
        net.add_transition("set", &[zero], &[one]);
        let sets = vec![BTreeSet::from([zero, one])];
        assert_eq!(inductive(&net, &[zero, one], sets.clone()), Some(sets.clone()));
        net.add_transition("both", &[one], &[one, zero]);
        assert_eq!(inductive(&net, &[zero, one], sets), None);
    }
}
