//! The fixpoint behind the pairs: each rule is a row of gates.
//!
//! A rule has a gate for each of its affinity groups. A class passes a gate when it may be present with one of the group's witnesses,
//! and waits at the first gate that it cannot pass. A class that is through all of them may be there when the rule deploys, once the
//! rule can be used at all: once every gate has a witness that is through, too. So every class passes every gate at most once, and
//! whenever a pair turns out to be possible, only what waits for it moves on.

use std::mem;

use super::bits::Bits;
use super::form::{Form, FormGuard};
use super::pairs::Pairs;
use super::system::System;
use super::{Budget, Stop};

/// The pairs so far, and what is still to be looked at.
pub(super) struct Fixpoint {
    pairs: Pairs,
    rows: Vec<Row>,
    /// All gates; those with the same first witness are neighbours.
    gates: Vec<Gate>,
    /// The classes of each form.
    members: Vec<Bits>,
    /// For each class, the gates of which it is a witness, as words of bits.
    witness_at: Vec<Vec<(usize, u64)>>,
    /// For each class, the gates that must be told when it may be present with one of their witnesses.
    heeded_by: Vec<Bits>,
    /// Possible classes that have not come to the first gates yet.
    fresh: Bits,
    /// Rows that something new got through, or whose witnesses may be together now.
    unsettled: Vec<usize>,
}

/// A rule.
struct Row {
    head: usize,
    /// The classes of which not even one may be there.
    barred: Bits,
    gates: Vec<usize>,
    /// The classes that passed all gates.
    through: Bits,
    /// Whether every gate has just one witness: then all of them must get through.
    has_no_choice: bool,
    /// Whether it was found to be usable.
    is_usable: bool,
    /// Whether nothing happened since it was looked at.
    is_settled: bool,
}

/// An affinity group of a rule.
struct Gate {
    row: usize,
    /// Which gate of the row it is.
    place: usize,
    /// The classes of the group that are not barred.
    witnesses: Vec<usize>,
    /// Where the pod may also be the first of its kind: the form that counts its kind. All others pass.
    kind: Option<Form>,
}

impl Gate {
    fn lets_pass(&self, class: usize, members: &[Bits], together: &[Bits]) -> bool {
        let with = |&witness: &usize| witness == class || together[witness].contains(class);
        self.kind.is_some_and(|kind| !members[kind as usize].contains(class)) || self.witnesses.iter().any(with)
    }

    /// Whether the rule cannot be used without one of the witnesses.
    fn is_required(&self) -> bool {
        self.kind.is_none()
    }
}

impl Fixpoint {
    /// How much memory it takes at most.
    pub(super) fn bytes(system: &System) -> usize {
        let guards = system.rules.iter().map(|rule| &rule.guard);
        let gates: usize = guards.flat_map(|guard| &guard.affinity).map(|condition| condition.near.len()).sum();
        let sets = system.classes.len() + 2 * system.rules.len() + system.forms.weights.len() + gates;
        sets.saturating_mul(system.classes.len().div_ceil(8))
    }

    /// Nothing has come to a gate yet.
    pub(super) fn new(system: &System, pairs: Pairs) -> Self {
        let classes = system.classes.len();
        let forms = system.forms.weights.iter();
        let members: Vec<Bits> =
            forms.map(|weights| Bits::of(classes, weights.iter().map(|&(class, _)| class as usize))).collect();
        let (mut rows, mut gates) = (Vec::new(), Vec::new());
        for rule in &system.rules {
            let barred = barred(system, &rule.guard);
            let own = gates_of(&rule.guard, rows.len(), &barred, &members);
            let has_no_choice = own.iter().all(|gate| !gate.is_required() || gate.witnesses.len() == 1);
            let head = rule.head as usize;
            let (places, through) = (vec![0; own.len()], Bits::none(classes));
            let (is_usable, is_settled) = (false, false);
            rows.push(Row { head, barred, gates: places, through, has_no_choice, is_usable, is_settled });
            gates.extend(own);
        }
        gates.sort_by_key(|gate| gate.witnesses.first().copied());
        let mut witness_at: Vec<Vec<(usize, u64)>> = vec![Vec::new(); classes];
        for (number, gate) in gates.iter().enumerate() {
            rows[gate.row].gates[gate.place] = number;
            let (word, bit) = (number / 64, 1 << (number % 64));
            for &class in &gate.witnesses {
                match witness_at[class].last_mut() {
                    Some((last, bits)) if *last == word => *bits |= bit,
                    _ => witness_at[class].push((word, bit)),
                }
            }
        }
        Self {
            unsettled: (0..rows.len()).collect(),
            rows,
            heeded_by: vec![Bits::none(gates.len()); classes],
            gates,
            members,
            witness_at,
            fresh: pairs.possible.clone(),
            pairs,
        }
    }

