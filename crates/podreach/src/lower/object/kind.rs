//! Which objects matter: by kind and API group.
//!
//! Three sorts are told apart: kinds we read; kinds of Kubernetes and of others (`custom.rs`) that cannot make pods, which are skipped
//! unseen, Secrets among them; and everything else, which may make pods that we cannot see, or do something else to pods.

use super::custom::{self, Does, does};
use super::nearest::nearest;
use crate::lower::admission::engine;

/// A kind of object that is read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `apps/v1` DaemonSet.
    DaemonSet,
    /// `batch/v1` Job.
    Job,
    /// `batch/v1` CronJob.
    CronJob,
    /// `v1` ReplicationController.
    ReplicationController,
    /// `v1` PodTemplate.
    PodTemplate,
    /// `v1` Pod.
    Pod,
    /// `v1` Node.
    Node,
    /// `v1` Namespace.
    Namespace,
    /// `autoscaling` HorizontalPodAutoscaler.
    HorizontalPodAutoscaler,
    /// `keda.sh` ScaledObject.
    ScaledObject,
    /// `v1` ServiceAccount.
    ServiceAccount,
    /// `scheduling.k8s.io` PriorityClass.
    PriorityClass,
    /// `admissionregistration.k8s.io` MutatingWebhookConfiguration.
    MutatingWebhook,
    /// `admissionregistration.k8s.io` ValidatingWebhookConfiguration.
    ValidatingWebhook,
    /// `admissionregistration.k8s.io` MutatingAdmissionPolicy.
    MutatingPolicy,
    /// `admissionregistration.k8s.io` MutatingAdmissionPolicyBinding.
    MutatingPolicyBinding,
    /// `admissionregistration.k8s.io` ValidatingAdmissionPolicy.
    ValidatingPolicy,
    /// `admissionregistration.k8s.io` ValidatingAdmissionPolicyBinding.
    ValidatingPolicyBinding,
    /// A rule of a policy engine: Kyverno or Gatekeeper.
    EngineRule,
    /// `v1` LimitRange.
    LimitRange,
    /// `v1` ResourceQuota.
    ResourceQuota,
    /// `node.k8s.io` RuntimeClass.
    RuntimeClass,
    /// `resource.k8s.io` DeviceClass.
    DeviceClass,
    /// `kubescheduler.config.k8s.io` KubeSchedulerConfiguration.
    SchedulerConfiguration,
    /// `resource.k8s.io` ResourceClaim.
    ResourceClaim,
    /// `v1` PersistentVolumeClaim.
    PersistentVolumeClaim,
    /// `v1` PersistentVolume.
    PersistentVolume,
    /// `storage.k8s.io` StorageClass.
    StorageClass,
    /// `storage.k8s.io` CSINode.
    CSINode,
    /// `storage.k8s.io` CSIDriver.
    CSIDriver,
    /// `storage.k8s.io` CSIStorageCapacity.
    CSIStorageCapacity,
    /// `storage.k8s.io` VolumeAttachment.
    VolumeAttachment,
    /// `podreach.dev/v1alpha1` Snapshot: the first document of what was read from a live cluster.
    Snapshot,
    /// `podreach.dev/v1alpha1` Question.
    Question,
    /// `podreach.dev/v1alpha1` PlacementPolicy.
    PlacementPolicy,
    /// `podreach.dev/v1alpha1` NodePool.
    NodePool,
    /// `karpenter.sh` NodePool.
    KarpenterNodePool,
    /// `karpenter.sh` NodeClaim.
    NodeClaim,
    /// `cluster.x-k8s.io` MachineDeployment.
    MachineDeployment,
    /// `cluster.x-k8s.io` MachineSet.
    MachineSet,
    /// `cluster.x-k8s.io` MachinePool.
    MachinePool,
    /// `bootstrap.cluster.x-k8s.io` KubeadmConfig.
    KubeadmConfig,
    /// `bootstrap.cluster.x-k8s.io` KubeadmConfigTemplate.
    KubeadmConfigTemplate,
    /// `podreach.dev/v1alpha1` InstanceTypes: a catalogue of what nodes of Karpenter's pools can be.
    InstanceTypes,
}

