//! What we do not model about a pod type, and which verdicts that spoils.
//!
//! Each cause says in which direction the model is wrong: it allows too much (*widens*), too little (*narrows*), or either (*blurs*).

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Effect};
use crate::read::Span;

/// What is not modelled, and where the input says so.
pub(crate) type Causes = BTreeMap<Cause, Span>;

/// Something about a pod type that is not modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cause {
    /// It mounts volumes whose plugin has migrated to a driver.
    Volumes,
    /// It uses a claim, and the input does not say where its volume can be used.
    UnknownVolume,
    /// It uses volumes, and the input does not say what their drivers can do.
    VolumeLimits,
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
    /// It names a priority class or a service account that is not in the input, where others are.
    Reference,
    /// Its namespace has annotations by which plugins change pods.
    Annotated,
    /// A webhook or a policy may refuse it, or change it.
    Gate {
        /// Its place among the gates.
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
    /// A selector looks at a label that each of its instances has differently.
    InstanceLabels,
    /// Its pods are pinned one by one, which changes what its spread constraints count.
    DaemonSpread,
    /// A namespace selector looks at namespaces whose labels are not in the input.
    NamespaceLabels,
    /// The pod is pinned by a DaemonSet that is not in the input.
    MissingDaemonSet,
    /// Its status speaks of other amounts than its spec.
    Resized,
}

impl Cause {
    /// Its code, what it does to verdicts, and what it says after the name of the pod type.
    fn facts(self) -> (&'static str, Effect, &'static str) {
        use Effect::{Blurs, Narrows, Notes, Widens};
        match self {
            Self::Volumes => {
                ("S0411", Widens, "mounts volumes whose plugin has migrated to a driver; its limits are not modelled")
            }
            Self::UnknownVolume => {
                ("S0441", Widens, "uses a claim, and the input does not say which nodes its volume can be used from")
            }
            Self::VolumeLimits => (
                "S0442",
                Widens,
                "uses volumes, and the input does not say how many of them nodes can attach, or where there is space",
            ),
            Self::MigratedVolume => {
                ("S0443", Blurs, "uses a claim to a volume whose plugin has migrated to a driver; this is not modelled")
            }
            Self::VolumeChoice => {
                ("S0444", Blurs, "has claims that could be bound to volumes in several ways; this is not modelled")
            }
            Self::OtherVolume => (
                "S0445",
                Blurs,
                "runs with a volume of another driver than its storage class names now; a new one is not modelled",
            ),
            Self::ResourceClaims => {
                ("S0412", Widens, "claims devices that it does not have yet; which it would get is not modelled")
            }
            Self::RuntimeClass => (
                "S0413",
                Blurs,
                "has a runtime class that is not in the input and may add overhead, a node selector and tolerations",
            ),
            Self::SchedulingGates => {
                ("S0414", Widens, "waits for its scheduling gates to be lifted; this is not modelled")
            }
            Self::OtherScheduler => ("S0415", Blurs, "is placed by another scheduler, whose rules are not known"),
            Self::LimitRangeDefaults => (
                "S0416",
                Blurs,
                "lacks requests that a LimitRange of its namespace would give it today, or is given contradicting ones",
            ),
            Self::Quota => (
                "S0418",
                Widens,
                "may be refused by a ResourceQuota of its namespace that counts pods by priority class or affinity; this is not modelled",
            ),
            Self::Reference => (
                "S0465",
                Widens,
                "names a PriorityClass or a ServiceAccount that is not in the input, where others are; the API server refuses it if there is none",
            ),
            Self::Annotated => (
                "S0463",
                Blurs,
                "is in a namespace whose annotations make PodNodeSelector or PodTolerationRestriction change pods; this is not modelled",
            ),
            Self::Gate { changes: true, .. } => ("S0461", Blurs, "may be changed or refused when it is made"),
            Self::Gate { changes: false, .. } => ("S0462", Widens, "may be refused when it is made"),
            Self::SeenOtherwise => (
                "S0464",
                Notes,
                "has running pods that are not what its template makes, all in the same way: admission changes them, and it is taken to be as they are",
            ),
            Self::SeenApart => (
                "S0467",
                Blurs,
                "has running pods of its current revision that are not what its template makes: what a new one would be is not known",
            ),
            Self::OperatingSystem => (
                "S0466",
                Widens,
                "is for one operating system, which the kubelet of every other refuses, and not every node says which it has",
            ),
            Self::OtherPlugins => (
                "S0430",
                Widens,
                "may be refused by plugins or extenders of its scheduler's profile, whose rules are not known",
            ),
            Self::PartOfPlugin => {
                ("S0431", Blurs, "is placed by a profile that runs only a part of a plugin; this is not modelled")
            }
            Self::DefaultSpread => {
                ("S0432", Widens, "gets spread constraints from its scheduler's profile; this is not modelled")
            }
            Self::IgnoredResource => (
                "S0433",
                Blurs,
                "requests a resource that only some profiles of the scheduler look at; this is not modelled",
            ),
            Self::Group => {
                ("S0419", Widens, "is scheduled together with its group or not at all; this is not modelled")
            }
            Self::DeviceClass => {
                ("S0421", Blurs, "requests a resource that a DeviceClass may provide; this is not modelled")
            }
            Self::InstanceLabels => (
                "S0422",
                Blurs,
                "has labels that differ from instance to instance or are not known, and a selector looks at them; this is not modelled",
            ),
            Self::DaemonSpread => (
                "S0423",
                Blurs,
                "is a DaemonSet with spread constraints, which count only the node of each pod; this is not modelled",
            ),
            Self::NamespaceLabels => {
                ("S0424", Blurs, "selects namespaces by labels, and not every Namespace is in the input")
            }
            Self::BoundByName => (
                "S0425",
                Narrows,
                "names its node in its template and so evades the scheduler, whose rules are applied here all the same",
            ),
            Self::MissingDaemonSet => (
                "S0426",
                Notes,
                "belongs to a DaemonSet that is not in the input; it is taken as a pod pinned to its node",
            ),
            Self::Resized => (
                "S0428",
                Blurs,
                "is being resized, and until that is done the scheduler counts other requests; this is not modelled",
            ),
        }
    }

    /// Whether it still matters for a pod that no step deploys: what it does to others.
    pub(crate) fn outlives_deployment(self) -> bool {
        matches!(self, Self::NamespaceLabels | Self::Resized)
    }

    /// Whether it may undo a refusal: the pod may be another one by the time it is refused.
    pub(crate) fn may_undo_refusal(self) -> bool {
        matches!(
            self,
            Self::Gate { changes: true, .. } | Self::Annotated | Self::LimitRangeDefaults | Self::RuntimeClass
        )
    }

    /// The diagnostic about a pod type.
    pub(crate) fn diagnostic(self, pod: &str, span: Span) -> Diagnostic {
        let (code, effect, sentence) = self.facts();
        Diagnostic::stops(code, span, format!("{pod} {sentence}")).with_effect(effect).about(pod)
    }
}
