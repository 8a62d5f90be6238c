//! Pools that are seen only through labels on their nodes: managed ones, whose objects are elsewhere, and groups of Cluster Autoscaler.
//!
//! Every node of such a pool is taken for a shape: another node like it may come, with another host name. That is what Cluster Autoscaler
//! does with a group that has nodes. It shows what is possible; that nothing else can come is not known, so that it is for use on request.
//!
//! Cluster Autoscaler: `simulator/node_info_utils.go`, `SanitizedTemplateNodeInfoFromNodeInfo`.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::Cluster;
use podreach_core::NodeId;
use podreach_core::id::Symbol;

use super::known::free_of_static_pods;
use super::{Capacity, Choice, HOSTNAME, Knowledge, Open, POOL_LABEL, Pool, Requirements, Shape};
use crate::lower::Origins;

/// The labels by which the pool of a node is known, and the word that such a pool's name begins with.
const LABELS: [(&str, &str); 9] = [
    ("cloud.google.com/gke-nodepool", "gke-nodepool"),
    ("eks.amazonaws.com/nodegroup", "eks-nodegroup"),
    ("alpha.eksctl.io/nodegroup-name", "eksctl-nodegroup"),
    ("kubernetes.azure.com/agentpool", "aks-agentpool"),
    ("doks.digitalocean.com/node-pool", "doks-nodepool"),
    ("k8s.scaleway.com/pool-name", "scaleway-pool"),
    ("oci.oraclecloud.com/node-pool", "oci-nodepool"),
    ("ibm-cloud.kubernetes.io/worker-pool-name", "ibm-workerpool"),
    ("node.cluster.x-k8s.io/machine-pool", "machine-pool"),
];

/// What tells shapes of a pool apart: the pool, labels, taints and capacity.
type Seen = (String, Vec<(Symbol, Symbol)>, String);

/// The pools that the nodes of a cluster name, each with the shapes of its nodes; `more` are keys of labels that name pools, too. Nodes of
/// Karpenter's pools and of `known` ones are left to those.
pub fn inferred(cluster: &Cluster, origins: &Origins, more: &BTreeSet<String>, known: &[Pool]) -> Vec<Pool> {
    let others = LABELS.iter().map(|(label, word)| (*label, *word));
    let labels = more.iter().map(|label| (label.as_str(), word(label))).chain(others);
    let labels: Vec<(Symbol, &str)> =
        labels.filter_map(|(label, word)| Some((cluster.symbols.symbol(label)?, word))).collect();
    let karpenter = cluster.symbols.symbol(POOL_LABEL);
    let taken: BTreeSet<&String> = known.iter().filter_map(|pool| pool.nodes.as_ref()).flatten().collect();
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    let mut shapes: BTreeSet<Seen> = BTreeSet::new();
    for (id, node) in cluster.nodes.iter() {
        let is_of_karpenter = karpenter.is_some_and(|key| node.labels.value(key).is_some());
        let name = cluster.symbols.str(node.name);
        let Some(origin) = origins.nodes.get(name).filter(|_| !is_of_karpenter && !taken.contains(&name.to_owned()))
        else {
            continue;
        };
        let text =
            |(key, word): &(Symbol, &str)| Some(format!("{word}/{}", cluster.symbols.str(node.labels.value(*key)?)));
        let Some(of) = labels.iter().find_map(text) else { continue };
        let pool = pools.entry(of.clone()).or_insert_with(|| Pool {
            name: of.clone(),
            knowledge: Knowledge::Inferred,
            shapes: Vec::new(),
            requirements: Requirements::default(),
            most: None,
            fixed: None,
            once: false,
            nodes: Some(BTreeSet::new()),
            startup: Vec::new(),
            span: origin.span,
        });
        pool.nodes.get_or_insert_default().insert(name.to_owned());
        // One that is still starting does not have all its labels and devices.
        if !node.passing.is_starting {
            let shape = shape(cluster, origins, id);
            let labels = node.labels.iter().filter(|(key, _)| cluster.symbols.str(*key) != HOSTNAME).collect();
            if shapes.insert((of, labels, format!("{:?}{:?}", shape.taints, shape.capacity))) {
                pool.shapes.push(shape);
            }
        }
    }
    pools.into_values().collect()
}

/// The word for a pool that a label names: the last part of its key.
fn word(label: &str) -> &str {
    label.rsplit_once('/').map_or(label, |(_, word)| word)
}

/// A node like this one, once it has settled.
fn shape(cluster: &Cluster, origins: &Origins, node: NodeId) -> Shape {
    let text = |symbol: Symbol| cluster.symbols.str(symbol);
    let labels = cluster.nodes[node].labels.iter().filter(|(key, _)| text(*key) != HOSTNAME);
    let labels = labels.map(|(key, value)| (text(key).to_owned(), Choice::fixed(text(value)))).collect();
    let capacity = Capacity::Known(free_of_static_pods(cluster, origins, node));
    Shape { labels, open: Open::Nothing, taints: cluster.nodes[node].taints.clone(), capacity }
}
