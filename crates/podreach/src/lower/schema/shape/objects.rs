//! The shapes of all kinds but pods and pools of nodes.

use super::Role::{
    Amounts, Domain, Driver, Hard, Key, Kind as KindName, KindPattern, Labels, Name, Namespace, Node, Number, Pod,
    Prose, Resource, Value, Version, Word,
};
use super::Shape::{self, Bare, Each, Fields, Leaf, Parts};
use super::pods::{
    CLAIM_SPEC, LABEL_SELECTOR, METADATA, METADATA_OF_CLASS, NODE_AFFINITY, NODE_SELECTOR, OWNERS, POD_SPEC,
    POD_STATUS, REQUIREMENTS, SPREADS, TEMPLATE, TOLERATIONS,
};
use super::pools;
use crate::lower::object::kind::Kind;
use crate::lower::schema::fields::{self, Table};

/// What is looked at of an object of a kind that is read.
pub(super) fn read(kind: Kind) -> Shape {
    match kind {
        Kind::Pod => Fields(&fields::OBJECT, &[V, K, M, ("spec", POD_SPEC), ("status", POD_STATUS)]),
        Kind::Node => Fields(&fields::OBJECT, &[V, K, M, ("spec", NODE_SPEC), ("status", NODE_STATUS)]),
        Kind::Namespace => Fields(&fields::OBJECT, &[V, K, M, ("status", Parts(&[("phase", Leaf(Word))]))]),
        Kind::Deployment => Fields(&fields::OBJECT, &[V, K, M, ("spec", DEPLOYMENT)]),
        Kind::ReplicaSet | Kind::ReplicationController => Fields(&fields::OBJECT, &[V, K, M, ("spec", REPLICA_SET)]),
        Kind::StatefulSet => Fields(&fields::OBJECT, &[V, K, M, ("spec", STATEFUL_SET)]),
        Kind::DaemonSet => Fields(&fields::OBJECT, &[V, K, M, ("spec", DAEMON_SET)]),
        Kind::Job => Fields(&fields::OBJECT, &[V, K, M, ("spec", JOB), ("status", JOB_STATUS)]),
        Kind::CronJob => Fields(&fields::OBJECT, &[V, K, M, ("spec", CRON_JOB)]),
        Kind::PodTemplate => Fields(&fields::TEMPLATE_OBJECT, &[V, K, M, ("template", TEMPLATE)]),
        Kind::HorizontalPodAutoscaler => Fields(&fields::OBJECT, &[V, K, M, ("spec", AUTOSCALER)]),
        Kind::ScaledObject => Parts(&[V, K, IDENTITY, ("spec", SCALED_OBJECT)]),
        Kind::PriorityClass => Parts(&[V, K, IDENTITY, ("globalDefault", Leaf(Number))]),
        Kind::ServiceAccount => NAMED,
        Kind::MutatingWebhook | Kind::ValidatingWebhook => Parts(&[V, K, M, ("webhooks", Each(&WEBHOOK))]),
        Kind::MutatingPolicy | Kind::ValidatingPolicy => {
            Parts(&[V, K, M, ("spec", Parts(&[("matchConstraints", CONSTRAINTS)]))])
        }
        Kind::MutatingPolicyBinding | Kind::ValidatingPolicyBinding => Parts(&[V, K, M, ("spec", BINDING)]),
        Kind::EngineRule => Parts(&[V, K, M, ("spec", ENGINE)]),
        Kind::LimitRange => Fields(&fields::OBJECT, &[V, K, M, ("spec", LIMIT_RANGE)]),
        Kind::ResourceQuota => Fields(&fields::OBJECT, &[V, K, M, ("spec", QUOTA)]),
        Kind::RuntimeClass => RUNTIME_CLASS,
        Kind::DeviceClass => Fields(&fields::OBJECT, &[V, K, M, ("spec", DEVICE_CLASS)]),
        Kind::ResourceClaim => Fields(&fields::OBJECT, &[V, K, M, ("status", DEVICE_CLAIM)]),
        _ => storage(kind),
    }
}

