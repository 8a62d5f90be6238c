//! What the nodes of a pool say about it: which they are, and what a node of it has to give.
//!
//! Capacity comes with the instance type, which Karpenter's objects do not describe. A pool that has brought a node can bring another
//! one like it: with the labels that come with the instance, and with any choice of the pool's own.

use std::collections::BTreeMap;

use podreach_core::cluster::{Barred, Node};
use podreach_core::resource::Resources;
use podreach_core::{Cluster, NodeId};

use super::karpenter::{POOL_LABEL, is_well_known};
use super::{Capacity, Choice, HOSTNAME, Open, Operator, Pool, Requirements, Shape, is_of_platform};
use crate::lower::Lowered;

/// Whether a node of the input belongs to a pool: by the label of Karpenter; for other pools, if it looks like one of its nodes.
pub(super) fn is_member(cluster: &Cluster, pool: &Pool, node: NodeId) -> bool {
    let value = |key: &str| label(cluster, &cluster.nodes[node], key);
    if pool.requirements != Requirements::default() {
        return value(POOL_LABEL).is_some_and(|name| pool.name == format!("nodepool/{name}"));
    }
    let admits = |(key, choice): (&String, &Choice)| match (choice, value(key)) {
        (Choice::OneOf(values), Some(value)) => values.contains(value),
        (Choice::Any(wanted) | Choice::Asked(wanted) | Choice::Offered(wanted), Some(value)) => wanted.has(value),
        (Choice::Any(wanted), None) => matches!(wanted.operator(), Operator::NotIn | Operator::DoesNotExist),
        _ => false,
    };
    pool.shapes.iter().any(|shape| !shape.labels.is_empty() && shape.labels.iter().all(admits))
}

fn label<'c>(cluster: &'c Cluster, node: &Node, key: &str) -> Option<&'c str> {
    cluster.symbols.symbol(key).and_then(|key| node.labels.value(key)).map(|value| cluster.symbols.str(value))
}

/// A pool of Karpenter's whose capacity is open, with a shape more for each kind of node that it has brought.
pub(super) fn with_known_capacity(lowered: &Lowered, pool: &Pool) -> Pool {
    let [shape] = pool.shapes.as_slice() else { return pool.clone() };
    if pool.requirements == Requirements::default() || shape.capacity != Capacity::Open {
        return pool.clone();
    }
    let cluster = &lowered.cluster;
    let members = cluster.nodes.ids().filter(|&node| is_member(cluster, pool, node));
    let mut shapes = vec![shape.clone()];
    for like in members.filter_map(|node| like(lowered, shape, node)) {
        if !shapes.contains(&like) {
            shapes.push(like);
        }
    }
    Pool { shapes, ..pool.clone() }
}

/// The shape of a pool with what comes with the instance of one of its nodes; `None` if the node contradicts the pool.
fn like(lowered: &Lowered, shape: &Shape, node: NodeId) -> Option<Shape> {
    let cluster = &lowered.cluster;
    let of = &cluster.nodes[node];
    let mut labels = BTreeMap::new();
    for (key, choice) in &shape.labels {
        let choice = match (choice, label(cluster, of, key)) {
            (Choice::Offered(wanted), Some(value)) if !wanted.has(value) => return None,
            (Choice::Offered(_), Some(value)) => Choice::fixed(value),
            (own, _) => own.clone(),
        };
        labels.insert(key.clone(), choice);
    }
    for (key, value) in of.labels.iter().map(|(key, value)| (cluster.symbols.str(key), cluster.symbols.str(value))) {
        if key != HOSTNAME && (is_well_known(key) || is_of_platform(key)) && !labels.contains_key(key) {
            labels.insert(key.to_owned(), Choice::fixed(value));
        }
    }
    let capacity = Capacity::Known(free_of_static_pods(lowered, node));
    Some(Shape { labels, open: Open::Nothing, taints: shape.taints.clone(), capacity })
}

/// What a node has to give besides what its static pods take, which every node like it has.
fn free_of_static_pods(lowered: &Lowered, node: NodeId) -> Resources {
    let cluster = &lowered.cluster;
    let mut free = cluster.nodes[node].allocatable.clone();
    let pods = cluster.resources.entries().iter().find(|(_, name)| cluster.symbols.str(**name) == "pods");
    let pods = pods.map(|(resource, _)| resource);
    for instance in lowered.origins.instances.iter().filter(|instance| instance.node == node) {
        let spec = &cluster.pods[instance.pod].spec;
        if spec.barred != Some(Barred::Static) {
            continue;
        }
        for (resource, amount) in spec.requests.iter().chain(pods.map(|pods| (pods, 1))) {
            free.set(resource, free.amount(resource).saturating_sub(amount));
        }
    }
    free
}
