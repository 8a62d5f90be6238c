//! Facts that let pods run: what a rule of what is possible stands on, and clusters without some of it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use podreach_core::change::Change;
use podreach_core::id::{NamespaceId, ResourceId, Symbol};
use podreach_core::{Model, NodeId, PodId};
use serde_json::{Value, json};

use super::{edit, label};
use crate::audit::changed::{Step, condition, tolerated};
use crate::audit::content;
use crate::audit::policy::packing::Want;
use crate::audit::policy::world::{Part, World, nodes_named};
use crate::audit::policy::{Property, property};
use crate::lower::{Lowered, Origins};
use crate::words::{self, amount};

/// Something that lets pods run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Support {
    /// There is a node.
    Node(NodeId),
    /// A node has a label that a pod or the rule asks for.
    Label(NodeId, String),
    /// A node has some of a resource.
    Room(NodeId, ResourceId),
    /// A pod has a toleration, by its index.
    Toleration(PodId, usize),
    /// A pod has a label by which others are drawn to it.
    PodLabel(PodId, Symbol),
    /// A namespace has a label by which pods are drawn to its pods.
    NamespaceLabel(NamespaceId, Symbol),
    /// A workload that the rule does not select can be deployed.
    Other(PodId),
}

/// A rule of what is possible, in a world in which it holds.
pub(crate) struct Ground<'a> {
    /// What the rule reads of the input: labels of nodes, and what workloads declare.
    lowered: Lowered,
    pub(crate) property: &'a Property,
    pub(crate) world: World,
}

impl<'a> Ground<'a> {
    /// For a rule in a world.
    pub(crate) fn new(lowered: &Lowered, property: &'a Property, world: World) -> Self {
        let cluster = world.model().cluster();
        let names = cluster.pods.values().map(|pod| &pod.name);
        let pods = names.filter_map(|name| Some((name.clone(), lowered.origins.pods.get(name)?.clone()))).collect();
        let nodes = nodes_named(world.model()).map(|(_, name)| name);
        let nodes =
            nodes.filter_map(|name| Some((name.to_owned(), lowered.origins.nodes.get(name)?.clone()))).collect();
        let origins = Origins { pods, nodes, instances: Vec::new() };
        Self { lowered: Lowered { origins, ..Lowered::default() }, property, world }
    }

    /// What the rule wants.
    pub(crate) fn wants(&self) -> Vec<Want> {
        property::wanted(&self.lowered, self.property, &self.world)
    }

    /// All that it depends on, as text.
    pub(crate) fn content(&self) -> String {
        let Origins { pods, nodes, .. } = &self.lowered.origins;
        let pods = pods.iter().map(|(name, origin)| format!("{name} {:?} {}\n", origin.declared, origin.outdated));
        let nodes = nodes.iter().map(|(name, origin)| format!("{name} {:?}\n", origin.labels));
        format!("{:?}\n{}{}", self.property, content::world(&self.world), pods.chain(nodes).collect::<String>())
    }

    /// What the rule reads of the input.
    pub(crate) fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The part of it with these pods and nodes.
    pub(crate) fn part(&self, pods: &BTreeSet<PodId>, nodes: &BTreeSet<NodeId>) -> (Self, Part) {
        let (world, part) = self.world.part(|pod| pods.contains(&pod), |node| nodes.contains(&node));
        (Self::new(&self.lowered, self.property, world), part)
    }

    /// The pods that matter: those the rule speaks of, and whoever may help them.
    pub(crate) fn pods(&self) -> BTreeSet<PodId> {
        self.world.relevant(self.wants().iter().map(|want| want.pod).chain(self.world.pods(0)))
    }

