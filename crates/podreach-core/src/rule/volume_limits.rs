//! NodeVolumeLimits: a driver attaches only so many volumes to a node.
//!
//! ```text
//! used(s, n, d)       =  ⋃ { volumes(q, d) : q ∈ s on n }                       a volume that pods share counts once
//! attachable(s, p, n) ≡  every claim of p exists, every driver that must be on n is
//!                     ∧  ∀ d with a limit on n:   volumes(p, d) ⊆ used
//!                                              ∨  |used| + attached(n, d) + |volumes(p, d) − used|  ≤  limit(n, d)
//! ```
//! So a pod that shares a volume can help: it is there already. `attached` are volumes on the node that no pod there uses.
//! Kubernetes: `nodevolumelimits/csi.go`, `CSILimits.Filter`. The paper has no volumes; under it the rule is the same.

use std::collections::BTreeSet;

use super::{Refusal, volume_restrictions};
use crate::id::{NodeId, PodId, Symbol};
use crate::model::Model;
use crate::running::Running;

/// Refuses a node where a driver is missing or has no room for the pod's volumes.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    if m.pod(pod).mounts.claims.is_empty() {
        return None;
    }
    let unfit = volume_restrictions::missing(m, pod).or_else(|| driver_missing(m, pod, node));
    unfit.or_else(|| drivers(m, pod).into_iter().find_map(|driver| no_room(m, s, pod, node, driver)))
}

/// A driver of the pod's volumes that must be on the node and is not.
pub fn driver_missing(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let mut required = drivers(m, pod).into_iter().filter(|driver| m.cluster().required_drivers.contains(driver));
    required.find(|driver| !m.node(node).drivers.contains_key(driver)).map(Refusal::DriverMissing)
}

fn no_room(m: &Model, s: &impl Running, pod: PodId, node: NodeId, driver: Symbol) -> Option<Refusal> {
    let here = m.node(node).drivers.get(&driver)?;
    let limit = here.limit?;
    let (mut used, mut own) = (BTreeSet::new(), 0u64);
    for (q, count) in s.on(node) {
        used.extend(shared(m, q, driver));
        own = own.saturating_add(private(m, q, driver).saturating_mul(count));
    }
    let new = shared(m, pod, driver).difference(&used).count() as u64;
    let new = new.saturating_add(private(m, pod, driver));
    let used = own.saturating_add(used.len() as u64).saturating_add(here.attached);
    let over = new > 0 && used.saturating_add(new) > limit;
    over.then_some(Refusal::VolumeLimit { driver, new, used, limit })
}

/// The drivers of a pod's volumes.
pub fn drivers(m: &Model, pod: PodId) -> BTreeSet<Symbol> {
    let claims = m.pod(pod).mounts.claims.iter();
    claims.filter_map(|&claim| m.cluster().claims[claim].attachment).map(|volume| volume.driver).collect()
}

/// The volumes of a driver that all instances of a pod share.
pub fn shared(m: &Model, pod: PodId, driver: Symbol) -> BTreeSet<Symbol> {
    let claims = m.pod(pod).mounts.claims.iter().map(|&claim| &m.cluster().claims[claim]);
    let volumes = claims.filter(|claim| !claim.private).filter_map(|claim| claim.attachment);
    volumes.filter(|volume| volume.driver == driver).map(|volume| volume.handle).collect()
}

/// Whether pods that share volumes with `pod` can help it onto `node`, where there is a limit.
pub fn can_be_helped(m: &Model, pod: PodId, node: NodeId) -> bool {
    let here = &m.node(node).drivers;
    let drivers = drivers(m, pod).into_iter();
    let mut limited = drivers.filter(|driver| here.get(driver).is_some_and(|here| here.limit.is_some()));
    limited.any(|driver| !shared(m, pod, driver).is_empty())
}

/// How many volumes of a driver each instance of a pod has for itself.
pub fn private(m: &Model, pod: PodId, driver: Symbol) -> u64 {
    let claims = m.pod(pod).mounts.claims.iter().map(|&claim| &m.cluster().claims[claim]);
    let volumes = claims.filter(|claim| claim.private).filter_map(|claim| claim.attachment);
    volumes.filter(|volume| volume.driver == driver).count() as u64
}
