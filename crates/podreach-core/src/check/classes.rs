//! Atoms seen through the classes of a proof: guards must not tell the members of a class apart.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Flaw;
use super::index::Present;
use crate::cancel;
use crate::configuration::{Atom, Configuration};
use crate::guard::{self, Affinity, AtMost, Distinct, Domain, Guard, Spread, Universe, Weights};
use crate::id::{IdMap, NodeId, PodId};
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
    of: IdMap<Atom, Class>,
    guards: IdMap<Class, Guards>,
    rules: guard::Guards<'a>,
    /// The lists of weights that many guards share, by where they are and how long, with what they are over classes.
    folded: IdMap<(usize, usize), (Weights, Weights<Class>)>,
}

/// Whether an atom is one that a proof may speak of: of the roster, and on a node unless it waits for one.
fn exists(problem: &Problem, (pod, node): Atom) -> bool {
    let cluster = problem.model.cluster();
    if cluster.pods.get(pod).is_none() || !problem.roster.contains(pod) {
        return false;
    }
    match problem.model.bound(pod) {
        Some(_) => node == NodeId::NOWHERE,
        None => cluster.nodes.get(node).is_some(),
    }
}

impl<'a> Classes<'a> {
    /// The classes of a proof, if they are disjoint, their atoms exist, and no other type stands for one of them.
    pub(super) fn new(problem: &'a Problem, proof: &Proof) -> Result<Self, Flaw> {
        let mut classes = Self {
            problem,
            sizes: Vec::new(),
            members: Vec::new(),
            of: IdMap::default(),
            guards: IdMap::default(),
            rules: guard::Guards::new(problem, Universe::Possible),
            folded: IdMap::default(),
        };
        for (index, members) in proof.classes.iter().enumerate() {
            let exist = members.iter().all(|&atom| exists(problem, atom));
            if members.is_empty() || !exist || classes.add(members).is_err() {
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

    /// The atoms of a class.
    pub(super) fn members(&self, class: Class) -> &[Atom] {
        &self.members[class]
    }

    /// How many pods of each class of the proof a configuration has.
    pub(super) fn count(&self, class: Class, configuration: &Configuration) -> u64 {
        self.members[class].iter().fold(0, |sum, &atom| sum.saturating_add(configuration.count(atom)))
    }

    /// How many pods of each of the first classes a configuration has.
    pub(super) fn counts(&self, classes: usize, configuration: &Configuration) -> Vec<u64> {
        (0..classes).map(|class| self.count(class, configuration)).collect()
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
            let Some(guard) = self.rules.guard(atom) else { continue };
            let guard = self.fold(&guard).map_err(|class| Flaw::SplitClass(class, atom))?;
            // Guards of one class nearly always differ in their witnesses, and these lists are short.
            if !guards.iter().any(|(_, known)| known.affinity == guard.affinity && *known == guard) {
                guards.push((atom, guard));
            }
        }
        let guards: Guards = guards.into();
        self.guards.insert(class, guards.clone());
        Ok(guards)
    }

    /// What members of a class that are being deleted were before, each with such a member: a class of the proof, or none that counts.
    pub(super) fn sources(&self, class: Class) -> Vec<(Atom, Option<Class>)> {
        cancel::poll();
        let m = &self.problem.model;
        let mut sources: Vec<(Atom, Option<Class>)> = Vec::new();
        for &(pod, node) in &self.members[class] {
            let Some(before) = m.shadowed(pod).map(|base| (base, node)) else { continue };
            let source = self.of.get(&before).copied();
            if self.problem.is_possible(before) && !sources.iter().any(|(_, known)| *known == source) {
                sources.push(((pod, node), source));
            }
        }
        sources
    }

    /// The class of what deploying a pod of a type consumes, where the proof has one.
    pub(super) fn consumed(&self, pod: PodId) -> Option<Class> {
        self.of.get(&self.problem.model.consumed(pod)?).copied()
    }

    fn fold(&mut self, guard: &Guard) -> Result<Guard<Class>, Class> {
        cancel::poll();
        let at_most = guard.at_most.iter().map(|c| Ok(AtMost { weights: self.shared(&c.weights)?, bound: c.bound }));
        let at_most = at_most.collect::<Result<_, Class>>()?;
        let distinct = guard.distinct.iter().map(|c| {
            let weights = self.shared(&c.weights)?;
            Ok(Distinct { weights, groups: self.groups(&c.groups)?, bound: c.bound, unless: self.groups(&c.unless)? })
        });
        let distinct = distinct.collect::<Result<_, Class>>()?;
        let affinity = guard.affinity.iter().map(|c| {
            let near = self.groups(&c.near)?;
            Ok(Affinity { near, first_unless: c.first_unless.as_ref().map(|group| self.group(group)).transpose()? })
        });
        let affinity = affinity.collect::<Result<_, Class>>()?;
        let spread = guard.spread.iter().map(|c| {
            let domains = c.domains.iter().map(|domain| self.domain(domain)).collect::<Result<_, Class>>()?;
            Ok(Spread { domains, own: c.own, joins: c.joins, max_skew: c.max_skew })
        });
        Ok(Guard { at_most, distinct, affinity, spread: spread.collect::<Result<_, Class>>()? })
    }

    /// Weights per class, folded once for all guards that share them.
    fn shared(&mut self, weights: &Weights) -> Result<Weights<Class>, Class> {
        let place = (weights.as_ptr().addr(), weights.len());
        if let Some((_, folded)) = self.folded.get(&place) {
            return Ok(folded.clone());
        }
        let folded: Weights<Class> = self.weights(weights.iter().copied())?.into();
        // Keeping the list keeps another from being where it is.
        self.folded.insert(place, (weights.clone(), folded.clone()));
        Ok(folded)
    }

    fn domain(&mut self, domain: &Domain) -> Result<Domain<Class>, Class> {
        let while_any = domain.while_any.as_ref().map(|atoms| self.group(atoms)).transpose()?;
        Ok(Domain { atoms: self.group(&domain.atoms)?, base: domain.base, while_any })
    }

    fn groups(&mut self, groups: &[Vec<Atom>]) -> Result<Vec<Vec<Class>>, Class> {
        groups.iter().map(|group| self.group(group)).collect()
    }

    fn group(&mut self, atoms: &[Atom]) -> Result<Vec<Class>, Class> {
        let weights = self.weights(atoms.iter().map(|&atom| (atom, 1)))?;
        Ok(weights.into_iter().map(|(class, _)| class).collect())
    }

    /// Weights per class, sorted by class; an error where a class is not wholly in, or has unequal weights.
    fn weights(&mut self, atoms: impl Iterator<Item = (Atom, u128)>) -> Result<Vec<(Class, u128)>, Class> {
        let mut weights: Vec<(Class, u128)> = atoms.map(|(atom, weight)| (self.class(atom), weight)).collect();
        weights.sort_unstable();
        let split = weights.chunk_by(|a, b| a.0 == b.0).find(|members| !self.is_whole(members));
        split.map_or(Ok(()), |members| Err(members[0].0))?;
        weights.dedup();
        Ok(weights)
    }

    /// Whether weights of one class are those of all its members, and equal.
    fn is_whole(&self, members: &[(Class, u128)]) -> bool {
        let (class, weight) = members[0];
        members.len() == self.sizes[class] && members.iter().all(|member| member.1 == weight)
    }
}
