//! What we do not model about a pod type, and which verdicts that spoils.
//!
//! Each cause says in which direction the model is wrong: it over-approximates the cluster (allows too much), under-approximates it
//! (allows too little), or both. Documents say `widens`, `narrows` and `blurs`.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Effect, GivenLabels, Lacked, Topic};
use crate::read::Span;

/// What is not modelled, and where the input says so.
pub(crate) type Causes = BTreeMap<Cause, Span>;

/// Something about a pod type that is not modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cause {
    /// It mounts volumes whose plugin has migrated to a driver.
    Volumes,
    /// It uses a claim that is not in the input.
    UnknownClaim,
    /// It uses a claim whose volume is not in the input.
    UnknownVolume,
    /// It uses a claim whose class is not in the input.
    UnknownClass,
    /// It uses a claim that names no class, and the input has no usual one.
    NoUsualClass,
    /// It uses a claim that is bound before it is placed, nobody knows where.
    EarlyVolume,
    /// The same where all nodes are in one place.
    NearVolume,
    /// It uses a claim whose class does not exist.
    MissingClass,
    /// It uses volumes, and how many are attached already is not known.
    VolumeLimits,
    /// It uses volumes, and how many of them nodes can attach is assumed.
    AssumedLimits,
    /// It uses a volume that is yet to be made, and that there is space for it is assumed.
    AssumedSpace,
    /// It uses a claim to a volume whose plugin has migrated to a driver.
    MigratedVolume,
    /// Its claims could be bound in several ways.
    VolumeChoice,
    /// It runs with a volume of another driver than the one its class would give it now.
    OtherVolume,
    /// It claims devices.
    ResourceClaims,
    /// A runtime class may add overhead, node selector and tolerations.
    RuntimeClass,
    /// It waits for gates to be lifted.
    SchedulingGates,
    /// Another scheduler places it.
    OtherScheduler,
    /// It is scheduled as one of a group.
    Group,
    /// Its template names the node, so no filter is asked.
    BoundByName,
    /// Its namespace adds requests that it does not state.
    LimitRangeDefaults,
    /// Its namespace bounds what some of its pods together may request, chosen in a way that is not modelled.
    Quota,
    /// It makes claims that a limit range or a quota of its namespace may refuse.
    CountedClaims,
    /// It names a priority class or a service account that is not in the input, where others are.
    Reference,
    /// Its namespace has annotations by which plugins change pods.
    Annotated,
    /// A webhook or a policy may refuse it, or change it.
    Interceptor {
        /// Its place among all of them.
        number: u16,
        /// Whether it may change pods.
        changes: bool,
    },
    /// Its running pods are not what its template makes, all in one way: it is modelled as they are.
    SeenOtherwise,
    /// Its running pods are not what its template makes.
    SeenApart,
    /// It is for one operating system, and it is not known which nodes have.
    OperatingSystem,
    /// It is for one operating system, and its scheduler's profile does not look at node affinity, by which that is modelled.
    UncheckedSystem,
    /// It sets parameters of the kernel that kubelets refuse unless they are told to allow them.
    Sysctls,
    /// A quota counts the objects between its workload and its pods, and may have no room for one more.
    CountedMakers,
    /// Its scheduler's profile has plugins, or extenders, that are not Kubernetes' own.
    OtherPlugins,
    /// Its scheduler's profile runs only a part of a plugin.
    PartOfPlugin,
    /// Its scheduler's profile gives it spread constraints.
    DefaultSpread,
    /// Its scheduler ignores a resource that others look at.
    IgnoredResource,
    /// A resource that it requests may be met by a device class.
    DeviceClass,
    /// A selector looks at labels that each of its instances has differently, or that are not known.
    InstanceLabels(GivenLabels),
    /// Its pods are pinned one by one, which changes what its spread constraints count.
    DaemonSpread,
    /// A namespace selector looks at namespaces whose labels are not in the input.
    NamespaceLabels,
    /// It stands for the pods of a DaemonSet that is not in the input.
    MissingDaemonSet,
    /// It has no replicas, and what owns it and may give it some is not in the input.
    ScaledToZero,
    /// It waits in a queue, which changes its pods when it lets them start.
    Queued,
    /// Pods of the DaemonSet wait for their nodes, and new ones are counted or refused.
    WaitingDaemon,
    /// A quota that counts it counts pods of a DaemonSet that wait for their nodes.
    CountedDaemon,
    /// Its status speaks of other amounts than its spec.
    Resized,
}

