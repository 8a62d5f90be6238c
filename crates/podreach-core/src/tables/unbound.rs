//! Pods that wait for a node, as long as they do.
//!
//! A pod of the input that waits was admitted: to bind it asks admission nothing, and it is bound at most once. While it waits it is
//! charged to quotas, it counts towards limits, and no filter sees it. So a configuration must say how many wait. The type `p°` is `p`
//! while it waits: a type that no step deploys, that runs [nowhere](NodeId::NOWHERE), and that a binding consumes.
//!
//! ```text
//! s(p°) > 0     filters let p on n in s                 s(p°) > 0
//! ──────────────────────────────────────  Deploy      ─────────────  Withdraw
//!      s  ──→  s − p° + (p, n)                         s ──→ s − p°
//! ```
//! For everything else `p°` is a pod: it may be deleted at any time, so that less is always reachable, and fewer of them are in the way of
//! no step but the bindings that they are needed for. A binding moves what is charged and counted, and so asks nothing about either.

use std::sync::Arc;

use crate::cluster::{Barred, Cluster, Pod, PodSpec};

/// Gives each type of pods that wait one for as long as they do; or, where they have them, makes each what its type is by now.
pub(crate) fn add(cluster: &mut Cluster) {
    if cluster.unbound.is_empty() {
        for &pod in cluster.waiting.keys() {
            let Some(Pod { name, spec }) = cluster.pods.get(pod).cloned() else { continue };
            cluster.unbound.insert(pod, cluster.pods.push(Pod { name, spec }));
        }
        for limit in cluster.limits.iter_mut().filter(|limit| !limit.per_node) {
            let unbound = limit.pods.iter().filter_map(|pod| cluster.unbound.get(pod));
            limit.pods = limit.pods.iter().chain(unbound).copied().collect();
        }
    }
    for (&pod, &unbound) in &cluster.unbound {
        let spec = unbound_spec(&cluster.pods[pod].spec);
        cluster.pods[unbound].spec = Arc::new(spec);
    }
}

/// A pod that only quotas see.
fn unbound_spec(spec: &PodSpec) -> PodSpec {
    PodSpec { quota: spec.quota.clone(), barred: Some(Barred::Unbound), ..PodSpec::plain(spec.namespace) }
}

impl PodSpec {
    /// Whether it is one of pods that wait for a node, for as long as they do.
    pub(crate) fn is_unbound(&self) -> bool {
        self.barred == Some(Barred::Unbound)
    }
}