const REGISTRATION: &str = "admissionregistration.k8s.io";

/// Groups of policy engines, whose objects change or refuse pods.
const ENGINES: [&str; 4] =
    ["kyverno.io", "policies.kyverno.io", "constraints.gatekeeper.sh", "mutations.gatekeeper.sh"];

/// The groups of Cluster API.
const MACHINES: &str = "cluster.x-k8s.io";
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";

/// Kind, name, group, and the versions of it that are read.
const READ: &[(Kind, &str, &str, &[&str])] = &[
    (Kind::Deployment, "Deployment", "apps", &["v1"]),
    (Kind::ReplicaSet, "ReplicaSet", "apps", &["v1"]),
    (Kind::StatefulSet, "StatefulSet", "apps", &["v1"]),
    (Kind::DaemonSet, "DaemonSet", "apps", &["v1"]),
    (Kind::Job, "Job", "batch", &["v1"]),
    (Kind::CronJob, "CronJob", "batch", &["v1"]),
    (Kind::ReplicationController, "ReplicationController", "", &["v1"]),
    (Kind::PodTemplate, "PodTemplate", "", &["v1"]),
    (Kind::Pod, "Pod", "", &["v1"]),
    (Kind::Node, "Node", "", &["v1"]),
    (Kind::Namespace, "Namespace", "", &["v1"]),
    (Kind::HorizontalPodAutoscaler, "HorizontalPodAutoscaler", "autoscaling", &["v2", "v1", "v2beta2", "v2beta1"]),
    (Kind::ScaledObject, "ScaledObject", "keda.sh", &["v1alpha1"]),
    (Kind::ServiceAccount, "ServiceAccount", "", &["v1"]),
    (Kind::PriorityClass, "PriorityClass", "scheduling.k8s.io", &["v1", "v1beta1", "v1alpha1"]),
    (Kind::MutatingWebhook, "MutatingWebhookConfiguration", REGISTRATION, &["v1", "v1beta1"]),
    (Kind::ValidatingWebhook, "ValidatingWebhookConfiguration", REGISTRATION, &["v1", "v1beta1"]),
    (Kind::MutatingPolicy, "MutatingAdmissionPolicy", REGISTRATION, &["v1", "v1beta1", "v1alpha1"]),
    (Kind::MutatingPolicyBinding, "MutatingAdmissionPolicyBinding", REGISTRATION, &["v1", "v1beta1", "v1alpha1"]),
    (Kind::ValidatingPolicy, "ValidatingAdmissionPolicy", REGISTRATION, &["v1", "v1beta1", "v1alpha1"]),
    (Kind::ValidatingPolicyBinding, "ValidatingAdmissionPolicyBinding", REGISTRATION, &["v1", "v1beta1", "v1alpha1"]),
    (Kind::LimitRange, "LimitRange", "", &["v1"]),
    (Kind::ResourceQuota, "ResourceQuota", "", &["v1"]),
    (Kind::RuntimeClass, "RuntimeClass", "node.k8s.io", &["v1", "v1beta1"]),
    (Kind::SchedulerConfiguration, "KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", &["v1"]),
    (Kind::DeviceClass, "DeviceClass", "resource.k8s.io", &["v1", "v1beta2", "v1beta1", "v1alpha3"]),
    (Kind::ResourceClaim, "ResourceClaim", "resource.k8s.io", &["v1", "v1beta2", "v1beta1", "v1alpha3"]),
    (Kind::PersistentVolumeClaim, "PersistentVolumeClaim", "", &["v1"]),
    (Kind::PersistentVolume, "PersistentVolume", "", &["v1"]),
    (Kind::StorageClass, "StorageClass", "storage.k8s.io", &["v1", "v1beta1"]),
    (Kind::CSINode, "CSINode", "storage.k8s.io", &["v1", "v1beta1"]),
    (Kind::CSIDriver, "CSIDriver", "storage.k8s.io", &["v1", "v1beta1"]),
    (Kind::CSIStorageCapacity, "CSIStorageCapacity", "storage.k8s.io", &["v1", "v1beta1"]),
    (Kind::VolumeAttachment, "VolumeAttachment", "storage.k8s.io", &["v1", "v1beta1"]),
    (Kind::Snapshot, "Snapshot", "podreach.dev", &["v1alpha1"]),
    (Kind::Question, "Question", "podreach.dev", &["v1alpha1"]),
    (Kind::PlacementPolicy, "PlacementPolicy", "podreach.dev", &["v1alpha1"]),
    (Kind::NodePool, "NodePool", "podreach.dev", &["v1alpha1"]),
    (Kind::KarpenterNodePool, "NodePool", "karpenter.sh", &["v1", "v1beta1"]),
    (Kind::NodeClaim, "NodeClaim", "karpenter.sh", &["v1", "v1beta1"]),
    (Kind::MachineDeployment, "MachineDeployment", MACHINES, &["v1beta2", "v1beta1", "v1alpha4"]),
    (Kind::MachineSet, "MachineSet", MACHINES, &["v1beta2", "v1beta1", "v1alpha4"]),
    (Kind::MachinePool, "MachinePool", MACHINES, &["v1beta2", "v1beta1", "v1alpha4"]),
    (Kind::KubeadmConfig, "KubeadmConfig", BOOTSTRAP, &["v1beta2", "v1beta1", "v1alpha4"]),
    (Kind::KubeadmConfigTemplate, "KubeadmConfigTemplate", BOOTSTRAP, &["v1beta2", "v1beta1", "v1alpha4"]),
    (Kind::InstanceTypes, "InstanceTypes", "podreach.dev", &["v1alpha1"]),
];

