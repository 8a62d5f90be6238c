//! The shapes of pods and their templates.

use super::Parts;
use super::Role::{
    Address, Amounts, Annotations, Key, Kind, Labels, Name, Namespace, Node, NodeField, Number, Port, Time, User,
    Value, Version, Word,
};
use super::Shape::{self, Bare, Each, Fields, Leaf};
use crate::lower::schema::fields;

const OWNER: Shape = Fields(
    &fields::OWNER_REFERENCE,
    &[
        ("apiVersion", Leaf(Version)),
        ("controller", Leaf(Number)),
        ("kind", Leaf(Kind)),
        ("name", Leaf(Name)),
        ("uid", Leaf(Name)),
    ],
);
pub(super) const OWNERS: Shape = Each(&OWNER);
pub(super) const METADATA: Shape = Fields(
    &fields::OBJECT_META,
    &[
        ("annotations", Leaf(Annotations)),
        ("deletionTimestamp", Bare),
        ("generateName", Leaf(Name)),
        ("labels", Leaf(Labels)),
        ("name", Leaf(Name)),
        ("namespace", Leaf(Namespace)),
        ("ownerReferences", OWNERS),
        ("uid", Leaf(Name)),
    ],
);
/// Among several usual storage classes the newest counts.
pub(super) const METADATA_OF_CLASS: Shape = Fields(
    &fields::OBJECT_META,
    &[
        ("annotations", Leaf(Annotations)),
        ("creationTimestamp", Leaf(Time)),
        ("deletionTimestamp", Bare),
        ("generateName", Leaf(Name)),
        ("labels", Leaf(Labels)),
        ("name", Leaf(Name)),
        ("namespace", Leaf(Namespace)),
        ("ownerReferences", OWNERS),
    ],
);

const REQUIREMENT: Shape =
    Fields(&fields::REQUIREMENT, &[("key", Leaf(Key)), ("operator", Leaf(Word)), ("values", Each(&Leaf(Value)))]);
const FIELD_REQUIREMENT: Shape =
    Fields(&fields::REQUIREMENT, &[("key", Leaf(Word)), ("operator", Leaf(Word)), ("values", Each(&Leaf(NodeField)))]);
pub(super) const REQUIREMENTS: Shape = Each(&REQUIREMENT);
pub(super) const LABEL_SELECTOR: Shape =
    Fields(&fields::LABEL_SELECTOR, &[("matchExpressions", REQUIREMENTS), ("matchLabels", Leaf(Labels))]);
const NODE_TERM: Shape = Fields(
    &fields::NODE_SELECTOR_TERM,
    &[("matchExpressions", REQUIREMENTS), ("matchFields", Each(&FIELD_REQUIREMENT))],
);
pub(super) const NODE_SELECTOR: Shape = Fields(&fields::NODE_SELECTOR, &[("nodeSelectorTerms", Each(&NODE_TERM))]);
pub(super) const NODE_AFFINITY: Shape =
    Fields(&fields::NODE_AFFINITY, &[("requiredDuringSchedulingIgnoredDuringExecution", NODE_SELECTOR)]);
const POD_TERM: Shape = Fields(
    &fields::POD_AFFINITY_TERM,
    &[
        ("labelSelector", LABEL_SELECTOR),
        ("matchLabelKeys", Each(&Leaf(Key))),
        ("mismatchLabelKeys", Each(&Leaf(Key))),
        ("namespaceSelector", LABEL_SELECTOR),
        ("namespaces", Each(&Leaf(Namespace))),
        ("topologyKey", Leaf(Key)),
    ],
);
const POD_AFFINITY: Shape =
    Fields(&fields::POD_AFFINITY, &[("requiredDuringSchedulingIgnoredDuringExecution", Each(&POD_TERM))]);
const AFFINITY: Shape = Fields(
    &fields::AFFINITY,
    &[("nodeAffinity", NODE_AFFINITY), ("podAffinity", POD_AFFINITY), ("podAntiAffinity", POD_AFFINITY)],
);
const SPREAD: Shape = Fields(
    &fields::SPREAD_CONSTRAINT,
    &[
        ("labelSelector", LABEL_SELECTOR),
        ("matchLabelKeys", Each(&Leaf(Key))),
        ("maxSkew", Leaf(Number)),
        ("minDomains", Leaf(Number)),
        ("nodeAffinityPolicy", Leaf(Word)),
        ("nodeTaintsPolicy", Leaf(Word)),
        ("topologyKey", Leaf(Key)),
        ("whenUnsatisfiable", Leaf(Word)),
    ],
);
pub(super) const SPREADS: Shape = Each(&SPREAD);
const TOLERATION: Shape = Fields(
    &fields::TOLERATION,
    &[("effect", Leaf(Word)), ("key", Leaf(Key)), ("operator", Leaf(Word)), ("value", Leaf(Value))],
);
pub(super) const TOLERATIONS: Shape = Each(&TOLERATION);

