//! NodeUnschedulable: a cordoned node takes only pods that tolerate it.
//!
//! Kubernetes: `nodeunschedulable/node_unschedulable.go`, `Filter`. Part of the paper's `StaticOK`.

use super::{Refusal, taint};
use crate::id::{NodeId, PodId};
use crate::model::Model;

/// Refuses a cordoned node unless the pod tolerates `node.kubernetes.io/unschedulable:NoSchedule`.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let tolerated = || m.pod(pod).tolerations.iter().any(|toleration| taint::tolerates(toleration, m.cordon()));
    (m.node(node).unschedulable && !tolerated()).then_some(Refusal::Cordoned)
}
