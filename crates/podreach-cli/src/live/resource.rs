//! What is read of a live cluster: every resource that can matter to a verdict, and what is in doubt where it may not be listed.
//!
//! This list is the only one. `deploy/rbac.yaml` grants just this, which a test sees to; Secrets and ConfigMaps are not in it.

/// A resource of the API.
#[derive(Debug)]
pub(crate) struct Resource {
    /// Its API group; empty for the core.
    pub(crate) group: &'static str,
    /// The versions that are read, the best first.
    pub(crate) versions: &'static [&'static str],
    /// Its name in paths and roles.
    pub(crate) plural: &'static str,
    /// Its kind.
    pub(crate) kind: &'static str,
    /// Whether its objects are in namespaces.
    pub(crate) namespaced: bool,
    /// What cannot be known without it.
    pub(crate) without: Without,
}

/// What cannot be known where a resource may not be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    /// Anything.
    Everything,
    /// What runs: such pods can be deleted, so a run stands, but they may help others or be kept.
    Running,
    /// What could be deployed besides: it may help others.
    Deployable,
    /// What lowering itself misses where it is needed.
    Nothing,
    /// What may change or refuse pods: there is then taken to be none, as where a file has none.
    Interceptors,
    /// Which nodes may come: there are then taken to be none but those that are there.
    Pools,
    /// Requests and refusals that admission adds to any pod.
    Admission,
    /// How many there may be, which matters only for `--instances declared`.
    Scale,
    /// Where the pods that use a feature may run.
    Users(Feature, Doubt),
}

/// What pods may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    /// Volumes that filters look at.
    Volumes,
    /// Devices by claim.
    Claims,
    /// Resources with a domain in their name, which device classes may stand behind.
    Extended,
    /// A runtime class.
    RuntimeClass,
}

/// In which direction the model may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It allows too much.
    OverApproximates,
    /// It allows too much or too little.
    Both,
}

const fn core(plural: &'static str, kind: &'static str, namespaced: bool, without: Without) -> Resource {
    Resource { group: "", versions: &["v1"], plural, kind, namespaced, without }
}

const fn of(
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
    namespaced: bool,
    without: Without,
) -> Resource {
    Resource { group, versions, plural, kind, namespaced, without }
}

const fn registered(versions: &'static [&'static str], plural: &'static str, kind: &'static str) -> Resource {
    of("admissionregistration.k8s.io", versions, plural, kind, false, Without::Interceptors)
}

const fn machines(plural: &'static str, kind: &'static str, without: Without) -> Resource {
    of("cluster.x-k8s.io", &["v1beta2", "v1beta1"], plural, kind, true, without)
}

const POLICIES: &[&str] = &["v1", "v1beta1", "v1alpha1"];
const STORAGE: Without = Without::Users(Feature::Volumes, Doubt::OverApproximates);
const DEVICES: Without = Without::Users(Feature::Claims, Doubt::OverApproximates);
const DRA: &[&str] = &["v1", "v1beta2", "v1beta1", "v1alpha3"];