fn storage(kind: Kind) -> Shape {
    match kind {
        Kind::PersistentVolumeClaim => {
            Fields(&fields::OBJECT, &[V, K, M, ("spec", CLAIM_SPEC), ("status", CLAIM_STATUS)])
        }
        Kind::PersistentVolume => Fields(&fields::OBJECT, &[V, K, M, ("spec", VOLUME), ("status", VOLUME_STATUS)]),
        Kind::StorageClass => STORAGE_CLASS,
        Kind::CSINode => Fields(&fields::OBJECT, &[V, K, M, ("spec", CSI_NODE)]),
        Kind::CSIDriver => Fields(&fields::OBJECT, &[V, K, DRIVER_METADATA, ("spec", CSI_DRIVER)]),
        Kind::CSIStorageCapacity => CAPACITY,
        Kind::VolumeAttachment => Fields(&fields::OBJECT, &[V, K, M, ("spec", ATTACHMENT)]),
        Kind::SchedulerConfiguration => SCHEDULER,
        Kind::Snapshot => SNAPSHOT,
        Kind::Question => Fields(&fields::OBJECT, &[V, K, M, ("spec", QUESTION)]),
        Kind::PlacementPolicy => Fields(&fields::OBJECT, &[V, K, M, ("spec", POLICY), ("status", Bare)]),
        _ => pools::read(kind),
    }
}

pub(super) const V: (&str, Shape) = ("apiVersion", Leaf(Version));
pub(super) const K: (&str, Shape) = ("kind", Leaf(KindName));
pub(super) const M: (&str, Shape) = ("metadata", METADATA);
pub(super) const WORDS: Shape = Each(&Leaf(Word));

/// Who an object is, and nothing else.
const IDENTITY: (&str, Shape) =
    ("metadata", Parts(&[("name", Leaf(Name)), ("namespace", Leaf(Namespace)), ("ownerReferences", OWNERS)]));
pub(super) const NAMED: Shape = Parts(&[V, K, IDENTITY]);
/// What changes the requests of a workload: which one, and whether it does.
pub(super) const RESIZER: Shape = Parts(&[
    V,
    K,
    IDENTITY,
    (
        "spec",
        Parts(&[
            ("targetRef", Parts(&[("kind", Leaf(KindName)), ("name", Leaf(Name))])),
            ("updatePolicy", Parts(&[("updateMode", Leaf(Word))])),
        ]),
    ),
]);
/// What makes pods only where its fields say so.
pub(super) const ISSUER: Shape = Parts(&[V, K, IDENTITY, ("spec", Parts(&[("acme", Bare)]))]);
/// What applies manifests, and whether its controller has seen it.
pub(super) const APPLIER: Shape = Parts(&[V, K, IDENTITY, ("status", Bare)]);

// Nodes.
pub(super) const TAINT: Shape =
    Fields(&fields::TAINT, &[("effect", Leaf(Word)), ("key", Leaf(Key)), ("value", Leaf(Value))]);
const NODE_SPEC: Shape = Fields(&fields::NODE_SPEC, &[("taints", Each(&TAINT)), ("unschedulable", Leaf(Number))]);
/// The release of kubelets is that of the cluster, where nothing else says which it is.
const NODE_STATUS: Shape = Fields(
    &fields::NODE_STATUS,
    &[
        ("allocatable", Leaf(Amounts)),
        ("capacity", Leaf(Amounts)),
        ("declaredFeatures", WORDS),
        ("nodeInfo", Parts(&[("kubeletVersion", Leaf(Word))])),
    ],
);

