//! Assumptions: what verdicts take for granted, because the input cannot show it and no weakening covers it.
//!
//! What matters to placement is modelled, or it is assumed and listed here with every verdict, or it is in doubt and spoils the verdicts
//! that it could change (`answer.rs`). There is nothing else.

use podreach_core::id::Symbol;
use podreach_core::{Cluster, Semantics, Verdict};

use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::{Kind, Lowered, Nodes, Options, ReleaseBy};

/// What an assumption is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Which nodes there are, and what they are like.
    Nodes,
    /// The Kubernetes release.
    Release,
    /// How kube-scheduler is set up.
    Scheduler,
    /// What the API server changes in new pods, and which it refuses.
    Admission,
    /// What makes pods.
    Pods,
    /// Claims, volumes and drivers.
    Volumes,
    /// Who makes the steps of a run.
    Steps,
}

impl Topic {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Nodes, Self::Release, Self::Scheduler, Self::Admission, Self::Pods, Self::Volumes, Self::Steps];

    /// Its stable code; `docs/diagnostics.md` explains each.
    pub fn code(self) -> &'static str {
        match self {
            Self::Nodes => "A0101",
            Self::Release => "A0102",
            Self::Scheduler => "A0103",
            Self::Admission => "A0104",
            Self::Pods => "A0105",
            Self::Volumes => "A0106",
            Self::Steps => "A0107",
        }
    }

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Release => "release",
            Self::Scheduler => "scheduler",
            Self::Admission => "admission",
            Self::Pods => "pods",
            Self::Volumes => "volumes",
            Self::Steps => "steps",
        }
    }
}

/// Something that verdicts take for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What it is about.
    pub topic: Topic,
    /// In a few words.
    pub brief: String,
    /// All of it, with what gives reason to doubt it.
    pub text: String,
}

impl Assumption {
    /// Whether a verdict needs it: who makes steps matters only where some are made.
    pub fn bears_on(&self, verdict: &Verdict) -> bool {
        match verdict {
            _ if self.topic != Topic::Steps => true,
            Verdict::Deployable(trace) => !trace.is_empty(),
            Verdict::Never(_) | Verdict::Unknown(_) => false,
        }
    }
}

/// What all verdicts about a cluster assume, in the order of their codes.
pub fn assumptions(lowered: &Lowered, options: &Options, semantics: Semantics) -> Vec<Assumption> {
    let one = |topic| {
        let general = general(topic, &lowered.cluster, options, semantics);
        let of_input = lowered.assumed.iter().filter(|(about, _)| *about == topic).map(|(_, text)| text.clone());
        let remarks = said(topic, &lowered.diagnostics);
        let text: Vec<String> = general.into_iter().map(str::to_owned).chain(of_input).chain(remarks).collect();
        (!text.is_empty()).then(|| Assumption { topic, brief: brief(topic, options), text: text.join("; ") })
    };
    Topic::ALL.into_iter().filter_map(one).collect()
}

fn brief(topic: Topic, options: &Options) -> String {
    match topic {
        Topic::Release if options.release_by == ReleaseBy::Kubelets => {
            format!("Kubernetes {} by its kubelets", options.release)
        }
        Topic::Release => format!("Kubernetes {}", options.release),
        _ => topic.name().to_owned(),
    }
}

/// What is assumed whatever the input says; `None` where the input leaves nothing open.
fn general(topic: Topic, cluster: &Cluster, options: &Options, semantics: Semantics) -> Option<&'static str> {
    let scheduled = semantics == Semantics::KubeScheduler;
    match topic {
        Topic::Nodes if scheduled && options.nodes == Nodes::Settled => {
            Some("no node is added, removed or changed, but that cordons and passing taints go")
        }
        Topic::Nodes => Some("no node is added, removed or changed"),
        Topic::Scheduler => scheduled
            .then_some("kube-scheduler has its default feature gates, and the default profile unless another is given"),
        Topic::Admission => options.admission.then_some(
            "nothing changes or refuses new pods but the default plugins, without exemptions, and what the input shows",
        ),
        Topic::Pods => Some("pods come from the workloads and pods of the input as they are, and keep their labels"),
        Topic::Volumes => (scheduled && !cluster.claims.entries().is_empty()).then_some(
            "claims, volumes and drivers are those of the input, and new volumes are made where they may be",
        ),
        Topic::Steps => Some("somebody deletes the pods that a run deletes, and nothing else happens in between"),
        Topic::Release => None,
    }
}

/// What remarks assume about a topic: the first of each code, and how many more there are.
fn said(topic: Topic, diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut codes: Vec<(&Diagnostic, usize)> = Vec::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.effect == Effect::Assumes(topic)) {
        match codes.iter_mut().find(|(first, _)| first.code == diagnostic.code) {
            Some((_, more)) => *more += 1,
            None => codes.push((diagnostic, 0)),
        }
    }
    let told = |(first, more): (&Diagnostic, usize)| match more {
        0 => format!("{} ({})", first.message, first.code),
        more => format!("{} ({}, and {more} more)", first.message, first.code),
    };
    codes.into_iter().map(told).collect()
}

/// The labels by which pools of nodes are known that something else than the cluster's users makes larger and smaller.
const POOLS: [&str; 10] = [
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "doks.digitalocean.com/node-pool",
    "k8s.scaleway.com/pool-name",
    "oci.oraclecloud.com/node-pool",
    "ibm-cloud.kubernetes.io/worker-pool-name",
    "node.cluster.x-k8s.io/machine-pool",
];

/// What the input as a whole leaves open: whether its nodes are a pool's, which release it is of, what namespaces that are not in it are
/// like, whether it has all that there is of some kind, and what becomes of pods that wait.
pub(crate) fn of_input(cluster: &Cluster, unknown_namespaces: &[&str], options: &Options) -> Vec<(Topic, String)> {
    let pool = POOLS.into_iter().find(|key| cluster.symbols.symbol(key).is_some_and(|key| is_on_a_node(cluster, key)));
    let pool = pool.map(|key| (Topic::Nodes, format!("some carry {key}, and pools come and go")));
    let release = options.release.assumption(options.release_by).map(|text| (Topic::Release, text));
    let namespaces = namespaces(unknown_namespaces).filter(|_| options.admission);
    let complete = options.complete.iter().map(|&kind| {
        let topic = match kind {
            Kind::Pod => Topic::Pods,
            Kind::PriorityClass | Kind::ServiceAccount => Topic::Admission,
            _ => Topic::Volumes,
        };
        (topic, format!("the input has every {} (--complete)", kind.name()))
    });
    let waiting = "pods that wait for a node are deleted before the first step of a run that does not bind them";
    let waiting = (!cluster.waiting.is_empty()).then(|| (Topic::Steps, waiting.to_owned()));
    let namespaces = namespaces.map(|text| (Topic::Admission, text));
    pool.into_iter().chain(release).chain(namespaces).chain(complete).chain(waiting).collect()
}

fn is_on_a_node(cluster: &Cluster, key: Symbol) -> bool {
    cluster.nodes.values().any(|node| node.labels.value(key).is_some())
}

fn namespaces(unknown: &[&str]) -> Option<String> {
    let which = match unknown {
        [] => return None,
        [one] => format!("namespace {one} is"),
        [one, more @ ..] => format!("namespace {one} and {} more are", more.len()),
    };
    Some(format!("{which} not in the input and taken to have no labels and annotations"))
}
