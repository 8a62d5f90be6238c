//! NodeUnschedulable: a cordoned node takes only pods that tolerate it.
//!
//! Kubernetes: `nodeunschedulable/node_unschedulable.go`, `Filter`. Part of the paper's `StaticOK`.

use super::{Refusal, taint};
use crate::id::{NodeId, PodId};
use crate::model::Model;

/// Refuses a cordoned node unless the pod tolerates `node.kubernetes.io/unschedulable:NoSchedule`.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let refused = m.node(node).unschedulable && !taint::is_tolerated(&m.pod(pod).tolerations, m.cordon());
    refused.then_some(Refusal::Cordoned)
}
