//! Changes: what one edit does to one object, and what it is called.

use std::sync::Arc;

use podreach_core::cluster::{Taint, Toleration, TolerationOperator};
use podreach_core::id::{NamespaceId, QuotaId, ResourceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::resource::Amount;
use podreach_core::storage::Mounts;
use podreach_core::{Cluster, Model, NodeId, PodId};

use super::fact::{retain, term};
use crate::audit::policy::world::Part;
use crate::report::words;

/// What is changed; a label without a value is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Untaint(NodeId, Taint),
    Uncordon(NodeId),
    Label(NodeId, Symbol, Option<Symbol>),
    Enlarge(NodeId, ResourceId),
    Tolerate(PodId, Taint),
    NodeName(PodId),
    NodeSelector(PodId, Symbol),
    NodeAffinity(PodId),
    Affinity(PodId, usize),
    AntiAffinity(PodId, usize),
    Spread(PodId, usize),
    Ports(PodId),
    Request(PodId, ResourceId),
    Volumes(PodId),
    Devices(PodId),
    PodLabel(PodId, Symbol, Option<Symbol>),
    NamespaceLabel(NamespaceId, Symbol, Option<Symbol>),
    Quota(QuotaId),
}

impl Change {
    /// The pod or node that is changed.
    pub(super) fn object(self) -> (Option<PodId>, Option<NodeId>) {
        match self {
            Self::Untaint(node, _) | Self::Uncordon(node) | Self::Label(node, ..) | Self::Enlarge(node, _) => {
                (None, Some(node))
            }
            Self::Tolerate(pod, _)
            | Self::NodeName(pod)
            | Self::NodeSelector(pod, _)
            | Self::NodeAffinity(pod)
            | Self::Affinity(pod, _)
            | Self::AntiAffinity(pod, _)
            | Self::Spread(pod, _)
            | Self::Ports(pod)
            | Self::Request(pod, _)
            | Self::Volumes(pod)
            | Self::Devices(pod)
            | Self::PodLabel(pod, ..) => (Some(pod), None),
            Self::NamespaceLabel(..) | Self::Quota(_) => (None, None),
        }
    }

    /// The same change in a part of the world, which has its object.
    pub(super) fn within(self, map: &Part) -> Self {
        let pod = |pod: PodId| map.pods[pod].expect("the part has the pod");
        let node = |node: NodeId| map.nodes[node].expect("the part has the node");
        match self {
            Self::Untaint(n, taint) => Self::Untaint(node(n), taint),
            Self::Uncordon(n) => Self::Uncordon(node(n)),
            Self::Label(n, key, value) => Self::Label(node(n), key, value),
            Self::Enlarge(n, resource) => Self::Enlarge(node(n), resource),
            Self::Tolerate(p, taint) => Self::Tolerate(pod(p), taint),
            Self::NodeName(p) => Self::NodeName(pod(p)),
            Self::NodeSelector(p, key) => Self::NodeSelector(pod(p), key),
            Self::NodeAffinity(p) => Self::NodeAffinity(pod(p)),
            Self::Affinity(p, at) => Self::Affinity(pod(p), at),
            Self::AntiAffinity(p, at) => Self::AntiAffinity(pod(p), at),
            Self::Spread(p, at) => Self::Spread(pod(p), at),
            Self::Ports(p) => Self::Ports(pod(p)),
            Self::Request(p, resource) => Self::Request(pod(p), resource),
            Self::Volumes(p) => Self::Volumes(pod(p)),
            Self::Devices(p) => Self::Devices(pod(p)),
            Self::PodLabel(p, key, value) => Self::PodLabel(pod(p), key, value),
            Self::NamespaceLabel(..) | Self::Quota(_) => self,
        }
    }

    /// Makes the change.
    pub(super) fn apply(self, cluster: &mut Cluster) {
        match self {
            Self::Untaint(node, taint) => cluster.nodes[node].taints.retain(|other| *other != taint),
            Self::Uncordon(node) => cluster.nodes[node].unschedulable = false,
            Self::Label(node, key, value) => relabel(&mut cluster.nodes[node].labels, key, value),
            Self::Enlarge(node, resource) => cluster.nodes[node].allocatable.set(resource, Amount::MAX),
            Self::NamespaceLabel(namespace, key, value) => {
                relabel(cluster.namespace_labels.entry(namespace).or_default(), key, value);
            }
            Self::Quota(quota) => cluster.quotas[quota].hard = Amount::MAX,
            change => change.apply_to_pod(cluster),
        }
    }

