//! The compiled system: classes, the transitions that make one more pod of a class, the start and the goals.
//!
//! A class may be made in several ways, one transition each. What engines find out about classes is translated back: a transition names the
//! atom it deploys, and a proof counts classes itself.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel;
use podreach_core::guard::{Affinity, Guard, Guards, Universe};
use podreach_core::{Atom, Configuration, Problem, Proof};
use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::{classes, useful};
use super::projection::Projection;
use super::reachability::{needs, reachable};
use super::sums::{SumGuard, Sums};
use crate::group::{Class, Group};

/// A compiled problem; configurations count what is there besides the kept pods.
#[derive(Clone, Debug)]
pub struct System {
    /// The classes.
    pub classes: Vec<Vec<Atom>>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The transitions that make a class, by their indexes.
    pub transitions_of: Vec<Vec<usize>>,
    /// How many pods of each class run at first.
    pub start: Vec<u64>,
    /// The alternatives of the goal that were not ruled out.
    pub goals: Vec<Group>,
    /// The sums that guards compare.
    pub sums: Sums,
    /// Atoms of the slice that can never appear.
    pub dead: BTreeSet<Atom>,
    guards: BTreeMap<Atom, Guard>,
    /// What each atom that is being deleted was before.
    before: BTreeMap<Atom, Atom>,
    /// What deploying an atom consumes, where it consumes something.
    consumed: BTreeMap<Atom, Atom>,
    class_of: FxHashMap<Atom, Class>,
}

/// A way to make one more pod of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The class.
    pub head: Class,
    /// The atom it deploys.
    pub deploys: Atom,
    /// When it may.
    pub guard: SumGuard,
    /// The class of the pod that turns into the new one, where that is how it comes about: it is there before, and not after. The guard
    /// asks for it.
    pub consumes: Option<Class>,
}

impl System {
    /// Compiles the part of a problem that matters to its goal.
    pub fn new(problem: &Problem, slice: BTreeSet<Atom>) -> Self {
        let guards = Guards::new(problem, Universe::Slice(slice.iter().copied().collect()));
        let guards: BTreeMap<Atom, Guard> =
            slice.iter().filter_map(|&atom| Some((atom, guards.guard(atom)?))).collect();
        let alive = reachable(problem, &guards, &slice);
        let dead: BTreeSet<Atom> = slice.iter().copied().filter(|atom| !alive.contains(atom)).collect();
        let goals = live_goals(problem, &dead);
        let before: BTreeMap<Atom, Atom> =
            slice.iter().filter_map(|&atom| Some((atom, before_deletion(problem, atom)?))).collect();
        let consumed = slice.iter().filter_map(|&atom| Some((atom, problem.model.consumed(atom.0)?))).collect();
        let useful = useful(&guards, &before, &alive, &goals);
        let classes = classes(&guards, &before, &useful, &dead, &goals);
        let class_of = classes.iter().zip(0..).flat_map(|(atoms, class)| atoms.iter().map(move |&atom| (atom, class)));
        let mut system = Self {
            class_of: class_of.collect(),
            transitions: Vec::new(),
            transitions_of: vec![Vec::new(); classes.len()],
            start: vec![0; classes.len()],
            goals: Vec::new(),
            sums: Sums::new(classes.len()),
            classes,
            dead,
            guards,
            before,
            consumed,
        };
        system.goals = goals.iter().map(|goal| system.group(goal)).collect();
        system.add_transitions();
        system.add_start(problem);
        system
    }

    fn add_transitions(&mut self) {
        let class_of = std::mem::take(&mut self.class_of);
        let mut projection = Projection::new(&class_of, self.classes.len());
        self.add_deployments(&class_of, &mut projection);
        self.add_deletions(&class_of, &mut projection);
        self.sums = projection.into_sums();
        self.class_of = class_of;
    }

    /// Adds a transition for each way to deploy a pod of a class.
    fn add_deployments(&mut self, class_of: &FxHashMap<Atom, Class>, projection: &mut Projection<'_>) {
        for (head, atoms) in self.classes.iter().enumerate() {
            for &atom in atoms {
                cancel::poll();
                let Some(guard) = self.guards.get(&atom).and_then(|guard| projection.guard(guard)) else { continue };
                if !self.transitions_of[head].iter().any(|&transition| self.transitions[transition].guard == guard) {
                    self.transitions_of[head].push(self.transitions.len());
                    let consumes = self.consumed.get(&atom).and_then(|unbound| class_of.get(unbound)).copied();
                    self.transitions.push(Transition { head: head as Class, deploys: atom, guard, consumes });
                }
            }
        }
    }

    /// Adds transitions for pods that are being deleted.
    fn add_deletions(&mut self, class_of: &FxHashMap<Atom, Class>, projection: &mut Projection<'_>) {
        for (&atom, before) in &self.before {
            let (Some(&head), Some(&source)) = (class_of.get(&atom), class_of.get(before)) else { continue };
            // It may be deployed as what it was, and begin to go at once, unless that consumes another; or what is there begins to go.
            let fresh = self
                .guards
                .get(before)
                .filter(|_| !self.consumed.contains_key(before))
                .and_then(|guard| projection.guard(guard))
                .map(|guard| (guard, None));
            let there = Affinity { near: vec![vec![*before]], first_unless: None };
            let there = projection.guard(&Guard { affinity: vec![there], ..Guard::default() });
            for (guard, consumes) in fresh.into_iter().chain(there.map(|guard| (guard, Some(source)))) {
                self.transitions_of[head as usize].push(self.transitions.len());
                self.transitions.push(Transition { head, deploys: atom, guard, consumes });
            }
        }
    }

