//! Shortages: a demand that no configuration of any run meets.
//!
//! Everything is shown about the cluster that the proof is about, weakened as it says: what is too little there is too little.
//! A choice that meets a demand is one configuration `g(i)` for each want `i`, and all of them together are `≤ s`. Write `k` for what is
//! kept and `s = k + x`. Every inequality is a sum `Σ w(a) · x(a) ≤ b`: at the start it holds by the choice of `b`, deletions only help,
//! and each deployment that adds to the sum was refused if it would exceed `b`. Inequalities are added up, `λ` times each. If
//!
//! ```text
//! for every want i and atom a in its place q:   rest(i, a) = worth(i) − λ(q)  ≤  Σ λ · w(a)
//! Σ worth(i) · count(i)  >  Σ λ · b  +  Σ λ(q) · most(q)  +  Σ k(a) · max { rest(i, a) : i }
//! ```
//! then no choice is within any `s`. Sums saturate and never wrap: on the left that is too little, and no sum is more than the largest.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checker, Flaw};
use crate::configuration::{Atom, Configuration};
use crate::demand::{Argument, Demand, Inequality, Place, Shortage, Want};
use crate::elastic::endless_shape;
use crate::guard::{AtMost, Guards, Universe};
use crate::id::{Id, NodeId, PodId, QuotaId, ResourceId};
use crate::model::Model;
use crate::resource::Amount;
use crate::rule::{self, Rule};
use crate::step::Problem;
use crate::verdict::Verdict;

/// A shortage whose argument was accepted. Nothing but this module makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    demand: Demand,
    shortage: Shortage,
}

impl Short {
    /// What can never be.
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// Why.
    pub fn shortage(&self) -> &Shortage {
        &self.shortage
    }
}

/// Accepts that a demand can never be met, or says what is wrong with the argument. `stop` is asked now and then whether to give up.
pub fn short(problem: &Problem, demand: Demand, shortage: Shortage, stop: &dyn Fn() -> bool) -> Result<Short, Flaw> {
    well_formed(problem, &demand)?;
    let proof = Verdict::Never(shortage.proof.clone());
    // What is being deleted meets no demand, so that it need not be ruled out.
    let mut checker = Checker::new(&problem.with_standing_goals());
    checker.check(&shortage.ruled_out, proof, stop)?;
    let problem = checker.quotient(&shortage.proof.weakened).full();
    match &shortage.argument {
        Argument::Cover => Cover { demand: &demand, ruled_out: &shortage.ruled_out.any, stop, steps: 0 }.check()?,
        Argument::Sum { worth, inequalities } => {
            let sum = Sum { problem, demand: &demand, shortage: &shortage, moving: problem.start.minus(&problem.kept) };
            sum.check(worth, inequalities)?;
        }
    }
    Ok(Short { demand, shortage })
}

/// Atoms exist, and no want has one twice. None is of a pod that is being deleted: inequalities need not hold of those, which come without
/// being deployed. None is on a node of which more may come, since a demand could be met on those.
fn well_formed(problem: &Problem, demand: &Demand) -> Result<(), Flaw> {
    for (index, want) in demand.wants.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let mut atoms = want.places.iter().flat_map(|place| &place.atoms);
        if !atoms.all(|&atom| is_listed(&problem.model, atom) && seen.insert(atom)) {
            return Err(Flaw::BadWant(index));
        }
    }
    Ok(())
}

/// Whether a pod type and a node are there, and the node is not one of those that may come without end.
fn is_listed(m: &Model, (pod, node): Atom) -> bool {
    pod.index() < m.pods().len() && m.cluster().nodes.get(node).is_some() && endless_shape(m, node).is_none()
}

/// Whether a bound admits so many of the possible atoms.
fn leaves_room(condition: &AtMost, possible: &[Atom], most: u64) -> bool {
    let weights: BTreeMap<Atom, Amount> = condition.weights.iter().copied().collect();
    let least = possible.iter().map(|atom| weights.get(atom).copied().unwrap_or(0)).min().unwrap_or(0);
    condition.bound.checked_div(least).is_none_or(|room| room >= most.into())
}

/// Goes through all choices, and leaves off where one has a configuration in it that is ruled out.
struct Cover<'a> {
    demand: &'a Demand,
    ruled_out: &'a [Configuration],
    stop: &'a dyn Fn() -> bool,
    steps: u64,
}

/// The most pods that are chosen one after the other.
const MOST: u64 = 1_024;