    fn apply_to_pod(self, cluster: &mut Cluster) {
        let (Some(pod), _) = self.object() else { return };
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        match self {
            Self::Tolerate(_, Taint { key, value, effect }) => {
                let operator = TolerationOperator::Equal(value);
                spec.tolerations.push(Toleration { key: Some(key), operator, effect: Some(effect) });
            }
            Self::NodeName(_) => spec.node_name = None,
            Self::NodeSelector(_, key) => spec.node_selector.remove(key),
            Self::NodeAffinity(_) => spec.node_affinity = None,
            Self::Affinity(_, at) => retain(&mut spec.affinity, |other| other != at),
            Self::AntiAffinity(_, at) => retain(&mut spec.anti_affinity, |other| other != at),
            Self::Spread(_, at) => retain(&mut spec.spread, |other| other != at),
            Self::Ports(_) => spec.ports.clear(),
            Self::Request(_, resource) => spec.requests.set(resource, 0),
            Self::Volumes(_) => spec.mounts = Mounts::default(),
            Self::Devices(_) => spec.devices.clear(),
            Self::PodLabel(_, key, value) => relabel(&mut spec.labels, key, value),
            Self::NamespaceLabel(..)
            | Self::Quota(_)
            | Self::Untaint(..)
            | Self::Uncordon(_)
            | Self::Label(..)
            | Self::Enlarge(..) => {}
        }
    }

    /// The change as a condition.
    pub(super) fn shown(self, m: &Model) -> String {
        let (pod, node) = self.object();
        let pod = pod.map_or("", |pod| m.pod_name(pod));
        let node = node.map_or("", |node| m.node_name(node));
        let resource = |resource: ResourceId| m.str(m.cluster().resources[resource]);
        match self {
            Self::Untaint(_, taint) => format!("node {node} lost taint {}", words::taint(m, &taint)),
            Self::Uncordon(_) => format!("node {node} were uncordoned"),
            Self::Label(_, key, value) => labelled(m, &format!("node {node}"), key, value),
            Self::Enlarge(_, of) if of == m.pods_resource() => format!("node {node} had room for more pods"),
            Self::Enlarge(_, of) => format!("node {node} had more {}", resource(of)),
            Self::Tolerate(_, taint) => format!("{pod} tolerated {}", words::taint(m, &taint)),
            Self::NodeName(_) => format!("{pod} asked for no node by name"),
            Self::NodeSelector(_, key) => {
                let (Some(id), _) = self.object() else { return String::new() };
                let value = m.pod(id).node_selector.value(key).map_or("", |value| m.str(value));
                format!("{pod} lost node selector {}={value}", m.str(key))
            }
            Self::NodeAffinity(_) => format!("{pod} lost its required node affinity"),
            Self::Affinity(id, at) => format!("{pod} lost its required affinity {}", term(m, id, at, false)),
            Self::AntiAffinity(id, at) => format!("{pod} lost its required anti-affinity {}", term(m, id, at, true)),
            Self::Spread(id, at) => {
                format!("{pod} lost its spread constraint over {}", words::domain(m, m.pod(id).spread[at].key, true))
            }
            Self::Ports(_) => format!("{pod} took no ports of the host"),
            Self::Request(_, of) => format!("{pod} requested no {}", resource(of)),
            Self::Volumes(_) => format!("{pod} used no volumes"),
            Self::Devices(_) => format!("{pod} used no claimed devices"),
            Self::PodLabel(_, key, value) => labelled(m, pod, key, value),
            Self::Quota(id) => {
                let quota = &m.cluster().quotas[id];
                format!("quota {} granted more {}", quota.name, quota.resource)
            }
            Self::NamespaceLabel(id, key, value) => {
                let name = m.str(m.cluster().namespaces[id]);
                labelled(m, &format!("namespace {name}"), key, value)
            }
        }
    }
}

fn relabel(labels: &mut Labels, key: Symbol, value: Option<Symbol>) {
    match value {
        Some(value) => labels.set(key, value),
        None => labels.remove(key),
    }
}

fn labelled(m: &Model, who: &str, key: Symbol, value: Option<Symbol>) -> String {
    match value {
        Some(value) => format!("{who} got label {}={}", m.str(key), words::label_value(m, value)),
        None => format!("{who} lost label {}", m.str(key)),
    }
}
