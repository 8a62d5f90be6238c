//! Facts that keep pods off nodes, and clusters without some of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::cluster::{Taint, TaintEffect};
use podreach_core::id::{QuotaId, ResourceId, Symbol};
use podreach_core::resource::Amount;
use podreach_core::rule::{Refusal, first_refusal};
use podreach_core::storage::Mounts;
use podreach_core::{Atom, Cluster, Model, NodeId, PodId, Problem};

use super::label;
use crate::words;

/// Something that keeps pods off nodes. A taint is one fact on all nodes that have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// Nodes have a taint.
    Taint(Taint),
    /// A node is cordoned.
    Cordon(NodeId),
    /// A node has room for so many pods and no more.
    PodRoom(NodeId),
    /// A pod asks for a node by name.
    NodeName(PodId),
    /// A pod's node selector has an entry.
    NodeSelector(PodId, Symbol),
    /// A pod has a required node affinity.
    NodeAffinity(PodId),
    /// A pod has a required pod affinity term, by its index.
    Affinity(PodId, usize),
    /// A pod has a required pod anti-affinity term, by its index.
    AntiAffinity(PodId, usize),
    /// A pod has a hard spread constraint, by its index.
    Spread(PodId, usize),
    /// A pod takes ports of the host.
    Ports(PodId),
    /// A pod requests a resource.
    Request(PodId, ResourceId),
    /// A pod uses volumes.
    Volumes(PodId),
    /// A pod uses claimed devices.
    Devices(PodId),
    /// A pod needs features that nodes must declare.
    Features(PodId),
    /// The scheduler's configuration adds a node affinity to a pod.
    AddedAffinity(PodId),
    /// There may be only so many instances, by the limit's index.
    Limit(usize),
    /// The pods of a namespace may take only so much.
    Quota(QuotaId),
    /// A pod has a label by which others avoid it.
    PodLabel(PodId, Symbol),
    /// Namespaces have a label by which their pods are avoided.
    NamespaceLabels(Symbol),
    /// Nodes have a label that says how near pods are that avoid each other.
    NodeLabels(Symbol),
}

/// Every fact of a cluster about these pods.
pub(crate) fn facts(m: &Model, pods: &BTreeSet<PodId>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (id, node) in m.cluster().nodes.iter() {
        let hard = node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
        facts.extend(hard.copied().map(Fact::Taint));
        facts.extend(node.unschedulable.then_some(Fact::Cordon(id)));
        facts.push(Fact::PodRoom(id));
    }
    for &pod in pods {
        let spec = m.pod(pod);
        facts.extend(spec.node_name.map(|_| Fact::NodeName(pod)));
        facts.extend(spec.node_selector.iter().map(|(key, _)| Fact::NodeSelector(pod, key)));
        facts.extend(spec.node_affinity.as_ref().map(|_| Fact::NodeAffinity(pod)));
        facts.extend((0..spec.affinity.len()).map(|at| Fact::Affinity(pod, at)));
        facts.extend((0..spec.anti_affinity.len()).map(|at| Fact::AntiAffinity(pod, at)));
        facts.extend((0..spec.spread.len()).map(|at| Fact::Spread(pod, at)));
        facts.extend((!spec.ports.is_empty()).then_some(Fact::Ports(pod)));
        facts.extend(spec.requests.iter().map(|(resource, _)| Fact::Request(pod, resource)));
        facts.extend((spec.mounts != Mounts::default()).then_some(Fact::Volumes(pod)));
        facts.extend((!spec.devices.is_empty()).then_some(Fact::Devices(pod)));
        facts.extend((!spec.features.is_empty()).then_some(Fact::Features(pod)));
        facts.extend(spec.added_affinity.as_ref().map(|_| Fact::AddedAffinity(pod)));
        facts.extend(spec.quota.keys().map(|&quota| Fact::Quota(quota)));
    }
    let limits = m.cluster().limits.iter().enumerate().filter(|(_, limit)| !limit.pods.is_empty());
    facts.extend(limits.map(|(at, _)| Fact::Limit(at)));
    facts.extend(label::facts(m, pods));
    facts.sort();
    facts.dedup();
    facts
}

