//! Nodes that are still starting, and one way in which they may come up.

use crate::cluster::Cluster;
use crate::random::Rng;

/// A cluster in which some nodes are still starting, and what it may become: with labels, devices and features that they lacked.
pub fn some_starting(rng: &mut Rng, cluster: &Cluster) -> (Cluster, Cluster) {
    let mut now = cluster.clone();
    let resources: Vec<_> = now.resources.entries().ids().collect();
    for id in cluster.nodes.ids().filter(|_| rng.one_in(2)).collect::<Vec<_>>() {
        let node = &mut now.nodes[id];
        node.passing.is_starting = true;
        for (key, _) in cluster.nodes[id].labels.iter().filter(|_| rng.one_in(2)).collect::<Vec<_>>() {
            node.labels.remove(key);
        }
        if rng.one_in(4) {
            node.allocatable.set(rng.pick(&resources), 0);
        }
    }
    let mut then = now.clone();
    for (id, known) in now.nodes.iter().filter(|(_, node)| node.passing.is_starting) {
        let node = &mut then.nodes[id];
        let others = cluster.nodes.values().flat_map(|other| other.labels.iter()).collect::<Vec<_>>();
        for (key, value) in others.into_iter().filter(|_| rng.one_in(2)) {
            if known.labels.value(key).is_none() {
                node.labels.set(key, value);
            }
        }
        for &resource in resources.iter().filter(|&&of| known.allocatable.amount(of) == 0) {
            node.allocatable.set(resource, rng.below(4) as u128);
        }
        node.features = cluster.pods.values().flat_map(|pod| pod.spec.features.iter().copied()).collect();
    }
    (now, then)
}
