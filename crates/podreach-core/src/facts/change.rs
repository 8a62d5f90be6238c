//! Changes: what someone may make of a cluster, one thing at a time.
//!
//! Audits ask about clusters that are not the input: with the pods of a tenant, with a node as its kubelet says it is, after an edit, with a
//! node drained. Each of them is the input with a list of these changes, so that evidence about it can be checked by whoever has the
//! input and the list.
//!
//! Some only add behaviour ([`Change::weakens`]): what can never be in the changed cluster can never be in the input either. Why, for each:
//!
//! ```text
//! Add                     a type that nobody deploys is as if it were not there, and whoever does not want it need not deploy it
//! Enlarge, Quota          more room refuses no deployment that there was room for
//! Ports, Request          by making light: the pod takes less and stands in fewer ways
//! NodeName, AntiAffinity  by dropping: one condition less on the pod, and none on others
//! Ask                     no rule looks at what asks for a node: a proof is about all shapes, and a run may rely on one more
//! ```
//! Others look as if they did and do not. A pod that tolerates or selects more, and a node that loses a taint or a cordon, may make a spread
//! constraint look at an empty domain more; a pod that loses one of several affinity terms has more friends and is no longer the
//! first of its kind; a label changes what selectors match, either way; a pod without its volume no longer shares it. See [`crate::weakening`].

use std::sync::Arc;

use crate::cluster::{Barred, Cluster, Lifetime, Node, Passing, Pod, PodSpec, Taint, Toleration, TolerationOperator};
use crate::id::{NamespaceId, NodeId, PodId, QuotaId, ResourceId, Symbol};
use crate::label::Labels;
use crate::resource::Amount;
use crate::storage::{Driver, Mounts};

/// What is changed; a label without a value is lost, and terms, constraints and tolerations go by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is another pod type.
    Add(Box<Pod>),
    /// No type but this one is ever deployed.
    Alone(PodId),
    /// A node is as its kubelet can say it is to have most pods there: ready, not cordoned, with room, drivers and features for all.
    Open(NodeId),
    /// A node is as its kubelet can say it is to have no pods there: without room.
    Close(NodeId),
    /// A node is cordoned for good.
    Cordon(NodeId),
    /// A node loses a taint.
    Untaint(NodeId, Taint),
    /// A node is uncordoned.
    Uncordon(NodeId),
    /// A node gets, changes or loses a label.
    Label(NodeId, Symbol, Option<Symbol>),
    /// A node has room without end.
    Enlarge(NodeId, ResourceId),
    /// Some pod asks for nodes such as this one, which is yet to come.
    Ask(NodeId),
    /// A node has none of a resource.
    Shrink(NodeId, ResourceId),
    /// A pod tolerates a taint.
    Tolerate(PodId, Taint),
    /// A pod loses a toleration.
    Untolerate(PodId, usize),
    /// A pod asks for no node by name.
    NodeName(PodId),
    /// A pod loses an entry of its node selector.
    NodeSelector(PodId, Symbol),
    /// A pod loses its required node affinity.
    NodeAffinity(PodId),
    /// A pod loses a required affinity term.
    Affinity(PodId, usize),
    /// A pod loses a required anti-affinity term.
    AntiAffinity(PodId, usize),
    /// A pod loses a hard spread constraint.
    Spread(PodId, usize),
    /// A pod takes no ports of the host.
    Ports(PodId),
    /// A pod requests none of a resource.
    Request(PodId, ResourceId),
    /// A pod uses no volumes.
    Volumes(PodId),
    /// A pod uses no claimed devices.
    Devices(PodId),
    /// A pod gets, changes or loses a label.
    PodLabel(PodId, Symbol, Option<Symbol>),
    /// A namespace gets, changes or loses a label.
    NamespaceLabel(NamespaceId, Symbol, Option<Symbol>),
    /// A quota grants without end.
    Quota(QuotaId),
}

impl Change {
    /// Whether it only adds behaviour, whatever the cluster.
    pub fn weakens(&self) -> bool {
        use Change::{Add, AntiAffinity, Ask, Enlarge, NodeName, Ports, Quota, Request};
        matches!(
            self,
            Add(_) | Enlarge(..) | Quota(_) | Ports(_) | Request(..) | NodeName(_) | AntiAffinity(..) | Ask(_)
        )
    }

    /// The pod or node that is changed, of those that are there.
    pub fn object(&self) -> (Option<PodId>, Option<NodeId>) {
        match *self {
            Self::Open(node)
            | Self::Close(node)
            | Self::Cordon(node)
            | Self::Untaint(node, _)
            | Self::Uncordon(node)
            | Self::Label(node, ..)
            | Self::Enlarge(node, _)
            | Self::Ask(node)
            | Self::Shrink(node, _) => (None, Some(node)),
            Self::Alone(pod)
            | Self::Tolerate(pod, _)
            | Self::Untolerate(pod, _)
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
            Self::Add(_) | Self::NamespaceLabel(..) | Self::Quota(_) => (None, None),
        }
    }

