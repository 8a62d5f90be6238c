//! DynamicResources: the devices that a pod claims can be used from the node.
//!
//! ```text
//! usable(p, n)  ≡  ∀ c ∈ deviceClaims(p):  c exists, has devices, has room for one more pod,  and  its devices are within reach of n
//! ```
//! Only claims that have their devices are modelled; others are not among a pod's claims here, and lowering says so.
//! Kubernetes: `dynamicresources/dynamicresources.go`, `PreFilter`, `Filter`. The paper leaves it to `StaticOK`.

use super::{Refusal, node_affinity};
use crate::id::{DeviceClaimId, NodeId, PodId};
use crate::model::Model;
use crate::storage::DeviceState;

/// Refuses a node from which claimed devices cannot be used.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let unusable = m.pod(pod).devices.iter().find(|&&claim| !is_usable(m, claim, node));
    unusable.map(|&claim| Refusal::DevicesElsewhere(claim))
}

/// Whether a pod on a node can have the devices of a claim.
fn is_usable(m: &Model, claim: DeviceClaimId, node: NodeId) -> bool {
    match &m.cluster().device_claims[claim].state {
        DeviceState::Missing | DeviceState::Full => false,
        DeviceState::Allocated(terms) => {
            terms.as_deref().is_none_or(|terms| node_affinity::any_matches(m, terms, node))
        }
    }
}
