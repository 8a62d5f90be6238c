//! Atoms seen through the classes of a proof: guards must not tell the members of a class apart.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Flaw;
use super::index::Present;
use crate::configuration::{Atom, Configuration};
use crate::guard::{Affinity, AtMost, Distinct, Domain, Guard, Spread, Universe, guard};
use crate::step::Problem;
use crate::verdict::Proof;

/// A class by its index: those of the proof first, then atoms outside of them, each its own.
pub(super) type Class = usize;

/// The guards of a class's members, each with a member that has it; members with equal guards need one.
type Guards = Rc<[(Atom, Guard<Class>)]>;

/// The partition of the atoms that a proof counts with.
pub(super) struct Classes<'a> {
    problem: &'a Problem,
    /// How many atoms of each class can be present at all.
    sizes: Vec<usize>,
    members: Vec<Vec<Atom>>,
    of: HashMap<Atom, Class>,
    guards: HashMap<Class, Guards>,
}

impl<'a> Classes<'a> {
    /// The classes of a proof, if they are disjoint and their atoms exist.
    pub(super) fn new(problem: &'a Problem, proof: &Proof) -> Result<Self, Flaw> {
        let mut classes =
            Self { problem, sizes: Vec::new(), members: Vec::new(), of: HashMap::new(), guards: HashMap::new() };
        let cluster = problem.model.cluster();
        for (index, members) in proof.classes.iter().enumerate() {
            let exists = |&(pod, node): &Atom| cluster.pods.get(pod).is_some() && cluster.nodes.get(node).is_some();
            if members.is_empty() || !members.iter().all(exists) || classes.add(members).is_err() {
                return Err(Flaw::BadClass(index));
            }
        }
        Ok(classes)
    }

    fn add(&mut self, members: &[Atom]) -> Result<Class, ()> {
        let class = self.members.len();
        for &atom in members {
            if self.of.insert(atom, class).is_some() {
                return Err(());
            }
        }
        self.sizes.push(members.iter().filter(|&&atom| self.problem.is_possible(atom)).count());
        self.members.push(members.to_vec());
        Ok(class)
    }

    fn class(&mut self, atom: Atom) -> Class {
        match self.of.get(&atom) {
            Some(&class) => class,
            None => self.add(&[atom]).expect("an atom without a class can have one of its own"),
        }
    }

    /// How many pods of each class of the proof a configuration has.
    pub(super) fn count(&self, class: Class, configuration: &Configuration) -> u64 {
        self.members[class].iter().fold(0, |sum, &atom| sum.saturating_add(configuration.count(atom)))
    }

    /// How many pods of each class of the proof a configuration has, where that is any.
    pub(super) fn present(&self, configuration: &Configuration) -> Present {
        let mut counts = BTreeMap::<Class, u64>::new();
        for (class, count) in configuration.iter().filter_map(|(atom, count)| Some((*self.of.get(&atom)?, count))) {
            let sum = counts.entry(class).or_default();
            *sum = sum.saturating_add(count);
        }
        counts.into_iter().collect()
    }

    /// The guards of the members of a class over classes; members that can never be deployed have none.
    pub(super) fn guards(&mut self, class: Class) -> Result<Guards, Flaw> {
        if let Some(known) = self.guards.get(&class) {
            return Ok(known.clone());
        }
        let mut guards: Vec<(Atom, Guard<Class>)> = Vec::new();
        for atom in self.members[class].clone() {
            let Some(guard) = guard(self.problem, atom, &Universe::Possible) else { continue };
            let guard = self.fold(&guard).map_err(|class| Flaw::SplitClass(class, atom))?;
            if !guards.iter().any(|(_, known)| *known == guard) {
                guards.push((atom, guard));
            }
        }
        let guards: Guards = guards.into();
        self.guards.insert(class, guards.clone());
        Ok(guards)
    }

    fn fold(&mut self, guard: &Guard) -> Result<Guard<Class>, Class> {
        let at_most = guard.at_most.iter().map(|c| Ok(AtMost { weights: self.weights(&c.weights)?, bound: c.bound }));
        let at_most = at_most.collect::<Result<_, Class>>()?;
        let distinct = guard.distinct.iter().map(|c| {
            let weights = self.weights(&c.weights)?;
            let mut groups = |groups: &[Vec<Atom>]| groups.iter().map(|g| self.group(g)).collect::<Result<_, Class>>();
            Ok(Distinct { weights, groups: groups(&c.groups)?, bound: c.bound, unless: groups(&c.unless)? })
        });
        let distinct = distinct.collect::<Result<_, Class>>()?;
        let affinity = guard.affinity.iter().map(|c| {
            let near = c.near.iter().map(|group| self.group(group)).collect::<Result<_, Class>>()?;
            Ok(Affinity { near, first_unless: c.first_unless.as_ref().map(|group| self.group(group)).transpose()? })
        });
        let affinity = affinity.collect::<Result<_, Class>>()?;
        let spread = guard.spread.iter().map(|c| {
            let domain = |d: &Domain| Ok(Domain { atoms: self.group(&d.atoms)?, base: d.base });
            let domains = c.domains.iter().map(domain).collect::<Result<_, Class>>()?;
            Ok(Spread { domains, own: c.own, joins: c.joins, max_skew: c.max_skew })
        });
        Ok(Guard { at_most, distinct, affinity, spread: spread.collect::<Result<_, Class>>()? })
    }

    fn group(&mut self, atoms: &[Atom]) -> Result<Vec<Class>, Class> {
        let weighted: Vec<_> = atoms.iter().map(|&atom| (atom, 1)).collect();
        Ok(self.weights(&weighted)?.into_iter().map(|(class, _)| class).collect())
    }

    /// Weights per class, sorted by class; an error where a class is not wholly in, or has unequal weights.
    fn weights(&mut self, atoms: &[(Atom, u128)]) -> Result<Vec<(Class, u128)>, Class> {
        let mut order = Vec::new();
        let mut found: HashMap<Class, (u128, usize)> = HashMap::new();
        for &(atom, weight) in atoms {
            let class = self.class(atom);
            let (first, members) = found.entry(class).or_insert_with(|| {
                order.push(class);
                (weight, 0)
            });
            *members += 1;
            if *first != weight {
                return Err(class);
            }
        }
        let whole = |class: &Class| found[class].1 == self.sizes[*class];
        order.iter().find(|class| !whole(class)).map_or(Ok(()), |&class| Err(class))?;
        order.sort_unstable();
        Ok(order.into_iter().map(|class| (class, found[&class].0)).collect())
    }
}