/// Groups whose every kind is Kubernetes' own.
const BUILT_IN: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "metrics.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Kinds of Kubernetes that make no pods.
const WITHOUT_PODS: &[&str] = &[
    "APIService",
    "Binding",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ComponentStatus",
    "ConfigMap",
    "ControllerRevision",
    "CustomResourceDefinition",
    "DeviceTaintRule",
    "EndpointSlice",
    "Endpoints",
    "Event",
    "Eviction",
    "FlowSchema",
    "IPAddress",
    "Ingress",
    "IngressClass",
    "Lease",
    "LeaseCandidate",
    "LocalSubjectAccessReview",
    "NetworkPolicy",
    "NodeMetrics",
    "PodCertificateRequest",
    "PodDisruptionBudget",
    "PodMetrics",
    "PodSecurityPolicy",
    "PriorityLevelConfiguration",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "Role",
    "RoleBinding",
    "Scale",
    "Secret",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "Service",
    "ServiceCIDR",
    "Status",
    "StorageVersion",
    "StorageVersionMigration",
    "SubjectAccessReview",
    "TokenRequest",
    "TokenReview",
    "VolumeAttributesClass",
];

/// What an object is to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Read.
    Read(Kind),
    /// A list of objects.
    List,
    /// Makes no pods: skipped.
    WithoutPods,
    /// Of a kind we read, in a version that we do not; the versions that we do.
    OtherVersion(&'static str, String),
    /// Not a kind of Kubernetes, but nearly the one given.
    Misspelt(&'static str),
    /// A kind of Kubernetes' that we do not know.
    Unknown,
    /// Not Kubernetes' own, and what is done with it: never nothing.
    Custom(Does),
}

/// What an object with this apiVersion and kind is to us.
pub(crate) fn sort(api_version: &str, kind: &str) -> Sort {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let ours = READ.iter().find(|(_, name, own, _)| *name == kind && *own == group);
    if let Some((kind, name, group, versions)) = ours {
        let slash = if group.is_empty() { "" } else { "/" };
        return if versions.contains(&version) {
            Sort::Read(*kind)
        } else {
            Sort::OtherVersion(name, format!("{group}{slash}{}", versions[0]))
        };
    }
    if is_custom(group) {
        return custom(group, kind);
    }
    if kind.ends_with("List") {
        return Sort::List;
    }
    if let Some((_, name, group, versions)) = READ.iter().find(|(_, name, ..)| *name == kind) {
        let slash = if group.is_empty() { "" } else { "/" };
        return Sort::OtherVersion(name, format!("{group}{slash}{}", versions[0]));
    }
    built_in(kind)
}

/// The newest apiVersion and the kind of everything that is read.
#[cfg(test)]
pub(crate) fn all_read() -> impl Iterator<Item = (String, &'static str)> {
    let plain = READ.iter().map(|(_, kind, group, versions)| match *group {
        "" => (versions[0].to_owned(), *kind),
        group => (format!("{group}/{}", versions[0]), *kind),
    });
    plain.chain(ENGINES.iter().map(|group| (format!("{group}/v1"), "Policy")))
}

/// Whether a group is not Kubernetes' own.
pub fn is_custom(group: &str) -> bool {
    !BUILT_IN.contains(&group)
}

/// The name by which everyone knows an API group: its own, or that of its family, which starts with a dot.
pub fn known_group(group: &str) -> Option<&'static str> {
    let read = READ.iter().map(|(_, _, group, _)| *group);
    let mut own = BUILT_IN.iter().chain(&ENGINES).copied().chain(read);
    own.find(|name| *name == group).or_else(|| custom::listed(group))
}

