//! Well-known words: what pseudonyms leave as it is, since it is Kubernetes' and names nothing of the user's.

use podreach_core::rule::Rule;

use super::{Role, Shape};
use crate::lower::node::{features, transient};
use crate::lower::object::kind::Kind;
use crate::lower::pod::security::{SAFE_SYSCTLS, USUAL_CAPABILITIES};
use crate::lower::pool;
use crate::lower::resources::quantity::Quantity;
use crate::lower::scheduler::profile::OWN;

/// Words of the API; case does not count.
const WORDS: &[&str] = &[
    "",
    "*",
    "*/*",
    "*/binding",
    "Active",
    "ALL",
    "Allow",
    "Always",
    "Audit",
    "Auto",
    "Available",
    "BestEffort",
    "bindings",
    "Block",
    "Bound",
    "Cluster",
    "CONNECT",
    "Container",
    "container_engine_t",
    "container_init_t",
    "container_kvm_t",
    "container_t",
    "CREATE",
    "CrossNamespacePodAffinity",
    "Default",
    "DELETE",
    "Deny",
    "DoesNotExist",
    "DoNotSchedule",
    "dryrun",
    "Enforce",
    "Equal",
    "error",
    "Exists",
    "Failed",
    "false",
    "Filesystem",
    "Forbid",
    "Gt",
    "Gte",
    "Honor",
    "Ignore",
    "Immediate",
    "In",
    "Indexed",
    "Initial",
    "InPlaceOrRecreate",
    "kube-scheduler",
    "linux",
    "List",
    "Localhost",
    "Lost",
    "Lt",
    "Lte",
    "metadata.name",
    "Namespaced",
    "Never",
    "NoExecute",
    "NonIndexed",
    "NoSchedule",
    "NotBestEffort",
    "note",
    "NotIn",
    "NotTerminating",
    "Off",
    "OnDelete",
    "OnFailure",
    "OnInitialization",
    "OrderedReady",
    "paper",
    "Parallel",
    "Pending",
    "PersistentVolumeClaim",
    "Pod",
    "pods",
    "pods/*",
    "pods/binding",
    "PreferNoSchedule",
    "PriorityClass",
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
    "Recreate",
    "Released",
    "Replace",
    "RestartAllContainers",
    "Retain",
    "RollingUpdate",
    "Running",
    "RuntimeDefault",
    "ScheduleAnyway",
    "scoped",
    "SCTP",
    "Succeeded",
    "System",
    "TCP",
    "Terminating",
    "true",
    "UDP",
    "Unconfined",
    "Unknown",
    "Unmasked",
    "UPDATE",
    "v1",
    "verticalpodautoscalers.autoscaling.k8s.io",
    "VolumeAttributesClass",
    "WaitForFirstConsumer",
    "warn",
    "warning",
    "windows",
];

