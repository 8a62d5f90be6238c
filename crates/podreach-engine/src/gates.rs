//! The fixpoint behind the pairs: classes walk along rows of gates.
//!
//! A class passes a gate when it may be present with one of the group's witnesses, and waits where it cannot pass. A class that is
//! through all gates of a row may be there when the rule deploys, once the rule can be used at all: once every gate has a witness that
//! is through, too. So every class comes to every place at most once, and whenever pairs turn out to be possible, only what waits for
//! them moves on. Classes walk 64 at a time, and all that these have to do is done before the next 64 take their turn.

use std::mem;

use super::bits::{self, Bits};
use super::form::Form;
use super::pairs::Pairs;
use super::rows::{ENTRANCE, Gate, Row, Rows};
use super::strips::Strips;
use super::system::System;
use super::{Budget, Stop};

/// The pairs so far, and what is still to be looked at.
pub(super) struct Fixpoint<'r> {
    rows: &'r Rows<'r>,
    /// The classes that may be present at all.
    possible: Bits,
    /// For each class, those that may be present with it.
    together: Strips,
    /// Those of them of which the gates have not been told.
    news: Strips,
    /// For each word of classes, those with news about it.
    told: Vec<Vec<u32>>,
    /// For each class, the gates of which it is a witness.
    witness_at: Vec<Vec<usize>>,
    /// For each class, the rows with a choice that need it or another.
    chosen_by: Vec<Vec<usize>>,
    /// For each gate, the classes that it lets pass.
    open: Strips,
    /// For each place, the classes that came there.
    here: Strips,
    /// For each list of upper bounds, the classes of which not even one may be there.
    barred: Strips,
    /// Classes of one word that are on their way to places.
    walking: Vec<(usize, u64)>,
    /// For each row, the last place whose gate has no witness that is through, though the row needs one.
    lacking: Vec<usize>,
    /// Possible classes that have not come in yet.
    fresh: Bits,
    /// Rows with a choice that may be used, or used with more, since they were looked at.
    unsettled: Bits,
}

impl<'r> Fixpoint<'r> {
    /// How much memory it takes at most.
    pub(super) fn bytes(system: &System, rows: &Rows<'_>) -> usize {
        // Pairs, as they are, as news, on lists, and as they are handed over.
        let pairs = 4 * system.classes.len();
        let sets = pairs + rows.gates.len() + rows.places.len() + rows.bounds.len();
        sets.saturating_mul(system.classes.len().div_ceil(64) * 8)
    }

    /// Nothing has come in yet.
    pub(super) fn new(system: &System, rows: &'r Rows<'r>, pairs: Pairs) -> Self {
        let classes = system.classes.len();
        let (mut witness_at, mut chosen_by) = (vec![Vec::new(); classes], vec![Vec::new(); classes]);
        for (number, gate) in rows.gates.iter().enumerate() {
            gate.witnesses.iter().for_each(|&class| witness_at[class].push(number));
        }
        for number in (0..rows.rows.len()).filter(|&number| rows.rows[number].has_choice) {
            let witnesses = rows.required(number).flat_map(|gate| &gate.witnesses);
            witnesses.for_each(|&class| chosen_by[class].push(number));
        }
        chosen_by.iter_mut().for_each(Vec::dedup);
        let together = Strips::of(classes, pairs.together.into_iter());
        let told =
            |word| (0..classes).filter(|&class| together.word(class, word) != 0).map(|class| class as u32).collect();
        Self {
            rows,
            told: (0..together.width()).map(told).collect(),
            news: together.clone(),
            together,
            witness_at,
            chosen_by,
            open: Strips::of(classes, rows.gates.iter().map(|gate| open_to(system, gate))),
            here: Strips::none(rows.places.len(), classes),
            barred: Strips::of(classes, rows.bounds.iter().map(|bounds| barred(system, bounds))),
            walking: Vec::new(),
            lacking: rows.rows.iter().map(|row| row.end).collect(),
            fresh: pairs.possible.clone(),
            possible: pairs.possible,
            unsettled: Bits::none(rows.rows.len()),
        }
    }

