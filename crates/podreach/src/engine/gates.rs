//! The fixpoint behind the pairs: each rule is a row of gates.
//!
//! A rule has a gate for each of its affinity groups. A class passes a gate when it may be present with one of the group's witnesses,
//! and waits at the first gate that it cannot pass. A class that is through all of them may be there when the rule deploys, once the
//! rule can be used at all: once every gate has a witness that is through, too. So every class passes every gate at most once, and
//! whenever a pair turns out to be possible, only what waits for it moves on.

use std::collections::BTreeSet;
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
    /// For each class, what may be present with it, as far as gates have not been told yet.
    gained: Vec<Bits>,
    /// The classes for which that is something.
    queue: Vec<usize>,
    /// Possible classes that have not come to the first gates yet.
    fresh: Bits,
    /// Rows whose witnesses must be looked at together.
    unsettled: BTreeSet<usize>,
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
        let sets = 2 * system.classes.len() + 2 * system.rules.len() + system.forms.weights.len() + gates;
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
            rows.push(Row { head, barred, gates: vec![0; own.len()], through: Bits::none(classes), has_no_choice });
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
            gained: vec![Bits::none(classes); classes],
            queue: Vec::new(),
            fresh: pairs.possible.clone(),
            pairs,
        }
    }

    /// All pairs that are possible.
    pub(super) fn reached(mut self, budget: &Budget<'_>) -> Result<Pairs, Stop> {
        // In turns, so that much is done at a time.
        while !self.unsettled.is_empty() {
            for row in mem::take(&mut self.unsettled) {
                self.settle(row);
            }
            self.let_in();
            for class in mem::take(&mut self.queue) {
                if let Some(stop) = budget.stop(0) {
                    return Err(stop);
                }
                self.tell(class);
            }
        }
        Ok(self.pairs)
    }

    /// Lets what is possible since the last time come to the first gates.
    fn let_in(&mut self) {
        let fresh: Vec<usize> = self.fresh.ones().collect();
        self.fresh.clear();
        for row in 0..self.rows.len() {
            for &class in &fresh {
                if !self.rows[row].barred.contains(class) {
                    self.walk(row, 0, class);
                }
            }
        }
    }

    /// Tells the gates with this witness what may be present with it.
    fn tell(&mut self, witness: usize) {
        let gained: Vec<usize> = self.gained[witness].ones().collect();
        self.gained[witness].clear();
        let gates = mem::take(&mut self.witness_at[witness]);
        for class in gained {
            for &(word, bits) in &gates {
                let mut told = self.heeded_by[class].words()[word] & bits;
                while told != 0 {
                    self.meet(word * 64 + told.trailing_zeros() as usize, class);
                    told &= told - 1;
                }
            }
        }
        self.witness_at[witness] = gates;
    }

    /// A class may be present with a witness of a gate where it waits, or beyond which it is a witness, too.
    fn meet(&mut self, gate: usize, class: usize) {
        let Gate { row, place, .. } = self.gates[gate];
        if self.rows[row].through.contains(class) {
            self.unsettled.insert(row);
        } else {
            self.heeded_by[class].remove(gate);
            self.walk(row, place + 1, class);
        }
    }

    /// A class passes gates until one holds it up.
    fn walk(&mut self, row: usize, from: usize, class: usize) {
        let Row { gates, through, has_no_choice, .. } = &mut self.rows[row];
        let open = |gate: usize| self.gates[gate].lets_pass(class, &self.members, &self.pairs.together);
        if let Some(&gate) = gates[from..].iter().find(|&&gate| !open(gate)) {
            return self.heeded_by[class].insert(gate);
        }
        through.insert(class);
        self.unsettled.insert(row);
        if !*has_no_choice {
            // Where there is a choice, it matters with which of the witnesses it may be present.
            gates.iter().for_each(|&gate| self.heeded_by[class].insert(gate));
        }
    }

    /// Uses a rule, if it can be used, with all that may be there then.
    fn settle(&mut self, row: usize) {
        let head = self.rows[row].head;
        let Some(mut company) = self.company(&self.rows[row]) else { return };
        if !self.pairs.possible.contains(head) {
            self.pairs.possible.insert(head);
            self.fresh.insert(head);
        }
        company.subtract(&self.pairs.together[head]);
        for other in company.ones() {
            self.add(head, other);
            self.add(other, head);
        }
    }

    fn add(&mut self, class: usize, other: usize) {
        if self.gained[class].is_empty() {
            self.queue.push(class);
        }
        self.gained[class].insert(other);
        self.pairs.together[class].insert(other);
    }

    /// What may be present when a rule is used; `None` when it cannot be. Witnesses that leave another gate without one do not count.
    fn company(&self, row: &Row) -> Option<Bits> {
        let required = || row.gates.iter().map(|&gate| &self.gates[gate]).filter(|gate| gate.is_required());
        let through = |gate: &Gate| gate.witnesses.iter().any(|&class| row.through.contains(class));
        if !required().all(through) {
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
            groups.iter().for_each(|group| company.retain_within(&self.neighbourhood(group)));
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
    fn neighbourhood(&self, group: &Bits) -> Bits {
        let mut hood = group.clone();
        group.ones().for_each(|class| hood.extend(&self.pairs.together[class]));
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
