//! Edits: one change to one object, of the kind that people make without thinking of boundaries.
//!
//! | object   | edits |
//! |----------|-------|
//! | node     | lose a taint; be uncordoned; get, change or lose a label that someone looks at; get room without end |
//! | workload | tolerate a taint; ask for no node by name; lose a node selector entry, its node affinity, a pod affinity or anti-affinity term, a spread constraint, its host ports, a request, its volumes, its claimed devices; get, change or lose a label that a selector looks at |
//! | namespace | get, change or lose a label that a namespace selector looks at; be granted more by a quota |
//!
//! Nodes that are alike in everything, what runs on them included, are tried once for all of them.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::change::Change;
use podreach_core::cluster::{NodeRequirement, Taint, TaintEffect};
use podreach_core::id::{QuotaId, ResourceId, Symbol};
use podreach_core::rule::taint::is_tolerated;
use podreach_core::selector::Values;
use podreach_core::storage::Mounts;
use podreach_core::{Atom, Goal, Model, NodeId, PodId};

use super::{label, scope};
use crate::audit::changed::condition;
use crate::audit::policy::world::{Part, World};
use crate::words;

/// One change to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) change: Change,
    /// Other nodes for which the same edit does the same.
    alike: Vec<NodeId>,
}

/// Every edit that could matter to the goal.
pub(crate) fn edits(world: &World, goal: &Goal) -> Vec<Edit> {
    let m = world.model();
    let (pods, nodes) = scope(world, goal);
    let keys = keys(m, &pods);
    let mut edits = Vec::new();
    for mut alike in classes(world, goal, &pods, &nodes) {
        let node = alike.remove(0);
        let changes = of_node(m, &pods, &keys, node);
        edits.extend(changes.into_iter().map(|change| Edit { change, alike: alike.clone() }));
    }
    let taints: BTreeSet<Taint> = nodes.iter().flat_map(|&node| m.node(node).taints.iter().copied()).collect();
    edits.extend(pods.iter().flat_map(|&pod| of_pod(m, pod, &taints)).map(alone));
    edits.extend(label::changes(m, &pods).into_iter().map(alone));
    let quotas: BTreeSet<QuotaId> = pods.iter().flat_map(|&pod| m.pod(pod).quota.keys().copied()).collect();
    edits.extend(quotas.into_iter().map(Change::Quota).map(alone));
    edits
}

fn alone(change: Change) -> Edit {
    Edit { change, alike: Vec::new() }
}

/// Whether some of the pods look at others.
pub(crate) fn is_social(m: &Model, pods: &BTreeSet<PodId>) -> bool {
    pods.iter()
        .map(|&pod| m.pod(pod))
        .any(|spec| !(spec.affinity.is_empty() && spec.anti_affinity.is_empty() && spec.spread.is_empty()))
}

/// Nodes that nothing tells apart but their names.
fn classes(world: &World, goal: &Goal, pods: &BTreeSet<PodId>, nodes: &BTreeSet<NodeId>) -> Vec<Vec<NodeId>> {
    let m = world.model();
    let mut classes = BTreeMap::<_, Vec<NodeId>>::new();
    // What is asked of a node: its own part of each alternative, and what goes with it elsewhere.
    for &node in nodes {
        let own = m.node(node);
        let labels: Vec<_> = own.labels.iter().filter(|&(key, value)| !is_unique(m, key, value)).collect();
        let column: Vec<bool> = pods.iter().map(|&pod| m.static_ok(pod, node)).collect();
        let running =
            |s: &podreach_core::Configuration| s.on(node).filter(|(pod, _)| pods.contains(pod)).collect::<Vec<_>>();
        let there = (running(&world.problem.start), running(&world.problem.kept), asked_of(goal, node));
        let settled = !world.problem.start.unsettled().contains(&node);
        let rest = format!("{:?} {:?} {:?} {settled}", own.features, own.drivers, own.passing);
        let content = (labels, own.taints.clone(), own.unschedulable, own.allocatable.clone(), rest, column, there);
        classes.entry(content).or_default().push(node);
    }
    let mut classes: Vec<Vec<NodeId>> = classes.into_values().collect();
    classes.sort();
    classes
}

/// Whether a label is on one node alone.
fn is_unique(m: &Model, key: Symbol, value: Symbol) -> bool {
    m.str(key) == "kubernetes.io/hostname"
        && m.nodes().filter(|&other| m.node(other).labels.value(key) == Some(value)).count() == 1
}

/// What an alternative asks of a node, and of all others.
type Parts = (Vec<(PodId, u64)>, Vec<(Atom, u64)>);