    /// All pairs that are possible.
    pub(super) fn reached(mut self, budget: &Budget<'_>) -> Result<Pairs, Stop> {
        (0..self.rows.rows.len()).for_each(|row| self.look_at(row));
        loop {
            while !self.fresh.is_empty() || self.told.iter().any(|told| !told.is_empty()) {
                self.let_in();
                for word in 0..self.told.len() {
                    self.spread(word, budget)?;
                }
            }
            // Each time a choice is looked at, everything is: so it waits until nothing else is left to do.
            if self.unsettled.is_empty() {
                return Ok(Pairs { possible: self.possible, together: self.together.apart().collect() });
            }
            for row in mem::replace(&mut self.unsettled, Bits::none(self.rows.rows.len())).ones() {
                budget.stop(0).map_or(Ok(()), Err)?;
                self.settle(row);
            }
        }
    }

    /// Lets in what is possible since the last time.
    fn let_in(&mut self) {
        let fresh = mem::replace(&mut self.fresh, Bits::none(self.witness_at.len()));
        for (word, &classes) in fresh.words().iter().enumerate().filter(|&(_, &classes)| classes != 0) {
            self.walking.push((ENTRANCE, classes));
            self.walk(word);
        }
    }

    /// Tells all gates the news about a word of classes, and those that come up meanwhile.
    fn spread(&mut self, word: usize, budget: &Budget<'_>) -> Result<(), Stop> {
        while !self.told[word].is_empty() {
            budget.stop(0).map_or(Ok(()), Err)?;
            for witness in mem::take(&mut self.told[word]) {
                self.tell(witness as usize, word);
            }
        }
        Ok(())
    }

    /// Opens the gates of a witness for the classes that it has news about.
    fn tell(&mut self, witness: usize, word: usize) {
        let rows = self.rows;
        let classes = self.news.take(witness, word);
        for index in 0..self.witness_at[witness].len() {
            let gate = self.witness_at[witness][index];
            let fresh = classes & !self.open.word(gate, word);
            self.open.add(gate, word, fresh);
            if fresh != 0 {
                let steps = rows.gates[gate].steps.iter();
                let passing = steps.map(|&(from, to)| (to, fresh & self.here.word(from, word)));
                self.walking.extend(passing.filter(|&(_, passing)| passing != 0));
            }
        }
        self.walk(word);
        for index in 0..self.chosen_by[witness].len() {
            let row = self.chosen_by[witness][index];
            if classes & self.through(row, word) != 0 {
                self.look_at(row);
            }
        }
    }

    /// Classes come to the places that they are on their way to, and go on from there as far as they can.
    fn walk(&mut self, word: usize) {
        let rows = self.rows;
        while let Some((place, classes)) = self.walking.pop() {
            self.here.add(place, word, classes);
            rows.places[place].rows.iter().for_each(|&row| self.get_through(row, word, classes));
            let steps = rows.places[place].steps.iter();
            let passing = steps.map(|&(gate, to)| (to, classes & self.open.word(gate, word)));
            self.walking.extend(passing.filter(|&(_, passing)| passing != 0));
        }
    }

    /// Classes have passed all gates of a row.
    fn get_through(&mut self, row: usize, word: usize, classes: u64) {
        let Row { head, bounds, has_choice, .. } = self.rows.rows[row];
        let classes = classes & !self.barred.word(bounds, word);
        if self.lacking[row] == ENTRANCE && !has_choice {
            self.join(head, word, classes);
        } else if classes != 0 {
            self.look_at(row);
        }
    }

    /// The classes that passed all gates of a row and may be there when its rule is used.
    fn through(&self, row: usize, word: usize) -> u64 {
        let Row { bounds, end, .. } = self.rows.rows[row];
        self.here.word(end, word) & !self.barred.word(bounds, word)
    }

    /// Uses a rule, if it can be used by now: at once, or, where there is a choice, later.
    fn look_at(&mut self, row: usize) {
        let Row { head, has_choice, .. } = self.rows.rows[row];
        self.lacking[row] = self.still_lacking(row);
        if self.lacking[row] != ENTRANCE {
            return;
        }
        if has_choice {
            self.unsettled.insert(row);
            return;
        }
        self.appear(head);
        for word in 0..self.told.len() {
            self.join(head, word, self.through(row, word));
        }
    }

