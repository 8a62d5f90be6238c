//! VolumeBinding: every claim has a volume that the node can use, or can get one.
//!
//! ```text
//! bindable(p, n)  ≡  ∀ c ∈ claims(p):  c exists, is not lost, is not being deleted, and is bound or waits for a pod
//!                 ∧  ∀ bound c:        its volume exists  ∧  the volume's node affinity matches n
//!                 ∧  ∀ waiting c, the smallest first:
//!                       its selected node, if any, is n
//!                    ∧  the first volume that matches c and n and no other claim of p took,  or else
//!                       a volume can be made:  a provisioner  ∧  allowed topologies match n  ∧  enough space within reach of n
//! ```
//! Claims are read as the input has them. Once a pod is placed, its waiting claims are bound for good; that later pods then find them
//! bound is not in this rule but in what is said about a trace (`history`).
//! Kubernetes: `volumebinding/volume_binding.go`, `binder.go`, `FindPodVolumes`. The paper leaves it to `StaticOK`.

use std::collections::BTreeSet;

use super::{Refusal, node_affinity, volume_restrictions};
use crate::id::{ClaimId, NodeId, PodId, VolumeId};
use crate::model::Model;
use crate::storage::{Claim, ClaimState, Waiting};

/// Refuses a node from which some claim cannot be served.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let claims = &m.pod(pod).mounts.claims;
    if claims.is_empty() {
        return None;
    }
    let hopeless = claims.iter().find_map(|&claim| hopeless(m, claim));
    let hopeless = volume_restrictions::missing(m, pod).or(hopeless);
    hopeless.or_else(|| claims.iter().find_map(|&claim| out_of_reach(m, claim, node))).or_else(|| {
        let waiting = claims.iter().copied().filter(|&claim| waiting(m, claim).is_some());
        binding(m, waiting.collect(), node, &BTreeSet::new()).err()
    })
}

/// Why a claim keeps its pods off every node.
fn hopeless(m: &Model, id: ClaimId) -> Option<Refusal> {
    let claim: &Claim = &m.cluster().claims[id];
    match claim.state {
        _ if claim.lost || claim.deleting => Some(Refusal::ClaimUnusable(id)),
        ClaimState::Unbound | ClaimState::Bound { complete: false, .. } => Some(Refusal::ClaimUnbound(id)),
        ClaimState::Bound { volume: None, .. } => Some(Refusal::VolumeMissing(id)),
        _ => None,
    }
}

fn out_of_reach(m: &Model, claim: ClaimId, node: NodeId) -> Option<Refusal> {
    let ClaimState::Bound { volume: Some(volume), .. } = m.cluster().claims[claim].state else { return None };
    (!reaches(m, volume, node)).then_some(Refusal::VolumeElsewhere { claim, volume })
}

/// Whether a volume can be used from a node, by its node affinity.
pub fn reaches(m: &Model, volume: VolumeId, node: NodeId) -> bool {
    let terms = m.cluster().volumes[volume].node_affinity.as_deref();
    terms.is_none_or(|terms| node_affinity::any_matches_labels(m, terms, node))
}

/// What a claim that waits for its first pod can get.
pub fn waiting(m: &Model, claim: ClaimId) -> Option<&Waiting> {
    match &m.cluster().claims[claim].state {
        ClaimState::Waiting(waiting) => Some(waiting),
        _ => None,
    }
}

/// The volume that each waiting claim of a pod gets on a node, `None` where one is made; `taken` are given away already.
pub fn binding(
    m: &Model,
    mut claims: Vec<ClaimId>,
    node: NodeId,
    taken: &BTreeSet<VolumeId>,
) -> Result<Vec<(ClaimId, Option<VolumeId>)>, Refusal> {
    let of = |claim: ClaimId| waiting(m, claim).expect("only waiting claims are to be bound");
    claims.sort_by_key(|&claim| of(claim).size);
    let mut taken = taken.clone();
    let mut bound = Vec::new();
    for &claim in &claims {
        let Waiting { selected, volumes, .. } = of(claim);
        if selected.is_some_and(|selected| selected != m.node(node).name) {
            return Err(Refusal::ClaimPlaced(claim));
        }
        let found = volumes.iter().copied().find(|&volume| !taken.contains(&volume) && reaches(m, volume, node));
        let found = found.filter(|_| selected.is_none());
        taken.extend(found);
        bound.push((claim, found));
    }
    let to_make = bound.iter().filter(|(_, volume)| volume.is_none());
    let refusal = to_make.into_iter().find_map(|&(claim, _)| cannot_be_made(m, claim, of(claim), node));
    refusal.map_or(Ok(bound), Err)
}

fn cannot_be_made(m: &Model, claim: ClaimId, waiting: &Waiting, node: NodeId) -> Option<Refusal> {
    let Some(provision) = &waiting.provision else { return Some(Refusal::NoVolume(claim)) };
    if !provision.topologies.as_ref().is_none_or(|terms| node_affinity::any_matches_labels(m, terms, node)) {
        return Some(Refusal::NotProvisionable(claim));
    }
    let labels = &m.node(node).labels;
    let space = provision.pools.as_ref().is_none_or(|pools| pools.iter().any(|pool| pool.matches(labels)));
    (!space).then_some(Refusal::NoSpace(claim))
}
