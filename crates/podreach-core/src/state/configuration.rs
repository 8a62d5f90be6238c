//! Configurations: how many instances of each pod type run on each node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::id::{Id, NodeId, PodId};

/// A pod type on a node: the unit of goals, guards and proofs.
pub type Atom = (PodId, NodeId);

/// A set of atoms that is asked often whether it has one.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    /// For each pod type the nodes, in order.
    nodes: Vec<Vec<NodeId>>,
}

impl Atoms {
    /// Whether it has an atom.
    pub fn contains(&self, (pod, node): Atom) -> bool {
        self.nodes.get(pod.index()).is_some_and(|nodes| nodes.binary_search(&node).is_ok())
    }
}

impl FromIterator<Atom> for Atoms {
    fn from_iter<It: IntoIterator<Item = Atom>>(atoms: It) -> Self {
        let mut nodes = Vec::<Vec<NodeId>>::new();
        for (pod, node) in atoms {
            if nodes.len() <= pod.index() {
                nodes.resize(pod.index() + 1, Vec::new());
            }
            nodes[pod.index()].push(node);
        }
        nodes.iter_mut().for_each(|nodes| nodes.sort_unstable());
        Self { nodes }
    }
}

/// Counts per (pod, node), ordered pointwise. No zero entries.
///
/// The same multiset in two orders: rules ask both what runs on a node and where a pod type runs.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    by_pod: BTreeMap<(PodId, NodeId), u64>,
    by_node: BTreeMap<(NodeId, PodId), u64>,
    /// The nodes that still have what passes on them. None, unless someone says so.
    unsettled: BTreeSet<NodeId>,
    /// Pods that are being deleted, by the types that they are of; a problem knows what they are until they are gone.
    terminating: BTreeMap<(PodId, NodeId), u64>,
}

impl Configuration {
    /// The empty configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many instances of `pod` run on `node`.
    pub fn count(&self, (pod, node): Atom) -> u64 {
        self.by_pod.get(&(pod, node)).copied().unwrap_or(0)
    }

    /// Sets how many instances of `pod` run on `node`.
    pub fn set(&mut self, (pod, node): Atom, count: u64) {
        if count == 0 {
            self.by_pod.remove(&(pod, node));
            self.by_node.remove(&(node, pod));
        } else {
            self.by_pod.insert((pod, node), count);
            self.by_node.insert((node, pod), count);
        }
    }

    /// One more instance.
    pub fn add(&mut self, atom: Atom) {
        self.set(atom, self.count(atom).saturating_add(1));
    }

    /// One instance less; there must be one.
    pub fn remove(&mut self, atom: Atom) {
        self.set(atom, self.count(atom).checked_sub(1).expect("only what runs can be removed"));
    }

    /// The same pods, where these nodes still have what passes on them.
    #[must_use]
    pub fn with_unsettled(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.unsettled = nodes.into_iter().collect();
        self
    }

    /// The same, with these pods on top that are being deleted.
    #[must_use]
    pub fn with_terminating(mut self, pods: impl IntoIterator<Item = Atom>) -> Self {
        pods.into_iter().for_each(|atom| *self.terminating.entry(atom).or_default() += 1);
        self
    }

    /// Makes one pod that is being deleted, if there is such, one of another type.
    pub fn retype_terminating(&mut self, old: Atom, new: Atom) {
        let Some(count) = self.terminating.get_mut(&old) else { return };
        *count -= 1;
        self.terminating.retain(|_, count| *count > 0);
        *self.terminating.entry(new).or_default() += 1;
    }

    /// The same without the pods of a type.
    #[must_use]
    pub fn without(&self, pod: PodId) -> Self {
        let mut rest = self.clone();
        self.of(pod).for_each(|(node, _)| rest.set((pod, node), 0));
        rest.terminating.retain(|&(other, _), _| other != pod);
        rest
    }

    /// Makes each pod that is being deleted one of what its type is by then.
    pub(crate) fn resolved(mut self, instead: impl Fn(PodId) -> PodId) -> Self {
        for ((pod, node), count) in std::mem::take(&mut self.terminating) {
            let atom = (instead(pod), node);
            self.set(atom, self.count(atom).saturating_add(count));
        }
        self
    }

    /// The nodes that still have what passes on them.
    pub fn unsettled(&self) -> &BTreeSet<NodeId> {
        &self.unsettled
    }

    /// Takes from a node what passes on it; whether there was anything.
    pub fn settle(&mut self, node: NodeId) -> bool {
        self.unsettled.remove(&node)
    }

    /// Puts back what passes on a node.
    pub(crate) fn unsettle(&mut self, node: NodeId) {
        self.unsettled.insert(node);
    }

    /// All atoms with their counts, by pod and then by node.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Atom, u64)> + '_ {
        self.by_pod.iter().map(|(&atom, &count)| (atom, count))
    }

    /// The pod types on `node` with their counts.
    pub fn on(&self, node: NodeId) -> impl Iterator<Item = (PodId, u64)> + '_ {
        let all = (node, PodId::MIN)..=(node, PodId::MAX);
        self.by_node.range(all).map(|(&(_, pod), &count)| (pod, count))
    }

    /// The nodes where `pod` runs with its counts.
    pub fn of(&self, pod: PodId) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let all = (pod, NodeId::MIN)..=(pod, NodeId::MAX);
        self.by_pod.range(all).map(|(&(_, node), &count)| (node, count))
    }

    /// The number of distinct atoms.
    pub fn support(&self) -> usize {
        self.by_pod.len()
    }

    /// The number of instances.
    pub fn size(&self) -> u64 {
        self.by_pod.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.by_pod.is_empty()
    }

    /// Pointwise `≤`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.support() <= other.support() && self.iter().all(|(atom, count)| count <= other.count(atom))
    }

    /// Pointwise difference, not below zero; on the same nodes.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let rest = self.iter().map(|(atom, count)| (atom, count.saturating_sub(other.count(atom))));
        Self { unsettled: self.unsettled.clone(), ..rest.collect() }
    }

    /// Pointwise sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        other.iter().for_each(|(atom, count)| sum.set(atom, sum.count(atom).saturating_add(count)));
        sum
    }
}

impl FromIterator<(Atom, u64)> for Configuration {
    fn from_iter<It: IntoIterator<Item = (Atom, u64)>>(counts: It) -> Self {
        let mut configuration = Self::new();
        for (atom, count) in counts {
            configuration.set(atom, configuration.count(atom).saturating_add(count));
        }
        configuration
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn atom(pod: usize, node: usize) -> Atom {
        (PodId::from_index(pod), NodeId::from_index(node))
    }

    #[test]
    fn both_orders_show_the_same_multiset() {
        let mut s = Configuration::new();
        [atom(0, 1), atom(2, 1), atom(0, 0), atom(0, 1)].into_iter().for_each(|a| s.add(a));
        assert_eq!(s.of(PodId::from_index(0)).map(|(_, count)| count).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(s.on(NodeId::from_index(1)).map(|(_, count)| count).collect::<Vec<_>>(), [2, 1]);
        s.remove(atom(2, 1));
        assert_eq!((s.support(), s.size(), s.count(atom(2, 1))), (2, 3, 0));
    }

    #[test]
    fn order_is_pointwise() {
        let small: Configuration = [(atom(0, 0), 1)].into_iter().collect();
        let large: Configuration = [(atom(0, 0), 2), (atom(1, 0), 1)].into_iter().collect();
        assert!(small.is_within(&large) && !large.is_within(&small));
        assert_eq!(large.minus(&small).plus(&small), large);
    }
}