impl Cause {
    /// Its code, what it does to verdicts, and what it says after the name of the pod type.
    fn facts(self) -> (&'static str, Effect, &'static str) {
        use Effect::{Assumes, Both, OverApproximates, UnderApproximates};
        match self {
            Self::Volumes => (
                "S0411",
                OverApproximates,
                "mounts volumes whose plugin has migrated to a driver; its limits are not modelled",
            ),
            Self::UnknownClaim => (
                "S0441",
                OverApproximates,
                "uses a claim that is not in the input: which nodes its volume can be used from is not known",
            ),
            Self::UnknownVolume => (
                "S0441",
                OverApproximates,
                "uses a claim that is bound to a volume which is not in the input: which nodes that can be used from is not known",
            ),
            Self::UnknownClass => (
                "S0441",
                OverApproximates,
                "uses a claim of a StorageClass that is not in the input: which nodes its volume can be used from is not known",
            ),
            Self::NoUsualClass => (
                "S0441",
                OverApproximates,
                "uses a claim that names no StorageClass, and the input has no default one: which nodes its volume can be used from is not known",
            ),
            Self::EarlyVolume => (
                "S0441",
                OverApproximates,
                "uses a claim that its StorageClass binds before the pod is placed: which nodes its volume can be used from is not known",
            ),
            Self::NearVolume => (
                "S0441",
                Assumes(Topic::Volumes),
                "uses a claim that its StorageClass binds before the pod is placed: it is taken to be usable from all nodes, as they are in one zone",
            ),
            Self::MissingClass => (
                "S0446",
                Assumes(Topic::Volumes),
                "uses a claim of a StorageClass that does not exist, so that no volume is made for it",
            ),
            Self::VolumeLimits => (
                "S0442",
                OverApproximates,
                "uses volumes of a driver that can attach only so many, and claims of running pods are not in the input, so that it is not known how many it has attached",
            ),
            Self::AssumedLimits => (
                "S0442",
                Assumes(Topic::Volumes),
                "uses volumes, and CSINodes are not in the input: each such node is taken to attach the volumes of one pod; whether it takes more is not known",
            ),
            Self::AssumedSpace => (
                "S0447",
                Assumes(Topic::Volumes),
                "uses a volume that is yet to be made, and the CSIDriver that makes it is not in the input: it is taken to have space",
            ),
            Self::MigratedVolume => {
                ("S0443", Both, "uses a claim to a volume whose plugin has migrated to a driver; this is not modelled")
            }
            Self::VolumeChoice => {
                ("S0444", Both, "has claims that could be bound to volumes in several ways; this is not modelled")
            }
            Self::OtherVolume => (
                "S0445",
                Both,
                "runs with a volume of another driver than its storage class names now; a new one is not modelled",
            ),
            Self::ResourceClaims => (
                "S0412",
                OverApproximates,
                "claims devices that it does not have yet; which it would get is not modelled",
            ),
            Self::RuntimeClass => (
                "S0413",
                Both,
                "has a runtime class that is not in the input and may add overhead, a node selector and tolerations",
            ),
            Self::SchedulingGates => {
                ("S0414", OverApproximates, "waits for its scheduling gates to be lifted; this is not modelled")
            }
            Self::OtherScheduler => ("S0415", Both, "is placed by another scheduler, whose rules are not known"),
            Self::LimitRangeDefaults => (
                "S0416",
                Both,
                "lacks requests that a LimitRange of its namespace would give it today, or is given contradicting ones",
            ),
            Self::Quota => (
                "S0418",
                OverApproximates,
                "may be refused by a ResourceQuota of its namespace that counts pods by priority class or affinity; this is not modelled",
            ),
            Self::CountedClaims => (
                "S0448",
                OverApproximates,
                "makes claims of its own, which a ResourceQuota or LimitRange of its namespace may refuse, so that it never gets them; this is not modelled",
            ),
            Self::Reference => (
                "S0465",
                OverApproximates,
                "names a PriorityClass or a ServiceAccount that is not in the input, where others are; the API server refuses it if there is none",
            ),
            Self::Annotated => (
                "S0463",
                Both,
                "is in a namespace whose annotations make PodNodeSelector or PodTolerationRestriction change pods; this is not modelled",
            ),
            Self::Interceptor { changes: true, .. } => ("S0461", Both, "may be changed or refused when it is made"),
            Self::Interceptor { changes: false, .. } => ("S0462", OverApproximates, "may be refused when it is made"),
            Self::SeenOtherwise => (
                "S0464",
                Assumes(Topic::Admission),
                "has running pods that are not what its template makes, all in the same way: admission changes them, and it is taken to be as they are",
            ),
            Self::SeenApart => (
                "S0467",
                Both,
                "has running pods of its current revision that are not what its template makes: what a new one would be is not known",
            ),
            Self::OperatingSystem => (
                "S0466",
                OverApproximates,
                "is for one operating system, which the kubelet of every other refuses, and not every node says which it has",
            ),
            Self::UncheckedSystem => (
                "S0466",
                OverApproximates,
                "is for one operating system, which the kubelet of every other refuses, and its scheduler's profile does not look at node affinity",
            ),
            Self::Sysctls => (
                "S0434",
                OverApproximates,
                "sets kernel parameters that are not safe, which a kubelet refuses unless it is told to allow them",
            ),
            Self::CountedMakers => (
                "S0435",
                OverApproximates,
                "gets its pods through objects that a ResourceQuota of its namespace counts, and may have no room for; this is not modelled",
            ),
            Self::OtherPlugins => (
                "S0430",
                OverApproximates,
                "may be refused by plugins or extenders of its scheduler's profile, whose rules are not known",
            ),
            Self::PartOfPlugin => {
                ("S0431", Both, "is placed by a profile that runs only a part of a plugin; this is not modelled")
            }
            Self::DefaultSpread => (
                "S0432",
                OverApproximates,
                "gets spread constraints from its scheduler's profile; this is not modelled",
            ),
            Self::IgnoredResource => (
                "S0433",
                Both,
                "requests a resource that only some profiles of the scheduler look at; this is not modelled",
            ),
            Self::Group => {
                ("S0419", OverApproximates, "is scheduled together with its group or not at all; this is not modelled")
            }
            Self::DeviceClass => {
                ("S0421", Both, "requests a resource that a DeviceClass may provide; this is not modelled")
            }
            Self::InstanceLabels(_) => (
                "S0422",
                Both,
                "has labels that differ from instance to instance or are not known, and a selector looks at them; this is not modelled",
            ),
            Self::DaemonSpread => (
                "S0423",
                Both,
                "is a DaemonSet with spread constraints, which count only the node of each pod; this is not modelled",
            ),
            Self::NamespaceLabels => {
                ("S0424", Both, "selects namespaces by labels, and not every Namespace is in the input")
            }
            Self::BoundByName => (
                "S0425",
                UnderApproximates,
                "names its node in its template and so evades the scheduler, whose rules are applied here all the same",
            ),
            Self::MissingDaemonSet => (
                "S0426",
                UnderApproximates,
                "is not in the input, only pods of it; on which other nodes it has pods is not known",
            ),
            Self::ScaledToZero => (
                "S0471",
                OverApproximates,
                "has no replicas, and what owns it is not in the input; whether it ever has pods again is not known",
            ),
            Self::Queued => (
                "S0472",
                Both,
                "waits in a queue, which may give it a node selector and tolerations once it starts; this is not modelled",
            ),
            Self::WaitingDaemon => (
                "S0475",
                Both,
                "has pods that were let in and wait for their nodes, where new ones may be refused; that those can be bound is not modelled",
            ),
            Self::CountedDaemon => (
                "S0475",
                OverApproximates,
                "may be refused by a ResourceQuota that counts pods of a DaemonSet which wait for their nodes; this is not modelled",
            ),
            Self::Resized => (
                "S0428",
                Both,
                "is being resized, and until that is done the scheduler counts other requests; this is not modelled",
            ),
        }
    }

