//! Sums over counts of classes that guards compare: each is kept once and updated with every step.
//!
//! Many guards share a sum: every pod on a node looks at the same free memory, every pod of a group at the same witnesses. A [`State`]
//! carries the value of each sum, so a guard is a few comparisons, and a step touches only the sums of its class. Values saturate.
//!
//! Invariant: the value of a sum in a state is its weights times the counts. Cost of a step: the number of sums its class is in.

use rustc_hash::FxHashMap;

use crate::group::{Class, Group};

/// A sum, by its index.
pub type Sum = u32;

/// The sums of a system.
#[derive(Clone, Debug)]
pub struct Sums {
    /// The weights of each sum, by class.
    pub weights: Vec<Vec<(Class, u128)>>,
    /// The sums each class is in, with its weight.
    pub of: Vec<Vec<(Sum, u128)>>,
    known: FxHashMap<Vec<(Class, u128)>, Sum>,
}

impl Sums {
    /// No sums yet, over so many classes.
    pub fn new(classes: usize) -> Self {
        Self { weights: Vec::new(), of: vec![Vec::new(); classes], known: FxHashMap::default() }
    }

    /// The sum with these weights, sorted by class, made if there is none.
    pub fn intern(&mut self, weights: Vec<(Class, u128)>) -> Sum {
        if let Some(&sum) = self.known.get(&weights) {
            return sum;
        }
        let sum = self.weights.len() as Sum;
        weights.iter().for_each(|&(class, weight)| self.of[class as usize].push((sum, weight)));
        self.weights.push(weights.clone());
        self.known.insert(weights, sum);
        sum
    }

    /// The sum with these weights, sorted by class.
    pub fn number(&self, weights: &[(Class, u128)]) -> Option<Sum> {
        self.known.get(weights).copied()
    }

    /// The classes of a sum.
    pub fn members(&self, sum: Sum) -> impl Iterator<Item = Class> + '_ {
        self.weights[sum as usize].iter().map(|&(class, _)| class)
    }

    /// The weight of a class in a sum.
    pub fn weight(&self, sum: Sum, class: Class) -> u128 {
        let weights = &self.weights[sum as usize];
        weights.binary_search_by_key(&class, |entry| entry.0).map_or(0, |at| weights[at].1)
    }
}

/// A guard in terms of sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumGuard {
    /// The value of each sum must not exceed the bound.
    pub at_most: Vec<(Sum, u128)>,
    /// The upper bounds on things that several pods may share.
    pub distinct: Vec<SumDistinct>,
    /// The witnesses it needs.
    pub affinity: Vec<SumAffinity>,
    /// The balances it needs.
    pub spread: Vec<SumSpread>,
}

/// A sum and the number of positive ones among others must not exceed a bound, unless all of some sums are positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumDistinct {
    /// What counts by instance.
    pub weights: Sum,
    /// What counts once.
    pub groups: Vec<Sum>,
    /// The most that may be.
    pub bound: u128,
    /// The sums that make the bound irrelevant if all are positive; without any, it never is.
    pub unless: Vec<Sum>,
}

/// Every local sum is positive, or the cluster-wide one is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumAffinity {
    /// One sum per topology key.
    pub near: Vec<Sum>,
    /// The sum that must be zero for the pod to be the first of its kind.
    pub first_unless: Option<Sum>,
}

/// No domain is further behind the own one than the skew allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumSpread {
    /// The domains.
    pub domains: Vec<SumDomain>,
    /// The index of the own domain.
    pub own: usize,
    /// One if the pod itself counts.
    pub joins: u64,
    /// How far ahead the own domain may be.
    pub max_skew: u64,
}

/// A domain of a balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SumDomain {
    /// What is counted there.
    pub sum: Sum,
    /// What is counted there of kept pods.
    pub base: u64,
    /// The sum that must be positive for the domain to exist, if it comes and goes.
    pub while_any: Option<Sum>,
}

impl SumGuard {
    /// Whether it asks only for presence and absence.
    pub fn is_plain(&self) -> bool {
        self.spread.is_empty()
            && self.distinct.is_empty()
            && self.at_most.iter().all(|&(_, bound)| bound == 0)
            && self.affinity.iter().all(|condition| condition.first_unless.is_none())
    }