const HTTP_GET: Shape = Fields(&fields::HTTP_GET_ACTION, &[("host", Bare)]);
const TCP_SOCKET: Shape = Fields(&fields::TCP_SOCKET_ACTION, &[("host", Bare)]);
const ACTIONS: Parts = &[("httpGet", HTTP_GET), ("tcpSocket", TCP_SOCKET)];
const PROBE: Shape = Fields(&fields::PROBE, ACTIONS);
const HANDLER: Shape = Fields(&fields::LIFECYCLE_HANDLER, ACTIONS);
const LIFECYCLE: Shape = Fields(&fields::LIFECYCLE, &[("postStart", HANDLER), ("preStop", HANDLER)]);
const APP_ARMOR: Shape = Fields(&fields::APP_ARMOR_PROFILE, &[("type", Leaf(Word))]);
const SECCOMP: Shape = Fields(&fields::SECCOMP_PROFILE, &[("type", Leaf(Word))]);
const SE_LINUX: Shape = Fields(&fields::SE_LINUX_OPTIONS, &[("role", Bare), ("type", Leaf(Word)), ("user", Bare)]);
const WINDOWS: Shape = Fields(&fields::WINDOWS_OPTIONS, &[("hostProcess", Leaf(Number))]);
const WORDS: Shape = Each(&Leaf(Word));
const CAPABILITIES: Shape = Fields(&fields::CAPABILITIES, &[("add", WORDS), ("drop", WORDS)]);
const SECURITY_CONTEXT: Shape = Fields(
    &fields::SECURITY_CONTEXT,
    &[
        ("allowPrivilegeEscalation", Leaf(Number)),
        ("appArmorProfile", APP_ARMOR),
        ("capabilities", CAPABILITIES),
        ("privileged", Leaf(Number)),
        ("procMount", Leaf(Word)),
        ("runAsNonRoot", Leaf(Number)),
        ("runAsUser", Leaf(User)),
        ("seLinuxOptions", SE_LINUX),
        ("seccompProfile", SECCOMP),
        ("windowsOptions", WINDOWS),
    ],
);
const POD_SECURITY_CONTEXT: Shape = Fields(
    &fields::POD_SECURITY_CONTEXT,
    &[
        ("appArmorProfile", APP_ARMOR),
        ("runAsNonRoot", Leaf(Number)),
        ("runAsUser", Leaf(User)),
        ("seLinuxOptions", SE_LINUX),
        ("seccompProfile", SECCOMP),
        ("sysctls", Each(&Fields(&fields::SYSCTL, &[("name", Leaf(Word))]))),
        ("windowsOptions", WINDOWS),
    ],
);

const RESOURCES: Shape =
    Fields(&fields::RESOURCE_REQUIREMENTS, &[("limits", Leaf(Amounts)), ("requests", Leaf(Amounts))]);
const PORT: Shape = Fields(
    &fields::CONTAINER_PORT,
    &[("containerPort", Leaf(Port)), ("hostIP", Leaf(Address)), ("hostPort", Leaf(Port)), ("protocol", Leaf(Word))],
);
const RESTART_RULE: Shape = Fields(&fields::CONTAINER_RESTART_RULE, &[("action", Leaf(Word))]);
const MOUNT: Shape = Fields(&fields::VOLUME_MOUNT, &[("bindMountOptions", Bare)]);
const CONTAINER: Shape = Fields(
    &fields::CONTAINER,
    &[
        ("lifecycle", LIFECYCLE),
        ("livenessProbe", PROBE),
        ("name", Leaf(Name)),
        ("ports", Each(&PORT)),
        ("readinessProbe", PROBE),
        ("resources", RESOURCES),
        ("restartPolicy", Leaf(Word)),
        ("restartPolicyRules", Each(&RESTART_RULE)),
        ("securityContext", SECURITY_CONTEXT),
        ("startupProbe", PROBE),
        ("volumeMounts", Each(&MOUNT)),
    ],
);
const CONTAINERS: Shape = Each(&CONTAINER);