// Workloads.
pub(super) const R: (&str, Shape) = ("replicas", Leaf(Number));
const T: (&str, Shape) = ("template", TEMPLATE);
const ROLLING: Shape = Fields(&fields::ROLLING_UPDATE, &[("maxSurge", Leaf(Number)), ("maxUnavailable", Leaf(Number))]);
const STRATEGY: Shape = Fields(&fields::DEPLOYMENT_STRATEGY, &[("rollingUpdate", ROLLING), ("type", Leaf(Word))]);
const DEPLOYMENT: Shape = Fields(&fields::DEPLOYMENT_SPEC, &[R, ("strategy", STRATEGY), T]);
const REPLICA_SET: Shape = Fields(&fields::REPLICA_SET_SPEC, &[R, T]);
const RETENTION: Shape = Fields(&fields::CLAIM_RETENTION, &[("whenDeleted", Leaf(Word)), ("whenScaled", Leaf(Word))]);
const CLAIM_METADATA: Shape = Fields(&fields::OBJECT_META, &[("name", Leaf(Name))]);
const CLAIM_TEMPLATE: Shape =
    Fields(&fields::CLAIM_TEMPLATE_OBJECT, &[("metadata", CLAIM_METADATA), ("spec", CLAIM_SPEC)]);
const STATEFUL_SET: Shape = Fields(
    &fields::STATEFUL_SET_SPEC,
    &[
        ("ordinals", Fields(&fields::ORDINALS, &[("start", Leaf(Number))])),
        ("persistentVolumeClaimRetentionPolicy", RETENTION),
        ("podManagementPolicy", Leaf(Word)),
        R,
        T,
        ("volumeClaimTemplates", Each(&CLAIM_TEMPLATE)),
    ],
);
const DAEMON_SET: Shape = Fields(&fields::DAEMON_SET_SPEC, &[T, ("updateStrategy", STRATEGY)]);
const JOB: Shape = Fields(
    &fields::JOB_SPEC,
    &[
        ("completionMode", Leaf(Word)),
        ("completions", Leaf(Number)),
        ("manualSelector", Leaf(Number)),
        ("parallelism", Leaf(Number)),
        ("podFailurePolicy", Bare),
        ("podReplacementPolicy", Leaf(Word)),
        ("scheduling", Bare),
        ("suspend", Leaf(Number)),
        T,
    ],
);
const JOB_STATUS: Shape = Parts(&[("conditions", Each(&Parts(&[("status", Leaf(Word)), ("type", Leaf(Word))])))]);
const CRON_JOB: Shape = Fields(
    &fields::CRON_JOB_SPEC,
    &[
        ("concurrencyPolicy", Leaf(Word)),
        ("jobTemplate", Fields(&fields::JOB_TEMPLATE_SPEC, &[("spec", JOB)])),
        ("suspend", Leaf(Number)),
    ],
);
const SCALE_TARGET: Shape = Fields(&fields::SCALE_TARGET, &[V, K, ("name", Leaf(Name))]);
const AUTOSCALER: Shape = Fields(
    &fields::AUTOSCALER_SPEC,
    &[("maxReplicas", Leaf(Number)), ("minReplicas", Leaf(Number)), ("scaleTargetRef", SCALE_TARGET)],
);
const SCALED_OBJECT: Shape = Parts(&[
    ("maxReplicaCount", Leaf(Number)),
    ("minReplicaCount", Leaf(Number)),
    ("scaleTargetRef", Parts(&[K, ("name", Leaf(Name))])),
]);

// Admission.
const RULE: Shape = Parts(&[
    ("apiGroups", WORDS),
    ("apiVersions", WORDS),
    ("operations", WORDS),
    ("resourceNames", Bare),
    ("resources", WORDS),
    ("scope", Leaf(Word)),
]);
const WEBHOOK: Shape = Parts(&[
    ("name", Leaf(Name)),
    ("namespaceSelector", LABEL_SELECTOR),
    ("objectSelector", LABEL_SELECTOR),
    ("rules", Each(&RULE)),
]);
const CONSTRAINTS: Shape = Parts(&[
    ("excludeResourceRules", Each(&RULE)),
    ("namespaceSelector", LABEL_SELECTOR),
    ("objectSelector", LABEL_SELECTOR),
    ("resourceRules", Each(&RULE)),
]);
const BINDING: Shape =
    Parts(&[("matchResources", CONSTRAINTS), ("policyName", Leaf(Name)), ("validationActions", WORDS)]);
