//! The origin of each pod type and node: its object, its labels and its place. Messages, reports and selections by label use it.

use std::collections::BTreeMap;

use podreach_core::cancel::polled;
use podreach_core::cluster::Replicas;
use podreach_core::label::Labels;
use podreach_core::{Cluster, NodeId, PodId};

use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::object::kind::Kind;
use super::object::metadata::Metadata;
use super::object::stand_in::is_stand_in;
use super::pod::Made;
use super::types::{Typing, ordinal};
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

impl Origins {
    /// The declared pods of StatefulSets that have types of their own: for each StatefulSet and number, the names of what that pod can be.
    pub(crate) fn numbered(&self) -> BTreeMap<(&str, u64), Vec<&str>> {
        let mut pods = BTreeMap::<(&str, u64), (bool, Vec<&str>)>::new();
        for (name, origin) in self.pods.iter().filter(|(_, origin)| !origin.outdated) {
            let set = origin.owners.iter().find(|(kind, _)| *kind == Kind::StatefulSet);
            let Some(((_, set), number)) = set.zip(origin.ordinal) else { continue };
            let (declared, types) = pods.entry((set, number)).or_default();
            *declared |= origin.declared.is_some();
            types.push(name);
        }
        pods.into_iter().filter(|(_, (declared, _))| *declared).map(|(pod, (_, types))| (pod, types)).collect()
    }
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
    /// Where it is.
    pub span: Span,
    /// How many pods it asks for; `None` for what comes and goes, such as jobs, and for what another workload asks for.
    pub declared: Option<Declared>,
    /// Whether it is a pod that its owner would make otherwise today.
    pub outdated: bool,
    /// The workloads that it belongs to, by kind and full name, the nearest first; and the pod it is, where its own name says more.
    pub owners: Vec<(Kind, String)>,
    /// Its number, where it is a pod of a StatefulSet with claims of its own.
    pub ordinal: Option<u64>,
    /// Whether it is a StatefulSet all of whose declared pods have claims of their own: it stands for pods beyond those.
    pub beyond: bool,
    /// Whether it is a workload that is not in the input, only pods of it.
    pub unseen: bool,
    /// Whether it makes no pods as it is: a job that has ended or is suspended, or a workload that is being deleted.
    pub idle: bool,
    /// The findings it is to be spared (annotations `podreach.dev/ignore-CODE`), each with the reason given.
    pub exceptions: Vec<(String, String)>,
}

impl Origin {
    /// An object that belongs to no other and asks for no pods.
    pub fn plain(kind: Kind, namespace: &str, labels: BTreeMap<String, String>, span: Span) -> Self {
        Self {
            kind,
            namespace: namespace.to_owned(),
            labels,
            span,
            declared: None,
            outdated: false,
            owners: Vec::new(),
            ordinal: None,
            beyond: false,
            unseen: false,
            idle: false,
            exceptions: Vec::new(),
        }
    }
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
    /// Whether it is being deleted, and of a type that others are of that are not.
    pub terminating: bool,
    /// The labels of its node that it carries and some selector looks at, where its type is without them.
    pub carried: Labels,
    /// Where it is in the input.
    pub span: Span,
}

/// Collects the names of everything that has a type.
pub(crate) fn origins(cx: &Context, inventory: &Inventory, typing: &Typing, instances: Vec<Instance>) -> Origins {
    let workloads = polled(typing.workloads.keys()).map(|&at| of_workload(cx, inventory, typing, at));
    let pods = polled(&typing.named_pods).map(|(&at, name)| of_pod(cx, inventory, typing, at, name));
    Origins {
        pods: workloads.chain(pods).collect(),
        nodes: polled(&inventory.nodes)
            .map(|node| (node.name.clone(), named(cx, Kind::Node, node, &node.labels).1))
            .collect(),
        instances,
    }
}

/// The full name of an object, and where it comes from.
fn named(cx: &Context, kind: Kind, metadata: &Metadata, labels: &Labels) -> (String, Origin) {
    let plain = Origin::plain(kind, &metadata.namespace, strings(cx, labels), metadata.span);
    (full_name(kind, metadata), Origin { exceptions: metadata.exceptions.clone(), ..plain })
}

/// A workload with what it declares beyond the pods that have types of their own.
fn of_workload(cx: &Context, inventory: &Inventory, typing: &Typing, at: usize) -> (String, Origin) {
    let workload = &inventory.workloads[at];
    let (name, origin) = named(cx, workload.kind, &workload.metadata, &workload.template.labels);
    let declared = declared(inventory, workload).filter(|_| !typing.above.is_owned(at) && !workload.unseen);
    let apart = typing.apart(inventory, at, ordinal::is_declared);
    let declared = declared.map(|declared| Declared { replicas: declared.replicas.saturating_sub(apart), ..declared });
    let beyond = apart > 0 && declared.is_some_and(|declared| declared.replicas == 0);
    let above = if typing.above.is_owned(at) { &typing.above.workloads[at][..] } else { &[] };
    let Workload { unseen, idle, .. } = *workload;
    (name, Origin { declared, owners: owners(inventory, above), beyond, unseen, idle, ..origin })
}

