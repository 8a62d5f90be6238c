//! Proofs reduced to the groups that matter.
//!
//! A search ends with everything it learned. The argument for the goal needs only a part: the group that rules out the goal, the
//! groups met by whichever of its pods came last, and so on. Pairs come first, since they are the easiest to read.

use super::form::State;
use super::group::{self, Group};
use super::lemmas::Lemmas;
use super::pairs::Pairs;
use super::system::System;
use podreach_core::cancel;

/// The groups among `groups` and the exclusive pairs that are needed to rule out the goals; `None` when they do not suffice.
pub fn reduced(system: &System, pairs: &Pairs, groups: Vec<Group>) -> Option<Vec<Group>> {
    let mut known = Lemmas::new(system.classes.len());
    groups.into_iter().for_each(|group| known.add(group, 1, None));
    let mut reduction = Reduction { system, pairs, known, needed: Lemmas::new(system.classes.len()) };
    for goal in &system.goals {
        if !reduction.meets(goal) {
            return None;
        }
    }
    let (mut next, mut state) = (0, State::empty(&system.forms));
    while next < reduction.needed.ever() {
        let group = reduction.needed.group(next as u32).clone();
        next += 1;
        group.iter().for_each(|&(class, count)| state.add(&system.forms, class, count));
        for &(last, _) in &group {
            state.remove(&system.forms, last, 1);
            let mut present = group::without(&group, last);
            let rules = &system.rules_of[last as usize];
            if !rules.iter().all(|&rule| reduction.rules_out_from(rule, &mut state, &mut present)) {
                return None;
            }
            state.add(&system.forms, last, 1);
        }
        group.iter().for_each(|&(class, count)| state.remove(&system.forms, class, count));
    }
    Some(reduction.needed.from(1))
}

struct Reduction<'a> {
    system: &'a System,
    pairs: &'a Pairs,
    known: Lemmas,
    /// In the order in which they were met.
    needed: Lemmas,
}

impl Reduction<'_> {
    /// The same as [`Reduction::rules_out`], where what turns into the last pod is there before.
    fn rules_out_from(&mut self, rule: usize, state: &mut State, present: &mut Group) -> bool {
        let Some(source) = self.system.rules[rule].consumes else { return self.rules_out(rule, state, present) };
        state.add(&self.system.forms, source, 1);
        group::add(present, source);
        let ruled_out = self.rules_out(rule, state, present);
        group::remove(present, source);
        state.remove(&self.system.forms, source, 1);
        ruled_out
    }

    /// Whether every way to satisfy the rule's guard above `state`, which has what `present` says, meets a group; makes those needed.
    fn rules_out(&mut self, rule: usize, state: &mut State, present: &mut Group) -> bool {
        cancel::poll();
        let system = self.system;
        let guard = &system.rules[rule].guard;
        if !guard.is_bounded(state) {
            return true;
        }
        let needed = guard.needed(state);
        // Where there is no choice, groups need not be looked for until there is one.
        let forced =
            needed.is_some_and(|form| guard.spread.is_empty() && system.forms.weights[form as usize].len() == 1);
        if !forced && self.meets(present) {
            return true;
        }
        let Some(form) = needed else { return false };
        system.forms.weights[form as usize].iter().all(|&(class, _)| {
            state.add(&system.forms, class, 1);
            group::add(present, class);
            let ruled_out = self.rules_out(rule, state, present);
            group::remove(present, class);
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
        self.needed.add(found, 1, None);
        true
    }
}
