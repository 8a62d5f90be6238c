//! Successors by a transition that is not a mask: the maximal configurations within a state where its guard holds.
//!
//! Where a guard asks for absence, there is one. Where it bounds a sum, there is one for each least set of deletions; where a pod may be
//! the first of its kind, all others may have to go; where its own domain is too full, part of it has to, or all of
//! a domain that comes and goes; where pods share something that
//! counts once, all of them go or none. Cost: exponential in the deletions, which are few.

use crate::compile::{Deletion, State, Sum, SumGuard, System, next_deletion};

/// The maximal configurations within `state` where the guard holds; adds to `work` how many were looked at.
pub fn successors(system: &System, guard: &SumGuard, state: &State, work: &mut u64) -> Vec<State> {
    // Witnesses that are not there now will not be there after a deletion either.
    let mut required = guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
    if required.any(|condition| condition.near.iter().any(|&sum| state.value(sum) == 0)) {
        return Vec::new();
    }
    let mut successors: Vec<State> = Vec::new();
    let mut todo = vec![state.clone()];
    while let Some(state) = todo.pop() {
        *work += 1;
        match next_deletion(guard, &state) {
            Deletion::None => successors.push(state),
            Deletion::Impossible => {}
            Deletion::Clear(sum) => todo.push(clear(system, state, sum)),
            Deletion::Reduce(sum) => todo.extend(reductions(system, &state, sum)),
            Deletion::ReduceOrClear(some, all) => {
                todo.extend(reductions(system, &state, some));
                todo.push(clear(system, state, all));
            }
            Deletion::Free(condition) => {
                todo.extend(reductions(system, &state, condition.weights));
                let there = condition.groups.iter().filter(|&&sum| state.value(sum) > 0);
                todo.extend(there.map(|&sum| clear(system, state.clone(), sum)));
            }
        }
        if todo.len() > 1 {
            todo.sort_by(|a, b| a.counts.cmp(&b.counts));
            todo.dedup_by(|a, b| a.counts == b.counts);
        }
    }
    maximal(successors)
}

fn clear(system: &System, mut state: State, sum: Sum) -> State {
    for &(class, _) in &system.sums.weights[sum as usize] {
        let count = state.counts[class as usize];
        state.remove(&system.sums, class, count);
    }
    state
}

fn reductions<'a>(system: &'a System, state: &'a State, sum: Sum) -> impl Iterator<Item = State> + 'a {
    let there = system.sums.weights[sum as usize].iter().filter(|&&(class, _)| state.counts[class as usize] > 0);
    there.map(|&(class, _)| {
        let mut less = state.clone();
        less.remove(&system.sums, class, 1);
        less
    })
}

fn maximal(mut states: Vec<State>) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let dominated: Vec<bool> = states.iter().map(|a| states.iter().any(|b| is_below(a, b))).collect();
    let mut dominated = dominated.into_iter();
    states.retain(|_| !dominated.next().expect("one per state"));
    states
}

fn is_below(a: &State, b: &State) -> bool {
    a.counts != b.counts && a.counts.iter().zip(&b.counts).all(|(a, b)| a <= b)
}
