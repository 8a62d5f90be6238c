//! Every field of the objects we read, and what it has to do with hard placement.
//!
//! A field is *modelled* when its content becomes part of the cluster, *irrelevant* when neither a filter of the scheduler nor
//! admission by default looks at it, and
//! *spoiling* when some filter does but we do not: its use becomes a diagnostic. A field in no list is an error, as it is for
//! `kubectl apply --validate=strict`; nothing is dropped because we did not know it. Lists follow the published API of 1.33 to 1.37.

/// The fields of one kind of object.
#[derive(Debug)]
pub struct Table {
    /// Its name in the API.
    pub name: &'static str,
    /// Fields whose content is read.
    pub modelled: &'static [&'static str],
    /// Fields that some filter looks at and we do not.
    pub spoiling: &'static [&'static str],
    /// Fields that no filter looks at; their content is not looked at here either.
    pub irrelevant: &'static [&'static str],
    /// Whether other fields are let through: parts that controllers write and users do not.
    pub open: bool,
}

impl Table {
    /// Whether the table lists a field.
    pub fn knows(&self, field: &str) -> bool {
        [self.modelled, self.spoiling, self.irrelevant].iter().any(|fields| fields.contains(&field))
    }

    /// All fields, in no particular order.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + '_ {
        [self.modelled, self.spoiling, self.irrelevant].into_iter().flatten().copied()
    }
}

macro_rules! tables {
    ($($id:ident $name:literal { modelled: [$($m:literal),*], spoiling: [$($s:literal),*], irrelevant: [$($i:literal),*] $(, $open:ident)? })*) => {
        $(
            #[doc = concat!("The fields of `", $name, "`.")]
            pub static $id: Table = Table {
                name: $name,
                modelled: &[$($m),*],
                spoiling: &[$($s),*],
                irrelevant: &[$($i),*],
                open: tables!(@open $($open)?),
            };
        )*
        /// Every table, for audits against a published schema.
        pub static ALL: &[&Table] = &[$(&$id),*];
    };
    (@open open) => { true };
    (@open) => { false };
}

mod admission;
mod pools;
mod storage;

pub use admission::{
    APP_ARMOR_PROFILE, CAPABILITIES, HTTP_GET_ACTION, LIFECYCLE, LIFECYCLE_HANDLER, POD_OS, POD_SECURITY_CONTEXT,
    PROBE, SE_LINUX_OPTIONS, SECCOMP_PROFILE, SECURITY_CONTEXT, SYSCTL, TCP_SOCKET_ACTION, WINDOWS_OPTIONS,
};
pub use pools::{
    INSTANCE_TYPE, INSTANCE_TYPES_SPEC, KARPENTER_CLAIM_SPEC, KARPENTER_CLAIM_STATUS, KARPENTER_CLASS_REFERENCE,
    KARPENTER_NODE_POOL_SPEC, KARPENTER_TEMPLATE, KARPENTER_TEMPLATE_SPEC, NODE_POOL_SPEC, OFFERING, POOL_REQUIREMENT,
    TEMPLATE_META,
};
pub use storage::{
    ALLOCATED_DEVICE, ALLOCATED_DEVICES, ALLOCATION, AWS_DISK, CAPACITY_OBJECT, CLAIM_REFERENCE, CLAIM_RESOURCES,
    CLAIM_SOURCE, CLAIM_SPEC, CLAIM_STATUS, CLAIM_TEMPLATE, CLAIM_TEMPLATE_OBJECT, CLASS_OBJECT, CSI_DRIVER_SPEC,
    CSI_NODE_DRIVER, CSI_NODE_SPEC, CSI_SOURCE, DEVICE_CLAIM_STATUS, DRIVER_LIMIT, EPHEMERAL_SOURCE, GCE_DISK,
    ISCSI_DISK, POD_DEVICE_CLAIM, RBD_DISK, TOPOLOGY_REQUIREMENT, TOPOLOGY_TERM, VOLUME_ATTACHMENT_SOURCE,
    VOLUME_ATTACHMENT_SPEC, VOLUME_NODE_AFFINITY, VOLUME_SPEC, VOLUME_STATUS,
};

/// Every table, of storage, devices, admission and pools too.
pub fn all() -> impl Iterator<Item = &'static Table> {
    ALL.iter().chain(storage::ALL).chain(admission::ALL).chain(pools::ALL).copied()
}