/// Whether everyone knows kinds of this name, as Kubernetes or other projects have them.
pub fn is_listed_kind(kind: &str) -> bool {
    Kind::called(kind).is_some() || WITHOUT_PODS.contains(&kind) || engine::is_listed(kind) || custom::is_listed(kind)
}

fn custom(group: &str, kind: &str) -> Sort {
    if ENGINES.contains(&group) {
        return if kind.ends_with("List") { Sort::List } else { Sort::Read(Kind::EngineRule) };
    }
    if kind.strip_suffix("List").is_some_and(|item| is_read(group, item)) {
        return Sort::List;
    }
    match does(group, kind) {
        Does::Nothing => Sort::WithoutPods,
        other => Sort::Custom(other),
    }
}

/// Custom kinds that are read besides those of pools.
const OTHERS: [Kind; 2] = [Kind::ScaledObject, Kind::NodeClaim];

/// Whether objects of this group and kind are read that are neither Kubernetes' own nor documents of ours.
fn is_read(group: &str, kind: &str) -> bool {
    let mut listed = READ.iter().filter(|(own, ..)| own.is_of_pools() || own.is_of_machines() || OTHERS.contains(own));
    listed.any(|(_, name, of, _)| *name == kind && *of == group)
}

fn built_in(kind: &str) -> Sort {
    if WITHOUT_PODS.contains(&kind) {
        return Sort::WithoutPods;
    }
    match nearest(kind, READ.iter().map(|(_, name, ..)| *name)).first() {
        Some(meant) => Sort::Misspelt(meant),
        None => Sort::Unknown,
    }
}

/// The short names that kubectl knows kinds by.
const SHORT: &[(&str, Kind)] = &[
    ("cj", Kind::CronJob),
    ("deploy", Kind::Deployment),
    ("ds", Kind::DaemonSet),
    ("hpa", Kind::HorizontalPodAutoscaler),
    ("limits", Kind::LimitRange),
    ("no", Kind::Node),
    ("ns", Kind::Namespace),
    ("pc", Kind::PriorityClass),
    ("po", Kind::Pod),
    ("pv", Kind::PersistentVolume),
    ("pvc", Kind::PersistentVolumeClaim),
    ("quota", Kind::ResourceQuota),
    ("rc", Kind::ReplicationController),
    ("rs", Kind::ReplicaSet),
    ("sa", Kind::ServiceAccount),
    ("sc", Kind::StorageClass),
    ("sts", Kind::StatefulSet),
];

impl Kind {
    /// The kinds of objects that others refer to by name, so that it matters whether the input has all of them.
    pub const LOOKED_UP: [Self; 8] = [
        Self::ResourceClaim,
        Self::PersistentVolumeClaim,
        Self::PersistentVolume,
        Self::StorageClass,
        Self::CSINode,
        Self::CSIDriver,
        Self::PriorityClass,
        Self::ServiceAccount,
    ];

