//! Projects guards over atoms to guards over classes.
//!
//! An atom without a class is never there. Lists of weights that guards share are projected once.

use podreach_core::Atom;
use podreach_core::cancel;
use podreach_core::guard::{Affinity, Distinct, Domain, Guard, Spread, Weights};
use rustc_hash::FxHashMap;

use super::sums::{Sum, SumAffinity, SumDistinct, SumDomain, SumGuard, SumSpread, Sums};
use crate::group::Class;

/// Makes guards over classes, and the sums that these compare.
pub struct Projection<'a> {
    class_of: &'a FxHashMap<Atom, Class>,
    sums: Sums,
    /// The sums of shared lists, by where these are and how long.
    known: FxHashMap<(usize, usize), Sum>,
}

impl<'a> Projection<'a> {
    /// For so many classes, to which these atoms belong.
    pub fn new(class_of: &'a FxHashMap<Atom, Class>, classes: usize) -> Self {
        Self { class_of, sums: Sums::new(classes), known: FxHashMap::default() }
    }

    /// The sums of all guards so far.
    pub fn into_sums(self) -> Sums {
        self.sums
    }

    /// The guard over classes; `None` when it never holds, since a witness that it needs is never there. All guards must live until
    /// the last one is projected.
    pub fn guard(&mut self, guard: &Guard) -> Option<SumGuard> {
        let mut at_most: Vec<(Sum, u128)> =
            guard.at_most.iter().map(|condition| (self.weights(&condition.weights), condition.bound)).collect();
        at_most.retain(|&(sum, _)| !self.is_empty(sum));
        at_most.sort_by_key(|&(sum, bound)| (&self.sums.weights[sum as usize], bound));
        at_most.dedup();
        let distinct = guard.distinct.iter().filter_map(|condition| self.distinct(condition)).collect();
        let affinity = guard.affinity.iter().map(|condition| self.affinity(condition)).collect::<Option<_>>()?;
        let spread = guard.spread.iter().map(|condition| self.spread(condition)).collect();
        Some(SumGuard { at_most, distinct, affinity, spread })
    }

    fn distinct(&mut self, condition: &Distinct) -> Option<SumDistinct> {
        let weights = self.weights(&condition.weights);
        let mut groups = self.groups(&condition.groups);
        groups.retain(|&group| !self.is_empty(group));
        let unless = self.groups(&condition.unless);
        let unless = if unless.iter().any(|&group| self.is_empty(group)) { Vec::new() } else { unless };
        let idle = self.is_empty(weights) && groups.is_empty();
        (!idle).then_some(SumDistinct { weights, groups, bound: condition.bound, unless })
    }

    fn affinity(&mut self, condition: &Affinity) -> Option<SumAffinity> {
        let near = self.groups(&condition.near);
        let first_unless = condition.first_unless.as_ref().map(|group| self.group(group));
        let lost = first_unless.is_none() && near.iter().any(|&group| self.is_empty(group));
        (!lost).then_some(SumAffinity { near, first_unless })
    }

    fn spread(&mut self, condition: &Spread) -> SumSpread {
        let domains = condition.domains.iter().map(|domain| self.domain(domain)).collect();
        SumSpread { domains, own: condition.own, joins: condition.joins, max_skew: condition.max_skew }
    }

    fn domain(&mut self, domain: &Domain) -> SumDomain {
        let while_any = domain.while_any.as_ref().map(|atoms| self.group(atoms));
        SumDomain { sum: self.group(&domain.atoms), base: domain.base, while_any }
    }

    fn is_empty(&self, sum: Sum) -> bool {
        self.sums.weights[sum as usize].is_empty()
    }

    fn weights(&mut self, weights: &Weights) -> Sum {
        let place = (weights.as_ptr().addr(), weights.len());
        if let Some(&sum) = self.known.get(&place) {
            return sum;
        }
        let sum = self.sum(weights.iter().copied());
        self.known.insert(place, sum);
        sum
    }

    fn groups(&mut self, groups: &[Vec<Atom>]) -> Vec<Sum> {
        groups.iter().map(|group| self.group(group)).collect()
    }

    fn group(&mut self, atoms: &[Atom]) -> Sum {
        self.sum(atoms.iter().map(|&atom| (atom, 1)))
    }

    fn sum(&mut self, atoms: impl Iterator<Item = (Atom, u128)>) -> Sum {
        cancel::poll();
        let classes = atoms.filter_map(|(atom, weight)| Some((*self.class_of.get(&atom)?, weight)));
        let mut classes: Vec<(Class, u128)> = classes.collect();
        classes.sort_unstable();
        classes.dedup();
        self.sums.intern(classes)
    }
}