const KINDS: (&str, Shape) = ("kinds", Each(&Leaf(KindPattern)));
const FILTER: Shape = Parts(&[("resources", Parts(&[KINDS]))]);
const MATCH: Shape = Parts(&[
    ("all", Each(&FILTER)),
    ("any", Each(&FILTER)),
    ("kinds", Each(&Parts(&[KINDS]))),
    ("resources", Parts(&[KINDS])),
]);
/// What a rule of a policy engine is about, and what kind of thing it does: never what it writes into pods or compares them with.
const ENGINE: Shape = Parts(&[
    ("applyTo", Each(&Parts(&[KINDS]))),
    ("enforcementAction", Leaf(Word)),
    ("match", MATCH),
    ("matchConstraints", CONSTRAINTS),
    ("rules", Each(&ENGINE_RULE)),
    ("validationActions", WORDS),
    ("validationFailureAction", Leaf(Word)),
    ("validationFailureActionOverrides", Bare),
]);
const ENGINE_RULE: Shape = Parts(&[
    ("generate", Parts(&[("kind", Leaf(KindName))])),
    ("match", MATCH),
    ("mutate", Bare),
    ("validate", Parts(&[("failureAction", Leaf(Word))])),
    ("verifyImages", Bare),
]);
const LIMITS: Shape = Fields(
    &fields::LIMIT_RANGE_ITEM,
    &[
        ("default", Leaf(Amounts)),
        ("defaultRequest", Leaf(Amounts)),
        ("max", Leaf(Amounts)),
        ("maxLimitRequestRatio", Leaf(Amounts)),
        ("min", Leaf(Amounts)),
        ("type", Leaf(Word)),
    ],
);
const LIMIT_RANGE: Shape = Fields(&fields::LIMIT_RANGE_SPEC, &[("limits", Each(&LIMITS))]);
const SCOPE: Shape = Fields(
    &fields::SCOPE_REQUIREMENT,
    &[("operator", Leaf(Word)), ("scopeName", Leaf(Word)), ("values", Each(&Leaf(Name)))],
);
const QUOTA: Shape = Fields(
    &fields::RESOURCE_QUOTA_SPEC,
    &[
        ("hard", Leaf(Hard)),
        ("scopeSelector", Fields(&fields::SCOPE_SELECTOR, &[("matchExpressions", Each(&SCOPE))])),
        ("scopes", WORDS),
    ],
);
const RUNTIME_CLASS: Shape = Fields(
    &fields::RUNTIME_CLASS,
    &[
        V,
        K,
        M,
        ("overhead", Fields(&fields::RUNTIME_OVERHEAD, &[("podFixed", Leaf(Amounts))])),
        (
            "scheduling",
            Fields(&fields::RUNTIME_SCHEDULING, &[("nodeSelector", Leaf(Labels)), ("tolerations", TOLERATIONS)]),
        ),
    ],
);

// Devices and storage.
const DEVICE_CLASS: Shape = Fields(&fields::DEVICE_CLASS_SPEC, &[("extendedResourceName", Leaf(Resource))]);
const DEVICE: Shape = Fields(&fields::ALLOCATED_DEVICE, &[("bindingConditions", Bare), ("skipNodeOperations", Bare)]);
const DEVICES: Shape = Fields(&fields::ALLOCATED_DEVICES, &[("results", Each(&DEVICE))]);
const DEVICE_CLAIM: Shape = Fields(
    &fields::DEVICE_CLAIM_STATUS,
    &[
        ("allocation", Fields(&fields::ALLOCATION, &[("devices", DEVICES), ("nodeSelector", NODE_SELECTOR)])),
        ("reservedFor", Bare),
    ],
);
const CLAIM_STATUS: Shape = Fields(&fields::CLAIM_STATUS, &[("phase", Leaf(Word))]);
const VOLUME_STATUS: Shape = Fields(&fields::VOLUME_STATUS, &[("phase", Leaf(Word))]);
const CLAIM_REFERENCE: Shape =
    Fields(&fields::CLAIM_REFERENCE, &[("name", Leaf(Name)), ("namespace", Leaf(Namespace)), ("uid", Leaf(Name))]);
