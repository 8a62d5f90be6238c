//! Classes: atoms that no condition of a guard and no goal tells apart.
//!
//! Atoms with the same signature (the conditions they count in, and how much) are merged. The checker accepts a class only if the guards
//! of a proof do not tell its members apart, so a wrong merge is refused. Cost: linear in the size of the guards, and a hash of each
//! signature. Lists that guards share are looked at once.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel;
use podreach_core::guard::{Guard, Weights};
use podreach_core::{Atom, Configuration};
use rustc_hash::{FxHashMap, FxHashSet};

/// The live atoms that can still help a goal once dead ones are gone.
pub fn useful(
    guards: &BTreeMap<Atom, Guard>,
    before: &BTreeMap<Atom, Atom>,
    alive: &FxHashSet<Atom>,
    goals: &[Configuration],
) -> BTreeSet<Atom> {
    let mut todo: Vec<Atom> = goals.iter().flat_map(|goal| goal.iter().map(|(atom, _)| atom)).collect();
    let mut useful: BTreeSet<Atom> = todo.iter().copied().collect();
    while let Some(atom) = todo.pop() {
        let helpers = guards.get(&atom).into_iter().flat_map(Guard::helpers).chain(before.get(&atom));
        todo.extend(helpers.filter(|atom| alive.contains(atom)).filter(|&&atom| useful.insert(atom)));
    }
    useful
}

/// Useful atoms that every condition of every guard, and the goal, treat alike. The guards of dead atoms also count: the proof says
/// why these never appear, in terms of the same classes.
pub fn classes(
    guards: &BTreeMap<Atom, Guard>,
    before: &BTreeMap<Atom, Atom>,
    useful: &BTreeSet<Atom>,
    dead: &BTreeSet<Atom>,
    goals: &[Configuration],
) -> Vec<Vec<Atom>> {
    let mut signatures = Signatures::new(useful);
    for guard in useful.iter().chain(dead).filter_map(|atom| guards.get(atom)) {
        cancel::poll();
        guard.at_most.iter().for_each(|c| signatures.weigh(&c.weights));
        guard.distinct.iter().for_each(|c| {
            signatures.weigh(&c.weights);
            c.groups.iter().chain(&c.unless).for_each(|group| signatures.count(group));
        });
        guard
            .affinity
            .iter()
            .flat_map(|c| c.near.iter().chain(&c.first_unless))
            .for_each(|group| signatures.count(group));
        let domains = guard.spread.iter().flat_map(|c| &c.domains);
        domains.flat_map(|d| d.while_any.iter().chain([&d.atoms])).for_each(|group| signatures.count(group));
    }
    for goal in goals {
        goal.iter().for_each(|(atom, _)| signatures.add(std::iter::once((atom, u128::MAX))));
    }
    // What turns into something else is not merged with what does not.
    for (&atom, &before) in before.iter().filter(|(atom, _)| useful.contains(atom)) {
        signatures.add([(before, 1), (atom, 2)].into_iter());
    }
    signatures.classes()
}

/// What conditions say about each atom: in which it counts, and how much.
struct Signatures<'g> {
    atoms: Vec<Atom>,
    places: FxHashMap<Atom, usize>,
    signatures: Vec<Vec<(usize, u128)>>,
    weights: FxHashSet<&'g [(Atom, u128)]>,
    groups: FxHashSet<&'g [Atom]>,
    /// How many conditions there are.
    conditions: usize,
    /// Where the lists are that were looked at, and how long they are.
    known: FxHashSet<(usize, usize)>,
}

impl<'g> Signatures<'g> {
    fn new(atoms: &BTreeSet<Atom>) -> Self {
        Self {
            atoms: atoms.iter().copied().collect(),
            places: atoms.iter().copied().zip(0..).collect(),
            signatures: vec![Vec::new(); atoms.len()],
            weights: FxHashSet::default(),
            groups: FxHashSet::default(),
            conditions: 0,
            known: FxHashSet::default(),
        }
    }

    fn weigh(&mut self, weights: &'g Weights) {
        if self.known.insert((weights.as_ptr().addr(), weights.len())) && self.weights.insert(weights) {
            self.add(weights.iter().copied());
        }
    }

    fn count(&mut self, group: &'g [Atom]) {
        if self.groups.insert(group) {
            self.add(group.iter().map(|&atom| (atom, 1)));
        }
    }

    fn add(&mut self, members: impl Iterator<Item = (Atom, u128)>) {
        for (atom, weight) in members {
            if let Some(&place) = self.places.get(&atom) {
                self.signatures[place].push((self.conditions, weight));
            }
        }
        self.conditions += 1;
    }

    /// The atoms of each signature.
    fn classes(self) -> Vec<Vec<Atom>> {
        let mut classes = FxHashMap::<Vec<(usize, u128)>, Vec<Atom>>::default();
        for (atom, signature) in self.atoms.into_iter().zip(self.signatures) {
            classes.entry(signature).or_default().push(atom);
        }
        let mut classes: Vec<Vec<Atom>> = classes.into_values().collect();
        classes.sort_unstable();
        classes
    }
}