    fn add_start(&mut self, problem: &Problem) {
        for (&atom, &class) in &self.class_of {
            let free = problem.start.count(atom) - problem.kept.count(atom);
            let count = &mut self.start[class as usize];
            *count = count.saturating_add(free);
        }
    }

    /// A configuration, all of whose atoms have a class, as a group.
    fn group(&self, configuration: &Configuration) -> Group {
        let mut counts = BTreeMap::<Class, u64>::new();
        for (atom, count) in configuration.iter() {
            *counts.entry(self.class_of[&atom]).or_default() += count;
        }
        counts.into_iter().collect()
    }

    /// The class of an atom, if it has one.
    pub fn class(&self, atom: Atom) -> Option<Class> {
        self.class_of.get(&atom).copied()
    }

    /// The layer of the head of a transition, from the layers of its witnesses.
    fn layer(&self, transition: &Transition, layers: &[u32]) -> u32 {
        let nearest = transition
            .guard
            .required()
            .map(|sum| self.sums.members(sum).map(|class| layers[class as usize]).min().unwrap_or(u32::MAX));
        nearest.max().map_or(1, |layer| layer.saturating_add(1))
    }

    /// How many deployments each class is away from the start, at least, if nothing is ever in the way.
    pub fn layers(&self) -> Vec<u32> {
        let mut layers: Vec<u32> = self.start.iter().map(|&count| if count > 0 { 0 } else { u32::MAX }).collect();
        loop {
            let mut changed = false;
            for transition in &self.transitions {
                let layer = self.layer(transition, &layers);
                if layer < layers[transition.head as usize] {
                    layers[transition.head as usize] = layer;
                    changed = true;
                }
            }
            if !changed {
                return layers;
            }
        }
    }

    /// The dead atoms that an argument with groups of these classes speaks about: those of goals, those that could have helped a pod of a
    /// group or turned into one, and those that could have helped these.
    fn needed_dead(&self, problem: &Problem, classes: &BTreeSet<Class>) -> BTreeSet<Atom> {
        let mut needed = BTreeSet::new();
        for goal in &problem.goal.any {
            needed.extend(goal.minus(&problem.kept).iter().map(|(atom, _)| atom).find(|atom| self.dead.contains(atom)));
        }
        let members = classes.iter().flat_map(|&class| &self.classes[class as usize]);
        for atom in members.collect::<BTreeSet<_>>() {
            let helpers = self.guards.get(atom).into_iter().flat_map(Guard::helpers).chain(self.before.get(atom));
            needed.extend(helpers.copied().filter(|atom| self.dead.contains(atom)));
        }
        let dying = needed.iter().filter_map(|atom| self.before.get(atom)).copied().collect::<Vec<_>>();
        needed.extend(dying);
        let mut todo: Vec<Atom> = needed.iter().copied().collect();
        while let Some(atom) = todo.pop() {
            cancel::poll();
            let group = self.guards.get(&atom).map_or(&[][..], |guard| dead_group(guard, &self.dead));
            let before = self.before.get(&atom);
            todo.extend(group.iter().chain(before).copied().filter(|&helper| needed.insert(helper)));
        }
        needed
    }

    /// How many pods of a class are kept.
    pub fn kept(&self, problem: &Problem, class: Class) -> u64 {
        let counts = self.classes[class as usize].iter().map(|&atom| problem.kept.count(atom));
        counts.fold(0, u64::saturating_add)
    }

    /// Forbidden groups and at-most-one constraints of classes, and the atoms that never appear, as a proof about the whole problem.
    pub fn proof(&self, problem: &Problem, groups: &[Group], at_most_one: &[Vec<Vec<Class>>]) -> Proof {
        let used =
            groups.iter().flatten().map(|&(class, _)| class).chain(at_most_one.iter().flatten().flatten().copied());
        let used: FxHashSet<Class> = used.collect();
        let used = BTreeSet::from_iter(used);
        // The number of each class in the proof, and how many of its pods are kept.
        let numbers: FxHashMap<Class, (usize, u64)> =
            used.iter().zip(0..).map(|(&class, number)| (class, (number, self.kept(problem, class)))).collect();
        let classes = used.iter().map(|&class| self.classes[class as usize].clone()).collect();
        let mut proof = Proof { classes, ..Proof::default() };
        for group in groups {
            let total = group.iter().map(|&(class, count)| (numbers[&class], count));
            proof.forbidden.push(total.map(|((number, kept), count)| (number, count.saturating_add(kept))).collect());
        }
        for constraint in at_most_one {
            let parts = constraint.iter().map(|part| part.iter().map(|class| numbers[class].0).collect());
            proof.at_most_one.push(parts.collect());
        }
        for atom in self.needed_dead(problem, &used) {
            proof.forbidden.push(BTreeMap::from([(proof.classes.len(), problem.kept.count(atom).saturating_add(1))]));
            proof.classes.push(vec![atom]);
        }
        proof
    }
}

/// The alternatives of the goal, without the kept pods, that no dead atom rules out.
fn live_goals(problem: &Problem, dead: &BTreeSet<Atom>) -> Vec<Configuration> {
    let goals = problem.goal.any.iter().map(|goal| goal.minus(&problem.kept));
    goals.filter(|goal| goal.iter().all(|(atom, _)| !dead.contains(&atom))).collect()
}

/// What an atom that is being deleted was before.
fn before_deletion(problem: &Problem, (pod, node): Atom) -> Option<Atom> {
    Some((problem.model.shadowed(pod)?, node))
}

/// Atoms of one group that would have to have a member, and have only dead ones.
fn dead_group<'g>(guard: &'g Guard, dead: &BTreeSet<Atom>) -> &'g [Atom] {
    needs(guard).find(|group| group.iter().all(|atom| dead.contains(atom))).unwrap_or_default()
}