const VOLUME: Shape = Fields(
    &fields::VOLUME_SPEC,
    &[
        ("accessModes", WORDS),
        ("awsElasticBlockStore", Bare),
        ("azureDisk", Bare),
        ("azureFile", Bare),
        ("capacity", Leaf(Amounts)),
        ("cinder", Bare),
        ("claimRef", CLAIM_REFERENCE),
        ("csi", Fields(&fields::CSI_SOURCE, &[("driver", Leaf(Driver)), ("volumeHandle", Leaf(Name))])),
        ("gcePersistentDisk", Bare),
        ("nodeAffinity", Fields(&fields::VOLUME_NODE_AFFINITY, &[("required", NODE_SELECTOR)])),
        ("portworxVolume", Bare),
        ("storageClassName", Leaf(Name)),
        ("volumeAttributesClassName", Leaf(Name)),
        ("volumeMode", Leaf(Word)),
        ("vsphereVolume", Bare),
    ],
);
const TOPOLOGY: Shape = Fields(&fields::TOPOLOGY_REQUIREMENT, &[("key", Leaf(Key)), ("values", Each(&Leaf(Value)))]);
const STORAGE_CLASS: Shape = Fields(
    &fields::CLASS_OBJECT,
    &[
        ("allowedTopologies", Each(&Fields(&fields::TOPOLOGY_TERM, &[("matchLabelExpressions", Each(&TOPOLOGY))]))),
        V,
        K,
        ("metadata", METADATA_OF_CLASS),
        ("provisioner", Leaf(Driver)),
        ("volumeBindingMode", Leaf(Word)),
    ],
);
const CSI_NODE_DRIVER: Shape = Fields(
    &fields::CSI_NODE_DRIVER,
    &[
        ("allocatable", Fields(&fields::DRIVER_LIMIT, &[("count", Leaf(Number))])),
        ("name", Leaf(Driver)),
        ("topologyKeys", Each(&Leaf(Key))),
    ],
);
const CSI_NODE: Shape = Fields(&fields::CSI_NODE_SPEC, &[("drivers", Each(&CSI_NODE_DRIVER))]);
/// The name of such an object is that of its driver.
const DRIVER_METADATA: (&str, Shape) =
    ("metadata", Fields(&fields::OBJECT_META, &[("name", Leaf(Driver)), ("ownerReferences", OWNERS)]));
const CSI_DRIVER: Shape = Fields(
    &fields::CSI_DRIVER_SPEC,
    &[("preventPodSchedulingIfMissing", Leaf(Number)), ("storageCapacity", Leaf(Number))],
);
const CAPACITY: Shape = Fields(
    &fields::CAPACITY_OBJECT,
    &[
        V,
        ("capacity", Leaf(Number)),
        K,
        ("maximumVolumeSize", Leaf(Number)),
        M,
        ("nodeTopology", LABEL_SELECTOR),
        ("storageClassName", Leaf(Name)),
    ],
);
const ATTACHMENT: Shape = Fields(
    &fields::VOLUME_ATTACHMENT_SPEC,
    &[
        ("attacher", Leaf(Driver)),
        ("nodeName", Leaf(Node)),
        ("source", Fields(&fields::VOLUME_ATTACHMENT_SOURCE, &[("persistentVolumeName", Leaf(Name))])),
    ],
);

