//! The fixpoint behind the mutexes, by semi-naive evaluation: only consequences of pairs that are new are derived.
//!
//! A class can coexist with the head of a transition if it is compatible with a witness of every precondition, once every precondition has
//! such a witness. The preconditions of transitions form a prefix tree (`preconditions.rs`). A class is at a prefix if it is compatible with
//! all preconditions on the way there; it advances when it becomes compatible with the next. Classes advance 64 at a time, as words of
//! bit matrices (`bit_matrix.rs`). For the evaluation see Bancilhon and Ramakrishnan, *An Amateur's Introduction to Recursive Query
//! Processing Strategies* (SIGMOD 1986).
//!
//! Invariant: every consequence of a pair that is not pending is derived. Cost: each class comes to each prefix once, and each pair is
//! propagated once for every precondition of its witness, 64 classes at a time. A transition with a choice of witnesses is evaluated as a
//! whole whenever it may derive more, after everything else.

use std::mem;

use super::Mutexes;
use super::bit_matrix::BitMatrix;
use super::preconditions::{Precondition, Preconditions, ROOT, RulePath};
use crate::bits::{self, Bits};
use crate::budget::{Budget, Stop};
use crate::compile::{Sum, System};

/// The pairs so far, and what is still to be looked at.
pub(super) struct Fixpoint<'r> {
    transitions: &'r Preconditions<'r>,
    /// The classes that may be present at all.
    possible: Bits,
    /// For each class, those that may be present with it.
    compatible: BitMatrix,
    /// Those of them whose consequences are not derived yet.
    fresh_pairs: BitMatrix,
    /// For each word of classes, the classes with fresh pairs in it.
    pending: Vec<Vec<u32>>,
    /// For each class, the preconditions that it is a witness of.
    witness_of: Vec<Vec<usize>>,
    /// For each class, the transitions with a choice that need it or another.
    chosen_by: Vec<Vec<usize>>,
    /// For each precondition, the classes that are compatible with one of its witnesses.
    satisfying: BitMatrix,
    /// For each prefix, the classes that are compatible with all of its preconditions.
    here: BitMatrix,
    /// For each list of upper bounds, the classes that may not be there at all.
    barred: BitMatrix,
    /// Classes of one word that advance to prefixes.
    advancing: Vec<(usize, u64)>,
    /// For each transition, the last prefix whose precondition is not supported: no witness of it satisfies all preconditions.
    unsupported: Vec<usize>,
    /// Possible classes that are not in the tree yet.
    fresh: Bits,
    /// Transitions with a choice that may have become applicable, or applicable with more, since they were evaluated.
    stale: Bits,
}

impl<'r> Fixpoint<'r> {
    /// How much memory it takes at most.
    pub(super) fn bytes(system: &System, transitions: &Preconditions<'_>) -> usize {
        // Pairs, as they are, as fresh ones, on lists, and as they are handed over.
        let pairs = 4 * system.classes.len();
        let sets = pairs + transitions.conditions.len() + transitions.prefixes.len() + transitions.bounds.len();
        sets.saturating_mul(system.classes.len().div_ceil(64) * 8)
    }

    /// From the pairs of the start; nothing is derived yet.
    pub(super) fn new(system: &System, transitions: &'r Preconditions<'r>, start: Mutexes) -> Self {
        let classes = system.classes.len();
        let compatible = BitMatrix::of(classes, start.compatible.into_iter());
        Self {
            transitions,
            pending: (0..compatible.width()).map(|word| with_any_in(&compatible, classes, word)).collect(),
            fresh_pairs: compatible.clone(),
            compatible,
            witness_of: witness_of(transitions, classes),
            chosen_by: chosen_by(transitions, classes),
            satisfying: BitMatrix::of(
                classes,
                transitions.conditions.iter().map(|condition| satisfying(system, condition)),
            ),
            here: BitMatrix::none(transitions.prefixes.len(), classes),
            barred: BitMatrix::of(classes, transitions.bounds.iter().map(|bounds| barred(system, bounds))),
            advancing: Vec::new(),
            unsupported: transitions.paths.iter().map(|path| path.end).collect(),
            fresh: start.possible.clone(),
            possible: start.possible,
            stale: Bits::none(transitions.paths.len()),
        }
    }

