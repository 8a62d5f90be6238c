//! VolumeRestrictions: disks and claims that two pods may not share.
//!
//! ```text
//! apart(s, p, n)  ≡  every claim of p exists
//!                 ∧  ∀ a ∈ disks(p), q ∈ s on n, b ∈ disks(q):   a and b do not conflict
//!                 ∧  ∀ c ∈ claims(p), c exclusive, q ∈ s:        c ∉ claims(q)
//! ```
//! Disks are compared on the node; an exclusive claim (`ReadWriteOncePod`) in the whole cluster. `ReadWriteOnce` is not looked at. A
//! claim that each instance has for itself is never shared.
//! Kubernetes: `volumerestrictions/volume_restrictions.go`, `isVolumeConflict`, `satisfyReadWriteOncePod`. The paper has no volumes,
//! but treats a port as a resource of capacity one, and a disk is another.

use super::Refusal;
use crate::id::{ClaimId, NodeId, PodId};
use crate::model::Model;
use crate::running::Running;
use crate::storage::ClaimState;

/// Refuses a node where a disk is taken, and every node when a claim is.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let mounts = &m.pod(pod).mounts;
    if mounts.claims.is_empty() && mounts.disks.is_empty() {
        return None;
    }
    missing(m, pod).or_else(|| disk_taken(m, s, pod, node)).or_else(|| claim_taken(m, s, pod))
}

/// A claim of the pod that does not exist.
pub fn missing(m: &Model, pod: PodId) -> Option<Refusal> {
    let mut claims = m.pod(pod).mounts.claims.iter().copied();
    claims.find(|&claim| m.cluster().claims[claim].state == ClaimState::Missing).map(Refusal::ClaimMissing)
}

fn disk_taken(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    if m.pod(pod).mounts.disks.is_empty() {
        return None;
    }
    let holder = s.on(node).map(|(holder, _)| holder).find(|&holder| disks_conflict(m, pod, holder))?;
    Some(Refusal::DiskTaken { holder })
}

fn claim_taken(m: &Model, s: &impl Running, pod: PodId) -> Option<Refusal> {
    exclusive(m, pod).find_map(|claim| {
        let users = m.claimants().iter().copied().filter(|&q| m.pod(q).mounts.claims.contains(&claim));
        let (holder, at) = users.into_iter().find_map(|q| s.of(q).next().map(|(at, _)| (q, at)))?;
        Some(Refusal::ClaimTaken { claim, holder, at })
    })
}

/// The claims of a pod that no two pods may use at a time.
pub fn exclusive(m: &Model, pod: PodId) -> impl Iterator<Item = ClaimId> + '_ {
    let claims = m.pod(pod).mounts.claims.iter().copied();
    claims.filter(|&claim| m.cluster().claims[claim].exclusive && !m.cluster().claims[claim].private)
}

/// Whether two pod types can never be deployed side by side for a disk they share.
pub fn disks_conflict(m: &Model, pod: PodId, other: PodId) -> bool {
    m.pod(pod).mounts.disks.iter().any(|a| m.pod(other).mounts.disks.iter().any(|b| a.conflicts(b)))
}

/// Whether two pod types can never be deployed in one cluster for a claim they share.
pub fn claims_conflict(m: &Model, pod: PodId, other: PodId) -> bool {
    exclusive(m, pod).any(|claim| m.pod(other).mounts.claims.contains(&claim))
}
