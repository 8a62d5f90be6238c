//! The rules of a problem as guards.
//!
//! What a pod may not exceed on a node is the same list of pods for all that are deployed there, and so it is for a quota, for a limit,
//! and for all that keep away from the same pods: each list is made once and shared. So are the friends of a pod found once for all
//! pods that look for the same.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::{Affinity, AtMost, Domain, Guard, Spread, Universe, Weights};
use crate::cancel;
use crate::cluster::{Spread as Constraint, Term};
use crate::configuration::{Atom, Configuration};
use crate::elastic;
use crate::id::{DomainId, MatcherId, NodeId, PodId, QuotaId, ResourceId};
use crate::model::{Model, Semantics};
use crate::resource::Amount;
use crate::rule::{self, Rule};
use crate::step::Problem;

/// The guards of a problem: a view of its model in which the kept pods are constants.
#[derive(Debug)]
pub struct Guards<'a> {
    pub(super) problem: &'a Problem,
    pub(super) m: &'a Model,
    pub(super) kept: &'a Configuration,
    universe: Universe,
    totals: RefCell<HashMap<Counted, Total>>,
    friends: RefCell<HashMap<Near, Friends>>,
}

/// Which pods are friends, and the domain where they are near.
type Near = (Vec<MatcherId>, Option<DomainId>);

/// The atoms that are friends near by; `None` when a kept pod is one.
type Friends = Option<Vec<Atom>>;

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Counted {
    /// What takes of a resource of a node.
    Resource(NodeId, ResourceId),
    /// What takes of a quota.
    Quota(QuotaId),
    /// What a limit counts, on one node where it says so.
    Limit(usize, Option<NodeId>),
    /// What matchers see in domains.
    Seen(Vec<(MatcherId, DomainId)>),
}

/// A sum that guards bound.
#[derive(Clone, Debug)]
pub(super) struct Total {
    weights: Weights,
    /// How much of it the kept pods take; `None` when that is more than any bound.
    kept: Option<Amount>,
}

impl Total {
    /// At most `bound`, with the kept pods taken off it; `None` when they alone exceed it.
    pub(super) fn at_most(&self, bound: Amount) -> Option<AtMost> {
        Some(AtMost { weights: self.weights.clone(), bound: bound.checked_sub(self.kept?)? })
    }
}

impl<'a> Guards<'a> {
    /// The guards of a problem over a universe.
    pub fn new(problem: &'a Problem, universe: Universe) -> Self {
        let (m, kept) = (&problem.model, &problem.kept);
        Self { problem, m, kept, universe, totals: RefCell::default(), friends: RefCell::default() }
    }

    /// The guard of an atom, or `None` when no configuration allows the deployment.
    pub fn guard(&self, (pod, node): Atom) -> Option<Guard> {
        cancel::poll();
        if !self.m.placeable(pod, node) {
            return None;
        }
        let mut guard = Guard::default();
        guard.at_most.extend(self.capacity(pod, node)?);
        guard.at_most.extend(self.quotas(pod)?);
        guard.at_most.extend(self.limits(pod, node)?);
        guard.at_most.extend(self.absent(pod, node)?);
        self.add_helped((pod, node), &mut guard)?;
        Some(guard)
    }

    /// The atoms whose presence can help to deploy an atom: its witnesses and counterweights. `None` when nothing can.
    pub fn helpers(&self, (pod, node): Atom) -> Option<BTreeSet<Atom>> {
        cancel::poll();
        if !self.m.placeable(pod, node) {
            return None;
        }
        let mut guard = Guard::default();
        self.add_helped((pod, node), &mut guard)?;
        Some(guard.helpers().copied().collect())
    }

    /// Adds the conditions that other pods can help to fulfil.
    fn add_helped(&self, (pod, node): Atom, guard: &mut Guard) -> Option<()> {
        guard.affinity = self.affinity(pod, node)?;
        guard.affinity.extend(self.consumed(pod)?);
        self.attachments(pod, node, guard)?;
        (0..self.m.pod(pod).spread.len()).try_for_each(|index| self.spread(pod, node, index, guard))
    }

