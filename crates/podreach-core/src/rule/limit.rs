//! InstanceLimit: at most so many instances of a workload at a time.
//!
//! Not a filter of kube-scheduler: controllers create no more pods than they are told to. Only `--instances declared` asks for it.

use super::Refusal;
use crate::cluster::Limit;
use crate::id::{NodeId, PodId};
use crate::model::Model;
use crate::running::Running;

/// Refuses one more instance where as many run as may.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let mut limits = m.cluster().limits.iter();
    let reached = limits.position(|limit| limit.pods.contains(&pod) && running(s, limit, node) >= limit.most);
    reached.map(Refusal::LimitReached)
}

fn running(s: &impl Running, limit: &Limit, node: NodeId) -> u64 {
    let counts = limit.pods.iter().flat_map(|&q| s.of(q)).filter(|&(at, _)| !limit.per_node || at == node);
    counts.fold(0, |sum, (_, count)| sum.saturating_add(count))
}
