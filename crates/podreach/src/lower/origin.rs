//! Where the names of a cluster come from: for messages, reports and whoever asks for labels that no rule looks at.

use std::collections::BTreeMap;

use podreach_core::label::Labels;
use podreach_core::{NodeId, PodId};

use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::metadata::Metadata;
use super::typing::Typing;
use super::workload::Workload;
use crate::read::Span;

/// Every name of the input.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Pod types by each of their names, as `kind/namespace/name`.
    pub pods: BTreeMap<String, Origin>,
    /// Nodes by name.
    pub nodes: BTreeMap<String, Origin>,
    /// The running pods on nodes of the input, in the order of the input.
    pub instances: Vec<Instance>,
}

/// The object behind a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for a node.
    pub namespace: String,
    /// All labels of the node or of the pods, whether or not a rule looks at them.
    pub labels: BTreeMap<String, String>,
    /// Where it stands.
    pub span: Span,
    /// How many pods it asks for; `None` for what comes and goes, such as jobs, and for what another workload asks for.
    pub declared: Option<Declared>,
    /// Whether it is a pod that its owner would make otherwise today.
    pub outdated: bool,
    /// The findings it is to be spared (annotations `podreach.dev/ignore-CODE`), each with the reason given.
    pub exceptions: Vec<(String, String)>,
}

/// How many pods a workload asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The number; on each node that it may use, for a DaemonSet.
    pub replicas: u64,
    /// Whether the number is for each node.
    pub per_node: bool,
    /// How many pods a rollout may add and take away at a time; `None` where pods are replaced without one beside the other.
    pub rollout: Option<(u64, u64)>,
}

/// A running pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its own name, `pod/namespace/name`.
    pub name: String,
    /// Its type.
    pub pod: PodId,
    /// Where it runs.
    pub node: NodeId,
    /// Whether it is never deleted.
    pub kept: bool,
    /// Where it stands in the input.
    pub span: Span,
}

/// Collects the names of everything that has a type.
pub(crate) fn origins(cx: &Context, inventory: &Inventory, typing: &Typing, instances: Vec<Instance>) -> Origins {
    let named = |kind, metadata: &Metadata, labels: &Labels| {
        let origin = Origin {
            kind,
            namespace: metadata.namespace.clone(),
            labels: strings(cx, labels),
            span: metadata.span,
            declared: None,
            outdated: false,
            exceptions: metadata.exceptions.clone(),
        };
        (full_name(kind, metadata), origin)
    };
    let workload = |&at: &usize| {
        let workload = &inventory.workloads[at];
        let (name, origin) = named(workload.kind, &workload.metadata, &workload.template.labels);
        let declared = declared(workload).filter(|_| !typing.above.is_owned(at));
        (name, Origin { declared, ..origin })
    };
    let pod = |&at: &usize| {
        let pod = &inventory.pods[at];
        let (name, origin) = named(Kind::Pod, &pod.metadata, &pod.metadata.labels);
        let outdated = !typing.above.pods[at].is_empty();
        let one = Declared { replicas: 1, per_node: false, rollout: None };
        let declared = (!pod.finished && !outdated && !pod.metadata.terminating).then_some(one);
        (name, Origin { declared, outdated, ..origin })
    };
    Origins {
        pods: typing.workloads.keys().map(workload).chain(typing.named_pods.iter().map(pod)).collect(),
        nodes: inventory
            .nodes
            .iter()
            .map(|node| (node.name.clone(), named(Kind::Node, node, &node.labels).1))
            .collect(),
        instances,
    }
}

/// What a workload asks for to be up all the time.
fn declared(workload: &Workload) -> Option<Declared> {
    let lasting = [Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicationController];
    let scale = workload.scale;
    let replicas = scale.replicas.filter(|_| lasting.contains(&workload.kind))?;
    Some(Declared { replicas, per_node: scale.per_node, rollout: scale.rollout() })
}

fn strings(cx: &Context, labels: &Labels) -> BTreeMap<String, String> {
    let text = |symbol| cx.cluster.symbols.str(symbol).to_owned();
    labels.iter().map(|(key, value)| (text(key), text(value))).collect()
}
