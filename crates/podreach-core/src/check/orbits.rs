//! Orbits of nodes, and what a proof about one node of each says about the others.
//!
//! Let `Γ` be all that some symmetries make together, and `B` the groups of a proof. Its claim is that no configuration on any run
//! contains a group of `ΓB`, the images of `B`. It holds if `B` is a proof about a start that is above every image of the real one, as
//! far as that can matter to the pods in `B`: the first step that completed some `γb` would, seen through `γ⁻¹`, complete `b` where
//! nothing of `B` is present. So one alternative of a goal speaks for all that `Γ` leads to from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Flaw;
use super::symmetry::is_symmetry;
use crate::cancel;
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{Id, IdVec, NodeId, PodId};
use crate::rule::volume_limits;
use crate::step::Problem;
use crate::verdict::Exchange;

/// The nodes that some symmetries lead to from one of them, and those from which others are led to.
#[derive(Clone, Debug)]
pub struct Orbits {
    of: IdVec<NodeId, usize>,
    all: Vec<Vec<NodeId>>,
}

/// What alternatives of a goal have in common if symmetries lead from one to the other: what is on nodes that stay where they are,
/// and a pod type, an orbit and a count.
type Kind = (Vec<(Atom, u64)>, Option<(PodId, usize, u64)>);

impl Orbits {
    /// The orbits of these exchanges, if each is a symmetry of the problem.
    pub fn new(problem: &Problem, exchanges: &[Exchange]) -> Result<Self, Flaw> {
        match exchanges.iter().position(|exchange| !is_symmetry(problem, exchange)) {
            Some(index) => Err(Flaw::NotSymmetric(index)),
            None => Ok(Self::verified(problem, exchanges)),
        }
    }

    /// The connected components of exchanges that are symmetries.
    pub(super) fn verified(problem: &Problem, exchanges: &[Exchange]) -> Self {
        let m = &problem.model;
        let mut parent: Vec<usize> = (0..m.nodes().len()).collect();
        for &(from, to) in exchanges.iter().flatten() {
            let (a, b) = (root(&mut parent, from.index()), root(&mut parent, to.index()));
            parent[a.max(b)] = a.min(b);
        }
        let (mut all, mut numbers) = (Vec::<Vec<NodeId>>::new(), BTreeMap::new());
        let of = m.nodes().map(|node| {
            let number = *numbers.entry(root(&mut parent, node.index())).or_insert(all.len());
            if number == all.len() {
                all.push(Vec::new());
            }
            all[number].push(node);
            number
        });
        Self { of: of.collect(), all }
    }

    /// The orbits, each in the order of its nodes.
    pub fn all(&self) -> &[Vec<NodeId>] {
        &self.all
    }

    /// The orbit of a node, by its number.
    pub fn of(&self, node: NodeId) -> usize {
        self.of[node]
    }

    /// Whether some exchange moves a node.
    pub fn moves(&self, node: NodeId) -> bool {
        self.all[self.of[node]].len() > 1
    }

    /// The alternatives of a goal (by index), those together that symmetries lead to from each other; in the order of the first.
    ///
    /// Only alternatives with all but one pod type on nodes that stay are put together: then one exchange after the other brings that
    /// one to any node of its orbit, and leaves the rest.
    pub fn alike(&self, goal: &Goal) -> Vec<Vec<usize>> {
        let (mut alike, mut numbers) = (Vec::<Vec<usize>>::new(), BTreeMap::new());
        for (index, alternative) in goal.any.iter().enumerate() {
            let number = *numbers.entry(self.kind(alternative)).or_insert(alike.len());
            if number == alike.len() {
                alike.push(Vec::new());
            }
            alike[number].push(index);
        }
        alike
    }

    fn kind(&self, alternative: &Configuration) -> Kind {
        let (moved, fixed): (Vec<_>, Vec<_>) = alternative.iter().partition(|&((_, node), _)| self.moves(node));
        match moved.as_slice() {
            &[((pod, node), count)] => (fixed, Some((pod, self.of[node], count))),
            _ => (alternative.iter().collect(), None),
        }
    }

    /// The problem with a start that is symmetric, and above the real one as far as it can matter to some pod types.
    pub fn above(&self, problem: &Problem, pods: impl IntoIterator<Item = PodId>) -> Problem {
        Problem { start: Arc::new(self.most(problem, pods)), ..problem.clone() }
    }

    /// Of each pod type that can matter to some types, what some node of an orbit has.
    pub(super) fn most(&self, problem: &Problem, pods: impl IntoIterator<Item = PodId>) -> Configuration {
        let mut most: Configuration = (*problem.kept).clone();
        for helper in helping(problem, pods) {
            cancel::poll();
            let mut counts = BTreeMap::<usize, u64>::new();
            for (at, count) in problem.start.of(helper) {
                if at == NodeId::NOWHERE {
                    most.set((helper, at), count);
                    continue;
                }
                let entry = counts.entry(self.of[at]).or_default();
                *entry = count.max(*entry);
            }
            for (orbit, count) in counts {
                self.all[orbit].iter().for_each(|&at| most.set((helper, at), count));
            }
        }
        most
    }
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// The pod types that can matter to some types as witnesses or counterweights, or by volumes they attach, themselves included; and
/// what those were before that are being deleted, or that waited for a node.
pub fn helping(problem: &Problem, pods: impl IntoIterator<Item = PodId>) -> BTreeSet<PodId> {
    let m = &problem.model;
    let mut helping: BTreeSet<PodId> = pods.into_iter().collect();
    let mut todo: Vec<PodId> = helping.iter().copied().collect();
    while let Some(pod) = todo.pop() {
        cancel::poll();
        let spec = m.pod(pod);
        let matchers = spec.affinity.iter().map(|term| term.matcher).chain(spec.spread.iter().map(|c| c.matcher));
        for matcher in matchers {
            let seen = problem.pods().filter(|&q| m.depends_on_node(matcher) || m.sees_unbound(matcher, q));
            todo.extend(seen.filter(|&q| helping.insert(q)));
        }
        if !volume_limits::drivers(m, pod).is_empty() {
            let claimants = m.claimants().iter().copied().filter(|&q| problem.roster.contains(q));
            todo.extend(claimants.filter(|&q| helping.insert(q)));
        }
        let before = m.shadowed(pod).into_iter().chain(m.consumed(pod).map(|(unbound, _)| unbound));
        todo.extend(before.filter(|&q| helping.insert(q)));
    }
    helping
}