    /// All pairs that are possible.
    pub(super) fn reached(mut self, budget: &Budget<'_>) -> Result<Mutexes, Stop> {
        (0..self.transitions.paths.len()).for_each(|transition| self.try_transition(transition));
        loop {
            while !self.fresh.is_empty() || self.pending.iter().any(|pending| !pending.is_empty()) {
                self.insert_fresh();
                for word in 0..self.pending.len() {
                    self.propagate(word, budget)?;
                }
            }
            // A transition with a choice is evaluated as a whole each time, so it waits until nothing else is left to do.
            if self.stale.is_empty() {
                return Ok(Mutexes { possible: self.possible, compatible: self.compatible.rows().collect() });
            }
            for transition in mem::replace(&mut self.stale, Bits::none(self.transitions.paths.len())).ones() {
                budget.stop(0).map_or(Ok(()), Err)?;
                self.apply_with_choice(transition);
            }
        }
    }

    /// Puts the classes that have become possible at the root.
    fn insert_fresh(&mut self) {
        let fresh = mem::replace(&mut self.fresh, Bits::none(self.witness_of.len()));
        for (word, &classes) in fresh.words().iter().enumerate().filter(|&(_, &classes)| classes != 0) {
            self.advancing.push((ROOT, classes));
            self.advance(word);
        }
    }

    /// Derives the consequences of all fresh pairs with a word of classes, and of those that come up meanwhile.
    fn propagate(&mut self, word: usize, budget: &Budget<'_>) -> Result<(), Stop> {
        while !self.pending[word].is_empty() {
            budget.stop(0).map_or(Ok(()), Err)?;
            for witness in mem::take(&mut self.pending[word]) {
                self.propagate_from(witness as usize, word);
            }
        }
        Ok(())
    }

    /// Classes that have become compatible with a witness satisfy its preconditions.
    fn propagate_from(&mut self, witness: usize, word: usize) {
        let transitions = self.transitions;
        let classes = self.fresh_pairs.take(witness, word);
        for index in 0..self.witness_of[witness].len() {
            let condition = self.witness_of[witness][index];
            let fresh = classes & !self.satisfying.word(condition, word);
            self.satisfying.add(condition, word, fresh);
            if fresh != 0 {
                let edges = transitions.conditions[condition].edges.iter();
                let advancing = edges.map(|&(from, to)| (to, fresh & self.here.word(from, word)));
                self.advancing.extend(advancing.filter(|&(_, advancing)| advancing != 0));
            }
        }
        self.advance(word);
        for index in 0..self.chosen_by[witness].len() {
            let transition = self.chosen_by[witness][index];
            if classes & self.candidates(transition, word) != 0 {
                self.try_transition(transition);
            }
        }
    }

    /// Classes come to the prefixes that they advance to, and go on from there as far as they can.
    fn advance(&mut self, word: usize) {
        let transitions = self.transitions;
        while let Some((prefix, classes)) = self.advancing.pop() {
            self.here.add(prefix, word, classes);
            transitions.prefixes[prefix]
                .transitions
                .iter()
                .for_each(|&transition| self.satisfy(transition, word, classes));
            let edges = transitions.prefixes[prefix].edges.iter();
            let advancing = edges.map(|&(condition, to)| (to, classes & self.satisfying.word(condition, word)));
            self.advancing.extend(advancing.filter(|&(_, advancing)| advancing != 0));
        }
    }

    /// Classes satisfy all preconditions of a transition.
    fn satisfy(&mut self, transition: usize, word: usize, classes: u64) {
        let RulePath { head, bounds, has_choice, .. } = self.transitions.paths[transition];
        let classes = classes & !self.barred.word(bounds, word);
        if self.unsupported[transition] == ROOT && !has_choice {
            self.make_compatible(head, word, classes);
        } else if classes != 0 {
            self.try_transition(transition);
        }
    }

    /// The classes that satisfy all preconditions of a transition and that no bound of it bars.
    fn candidates(&self, transition: usize, word: usize) -> u64 {
        let RulePath { bounds, end, .. } = self.transitions.paths[transition];
        self.here.word(end, word) & !self.barred.word(bounds, word)
    }

    /// Applies a transition if it is applicable by now: at once, or, where there is a choice, later.
    fn try_transition(&mut self, transition: usize) {
        let RulePath { head, has_choice, .. } = self.transitions.paths[transition];
        self.unsupported[transition] = self.still_unsupported(transition);
        if self.unsupported[transition] != ROOT {
            return;
        }
        if has_choice {
            self.stale.insert(transition);
            return;
        }
        self.make_possible(head);
        for word in 0..self.pending.len() {
            self.make_compatible(head, word, self.candidates(transition, word));
        }
    }

    /// The last prefix whose precondition is required and not supported. Never behind the one that was found before.
    fn still_unsupported(&self, transition: usize) -> usize {
        let Preconditions { paths, conditions, prefixes, .. } = self.transitions;
        let mut prefix = self.unsupported[transition];
        while prefix != ROOT {
            let condition = &conditions[prefixes[prefix].condition];
            let mut witnesses = condition.witnesses.iter();
            if condition.is_required() && !witnesses.any(|&class| self.here.contains(paths[transition].end, class)) {
                break;
            }
            prefix = prefixes[prefix].before;
        }
        prefix
    }

