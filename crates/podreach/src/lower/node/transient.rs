//! What passes on nodes: taints that their makers remove again, cordons, and devices that are missing for now.
//!
//! All other taints and labels are configuration: they change only when somebody changes the cluster.

use std::collections::BTreeMap;

use podreach_core::cluster::{Node, Taint};
use podreach_core::resource::Resources;

use crate::lower::context::Context;
use crate::lower::inventory::Inventory;
use crate::lower::pool;

/// Taints of the node lifecycle, of startup and of autoscalers, by key.
///
/// Kubernetes: `api/core/v1/well_known_taints.go`, and `cloud-provider/api/well_known_taints.go`.
const KEYS: &[&str] = &[
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/out-of-service",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.cluster.x-k8s.io/uninitialized",
    "cloud.google.com/impending-node-termination",
    "cni.istio.io/not-ready",
    "karpenter.sh/unregistered",
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
];

/// What the keys of such taints may begin with.
const PREFIXES: &[&str] = &[
    "readiness.k8s.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "aws-node-termination-handler/",
];

/// What such keys may end with: agents of networks and storage drivers remove such a taint from their node once they run. Cilium has one,
/// and so have the drivers of AWS and Azure.
pub(crate) const STARTING: &str = "/agent-not-ready";

/// Whether taints of this key come and go by themselves, or with a cordon.
pub(crate) fn passes(key: &str) -> bool {
    KEYS.contains(&key) || key.ends_with(STARTING) || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Whether such a key is one by itself, and not by how it begins.
pub(crate) fn is_named(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Sets apart what passes on a node with this capacity.
///
/// A device that is not healthy counts for the capacity and not for what can be had. Kubernetes: `pkg/kubelet/cm/devicemanager/manager.go`,
/// `GetCapacity`.
pub(crate) fn split(cx: &Context, node: &mut Node, capacity: &Resources) {
    let (passing, lasting): (Vec<Taint>, Vec<Taint>) =
        node.taints.iter().partition(|taint| passes(cx.cluster.symbols.str(taint.key)));
    node.taints = lasting;
    node.passing.taints = passing;
    node.passing.cordoned = std::mem::take(&mut node.unschedulable);
    for (resource, all) in capacity.iter() {
        let name = cx.cluster.symbols.str(cx.cluster.resources[resource]);
        let had = node.allocatable.amount(resource);
        if is_device(name) && had < all {
            node.allocatable.set(resource, all);
            node.passing.lacking.set(resource, all - had);
        }
    }
}

/// Sets apart the taints that nodes of the input's pools have only while they start.
///
/// Karpenter: `pkg/controllers/nodeclaim/lifecycle/initialization.go`, `StartupTaintsRemoved`, which compares keys and effects.
pub(crate) fn settle_startup(cx: &mut Context, inventory: &Inventory) {
    let Some(label) = cx.cluster.symbols.symbol(pool::POOL_LABEL) else { return };
    let pools: BTreeMap<&str, &[Taint]> =
        inventory.pools.iter().map(|pool| (pool.name.as_str(), pool.startup.as_slice())).collect();
    for metadata in inventory.nodes.iter().filter(|node| !node.terminating) {
        let id = cx.cluster.symbols.symbol(&metadata.name).and_then(|name| inventory.node_ids.get(&name).copied());
        let Some((id, pool)) = id.zip(metadata.labels.value(label)) else { continue };
        let name = format!("nodepool/{}", cx.cluster.symbols.str(pool));
        let startup = pools.get(name.as_str()).copied().unwrap_or_default();
        let node = &mut cx.cluster.nodes[id];
        let (passing, lasting): (Vec<Taint>, Vec<Taint>) = node
            .taints
            .iter()
            .partition(|taint| startup.iter().any(|one| (one.key, one.effect) == (taint.key, taint.effect)));
        node.taints = lasting;
        node.passing.taints.extend(passing);
    }
}

/// Whether a resource is what a device plugin offers: such names have a domain, and not Kubernetes' own.
///
/// Kubernetes: `component-helpers` and `pkg/apis/core/v1/helper`, `IsExtendedResourceName`.
fn is_device(name: &str) -> bool {
    name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_of_the_lifecycle_pass_and_others_do_not() {
        assert!(passes("node.kubernetes.io/not-ready") && passes("readiness.k8s.io/gpu"));
        assert!(
            !passes("dedicated") && !passes("node-role.kubernetes.io/control-plane") && !passes("readiness.k8s.io")
        );
    }

    #[test]
    fn devices_have_a_domain_of_their_own() {
        assert_eq!(
            ["nvidia.com/gpu", "cpu", "kubernetes.io/x", "hugepages-2Mi"].map(is_device),
            [true, false, false, false]
        );
    }
}
