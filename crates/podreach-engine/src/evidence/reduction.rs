//! Reduces a proof to the groups that its argument needs: an inductive core.
//!
//! A search ends with everything it learned. The argument for the goal needs a part: the group that rules out the goal, the groups met
//! by whichever of its pods came last, and so on. Mutexes are preferred, since they are the easiest to read. Compare Ghassabani, Gacek
//! and Whalen, *Efficient Generation of Inductive Validity Cores for Safety Properties* (FSE 2016).
//!
//! Invariant: every needed group that was looked at is inductive relative to the needed groups. Cost: one regression per needed group and
//! pod of it; for pairs, which are nearly all, that is a few lookups (`needed_pairs.rs`).

use podreach_core::cancel;

use super::needed_pairs::NeededPairs;
use crate::compile::{State, System};
use crate::group::{self, Group};
use crate::lemmas::Lemmas;
use crate::mutex::Mutexes;

/// The groups among `groups` and the exclusive pairs that are needed to rule out the goals; `None` when they do not suffice.
pub fn reduced(system: &System, mutexes: &Mutexes, groups: Vec<Group>) -> Option<Vec<Group>> {
    let mut known = Lemmas::new(system.classes.len());
    groups.into_iter().for_each(|group| known.add(group, 1, None));
    let (needed, pairs) = (Lemmas::new(system.classes.len()), NeededPairs::new(system));
    let mut reduction = Reduction { system, mutexes, known, needed, pairs, state: None };
    if !system.goals.iter().all(|goal| reduction.meets(goal)) {
        return None;
    }
    let (mut group, mut pair) = (0, 0);
    loop {
        let next = if group < reduction.needed.ever() {
            group += 1;
            reduction.needed.group(group as u32 - 1).clone()
        } else if let Some(next) = reduction.pairs.get(pair) {
            pair += 1;
            next
        } else {
            break;
        };
        if !reduction.is_inductive(&next) {
            return None;
        }
    }
    let mut all = reduction.needed.from(1);
    all.extend(reduction.pairs.groups());
    Some(all)
}

struct Reduction<'a> {
    system: &'a System,
    mutexes: &'a Mutexes,
    known: Lemmas,
    /// In the order in which they were met; pairs of classes are in `pairs`.
    needed: Lemmas,
    pairs: NeededPairs<'a>,
    /// Empty between arguments.
    state: Option<State>,
}

impl Reduction<'_> {
    /// Whether no pod of the group can come last, by needed groups; makes more of them needed where that helps.
    fn is_inductive(&mut self, group: &Group) -> bool {
        cancel::poll();
        group.iter().all(|&(last, _)| {
            let before = group::without(group, last);
            let system = self.system;
            system.transitions_of[last as usize].iter().all(|&transition| match before[..] {
                [(other, 1)] if self.pairs.rule_out(self.mutexes, transition, other) => true,
                _ => self.rules_out_before(transition, &before),
            })
        })
    }

    /// Whether the transition cannot be applied where a group is.
    fn rules_out_before(&mut self, transition: usize, before: &Group) -> bool {
        let mut state = self.state.take().unwrap_or_else(|| State::empty(&self.system.sums));
        before.iter().for_each(|&(class, count)| state.add(&self.system.sums, class, count));
        let ruled_out = self.rules_out_from(transition, &mut state, &mut before.clone());
        before.iter().for_each(|&(class, count)| state.remove(&self.system.sums, class, count));
        self.state = Some(state);
        ruled_out
    }

    /// The same as [`Reduction::rules_out`], where what turns into the last pod is there before.
    fn rules_out_from(&mut self, transition: usize, state: &mut State, present: &mut Group) -> bool {
        let Some(source) = self.system.transitions[transition].consumes else {
            return self.rules_out(transition, state, present);
        };
        state.add(&self.system.sums, source, 1);
        group::add(present, source);
        let ruled_out = self.rules_out(transition, state, present);
        group::remove(present, source);
        state.remove(&self.system.sums, source, 1);
        ruled_out
    }

    /// Whether every way to satisfy the transition's guard above `state`, which has what `present` says, meets a group; makes those needed.
    fn rules_out(&mut self, transition: usize, state: &mut State, present: &mut Group) -> bool {
        cancel::poll();
        let system = self.system;
        let guard = &system.transitions[transition].guard;
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
            let ruled_out = self.rules_out(transition, state, present);
            group::remove(present, class);
            state.remove(&system.sums, class, 1);
            ruled_out
        })
    }

    /// Whether the group contains a forbidden one; makes it needed.
    fn meets(&mut self, group: &Group) -> bool {
        if self.pairs.is_within(group) || self.needed.within(group, 1).is_some() {
            return true;
        }
        let found = self
            .mutexes
            .mutex_in(group)
            .or_else(|| self.known.within(group, 1).map(|lemma| self.known.group(lemma).clone()));
        let Some(found) = found else { return false };
        match found[..] {
            [(a, 1), (b, 1)] => self.pairs.insert(a, b),
            [(a, 2)] => self.pairs.insert(a, a),
            _ => self.needed.add(found, 1, None),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, cases, exhaustive, mixed_or_unbounded};
    use podreach_core::{Checker, Verdict};

    use super::*;
    use crate::budget::Budget;
    use crate::compile::slice;

    #[test]
    fn reduced_mutexes_are_proofs_that_need_all_their_groups() {
        let (mut rng, mut proved, mut paired, mut refused) = (Rng::new(103), 0, 0, 0);
        for case in 0..cases(3_000) {
            let problem = mixed_or_unbounded(&mut rng, case);
            let problem = problem.asking(&problem.meant(&problem.goal));
            let system = System::new(&problem, slice(&problem));
            let mutexes = Mutexes::new(&system, &Budget::unlimited()).expect("no limits");
            let is_ruled_out = system.goals.iter().all(|goal| mutexes.mutex_in(goal).is_some());
            // A pod that is being deleted meets a goal at the start, and engines are not asked then.
            if system.goals.is_empty() || !is_ruled_out || problem.is_met(&problem.goal, &problem.start) {
                continue;
            }
            assert_eq!(exhaustive(&problem, 100_000), Some(false), "case {case}: {problem:#?}");
            let Some(groups) = reduced(&system, &mutexes, Vec::new()) else { continue };
            proved += 1;
            paired += groups.iter().filter(|group| group.len() == 2).count();
            let check = |groups: &[Group]| {
                let verdict = Verdict::Never(system.proof(&problem, groups, &[]));
                Checker::new(&problem).check_plainly(&problem.goal, verdict, &|| false)
            };
            assert!(check(&groups).is_ok(), "case {case}: {groups:?} of {problem:#?}");
            let without = [&groups[..groups.len() / 2], &groups[groups.len() / 2 + 1..]].concat();
            refused += usize::from(check(&without).is_err());
        }
        assert!(proved > cases(3_000) / 100 && paired > 0 && refused > proved / 2, "{proved} {paired} {refused}");
    }
}
