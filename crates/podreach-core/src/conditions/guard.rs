//! The guard of one (pod, node) in normal form.
//!
//! Whatever the rules say about deploying `p` on `n`, it is a conjunction of four shapes over counts of atoms:
//!
//! ```text
//! AtMost(w, b)        Σ w(a) · s(a) ≤ b                                         capacity, ports, anti-affinity, quotas, limits, disks
//! Distinct(w, G, b, H)  Σ w(a) · s(a) + |{ g ∈ G : Σ s(g) ≥ 1 }| ≤ b  ∨  (H ≠ ∅  ∧  ∀ h ∈ H: Σ s(h) ≥ 1)          volume limits
//! Affinity(L, G)      (∀ l ∈ L: Σ s(l) ≥ 1)  ∨  (p may be first  ∧  Σ s(G) = 0)     required pod affinity
//! Spread(D, own, ..)  s(own) + self − min { s(d) : d ∈ D is there } ≤ maxSkew         topology spread
//! ```
//! Engines and the proof checker know only this form; Kubernetes' words stop here. Pods that must stay are constants: a guard speaks
//! about what is there *besides* them, and they are folded into its bounds. Tests compare guards with the rules, configuration by
//! configuration.

mod guards;
mod volume;

use std::sync::Arc;

use crate::configuration::{Atom, Atoms};
use crate::resource::Amount;
use crate::step::Problem;

pub use guards::Guards;

/// How much each instance of an atom counts. Guards share such lists: on a node every pod looks at the same free memory.
pub type Weights<A = Atom> = Arc<[(A, Amount)]>;

/// What deploying an atom asks of the pods that are there besides the kept ones: all conditions must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard<A = Atom> {
    /// The upper bounds.
    pub at_most: Vec<AtMost<A>>,
    /// The upper bounds on things that several pods may share.
    pub distinct: Vec<Distinct<A>>,
    /// The witnesses it needs.
    pub affinity: Vec<Affinity<A>>,
    /// The balances it needs.
    pub spread: Vec<Spread<A>>,
}

/// `Σ weight(a) · s(a) ≤ bound`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AtMost<A = Atom> {
    /// The atoms that count, with how much each instance counts.
    pub weights: Weights<A>,
    /// The most the sum may be.
    pub bound: Amount,
}

/// `Σ weight(a) · s(a) + groups with a member ≤ bound`, or every group of `unless` has a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distinct<A = Atom> {
    /// The atoms of which each instance counts, with how much.
    pub weights: Weights<A>,
    /// Atoms that share one thing, which counts once if any of them is there.
    pub groups: Vec<Vec<A>>,
    /// The most that may be.
    pub bound: Amount,
    /// The groups that make the bound irrelevant if each has a member: what the pod brings is there already. Without any, it never is.
    pub unless: Vec<Vec<A>>,
}

/// Every local group has a member, or (where the pod may be the first of its kind) no member of the cluster-wide group exists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Affinity<A = Atom> {
    /// One group per topology key: the atoms that are near enough.
    pub near: Vec<Vec<A>>,
    /// The atoms whose absence lets the pod be the first; `None` when it cannot be.
    pub first_unless: Option<Vec<A>>,
}

/// `s(own) + own_base + joins − min (s(domain) + base) ≤ max_skew`, over all domains that are there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread<A = Atom> {
    /// The domains, the pod's own among them.
    pub domains: Vec<Domain<A>>,
    /// The index of the pod's own domain.
    pub own: usize,
    /// One if the pod itself counts.
    pub joins: u64,
    /// How far ahead the own domain may be.
    pub max_skew: u64,
}

/// A domain of a spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Domain<A = Atom> {
    /// The atoms counted here.
    pub atoms: Vec<A>,
    /// Kept pods counted here.
    pub base: u64,
    /// The atoms of which one must be there for the domain to be; `None` when it is there in any case.
    pub while_any: Option<Vec<A>>,
}

/// The atoms a guard may speak about.
///
/// A guard of the whole cluster mentions thousands of atoms that a question will never meet; an engine works on a slice of them.
#[derive(Clone, Debug)]
pub enum Universe {
    /// Every atom that some configuration can contain.
    Possible,
    /// Just these.
    Slice(Atoms),
}

impl Universe {
    fn contains(&self, problem: &Problem, atom: Atom) -> bool {
        match self {
            Self::Possible => problem.is_possible(atom),
            Self::Slice(atoms) => atoms.contains(atom),
        }
    }
}

