//! The rules: what a deployment must satisfy, one file per scheduler filter, both semantics side by side.
//!
//! ```text
//! Hard(p, n, s)  ≡  p is not barred  ∧  no rule refuses p on n in s
//! ```
//! Each file answers with the refusal, not with a bare no, so that the same code decides, explains and checks. Rules are looked at
//! when a pod is deployed and never again: a pod may outlive what enabled it.

pub mod anti_affinity;
pub mod declared_features;
pub mod dynamic_resources;
pub mod fit;
pub mod limit;
pub mod node_affinity;
pub mod node_name;
pub mod passing;
pub mod pod_affinity;
pub mod port;
pub mod quota;
pub mod spread;
pub mod taint;
pub mod unschedulable;
pub mod volume_binding;
pub mod volume_limits;
pub mod volume_restrictions;
pub mod volume_zone;

use crate::cancel;
use crate::cluster::{HostPort, Taint};
use crate::configuration::Configuration;
use crate::id::{ClaimId, DeviceClaimId, NodeId, PodId, QuotaId, ResourceId, Symbol, VolumeId};
use crate::model::Model;
use crate::resource::Amount;
use crate::running::Running;

pub use crate::rule_name::Rule;

impl Rule {
    /// Why this rule keeps `pod` off `node` in configuration `s`; `None` when it does not.
    pub fn refusal(self, m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
        cancel::poll();
        if !m.asks(pod, self) {
            return None;
        }
        match self {
            Self::NodeName => node_name::refusal(m, pod, node),
            Self::NodeUnschedulable => {
                unschedulable::refusal(m, pod, node).or_else(|| passing::cordon(m, s, pod, node))
            }
            Self::TaintToleration => taint::refusal(m, pod, node).or_else(|| passing::untolerated(m, s, pod, node)),
            Self::NodeAffinity => node_affinity::refusal(m, pod, node),
            Self::NodePorts => port::refusal(m, s, pod, node),
            Self::NodeResourcesFit => fit::refusal(m, s, pod, node).or_else(|| passing::room(m, s, pod, node)),
            Self::VolumeRestrictions => volume_restrictions::refusal(m, s, pod, node),
            Self::NodeVolumeLimits => volume_limits::refusal(m, s, pod, node),
            Self::VolumeBinding => volume_binding::refusal(m, pod, node),
            Self::VolumeZone => volume_zone::refusal(m, pod, node),
            Self::DynamicResources => dynamic_resources::refusal(m, pod, node),
            Self::NodeDeclaredFeatures => declared_features::refusal(m, pod, node),
            Self::PodTopologySpread => spread::refusal(m, s, pod, node),
            Self::InterPodAffinity => {
                pod_affinity::refusal(m, s, pod, node).or_else(|| anti_affinity::refusal(m, s, pod, node))
            }
            Self::ResourceQuota => quota::refusal(m, s, pod),
            Self::InstanceLimit => limit::refusal(m, s, pod, node),
        }
    }
}