/// The fact that a rule gives first for refusing an atom on top of the kept pods.
pub(crate) fn refusing(problem: &Problem, (pod, node): Atom) -> Option<Fact> {
    let m = &problem.model;
    Some(match first_refusal(m, &problem.kept, pod, node)?.1 {
        Refusal::OtherNode => Fact::NodeName(pod),
        Refusal::Cordoned => Fact::Cordon(node),
        Refusal::Untolerated(taint) => Fact::Taint(taint),
        Refusal::NodeSelector => {
            let (spec, labels) = (m.pod(pod), &m.node(node).labels);
            let missing = spec.node_selector.iter().find(|&(key, value)| labels.value(key) != Some(value));
            Fact::NodeSelector(pod, missing?.0)
        }
        Refusal::NodeAffinity => Fact::NodeAffinity(pod),
        Refusal::PortTaken { .. } => Fact::Ports(pod),
        Refusal::Insufficient { resource, .. } if resource == m.pods_resource() => Fact::PodRoom(node),
        Refusal::Insufficient { resource, .. } => Fact::Request(pod, resource),
        Refusal::SpreadKey(at) | Refusal::SpreadIneligible(at) | Refusal::Skew { constraint: at, .. } => {
            Fact::Spread(pod, at)
        }
        Refusal::AffinityKey(at) | Refusal::NoWitness(at) => Fact::Affinity(pod, at),
        Refusal::Repels { term, .. } => Fact::AntiAffinity(pod, term),
        Refusal::RepelledBy { resident, term, .. } => Fact::AntiAffinity(resident, term),
        Refusal::LimitReached(at) => Fact::Limit(at),
        Refusal::AddedAffinity => Fact::AddedAffinity(pod),
        Refusal::QuotaExceeded { quota, .. } => Fact::Quota(quota),
        Refusal::FeatureMissing(_) => Fact::Features(pod),
        Refusal::DevicesElsewhere(_) => Fact::Devices(pod),
        Refusal::ClaimMissing(_)
        | Refusal::ClaimUnusable(_)
        | Refusal::ClaimUnbound(_)
        | Refusal::VolumeMissing(_)
        | Refusal::VolumeElsewhere { .. }
        | Refusal::ClaimPlaced(_)
        | Refusal::NoVolume(_)
        | Refusal::NotProvisionable(_)
        | Refusal::NoSpace(_)
        | Refusal::OtherZone { .. }
        | Refusal::DiskTaken { .. }
        | Refusal::ClaimTaken { .. }
        | Refusal::DriverMissing(_)
        | Refusal::VolumeLimit { .. } => Fact::Volumes(pod),
    })
}

/// The cluster without all facts but these. What is not a fact stays: who exists, labels, tolerations, who is kept.
pub(crate) fn only(m: &Model, kept: &[Fact], pods: &BTreeSet<PodId>) -> Cluster {
    let has = |fact: Fact| kept.contains(&fact);
    let mut cluster = m.facts();
    for id in m.nodes() {
        let node = &mut cluster.nodes[id];
        node.taints.retain(|&taint| taint.effect == TaintEffect::PreferNoSchedule || has(Fact::Taint(taint)));
        node.unschedulable &= has(Fact::Cordon(id));
        if !has(Fact::PodRoom(id)) {
            node.allocatable.set(m.pods_resource(), Amount::MAX);
        }
    }
    for &pod in pods {
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        spec.node_name = spec.node_name.filter(|_| has(Fact::NodeName(pod)));
        spec.node_selector = spec.node_selector.iter().filter(|&(key, _)| has(Fact::NodeSelector(pod, key))).collect();
        spec.node_affinity = spec.node_affinity.take().filter(|_| has(Fact::NodeAffinity(pod)));
        retain(&mut spec.affinity, |at| has(Fact::Affinity(pod, at)));
        retain(&mut spec.anti_affinity, |at| has(Fact::AntiAffinity(pod, at)));
        retain(&mut spec.spread, |at| has(Fact::Spread(pod, at)));
        if !has(Fact::Ports(pod)) {
            spec.ports.clear();
        }
        spec.requests = spec.requests.iter().filter(|&(resource, _)| has(Fact::Request(pod, resource))).collect();
        if !has(Fact::Volumes(pod)) {
            spec.mounts = Mounts::default();
        }
        if !has(Fact::Devices(pod)) {
            spec.devices.clear();
        }
        if !has(Fact::Features(pod)) {
            spec.features.clear();
        }
        spec.added_affinity = spec.added_affinity.take().filter(|_| has(Fact::AddedAffinity(pod)));
        spec.quota.retain(|&quota, _| has(Fact::Quota(quota)));
    }
    for fact in label::facts(m, pods).into_iter().filter(|fact| !kept.contains(fact)) {
        match fact {
            Fact::PodLabel(pod, key) => Arc::make_mut(&mut cluster.pods[pod].spec).labels.remove(key),
            Fact::NamespaceLabels(key) => cluster.namespace_labels.values_mut().for_each(|labels| labels.remove(key)),
            Fact::NodeLabels(key) => m.nodes().for_each(|node| cluster.nodes[node].labels.remove(key)),
            _ => {}
        }
    }
    let mut at = 0;
    cluster.limits.retain(|_| {
        at += 1;
        has(Fact::Limit(at - 1))
    });
    cluster
}

