//! The names of the rules, which a scheduler profile may switch off for its pods. What each says is in `rule/`.

/// A scheduler filter, in the order kube-scheduler runs them; ours, which it has not, are last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The node the pod names.
    NodeName,
    /// Cordoned nodes.
    NodeUnschedulable,
    /// Taints and tolerations.
    TaintToleration,
    /// Node selector and required node affinity.
    NodeAffinity,
    /// Host ports.
    NodePorts,
    /// Requests against what is free.
    NodeResourcesFit,
    /// Disks and claims that pods cannot share.
    VolumeRestrictions,
    /// How many volumes a node can attach.
    NodeVolumeLimits,
    /// Claims and the volumes they have or can get.
    VolumeBinding,
    /// Zone and region labels of volumes.
    VolumeZone,
    /// Hard topology spread constraints.
    PodTopologySpread,
    /// Required pod affinity and anti-affinity.
    InterPodAffinity,
    /// Claims to devices.
    DynamicResources,
    /// Features that a node declares.
    NodeDeclaredFeatures,
    /// What the pods of a namespace may take together.
    ResourceQuota,
    /// How many instances a workload may have at a time.
    InstanceLimit,
}

impl Rule {
    /// Every rule, in order.
    pub const ALL: [Self; 16] = [
        Self::NodeName,
        Self::NodeUnschedulable,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::VolumeRestrictions,
        Self::NodeVolumeLimits,
        Self::VolumeBinding,
        Self::VolumeZone,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
        Self::DynamicResources,
        Self::NodeDeclaredFeatures,
        Self::ResourceQuota,
        Self::InstanceLimit,
    ];

    /// The rules that look at the pod and the node alone.
    pub const STATIC: [Self; 8] = [
        Self::NodeName,
        Self::NodeUnschedulable,
        Self::TaintToleration,
        Self::NodeAffinity,
        Self::VolumeBinding,
        Self::VolumeZone,
        Self::DynamicResources,
        Self::NodeDeclaredFeatures,
    ];

    /// The others, which look at what runs.
    pub const DYNAMIC: [Self; 8] = [
        Self::NodePorts,
        Self::NodeResourcesFit,
        Self::VolumeRestrictions,
        Self::NodeVolumeLimits,
        Self::PodTopologySpread,
        Self::InterPodAffinity,
        Self::ResourceQuota,
        Self::InstanceLimit,
    ];

    /// Its name: kube-scheduler's plugin, or that of the API server's admission, where there is one.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeName => "NodeName",
            Self::NodeUnschedulable => "NodeUnschedulable",
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodePorts => "NodePorts",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::VolumeRestrictions => "VolumeRestrictions",
            Self::NodeVolumeLimits => "NodeVolumeLimits",
            Self::VolumeBinding => "VolumeBinding",
            Self::VolumeZone => "VolumeZone",
            Self::PodTopologySpread => "PodTopologySpread",
            Self::InterPodAffinity => "InterPodAffinity",
            Self::DynamicResources => "DynamicResources",
            Self::NodeDeclaredFeatures => "NodeDeclaredFeatures",
            Self::ResourceQuota => "ResourceQuota",
            Self::InstanceLimit => "InstanceLimit",
        }
    }

    /// Whether it is a filter of the scheduler, which a profile may switch off.
    pub fn is_filter(self) -> bool {
        !matches!(self, Self::ResourceQuota | Self::InstanceLimit)
    }
}