    /// Applies a transition with a choice, if it is applicable, to all that may be there then.
    fn apply_with_choice(&mut self, transition: usize) {
        let head = self.transitions.paths[transition].head;
        let Some(coexisting) = self.coexisting(transition) else { return };
        self.make_possible(head);
        for (word, &classes) in coexisting.words().iter().enumerate() {
            self.make_compatible(head, word, classes);
        }
    }

    fn make_possible(&mut self, class: usize) {
        if !self.possible.contains(class) {
            self.possible.insert(class);
            self.fresh.insert(class);
        }
    }

    /// Classes turn out to be compatible with the head of a transition.
    fn make_compatible(&mut self, head: usize, word: usize, classes: u64) {
        let fresh = classes & !self.compatible.word(head, word);
        if fresh == 0 {
            return;
        }
        self.record(head, word, fresh);
        bits::ones(word, fresh).for_each(|class| self.record(class, head / 64, 1 << (head % 64)));
    }

    /// Records that a class is compatible with others, whose consequences are then pending.
    fn record(&mut self, class: usize, word: usize, others: u64) {
        self.compatible.add(class, word, others);
        if self.fresh_pairs.word(class, word) == 0 {
            self.pending[word].push(class as u32);
        }
        self.fresh_pairs.add(class, word, others);
    }

    /// What may be present when a transition is applied; `None` when it is not applicable. Witnesses that leave another precondition
    /// without one do not count.
    fn coexisting(&self, transition: usize) -> Option<Bits> {
        let candidates: Bits = (0..self.pending.len()).map(|word| self.candidates(transition, word)).collect();
        let mut groups: Vec<Vec<usize>> = self
            .transitions
            .required(transition)
            .map(|condition| condition.witnesses.iter().copied().filter(|&class| candidates.contains(class)).collect())
            .collect();
        loop {
            let coexisting: Bits =
                candidates.words().iter().enumerate().map(|one| self.with_all(&groups, one)).collect();
            let mut changed = false;
            for group in &mut groups {
                // A group is part of its own neighbourhood, which so takes nothing away.
                let before = group.len();
                group.retain(|&class| coexisting.contains(class));
                changed |= group.len() != before;
            }
            if groups.iter().any(Vec::is_empty) {
                return None;
            }
            if !changed {
                return Some(coexisting);
            }
        }
    }

    fn with_all(&self, groups: &[Vec<usize>], (word, &classes): (usize, &u64)) -> u64 {
        groups.iter().fold(classes, |classes, group| classes & self.neighbourhood(group, word))
    }

    /// The members of a group and what may be present with one of them, as far as they are in a word.
    fn neighbourhood(&self, group: &[usize], word: usize) -> u64 {
        group.iter().fold(0, |hood, &class| {
            let own = if class / 64 == word { 1 << (class % 64) } else { 0 };
            hood | own | self.compatible.word(class, word)
        })
    }
}

/// The classes that have any pair in a word.
fn with_any_in(compatible: &BitMatrix, classes: usize, word: usize) -> Vec<u32> {
    (0..classes).filter(|&class| compatible.word(class, word) != 0).map(|class| class as u32).collect()
}

/// For each class, the preconditions that it is a witness of.
fn witness_of(transitions: &Preconditions<'_>, classes: usize) -> Vec<Vec<usize>> {
    let mut witness_of = vec![Vec::new(); classes];
    for (number, condition) in transitions.conditions.iter().enumerate() {
        condition.witnesses.iter().for_each(|&class| witness_of[class].push(number));
    }
    witness_of
}

/// For each class, the transitions with a choice that need it or another.
fn chosen_by(transitions: &Preconditions<'_>, classes: usize) -> Vec<Vec<usize>> {
    let mut chosen_by = vec![Vec::new(); classes];
    for number in (0..transitions.paths.len()).filter(|&number| transitions.paths[number].has_choice) {
        let witnesses = transitions.required(number).flat_map(|condition| &condition.witnesses);
        witnesses.for_each(|&class| chosen_by[class].push(number));
    }
    chosen_by.iter_mut().for_each(Vec::dedup);
    chosen_by
}

/// The classes that satisfy a precondition whatever is compatible: its witnesses, and those that do not keep the pod from being first.
fn satisfying(system: &System, condition: &Precondition) -> Bits {
    let classes = system.classes.len();
    let mut satisfying = Bits::none(classes);
    if let Some(sum) = condition.first_unless {
        let members = system.sums.members(sum).map(|class| class as usize);
        satisfying = Bits::of(classes, 0..classes);
        satisfying.subtract(&Bits::of(classes, members));
    }
    condition.witnesses.iter().for_each(|&class| satisfying.insert(class));
    satisfying
}

