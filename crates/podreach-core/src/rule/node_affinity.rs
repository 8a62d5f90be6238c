//! NodeAffinity: the node selector, and one term of the required node affinity.
//!
//! ```text
//! selected(p, n)  ≡  nodeSelector(p) ⊆ labels(n)  ∧  ( no required affinity  ∨  ∃ term: term ≠ ∅ ∧ every requirement holds on n )
//! ok(p, n)        ≡  selected(p, n)  ∧  the same for the terms that the profile of p's scheduler adds
//! ```
//! Terms are ORed, requirements within a term ANDed, and a term without any matches no node.
//! Kubernetes: `nodeaffinity/node_affinity.go`; `component-helpers/scheduling/corev1/nodeaffinity`, `nodeSelectorTerm.match`.

use super::Refusal;
use crate::cluster::{Node, NodeRequirement, NodeTerm};
use crate::id::{NodeId, PodId, Symbol};
use crate::model::Model;

/// Refuses a node that the selector, the required affinity or the profile's terms do not match.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let added = m.pod(pod).added_affinity.as_ref().is_none_or(|terms| any_matches(m, terms, node));
    own_refusal(m, pod, node).or((!added).then_some(Refusal::AddedAffinity))
}

/// Refuses a node that the pod's own selector or required affinity does not match.
pub fn own_refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let (spec, node) = (m.pod(pod), m.node(node));
    if !node.labels.includes(&spec.node_selector) {
        return Some(Refusal::NodeSelector);
    }
    let terms = spec.node_affinity.as_ref()?;
    (!terms.iter().any(|term| matches(m, term, node, node.name))).then_some(Refusal::NodeAffinity)
}

/// Whether one of the terms matches a node.
pub fn any_matches(m: &Model, terms: &[NodeTerm], node: NodeId) -> bool {
    let node = m.node(node);
    terms.iter().any(|term| matches(m, term, node, node.name))
}

/// Whether one of the terms matches the labels of a node, which is not known by name: so volumes look at nodes.
///
/// Kubernetes: `component-helpers/storage/volume/helpers.go`, `CheckNodeAffinity`.
pub fn any_matches_labels(m: &Model, terms: &[NodeTerm], node: NodeId) -> bool {
    terms.iter().any(|term| matches(m, term, m.node(node), m.empty_string()))
}

fn matches(m: &Model, term: &NodeTerm, node: &Node, name: Symbol) -> bool {
    let asks = !term.expressions.is_empty() || !term.names.is_empty();
    let labels = term.expressions.iter().all(|(key, requirement)| holds(m, requirement, node.labels.value(*key)));
    asks && labels && term.names.iter().all(|allowed| allowed.allows(Some(name)))
}

/// Whether a requirement holds where a label has this value; `None` where it is missing.
pub(crate) fn holds(m: &Model, requirement: &NodeRequirement, value: Option<Symbol>) -> bool {
    let number = || value.and_then(|value| m.str(value).parse::<i64>().ok());
    match requirement {
        NodeRequirement::Label(allowed) => allowed.allows(value),
        NodeRequirement::Above(bound) => number().is_some_and(|number| number > *bound),
        NodeRequirement::Below(bound) => number().is_some_and(|number| number < *bound),
    }
}