    /// All pairs that are possible.
    pub(super) fn reached(mut self, budget: &Budget<'_>) -> Result<Pairs, Stop> {
        // In turns, so that much is done at a time.
        while !self.unsettled.is_empty() {
            for row in mem::take(&mut self.unsettled) {
                if let Some(stop) = budget.stop(0) {
                    return Err(stop);
                }
                self.settle(row);
            }
            self.let_in();
        }
        Ok(self.pairs)
    }

    /// Lets what is possible since the last time come to the first gates: many together, few one after the other.
    fn let_in(&mut self) {
        let classes = self.witness_at.len();
        let fresh = mem::replace(&mut self.fresh, Bits::none(classes));
        if fresh.len() > fresh.words().len() {
            for row in 0..self.rows.len() {
                let mut walking = fresh.clone();
                walking.subtract(&self.rows[row].barred);
                self.walk_together(row, walking);
            }
            return;
        }
        for class in fresh.ones() {
            for row in 0..self.rows.len() {
                if !self.rows[row].barred.contains(class) {
                    self.walk(row, 0, class);
                }
            }
        }
    }

    /// Classes pass the gates of a row until all of them are held up or through.
    fn walk_together(&mut self, row: usize, mut walking: Bits) {
        for &gate in &self.rows[row].gates {
            let mut held_up = walking.clone();
            self.let_pass(&self.gates[gate], &mut walking);
            held_up.subtract(&walking);
            held_up.ones().for_each(|class| self.heeded_by[class].insert(gate));
            if walking.is_empty() {
                return;
            }
        }
        walking.ones().for_each(|class| self.get_through(row, class));
    }

    /// Retains what passes a gate.
    fn let_pass(&self, gate: &Gate, classes: &mut Bits) {
        let mut open = self.neighbourhood(gate.witnesses.iter().copied());
        if let Some(kind) = gate.kind {
            let mut others = classes.clone();
            others.subtract(&self.members[kind as usize]);
            open.extend(&others);
        }
        classes.retain_within(&open);
    }

    /// Tells the gates with this witness that a class may be present with it.
    fn tell(&mut self, witness: usize, class: usize) {
        for index in 0..self.witness_at[witness].len() {
            let (word, bits) = self.witness_at[witness][index];
            let mut told = self.heeded_by[class].words()[word] & bits;
            while told != 0 {
                self.meet(word * 64 + told.trailing_zeros() as usize, class);
                told &= told - 1;
            }
        }
    }

    /// A class may be present with a witness of a gate that heeds it: it waits there, or it is through and the row has a choice.
    fn meet(&mut self, gate: usize, class: usize) {
        let Gate { row, place, .. } = self.gates[gate];
        if self.rows[row].through.contains(class) {
            self.unsettle(row);
        } else {
            self.heeded_by[class].remove(gate);
            self.walk(row, place + 1, class);
        }
    }

    /// A class passes gates until one holds it up.
    fn walk(&mut self, row: usize, from: usize, class: usize) {
        let closed = |&&gate: &&usize| !self.gates[gate].lets_pass(class, &self.members, &self.pairs.together);
        match self.rows[row].gates[from..].iter().find(closed) {
            Some(&gate) => self.heeded_by[class].insert(gate),
            None => self.get_through(row, class),
        }
    }

