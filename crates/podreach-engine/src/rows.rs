//! Rules as rows of gates: the ways that the fixpoint over pairs goes along.
//!
//! A rule has a gate for each of its affinity groups. Many rules ask for the same group, so each gate is kept once; and many ask for
//! almost the same groups, so rows that begin with the same gates share their beginning. That makes a tree of places: at its root is
//! what has not come to any gate, every other place is right behind a gate, and each row ends at one of them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::form::{Form, FormGuard};
use super::group::Class;
use super::system::System;

/// The place in front of all gates.
pub(super) const ENTRANCE: usize = 0;

/// The rows of a system.
#[derive(Default)]
pub(super) struct Rows<'s> {
    /// A row for each rule.
    pub(super) rows: Vec<Row>,
    pub(super) gates: Vec<Gate>,
    pub(super) places: Vec<Place>,
    /// The upper bounds of rules, each list once.
    pub(super) bounds: Vec<&'s [(Form, u128)]>,
}

/// A rule.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) head: usize,
    /// Which list of upper bounds it has.
    pub(super) bounds: usize,
    /// The place behind all of its gates.
    pub(super) end: usize,
    /// Whether a group that it needs has several witnesses: then it matters which of them may be there together.
    pub(super) has_choice: bool,
}

/// An affinity group of rules.
pub(super) struct Gate {
    /// The classes of the group that no upper bound of the rules rules out.
    pub(super) witnesses: Vec<usize>,
    /// Where the pod may also be the first of its kind: the form that counts its kind. All others pass.
    pub(super) kind: Option<Form>,
    /// The places that it is passed from, each with the place right behind it.
    pub(super) steps: Vec<(usize, usize)>,
}

impl Gate {
    /// Whether its rules cannot be used without one of the witnesses.
    pub(super) fn is_required(&self) -> bool {
        self.kind.is_none()
    }
}

/// Where classes are that passed the same gates.
#[derive(Default)]
pub(super) struct Place {
    /// The last of these gates.
    pub(super) gate: usize,
    /// The place in front of it.
    pub(super) before: usize,
    /// The gates that come next, each with the place right behind it.
    pub(super) steps: Vec<(usize, usize)>,
    /// The rows that end here.
    pub(super) rows: Vec<usize>,
}

impl<'s> Rows<'s> {
    pub(super) fn new(system: &'s System) -> Self {
        let mut rows = Self { places: vec![Place::default()], ..Self::default() };
        let mut known = Known::default();
        let guards = system.rules.iter().map(|rule| &rule.guard);
        let gates: Vec<Vec<usize>> = guards.map(|guard| rows.gates_of(system, guard, &mut known)).collect();
        // The earlier a gate comes that many rows have, the more they share. Those with no other gate do not care.
        let mut uses = vec![0usize; rows.gates.len()];
        gates.iter().filter(|own| own.len() > 1).flatten().for_each(|&gate| uses[gate] += 1);
        for (rule, mut own) in system.rules.iter().zip(gates) {
            own.sort_unstable_by_key(|&gate| (Reverse(uses[gate]), gate));
            own.dedup();
            let end = own.iter().fold(ENTRANCE, |before, &gate| rows.place(before, gate, &mut known));
            rows.places[end].rows.push(rows.rows.len());
            let is_choice = |&gate: &usize| rows.gates[gate].is_required() && rows.gates[gate].witnesses.len() > 1;
            let has_choice = own.iter().any(is_choice);
            let bounds = rows.bounds(&rule.guard.at_most, &mut known);
            rows.rows.push(Row { head: rule.head as usize, bounds, end, has_choice });
        }
        rows
    }

    /// The groups of which a row needs a witness each.
    pub(super) fn required(&self, row: usize) -> impl Iterator<Item = &Gate> {
        let places = std::iter::successors(Some(self.rows[row].end), |&place| Some(self.places[place].before));
        let gates = places.take_while(|&place| place != ENTRANCE).map(|place| &self.gates[self.places[place].gate]);
        gates.filter(|gate| gate.is_required())
    }

    /// The gates of a guard, made if there are none.
    fn gates_of(&mut self, system: &System, guard: &FormGuard, known: &mut Known<'s>) -> Vec<usize> {
        let groups = guard.affinity.iter().flat_map(|c| c.near.iter().map(|&form| (form, c.first_unless)));
        let gate = |(form, kind): (Form, Option<Form>)| {
            *known.gates.entry((witnesses(system, guard, form), kind)).or_insert_with_key(|(witnesses, kind)| {
                self.gates.push(Gate { witnesses: witnesses.clone(), kind: *kind, steps: Vec::new() });
                self.gates.len() - 1
            })
        };
        groups.map(gate).collect()
    }

    /// The place behind a gate that is passed from another place, made if there is none.
    fn place(&mut self, before: usize, gate: usize, known: &mut Known<'s>) -> usize {
        *known.places.entry((before, gate)).or_insert_with(|| {
            let place = self.places.len();
            self.places[before].steps.push((gate, place));
            self.gates[gate].steps.push((before, place));
            self.places.push(Place { gate, before, ..Place::default() });
            place
        })
    }

    /// The number of a list of upper bounds, which it gets if it has none.
    fn bounds(&mut self, bounds: &'s [(Form, u128)], known: &mut Known<'s>) -> usize {
        *known.bounds.entry(bounds).or_insert_with(|| {
            self.bounds.push(bounds);
            self.bounds.len() - 1
        })
    }
}

/// What there is already, by what it is made from.
#[derive(Default)]
struct Known<'s> {
    gates: FxHashMap<(Vec<usize>, Option<Form>), usize>,
    places: FxHashMap<(usize, usize), usize>,
    bounds: FxHashMap<&'s [(Form, u128)], usize>,
}

/// The classes of a form of which one may be there when a guard holds.
fn witnesses(system: &System, guard: &FormGuard, form: Form) -> Vec<usize> {
    let is_barred = |class: Class| guard.at_most.iter().any(|&(form, bound)| system.forms.weight(form, class) > bound);
    let classes = system.forms.weights[form as usize].iter().map(|&(class, _)| class);
    classes.filter(|&class| !is_barred(class)).map(|class| class as usize).collect()
}