    /// Every fact about these pods and nodes.
    pub(crate) fn facts(&self, pods: &BTreeSet<PodId>, nodes: &BTreeSet<NodeId>) -> Vec<Support> {
        let m = self.world.model();
        let mut facts = Vec::new();
        let keys = self.keys(pods);
        let requested = pods.iter().flat_map(|&pod| m.pod(pod).requests.iter().map(|(resource, _)| resource));
        let resources: BTreeSet<ResourceId> = requested.chain([m.pods_resource()]).collect();
        for &node in nodes {
            facts.push(Support::Node(node));
            let labels = self.lowered.origins.nodes.get(m.node_name(node)).map(|origin| &origin.labels);
            let carried = keys.iter().filter(|key| labels.is_some_and(|labels| labels.contains_key(*key)));
            facts.extend(carried.map(|key| Support::Label(node, key.clone())));
            let there = resources.iter().filter(|&&resource| m.node(node).allocatable.amount(resource) > 0);
            facts.extend(there.map(|&resource| Support::Room(node, resource)));
        }
        let kept: BTreeSet<PodId> = self.world.problem.kept.iter().map(|((pod, _), _)| pod).collect();
        for &pod in pods {
            facts.extend((0..m.pod(pod).tolerations.len()).map(|at| Support::Toleration(pod, at)));
            let other = self.world.selected[pod].is_empty() && !kept.contains(&pod);
            facts.extend(other.then_some(Support::Other(pod)));
        }
        let (of_pods, of_namespaces) = label::drawing(m, pods);
        facts.extend(of_pods.into_iter().map(|(pod, key)| Support::PodLabel(pod, key)));
        facts.extend(of_namespaces.into_iter().map(|(namespace, key)| Support::NamespaceLabel(namespace, key)));
        facts
    }

    /// The labels of nodes that pods or the rule look at. A node cannot lose its own name.
    fn keys(&self, pods: &BTreeSet<PodId>) -> BTreeSet<String> {
        let m = self.world.model();
        let mut keys: BTreeSet<String> = edit::keys(m, pods).into_keys().map(|key| m.str(key).to_owned()).collect();
        if let Property::Possible { spread_over, nodes, .. } = self.property {
            keys.extend(spread_over.iter().cloned());
            keys.extend(nodes.labels.keys().map(|(key, _)| key.to_owned()));
        }
        keys.remove("kubernetes.io/hostname");
        keys
    }

    /// The same without some facts.
    pub(crate) fn without(&self, lost: &[Support]) -> Self {
        let m = self.world.model();
        let (mut cluster, mut lowered) = (m.facts(), self.lowered.clone());
        for fact in lost {
            if let Support::Label(node, key) = fact {
                let origin = lowered.origins.nodes.get_mut(m.node_name(*node));
                origin.into_iter().for_each(|origin| drop(origin.labels.remove(key)));
            }
        }
        // Of several tolerations of a pod the last goes first, so that the others keep their places.
        let mut changes: Vec<Change> = lost.iter().filter_map(|fact| fact.change(m)).collect();
        changes.sort_by_key(|change| Reverse(if let Change::Untolerate(_, at) = *change { at } else { 0 }));
        changes.iter().for_each(|change| change.apply(&mut cluster));
        let pods: BTreeSet<PodId> =
            lost.iter().filter_map(|fact| if let Support::Other(pod) = *fact { Some(pod) } else { None }).collect();
        let nodes: BTreeSet<NodeId> =
            lost.iter().filter_map(|fact| if let Support::Node(node) = *fact { Some(node) } else { None }).collect();
        let (world, _) = self.world.part_of(cluster, |pod| !pods.contains(&pod), |node| !nodes.contains(&node));
        Self { lowered, property: self.property, world }
    }

    /// The same without one fact, with what that is called in documents.
    pub(crate) fn losing(&self, fact: &Support) -> Self {
        let m = self.world.model();
        let mut without = self.without(std::slice::from_ref(fact));
        fact.loss(m).into_iter().for_each(|step| without.world.changes.push(m, &step));
        without
    }
}

impl Support {
    /// What makes the world without the fact; nothing for a label that the rule alone looks at.
    fn loss(&self, m: &Model) -> Option<Step> {
        match *self {
            Self::Node(node) => Some(Step::LoseNode(node)),
            Self::Other(pod) => Some(Step::LosePod(pod)),
            _ => self.change(m).map(Step::Change),
        }
    }

    /// The loss by name, which no other has.
    pub(crate) fn loss_by_name(&self, m: &Model) -> Value {
        match (self.loss(m), self) {
            (Some(step), _) => step.by_name(m),
            (None, Self::Label(node, key)) => json!({"change": "label", "node": m.node_name(*node), "key": key}),
            (None, _) => Value::Null,
        }
    }