    /// A class has passed all gates of a row.
    fn get_through(&mut self, row: usize, class: usize) {
        self.unsettle(row);
        let Row { gates, through, has_no_choice, .. } = &mut self.rows[row];
        through.insert(class);
        if !*has_no_choice {
            // Where there is a choice, it matters with which of the witnesses a class may be present.
            gates.iter().for_each(|&gate| self.heeded_by[class].insert(gate));
        }
    }

    fn unsettle(&mut self, row: usize) {
        if mem::take(&mut self.rows[row].is_settled) {
            self.unsettled.push(row);
        }
    }

    /// Uses a rule, if it can be used, with all that may be there then.
    fn settle(&mut self, row: usize) {
        self.rows[row].is_settled = true;
        let head = self.rows[row].head;
        let Some(mut company) = self.company(&self.rows[row]) else { return };
        self.rows[row].is_usable = true;
        if !self.pairs.possible.contains(head) {
            self.pairs.possible.insert(head);
            self.fresh.insert(head);
        }
        company.subtract(&self.pairs.together[head]);
        self.pairs.together[head].extend(&company);
        for other in company.ones() {
            self.pairs.together[other].insert(head);
            self.tell(head, other);
            self.tell(other, head);
        }
    }

    /// What may be present when a rule is used; `None` when it cannot be. Witnesses that leave another gate without one do not count.
    fn company(&self, row: &Row) -> Option<Bits> {
        let required = || row.gates.iter().map(|&gate| &self.gates[gate]).filter(|gate| gate.is_required());
        let through = |gate: &Gate| gate.witnesses.iter().any(|&class| row.through.contains(class));
        if !row.is_usable && !required().all(through) {
            return None;
        }
        if row.has_no_choice {
            return Some(row.through.clone());
        }
        let classes = self.witness_at.len();
        let mut groups: Vec<Bits> = required().map(|gate| Bits::of(classes, gate.witnesses.iter().copied())).collect();
        groups.iter_mut().for_each(|group| group.retain_within(&row.through));
        loop {
            let mut company = row.through.clone();
            groups.iter().for_each(|group| company.retain_within(&self.neighbourhood(group.ones())));
            let mut changed = false;
            for group in &mut groups {
                // A group is part of its own neighbourhood, which so takes nothing away.
                let before = group.len();
                group.retain_within(&company);
                changed |= group.len() != before;
            }
            if groups.iter().any(Bits::is_empty) {
                return None;
            }
            if !changed {
                return Some(company);
            }
        }
    }

    /// The members of a group and what may be present with one of them.
    fn neighbourhood(&self, group: impl Iterator<Item = usize>) -> Bits {
        let mut hood = Bits::none(self.witness_at.len());
        for class in group {
            hood.insert(class);
            hood.extend(&self.pairs.together[class]);
        }
        hood
    }
}

/// The gates of a rule, in order.
fn gates_of(guard: &FormGuard, row: usize, barred: &Bits, members: &[Bits]) -> Vec<Gate> {
    let groups = guard.affinity.iter().flat_map(|c| c.near.iter().map(|&form| (form, c.first_unless)));
    let gate = |(place, (form, kind)): (usize, (Form, Option<Form>))| {
        let witnesses = members[form as usize].ones().filter(|&class| !barred.contains(class)).collect();
        Gate { row, place, witnesses, kind }
    };
    groups.enumerate().map(gate).collect()
}

/// The classes of which not even one may be there when the guard holds.
fn barred(system: &System, guard: &FormGuard) -> Bits {
    let too_heavy = guard.at_most.iter().flat_map(|&(form, bound)| {
        system.forms.weights[form as usize]
            .iter()
            .filter(move |&&(_, weight)| weight > bound)
            .map(|&(class, _)| class as usize)
    });
    Bits::of(system.classes.len(), too_heavy)
}

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, cases, problem};

    use super::*;
    use crate::engine::slice;

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
        let barred = barred(system, guard);
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
