//! Pools that are seen only through labels on their nodes: managed ones, whose objects are elsewhere.
//!
//! Every node of such a pool is taken for a shape: another node like it may come, with another host name. That is what Cluster Autoscaler
//! does with a group that has nodes. It shows what is possible; that nothing else can come is not known, so that it is for use on request.

use std::collections::BTreeMap;

use podreach_core::Cluster;
use podreach_core::cluster::Node;
use podreach_core::id::Symbol;

use super::{Capacity, Choice, HOSTNAME, Knowledge, Open, Pool, Requirements, Shape};
use crate::lower::Origins;

/// The labels by which clouds name the pool of a node, and the word that such a pool's name begins with.
const LABELS: [(&str, &str); 3] = [
    ("cloud.google.com/gke-nodepool", "gke-nodepool"),
    ("eks.amazonaws.com/nodegroup", "eks-nodegroup"),
    ("kubernetes.azure.com/agentpool", "aks-agentpool"),
];

/// The pools that the nodes of a cluster name, each with the shapes of its nodes.
pub fn inferred(cluster: &Cluster, origins: &Origins) -> Vec<Pool> {
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    for (label, word) in LABELS {
        let Some(key) = cluster.symbols.symbol(label) else { continue };
        // One that is still starting does not have all its labels and devices.
        for node in cluster.nodes.values().filter(|node| !node.passing.is_starting) {
            let Some(value) = node.labels.value(key) else { continue };
            let Some(origin) = origins.nodes.get(cluster.symbols.str(node.name)) else { continue };
            let name = format!("{word}/{}", cluster.symbols.str(value));
            let pool = pools.entry(name.clone()).or_insert_with(|| Pool {
                name,
                knowledge: Knowledge::Inferred,
                shapes: Vec::new(),
                requirements: Requirements::default(),
                most: None,
                fixed: None,
                startup: Vec::new(),
                span: origin.span,
            });
            let shape = shape(cluster, node);
            if !pool.shapes.contains(&shape) {
                pool.shapes.push(shape);
            }
        }
    }
    pools.into_values().collect()
}

/// A node like this one, once it has settled.
fn shape(cluster: &Cluster, node: &Node) -> Shape {
    let text = |symbol: Symbol| cluster.symbols.str(symbol);
    let labels = node.labels.iter().filter(|(key, _)| text(*key) != HOSTNAME);
    let labels = labels.map(|(key, value)| (text(key).to_owned(), Choice::fixed(text(value)))).collect();
    let capacity = Capacity::Known(node.allocatable.clone());
    Shape { labels, open: Open::Nothing, taints: node.taints.clone(), capacity }
}
