//! The guard of one (pod, node) in normal form.
//!
//! Whatever the rules say about deploying `p` on `n`, it is a conjunction of four shapes over counts of atoms:
//!
//! ```text
//! AtMost(w, b)        Σ w(a) · s(a) ≤ b                                         capacity, ports, anti-affinity, quotas, limits, disks
//! Distinct(w, G, b, H)  Σ w(a) · s(a) + |{ g ∈ G : Σ s(g) ≥ 1 }| ≤ b  ∨  (H ≠ ∅  ∧  ∀ h ∈ H: Σ s(h) ≥ 1)          volume limits
//! Affinity(L, G)      (∀ l ∈ L: Σ s(l) ≥ 1)  ∨  (p may be first  ∧  Σ s(G) = 0)     required pod affinity
//! Spread(D, own, ..)  s(own) + self − min { s(d) : d ∈ D } ≤ maxSkew                  topology spread
//! ```
//! Engines and the proof checker know only this form; Kubernetes' words stop here. Pods that must stay are constants: a guard speaks
//! about what is there *besides* them, and they are folded into its bounds. Tests compare guards with the rules, configuration by
//! configuration.

mod attachment;

use std::collections::BTreeSet;

use crate::cluster::{Spread as Constraint, Term};
use crate::configuration::{Atom, Configuration};
use crate::id::{DomainId, MatcherId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::resource::Amount;
use crate::rule::{self, Rule};
use crate::step::Problem;

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
    pub weights: Vec<(A, Amount)>,
    /// The most the sum may be.
    pub bound: Amount,
}

/// `Σ weight(a) · s(a) + groups with a member ≤ bound`, or every group of `unless` has a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distinct<A = Atom> {
    /// The atoms of which each instance counts, with how much.
    pub weights: Vec<(A, Amount)>,
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

/// `s(own) + own_base + joins − min (s(domain) + base) ≤ max_skew`, over all domains.
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
}

/// The atoms a guard may speak about.
///
/// A guard of the whole cluster mentions thousands of atoms that a question will never meet; an engine works on a slice of them.
#[derive(Clone, Debug)]
pub enum Universe {
    /// Every atom that some configuration can contain.
    Possible,
    /// Just these.
    Slice(BTreeSet<Atom>),
}

impl Universe {
    fn contains(&self, problem: &Problem, atom: Atom) -> bool {
        match self {
            Self::Possible => problem.is_possible(atom),
            Self::Slice(atoms) => atoms.contains(&atom),
        }
    }
}

/// A view of the model in which some pods are constants.
struct View<'a> {
    problem: &'a Problem,
    m: &'a Model,
    kept: &'a Configuration,
    universe: &'a Universe,
}

/// The guard of an atom over a universe, or `None` when no configuration allows the deployment.
pub fn guard(problem: &Problem, (pod, node): Atom, universe: &Universe) -> Option<Guard> {
    let view = View { problem, m: &problem.model, kept: &problem.kept, universe };
    if !view.m.placeable(pod, node) {
        return None;
    }
    let mut guard = Guard::default();
    guard.at_most.extend(view.capacity(pod, node)?);
    guard.at_most.extend(view.quotas(pod)?);
    guard.at_most.extend(view.limits(pod, node)?);
    guard.at_most.extend(view.absent(pod, node)?);
    guard.affinity = view.affinity(pod, node)?;
    view.attachments(pod, node, &mut guard)?;
    for index in 0..view.m.pod(pod).spread.len() {
        view.spread(pod, node, index, &mut guard)?;
    }
    Some(guard)
}

/// The atoms whose presence can help to deploy an atom: its witnesses and counterweights. `None` when nothing can.
pub fn helpers(problem: &Problem, (pod, node): Atom) -> Option<BTreeSet<Atom>> {
    let view = View { problem, m: &problem.model, kept: &problem.kept, universe: &Universe::Possible };
    if !view.m.placeable(pod, node) {
        return None;
    }
    let mut guard = Guard { affinity: view.affinity(pod, node)?, ..Guard::default() };
    view.attachments(pod, node, &mut guard)?;
    for index in 0..view.m.pod(pod).spread.len() {
        view.spread(pod, node, index, &mut guard)?;
    }
    Some(guard.helpers().copied().collect())
}

