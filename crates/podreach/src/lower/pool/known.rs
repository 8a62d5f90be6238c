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
use crate::lower::{Lowered, Origins};

/// Whether a node of the input belongs to a pool: by name, where that is known; by the label of Karpenter; for other pools, if it looks like
/// one of its nodes.
pub(super) fn is_member(cluster: &Cluster, pool: &Pool, node: NodeId) -> bool {
    if let Some(nodes) = &pool.nodes {
        return nodes.contains(cluster.symbols.str(cluster.nodes[node].name));
    }
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

/// A pool of Karpenter's or Cluster API's whose capacity is open, with a shape more for each kind of node that it has brought.
pub(super) fn with_known_capacity(lowered: &Lowered, pool: &Pool) -> Pool {
    let Some(shape) = pool.shapes.iter().find(|shape| shape.capacity == Capacity::Open) else { return pool.clone() };
    if pool.requirements == Requirements::default() && pool.nodes.is_none() {
        return pool.clone();
    }
    let cluster = &lowered.cluster;
    // One that is still starting does not have all that comes with its instance.
    let has_started = |node: &NodeId| !cluster.nodes[*node].passing.is_starting;
    let members = cluster.nodes.ids().filter(|&node| is_member(cluster, pool, node)).filter(has_started);
    let mut shapes = pool.shapes.clone();
    let nodes = members.filter_map(|node| like_node(lowered, pool, shape, node));
    let claims = lowered.pools.iter().filter_map(|claim| like_claim(pool, shape, claim));
    for like in nodes.chain(claims) {
        if !shapes.contains(&like) {
            shapes.push(like);
        }
    }
    Pool { shapes, ..pool.clone() }
}

/// The shape of a pool with what comes with the instance of one of its nodes.
fn like_node(lowered: &Lowered, pool: &Pool, shape: &Shape, node: NodeId) -> Option<Shape> {
    let symbols = &lowered.cluster.symbols;
    let text = |(key, value)| (symbols.str(key), symbols.str(value));
    let labels = lowered.cluster.nodes[node].labels.iter().map(text).collect();
    let mut like =
        like(shape, &labels, Capacity::Known(free_of_static_pods(&lowered.cluster, &lowered.origins, node)))?;
    if pool.nodes.is_some() {
        // What its bootstrap has put on it besides, and what that may put on others again.
        like.taints.extend(lowered.cluster.nodes[node].taints.iter().chain(&pool.startup));
        like.taints.sort_unstable();
        like.taints.dedup();
    }
    Some(like)
}

/// The same for a node on its way, if it is of the pool and was launched: only then does it say what it has to give.
fn like_claim(pool: &Pool, shape: &Shape, claim: &Pool) -> Option<Shape> {
    let [own] = claim.shapes.as_slice() else { return None };
    if !claim.once || own.capacity == Capacity::Open {
        return None;
    }
    let fixed = |(key, choice): (&'_ String, &'_ Choice)| match choice {
        Choice::OneOf(values) if values.len() == 1 => values.first().map(|value| (key.clone(), value.clone())),
        _ => None,
    };
    let labels: BTreeMap<String, String> = own.labels.iter().filter_map(fixed).collect();
    let is_of_pool = labels.get(POOL_LABEL).is_some_and(|name| pool.name == format!("nodepool/{name}"));
    let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    is_of_pool.then(|| like(shape, &labels, own.capacity.clone()))?
}

/// The shape of a pool with what comes with an instance that has these labels; `None` if they contradict the pool.
fn like(shape: &Shape, of: &BTreeMap<&str, &str>, capacity: Capacity) -> Option<Shape> {
    let mut labels = BTreeMap::new();
    for (key, choice) in &shape.labels {
        let choice = match (choice, of.get(key.as_str())) {
            (Choice::Offered(wanted), Some(value)) if !wanted.has(value) => return None,
            (Choice::Offered(_), Some(value)) => Choice::fixed(*value),
            (own, _) => own.clone(),
        };
        labels.insert(key.clone(), choice);
    }
    for (&key, &value) in of {
        let comes_again = is_well_known(key) || is_of_platform(key) || shape.open == Open::Anything;
        if key != HOSTNAME && comes_again && !labels.contains_key(key) {
            labels.insert(key.to_owned(), Choice::fixed(value));
        }
    }
    Some(Shape { labels, open: Open::Nothing, taints: shape.taints.clone(), capacity })
}

/// What a node has to give besides what its static pods take, which every node like it has.
pub(super) fn free_of_static_pods(cluster: &Cluster, origins: &Origins, node: NodeId) -> Resources {
    let mut free = cluster.nodes[node].allocatable.clone();
    let pods = cluster.resources.entries().iter().find(|(_, name)| cluster.symbols.str(**name) == "pods");
    let pods = pods.map(|(resource, _)| resource);
    for instance in origins.instances.iter().filter(|instance| instance.node == node) {
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
