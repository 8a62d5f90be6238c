//! VolumeZone: the zone and region labels of a pod's volumes agree with those of the node.
//!
//! ```text
//! near(p, n)  ≡  every claim of p exists, and names a volume that exists or waits for a pod
//!             ∧  ( n has no zone or region label  ∨  ∀ bound c, (k, V) ∈ zones(volume(c)):  n[k] ∈ V,  or  n[k'] ∈ V where n lacks k )
//! ```
//! `k'` is the key that replaced a beta one.
//! Kubernetes: `volumezone/volume_zone.go`. The paper leaves it to `StaticOK`.

use super::{Refusal, volume_restrictions};
use crate::cluster::Node;
use crate::id::{ClaimId, NodeId, PodId};
use crate::model::Model;
use crate::storage::{ClaimState, Zone};

/// Refuses a node in another zone than a volume of the pod.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let claims = &m.pod(pod).mounts.claims;
    if claims.is_empty() {
        return None;
    }
    let in_no_zone = !m.zone_keys().iter().any(|&key| m.node(node).labels.value(key).is_some());
    let refusal = |&claim: &ClaimId| match m.cluster().claims[claim].state {
        ClaimState::Unbound => Some(Refusal::ClaimUnbound(claim)),
        ClaimState::Bound { volume: None, .. } => Some(Refusal::VolumeMissing(claim)),
        ClaimState::Bound { volume: Some(volume), .. } if !in_no_zone => {
            let other = |zone: &&Zone| !agrees(m.node(node), zone);
            let zone = m.cluster().volumes[volume].zones.iter().find(other)?;
            Some(Refusal::OtherZone { claim, volume, key: zone.key })
        }
        _ => None,
    };
    volume_restrictions::missing(m, pod).or_else(|| claims.iter().find_map(refusal))
}

fn agrees(node: &Node, zone: &Zone) -> bool {
    let value = node.labels.value(zone.key).or_else(|| node.labels.value(zone.instead));
    value.is_some_and(|value| zone.values.contains(&value))
}