    /// Makes the change.
    pub fn apply(&self, cluster: &mut Cluster) {
        match *self {
            Self::Add(ref pod) => {
                cluster.pods.push(Pod::clone(pod));
            }
            Self::Alone(pod) => leave_alone(cluster, pod),
            Self::Open(node) => cluster.nodes[node] = opened(cluster, node),
            Self::Close(node) => {
                let resources: Vec<ResourceId> = cluster.resources.entries().ids().collect();
                resources.into_iter().for_each(|resource| cluster.nodes[node].allocatable.set(resource, 0));
            }
            Self::Cordon(node) => cluster.nodes[node].unschedulable = true,
            Self::Untaint(node, taint) => cluster.nodes[node].taints.retain(|other| *other != taint),
            Self::Uncordon(node) => cluster.nodes[node].unschedulable = false,
            Self::Label(node, key, value) => relabel(&mut cluster.nodes[node].labels, key, value),
            Self::Enlarge(node, resource) => cluster.nodes[node].allocatable.set(resource, Amount::MAX),
            Self::Ask(node) => {
                if let Lifetime::New(shape) = cluster.nodes[node].lifetime {
                    let shape = &mut cluster.shapes[shape];
                    shape.is_certain |= shape.is_certain_if_asked;
                }
            }
            Self::Shrink(node, resource) => cluster.nodes[node].allocatable.set(resource, 0),
            Self::NamespaceLabel(namespace, key, value) => {
                relabel(cluster.namespace_labels.entry(namespace).or_default(), key, value);
            }
            Self::Quota(quota) => cluster.quotas[quota].hard = Amount::MAX,
            _ => {
                if let (Some(pod), _) = self.object() {
                    self.apply_to(Arc::make_mut(&mut cluster.pods[pod].spec));
                }
            }
        }
    }

    /// What it does to the pod that it is about.
    fn apply_to(&self, spec: &mut PodSpec) {
        match *self {
            Self::Tolerate(_, Taint { key, value, effect }) => {
                let operator = TolerationOperator::Equal(value);
                spec.tolerations.push(Toleration { key: Some(key), operator, effect: Some(effect) });
            }
            Self::Untolerate(_, at) => lose(&mut spec.tolerations, at),
            Self::NodeName(_) => spec.node_name = None,
            Self::NodeSelector(_, key) => spec.node_selector.remove(key),
            Self::NodeAffinity(_) => spec.node_affinity = None,
            Self::Affinity(_, at) => lose(&mut spec.affinity, at),
            Self::AntiAffinity(_, at) => lose(&mut spec.anti_affinity, at),
            Self::Spread(_, at) => lose(&mut spec.spread, at),
            Self::Ports(_) => spec.ports.clear(),
            Self::Request(_, resource) => spec.requests.set(resource, 0),
            Self::Volumes(_) => spec.mounts = Mounts::default(),
            Self::Devices(_) => spec.devices.clear(),
            Self::PodLabel(_, key, value) => relabel(&mut spec.labels, key, value),
            _ => {}
        }
    }
}

fn lose<T>(items: &mut Vec<T>, at: usize) {
    if at < items.len() {
        items.remove(at);
    }
}

fn relabel(labels: &mut Labels, key: Symbol, value: Option<Symbol>) {
    match value {
        Some(value) => labels.set(key, value),
        None => labels.remove(key),
    }
}

/// Bars every type but one.
fn leave_alone(cluster: &mut Cluster, pod: PodId) {
    for other in cluster.pods.ids().filter(|&other| other != pod) {
        Arc::make_mut(&mut cluster.pods[other].spec).barred = Some(Barred::LeftOut("it is not to take part"));
    }
}

/// Taints that follow from what a kubelet says of its node.
const CONDITIONS: [&str; 7] = [
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
];

/// More of a resource than all pods can ask for.
const PLENTY: Amount = 1 << 100;

/// A node as its kubelet can say it is to have most pods there.
///
/// Kubernetes: `plugin/pkg/admission/noderestriction/admission.go`, `admitNode` and `admitCSINode`.
fn opened(cluster: &Cluster, node: NodeId) -> Node {
    let mut node = cluster.nodes[node].clone();
    node.unschedulable = false;
    node.passing = Passing::default();
    node.taints.retain(|taint| !CONDITIONS.contains(&cluster.symbols.str(taint.key)));
    for resource in cluster.resources.entries().ids() {
        node.allocatable.set(resource, PLENTY);
    }
    node.features.extend(cluster.pods.values().flat_map(|pod| &pod.spec.features));
    let attached = cluster.claims.entries().values().filter_map(|claim| claim.attachment);
    for driver in attached.map(|attachment| attachment.driver).chain(cluster.required_drivers.iter().copied()) {
        node.drivers.insert(driver, Driver::default());
    }
    node
}
