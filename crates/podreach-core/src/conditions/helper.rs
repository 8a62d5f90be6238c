//! What could help a deployment: the witnesses of its conditions, by type and by node, before any guard is made.
//!
//! [`Guard::helpers`](crate::guard::Guard::helpers) lists atoms; these functions answer the same question type by type, at a
//! fraction of the cost. Nothing in this file is trusted: engines that use it have their evidence checked.

use std::collections::{BTreeSet, HashMap};

use crate::cluster::Term;
use crate::configuration::{Atom, Configuration};
use crate::id::{KeyId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::rule::volume_limits;
use crate::step::Problem;

/// Whether any other pod can help an atom that the kept pods alone do not allow. If not, it is in the paper's affinity-free fragment.
pub fn can_be_helped(m: &Model, kept: &Configuration, (pod, node): Atom) -> bool {
    let spec = m.pod(pod);
    let has_witnesses = !spec.affinity.is_empty() || volume_limits::can_be_helped(m, pod, node);
    has_witnesses || (!spec.spread.is_empty() && !kept.is_empty())
}

/// The pod types that can be witnesses of all conditions of a pod at once; none if it has no condition.
pub fn common_witnesses(problem: &Problem, pod: PodId) -> Vec<PodId> {
    let m = &*problem.model;
    let terms = &m.pod(pod).affinity;
    if terms.is_empty() { Vec::new() } else { problem.pods().filter(|&q| matches(m, terms, q)).collect() }
}

fn matches(m: &Model, terms: &[Term], q: PodId) -> bool {
    terms.iter().all(|term| m.depends_on_node(term.matcher) || m.sees_unbound(term.matcher, q))
}

/// The nodes that a witness of all conditions of an atom can be on, or more: those of the smallest domain.
pub fn nodes_nearest(m: &Model, (pod, node): Atom) -> &[NodeId] {
    let domains = m.pod(pod).affinity.iter().map(|term| m.neighbours(term.key, node));
    domains.min_by_key(|nodes| nodes.len()).unwrap_or_default()
}

/// Which pod types need at most one other pod; remembers which topology keys are nested.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    nested: HashMap<(KeyId, KeyId), bool>,
}

impl Nesting {
    /// Whether a pod type by itself needs at most one other pod: its conditions are about witnesses alone, and one in the smallest
    /// domain serves them all.
    pub fn needs_at_most_one(&mut self, m: &Model, pod: PodId) -> bool {
        let spec = m.pod(pod);
        let one = match m.semantics() {
            Semantics::Paper => spec.affinity.len() <= 1,
            Semantics::KubeScheduler => self.is_chain(m, &spec.affinity),
        };
        one && spec.spread.is_empty() && volume_limits::drivers(m, pod).is_empty()
    }

    /// Whether of any two keys of these terms one lies within the other.
    fn is_chain(&mut self, m: &Model, terms: &[Term]) -> bool {
        let keys: BTreeSet<KeyId> = terms.iter().map(|term| term.key).collect();
        keys.iter().all(|&a| keys.range(..a).all(|&b| self.is_nested(m, a, b) || self.is_nested(m, b, a)))
    }

    /// Whether every domain of one key lies within a domain of the other, as far as it has that key at all.
    fn is_nested(&mut self, m: &Model, inner: KeyId, outer: KeyId) -> bool {
        *self.nested.entry((inner, outer)).or_insert_with(|| {
            m.nodes().all(|node| {
                let first = m.neighbours(inner, node).first().copied().unwrap_or(node);
                m.domain(outer, first) == m.domain(outer, node)
            })
        })
    }
}
