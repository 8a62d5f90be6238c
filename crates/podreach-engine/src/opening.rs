//! What to delete so that a pod can be deployed: the maximal configurations below a given one where a guard holds.
//!
//! Where a guard only asks for absence, the choice is unique. Where it bounds a sum, there is one choice per least eviction; where a pod
//! may be the first of its kind, all others may have to go; where its own domain is too full, some of it has to; where pods share
//! something that counts once, all of them go or none.

use super::form::{Form, FormDistinct, FormGuard, State};
use super::system::System;

/// The maximal configurations within `state` where the guard holds; adds to `work` how many were looked at.
pub fn openings(system: &System, guard: &FormGuard, state: &State, work: &mut u64) -> Vec<State> {
    // Witnesses that are not there now will not be there after a deletion either.
    let near = |form: &Form| state.value(*form) > 0;
    if guard.affinity.iter().any(|condition| condition.first_unless.is_none() && !condition.near.iter().all(near)) {
        return Vec::new();
    }
    let mut openings: Vec<State> = Vec::new();
    let mut todo = vec![state.clone()];
    while let Some(state) = todo.pop() {
        *work += 1;
        match excess(guard, &state) {
            Excess::None => openings.push(state),
            Excess::Hopeless => {}
            Excess::Clear(form) => todo.push(clear(system, state, form)),
            Excess::Reduce(form) => todo.extend(reductions(system, &state, form)),
            Excess::Free(condition) => {
                todo.extend(reductions(system, &state, condition.weights));
                let there = condition.groups.iter().filter(|&&form| state.value(form) > 0);
                todo.extend(there.map(|&form| clear(system, state.clone(), form)));
            }
        }
        if todo.len() > 1 {
            todo.sort_by(|a, b| a.counts.cmp(&b.counts));
            todo.dedup_by(|a, b| a.counts == b.counts);
        }
    }
    maximal(openings)
}

/// What deletions a guard asks for next.
pub enum Excess<'g> {
    /// None: the guard holds.
    None,
    /// No deletion can help.
    Hopeless,
    /// Every pod of a form must go.
    Clear(Form),
    /// Some pod of a form must go.
    Reduce(Form),
    /// Some pod that counts by itself must go, or all that share something.
    Free(&'g FormDistinct),
}

/// What has to go first for a guard to hold.
pub fn excess<'g>(guard: &'g FormGuard, state: &State) -> Excess<'g> {
    if let Some(&(form, bound)) = guard.at_most.iter().find(|&&(form, bound)| state.value(form) > bound) {
        return if bound == 0 { Excess::Clear(form) } else { Excess::Reduce(form) };
    }
    if let Some(condition) = guard.distinct.iter().find(|condition| !condition.holds(state)) {
        return Excess::Free(condition);
    }
    if let Some(condition) = guard.affinity.iter().find(|condition| condition.lonely(state).is_some()) {
        return condition.first_unless.map_or(Excess::Hopeless, Excess::Clear);
    }
    let uneven = guard.spread.iter().find(|condition| condition.behind(state).is_some());
    let Some(condition) = uneven else { return Excess::None };
    let own = condition.domains[condition.own].0;
    if state.value(own) == 0 { Excess::Hopeless } else { Excess::Reduce(own) }
}

fn clear(system: &System, mut state: State, form: Form) -> State {
    for &(class, _) in &system.forms.weights[form as usize] {
        let count = state.counts[class as usize];
        state.remove(&system.forms, class, count);
    }
    state
}

fn reductions<'a>(system: &'a System, state: &'a State, form: Form) -> impl Iterator<Item = State> + 'a {
    let there = system.forms.weights[form as usize].iter().filter(|&&(class, _)| state.counts[class as usize] > 0);
    there.map(|&(class, _)| {
        let mut less = state.clone();
        less.remove(&system.forms, class, 1);
        less
    })
}

fn maximal(mut states: Vec<State>) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let below = |a: &State, b: &State| a.counts != b.counts && a.counts.iter().zip(&b.counts).all(|(a, b)| a <= b);
    let dominated: Vec<bool> = states.iter().map(|a| states.iter().any(|b| below(a, b))).collect();
    let mut dominated = dominated.into_iter();
    states.retain(|_| !dominated.next().expect("one per state"));
    states
}