impl View<'_> {
    /// `weight` per atom and at most `bound`, with the kept pods taken off the bound; `None` when they alone exceed it.
    fn at_most(
        &self,
        atoms: impl Iterator<Item = Atom>,
        bound: Amount,
        weight: impl Fn(PodId) -> Amount,
    ) -> Option<AtMost> {
        let mut condition = AtMost { weights: Vec::new(), bound };
        for atom in atoms {
            let weight = weight(atom.0);
            if weight == 0 {
                continue;
            }
            let kept = weight.saturating_mul(self.kept.count(atom).into());
            condition.bound = condition.bound.checked_sub(kept)?;
            if self.universe.contains(self.problem, atom) {
                condition.weights.push((atom, weight));
            }
        }
        Some(condition)
    }

    fn capacity(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let checked = rule::fit::checked(self.m, pod).into_iter().filter(|_| self.asks(pod, Rule::NodeResourcesFit));
        let conditions = checked.map(|resource| {
            let weight = |q| rule::fit::weight(self.m, q, resource);
            let bound = self.m.node(node).allocatable.amount(resource).checked_sub(weight(pod))?;
            self.at_most(self.m.pods().map(|q| (q, node)), bound, weight)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    fn quotas(&self, pod: PodId) -> Option<Vec<AtMost>> {
        let quotas = self.m.pod(pod).quota.iter().filter(|_| self.asks(pod, Rule::ResourceQuota));
        let conditions = quotas.map(|(&quota, &asked)| {
            let weight = |q| rule::quota::weight(self.m, q, quota);
            let bound = self.m.cluster().quotas[quota].hard.checked_sub(asked)?;
            let users = self.m.pods().filter(|&q| weight(q) > 0);
            self.at_most(users.flat_map(|q| self.m.nodes().map(move |at| (q, at))), bound, weight)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    /// Whether a rule is asked about a pod at all.
    fn asks(&self, pod: PodId, rule: Rule) -> bool {
        !self.m.pod(pod).exempt.contains(&rule)
    }

    fn limits(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let asks = self.asks(pod, Rule::InstanceLimit);
        let limits = self.m.cluster().limits.iter().filter(|limit| asks && limit.pods.contains(&pod));
        let conditions = limits.map(|limit| {
            let bound = Amount::from(limit.most).checked_sub(1)?;
            let atoms = limit.pods.iter().flat_map(|&q| self.m.nodes().map(move |at| (q, at)));
            self.at_most(atoms.filter(|&(_, at)| !limit.per_node || at == node), bound, |_| 1)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    /// Ports, anti-affinity, disks and exclusive claims: the atoms that must not be there at all, as one condition.
    fn absent(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let mut atoms = BTreeSet::new();
        if !self.m.pod(pod).ports.is_empty() && self.asks(pod, Rule::NodePorts) {
            atoms.extend(self.m.pods().filter(|&q| rule::port::conflict(self.m, pod, q)).map(|q| (q, node)));
        }
        if self.asks(pod, Rule::InterPodAffinity) {
            for term in &self.m.pod(pod).anti_affinity {
                atoms.extend(self.matching(&[term.matcher], self.m.neighbours(term.key, node).iter().copied()));
            }
            if self.m.semantics() == Semantics::KubeScheduler {
                atoms.extend(self.repelling(pod, node));
            }
        }
        if self.asks(pod, Rule::VolumeRestrictions) {
            atoms.extend(self.sharing(pod, node)?);
        }
        self.at_most(atoms.into_iter(), 0, |_| 1).map(|condition| without_idle(vec![condition]))
    }

    /// The atoms that hold a disk or an exclusive claim of the pod; `None` when one of its claims does not exist.
    fn sharing(&self, pod: PodId, node: NodeId) -> Option<BTreeSet<Atom>> {
        let mut atoms = BTreeSet::new();
        if rule::volume_restrictions::missing(self.m, pod).is_some() {
            return None;
        }
        if !self.m.pod(pod).mounts.disks.is_empty() {
            let sharing = |&q: &PodId| rule::volume_restrictions::disks_conflict(self.m, pod, q);
            atoms.extend(self.m.pods().filter(sharing).map(|q| (q, node)));
        }
        if rule::volume_restrictions::exclusive(self.m, pod).next().is_some() {
            let sharing = |q: &&PodId| rule::volume_restrictions::claims_conflict(self.m, pod, **q);
            let users = self.m.claimants().iter().filter(sharing);
            atoms.extend(users.flat_map(|&q| self.m.nodes().map(move |at| (q, at))));
        }
        Some(atoms)
    }

    fn repelling(&self, pod: PodId, node: NodeId) -> Vec<Atom> {
        let terms =
            self.m.repelling().iter().flat_map(|&q| self.m.pod(q).anti_affinity.iter().map(move |term| (q, term)));
        let noticing = terms.filter(|(_, term)| self.m.notices(term.matcher, pod));
        let atoms = noticing.flat_map(|(q, term)| self.m.neighbours(term.key, node).iter().map(move |&at| (q, at)));
        atoms.filter(|&atom| self.is_of_interest(atom)).collect()
    }

    /// The atoms on `nodes` that all `matchers` see, as far as they are in the universe or kept.
    fn matching(&self, matchers: &[MatcherId], nodes: impl Iterator<Item = NodeId> + Clone) -> Vec<Atom> {
        let by_labels = |q: &PodId| matchers.iter().all(|&c| self.m.depends_on_node(c) || self.m.sees_unbound(c, *q));
        let atoms = self.m.pods().filter(by_labels).flat_map(|q| nodes.clone().map(move |at| (q, at)));
        let placed = |(q, at): Atom| matchers.iter().all(|&c| !self.m.depends_on_node(c) || self.m.sees(c, q, at));
        atoms.filter(|&atom| self.is_of_interest(atom) && placed(atom)).collect()
    }

    fn is_of_interest(&self, atom: Atom) -> bool {
        self.universe.contains(self.problem, atom) || self.kept.count(atom) > 0
    }

    fn affinity(&self, pod: PodId, node: NodeId) -> Option<Vec<Affinity>> {
        let terms = &self.m.pod(pod).affinity;
        let conditions: Option<Vec<Option<Affinity>>> = match self.m.semantics() {
            _ if terms.is_empty() || !self.asks(pod, Rule::InterPodAffinity) => Some(Vec::new()),
            Semantics::KubeScheduler => Some(vec![self.friends(pod, node, terms)?]),
            Semantics::Paper => terms.iter().map(|term| self.friends(pod, node, std::slice::from_ref(term))).collect(),
        };
        conditions.map(|conditions| conditions.into_iter().flatten().collect())
    }

    /// The affinity condition of terms that one friend must match together: `None` when it cannot hold, `Some(None)` when it always
    /// does. Under the paper each term stands alone, so this is called once per term.
    fn friends(&self, pod: PodId, node: NodeId, terms: &[Term]) -> Option<Option<Affinity>> {
        let kube = self.m.semantics() == Semantics::KubeScheduler;
        if kube && terms.iter().any(|term| self.m.domain(term.key, node).is_none()) {
            return None;
        }
        let matchers: Vec<MatcherId> = terms.iter().map(|term| term.matcher).collect();
        let mut keys: Vec<_> = terms.iter().map(|term| term.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut near = Vec::new();
        for key in keys {
            let group = self.matching(&matchers, self.m.neighbours(key, node).iter().copied());
            if !group.iter().any(|&atom| self.kept.count(atom) > 0) {
                near.push(self.within(group));
            }
        }
        if near.is_empty() {
            return Some(None);
        }
        let first_unless = self.first_unless(pod, terms, &matchers);
        if first_unless.is_none() && near.iter().any(Vec::is_empty) {
            return None;
        }
        Some(Some(Affinity { near, first_unless }))
    }

    /// The group whose absence lets the pod be the first of its kind.
    fn first_unless(&self, pod: PodId, terms: &[Term], matchers: &[MatcherId]) -> Option<Vec<Atom>> {
        if !rule::pod_affinity::matches_itself(self.m, pod, terms) {
            return None;
        }
        let counted = |at: &NodeId| {
            let kube = self.m.semantics() == Semantics::KubeScheduler;
            !kube || terms.iter().any(|term| self.m.domain(term.key, *at).is_some())
        };
        let group = self.matching(matchers, self.m.nodes().filter(counted));
        let kept = group.iter().any(|&atom| self.kept.count(atom) > 0);
        (!kept).then(|| self.within(group))
    }

    fn within(&self, atoms: Vec<Atom>) -> Vec<Atom> {
        atoms.into_iter().filter(|&atom| self.universe.contains(self.problem, atom)).collect()
    }

    /// Adds what a spread constraint asks; `None` when it cannot hold.
    fn spread(&self, pod: PodId, node: NodeId, index: usize, guard: &mut Guard) -> Option<()> {
        if !self.asks(pod, Rule::PodTopologySpread) {
            return Some(());
        }
        let constraint = self.m.pod(pod).spread[index];
        let own = self.m.domain(constraint.key, node)?;
        if self.m.semantics() == Semantics::Paper && !self.m.eligible(pod, index, node) {
            return None;
        }
        let domains = self.eligible_domains(pod, index, &constraint);
        let joins = u64::from(self.m.sees_unbound(constraint.matcher, pod));
        let Some(at) = domains.iter().position(|(domain, _)| *domain == own) else { return Some(()) };
        if (domains.len() as u64) < constraint.min_domains {
            let bound = constraint.max_skew.checked_sub(joins)?;
            let condition = self.at_most(domains[at].1.iter().copied(), bound.into(), |_| 1)?;
            guard.at_most.extend(without_idle(vec![condition]));
        } else if domains.len() > 1 {
            let domains = domains.into_iter().map(|(_, atoms)| self.domain(atoms)).collect();
            guard.spread.push(Spread { domains, own: at, joins, max_skew: constraint.max_skew });
        }
        Some(())
    }

    fn domain(&self, atoms: Vec<Atom>) -> Domain {
        let base = atoms.iter().fold(0u64, |sum, &atom| sum.saturating_add(self.kept.count(atom)));
        Domain { atoms: self.within(atoms), base }
    }

    /// The domains of the eligible nodes, each with the atoms that the constraint counts there.
    fn eligible_domains(&self, pod: PodId, index: usize, constraint: &Constraint) -> Vec<(DomainId, Vec<Atom>)> {
        let eligible = |node: &NodeId| self.m.eligible(pod, index, *node);
        let domains: BTreeSet<DomainId> =
            self.m.nodes().filter(eligible).filter_map(|node| self.m.domain(constraint.key, node)).collect();
        let counts = rule::spread::counts_pods(self.m, constraint);
        let atoms = |domain| {
            let nodes = self.m.members(domain).iter().copied().filter(eligible);
            let mut atoms = self.matching(&[constraint.matcher], nodes);
            atoms.retain(|&(q, _)| counts && rule::spread::is_counted(self.m, q));
            atoms
        };
        domains.into_iter().map(|domain| (domain, atoms(domain))).collect()
    }
}

/// Drops conditions that always hold because nothing counts.
fn without_idle(mut conditions: Vec<AtMost>) -> Vec<AtMost> {
    conditions.retain(|condition| !condition.weights.is_empty());
    conditions
}

impl<A: Copy> Guard<A> {
    /// Whether the guard holds where `count` pods of each atom are there besides the kept ones.
    pub fn holds(&self, count: impl Fn(A) -> u64 + Copy) -> bool {
        self.at_most.iter().all(|condition| condition.holds(count))
            && self.distinct.iter().all(|condition| condition.holds(count))
            && self.affinity.iter().all(|condition| condition.holds(count))
            && self.spread.iter().all(|condition| condition.holds(count))
    }

    /// The guard with its atoms renamed; atoms without a new name are dropped.
    pub fn map<B>(&self, name: impl Fn(A) -> Option<B> + Copy) -> Guard<B> {
        let list = |atoms: &Vec<A>| atoms.iter().filter_map(|&a| name(a)).collect::<Vec<B>>();
        let weighted = |weights: &[(A, Amount)]| {
            weights.iter().filter_map(|&(a, weight)| Some((name(a)?, weight))).collect::<Vec<_>>()
        };
        let at_most = |c: &AtMost<A>| AtMost { weights: weighted(&c.weights), bound: c.bound };
        let distinct = |c: &Distinct<A>| Distinct {
            weights: weighted(&c.weights),
            groups: c.groups.iter().map(list).collect(),
            bound: c.bound,
            unless: c.unless.iter().map(list).collect(),
        };
        let affinity = |c: &Affinity<A>| Affinity {
            near: c.near.iter().map(list).collect(),
            first_unless: c.first_unless.as_ref().map(list),
        };
        let domain = |d: &Domain<A>| Domain { atoms: list(&d.atoms), base: d.base };
        let spread = |c: &Spread<A>| Spread {
            domains: c.domains.iter().map(domain).collect(),
            own: c.own,
            joins: c.joins,
            max_skew: c.max_skew,
        };
        Guard {
            at_most: self.at_most.iter().map(at_most).collect(),
            distinct: self.distinct.iter().map(distinct).collect(),
            affinity: self.affinity.iter().map(affinity).collect(),
            spread: self.spread.iter().map(spread).collect(),
        }
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
        let empty = |group: &&Vec<A>| group.iter().all(|&atom| count(atom) == 0);
        self.unless.iter().find(empty).filter(|_| self.exceeds(count)).map(Vec::as_slice)
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
        let empty = |group: &Vec<A>| group.iter().all(|&atom| count(atom) == 0);
        let group = self.near.iter().find(|group| empty(group))?;
        let first = self.first_unless.as_ref().is_some_and(empty);
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
        let size =
            |domain: &Domain<A>| domain.atoms.iter().fold(domain.base, |sum, &atom| sum.saturating_add(count(atom)));
        let here = size(&self.domains[self.own]).saturating_add(self.joins);
        self.domains.iter().find(|domain| here.saturating_sub(size(domain)) > self.max_skew)
    }
}