    /// What to do about it.
    fn help(self) -> Option<&'static str> {
        match self {
            Self::UnknownClaim => Some(
                "add `kubectl get pvc,pv,sc -A -o yaml`; kubectl's list of nothing does not say of what: if the input has all claims, say --complete pvc",
            ),
            Self::UnknownVolume => {
                Some("add `kubectl get pv -o yaml`; if the input has all volumes, say --complete pv")
            }
            Self::UnknownClass | Self::NoUsualClass => {
                Some("add `kubectl get storageclasses -o yaml`; if the input has all classes, say --complete sc")
            }
            Self::EarlyVolume => Some("add the claim once it is bound, or use a class with WaitForFirstConsumer"),
            Self::VolumeLimits => Some("add `kubectl get pvc,pv -A -o yaml`"),
            Self::AssumedLimits => Some("add `kubectl get csinodes -o yaml`"),
            Self::AssumedSpace => Some("add `kubectl get csidrivers,csistoragecapacities -A -o yaml`"),
            Self::OperatingSystem => Some("label the nodes with kubernetes.io/os"),
            _ => None,
        }
    }

    /// The label in whose absence it lies, where it is in doubt only about nodes that lack one.
    fn lacking(self) -> Option<Lacked> {
        (self == Self::OperatingSystem).then_some(Lacked::OperatingSystem)
    }

    /// Whether it still matters for a pod that no step deploys: what it does to others.
    pub(crate) fn outlives_deployment(self) -> bool {
        matches!(self, Self::NamespaceLabels | Self::Resized)
    }

    /// Whether it may undo a refusal: the pod may be another one by the time it is refused.
    pub(crate) fn may_undo_refusal(self) -> bool {
        matches!(
            self,
            Self::Interceptor { changes: true, .. } | Self::Annotated | Self::LimitRangeDefaults | Self::RuntimeClass
        )
    }

    /// The diagnostic about a pod type.
    pub(crate) fn diagnostic(self, pod: &str, span: Span) -> Diagnostic {
        let (code, effect, sentence) = self.facts();
        let diagnostic = Diagnostic::stops(code, span, format!("{pod} {sentence}")).with_effect(effect).about(pod);
        let diagnostic = Diagnostic { lacking: self.lacking(), ..diagnostic };
        let diagnostic = match self.help() {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        };
        match self {
            Self::InstanceLabels(labels) => diagnostic.with_keys(labels),
            _ => diagnostic,
        }
    }
}
