//! What runs, as rules and steps ask for it.
//!
//! Rules ask three things: what runs on a node, where a pod type runs, and what the selectors of a term see. A configuration answers
//! each by looking; a [`Register`](crate::register::Register) has the answers ready, which pays along thousands of steps.

use std::sync::Arc;

use crate::configuration::{Atom, Configuration};
use crate::id::{MatcherId, NodeId, PodId};
use crate::model::Model;
use crate::resource::Amount;

/// A multiset of pods on nodes that rules can be asked about; every answer is sorted by pod and then by node.
pub trait Running {
    /// How many instances of a pod type run on a node; none of those that do not exist.
    fn count(&self, atom: Atom) -> u64;

    /// The pod types on a node with their counts.
    fn on(&self, node: NodeId) -> impl Iterator<Item = (PodId, u64)>;

    /// How many pods run on a node.
    fn crowd(&self, node: NodeId) -> Amount {
        self.on(node).map(|(_, count)| Amount::from(count)).sum()
    }

    /// The nodes where a pod type runs with its counts.
    fn of(&self, pod: PodId) -> impl Iterator<Item = (NodeId, u64)>;

    /// Whether a node has lost what passes on it.
    fn is_settled(&self, node: NodeId) -> bool;

    /// The residents that every one of `matchers` sees, with where they run and how many.
    fn seen<'a>(
        &'a self,
        m: &'a Model,
        matchers: impl Iterator<Item = MatcherId> + Clone + 'a,
    ) -> impl Iterator<Item = (PodId, NodeId, u64)> + 'a;
}

/// What runs, as steps change it.
pub trait Changing: Running {
    /// One more instance.
    fn add(&mut self, atom: Atom);

    /// One instance less; there must be one.
    fn remove(&mut self, atom: Atom);

    /// Takes from a node what passes on it; whether there was anything.
    fn settle(&mut self, node: NodeId) -> bool;

    /// Puts back what passes on a node.
    fn unsettle(&mut self, node: NodeId);
}

impl Running for Configuration {
    fn count(&self, atom: Atom) -> u64 {
        self.count(atom)
    }

    fn on(&self, node: NodeId) -> impl Iterator<Item = (PodId, u64)> {
        self.on(node)
    }

    fn of(&self, pod: PodId) -> impl Iterator<Item = (NodeId, u64)> {
        self.of(pod)
    }

    fn is_settled(&self, node: NodeId) -> bool {
        !self.unsettled().contains(&node)
    }

    /// Goes through what runs or through the pod types, whichever is less: a puzzle has many types and runs few, a cluster the
    /// reverse.
    fn seen<'a>(
        &'a self,
        m: &'a Model,
        matchers: impl Iterator<Item = MatcherId> + Clone + 'a,
    ) -> impl Iterator<Item = (PodId, NodeId, u64)> + 'a {
        let few = self.support() <= m.pods().len();
        let types = if few {
            Vec::new()
        } else {
            let by_labels = matchers.clone().filter(|&matcher| !m.depends_on_node(matcher));
            m.seen_unbound(&by_labels.collect::<Vec<_>>())
        };
        let running = few.then(|| self.iter().map(|((q, at), count)| (q, at, count)));
        let by_type = types.into_iter().flat_map(|q| self.of(q).map(move |(at, count)| (q, at, count)));
        let all = running.into_iter().flatten().chain(by_type);
        all.filter(move |&(q, at, _)| matchers.clone().all(|matcher| m.sees(matcher, q, at)))
    }
}

impl Changing for Configuration {
    fn add(&mut self, atom: Atom) {
        self.add(atom);
    }

    fn remove(&mut self, atom: Atom) {
        self.remove(atom);
    }

    fn settle(&mut self, node: NodeId) -> bool {
        self.settle(node)
    }

    fn unsettle(&mut self, node: NodeId) {
        self.unsettle(node);
    }
}

impl<S: Running> Running for Arc<S> {
    fn count(&self, atom: Atom) -> u64 {
        (**self).count(atom)
    }

    fn on(&self, node: NodeId) -> impl Iterator<Item = (PodId, u64)> {
        (**self).on(node)
    }

    fn of(&self, pod: PodId) -> impl Iterator<Item = (NodeId, u64)> {
        (**self).of(pod)
    }

    fn is_settled(&self, node: NodeId) -> bool {
        (**self).is_settled(node)
    }

    fn seen<'a>(
        &'a self,
        m: &'a Model,
        matchers: impl Iterator<Item = MatcherId> + Clone + 'a,
    ) -> impl Iterator<Item = (PodId, NodeId, u64)> + 'a {
        (**self).seen(m, matchers)
    }
}