/// What is asked of a node: its own part of each alternative, and what goes with it elsewhere.
fn asked_of(goal: &Goal, node: NodeId) -> BTreeSet<Parts> {
    let parts = goal.any.iter().filter(|alternative| alternative.on(node).next().is_some()).map(|alternative| {
        let (own, others): (Vec<_>, Vec<_>) = alternative.iter().partition(|((_, at), _)| *at == node);
        (own.into_iter().map(|((pod, _), count)| (pod, count)).collect::<Vec<_>>(), others)
    });
    parts.collect::<BTreeSet<_>>()
}

/// The keys of nodes that someone looks at, with the values that make a difference.
pub(super) fn keys(m: &Model, pods: &BTreeSet<PodId>) -> BTreeMap<Symbol, BTreeSet<Symbol>> {
    let mut keys = BTreeMap::<Symbol, BTreeSet<Symbol>>::new();
    for spec in pods.iter().map(|&pod| m.pod(pod)) {
        for (key, value) in spec.node_selector.iter() {
            keys.entry(key).or_default().insert(value);
        }
        let terms = spec.node_affinity.iter().chain(&spec.added_affinity).flatten();
        for (key, requirement) in terms.flat_map(|term| &term.expressions) {
            if let NodeRequirement::Label(allowed) = requirement {
                let (Values::Only(values) | Values::AllBut(values)) = &allowed.values;
                keys.entry(*key).or_default().extend(values);
            }
        }
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.key);
        for key in terms.chain(spec.spread.iter().map(|spread| spread.key)) {
            let key = m.cluster().keys[key];
            let values = m.nodes().filter_map(|node| m.node(node).labels.value(key));
            let values: BTreeSet<Symbol> = values.collect();
            // A key with a value for each node is its name; nobody gives a node the name of another.
            if m.str(key) != "kubernetes.io/hostname" {
                keys.entry(key).or_default().extend(values);
            }
        }
    }
    keys
}

fn of_node(m: &Model, pods: &BTreeSet<PodId>, keys: &BTreeMap<Symbol, BTreeSet<Symbol>>, node: NodeId) -> Vec<Change> {
    let own = m.node(node);
    let hard = own.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
    let mut changes: Vec<Change> = hard.map(|&taint| Change::Untaint(node, taint)).collect();
    changes.extend(own.unschedulable.then_some(Change::Uncordon(node)));
    for (&key, values) in keys {
        let has = own.labels.value(key);
        changes.extend(has.map(|_| Change::Label(node, key, None)));
        let others = values.iter().filter(|&&value| has != Some(value));
        changes.extend(others.map(|&value| Change::Label(node, key, Some(value))));
    }
    let requested = pods.iter().flat_map(|&pod| m.pod(pod).requests.iter().map(|(resource, _)| resource));
    let resources: BTreeSet<ResourceId> = requested.chain([m.pods_resource()]).collect();
    changes.extend(resources.into_iter().map(|resource| Change::Enlarge(node, resource)));
    changes
}

fn of_pod(m: &Model, pod: PodId, taints: &BTreeSet<Taint>) -> Vec<Change> {
    let spec = m.pod(pod);
    let refused = taints.iter().filter(|taint| taint.keeps_pods_away() && !is_tolerated(&spec.tolerations, taint));
    let mut changes: Vec<Change> = refused.map(|&taint| Change::Tolerate(pod, taint)).collect();
    changes.extend(spec.node_name.map(|_| Change::NodeName(pod)));
    changes.extend(spec.node_selector.iter().map(|(key, _)| Change::NodeSelector(pod, key)));
    changes.extend(spec.node_affinity.as_ref().map(|_| Change::NodeAffinity(pod)));
    changes.extend((0..spec.affinity.len()).map(|at| Change::Affinity(pod, at)));
    changes.extend((0..spec.anti_affinity.len()).map(|at| Change::AntiAffinity(pod, at)));
    changes.extend((0..spec.spread.len()).map(|at| Change::Spread(pod, at)));
    changes.extend((!spec.ports.is_empty()).then_some(Change::Ports(pod)));
    changes.extend(spec.requests.iter().map(|(resource, _)| Change::Request(pod, resource)));
    changes.extend((spec.mounts != Mounts::default()).then_some(Change::Volumes(pod)));
    changes.extend((!spec.devices.is_empty()).then_some(Change::Devices(pod)));
    changes
}