/// Everything that is read, in this order: pods first, so that what owns them, and their nodes, are there when they are looked up.
pub(crate) static ALL: &[Resource] = &[
    core("pods", "Pod", true, Without::Running),
    core("nodes", "Node", false, Without::Everything),
    core("namespaces", "Namespace", false, Without::Nothing),
    of("apps", &["v1"], "replicasets", "ReplicaSet", true, Without::Deployable),
    of("apps", &["v1"], "deployments", "Deployment", true, Without::Deployable),
    of("apps", &["v1"], "statefulsets", "StatefulSet", true, Without::Deployable),
    of("apps", &["v1"], "daemonsets", "DaemonSet", true, Without::Deployable),
    of("batch", &["v1"], "jobs", "Job", true, Without::Deployable),
    of("batch", &["v1"], "cronjobs", "CronJob", true, Without::Deployable),
    core("replicationcontrollers", "ReplicationController", true, Without::Deployable),
    core("podtemplates", "PodTemplate", true, Without::Deployable),
    of("autoscaling", &["v2", "v1"], "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, Without::Scale),
    of("autoscaling.k8s.io", &["v1"], "verticalpodautoscalers", "VerticalPodAutoscaler", true, Without::Admission),
    core("limitranges", "LimitRange", true, Without::Admission),
    core("resourcequotas", "ResourceQuota", true, Without::Admission),
    of("scheduling.k8s.io", &["v1"], "priorityclasses", "PriorityClass", false, Without::Nothing),
    of(
        "node.k8s.io",
        &["v1"],
        "runtimeclasses",
        "RuntimeClass",
        false,
        Without::Users(Feature::RuntimeClass, Doubt::Both),
    ),
    of("karpenter.sh", &["v1", "v1beta1"], "nodepools", "NodePool", false, Without::Pools),
    of("karpenter.sh", &["v1", "v1beta1"], "nodeclaims", "NodeClaim", false, Without::Pools),
    machines("machinedeployments", "MachineDeployment", Without::Pools),
    machines("machinesets", "MachineSet", Without::Pools),
    machines("machinepools", "MachinePool", Without::Pools),
    of(
        "bootstrap.cluster.x-k8s.io",
        &["v1beta2", "v1beta1"],
        "kubeadmconfigtemplates",
        "KubeadmConfigTemplate",
        true,
        Without::Nothing,
    ),
    registered(&["v1"], "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    registered(&["v1"], "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    registered(POLICIES, "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    registered(POLICIES, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    registered(POLICIES, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    registered(POLICIES, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    core("persistentvolumeclaims", "PersistentVolumeClaim", true, STORAGE),
    core("persistentvolumes", "PersistentVolume", false, STORAGE),
    of("storage.k8s.io", &["v1"], "storageclasses", "StorageClass", false, STORAGE),
    of("storage.k8s.io", &["v1"], "csinodes", "CSINode", false, STORAGE),
    of("storage.k8s.io", &["v1"], "csidrivers", "CSIDriver", false, STORAGE),
    of("storage.k8s.io", &["v1"], "csistoragecapacities", "CSIStorageCapacity", true, STORAGE),
    of("storage.k8s.io", &["v1"], "volumeattachments", "VolumeAttachment", false, STORAGE),
    of("resource.k8s.io", DRA, "deviceclasses", "DeviceClass", false, Without::Users(Feature::Extended, Doubt::Both)),
    of("resource.k8s.io", DRA, "resourceclaims", "ResourceClaim", true, DEVICES),
    of("resource.k8s.io", DRA, "resourceclaimtemplates", "ResourceClaimTemplate", true, DEVICES),
    of("resource.k8s.io", DRA, "resourceslices", "ResourceSlice", false, DEVICES),
];

/// Whether a resource is among those that are read.
pub(crate) fn is_read(group: &str, plural: &str) -> bool {
    ALL.iter().any(|resource| resource.group == group && resource.plural == plural)
}

impl Resource {
    /// The apiVersion of its objects in a version.
    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// Its name for people and roles: `pods`, `deployments.apps`.
    pub(crate) fn name(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The path of its list, in one namespace or in all.
    pub(crate) fn path(&self, version: &str, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}/{version}", self.group) };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of the ClusterRole in a manifest, as `resource.group`: all of them may be listed, and nothing else may be done.
    fn granted(manifest: &str) -> Vec<String> {
        let mut found = Vec::new();
        for rule in manifest.split("- apiGroups:").skip(1) {
            let group = rule.split(['[', ']']).nth(1).expect("groups").trim_matches('"').to_owned();
            assert_eq!(list(rule, "verbs:"), ["list"], "{rule}");
            found.extend(list(rule, "resources:").into_iter().map(|plural| format!("{plural}.{group}")));
        }
        found.sort();
        found
    }

    fn list(rule: &str, key: &str) -> Vec<String> {
        let text = rule.split_once(key).expect(key).1;
        let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("a list").0;
        inside.split(',').map(|item| item.trim().trim_matches('"').to_owned()).collect()
    }

    #[test]
    fn the_role_grants_exactly_what_is_read() {
        let manifest: &str = include_str!("../../../../deploy/rbac.yaml");
        let mut read: Vec<String> = ALL.iter().map(|r| format!("{}.{}", r.plural, r.group)).collect();
        read.sort();
        assert_eq!(granted(manifest), read);
        assert!(!manifest.contains("secrets") && !manifest.contains("configmaps") && !manifest.contains('*'));
    }
}
