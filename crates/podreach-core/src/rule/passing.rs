//! What passes on a node: taints, a cordon and missing devices that keep pods away for now.
//!
//! Not a filter of its own: each part is what NodeUnschedulable, TaintToleration and NodeResourcesFit say of a node that has not settled.
//! Guards take every node as settled, since a step makes it so; rules look at what a configuration says.
//! Kubernetes: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`, `doNoScheduleTaintingPass`.

use super::{Refusal, Rule, fit, taint};
use crate::id::{NodeId, PodId};
use crate::model::Model;
use crate::running::Running;

/// What keeps a pod off a node for now, if anything does.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<(Rule, Refusal)> {
    if s.is_settled(node) {
        return None;
    }
    let parts = [Rule::NodeUnschedulable, Rule::TaintToleration, Rule::NodeResourcesFit].into_iter();
    parts.filter(|rule| !m.pod(pod).exempt.contains(rule)).find_map(|rule| {
        let refusal = match rule {
            Rule::NodeUnschedulable => cordon(m, s, pod, node),
            Rule::TaintToleration => untolerated(m, s, pod, node),
            _ => room(m, s, pod, node),
        };
        Some((rule, refusal?))
    })
}

/// Refuses a node that is cordoned for now.
pub fn cordon(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let cordoned = m.node(node).passing.cordoned && !s.is_settled(node);
    (cordoned && !taint::is_tolerated(&m.pod(pod).tolerations, m.cordon())).then_some(Refusal::Cordoned)
}

/// Refuses a node with a passing taint that the pod does not tolerate.
pub fn untolerated(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    if s.is_settled(node) {
        return None;
    }
    let mut taints = m.node(node).passing.taints.iter();
    let tolerations = &m.pod(pod).tolerations;
    let found = taints.find(|taint| taint.keeps_pods_away() && !taint::is_tolerated(tolerations, taint));
    found.copied().map(Refusal::Untolerated)
}

/// Refuses a node that lacks devices for now.
pub fn room(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    if s.is_settled(node) {
        return None;
    }
    m.node(node).passing.lacking.iter().find_map(|(resource, lacking)| {
        let requested = m.pod(pod).requests.amount(resource);
        let allocatable = m.node(node).allocatable.amount(resource).saturating_sub(lacking);
        let used = fit::used(m, s, node, resource);
        let over = requested > 0 && used.saturating_add(requested) > allocatable;
        over.then_some(Refusal::Insufficient { resource, requested, used, allocatable })
    })
}
