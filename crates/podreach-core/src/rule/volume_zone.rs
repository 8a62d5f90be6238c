//! VolumeZone: the zone and region labels of a pod's volumes agree with those of the node.
//!
//! ```text
//! near(p, n)  ≡  every claim of p but for those of ephemeral volumes exists, and names a volume that exists or waits for a pod
//!             ∧  ( n has no zone or region label  ∨  ∀ bound c, (k, V) ∈ zones(volume(c)):  n[k] ∈ V,  or  n[k'] ∈ V where n lacks k )
//! ```
//! `k'` is the key that replaced a beta one.
//! Kubernetes: `volumezone/volume_zone.go`. The paper leaves it to `StaticOK`.

use super::{Refusal, volume_restrictions};
use crate::cluster::Node;
use crate::id::{ClaimId, NodeId, PodId, VolumeId};
use crate::model::Model;
use crate::storage::{ClaimState, Zone};

/// Refuses a node in another zone than a volume of the pod.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let claims = &m.pod(pod).mounts.claims;
    if claims.is_empty() {
        return None;
    }
    volume_restrictions::missing(m, pod).or_else(|| claims.iter().find_map(|&claim| of_claim(m, claim, node)))
}

fn of_claim(m: &Model, claim: ClaimId, node: NodeId) -> Option<Refusal> {
    match m.cluster().claims[claim].state {
        _ if !m.cluster().claims[claim].lasting => None,
        ClaimState::Unbound => Some(Refusal::ClaimUnbound(claim)),
        ClaimState::Bound { volume: None, .. } => Some(Refusal::VolumeMissing(claim)),
        ClaimState::Bound { volume: Some(volume), .. } => {
            other_zone(m, volume, node).map(|zone| Refusal::OtherZone { claim, volume, key: zone.key })
        }
        _ => None,
    }
}

/// A zone or region label of a volume that does not agree with a node.
pub fn other_zone(m: &Model, volume: VolumeId, node: NodeId) -> Option<&Zone> {
    let in_no_zone = !m.zone_keys().iter().any(|&key| m.node(node).labels.value(key).is_some());
    let zones = m.cluster().volumes[volume].zones.iter().filter(|_| !in_no_zone);
    zones.into_iter().find(|zone| !agrees(m.node(node), zone))
}

fn agrees(node: &Node, zone: &Zone) -> bool {
    let value = node.labels.value(zone.key).or_else(|| node.labels.value(zone.instead));
    value.is_some_and(|value| zone.values.contains(&value))
}