/// Keeps the items whose index will do.
pub(crate) fn retain<T>(items: &mut Vec<T>, keeps: impl Fn(usize) -> bool) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        keeps(at - 1)
    });
}

impl Fact {
    /// The fact in words; of a taint, the nodes among these that have it.
    pub(crate) fn shown(&self, m: &Model, among: &BTreeSet<NodeId>) -> String {
        let name = |pod: PodId| m.pod_name(pod);
        match *self {
            Self::Taint(taint) => {
                let tainted = among.iter().copied().filter(|&node| m.node(node).taints.contains(&taint));
                let nodes: Vec<NodeId> = tainted.collect();
                let names = words::first(nodes.iter().map(|&node| m.node_name(node).to_owned()), 4);
                format!("taint {} on {}", words::taint(m, &taint), words::all(&names))
            }
            Self::Cordon(node) => format!("node {} is cordoned", m.node_name(node)),
            Self::PodRoom(node) => {
                let room = m.node(node).allocatable.amount(m.pods_resource());
                format!("node {} has room for {room} pods", m.node_name(node))
            }
            Self::NodeName(pod) => format!("{} asks for a node by name", name(pod)),
            Self::NodeSelector(pod, key) => {
                let value = m.pod(pod).node_selector.value(key).map_or("", |value| m.str(value));
                format!("{} has node selector {}={value}", name(pod), m.str(key))
            }
            Self::NodeAffinity(pod) => {
                let terms = m.pod(pod).node_affinity.iter().flatten().map(|term| words::node_term(m, term));
                format!("{} requires node affinity {}", name(pod), words::either(&terms.collect::<Vec<_>>()))
            }
            Self::Affinity(pod, at) => format!("{} requires affinity {}", name(pod), term(m, pod, at, false)),
            Self::AntiAffinity(pod, at) => format!("{} requires anti-affinity {}", name(pod), term(m, pod, at, true)),
            Self::Spread(pod, at) => {
                let spread = m.pod(pod).spread[at];
                format!("{} has a spread constraint over {}", name(pod), words::domain(m, spread.key, true))
            }
            Self::Ports(pod) => format!("{} takes ports of the host", name(pod)),
            Self::Request(pod, resource) => {
                let amount = crate::words::amount(m, resource, m.pod(pod).requests.amount(resource));
                format!("{} requests {amount} {}", name(pod), m.str(m.cluster().resources[resource]))
            }
            Self::Volumes(pod) => format!("{} uses volumes", name(pod)),
            Self::Devices(pod) => format!("{} uses claimed devices", name(pod)),
            Self::Features(pod) => format!("{} needs features that nodes declare", name(pod)),
            Self::AddedAffinity(pod) => format!("the scheduler adds a node affinity to {}", name(pod)),
            Self::Quota(quota) => {
                let quota = &m.cluster().quotas[quota];
                format!("quota {} bounds {}", quota.name, quota.resource)
            }
            Self::PodLabel(pod, key) => {
                let value = m.pod(pod).labels.value(key).map_or("", |value| words::label_value(m, value));
                format!("{} has label {}={value}", name(pod), m.str(key))
            }
            Self::NamespaceLabels(key) => format!("namespaces have label {}", m.str(key)),
            Self::NodeLabels(key) => format!("nodes have label {}", m.str(key)),
            Self::Limit(at) => {
                let limit = &m.cluster().limits[at];
                format!("{} has at most {} instances", limit.name, limit.most)
            }
        }
    }
}

/// A pod affinity or anti-affinity term in words.
pub(crate) fn term(m: &Model, pod: PodId, at: usize, anti: bool) -> String {
    let spec = m.pod(pod);
    let term = if anti { spec.anti_affinity[at] } else { spec.affinity[at] };
    let near = if anti { "from" } else { "to" };
    let key = m.str(m.cluster().keys[term.key]);
    format!("{near} {} by {key}", words::matcher(m, term.matcher, spec.namespace))
}