tables! {
    // Objects.
    OBJECT_META "ObjectMeta" {
        modelled: ["annotations", "creationTimestamp", "deletionTimestamp", "generateName", "labels", "name", "namespace",
            "ownerReferences", "uid"],
        spoiling: [],
        irrelevant: ["deletionGracePeriodSeconds", "finalizers", "generation", "managedFields",
            "resourceVersion", "selfLink"]
    }
    OWNER_REFERENCE "OwnerReference" {
        modelled: ["apiVersion", "controller", "kind", "name", "uid"],
        spoiling: [],
        irrelevant: ["blockOwnerDeletion"]
    }
    OBJECT "object" {
        modelled: ["apiVersion", "kind", "metadata", "spec", "status"],
        spoiling: [],
        irrelevant: []
    }
    TEMPLATE_OBJECT "PodTemplate" {
        modelled: ["apiVersion", "kind", "metadata", "template"],
        spoiling: [],
        irrelevant: []
    }
    LIST "List" {
        modelled: ["apiVersion", "items", "kind"],
        spoiling: [],
        irrelevant: ["metadata"]
    }

    // Nodes.
    NODE_SPEC "NodeSpec" {
        modelled: ["taints", "unschedulable"],
        spoiling: [],
        irrelevant: ["configSource", "externalID", "podCIDR", "podCIDRs", "podPreemptionPolicy", "providerID"]
    }
    NODE_STATUS "NodeStatus" {
        modelled: ["allocatable", "capacity", "declaredFeatures"],
        spoiling: [],
        irrelevant: ["addresses", "conditions", "config", "daemonEndpoints", "features", "images", "nodeInfo",
            "phase", "runtimeHandlers", "volumesAttached", "volumesInUse"],
        open
    }
    TAINT "Taint" {
        modelled: ["effect", "key", "value"],
        spoiling: [],
        irrelevant: ["timeAdded"]
    }

    // Pods.
    POD_TEMPLATE_SPEC "PodTemplateSpec" {
        modelled: ["metadata", "spec"],
        spoiling: [],
        irrelevant: []
    }
    POD_SPEC "PodSpec" {
        modelled: ["activeDeadlineSeconds", "affinity", "containers", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "initContainers",
            "nodeName", "nodeSelector", "os", "overhead", "priorityClassName", "resources", "runtimeClassName", "schedulerName",
            "securityContext", "serviceAccount", "serviceAccountName", "tolerations", "topologySpreadConstraints", "volumes"],
        spoiling: ["resourceClaims", "schedulingGates", "schedulingGroup", "workloadRef"],
        irrelevant: ["automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks",
            "ephemeralContainers", "evictionResponders", "hostAliases", "hostname", "hostnameOverride", "imagePullSecrets",
            "preemptionPolicy", "priority", "readinessGates", "restartPolicy", "setHostnameAsFQDN", "shareProcessNamespace",
            "subdomain", "terminationGracePeriodSeconds"]
    }
    POD_STATUS "PodStatus" {
        modelled: ["phase"],
        spoiling: ["allocatedResources", "containerStatuses", "initContainerStatuses", "resources"],
        irrelevant: ["conditions", "ephemeralContainerStatuses", "extendedResourceClaimStatus", "hostIP",
            "hostIPs", "message", "nodeAllocatableResourceClaimStatuses", "nominatedNodeName",
            "observedGeneration", "podIP", "podIPs", "qosClass", "reason", "resize", "resourceClaimStatuses", "startTime",
            "volumeHealth"],
        open
    }
    CONTAINER "Container" {
        modelled: ["lifecycle", "livenessProbe", "name", "ports", "readinessProbe", "resources", "restartPolicy",
            "restartPolicyRules", "securityContext", "startupProbe", "volumeMounts"],
        spoiling: [],
        irrelevant: ["args", "command", "env", "envFrom", "image", "imagePullPolicy", "resizePolicy", "stdin", "stdinOnce",
            "terminationMessagePath", "terminationMessagePolicy", "tty", "volumeDevices", "workingDir"]
    }
    CONTAINER_RESTART_RULE "ContainerRestartRule" {
        modelled: [],
        spoiling: ["action"],
        irrelevant: ["exitCodes"]
    }
    VOLUME_MOUNT "VolumeMount" {
        modelled: [],
        spoiling: ["bindMountOptions"],
        irrelevant: ["mountPath", "mountPropagation", "name", "readOnly", "recursiveReadOnly", "subPath", "subPathExpr"]
    }
    CONTAINER_STATUS "ContainerStatus" {
        modelled: ["allocatedResources", "name", "resources"],
        spoiling: [],
        irrelevant: ["allocatedResourcesStatus", "containerID", "image", "imageID", "lastState", "ready",
            "restartCount", "started", "state", "stopSignal", "user", "volumeMounts"],
        open
    }
    RESOURCE_REQUIREMENTS "ResourceRequirements" {
        modelled: ["limits", "requests"],
        spoiling: [],
        irrelevant: ["claims"]
    }
    CONTAINER_PORT "ContainerPort" {
        modelled: ["containerPort", "hostIP", "hostPort", "protocol"],
        spoiling: [],
        irrelevant: ["name"]
    }
    TOLERATION "Toleration" {
        modelled: ["effect", "key", "operator", "value"],
        spoiling: [],
        irrelevant: ["tolerationSeconds"]
    }
    VOLUME "Volume" {
        modelled: ["awsElasticBlockStore", "ephemeral", "gcePersistentDisk", "iscsi", "name", "persistentVolumeClaim", "rbd"],
        spoiling: ["azureDisk", "azureFile", "cinder", "portworxVolume", "vsphereVolume"],
        irrelevant: ["cephfs", "configMap", "csi", "downwardAPI", "emptyDir", "fc", "flexVolume", "flocker", "gitRepo",
            "glusterfs", "hostPath", "image", "nfs", "photonPersistentDisk", "projected", "quobyte", "scaleIO", "secret",
            "storageos"]
    }

    // Affinity and spread.
    AFFINITY "Affinity" {
        modelled: ["nodeAffinity", "podAffinity", "podAntiAffinity"],
        spoiling: [],
        irrelevant: []
    }
    NODE_AFFINITY "NodeAffinity" {
        modelled: ["requiredDuringSchedulingIgnoredDuringExecution"],
        spoiling: [],
        irrelevant: ["preferredDuringSchedulingIgnoredDuringExecution"]
    }
    POD_AFFINITY "PodAffinity" {
        modelled: ["requiredDuringSchedulingIgnoredDuringExecution"],
        spoiling: [],
        irrelevant: ["preferredDuringSchedulingIgnoredDuringExecution"]
    }
    NODE_SELECTOR "NodeSelector" {
        modelled: ["nodeSelectorTerms"],
        spoiling: [],
        irrelevant: []
    }
    NODE_SELECTOR_TERM "NodeSelectorTerm" {
        modelled: ["matchExpressions", "matchFields"],
        spoiling: [],
        irrelevant: []
    }
    REQUIREMENT "selector requirement" {
        modelled: ["key", "operator", "values"],
        spoiling: [],
        irrelevant: []
    }
    POD_AFFINITY_TERM "PodAffinityTerm" {
        modelled: ["labelSelector", "matchLabelKeys", "mismatchLabelKeys", "namespaceSelector", "namespaces", "topologyKey"],
        spoiling: [],
        irrelevant: []
    }
    LABEL_SELECTOR "LabelSelector" {
        modelled: ["matchExpressions", "matchLabels"],
        spoiling: [],
        irrelevant: []
    }
    SPREAD_CONSTRAINT "TopologySpreadConstraint" {
        modelled: ["labelSelector", "matchLabelKeys", "maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy", "topologyKey",
            "whenUnsatisfiable"],
        spoiling: [],
        irrelevant: []
    }

    // Workloads.
    DEPLOYMENT_SPEC "DeploymentSpec" {
        modelled: ["replicas", "strategy", "template"],
        spoiling: [],
        irrelevant: ["minReadySeconds", "paused", "progressDeadlineSeconds", "revisionHistoryLimit", "selector"]
    }
    DEPLOYMENT_STRATEGY "DeploymentStrategy" {
        modelled: ["rollingUpdate", "type"],
        spoiling: [],
        irrelevant: []
    }
    ROLLING_UPDATE "rolling update" {
        modelled: ["maxSurge", "maxUnavailable"],
        spoiling: [],
        irrelevant: ["partition"]
    }
    REPLICA_SET_SPEC "ReplicaSetSpec" {
        modelled: ["replicas", "template"],
        spoiling: [],
        irrelevant: ["minReadySeconds", "selector"]
    }
    STATEFUL_SET_SPEC "StatefulSetSpec" {
        modelled: ["ordinals", "persistentVolumeClaimRetentionPolicy", "podManagementPolicy", "replicas", "template", "volumeClaimTemplates"],
        spoiling: [],
        irrelevant: ["minReadySeconds", "revisionHistoryLimit", "selector", "serviceName", "updateStrategy"]
    }
    CLAIM_RETENTION "StatefulSetPersistentVolumeClaimRetentionPolicy" {
        modelled: ["whenDeleted", "whenScaled"],
        spoiling: [],
        irrelevant: []
    }
    ORDINALS "StatefulSetOrdinals" {
        modelled: ["start"],
        spoiling: [],
        irrelevant: []
    }
    DAEMON_SET_SPEC "DaemonSetSpec" {
        modelled: ["template", "updateStrategy"],
        spoiling: [],
        irrelevant: ["minReadySeconds", "revisionHistoryLimit", "selector", "templateGeneration"]
    }
    JOB_SPEC "JobSpec" {
        modelled: ["completionMode", "completions", "manualSelector", "parallelism", "podFailurePolicy", "podReplacementPolicy",
            "suspend", "template"],
        spoiling: ["scheduling"],
        irrelevant: ["activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "managedBy",
            "maxFailedIndexes", "selector", "successPolicy", "ttlSecondsAfterFinished"]
    }
    CRON_JOB_SPEC "CronJobSpec" {
        modelled: ["concurrencyPolicy", "jobTemplate", "suspend"],
        spoiling: [],
        irrelevant: ["failedJobsHistoryLimit", "schedule", "startingDeadlineSeconds", "successfulJobsHistoryLimit",
            "timeZone"]
    }
    JOB_TEMPLATE_SPEC "JobTemplateSpec" {
        modelled: ["spec"],
        spoiling: [],
        irrelevant: ["metadata"]
    }
    AUTOSCALER_SPEC "HorizontalPodAutoscalerSpec" {
        modelled: ["maxReplicas", "minReplicas", "scaleTargetRef"],
        spoiling: [],
        irrelevant: ["behavior", "metrics", "targetCPUUtilizationPercentage"]
    }
    SCALE_TARGET "CrossVersionObjectReference" {
        modelled: ["apiVersion", "kind", "name"],
        spoiling: [],
        irrelevant: []
    }

    // What changes pods on their way in.
    LIMIT_RANGE_SPEC "LimitRangeSpec" {
        modelled: ["limits"],
        spoiling: [],
        irrelevant: []
    }
    LIMIT_RANGE_ITEM "LimitRangeItem" {
        modelled: ["default", "defaultRequest", "max", "maxLimitRequestRatio", "min", "type"],
        spoiling: [],
        irrelevant: []
    }
    RESOURCE_QUOTA_SPEC "ResourceQuotaSpec" {
        modelled: ["hard", "scopeSelector", "scopes"],
        spoiling: [],
        irrelevant: []
    }
    SCOPE_SELECTOR "ScopeSelector" {
        modelled: ["matchExpressions"],
        spoiling: [],
        irrelevant: []
    }
    SCOPE_REQUIREMENT "ScopedResourceSelectorRequirement" {
        modelled: ["scopeName"],
        spoiling: ["operator", "values"],
        irrelevant: []
    }
    RUNTIME_CLASS "RuntimeClass" {
        modelled: ["apiVersion", "kind", "metadata", "overhead", "scheduling"],
        spoiling: [],
        irrelevant: ["handler"]
    }
    RUNTIME_OVERHEAD "Overhead" {
        modelled: ["podFixed"],
        spoiling: [],
        irrelevant: []
    }
    RUNTIME_SCHEDULING "Scheduling" {
        modelled: ["nodeSelector", "tolerations"],
        spoiling: [],
        irrelevant: []
    }

    // The scheduler's configuration.
    SCHEDULER_CONFIGURATION "KubeSchedulerConfiguration" {
        modelled: ["apiVersion", "extenders", "kind", "profiles"],
        spoiling: [],
        irrelevant: ["clientConnection", "delayCacheUntilActive", "enableContentionProfiling", "enableProfiling", "healthzBindAddress",
            "leaderElection", "metricsBindAddress", "parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds",
            "podMaxBackoffSeconds"]
    }
    SCHEDULER_PROFILE "KubeSchedulerProfile" {
        modelled: ["pluginConfig", "plugins", "schedulerName"],
        spoiling: [],
        irrelevant: ["percentageOfNodesToScore"]
    }
    PLUGINS "Plugins" {
        modelled: ["filter", "multiPoint", "permit", "preBind", "preEnqueue", "preFilter", "reserve"],
        spoiling: [],
        irrelevant: ["bind", "placementGenerate", "placementScore", "podGroupPostFilter", "postBind", "postFilter", "preScore",
            "queueSort", "score"]
    }
    PLUGIN_SET "PluginSet" {
        modelled: ["disabled", "enabled"],
        spoiling: [],
        irrelevant: []
    }
    PLUGIN "Plugin" {
        modelled: ["name"],
        spoiling: [],
        irrelevant: ["weight"]
    }
    PLUGIN_CONFIG "PluginConfig" {
        modelled: ["args", "name"],
        spoiling: [],
        irrelevant: []
    }
    NODE_AFFINITY_ARGS "NodeAffinityArgs" {
        modelled: ["addedAffinity"],
        spoiling: [],
        irrelevant: ["apiVersion", "kind"]
    }
    FIT_ARGS "NodeResourcesFitArgs" {
        modelled: ["ignoredResourceGroups", "ignoredResources"],
        spoiling: [],
        irrelevant: ["apiVersion", "kind", "scoringStrategy"]
    }
    SPREAD_ARGS "PodTopologySpreadArgs" {
        modelled: ["defaultConstraints", "defaultingType"],
        spoiling: [],
        irrelevant: ["apiVersion", "kind"]
    }
    EXTENDER "Extender" {
        modelled: ["filterVerb", "managedResources"],
        spoiling: [],
        irrelevant: ["bindVerb", "enableHTTPS", "httpTimeout", "ignorable", "nodeCacheCapable", "preemptVerb", "prioritizeVerb",
            "tlsConfig", "urlPrefix", "weight"]
    }
    MANAGED_RESOURCE "ExtenderManagedResource" {
        modelled: ["ignoredByScheduler", "name"],
        spoiling: [],
        irrelevant: []
    }

    // What the device classes provide.
    DEVICE_CLASS_SPEC "DeviceClassSpec" {
        modelled: ["extendedResourceName"],
        spoiling: [],
        irrelevant: ["config", "selectors", "suitableNodes"],
        open
    }

    // Ours.
    QUESTION_SPEC "QuestionSpec" {
        modelled: ["goal", "semantics"],
        spoiling: [],
        irrelevant: []
    }
    QUESTION_GOAL "goal" {
        modelled: ["count", "node", "pod"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_SPEC "PlacementPolicySpec" {
        modelled: ["rules"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_RULE "a rule" {
        modelled: ["allowEmpty", "description", "name", "never", "neverTogether", "possible", "recoverable", "severity"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_NEVER "never" {
        modelled: ["nodes", "pods"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_NEVER_TOGETHER "neverTogether" {
        modelled: ["pods", "topologyKey"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_POSSIBLE "possible" {
        modelled: ["count", "nodes", "pods", "spreadOver"],
        spoiling: [],
        irrelevant: []
    }
    POLICY_RECOVERABLE "recoverable" {
        modelled: ["pods"],
        spoiling: [],
        irrelevant: []
    }
    POD_SELECTION "a selection of pods" {
        modelled: ["kinds", "matchExpressions", "matchLabels", "names", "namespaces"],
        spoiling: [],
        irrelevant: []
    }
    NODE_SELECTION "a selection of nodes" {
        modelled: ["matchExpressions", "matchLabels", "names"],
        spoiling: [],
        irrelevant: []
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_has_two_roles_and_lists_are_sorted() {
        for table in all() {
            let mut seen = std::collections::BTreeSet::new();
            assert!(table.fields().all(|field| seen.insert(field)), "{}", table.name);
            for list in [table.modelled, table.spoiling, table.irrelevant] {
                assert!(list.is_sorted(), "{} {list:?}", table.name);
            }
        }
    }
}