/// A pod that has a type of its own, under the name of that type.
fn of_pod(cx: &Context, inventory: &Inventory, typing: &Typing, at: usize, name: &str) -> (String, Origin) {
    let pod = &inventory.pods[at];
    let above = &typing.above.pods[at];
    let (title, origin) = named(cx, Kind::Pod, &pod.metadata, &pod.metadata.labels);
    let outdated = typing.outdated.contains(&at);
    let set = above.first().map(|&set| &inventory.workloads[set]).filter(|_| !outdated);
    let ordinal = set.and_then(|set| ordinal::number(set, &pod.metadata));
    let one = Declared { replicas: 1, per_node: false, rollout: None };
    let wanted = match (set, ordinal) {
        (Some(set), Some(number)) => ordinal::is_declared(set, number) && pod.made != Some(Made::Anew),
        _ => !outdated && !pod.finished && !pod.metadata.terminating,
    };
    let declared = wanted.then_some(one);
    let own = (name != title).then_some((Kind::Pod, title));
    let owners = own.into_iter().chain(owners(inventory, above)).collect();
    (name.to_owned(), Origin { declared, outdated, owners, ordinal, ..origin })
}

/// The pods of workloads that have types of their own, by the type of the workload: declared pods of StatefulSets, and pods that wait.
pub(crate) fn replicas(cluster: &Cluster, origins: &Origins) -> BTreeMap<PodId, Replicas> {
    let pods = origins.numbered();
    let twins = cluster.waiting.iter().filter(|(pod, _)| cluster.is_twin(**pod));
    let twins: BTreeMap<PodId, PodId> = twins.map(|(&pod, waiting)| (waiting.of, pod)).collect();
    let alone =
        |(&of, &pod): (&PodId, &PodId)| (of, Replicas { others: true, waiting: Some(pod), ..Replicas::default() });
    let mut replicas: BTreeMap<PodId, Replicas> = twins.iter().map(alone).collect();
    if pods.is_empty() {
        return replicas;
    }
    let types = cluster.pods.iter().filter(|(id, _)| !cluster.is_twin(*id));
    let ids: BTreeMap<&str, PodId> = types.map(|(id, pod)| (pod.name.as_str(), id)).collect();
    for ((set, _), types) in pods {
        let Some(&id) = ids.get(set) else { continue };
        let of_set = replicas.entry(id).or_default();
        of_set.others = origins.pods.get(set).is_some_and(|origin| !origin.beyond);
        let types: Vec<PodId> = types.into_iter().filter_map(|name| ids.get(name).copied()).collect();
        let bare =
            types.iter().copied().find(|&pod| !cluster.pods[pod].name.ends_with(')')).filter(|_| types.len() > 1);
        let types = types.into_iter();
        of_set.numbered.push(types.flat_map(|pod| [Some(pod), twins.get(&pod).copied()]).flatten().collect());
        // A pod by its name is whatever it can be.
        if let Some((bare, types)) = bare.zip(of_set.numbered.last().cloned()) {
            let rest = types.into_iter().filter(|&pod| pod != bare).collect();
            replicas.entry(bare).or_insert(Replicas { others: true, ..Replicas::default() }).numbered.push(rest);
        }
    }
    replicas
}

/// Adds the types of running pods that carry labels of their own, each after the type of what would be made in their place.
pub(crate) fn carry(replicas: &mut BTreeMap<PodId, Replicas>, carried: &[(PodId, PodId)]) {
    let mut by_type: BTreeMap<PodId, Vec<PodId>> = BTreeMap::new();
    carried.iter().for_each(|&(of, pod)| by_type.entry(of).or_default().push(pod));
    for types in replicas.values_mut().flat_map(|replicas| &mut replicas.numbered) {
        let more: Vec<PodId> = types.iter().filter_map(|of| by_type.get(of)).flatten().copied().collect();
        types.extend(more);
    }
    for (of, pods) in by_type {
        replicas.entry(of).or_insert(Replicas { others: true, ..Replicas::default() }).carried.extend(pods);
    }
}

/// What a workload asks for to be up all the time, with the autoscalers that it has.
fn declared(inventory: &Inventory, workload: &Workload) -> Option<Declared> {
    let lasting = [Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicationController];
    let scale = workload.scale.autoscaled(inventory.autoscaled.get(&workload.target()).copied());
    let replicas = scale.replicas.filter(|_| lasting.contains(&workload.kind))?;
    let replicas = if workload.idle { 0 } else { replicas };
    Some(Declared { replicas, per_node: scale.per_node, rollout: scale.rollout() })
}

/// The names of workloads.
fn owners(inventory: &Inventory, above: &[usize]) -> Vec<(Kind, String)> {
    above.iter().map(|one| owner(inventory, one)).collect()
}

fn owner(inventory: &Inventory, &at: &usize) -> (Kind, String) {
    (inventory.workloads[at].kind, full_name(inventory.workloads[at].kind, &inventory.workloads[at].metadata))
}

fn strings(cx: &Context, labels: &Labels) -> BTreeMap<String, String> {
    let text = |symbol| cx.cluster.symbols.str(symbol).to_owned();
    let known = labels.iter().map(|(key, value)| (text(key), text(value)));
    known.filter(|(_, value)| !is_stand_in(value)).collect()
}