    /// The fact of a part as a fact of the whole.
    pub(crate) fn back(self, map: &Part) -> Self {
        match self {
            Self::Node(node) => Self::Node(map.old_node(node)),
            Self::Label(node, key) => Self::Label(map.old_node(node), key),
            Self::Room(node, resource) => Self::Room(map.old_node(node), resource),
            Self::Toleration(pod, at) => Self::Toleration(map.old_pod(pod), at),
            Self::PodLabel(pod, key) => Self::PodLabel(map.old_pod(pod), key),
            Self::NamespaceLabel(..) => self,
            Self::Other(pod) => Self::Other(map.old_pod(pod)),
        }
    }

    /// The node it is about, if it is about one.
    pub(crate) fn node(&self) -> Option<NodeId> {
        match *self {
            Self::Node(node) | Self::Label(node, _) | Self::Room(node, _) => Some(node),
            _ => None,
        }
    }

    /// The loss of the fact as a change; `None` for that of a node or a pod type.
    fn change(&self, m: &Model) -> Option<Change> {
        Some(match *self {
            Self::Node(_) | Self::Other(_) => return None,
            Self::Label(node, ref key) => Change::Label(node, m.cluster().symbols.symbol(key)?, None),
            Self::Room(node, resource) => Change::Shrink(node, resource),
            Self::Toleration(pod, at) => Change::Untolerate(pod, at),
            Self::PodLabel(pod, key) => Change::PodLabel(pod, key, None),
            Self::NamespaceLabel(namespace, key) => Change::NamespaceLabel(namespace, key, None),
        })
    }

    /// The loss of the fact, as a condition.
    pub(crate) fn lost(&self, m: &Model) -> String {
        match *self {
            Self::Node(node) => format!("node {} were lost", m.node_name(node)),
            Self::Other(pod) => format!("there were no {}", m.pod_name(pod)),
            // A label that only the rule looks at is not a symbol of the cluster.
            Self::Label(node, ref key) => format!("node {} lost label {key}", m.node_name(node)),
            _ => self.change(m).map(|change| condition(&change, m)).unwrap_or_default(),
        }
    }

    /// The fact in words; of a node, what is asked of it.
    fn shown(&self, m: &Model, labels: &dyn Fn(NodeId, &str) -> String) -> String {
        match *self {
            Self::Node(node) => format!("node {}", m.node_name(node)),
            Self::Label(node, ref key) => format!("label {key}={}", labels(node, key)),
            Self::Room(node, resource) => {
                let has = amount(m, resource, m.node(node).allocatable.amount(resource));
                match resource == m.pods_resource() {
                    true => format!("room for {has} pods"),
                    false => format!("{has} {}", m.str(m.cluster().resources[resource])),
                }
            }
            Self::Toleration(pod, at) => {
                format!("{} tolerates {}", m.pod_name(pod), tolerated(m, m.pod(pod).tolerations[at]))
            }
            Self::PodLabel(pod, key) => {
                let value = m.pod(pod).labels.value(key).map_or("", |value| words::label_value(m, value));
                format!("{} has label {}={value}", m.pod_name(pod), m.str(key))
            }
            Self::NamespaceLabel(namespace, key) => {
                format!("namespace {} has label {}", m.str(m.cluster().namespaces[namespace]), m.str(key))
            }
            Self::Other(pod) => format!("{} can be deployed", m.pod_name(pod)),
        }
    }
}

/// Facts in words, those of a node in one line.
pub(crate) fn shown(ground: &Ground<'_>, core: &[Support]) -> Vec<String> {
    let m = ground.world.model();
    let labels = |node: NodeId, key: &str| label_of(ground, node, key);
    let mut lines = Vec::new();
    for fact in core {
        match fact {
            Support::Node(node) => {
                let own = core.iter().filter(|other| other.node() == Some(*node) && *other != fact);
                let own: Vec<String> = own.map(|other| other.shown(m, &labels)).collect();
                let with = if own.is_empty() { String::new() } else { format!(", with {}", words::all(&own)) };
                lines.push(fact.shown(m, &labels) + &with);
            }
            Support::Label(..) | Support::Room(..) => {}
            other => lines.push(other.shown(m, &labels)),
        }
    }
    lines
}

/// The value of a node's label, as the input has it.
fn label_of(ground: &Ground<'_>, node: NodeId, key: &str) -> String {
    let origin = ground.lowered.origins.nodes.get(ground.world.model().node_name(node));
    origin.and_then(|origin| origin.labels.get(key)).cloned().unwrap_or_default()
}
