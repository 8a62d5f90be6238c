//! Where the names of a cluster come from: for messages, reports and whoever asks for labels that no rule looks at.

use std::collections::BTreeMap;

use podreach_core::label::Labels;
use podreach_core::{NodeId, PodId};

use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::metadata::Metadata;
use super::typing::Typing;
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
        let origin =
            Origin { kind, namespace: metadata.namespace.clone(), labels: strings(cx, labels), span: metadata.span };
        (full_name(kind, metadata), origin)
    };
    let workloads = typing.workloads.keys().map(|&at| &inventory.workloads[at]);
    let pods = typing.named_pods.iter().map(|&at| &inventory.pods[at]);
    Origins {
        pods: workloads
            .map(|workload| named(workload.kind, &workload.metadata, &workload.template.labels))
            .chain(pods.map(|pod| named(Kind::Pod, &pod.metadata, &pod.metadata.labels)))
            .collect(),
        nodes: inventory
            .nodes
            .iter()
            .map(|node| (node.name.clone(), named(Kind::Node, node, &node.labels).1))
            .collect(),
        instances,
    }
}

fn strings(cx: &Context, labels: &Labels) -> BTreeMap<String, String> {
    let text = |symbol| cx.cluster.symbols.str(symbol).to_owned();
    labels.iter().map(|(key, value)| (text(key), text(value))).collect()
}
