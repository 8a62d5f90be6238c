//! Proofs reduced to the groups that matter.
//!
//! A search ends with everything it learned. The argument for the goal needs only a part: the group that rules out the goal, the
//! groups met by whichever of its pods came last, and so on. Pairs come first, since they are the easiest to read.

use super::form::State;
use super::group::{self, Class, Group};
use super::lemmas::Lemmas;
use super::pairs::Pairs;
use super::system::System;

/// The groups among `groups` and the exclusive pairs that are needed to rule out the goals; `None` when they do not suffice.
pub fn reduced(system: &System, pairs: &Pairs, groups: &[Group]) -> Option<Vec<Group>> {
    let mut known = Lemmas::new(system.classes.len());
    groups.iter().for_each(|group| known.add(group.clone(), 1, None));
    let mut reduction =
        Reduction { system, pairs, known, needed: Lemmas::new(system.classes.len()), order: Vec::new() };
    for goal in &system.goals {
        if !reduction.meets(goal) {
            return None;
        }
    }
    let mut next = 0;
    while next < reduction.order.len() {
        let group = reduction.order[next].clone();
        next += 1;
        for &(last, _) in &group {
            for &rule in &system.rules_of[last as usize] {
                let mut state = State::of_group(&system.forms, &group::without(&group, last));
                if !reduction.rules_out(rule, &mut state) {
                    return None;
                }
            }
        }
    }
    Some(reduction.order)
}

struct Reduction<'a> {
    system: &'a System,
    pairs: &'a Pairs,
    known: Lemmas,
    needed: Lemmas,
    order: Vec<Group>,
}

impl Reduction<'_> {
    /// Whether every way to satisfy the rule's guard above `state` meets a group; makes those needed.
    fn rules_out(&mut self, rule: usize, state: &mut State) -> bool {
        let system = self.system;
        let guard = &system.rules[rule].guard;
        if !guard.is_bounded(state) || self.meets(&state.group()) {
            return true;
        }
        let Some(form) = guard.needed(state) else { return false };
        let classes: Vec<Class> = system.forms.weights[form as usize].iter().map(|&(class, _)| class).collect();
        classes.into_iter().all(|class| {
            state.add(&system.forms, class, 1);
            let ruled_out = self.rules_out(rule, state);
            state.remove(&system.forms, class, 1);
            ruled_out
        })
    }

    /// Whether the group contains a forbidden one; makes it needed.
    fn meets(&mut self, group: &Group) -> bool {
        if self.needed.within(group, 1).is_some() {
            return true;
        }
        let found = self
            .pairs
            .exclusive(group)
            .or_else(|| self.known.within(group, 1).map(|lemma| self.known.group(lemma).clone()));
        let Some(found) = found else { return false };
        self.needed.add(found.clone(), 1, None);
        self.order.push(found);
        true
    }
}