    /// `weight` per atom, and what the kept pods take of it.
    pub(super) fn total(&self, atoms: impl Iterator<Item = Atom>, weight: impl Fn(PodId) -> Amount) -> Total {
        cancel::poll();
        let (mut weights, mut kept) = (Vec::new(), Some(0));
        for atom in atoms {
            let weight = weight(atom.0);
            if weight == 0 {
                continue;
            }
            let taken = weight.saturating_mul(self.kept.count(atom).into());
            kept = kept.and_then(|kept: Amount| kept.checked_add(taken));
            if self.universe.contains(self.problem, atom) {
                weights.push((atom, weight));
            }
        }
        Total { weights: weights.into(), kept }
    }

    /// The same, made once for all that count it.
    fn shared(&self, counted: Counted, total: impl FnOnce() -> Total) -> Total {
        if let Some(known) = self.totals.borrow().get(&counted) {
            return known.clone();
        }
        let total = total();
        self.totals.borrow_mut().insert(counted, total.clone());
        total
    }

    fn capacity(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let checked = rule::fit::checked(self.m, pod).filter(|_| self.asks(pod, Rule::NodeResourcesFit));
        let conditions = checked.map(|resource| {
            let weight = |q| rule::fit::weight(self.m, q, resource);
            let bound = self.m.node(node).allocatable.amount(resource).checked_sub(weight(pod))?;
            let pods = self.problem.pods().map(|q| (q, node));
            self.shared(Counted::Resource(node, resource), || self.total(pods, weight)).at_most(bound)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    fn quotas(&self, pod: PodId) -> Option<Vec<AtMost>> {
        let quotas = self.m.pod(pod).quota.iter().filter(|_| self.asks(pod, Rule::ResourceQuota));
        let conditions = quotas.map(|(&quota, &asked)| {
            let weight = |q| rule::quota::weight(self.m, q, quota);
            let bound = self.m.cluster().quotas[quota].hard.checked_sub(asked)?;
            let users = self.problem.pods().filter(|&q| weight(q) > 0);
            let users = users.flat_map(|q| self.m.places(q).map(move |at| (q, at)));
            self.shared(Counted::Quota(quota), || self.total(users, weight)).at_most(bound)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    /// Whether a rule is asked about a pod at all.
    pub(super) fn asks(&self, pod: PodId, rule: Rule) -> bool {
        self.m.asks(pod, rule)
    }

    fn limits(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let asks = self.asks(pod, Rule::InstanceLimit);
        let limits = self.m.cluster().limits.iter().enumerate().filter(|(_, limit)| asks && limit.pods.contains(&pod));
        let conditions = limits.map(|(index, limit)| {
            let bound = Amount::from(limit.most).checked_sub(1)?;
            let here = limit.per_node.then_some(node);
            let pods = limit.pods.iter().filter(|&&q| self.problem.roster.contains(q));
            let atoms = pods.flat_map(|&q| self.m.places(q).map(move |at| (q, at)));
            let atoms = atoms.filter(|&(_, at)| here.is_none_or(|here| at == here));
            self.shared(Counted::Limit(index, here), || self.total(atoms, |_| 1)).at_most(bound)
        });
        conditions.collect::<Option<Vec<_>>>().map(without_idle)
    }

    /// Ports, anti-affinity, disks and exclusive claims: the atoms that must not be there at all, as one condition.
    fn absent(&self, pod: PodId, node: NodeId) -> Option<Vec<AtMost>> {
        let (mut atoms, mut terms) = (BTreeSet::new(), Vec::new());
        if !self.m.pod(pod).ports.is_empty() && self.asks(pod, Rule::NodePorts) {
            atoms.extend(self.problem.pods().filter(|&q| rule::port::conflict(self.m, pod, q)).map(|q| (q, node)));
        }
        if self.asks(pod, Rule::InterPodAffinity) {
            let own = self.m.pod(pod).anti_affinity.iter();
            terms.extend(own.filter_map(|term| Some((term.matcher, self.m.domain(term.key, node)?))));
            terms.sort_unstable();
            terms.dedup();
            if self.m.semantics() == Semantics::KubeScheduler {
                atoms.extend(self.repelling(pod, node));
            }
        }
        if self.asks(pod, Rule::VolumeRestrictions) {
            atoms.extend(self.sharing(pod, node)?);
        }
        let total = if atoms.is_empty() {
            self.shared(Counted::Seen(terms.clone()), || self.total(self.seen(&terms).into_iter(), |_| 1))
        } else {
            atoms.extend(self.seen(&terms));
            self.total(atoms.into_iter(), |_| 1)
        };
        Some(without_idle(vec![total.at_most(0)?]))
    }

    /// The atoms that matchers see in domains, each once.
    fn seen(&self, terms: &[(MatcherId, DomainId)]) -> Vec<Atom> {
        let seen = terms
            .iter()
            .flat_map(|&(matcher, domain)| self.matching(&[matcher], self.m.members(domain).iter().copied()));
        let mut atoms: Vec<Atom> = seen.collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    fn repelling(&self, pod: PodId, node: NodeId) -> Vec<Atom> {
        let residents = self.m.repelling(pod).filter(|(q, _)| self.problem.roster.contains(*q));
        let atoms = residents.flat_map(|(q, index)| {
            let key = self.m.pod(q).anti_affinity[index].key;
            self.m.neighbours(key, node).iter().map(move |&at| (q, at))
        });
        atoms.filter(|&atom| self.is_of_interest(atom)).collect()
    }

    /// The atoms on `nodes` that all `matchers` see, as far as they are in the universe or kept.
    fn matching(&self, matchers: &[MatcherId], nodes: impl Iterator<Item = NodeId> + Clone) -> Vec<Atom> {
        let (placed, fixed): (Vec<MatcherId>, Vec<MatcherId>) =
            matchers.iter().partition(|&&matcher| self.m.depends_on_node(matcher));
        let seen = self.m.seen_unbound(&fixed).into_iter().filter(|&q| self.problem.roster.contains(q));
        let atoms = seen.flat_map(|q| nodes.clone().map(move |at| (q, at)));
        let atoms = atoms.filter(|&atom| self.is_of_interest(atom));
        atoms.filter(|&(q, at)| placed.iter().all(|&matcher| self.m.sees(matcher, q, at))).collect()
    }

    pub(super) fn is_of_interest(&self, atom: Atom) -> bool {
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

    /// That there is what the deployment consumes; `None` when that cannot be.
    fn consumed(&self, pod: PodId) -> Option<Option<Affinity>> {
        let Some(unbound) = self.m.consumed(pod) else { return Some(None) };
        let there = self.universe.contains(self.problem, unbound);
        there.then(|| Some(Affinity { near: vec![vec![unbound]], first_unless: None }))
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
        let near: Vec<Vec<Atom>> =
            keys.into_iter().filter_map(|key| self.friends_near(&matchers, self.m.domain(key, node))).collect();
        if near.is_empty() {
            return Some(None);
        }
        let first_unless = self.first_unless(pod, terms, &matchers);
        if first_unless.is_none() && near.iter().any(Vec::is_empty) {
            return None;
        }
        Some(Some(Affinity { near, first_unless }))
    }

    /// The atoms of a domain that all matchers see; `None` when a kept pod is one. Found once for all pods that look for the same.
    fn friends_near(&self, matchers: &[MatcherId], domain: Option<DomainId>) -> Friends {
        let near = (matchers.to_vec(), domain);
        if let Some(known) = self.friends.borrow().get(&near) {
            return known.clone();
        }
        let nodes = domain.map_or(&[][..], |domain| self.m.members(domain));
        let friends = self.unless_kept(self.matching(matchers, nodes.iter().copied()));
        self.friends.borrow_mut().insert(near, friends.clone());
        friends
    }

    /// What of a group is in the universe; `None` when a kept pod belongs to it.
    fn unless_kept(&self, group: Vec<Atom>) -> Option<Vec<Atom>> {
        let kept = group.iter().any(|&atom| self.kept.count(atom) > 0);
        (!kept).then(|| self.within(group))
    }

    /// The group whose absence lets the pod be the first of its kind.
    fn first_unless(&self, pod: PodId, terms: &[Term], matchers: &[MatcherId]) -> Option<Vec<Atom>> {
        if !rule::pod_affinity::matches_itself(self.m, pod, terms) {
            return None;
        }
        let kube = self.m.semantics() == Semantics::KubeScheduler;
        let counted = self.m.nodes();
        let counted = counted.filter(|&at| !kube || terms.iter().any(|term| self.m.domain(term.key, at).is_some()));
        self.unless_kept(self.matching(matchers, counted))
    }

    pub(super) fn within(&self, atoms: Vec<Atom>) -> Vec<Atom> {
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
        if constraint.max_skew == Constraint::ANY_SKEW {
            return Some(());
        }
        let domains = self.eligible_domains(pod, index, &constraint);
        let joins = u64::from(self.m.sees_unbound(constraint.matcher, pod));
        let Some(at) = domains.iter().position(|(domain, _)| *domain == own) else { return Some(()) };
        // Nodes that come may bring domains without end; enough of them may then be there.
        let all_known = !domains.iter().any(|&(domain, _)| elastic::is_one_of_many(self.m, domain));
        if (domains.len() as u64) < constraint.min_domains && all_known {
            let bound = constraint.max_skew.checked_sub(joins)?;
            let condition = self.total(domains[at].1.iter().copied(), |_| 1).at_most(bound.into())?;
            guard.at_most.extend(without_idle(vec![condition]));
        } else if domains.len() > 1 {
            let domains = domains.into_iter().map(|(domain, atoms)| {
                let nodes = self.m.members(domain).iter().copied();
                self.domain(atoms, nodes.filter(|&at| self.m.eligible(pod, index, at)))
            });
            guard.spread.push(Spread { domains: domains.collect(), own: at, joins, max_skew: constraint.max_skew });
        }
        Some(())
    }

    /// A domain of these nodes, with the atoms that are counted there.
    fn domain(&self, atoms: Vec<Atom>, nodes: impl Iterator<Item = NodeId> + Clone) -> Domain {
        let base = atoms.iter().fold(0u64, |sum, &atom| sum.saturating_add(self.kept.count(atom)));
        Domain { atoms: self.within(atoms), base, while_any: self.while_any(nodes) }
    }

    /// The atoms of which one must be there for one of the nodes to be; `None` when one is there in any case.
    fn while_any(&self, nodes: impl Iterator<Item = NodeId> + Clone) -> Option<Vec<Atom>> {
        if nodes.clone().any(|node| !self.m.comes_and_goes(node) || self.kept.on(node).next().is_some()) {
            return None;
        }
        Some(self.within(self.problem.pods().flat_map(|q| nodes.clone().map(move |at| (q, at))).collect()))
    }

    /// The domains of the eligible nodes, each with the atoms that the constraint counts there.
    fn eligible_domains(&self, pod: PodId, index: usize, constraint: &Constraint) -> Vec<(DomainId, Vec<Atom>)> {
        let eligible = |node: &NodeId| self.m.eligible(pod, index, *node);
        let domains: BTreeSet<DomainId> =
            self.m.nodes().filter(eligible).filter_map(|node| self.m.domain(constraint.key, node)).collect();
        let counts = rule::spread::counts_pods(self.m, constraint);
        let with_atoms = domains.into_iter().map(|domain| {
            let nodes = self.m.members(domain).iter().copied().filter(eligible);
            let mut atoms = self.matching(&[constraint.matcher], nodes);
            atoms.retain(|&(q, _)| counts && rule::spread::is_counted(self.m, q));
            (domain, atoms)
        });
        with_atoms.collect()
    }
}

/// Drops conditions that always hold because nothing counts.
fn without_idle(mut conditions: Vec<AtMost>) -> Vec<AtMost> {
    conditions.retain(|condition| !condition.weights.is_empty());
    conditions
}