    /// The sums that must be positive for it to hold, whatever else is there.
    pub fn required(&self) -> impl Iterator<Item = Sum> + '_ {
        let required = self.affinity.iter().filter(|condition| condition.first_unless.is_none());
        required.flat_map(|condition| condition.near.iter().copied())
    }

    /// Whether every upper bound holds.
    pub fn is_bounded(&self, state: &State) -> bool {
        self.at_most.iter().all(|&(sum, bound)| state.value(sum) <= bound)
            && !self.distinct.iter().any(|condition| condition.is_hopeless(state))
    }

    /// A sum that must grow for the guard to hold; `None` when it asks for no more.
    pub fn needed(&self, state: &State) -> Option<Sum> {
        let lonely = self.affinity.iter().find_map(|condition| condition.lonely(state));
        let lonely = lonely.or_else(|| self.distinct.iter().find_map(|condition| condition.lacking(state)));
        lonely.or_else(|| self.spread.iter().find_map(|condition| condition.behind(state)))
    }
}

impl SumDistinct {
    /// Whether the bound does not hold.
    pub fn exceeds(&self, state: &State) -> bool {
        let there = self.groups.iter().filter(|&&sum| state.value(sum) > 0).count();
        state.value(self.weights).saturating_add(there as u128) > self.bound
    }

    /// Whether the bound holds, or does not matter.
    pub fn holds(&self, state: &State) -> bool {
        !self.exceeds(state) || (!self.unless.is_empty() && self.lacking(state).is_none())
    }

    /// Whether the bound does not hold, and no more pods can make it irrelevant.
    pub fn is_hopeless(&self, state: &State) -> bool {
        self.unless.is_empty() && self.exceeds(state)
    }

    /// A sum that must be positive since the bound does not hold, and is not.
    pub fn lacking(&self, state: &State) -> Option<Sum> {
        self.unless.iter().copied().find(|&sum| state.value(sum) == 0).filter(|_| self.exceeds(state))
    }

    /// Every sum that is compared with the bound.
    pub fn counted(&self) -> impl Iterator<Item = Sum> + '_ {
        std::iter::once(self.weights).chain(self.groups.iter().copied())
    }
}

impl SumAffinity {
    /// A local sum that is zero, unless the pod may be the first.
    pub fn lonely(&self, state: &State) -> Option<Sum> {
        let sum = self.near.iter().copied().find(|&sum| state.value(sum) == 0)?;
        let first = self.first_unless.is_some_and(|sum| state.value(sum) == 0);
        (!first).then_some(sum)
    }
}

impl SumSpread {
    /// The sum of a domain that is too far behind.
    pub fn behind(&self, state: &State) -> Option<Sum> {
        self.behind_domain(state).map(|domain| domain.sum)
    }

    /// A domain that is too far behind.
    pub fn behind_domain(&self, state: &State) -> Option<SumDomain> {
        let here = self.domains[self.own].size(state).saturating_add(self.joins.into());
        let mut domains = self.domains.iter().copied();
        domains.find(|domain| here.saturating_sub(domain.size(state)) > self.max_skew.into() && domain.is_there(state))
    }
}

impl SumDomain {
    fn size(&self, state: &State) -> u128 {
        state.value(self.sum).saturating_add(self.base.into())
    }

    fn is_there(&self, state: &State) -> bool {
        self.while_any.is_none_or(|sum| state.value(sum) > 0)
    }
}

/// Counts per class, with the value of every sum.
#[derive(Clone, Debug)]
pub struct State {
    /// How many pods of each class.
    pub counts: Vec<u64>,
    values: Vec<u128>,
}

impl State {
    /// Nothing but the kept pods.
    pub fn empty(sums: &Sums) -> Self {
        Self { counts: vec![0; sums.of.len()], values: vec![0; sums.weights.len()] }
    }

    /// Exactly a group.
    pub fn of_group(sums: &Sums, group: &[(Class, u64)]) -> Self {
        let mut state = Self::empty(sums);
        group.iter().for_each(|&(class, count)| state.add(sums, class, count));
        state
    }

    /// The value of a sum.
    pub fn value(&self, sum: Sum) -> u128 {
        self.values[sum as usize]
    }

    /// More pods of a class.
    pub fn add(&mut self, sums: &Sums, class: Class, count: u64) {
        self.counts[class as usize] += count;
        for &(sum, weight) in &sums.of[class as usize] {
            let value = &mut self.values[sum as usize];
            *value = value.saturating_add(weight.saturating_mul(count.into()));
        }
    }

    /// Fewer pods of a class.
    pub fn remove(&mut self, sums: &Sums, class: Class, count: u64) {
        self.counts[class as usize] -= count;
        for &(sum, weight) in &sums.of[class as usize] {
            self.values[sum as usize] -= weight.saturating_mul(count.into());
        }
    }

    /// The counts as a group.
    pub fn group(&self) -> Group {
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.map(|(class, &count)| (class as Class, count)).collect()
    }
}