    /// The kind that kubectl understands by a name: `Deployment`, `deployments`, `deploy`, `deployment.apps`, `deployments.v1.apps`.
    pub fn called(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (short, group) = name.split_once('.').map_or((name.as_str(), None), |(short, group)| (short, Some(group)));
        let known = SHORT.iter().find(|(own, _)| *own == short).map(|(_, kind)| *kind);
        let kind = known.or_else(|| READ.iter().find(|(_, own, ..)| is_name_of(short, own)).map(|(kind, ..)| *kind))?;
        let (.., own, versions) = READ.iter().find(|(other, ..)| *other == kind)?;
        let fits = group.is_none_or(|group| {
            group == *own || versions.iter().any(|version| group == *version || group == format!("{version}.{own}"))
        });
        fits.then_some(kind)
    }

    /// Its name in manifests.
    pub fn name(self) -> &'static str {
        READ.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, ..)| name)
    }

    /// Whether objects of this kind describe where nodes come from.
    pub(crate) fn is_of_pools(self) -> bool {
        matches!(self, Self::NodePool | Self::KarpenterNodePool)
    }

    /// Whether objects of this kind are Cluster API's.
    pub(crate) fn is_of_machines(self) -> bool {
        let configs = [Self::KubeadmConfig, Self::KubeadmConfigTemplate];
        matches!(self, Self::MachineDeployment | Self::MachineSet | Self::MachinePool) || configs.contains(&self)
    }

    /// Whether pods refer to objects of this kind by name, so that it matters whether the input has all of them.
    pub fn is_looked_up(self) -> bool {
        Self::LOOKED_UP.contains(&self)
    }

    /// Whether objects of this kind, one that pods refer to by name, are in namespaces.
    pub(crate) fn is_namespaced(self) -> bool {
        matches!(self, Self::ResourceClaim | Self::PersistentVolumeClaim | Self::ServiceAccount)
    }

    /// The kind of that name, when it can own pods.
    pub(crate) fn of_owner(name: &str) -> Option<Self> {
        let owners = [
            Self::Deployment,
            Self::ReplicaSet,
            Self::StatefulSet,
            Self::DaemonSet,
            Self::Job,
            Self::CronJob,
            Self::ReplicationController,
        ];
        owners.into_iter().find(|kind| kind.name() == name)
    }
}

/// Whether a name, in lower case, is that of a kind, or its plural.
fn is_name_of(short: &str, own: &str) -> bool {
    let own = own.to_ascii_lowercase();
    let plural = if own.ends_with('s') { format!("{own}es") } else { format!("{own}s") };
    short == own || short == plural
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_group_too() {
        assert_eq!(sort("apps/v1", "Deployment"), Sort::Read(Kind::Deployment));
        assert_eq!(sort("example.com/v1", "Deployment"), Sort::Custom(Does::Unknown));
        assert_eq!(sort("extensions/v1beta1", "Deployment"), Sort::OtherVersion("Deployment", "apps/v1".to_owned()));
        assert_eq!(sort("v1", "Deployment"), Sort::OtherVersion("Deployment", "apps/v1".to_owned()));
        assert_eq!(sort("v2", "Pod"), Sort::OtherVersion("Pod", "v1".to_owned()));
    }

    #[test]
    fn kinds_are_called_as_kubectl_calls_them() {
        for name in ["deploy", "Deployment", "deployments", "deployment.apps", "deployments.v1.apps", "DEPLOY"] {
            assert_eq!(Kind::called(name), Some(Kind::Deployment), "{name}");
        }
        let short = ["po", "no", "sts", "ds", "rs", "rc", "cj", "pvc", "sc", "storageclasses"].map(Kind::called);
        assert!(short.iter().all(Option::is_some), "{short:?}");
        assert_eq!(["deployment.batch", "dep", "", "web"].map(Kind::called), [None; 4]);
    }

    #[test]
    fn secrets_are_skipped_and_custom_resources_are_not() {
        assert_eq!(sort("v1", "Secret"), Sort::WithoutPods);
        assert_eq!(sort("monitoring.coreos.com/v1", "ServiceMonitor"), Sort::WithoutPods);
        assert_eq!(sort("monitoring.coreos.com/v1", "Prometheus"), Sort::Custom(Does::Pods));
        assert_eq!(sort("v1", "Pood"), Sort::Misspelt("Pod"));
        assert_eq!(sort("v1", "Frobnication"), Sort::Unknown);
        assert_eq!((sort("v1", "List"), sort("apps/v1", "DeploymentList")), (Sort::List, Sort::List));
    }
}
