//! What passes on nodes: taints that their makers remove again, cordons, and devices that are missing for now.
//!
//! All other taints and labels are configuration: they change only when somebody changes the cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::cluster::{Node, Pod, PodSpec, Taint};
use podreach_core::resource::Resources;
use podreach_core::starting::StartingNodes;
use podreach_core::{Cluster, NodeId};

use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::Origins;
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

/// The taints of nodes that clouds, Cluster API and Karpenter know and have not labelled yet.
const UNTIL_REGISTERED: [&str; 3] = [
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cluster.x-k8s.io/uninitialized",
    "karpenter.sh/unregistered",
];

/// The prefixes of taints that a cluster autoscaler takes for those of nodes which are still starting.
const UNTIL_STARTED: [&str; 2] =
    ["ignore-taint.cluster-autoscaler.kubernetes.io/", "startup-taint.cluster-autoscaler.kubernetes.io/"];

/// Whether a node with a taint of this key waits for what its cloud says about it, its agents find, or its pool gives it.
///
/// The cloud's node controller adds zone, region, instance type, and what else the cloud says of an instance in the sync that removes its
/// taint; Karpenter and Cluster API copy labels when they register a node. Kubernetes: `cloud-provider/controllers/node/node_controller.go`,
/// `syncNode`. Karpenter: `nodeclaim/lifecycle/registration.go`.
fn is_until_started(key: &str) -> bool {
    UNTIL_REGISTERED.contains(&key) || UNTIL_STARTED.iter().any(|prefix| key.starts_with(prefix))
}

/// Sets apart what passes on a node with this capacity.
///
/// A device that is not healthy counts for the capacity and not for what can be had. Kubernetes: `pkg/kubelet/cm/devicemanager/manager.go`,
/// `GetCapacity`.
pub(crate) fn split(cx: &Context, node: &mut Node, capacity: &Resources) {
    let (passing, lasting): (Vec<Taint>, Vec<Taint>) =
        node.taints.iter().partition(|taint| passes(cx.cluster.symbols.str(taint.key)));
    node.taints = lasting;
    node.passing.is_starting = passing.iter().any(|taint| is_until_started(cx.cluster.symbols.str(taint.key)));
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
        node.passing.is_starting |= !passing.is_empty();
        node.passing.taints.extend(passing);
    }
}

/// A remark about the nodes that are still starting, if what they are yet to get may decide about pods.
pub(crate) fn still_starting(cluster: &Cluster, origins: &Origins) -> Option<Diagnostic> {
    let starting = StartingNodes::new(cluster)?;
    let nodes: BTreeSet<NodeId> = starting.classes().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    let names: Vec<&str> = nodes.iter().map(|&node| cluster.symbols.str(cluster.nodes[node].name)).collect();
    let mut known = HashMap::<*const PodSpec, bool>::new();
    let mut is_concerned = |pod: &Pod| {
        *known.entry(Arc::as_ptr(&pod.spec)).or_insert_with(|| {
            let refused = |(open, _): (&BTreeSet<_>, _)| starting.is_refused(cluster, &pod.spec, open);
            starting.is_let_in(cluster, &pod.spec)
                || starting.is_unsettled(cluster, &pod.spec)
                || starting.is_repelled(cluster, &pod.spec)
                || starting.classes().any(refused)
        })
    };
    let pods = cluster.pods.values().filter(|pod| is_concerned(pod)).map(|pod| pod.name.clone());
    let pods: Vec<String> = pods.collect();
    let span = names.iter().find_map(|name| origins.nodes.get(*name)).map(|origin| origin.span);
    let remark = Diagnostic::stops("S0473", span, what_is_starting(&names)).with_effect(Effect::Both);
    let remark = remark.with_help("ask again once they have started");
    (!pods.is_empty()).then_some(Diagnostic { pods, ..remark })
}

/// That nodes are still starting, and what is not known of them.
pub(crate) fn what_is_starting(nodes: &[&str]) -> String {
    let (first, others) = nodes.split_first().map_or(("", 0), |(first, others)| (*first, others.len()));
    let (names, are) = match others {
        0 => (format!("node {first}"), "is"),
        1 => (format!("node {first} and another one"), "are"),
        _ => (format!("node {first} and {others} others"), "are"),
    };
    format!(
        "{names} {are} still starting, and labels, devices and drivers that are yet to come may decide what runs there or near"
    )
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
