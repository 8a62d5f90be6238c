//! NodeName: a pod that names a node goes there or nowhere.
//!
//! Kubernetes: `nodename/node_name.go`, `Fits`. Part of the paper's `StaticOK`.

use super::Refusal;
use crate::cluster::Lifetime;
use crate::id::{NodeId, PodId};
use crate::model::Model;

/// Refuses every node but the one the pod names, and a node that does not come.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    if m.node(node).lifetime == Lifetime::Absent {
        return Some(Refusal::OtherNode);
    }
    let named = m.pod(pod).node_name?;
    (named != m.node(node).name).then_some(Refusal::OtherNode)
}