impl Edit {
    /// The part of the world in which the edit can matter, with the goal and the edit in its terms.
    pub(crate) fn part(&self, world: &World, goal: &Goal) -> (World, Goal, Self) {
        let m = world.model();
        let (pod, node) = self.change.object();
        let social = is_social(m, &world.relevant(pods_of(goal)));
        // Where nobody looks at others, an edit of one object changes nothing for the rest.
        let touched = goal.any.iter().filter(|alternative| {
            let mut atoms = alternative.iter().map(|(atom, _)| atom);
            social || atoms.any(|(p, n)| pod.is_none_or(|pod| pod == p) && node.is_none_or(|node| node == n))
        });
        let goal = Goal { any: touched.cloned().collect() };
        let members = m.pods().filter(|&pod| match self.change {
            Change::NamespaceLabel(namespace, ..) => m.pod(pod).namespace == namespace,
            _ => false,
        });
        let pods = world.relevant(pods_of(&goal).into_iter().chain(pod).chain(members));
        let nodes: BTreeSet<NodeId> =
            goal.any.iter().flat_map(|alternative| alternative.iter().map(|((_, node), _)| node)).collect();
        // Kept pods count for limits and quotas, wherever they are.
        let kept: BTreeSet<NodeId> = world.problem.kept.iter().map(|((_, node), _)| node).collect();
        let (part, map) =
            world.part(|pod| pods.contains(&pod), |node| social || nodes.contains(&node) || kept.contains(&node));
        let goal = map.goal(&goal);
        let change = if goal.any.is_empty() { self.change.clone() } else { within(&self.change, &map) };
        (part, goal, Self { change, alike: Vec::new() })
    }

    /// The same edit of each node that is like this one.
    #[cfg(test)]
    pub(crate) fn elsewhere(&self) -> Vec<Self> {
        self.alike.iter().map(|&node| Self { change: self.at(node), alike: Vec::new() }).collect()
    }

    /// The same change of another node.
    #[cfg(test)]
    fn at(&self, node: NodeId) -> Change {
        match self.change {
            Change::Untaint(_, taint) => Change::Untaint(node, taint),
            Change::Uncordon(_) => Change::Uncordon(node),
            Change::Label(_, key, value) => Change::Label(node, key, value),
            Change::Enlarge(_, resource) => Change::Enlarge(node, resource),
            ref same => same.clone(),
        }
    }

    /// The edit as a condition, for a sentence that starts with "if".
    pub(crate) fn shown(&self, m: &Model) -> String {
        let text = condition(&self.change, m);
        match self.alike.len() {
            0 => text,
            more => format!("{text} (or any of {} like it)", words::number(more, "node")),
        }
    }
}

/// The pods that a goal asks for.
fn pods_of(goal: &Goal) -> BTreeSet<PodId> {
    goal.any.iter().flat_map(|alternative| alternative.iter().map(|((pod, _), _)| pod)).collect()
}

/// The same change in a part of the world, which has its object.
fn within(change: &Change, map: &Part) -> Change {
    match *change {
        Change::Untaint(n, taint) => Change::Untaint(node_in(map, n), taint),
        Change::Uncordon(n) => Change::Uncordon(node_in(map, n)),
        Change::Label(n, key, value) => Change::Label(node_in(map, n), key, value),
        Change::Enlarge(n, resource) => Change::Enlarge(node_in(map, n), resource),
        Change::Tolerate(p, taint) => Change::Tolerate(pod_in(map, p), taint),
        Change::NodeName(p) => Change::NodeName(pod_in(map, p)),
        Change::NodeSelector(p, key) => Change::NodeSelector(pod_in(map, p), key),
        Change::NodeAffinity(p) => Change::NodeAffinity(pod_in(map, p)),
        Change::Affinity(p, at) => Change::Affinity(pod_in(map, p), at),
        Change::AntiAffinity(p, at) => Change::AntiAffinity(pod_in(map, p), at),
        Change::Spread(p, at) => Change::Spread(pod_in(map, p), at),
        Change::Ports(p) => Change::Ports(pod_in(map, p)),
        Change::Request(p, resource) => Change::Request(pod_in(map, p), resource),
        Change::Volumes(p) => Change::Volumes(pod_in(map, p)),
        Change::Devices(p) => Change::Devices(pod_in(map, p)),
        Change::PodLabel(p, key, value) => Change::PodLabel(pod_in(map, p), key, value),
        // No edit, or about no pod and no node.
        ref same => same.clone(),
    }
}

fn node_in(map: &Part, node: NodeId) -> NodeId {
    map.nodes[node].expect("the part has the node")
}

fn pod_in(map: &Part, pod: PodId) -> PodId {
    map.pods[pod].expect("the part has the pod")
}