impl Cover<'_> {
    fn check(mut self) -> Result<(), Flaw> {
        if self.demand.wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count).saturating_add(1)) > MOST {
            return Err(Flaw::Uncovered);
        }
        let left = self.demand.wants.first().map_or(0, |want| want.count);
        self.extend(&mut Configuration::new(), 0, left, (0, 0, 0))
    }

    /// Every way to choose `left` more pods of a want and then the wants after it. `from` is the place and the atom in it to go on
    /// from, and how many were taken there.
    fn extend(
        &mut self,
        chosen: &mut Configuration,
        want: usize,
        left: u64,
        from: (usize, usize, u64),
    ) -> Result<(), Flaw> {
        self.steps += 1;
        if self.steps.is_multiple_of(256) && (self.stop)() {
            return Err(Flaw::Stopped);
        }
        if self.ruled_out.iter().any(|group| group.is_within(chosen)) {
            return Ok(());
        }
        let Some(Want { places, .. }) = self.demand.wants.get(want) else { return Err(Flaw::Uncovered) };
        if left == 0 {
            let next = self.demand.wants.get(want + 1).map_or(0, |want| want.count);
            return self.extend(chosen, want + 1, next, (0, 0, 0));
        }
        // Within a want the order of the choices does not matter: they are made in the order of the places.
        let (first_place, first_atom, taken) = from;
        for (at, Place { atoms, most }) in places.iter().enumerate().skip(first_place) {
            let (skipped, taken) = if at == first_place { (first_atom, taken) } else { (0, 0) };
            for (number, &atom) in atoms.iter().enumerate().skip(skipped).filter(|_| taken < *most) {
                chosen.add(atom);
                let covered = self.extend(chosen, want, left - 1, (at, number, taken + 1));
                chosen.remove(atom);
                covered?;
            }
        }
        Ok(())
    }
}

/// Adds up inequalities.
struct Sum<'a> {
    problem: &'a Problem,
    demand: &'a Demand,
    shortage: &'a Shortage,
    /// The start without what is kept.
    moving: Configuration,
}