/// Why a rule keeps a pod off a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The pod asks for another node by name.
    OtherNode,
    /// The node is cordoned.
    Cordoned,
    /// The pod does not tolerate this taint.
    Untolerated(Taint),
    /// The node lacks a label of the pod's node selector.
    NodeSelector,
    /// No term of the pod's required node affinity matches the node.
    NodeAffinity,
    /// No term of the node affinity that the scheduler's profile adds matches the node.
    AddedAffinity,
    /// A resident pod holds the port.
    PortTaken {
        /// The port the pod asks for.
        port: HostPort,
        /// The pod that holds it, or one that conflicts.
        holder: PodId,
    },
    /// Too little of a resource is free.
    Insufficient {
        /// The resource.
        resource: ResourceId,
        /// What the pod requests.
        requested: Amount,
        /// What the pods on the node request together.
        used: Amount,
        /// What the node has.
        allocatable: Amount,
    },
    /// The node lacks the topology key of a spread constraint (by its index in the pod).
    SpreadKey(usize),
    /// The node is not among those a spread constraint counts.
    SpreadIneligible(usize),
    /// One more pod here would be too far ahead of the emptiest domain.
    Skew {
        /// The constraint, by its index in the pod.
        constraint: usize,
        /// Matching pods in the node's domain, the new one included if it matches.
        here: u64,
        /// Matching pods in the emptiest domain.
        least: u64,
    },
    /// The node lacks the topology key of an affinity term (by its index in the pod).
    AffinityKey(usize),
    /// No pod that would do is near: the affinity term (by its index in the pod) has no witness.
    NoWitness(usize),
    /// A pod near the node matches an anti-affinity term of the incoming pod.
    Repels {
        /// The term, by its index in the incoming pod.
        term: usize,
        /// The resident that matches.
        resident: PodId,
        /// Where it runs.
        at: NodeId,
    },
    /// An anti-affinity term of a pod near the node matches the incoming pod.
    RepelledBy {
        /// The resident that has the term.
        resident: PodId,
        /// The term, by its index in the resident.
        term: usize,
        /// Where it runs.
        at: NodeId,
    },
    /// The pods of the namespace take too much of something already.
    QuotaExceeded {
        /// The quota.
        quota: QuotaId,
        /// What the pod would take.
        asked: Amount,
        /// What the others take together.
        used: Amount,
    },
    /// As many instances run as may (the limit, by its index in the cluster).
    LimitReached(usize),
    /// A claim does not exist.
    ClaimMissing(ClaimId),
    /// A claim has lost its volume, or is being deleted.
    ClaimUnusable(ClaimId),
    /// A claim has no volume yet, and does not wait for a pod.
    ClaimUnbound(ClaimId),
    /// The volume of a claim does not exist.
    VolumeMissing(ClaimId),
    /// The node affinity of a claim's volume does not match the node.
    VolumeElsewhere {
        /// The claim.
        claim: ClaimId,
        /// Its volume.
        volume: VolumeId,
    },
    /// Another node was chosen for a claim.
    ClaimPlaced(ClaimId),
    /// No volume fits a claim here, and none can be made for it anywhere.
    NoVolume(ClaimId),
    /// No volume fits a claim here, and its class makes none on this node.
    NotProvisionable(ClaimId),
    /// No volume fits a claim here, and there is too little space to make one.
    NoSpace(ClaimId),
    /// A zone or region label of a claim's volume does not agree with the node.
    OtherZone {
        /// The claim.
        claim: ClaimId,
        /// Its volume.
        volume: VolumeId,
        /// The label.
        key: Symbol,
    },
    /// A pod on the node mounts a disk that it would have to share.
    DiskTaken {
        /// The pod that mounts it.
        holder: PodId,
    },
    /// Some pod uses a claim that only one may use.
    ClaimTaken {
        /// The claim.
        claim: ClaimId,
        /// The pod that uses it.
        holder: PodId,
        /// Where it runs.
        at: NodeId,
    },
    /// A driver that must be on the node is not.
    DriverMissing(Symbol),
    /// A driver cannot attach so many volumes to the node.
    VolumeLimit {
        /// The driver.
        driver: Symbol,
        /// How many volumes would be new on the node.
        new: u64,
        /// How many there are.
        used: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The node does not declare a feature.
    FeatureMissing(Symbol),
    /// Claimed devices cannot be used from the node, or not by one more pod.
    DevicesElsewhere(DeviceClaimId),
}

impl Refusal {
    /// Whether it stands however many more pods run. A missing witness or counterweight is cured by another pod, and so is a lack of
    /// room for a volume that the other has attached.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Skew { .. } | Self::NoWitness(_) | Self::VolumeLimit { .. } => false,
            Self::OtherNode
            | Self::Cordoned
            | Self::Untolerated(_)
            | Self::NodeSelector
            | Self::NodeAffinity
            | Self::AddedAffinity
            | Self::QuotaExceeded { .. }
            | Self::ClaimMissing(_)
            | Self::ClaimUnusable(_)
            | Self::ClaimUnbound(_)
            | Self::VolumeMissing(_)
            | Self::VolumeElsewhere { .. }
            | Self::ClaimPlaced(_)
            | Self::NoVolume(_)
            | Self::NotProvisionable(_)
            | Self::NoSpace(_)
            | Self::OtherZone { .. }
            | Self::DiskTaken { .. }
            | Self::ClaimTaken { .. }
            | Self::DriverMissing(_)
            | Self::FeatureMissing(_)
            | Self::DevicesElsewhere(_)
            | Self::PortTaken { .. }
            | Self::Insufficient { .. }
            | Self::SpreadKey(_)
            | Self::SpreadIneligible(_)
            | Self::AffinityKey(_)
            | Self::Repels { .. }
            | Self::RepelledBy { .. }
            | Self::LimitReached(_) => true,
        }
    }
}

/// Why a rule that looks at the pod and the node alone refuses, once the node has settled, if one does.
pub fn static_refusal(m: &Model, pod: PodId, node: NodeId) -> Option<(Rule, Refusal)> {
    let none = Configuration::new();
    Rule::STATIC.into_iter().find_map(|rule| Some((rule, rule.refusal(m, &none, pod, node)?)))
}

/// The first rule that keeps `pod` off `node` in configuration `s`, and why.
pub fn first_refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<(Rule, Refusal)> {
    cancel::poll();
    if m.static_ok(pod, node) {
        let passing = passing::refusal(m, s, pod, node);
        passing.or_else(|| Rule::DYNAMIC.into_iter().find_map(|rule| Some((rule, rule.refusal(m, s, pod, node)?))))
    } else {
        static_refusal(m, pod, node)
    }
}

/// Whether `pod` may be deployed on `node` in configuration `s`: the guard `Hard` of the paper's definition 1.
pub fn hard(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> bool {
    m.pod(pod).barred.is_none() && first_refusal(m, s, pod, node).is_none()
}
