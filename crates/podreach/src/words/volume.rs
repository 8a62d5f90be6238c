//! Why volumes, devices and declared features keep a pod off a node, as a clause.

use podreach_core::cluster::NodeTerm;
use podreach_core::id::{ClaimId, VolumeId};
use podreach_core::rule::Refusal;
use podreach_core::storage::{Claim, DeviceState};
use podreach_core::{Model, NodeId};

use crate::words;

/// The reason of a refusal that is about volumes, devices or features.
pub(crate) fn reason(m: &Model, node: NodeId, refusal: &Refusal) -> String {
    let name = |claim: ClaimId| words::claim(m, claim);
    match *refusal {
        Refusal::ClaimMissing(claim) => format!("{} does not exist", name(claim)),
        Refusal::ClaimUnusable(claim) => unusable(m, claim),
        Refusal::ClaimUnbound(claim) => format!("{} is not bound to a volume yet", name(claim)),
        Refusal::VolumeMissing(claim) => format!("{} is bound to a volume that does not exist", name(claim)),
        Refusal::VolumeElsewhere { claim, volume } => {
            let terms = m.cluster().volumes[volume].node_affinity.as_deref().unwrap_or_default();
            format!("{} is bound to {}, which asks for {}", name(claim), called(m, volume), either(m, terms))
        }
        Refusal::ClaimPlaced(claim) => format!("another node was chosen for {}", name(claim)),
        Refusal::NoVolume(claim) => format!("no available volume fits {}, and none can be made", name(claim)),
        Refusal::NotProvisionable(claim) => {
            format!("no available volume fits {}, and its storage class makes none here", name(claim))
        }
        Refusal::NoSpace(claim) => format!("there is too little space within reach for {}", name(claim)),
        Refusal::OtherZone { claim, volume, key } => {
            let zones = m.cluster().volumes[volume].zones.iter().filter(|zone| zone.key == key);
            let values: Vec<&str> = zones.flat_map(|zone| &zone.values).map(|&value| m.str(value)).collect();
            let volume = called(m, volume);
            format!("{} is bound to {volume}, which has {}={}", name(claim), m.str(key), values.join("__"))
        }
        Refusal::DiskTaken { holder } => format!("{} mounts a disk that it would have to share", words::pod(m, holder)),
        Refusal::ClaimTaken { claim, holder, at } => {
            format!("{} is for one pod at a time, and {} uses it", name(claim), words::atom(m, (holder, at)))
        }
        Refusal::DriverMissing(driver) => format!("volume driver {} is not on the node", m.str(driver)),
        Refusal::VolumeLimit { driver, new, used, limit } => limited(m.str(driver), new, used, limit),
        Refusal::FeatureMissing(feature) => format!("the node does not declare {}", m.str(feature)),
        Refusal::DevicesElsewhere(claim) => {
            let claim = &m.cluster().device_claims[claim];
            match &claim.state {
                DeviceState::Missing => format!("device claim {} does not exist", claim.name),
                DeviceState::Full => format!("device claim {} has as many pods as may share it", claim.name),
                DeviceState::Allocated(terms) => {
                    let places = either(m, terms.as_deref().unwrap_or_default());
                    format!("the devices of claim {} ask for {places}", claim.name)
                }
            }
        }
        _ => format!("{} refuses it", m.node_name(node)),
    }
}

fn unusable(m: &Model, claim: ClaimId) -> String {
    let Claim { deleting, .. } = m.cluster().claims[claim];
    let why = if deleting { "is being deleted" } else { "has lost its volume" };
    format!("{} {why}", words::claim(m, claim))
}

fn called(m: &Model, volume: VolumeId) -> String {
    match m.cluster().volumes[volume].name.as_str() {
        "" => "a volume".to_owned(),
        name => format!("volume {name}"),
    }
}

fn either(m: &Model, terms: &[NodeTerm]) -> String {
    words::either(&words::first(terms.iter().map(|term| words::node_term(m, term)), 3))
}

fn limited(driver: &str, new: u64, used: u64, limit: u64) -> String {
    let new = usize::try_from(new).unwrap_or(usize::MAX);
    match used {
        0 => format!("it needs {} of {driver}, the node takes {limit}", words::number(new, "volume")),
        _ => format!("it needs {} of {driver}, {used} of {limit} are attached", words::number(new, "more volume")),
    }
}
