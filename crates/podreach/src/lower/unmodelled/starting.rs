//! Nodes that are still starting: with the taint that says so go labels that are missing, and devices that nobody has counted yet.
//!
//! The cloud's node controller adds zone, region and instance type in the sync that removes its taint; Karpenter gives a node all its labels when
//! it registers it. Which values they get is not known, so a pod is in doubt if a label of such a node that may come decides about it.
//! Kubernetes: `cloud-provider/controllers/node/node_controller.go`, `syncNode`. Karpenter: `nodeclaim/lifecycle/registration.go`.

use podreach_core::Cluster;
use podreach_core::cluster::{Node, NodeRequirement, NodeTerm, PodSpec, TaintEffect};
use podreach_core::id::Symbol;

use super::cause::Cause;
use crate::lower::node::transient::{self, Starting};
use crate::lower::pool::tolerates;

/// Labels that a cloud's node controller adds.
const OF_CLOUD: [&str; 6] = [
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Labels that the kubelet gives its node itself.
const OF_KUBELET: [&str; 5] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
];

/// The nodes of a cluster that are still starting.
pub(super) struct StartingNodes<'c> {
    cluster: &'c Cluster,
    nodes: Vec<(&'c Node, Starting)>,
    /// Whether pods repel others by a label that may come: then every pod may be refused where such a label is missing.
    repelling: bool,
}

impl<'c> StartingNodes<'c> {
    /// Those of a cluster with pods of these specs; `None` if there are none.
    pub(super) fn new<'s>(cluster: &'c Cluster, mut specs: impl Iterator<Item = &'s PodSpec>) -> Option<Self> {
        let starting = |node: &'c Node| Some((node, transient::starting(cluster, node)?));
        let nodes: Vec<_> = cluster.nodes.values().filter_map(starting).collect();
        let mut all = Some(Self { cluster, nodes, repelling: false }).filter(|all| !all.nodes.is_empty())?;
        all.repelling = specs.any(|spec| all.repels(spec));
        Some(all)
    }

    /// What about a pod is in doubt because of them.
    pub(super) fn causes(&self, spec: &PodSpec, has_claims: bool) -> Vec<Cause> {
        let may_come = self.nodes.iter().any(|&(node, how)| {
            let near = self.near_keys(spec).any(|key| self.is_open(node, how, key));
            near || (self.may_fit(spec, node, how) && (has_claims || self.waits_for_more(spec, node, how)))
        });
        let may_be_refused = self.repelling || self.nodes.iter().any(|&(node, how)| self.shuns(spec, node, how));
        let found = [(Cause::StartingNode, may_come), (Cause::SettlingLabels, may_be_refused)];
        found.into_iter().filter(|(_, holds)| *holds).map(|(cause, _)| cause).collect()
    }

    /// Whether a node may get a label that it does not have.
    fn is_open(&self, node: &Node, how: Starting, key: Symbol) -> bool {
        let name = self.cluster.symbols.str(key);
        node.labels.value(key).is_none()
            && match how {
                Starting::Cloud => OF_CLOUD.contains(&name),
                Starting::Registration => !OF_KUBELET.contains(&name),
            }
    }

    /// The labels by which a pod looks at other pods.
    fn near_keys<'s>(&'s self, spec: &'s PodSpec) -> impl Iterator<Item = Symbol> + 's {
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.key);
        terms.chain(spec.spread.iter().map(|spread| spread.key)).map(|key| self.cluster.keys[key])
    }

    fn repels(&self, spec: &PodSpec) -> bool {
        let keys = || spec.anti_affinity.iter().map(|term| self.cluster.keys[term.key]);
        self.nodes.iter().any(|&(node, how)| keys().any(|key| self.is_open(node, how, key)))
    }

    /// Whether a pod may fit on a node by itself once it has all its labels and devices.
    fn may_fit(&self, spec: &PodSpec, node: &Node, how: Starting) -> bool {
        let hard: Vec<_> =
            node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule).copied().collect();
        let has = |key: Symbol, value: Symbol| match node.labels.value(key) {
            Some(own) => own == value,
            None => self.is_open(node, how, key),
        };
        let terms = spec.node_affinity.iter().chain(&spec.added_affinity);
        tolerates(spec, &hard)
            && spec.node_name.is_none_or(|name| name == node.name)
            && spec.node_selector.iter().all(|(key, value)| has(key, value))
            && terms.into_iter().all(|terms| terms.iter().any(|term| self.may_match(term, node, how)))
            && spec
                .requests
                .iter()
                .all(|(resource, amount)| amount <= node.allocatable.amount(resource) || self.is_device(resource))
    }

    fn may_match(&self, term: &NodeTerm, node: &Node, how: Starting) -> bool {
        term.expressions.iter().all(|(key, requirement)| match requirement {
            NodeRequirement::Label(allowed) => allowed.allows(node.labels.value(*key)) || self.is_open(node, how, *key),
            NodeRequirement::Above(_) | NodeRequirement::Below(_) => true,
        })
    }

    fn is_device(&self, resource: podreach_core::id::ResourceId) -> bool {
        transient::is_device(self.cluster.symbols.str(self.cluster.resources[resource]))
    }

    /// Whether it takes a label or a device that is yet to come.
    fn waits_for_more(&self, spec: &PodSpec, node: &Node, how: Starting) -> bool {
        let selected = spec.node_selector.iter().map(|(key, _)| key);
        let lacks = |(resource, amount)| self.is_device(resource) && amount > node.allocatable.amount(resource);
        selected.chain(expressions(spec).map(|(key, _)| *key)).any(|key| self.is_open(node, how, key))
            || spec.requests.iter().any(lacks)
    }

    /// Whether it asks for the absence of a label that may come, or that it has other values.
    fn shuns(&self, spec: &PodSpec, node: &Node, how: Starting) -> bool {
        let absent =
            |requirement: &NodeRequirement| matches!(requirement, NodeRequirement::Label(allowed) if allowed.absent);
        expressions(spec).any(|(key, requirement)| absent(requirement) && self.is_open(node, how, *key))
    }
}

/// The requirements on labels in the node affinity of a pod.
fn expressions(spec: &PodSpec) -> impl Iterator<Item = &(Symbol, NodeRequirement)> {
    let terms = spec.node_affinity.iter().chain(&spec.added_affinity).flatten();
    terms.flat_map(|term| &term.expressions)
}