// The scheduler's configuration.
const PLUGIN: Shape = Fields(&fields::PLUGIN, &[("name", Leaf(Word))]);
const POINT: Shape = Fields(&fields::PLUGIN_SET, &[("disabled", Each(&PLUGIN)), ("enabled", Each(&PLUGIN))]);
const PLUGINS: Shape = Fields(
    &fields::PLUGINS,
    &[
        ("filter", POINT),
        ("multiPoint", POINT),
        ("permit", POINT),
        ("preBind", POINT),
        ("preEnqueue", POINT),
        ("preFilter", POINT),
        ("reserve", POINT),
    ],
);
/// The settings of any plugin; what only other plugins know is let through by name, so that reading still reports it.
static ARGS: Table = Table {
    name: "the settings of a plugin",
    modelled: &["addedAffinity", "defaultConstraints", "defaultingType", "ignoredResourceGroups", "ignoredResources"],
    spoiling: &[],
    irrelevant: &["apiVersion", "kind", "scoringStrategy"],
    open: false,
};
const PLUGIN_CONFIG: Shape = Fields(
    &fields::PLUGIN_CONFIG,
    &[
        (
            "args",
            Fields(
                &ARGS,
                &[
                    ("addedAffinity", NODE_AFFINITY),
                    ("defaultConstraints", SPREADS),
                    ("defaultingType", Leaf(Word)),
                    ("ignoredResourceGroups", Each(&Leaf(Domain))),
                    ("ignoredResources", Each(&Leaf(Resource))),
                ],
            ),
        ),
        ("name", Leaf(Word)),
    ],
);
const MANAGED: Shape =
    Fields(&fields::MANAGED_RESOURCE, &[("ignoredByScheduler", Leaf(Number)), ("name", Leaf(Resource))]);
const EXTENDER: Shape = Fields(&fields::EXTENDER, &[("filterVerb", Bare), ("managedResources", Each(&MANAGED))]);
const PROFILE: Shape = Fields(
    &fields::SCHEDULER_PROFILE,
    &[("pluginConfig", Each(&PLUGIN_CONFIG)), ("plugins", PLUGINS), ("schedulerName", Leaf(Name))],
);
const SCHEDULER: Shape =
    Fields(&fields::SCHEDULER_CONFIGURATION, &[V, ("extenders", Each(&EXTENDER)), K, ("profiles", Each(&PROFILE))]);

// Ours.
const SNAPSHOT: Shape = Parts(&[
    V,
    K,
    ("custom", Each(&Parts(&[V, K]))),
    ("kubernetesVersion", Leaf(Word)),
    ("unseen", Each(&Parts(&[("namespace", Leaf(Namespace)), ("resource", Leaf(Word))]))),
]);
const GOAL: Shape =
    Fields(&fields::QUESTION_GOAL, &[("count", Leaf(Number)), ("node", Leaf(Node)), ("pod", Leaf(Pod))]);
const QUESTION: Shape = Fields(&fields::QUESTION_SPEC, &[("goal", Each(&GOAL)), ("semantics", Leaf(Word))]);
const POD_SELECTION: Shape = Fields(
    &fields::POD_SELECTION,
    &[
        ("kinds", Each(&Leaf(KindName))),
        ("matchExpressions", REQUIREMENTS),
        ("matchLabels", Leaf(Labels)),
        ("names", Each(&Leaf(Pod))),
        ("namespaces", Each(&Leaf(Namespace))),
    ],
);
const NODE_SELECTION: Shape = Fields(
    &fields::NODE_SELECTION,
    &[("matchExpressions", REQUIREMENTS), ("matchLabels", Leaf(Labels)), ("names", Each(&Leaf(Node)))],
);
const POSSIBLE: Shape = Fields(
    &fields::POLICY_POSSIBLE,
    &[("count", Leaf(Number)), ("nodes", NODE_SELECTION), ("pods", POD_SELECTION), ("spreadOver", Leaf(Key))],
);
const POLICY_RULE: Shape = Fields(
    &fields::POLICY_RULE,
    &[
        ("allowEmpty", Leaf(Number)),
        ("description", Leaf(Prose)),
        ("name", Leaf(Name)),
        ("never", Fields(&fields::POLICY_NEVER, &[("nodes", NODE_SELECTION), ("pods", POD_SELECTION)])),
        (
            "neverTogether",
            Fields(&fields::POLICY_NEVER_TOGETHER, &[("pods", Each(&POD_SELECTION)), ("topologyKey", Leaf(Key))]),
        ),
        ("possible", POSSIBLE),
        ("recoverable", Fields(&fields::POLICY_RECOVERABLE, &[("pods", POD_SELECTION)])),
        ("severity", Leaf(Word)),
    ],
);
const POLICY: Shape = Fields(&fields::POLICY_SPEC, &[("rules", Each(&POLICY_RULE))]);