impl<A: Copy> Guard<A> {
    /// Whether the guard holds where `count` pods of each atom are there besides the kept ones.
    pub fn holds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        self.at_most.iter().all(|condition| condition.holds(count))
            && self.distinct.iter().all(|condition| condition.holds(count))
            && self.affinity.iter().all(|condition| condition.holds(count))
            && self.spread.iter().all(|condition| condition.holds(count))
    }
}

impl<A> Guard<A> {
    /// The atoms whose presence can help the guard to hold.
    pub fn helpers(&self) -> impl Iterator<Item = &A> {
        let witnesses = self.affinity.iter().flat_map(|condition| condition.near.iter().flatten());
        let sharing = self.distinct.iter().flat_map(|condition| condition.unless.iter().flatten());
        witnesses.chain(sharing).chain(self.spread.iter().flat_map(Spread::counterweights))
    }
}

impl<A> Default for Guard<A> {
    fn default() -> Self {
        Self { at_most: Vec::new(), distinct: Vec::new(), affinity: Vec::new(), spread: Vec::new() }
    }
}

fn sum<A: Copy>(weights: &[(A, Amount)], count: impl Fn(A) -> u64) -> Amount {
    weights.iter().fold(0, |sum: Amount, &(a, weight)| sum.saturating_add(weight.saturating_mul(count(a).into())))
}

fn is_empty<A: Copy>(group: &[A], count: impl Fn(A) -> u64) -> bool {
    group.iter().all(|&atom| count(atom) == 0)
}

impl<A: Copy> AtMost<A> {
    /// Whether the bound holds.
    pub fn holds(&self, count: impl Fn(A) -> u64) -> bool {
        sum(&self.weights, count) <= self.bound
    }
}

impl<A: Copy> Distinct<A> {
    /// Whether the bound holds, or does not matter.
    pub fn holds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        !self.exceeds(count) || (!self.unless.is_empty() && self.lacking(count).is_none())
    }

    /// Whether the bound does not hold, and no more pods can make it irrelevant.
    pub fn is_hopeless(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        self.unless.is_empty() && self.exceeds(count)
    }

    /// A group that must have a member since the bound does not hold, and has none.
    pub fn lacking(&self, count: impl Fn(A) -> u64 + Copy) -> Option<&[A]> {
        let lacking = self.unless.iter().find(|group| is_empty(group, count));
        lacking.filter(|_| self.exceeds(count)).map(Vec::as_slice)
    }

    fn exceeds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        let there = self.groups.iter().filter(|group| group.iter().any(|&atom| count(atom) > 0));
        sum(&self.weights, count).saturating_add(there.count() as Amount) > self.bound
    }
}

impl<A: Copy> Affinity<A> {
    /// Whether the pod has its witnesses, or may be the first.
    pub fn holds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        self.lonely(count).is_none()
    }

    /// A local group without a member, unless the pod may be the first.
    pub fn lonely(&self, count: impl Fn(A) -> u64 + Copy) -> Option<&[A]> {
        let group = self.near.iter().find(|group| is_empty(group, count))?;
        let first = self.first_unless.as_ref().is_some_and(|kind| is_empty(kind, count));
        (!first).then_some(group)
    }
}

impl<A> Spread<A> {
    /// The atoms outside the pod's own domain.
    pub fn counterweights(&self) -> impl Iterator<Item = &A> {
        let others = self.domains.iter().enumerate().filter(|&(index, _)| index != self.own);
        others.flat_map(|(_, domain)| &domain.atoms)
    }
}

impl<A: Copy> Spread<A> {
    /// Whether the own domain would not be too far ahead.
    pub fn holds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        self.behind(count).is_none()
    }

    /// A domain that is too far behind, if there is one: only more pods there can help.
    pub fn behind(&self, count: impl Fn(A) -> u64 + Copy) -> Option<&Domain<A>> {
        let here = self.domains[self.own].size(count).saturating_add(self.joins);
        let mut domains = self.domains.iter();
        domains.find(|domain| here.saturating_sub(domain.size(count)) > self.max_skew && domain.is_there(count))
    }
}

impl<A: Copy> Domain<A> {
    /// How many pods it has.
    fn size(&self, count: impl Fn(A) -> u64) -> u64 {
        self.atoms.iter().fold(self.base, |sum, &atom| sum.saturating_add(count(atom)))
    }

    /// Whether the domain exists.
    fn is_there(&self, count: impl Fn(A) -> u64) -> bool {
        self.while_any.as_ref().is_none_or(|atoms| atoms.iter().any(|&atom| count(atom) > 0))
    }
}
