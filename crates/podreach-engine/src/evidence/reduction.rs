//! Reduces a proof to the groups that its argument needs: an inductive core.
//!
//! A search ends with everything it learned. The argument for the goal needs a part: the group that rules out the goal, the groups met
//! by whichever of its pods came last, and so on. Mutexes are preferred, since they are the easiest to read. Compare Ghassabani, Gacek
//! and Whalen, *Efficient Generation of Inductive Validity Cores for Safety Properties* (FSE 2016).
//!
//! Invariant: every needed group that was looked at is inductive relative to the needed groups. Cost: one regression per needed group and
//! pod of it.

use podreach_core::cancel;

use crate::compile::{State, System};
use crate::group::{self, Group};
use crate::lemmas::Lemmas;
use crate::mutex::Mutexes;

/// The groups among `groups` and the exclusive pairs that are needed to rule out the goals; `None` when they do not suffice.
pub fn reduced(system: &System, mutexes: &Mutexes, groups: Vec<Group>) -> Option<Vec<Group>> {
    let mut known = Lemmas::new(system.classes.len());
    groups.into_iter().for_each(|group| known.add(group, 1, None));
    let mut reduction = Reduction { system, mutexes, known, needed: Lemmas::new(system.classes.len()) };
    for goal in &system.goals {
        if !reduction.meets(goal) {
            return None;
        }
    }
    let (mut next, mut state) = (0, State::empty(&system.sums));
    while next < reduction.needed.ever() {
        let group = reduction.needed.group(next as u32).clone();
        next += 1;
        group.iter().for_each(|&(class, count)| state.add(&system.sums, class, count));
        for &(last, _) in &group {
            state.remove(&system.sums, last, 1);
            let mut present = group::without(&group, last);
            let rules = &system.rules_of[last as usize];
            if !rules.iter().all(|&rule| reduction.rules_out_from(rule, &mut state, &mut present)) {
                return None;
            }
            state.add(&system.sums, last, 1);
        }
        group.iter().for_each(|&(class, count)| state.remove(&system.sums, class, count));
    }
    Some(reduction.needed.from(1))
}

struct Reduction<'a> {
    system: &'a System,
    mutexes: &'a Mutexes,
    known: Lemmas,
    /// In the order in which they were met.
    needed: Lemmas,
}

impl Reduction<'_> {
    /// The same as [`Reduction::rules_out`], where what turns into the last pod is there before.
    fn rules_out_from(&mut self, rule: usize, state: &mut State, present: &mut Group) -> bool {
        let Some(source) = self.system.rules[rule].consumes else { return self.rules_out(rule, state, present) };
        state.add(&self.system.sums, source, 1);
        group::add(present, source);
        let ruled_out = self.rules_out(rule, state, present);
        group::remove(present, source);
        state.remove(&self.system.sums, source, 1);
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
        let forced = needed.is_some_and(|sum| guard.spread.is_empty() && system.sums.weights[sum as usize].len() == 1);
        if !forced && self.meets(present) {
            return true;
        }
        let Some(sum) = needed else { return false };
        system.sums.weights[sum as usize].iter().all(|&(class, _)| {
            state.add(&system.sums, class, 1);
            group::add(present, class);
            let ruled_out = self.rules_out(rule, state, present);
            group::remove(present, class);
            state.remove(&system.sums, class, 1);
            ruled_out
        })
    }

    /// Whether the group contains a forbidden one; makes it needed.
    fn meets(&mut self, group: &Group) -> bool {
        if self.needed.within(group, 1).is_some() {
            return true;
        }
        let found = self
            .mutexes
            .mutex_in(group)
            .or_else(|| self.known.within(group, 1).map(|lemma| self.known.group(lemma).clone()));
        let Some(found) = found else { return false };
        self.needed.add(found, 1, None);
        true
    }
}