    /// The last place whose gate has no witness that is through, though the row needs one. Never behind the one that was found before.
    fn still_lacking(&self, row: usize) -> usize {
        let Rows { rows, gates, places, .. } = self.rows;
        let is_through = |&class: &usize| self.here.contains(rows[row].end, class);
        let mut place = self.lacking[row];
        while place != ENTRANCE {
            let gate = &gates[places[place].gate];
            if gate.is_required() && !gate.witnesses.iter().any(is_through) {
                break;
            }
            place = places[place].before;
        }
        place
    }

    /// Uses a rule with a choice, if it can be used, with all that may be there then.
    fn settle(&mut self, row: usize) {
        let head = self.rows.rows[row].head;
        let Some(company) = self.company(row) else { return };
        self.appear(head);
        for (word, &classes) in company.words().iter().enumerate() {
            self.join(head, word, classes);
        }
    }

    /// A class turns out to be possible.
    fn appear(&mut self, class: usize) {
        if !self.possible.contains(class) {
            self.possible.insert(class);
            self.fresh.insert(class);
        }
    }

    /// Classes turn out to be possible together with the head of a rule.
    fn join(&mut self, head: usize, word: usize, classes: u64) {
        let fresh = classes & !self.together.word(head, word);
        if fresh == 0 {
            return;
        }
        self.hear(head, word, fresh);
        bits::ones(word, fresh).for_each(|class| self.hear(class, head / 64, 1 << (head % 64)));
    }

    /// Classes may be present with another.
    fn hear(&mut self, class: usize, word: usize, others: u64) {
        self.together.add(class, word, others);
        if self.news.word(class, word) == 0 {
            self.told[word].push(class as u32);
        }
        self.news.add(class, word, others);
    }

    /// What may be present when a rule is used; `None` when it cannot be. Witnesses that leave another gate without one do not count.
    fn company(&self, row: usize) -> Option<Bits> {
        let through: Bits = (0..self.told.len()).map(|word| self.through(row, word)).collect();
        let witnesses = |gate: &Gate| gate.witnesses.iter().copied().filter(|&class| through.contains(class)).collect();
        let mut groups: Vec<Vec<usize>> = self.rows.required(row).map(witnesses).collect();
        loop {
            let with_all = |(word, &classes): (usize, &u64)| {
                groups.iter().fold(classes, |classes, group| classes & self.neighbourhood(group, word))
            };
            let company: Bits = through.words().iter().enumerate().map(with_all).collect();
            let mut changed = false;
            for group in &mut groups {
                // A group is part of its own neighbourhood, which so takes nothing away.
                let before = group.len();
                group.retain(|&class| company.contains(class));
                changed |= group.len() != before;
            }
            if groups.iter().any(Vec::is_empty) {
                return None;
            }
            if !changed {
                return Some(company);
            }
        }
    }

    /// The members of a group and what may be present with one of them, as far as they are in a word.
    fn neighbourhood(&self, group: &[usize], word: usize) -> u64 {
        let own = |class: usize| if class / 64 == word { 1 << (class % 64) } else { 0 };
        group.iter().fold(0, |hood, &class| hood | own(class) | self.together.word(class, word))
    }
}

/// The classes that a gate lets pass whatever may be present together: its witnesses, and those that are not of its kind.
fn open_to(system: &System, gate: &Gate) -> Bits {
    let classes = system.classes.len();
    let mut open = Bits::none(classes);
    if let Some(kind) = gate.kind {
        let members = system.forms.weights[kind as usize].iter().map(|&(class, _)| class as usize);
        open = Bits::of(classes, 0..classes);
        open.subtract(&Bits::of(classes, members));
    }
    gate.witnesses.iter().for_each(|&class| open.insert(class));
    open
}

