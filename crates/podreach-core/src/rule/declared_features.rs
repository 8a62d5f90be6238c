//! NodeDeclaredFeatures: the node declares what the pod needs of its kubelet.
//!
//! ```text
//! capable(p, n)  ≡  needed(p) ⊆ declared(n)
//! ```
//! Kubernetes: `nodedeclaredfeatures/nodedeclaredfeatures.go`; what a pod needs is in `component-helpers/nodedeclaredfeatures`, and
//! differs from release to release. The paper leaves it to `StaticOK`.

use super::Refusal;
use crate::id::{NodeId, PodId};
use crate::model::Model;

/// Refuses a node that does not declare a feature the pod needs.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    m.pod(pod).features.difference(&m.node(node).features).next().map(|&feature| Refusal::FeatureMissing(feature))
}