impl Sum<'_> {
    fn check(&self, worth: &[Amount], inequalities: &[(Inequality, Amount)]) -> Result<(), Flaw> {
        let Demand { wants } = self.demand;
        if worth.len() != wants.len() {
            return Err(Flaw::SumTooSmall);
        }
        let mut room: Amount = 0;
        let (mut covered, mut in_place) = (BTreeMap::<Atom, Amount>::new(), BTreeMap::<(usize, usize), Amount>::new());
        for (index, (inequality, times)) in inequalities.iter().enumerate() {
            let bound = if let &Inequality::Place(want, place) = inequality {
                let most =
                    wants.get(want).and_then(|want| want.places.get(place)).ok_or(Flaw::NoInequality(index))?.most;
                add(in_place.entry((want, place)).or_default(), *times);
                most.into()
            } else {
                let (weights, bound) = self.inequality(inequality).ok_or(Flaw::NoInequality(index))?;
                for (atom, weight) in weights {
                    add(covered.entry(atom).or_default(), weight.saturating_mul(*times));
                }
                bound
            };
            add(&mut room, bound.saturating_mul(*times));
        }
        let mut rests = BTreeMap::<Atom, Amount>::new();
        for (index, (want, &worth)) in wants.iter().zip(worth).enumerate() {
            for (place, Place { atoms, .. }) in want.places.iter().enumerate() {
                let rest = worth.saturating_sub(in_place.get(&(index, place)).copied().unwrap_or(0));
                for &atom in atoms.iter().filter(|&&atom| self.problem.is_possible(atom)) {
                    if covered.get(&atom).copied().unwrap_or(0) < rest {
                        return Err(Flaw::Uncounted(atom));
                    }
                    let most = rests.entry(atom).or_default();
                    *most = rest.max(*most);
                }
            }
        }
        rests
            .iter()
            .for_each(|(&atom, rest)| add(&mut room, rest.saturating_mul(self.problem.kept.count(atom).into())));
        let asked = wants.iter().zip(worth).map(|(want, &worth)| worth.saturating_mul(want.count.into()));
        if asked.fold(0, Amount::saturating_add) > room { Ok(()) } else { Err(Flaw::SumTooSmall) }
    }

    /// What an inequality bounds besides the kept pods, and by how much; `None` if there is no such inequality.
    fn inequality(&self, inequality: &Inequality) -> Option<(Vec<(Atom, Amount)>, Amount)> {
        match inequality {
            &Inequality::Capacity(node, resource) => self.capacity(node, resource),
            &Inequality::Quota(quota) => self.quota(quota),
            &Inequality::Limit(index) => self.limit(index),
            Inequality::Few(atoms, most) => self.few(atoms, *most),
            &Inequality::Below(atom, count) => {
                let alone: Configuration = [(atom, count)].into_iter().collect();
                let below = count.checked_sub(1)?.saturating_sub(self.problem.kept.count(atom));
                self.shortage.ruled_out.any.contains(&alone).then(|| (vec![(atom, 1)], below.into()))
            }
            Inequality::Place(..) => None,
        }
    }

    /// What a node has of a resource, for the pods that are refused where it is not enough.
    fn capacity(&self, node: NodeId, resource: ResourceId) -> Option<(Vec<(Atom, Amount)>, Amount)> {
        let (m, kept) = (&self.problem.model, &self.problem.kept);
        m.cluster().nodes.get(node)?;
        m.cluster().resources.entries().get(resource)?;
        let weight = |pod: PodId| rule::fit::weight(m, pod, resource);
        let taken = kept.on(node).map(|(pod, count)| weight(pod).saturating_mul(count.into()));
        let room = m.node(node).allocatable.amount(resource).saturating_sub(taken.fold(0, Amount::saturating_add));
        let asked = m.pods().filter(|&pod| {
            m.asks(pod, Rule::NodeResourcesFit) && rule::fit::checked(m, pod).any(|other| other == resource)
        });
        let weights = asked.map(|pod| ((pod, node), weight(pod)));
        Some(self.above_start(weights.collect(), room))
    }

    fn quota(&self, quota: QuotaId) -> Option<(Vec<(Atom, Amount)>, Amount)> {
        let m = &self.problem.model;
        let hard = m.cluster().quotas.get(quota)?.hard;
        let users = m.pods().filter(|&pod| rule::quota::weight(m, pod, quota) > 0);
        let weight = |pod| rule::quota::weight(m, pod, quota);
        Some(self.everywhere(users, hard, weight, |pod| m.asks(pod, Rule::ResourceQuota)))
    }

    /// A limit on instances. Pods that are being deleted are counted, but no demand is for them: the start may have many of them.
    fn limit(&self, index: usize) -> Option<(Vec<(Atom, Amount)>, Amount)> {
        let m = &self.problem.model;
        let limit = m.cluster().limits.get(index).filter(|limit| !limit.per_node)?;
        Some(self.everywhere(
            limit.pods.iter().copied(),
            limit.most.into(),
            |pod| limit.pods.contains(&pod).into(),
            |pod| m.shadowed(pod).is_none() && m.bound(pod).is_none() && m.asks(pod, Rule::InstanceLimit),
        ))
    }

    /// A bound on pods wherever they are, of which those that it is asked about are counted, and those that wait for a node or did.
    fn everywhere(
        &self,
        users: impl Iterator<Item = PodId>,
        hard: Amount,
        weight: impl Fn(PodId) -> Amount,
        asked: impl Fn(PodId) -> bool,
    ) -> (Vec<(Atom, Amount)>, Amount) {
        let (m, mut room, mut weights) = (&self.problem.model, hard, Vec::new());
        for pod in users {
            let taken = self.problem.kept.of(pod).map(|(_, count)| weight(pod).saturating_mul(count.into()));
            room = taken.fold(room, Amount::saturating_sub);
            // To bind a pod that waits changes no sum of those that run and those that wait.
            let waits = m.consumed(pod).filter(|unbound| weight(unbound.0) == weight(pod));
            if asked(pod) || waits.is_some() {
                weights.extend(m.nodes().map(|node: NodeId| ((pod, node), weight(pod))));
                weights.extend(waits.map(|unbound| (unbound, weight(unbound.0))));
            }
        }
        self.above_start(weights, room)
    }

    /// Each of the atoms is refused where as many of them are as may be: `Σ w(a) · x(a) ≤ b` and `w ≥ u` on all of them leave room for
    /// `b / u` before it and one more after.
    fn few(&self, atoms: &[Atom], most: u64) -> Option<(Vec<(Atom, Amount)>, Amount)> {
        let distinct: BTreeSet<Atom> = atoms.iter().copied().collect();
        let cluster = self.problem.model.cluster();
        let exist =
            atoms.iter().all(|&(pod, node)| cluster.pods.get(pod).is_some() && cluster.nodes.get(node).is_some());
        if distinct.len() != atoms.len() || !exist {
            return None;
        }
        let possible: Vec<Atom> = distinct.into_iter().filter(|&atom| self.problem.is_possible(atom)).collect();
        let guards = Guards::new(self.problem, Universe::Possible);
        for &atom in &possible {
            let guard = guards.guard(atom);
            if guard.is_some_and(|guard| guard.at_most.iter().all(|bound| leaves_room(bound, &possible, most))) {
                return None;
            }
        }
        Some(self.above_start(atoms.iter().map(|&atom| (atom, 1)).collect(), most.into()))
    }

    /// An inequality whose bound the start may exceed: then it stays below what the start has.
    fn above_start(&self, weights: Vec<(Atom, Amount)>, bound: Amount) -> (Vec<(Atom, Amount)>, Amount) {
        let taken = weights.iter().map(|&(atom, weight)| weight.saturating_mul(self.moving.count(atom).into()));
        let start = taken.fold(0, Amount::saturating_add);
        (weights, bound.max(start))
    }
}

fn add(sum: &mut Amount, amount: Amount) {
    *sum = sum.saturating_add(amount);
}