/// The classes of which not even one may be there when upper bounds hold.
fn barred(system: &System, bounds: &[(Form, u128)]) -> Bits {
    let too_heavy = bounds.iter().flat_map(|&(form, bound)| {
        let weights = system.forms.weights[form as usize].iter();
        weights.filter(move |&&(_, weight)| weight > bound).map(|&(class, _)| class as usize)
    });
    Bits::of(system.classes.len(), too_heavy)
}

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, cases, problem};

    use super::*;
    use crate::form::FormGuard;
    use crate::slice;

    /// The pairs by their definition: rules are used until none of them adds anything.
    fn defined(system: &System) -> Pairs {
        let classes = system.classes.len();
        let members = system.forms.weights.iter();
        let members: Vec<Bits> =
            members.map(|weights| Bits::of(classes, weights.iter().map(|&(class, _)| class as usize))).collect();
        let at_first = |a: usize, b: usize| system.start[a] > 0 && system.start[b] > u64::from(a == b);
        let together = |a: usize| Bits::of(classes, (0..classes).filter(|&b| at_first(a, b)));
        let possible = Bits::of(classes, (0..classes).filter(|&class| system.start[class] >= 1));
        let mut pairs = Pairs { possible, together: (0..classes).map(together).collect() };
        loop {
            let before = pairs.clone();
            for rule in &system.rules {
                let Some(company) = company(system, &rule.guard, &members, &pairs) else { continue };
                let head = rule.head as usize;
                pairs.possible.insert(head);
                for other in company {
                    pairs.together[head].insert(other);
                    pairs.together[other].insert(head);
                }
            }
            if pairs.possible == before.possible && pairs.together == before.together {
                return pairs;
            }
        }
    }

    /// What may be there when a guard holds: each with a witness for every group, and with witnesses for all groups that themselves
    /// may be there.
    fn company(system: &System, guard: &FormGuard, members: &[Bits], pairs: &Pairs) -> Option<Vec<usize>> {
        let barred = barred(system, &guard.at_most);
        let near = |a: usize, b: usize| a == b || pairs.together[a].contains(b);
        let conditions = || guard.affinity.iter().flat_map(|c| c.near.iter().map(|&form| (form, c.first_unless)));
        let mut there: Vec<usize> = pairs.possible.ones().filter(|&class| !barred.contains(class)).collect();
        let witnessed = |class: usize, (form, kind): (Form, Option<Form>)| {
            let is_other = kind.is_some_and(|kind| !members[kind as usize].contains(class));
            is_other || members[form as usize].ones().any(|witness| !barred.contains(witness) && near(witness, class))
        };
        there.retain(|&class| conditions().all(|condition| witnessed(class, condition)));
        loop {
            let required = conditions().filter(|(_, kind)| kind.is_none());
            let members =
                |form: Form| there.iter().copied().filter(move |&class| members[form as usize].contains(class));
            let groups: Vec<Vec<usize>> = required.map(|(form, _)| members(form).collect()).collect();
            if groups.iter().any(Vec::is_empty) {
                return None;
            }
            let has_all = |class: usize| groups.iter().all(|group| group.iter().any(|&witness| near(witness, class)));
            let fewer: Vec<usize> = there.iter().copied().filter(|&class| has_all(class)).collect();
            if fewer.len() == there.len() {
                return Some(there);
            }
            there = fewer;
        }
    }

    #[test]
    fn the_gates_let_through_what_the_definition_does() {
        let (mut rng, mut excluded, mut first) = (Rng::new(71), 0, 0);
        for case in 0..cases(2_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            let problem = problem(&mut rng, shape);
            let system = System::new(&problem, slice::slice(&problem));
            let (expected, pairs) = (defined(&system), Pairs::new(&system, &Budget::unlimited()).expect("no limits"));
            assert_eq!(pairs.possible, expected.possible, "case {case}: {problem:#?}");
            assert_eq!(pairs.together, expected.together, "case {case}: {problem:#?}");
            let all: usize = system.classes.len().pow(2);
            excluded += all - expected.together.iter().map(Bits::len).sum::<usize>();
            let conditions = system.rules.iter().flat_map(|rule| &rule.guard.affinity);
            first += conditions.filter(|condition| condition.first_unless.is_some()).count();
        }
        assert!(excluded > 1_000 && first > 100, "{excluded} {first}");
    }
}