/// The classes that may not be there at all when upper bounds hold.
fn barred(system: &System, bounds: &[(Sum, u128)]) -> Bits {
    let too_heavy = bounds.iter().flat_map(|&(sum, bound)| {
        let weights = system.sums.weights[sum as usize].iter();
        weights.filter(move |&&(_, weight)| weight > bound).map(|&(class, _)| class as usize)
    });
    Bits::of(system.classes.len(), too_heavy)
}

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, cases, problem};

    use super::*;
    use crate::compile::SumGuard;
    use crate::compile::slice;

    /// The pairs by their definition: transitions are used until none of them adds anything.
    fn defined(system: &System) -> Mutexes {
        let classes = system.classes.len();
        let members = system.sums.weights.iter();
        let members: Vec<Bits> =
            members.map(|weights| Bits::of(classes, weights.iter().map(|&(class, _)| class as usize))).collect();
        let compatible = (0..classes).map(|a| {
            let at_first = (0..classes).filter(|&b| system.start[a] > 0 && system.start[b] > u64::from(a == b));
            Bits::of(classes, at_first)
        });
        let possible = Bits::of(classes, (0..classes).filter(|&class| system.start[class] >= 1));
        let mut mutexes = Mutexes { possible, compatible: compatible.collect() };
        loop {
            let before = mutexes.clone();
            for transition in &system.transitions {
                let Some(coexisting) = coexisting(system, &transition.guard, &members, &mutexes) else { continue };
                let head = transition.head as usize;
                mutexes.possible.insert(head);
                for other in coexisting {
                    mutexes.compatible[head].insert(other);
                    mutexes.compatible[other].insert(head);
                }
            }
            if mutexes.possible == before.possible && mutexes.compatible == before.compatible {
                return mutexes;
            }
        }
    }

    /// What may be there when a guard holds: each with a witness for every group, and with witnesses for all groups that themselves
    /// may be there.
    fn coexisting(system: &System, guard: &SumGuard, members: &[Bits], mutexes: &Mutexes) -> Option<Vec<usize>> {
        let barred = barred(system, &guard.at_most);
        let near = |a: usize, b: usize| a == b || mutexes.compatible[a].contains(b);
        let conditions = || guard.affinity.iter().flat_map(|c| c.near.iter().map(|&sum| (sum, c.first_unless)));
        let mut there: Vec<usize> = mutexes.possible.ones().filter(|&class| !barred.contains(class)).collect();
        let witnessed = |class: usize, (sum, first_unless): (Sum, Option<Sum>)| {
            let is_other = first_unless.is_some_and(|first_unless| !members[first_unless as usize].contains(class));
            is_other || members[sum as usize].ones().any(|witness| !barred.contains(witness) && near(witness, class))
        };
        there.retain(|&class| conditions().all(|condition| witnessed(class, condition)));
        loop {
            let required = conditions().filter(|(_, first_unless)| first_unless.is_none());
            let members = |sum: Sum| there.iter().copied().filter(move |&class| members[sum as usize].contains(class));
            let groups: Vec<Vec<usize>> = required.map(|(sum, _)| members(sum).collect()).collect();
            if groups.iter().any(Vec::is_empty) {
                return None;
            }
            let fewer = there.iter().copied();
            let fewer =
                fewer.filter(|&class| groups.iter().all(|group| group.iter().any(|&witness| near(witness, class))));
            let fewer: Vec<usize> = fewer.collect();
            if fewer.len() == there.len() {
                return Some(there);
            }
            there = fewer;
        }
    }

    #[test]
    fn the_fixpoint_is_what_the_definition_says() {
        let (mut rng, mut excluded, mut first) = (Rng::new(71), 0, 0);
        for case in 0..cases(2_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            let problem = problem(&mut rng, shape);
            let system = System::new(&problem, slice(&problem));
            let (expected, mutexes) =
                (defined(&system), Mutexes::new(&system, &Budget::unlimited()).expect("no limits"));
            assert_eq!(mutexes.possible, expected.possible, "case {case}: {problem:#?}");
            assert_eq!(mutexes.compatible, expected.compatible, "case {case}: {problem:#?}");
            let all: usize = system.classes.len().pow(2);
            excluded += all - expected.compatible.iter().map(Bits::len).sum::<usize>();
            let conditions = system.transitions.iter().flat_map(|transition| &transition.guard.affinity);
            first += conditions.filter(|condition| condition.first_unless.is_some()).count();
        }
        assert!(excluded > 1_000 && first > 100, "{excluded} {first}");
    }
}