pub(super) const CLAIM_SPEC: Shape = Fields(
    &fields::CLAIM_SPEC,
    &[
        ("accessModes", WORDS),
        ("resources", Fields(&fields::CLAIM_RESOURCES, &[("requests", Leaf(Amounts))])),
        ("selector", LABEL_SELECTOR),
        ("storageClassName", Leaf(Name)),
        ("volumeAttributesClassName", Leaf(Name)),
        ("volumeMode", Leaf(Word)),
        ("volumeName", Leaf(Name)),
    ],
);
const EPHEMERAL: Shape = Fields(
    &fields::EPHEMERAL_SOURCE,
    &[("volumeClaimTemplate", Fields(&fields::CLAIM_TEMPLATE, &[("spec", CLAIM_SPEC)]))],
);
const GCE_DISK: Shape = Fields(&fields::GCE_DISK, &[("pdName", Leaf(Name)), ("readOnly", Leaf(Number))]);
const AWS_DISK: Shape = Fields(&fields::AWS_DISK, &[("readOnly", Leaf(Number)), ("volumeID", Leaf(Name))]);
const ISCSI_DISK: Shape = Fields(&fields::ISCSI_DISK, &[("iqn", Leaf(Name)), ("readOnly", Leaf(Number))]);
const RBD_DISK: Shape = Fields(
    &fields::RBD_DISK,
    &[("image", Leaf(Name)), ("monitors", Each(&Leaf(Name))), ("pool", Leaf(Name)), ("readOnly", Leaf(Number))],
);
/// Filters look at some sources. A pod security level may forbid any of the others, for which it is enough that they are there.
const VOLUME: Shape = Fields(
    &fields::VOLUME,
    &[
        ("awsElasticBlockStore", AWS_DISK),
        ("azureDisk", Bare),
        ("azureFile", Bare),
        ("cephfs", Bare),
        ("cinder", Bare),
        ("configMap", Bare),
        ("csi", Bare),
        ("downwardAPI", Bare),
        ("emptyDir", Bare),
        ("ephemeral", EPHEMERAL),
        ("fc", Bare),
        ("flexVolume", Bare),
        ("flocker", Bare),
        ("gcePersistentDisk", GCE_DISK),
        ("gitRepo", Bare),
        ("glusterfs", Bare),
        ("hostPath", Bare),
        ("image", Bare),
        ("iscsi", ISCSI_DISK),
        ("name", Leaf(Name)),
        ("nfs", Bare),
        ("persistentVolumeClaim", Fields(&fields::CLAIM_SOURCE, &[("claimName", Leaf(Name))])),
        ("photonPersistentDisk", Bare),
        ("portworxVolume", Bare),
        ("projected", Bare),
        ("quobyte", Bare),
        ("rbd", RBD_DISK),
        ("scaleIO", Bare),
        ("secret", Bare),
        ("storageos", Bare),
        ("vsphereVolume", Bare),
    ],
);
const DEVICE_CLAIM: Shape =
    Fields(&fields::POD_DEVICE_CLAIM, &[("resourceClaimName", Leaf(Name)), ("resourceClaimTemplateName", Bare)]);

pub(super) const POD_SPEC: Shape = Fields(
    &fields::POD_SPEC,
    &[
        ("activeDeadlineSeconds", Leaf(Number)),
        ("affinity", AFFINITY),
        ("containers", CONTAINERS),
        ("hostIPC", Leaf(Number)),
        ("hostNetwork", Leaf(Number)),
        ("hostPID", Leaf(Number)),
        ("hostUsers", Leaf(Number)),
        ("initContainers", CONTAINERS),
        ("nodeName", Leaf(Node)),
        ("nodeSelector", Leaf(Labels)),
        ("os", Fields(&fields::POD_OS, &[("name", Leaf(Word))])),
        ("overhead", Leaf(Amounts)),
        ("priorityClassName", Leaf(Name)),
        ("resourceClaims", Each(&DEVICE_CLAIM)),
        ("resources", RESOURCES),
        ("runtimeClassName", Leaf(Name)),
        ("schedulerName", Leaf(Name)),
        ("schedulingGates", Bare),
        ("schedulingGroup", Bare),
        ("securityContext", POD_SECURITY_CONTEXT),
        ("serviceAccount", Leaf(Name)),
        ("serviceAccountName", Leaf(Name)),
        ("tolerations", TOLERATIONS),
        ("topologySpreadConstraints", SPREADS),
        ("volumes", Each(&VOLUME)),
        ("workloadRef", Bare),
    ],
);

const CONTAINER_STATUS: Shape = Fields(
    &fields::CONTAINER_STATUS,
    &[("allocatedResources", Leaf(Amounts)), ("name", Leaf(Name)), ("resources", RESOURCES)],
);
pub(super) const POD_STATUS: Shape = Fields(
    &fields::POD_STATUS,
    &[
        ("allocatedResources", Leaf(Amounts)),
        ("containerStatuses", Each(&CONTAINER_STATUS)),
        ("initContainerStatuses", Each(&CONTAINER_STATUS)),
        ("phase", Leaf(Word)),
        ("resources", RESOURCES),
    ],
);
const TEMPLATE_METADATA: Shape =
    Fields(&fields::OBJECT_META, &[("annotations", Leaf(Annotations)), ("labels", Leaf(Labels))]);
pub(super) const TEMPLATE: Shape =
    Fields(&fields::POD_TEMPLATE_SPEC, &[("metadata", TEMPLATE_METADATA), ("spec", POD_SPEC)]);
