//! The fixpoint behind the pairs: each rule is a row of gates.
//!
//! A rule has a gate for each of its affinity groups. A class passes a gate when it may be present with one of the group's witnesses,
//! and waits at the first gate that it cannot pass. A class that is through all of them may be there when the rule deploys, once the
//! rule can be used at all: once every gate has a witness that is through, too. So every class passes every gate at most once, and
//! whenever a pair turns out to be possible, only what waits for it moves on.

use std::collections::{BTreeSet, VecDeque};
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
    /// The classes of each form.
    members: Vec<Bits>,
    /// For each class, the rows and the gates there of which it is a witness.
    witness_at: Vec<Vec<(u32, u32)>>,
    /// For each class, what may be present with it, as far as gates have not been told yet.
    gained: Vec<Bits>,
    /// The classes for which that is something.
    queue: VecDeque<usize>,
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
    gates: Vec<Gate>,
    /// The classes that passed all gates.
    through: Bits,
    /// Whether every gate has just one witness: then all of them must get through.
    has_no_choice: bool,
}

/// An affinity group.
struct Gate {
    /// The classes of the group that are not barred.
    witnesses: Vec<u32>,
    /// Where the pod may also be the first of its kind: the form that counts its kind. All others pass.
    kind: Option<Form>,
    waiting: Bits,
}

impl Row {
    fn new(system: &System, head: usize, guard: &FormGuard, members: &[Bits]) -> Self {
        let classes = system.classes.len();
        let barred = barred(system, guard);
        let gates = guard.affinity.iter().flat_map(|condition| {
            condition.near.iter().map(|&form| {
                let free = members[form as usize].ones().filter(|&class| !barred.contains(class));
                let witnesses = free.map(|class| class as u32).collect();
                Gate { witnesses, kind: condition.first_unless, waiting: Bits::none(classes) }
            })
        });
        let gates: Vec<Gate> = gates.collect();
        let has_no_choice = gates.iter().all(|gate| !gate.is_required() || gate.witnesses.len() == 1);
        Self { head, barred, gates, through: Bits::none(classes), has_no_choice }
    }

    /// Whether it can be used, as far as single witnesses tell.
    fn has_witnesses(&self) -> bool {
        let through = |gate: &Gate| gate.witnesses.iter().any(|&class| self.through.contains(class as usize));
        self.gates.iter().all(|gate| !gate.is_required() || through(gate))
    }
}

impl Gate {
    fn lets_pass(&self, class: usize, members: &[Bits], together: &[Bits]) -> bool {
        let with = |&witness: &u32| witness as usize == class || together[witness as usize].contains(class);
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
        let rules = system.rules.iter();
        let rows: Vec<Row> = rules.map(|rule| Row::new(system, rule.head as usize, &rule.guard, &members)).collect();
        let mut witness_at = vec![Vec::new(); classes];
        for (row, index) in rows.iter().zip(0..) {
            for (gate, at) in row.gates.iter().zip(0..) {
                gate.witnesses.iter().for_each(|&class| witness_at[class as usize].push((index, at)));
            }
        }
        Self {
            unsettled: (0..rows.len()).collect(),
            rows,
            members,
            witness_at,
            gained: vec![Bits::none(classes); classes],
            queue: VecDeque::new(),
            fresh: pairs.possible.clone(),
            pairs,
        }
    }

    /// All pairs that are possible.
    pub(super) fn reached(mut self, budget: &Budget<'_>) -> Result<Pairs, Stop> {
        loop {
            if let Some(stop) = budget.stop(0) {
                return Err(stop);
            }
            if let Some(class) = self.queue.pop_front() {
                self.tell(class);
            } else if !self.fresh.is_empty() {
                self.let_in();
            } else if let Some(row) = self.unsettled.pop_first() {
                self.settle(row);
            } else {
                return Ok(self.pairs);
            }
        }
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
        for &(row, at) in &gates {
            let (row, at) = (row as usize, at as usize);
            for &class in &gained {
                let gate = &mut self.rows[row].gates[at];
                if gate.waiting.contains(class) {
                    gate.waiting.remove(class);
                    self.walk(row, at + 1, class);
                } else if !self.rows[row].has_no_choice && self.rows[row].through.contains(class) {
                    self.unsettled.insert(row);
                }
            }
        }
        self.witness_at[witness] = gates;
    }

    /// A class passes gates until one holds it up.
    fn walk(&mut self, row: usize, from: usize, class: usize) {
        let Row { gates, through, .. } = &mut self.rows[row];
        let closed = |gate: &&mut Gate| !gate.lets_pass(class, &self.members, &self.pairs.together);
        match gates[from..].iter_mut().find(closed) {
            Some(gate) => gate.waiting.insert(class),
            None => {
                through.insert(class);
                self.unsettled.insert(row);
            }
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
            self.queue.push_back(class);
        }
        self.gained[class].insert(other);
        self.pairs.together[class].insert(other);
    }

    /// What may be present when a rule is used; `None` when it cannot be. Witnesses that leave another gate without one do not count.
    fn company(&self, row: &Row) -> Option<Bits> {
        if row.has_no_choice || !row.has_witnesses() {
            return row.has_witnesses().then(|| row.through.clone());
        }
        let classes = self.witness_at.len();
        let required = row.gates.iter().filter(|gate| gate.is_required());
        let groups = required.map(|gate| Bits::of(classes, gate.witnesses.iter().map(|&class| class as usize)));
        let mut groups: Vec<Bits> = groups.collect();
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
