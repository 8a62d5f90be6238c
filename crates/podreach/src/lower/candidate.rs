//! Candidates for types: templates as they are, and pods as they are and as each of their owners would make them today.

use std::collections::{BTreeMap, HashSet};

use podreach_core::cluster::PodSpec;
use podreach_core::id::NodeId;
use podreach_core::label::Labels;

use super::cause::{Cause, Causes};
use super::context::Context;
use super::inventory::Inventory;
use super::owner::{self, Owners};
use super::pod::PodObject;
use super::spec;
use super::workload::Workload;

/// A pod or template before it has a type.
pub(crate) struct Draft {
    /// What the rules look at.
    pub(crate) spec: PodSpec,
    /// What is not modelled.
    pub(crate) causes: Causes,
}

/// Chains of owners.
#[derive(Default)]
pub(crate) struct Above {
    pub(crate) workloads: Vec<Vec<usize>>,
    pub(crate) pods: Vec<Vec<usize>>,
}

impl Above {
    /// Follows the owners of everything, after naming the templates of Deployments.
    pub(crate) fn new(cx: &mut Context, inventory: &mut Inventory) -> Self {
        let owners = Owners::new(&inventory.workloads);
        owner::name_templates(cx, &mut inventory.workloads, &inventory.pods, &owners);
        let chain = |metadata| owners.chain(cx, &inventory.workloads, metadata);
        Self {
            workloads: inventory.workloads.iter().map(|workload| chain(&workload.metadata)).collect(),
            pods: inventory.pods.iter().map(|pod| chain(&pod.metadata)).collect(),
        }
    }

    /// Whether a workload belongs to another one, and not in a circle to itself.
    pub(crate) fn is_owned(&self, workload: usize) -> bool {
        let chain = &self.workloads[workload];
        !chain.is_empty() && !chain.contains(&workload)
    }
}

/// The node a pod runs on, if that is in the input.
pub(crate) fn place(inventory: &Inventory, pod: &PodObject) -> Option<NodeId> {
    let bound = pod.bound.filter(|_| !pod.finished)?;
    inventory.node_ids.get(&bound).copied()
}

/// The templates that can be deployed: not those of old ReplicaSets and finished Jobs that have no pods left.
pub(crate) fn workload_drafts(cx: &mut Context, inventory: &Inventory, above: &Above) -> BTreeMap<usize, Draft> {
    let runs = |at: &usize| place(inventory, &inventory.pods[*at]).is_some();
    let busy: HashSet<usize> = (0..inventory.pods.len()).filter(runs).flat_map(|at| &above.pods[at]).copied().collect();
    let mut drafts = BTreeMap::new();
    for (at, workload) in inventory.workloads.iter().enumerate() {
        let emptied = workload.metadata.owner.is_some() && workload.scale.replicas == Some(0);
        let owned = above.is_owned(at);
        if busy.contains(&at) || !(owned || emptied) {
            let spec = spec::resolved(cx, &workload.template, workload.template.labels.clone());
            drafts.insert(at, Draft { spec, causes: workload.template.causes.clone() });
        }
    }
    drafts
}

/// A pod as it is, and as it would be had each of its owners made it today.
pub(crate) struct PodDrafts {
    /// The pod as it is.
    pub(crate) own: Draft,
    /// What it would be had its owner made it today, the topmost owner first.
    pub(crate) by_owner: Vec<(usize, PodSpec)>,
}

impl PodDrafts {
    /// The drafts of a pod; `drafts` are those of the workloads.
    pub(crate) fn new(
        cx: &mut Context,
        inventory: &Inventory,
        above: &Above,
        drafts: &BTreeMap<usize, Draft>,
        at: usize,
    ) -> Self {
        let pod = &inventory.pods[at];
        let node = place(inventory, pod).map(|node| cx.cluster.nodes[node].labels.clone());
        let labels = owner::original_labels(cx, pod, node.as_ref(), None);
        let spec = spec::resolved(cx, &pod.draft, labels);
        let mut causes = pod.draft.causes.clone();
        if above.pods[at].is_empty() && pod.is_of_daemon_set() && owner::is_pinned(spec.node_affinity.as_deref()) {
            causes.insert(Cause::MissingDaemonSet, pod.draft.span);
        }
        if let Some(why) = barred(pod) {
            let spec = spec::barred(spec, why, pod.metadata.terminating);
            return Self { own: Draft { spec, causes }, by_owner: Vec::new() };
        }
        let owners = above.pods[at].iter().rev().filter(|owner| drafts.contains_key(owner));
        let by_owner = owners.map(|&owner| (owner, as_made_by(cx, pod, node.as_ref(), &inventory.workloads[owner])));
        Self { by_owner: by_owner.collect(), own: Draft { spec, causes } }
    }

    /// All specs, to be restricted.
    pub(crate) fn specs(&mut self) -> impl Iterator<Item = &mut PodSpec> {
        std::iter::once(&mut self.own.spec).chain(self.by_owner.iter_mut().map(|(_, spec)| spec))
    }
}

fn as_made_by(cx: &mut Context, pod: &PodObject, node: Option<&Labels>, workload: &Workload) -> PodSpec {
    let labels = owner::original_labels(cx, pod, node, Some(workload));
    let mut spec = spec::resolved(cx, &pod.draft, labels);
    owner::unpin(&mut spec, workload);
    spec
}

/// Why no step ever deploys a pod, if so.
fn barred(pod: &PodObject) -> Option<&'static str> {
    let static_pod = pod.metadata.mirror || pod.metadata.owner.as_ref().is_some_and(|owner| owner.kind == "Node");
    if pod.metadata.terminating {
        Some("it is being deleted")
    } else {
        static_pod.then_some("the kubelet starts it, not the scheduler")
    }
}