/// Keys of labels and taints that Kubernetes, its controllers or well-known autoscalers give a meaning.
const KEYS: &[&str] = &[
    "",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "cloud.google.com/gke-nodepool",
    "controller-revision-hash",
    "controller-uid",
    "eks.amazonaws.com/nodegroup",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "job-name",
    "karpenter.sh/capacity-type",
    "karpenter.sh/initialized",
    "karpenter.sh/nodepool",
    "karpenter.sh/registered",
    "kubernetes.azure.com/agentpool",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/metadata.name",
    "kubernetes.io/os",
    "kueue.x-k8s.io/queue-name",
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "pod-security.kubernetes.io/enforce",
    "pod-security.kubernetes.io/enforce-version",
    "pod-template-generation",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Domains in which keys and resources have rules of their own, the longest of each family first.
const DOMAINS: [&str; 19] = [
    "aws-node-termination-handler",
    "eks.amazonaws.com",
    "karpenter.azure.com",
    "karpenter.k8s.aws",
    "karpenter.k8s.gcp",
    "karpenter.kwok.sh",
    "karpenter.sh",
    "ignore-taint.cluster-autoscaler.kubernetes.io",
    "startup-taint.cluster-autoscaler.kubernetes.io",
    "status-taint.cluster-autoscaler.kubernetes.io",
    "node-restriction.kubernetes.io",
    "node-role.kubernetes.io",
    "node.cluster.x-k8s.io",
    "pod-security.kubernetes.io",
    "kubelet.kubernetes.io",
    "node.kubernetes.io",
    "readiness.k8s.io",
    "kubernetes.io",
    "k8s.io",
];

/// Provisioners that are part of Kubernetes.
const IN_TREE: [&str; 9] = [
    "kubernetes.io/aws-ebs",
    "kubernetes.io/azure-disk",
    "kubernetes.io/azure-file",
    "kubernetes.io/cinder",
    "kubernetes.io/gce-pd",
    "kubernetes.io/no-provisioner",
    "kubernetes.io/portworx-volume",
    "kubernetes.io/rbd",
    "kubernetes.io/vsphere-volume",
];

/// Whether a word has a meaning of its own.
pub fn is_word(text: &str) -> bool {
    let known = WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    known || is_plugin(text) || is_setting(text) || features::is_known(text) || Kind::called(text).is_some()
}

fn is_plugin(text: &str) -> bool {
    Rule::ALL.iter().any(|rule| rule.name() == text) || OWN.contains(&text)
}

fn is_setting(text: &str) -> bool {
    SAFE_SYSCTLS.iter().any(|(name, _)| *name == text) || USUAL_CAPABILITIES.contains(&text)
}

/// Whether a text stands for a number: an amount, a percentage, a flag.
pub fn is_number(text: &str) -> bool {
    let amount = text.strip_suffix('%').unwrap_or(text).trim();
    matches!(text, "true" | "false") || Quantity::parse(amount).is_ok()
}

/// Whether a kind as policy engines write it stands for pods.
pub fn is_pod_kind(text: &str) -> bool {
    crate::lower::admission::engine::is_pod(text)
}

/// Whether the key of a label or taint has a meaning of its own.
pub fn known_key(key: &str) -> bool {
    KEYS.contains(&key) || transient::is_named(key)
}

/// The part of a domain that has rules of its own.
pub fn known_domain(domain: &str) -> Option<&'static str> {
    DOMAINS
        .into_iter()
        .find(|suffix| domain.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The domain of the key of a taint that passes by what it ends with, and that end.
pub fn passing_key(key: &str) -> Option<(&str, &'static str)> {
    Some((key.strip_suffix(transient::STARTING)?, transient::STARTING))
}

/// Whether keys of a domain may be on a node that a pool brings though nothing says so.
pub fn is_of_platform(domain: &str) -> bool {
    pool::is_platform_domain(domain)
}

/// Whether a resource is Kubernetes' own.
pub fn known_resource(name: &str) -> bool {
    let page = name.strip_prefix("hugepages-").is_some_and(is_number);
    page || matches!(name, "cpu" | "memory" | "ephemeral-storage" | "pods" | "storage")
}

/// Whether a provisioner is part of Kubernetes.
pub fn known_driver(name: &str) -> bool {
    name.is_empty() || IN_TREE.contains(&name)
}

/// The annotations that are looked at, and what they say. Those that end in `/` or `-` go on with a name.
const ANNOTATIONS: &[(&str, Shape)] = &[
    ("capacity.cluster-autoscaler.kubernetes.io/cpu", Shape::Leaf(Role::Number)),
    ("capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk", Shape::Leaf(Role::Number)),
    ("capacity.cluster-autoscaler.kubernetes.io/gpu-count", Shape::Leaf(Role::Number)),
    ("capacity.cluster-autoscaler.kubernetes.io/gpu-type", Shape::Leaf(Role::Resource)),
    ("capacity.cluster-autoscaler.kubernetes.io/labels", Shape::Leaf(Role::LabelList)),
    ("capacity.cluster-autoscaler.kubernetes.io/maxPods", Shape::Leaf(Role::Number)),
    ("capacity.cluster-autoscaler.kubernetes.io/memory", Shape::Leaf(Role::Number)),
    ("cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size", Shape::Leaf(Role::Number)),
    ("cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size", Shape::Leaf(Role::Number)),
    ("cluster.x-k8s.io/cluster-name", Shape::Leaf(Role::Name)),
    ("cluster.x-k8s.io/cluster-namespace", Shape::Leaf(Role::Namespace)),
    ("cluster.x-k8s.io/owner-kind", Shape::Leaf(Role::Kind)),
    ("cluster.x-k8s.io/owner-name", Shape::Leaf(Role::Name)),
    ("cluster.x-k8s.io/replicas-managed-by", Shape::Bare),
    ("container.apparmor.security.beta.kubernetes.io/", Shape::Leaf(Role::Word)),
    ("container.seccomp.security.alpha.kubernetes.io/", Shape::Leaf(Role::Word)),
    ("deployment.kubernetes.io/revision", Shape::Leaf(Role::Number)),
    ("kubernetes.io/config.mirror", Shape::Bare),
    ("podreach.dev/ignore-", Shape::Leaf(Role::Prose)),
    ("podreach.dev/template", Shape::Leaf(Role::Number)),
    ("pv.kubernetes.io/bind-completed", Shape::Bare),
    ("scheduler.alpha.kubernetes.io/defaultTolerations", Shape::Bare),
    ("scheduler.alpha.kubernetes.io/node-selector", Shape::Bare),
    ("scheduler.alpha.kubernetes.io/tolerationsWhitelist", Shape::Bare),
    ("seccomp.security.alpha.kubernetes.io/pod", Shape::Leaf(Role::Word)),
    ("storage.alpha.kubernetes.io/migrated-plugins", Shape::Leaf(Role::Driver)),
    ("storageclass.beta.kubernetes.io/is-default-class", Shape::Leaf(Role::Word)),
    ("storageclass.kubernetes.io/is-default-class", Shape::Leaf(Role::Word)),
    ("volume.beta.kubernetes.io/storage-class", Shape::Leaf(Role::Name)),
    ("volume.kubernetes.io/selected-node", Shape::Leaf(Role::Node)),
];

/// What is looked at of an annotation: the part of its key that is fixed, and what its value says.
pub fn annotation(key: &str) -> Option<(&'static str, Shape)> {
    let mut known = ANNOTATIONS.iter().copied();
    known.find(|(name, _)| if name.ends_with(['/', '-']) { key.starts_with(name) } else { key == *name })
}
