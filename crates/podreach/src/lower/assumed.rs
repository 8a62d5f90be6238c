//! What the input as a whole leaves open: each becomes an assumption of every verdict.

use std::collections::BTreeSet;

use podreach_core::Cluster;
use podreach_core::cluster::Lifetime;
use podreach_core::id::Symbol;

use super::inventory::Inventory;
use super::pool::Knowledge;
use super::{Kind, Lowered, Options};
use crate::diagnostic::Topic;

/// The labels by which pools of nodes are known that something else than the cluster's users makes larger and smaller.
const POOLS: [&str; 10] = [
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "doks.digitalocean.com/node-pool",
    "k8s.scaleway.com/pool-name",
    "oci.oraclecloud.com/node-pool",
    "ibm-cloud.kubernetes.io/worker-pool-name",
    "node.cluster.x-k8s.io/machine-pool",
];

/// What the input as a whole leaves open: whether its nodes are a pool's, which release it is of, what namespaces that are not in it are
/// like and whether it has all that there is of some kind.
pub(crate) fn of_input(cluster: &Cluster, unknown_namespaces: &[&str], options: &Options) -> Vec<(Topic, String)> {
    let pool = pool(cluster).map(|text| (Topic::Nodes, text));
    let release = options.release.assumption(options.release_by).map(|text| (Topic::Release, text));
    let namespaces = namespaces(unknown_namespaces).filter(|_| options.admission);
    let complete = options.complete.iter().map(|&kind| {
        let topic = match kind {
            Kind::Pod => Topic::Pods,
            Kind::PriorityClass | Kind::ServiceAccount => Topic::Admission,
            _ => Topic::Volumes,
        };
        (topic, format!("the input has every {} (--complete)", kind.name()))
    });
    let namespaces = namespaces.map(|text| (Topic::Admission, text));
    pool.into_iter().chain(release).chain(namespaces).chain(complete).collect()
}

/// Finished pods take room of quotas that count objects; nothing else looks at them, and runs do not say that they are deleted.
pub(crate) fn finished_pods_go(inventory: &Inventory) -> Option<(Topic, String)> {
    let finished = inventory.pods.iter().filter(|pod| pod.finished).map(|pod| pod.metadata.namespace.as_str());
    let counted: BTreeSet<&str> = finished.filter(|namespace| inventory.admission.counts_objects(namespace)).collect();
    counted.first().map(|namespace| (Topic::Steps, finished_go(namespace)))
}

fn finished_go(namespace: &&str) -> String {
    format!("finished pods of namespace {namespace} are deleted where count/pods leaves no room")
}

/// That nodes are of a pool that nothing in the input describes.
fn pool(cluster: &Cluster) -> Option<String> {
    let key = POOLS
        .into_iter()
        .find(|key| cluster.symbols.symbol(key).is_some_and(|key| is_on_a_node_that_stays(cluster, key)))?;
    Some(format!("some carry {key}, and pools come and go"))
}

fn is_on_a_node_that_stays(cluster: &Cluster, key: Symbol) -> bool {
    cluster
        .nodes
        .values()
        .filter(|node| node.lifetime == Lifetime::Permanent)
        .any(|node| node.labels.value(key).is_some())
}

/// Says the same again once it is known which nodes come and go.
pub(super) fn settle(lowered: &mut Lowered) {
    if lowered.listing.is_some() {
        lowered.assumed.retain(|(topic, _)| *topic != Topic::Nodes);
        lowered.assumed.extend(pool(&lowered.cluster).map(|text| (Topic::Nodes, text)));
        let types = "Karpenter brings nodes of the instance types given, and others only where its nodes or NodeClaims show them";
        lowered.assumed.extend(lowered.catalogue.as_ref().map(|_| (Topic::Nodes, types.to_owned())));
        let mut machines =
            lowered.pools.iter().filter(|pool| pool.knowledge == Knowledge::Declared && pool.nodes.is_some());
        let as_declared = "nodes of Cluster API's pools have the labels and taints that machine templates and bootstrap configurations declare, of machines those that Cluster API copies without flags, and what annotations for Cluster Autoscaler say to give";
        lowered.assumed.extend(machines.next().map(|_| (Topic::Nodes, as_declared.to_owned())));
        let mut inferred = lowered.pools.iter().filter(|pool| pool.knowledge == Knowledge::Inferred);
        let like_theirs =
            "pools that are seen only by labels of their nodes bring nodes like those, and no others (--infer-pools)";
        lowered.assumed.extend(inferred.next().map(|_| (Topic::Nodes, like_theirs.to_owned())));
    }
}

fn namespaces(unknown: &[&str]) -> Option<String> {
    let which = match unknown {
        [] => return None,
        [one] => format!("namespace {one} is"),
        [one, more @ ..] => format!("namespace {one} and {} more are", more.len()),
    };
    Some(format!("{which} not in the input and taken to have no labels and annotations"))
}
