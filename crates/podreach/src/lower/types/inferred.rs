//! Types that the input lacks but its pods imply: DaemonSets that own pods, and pods as their owners would make them again.

use std::collections::BTreeMap;
use std::rc::Rc;

use podreach_core::label::Labels;

use super::candidate::place;
use crate::lower::context::Context;
use crate::lower::inventory::Inventory;
use crate::lower::object::kind::Kind;
use crate::lower::object::metadata::Metadata;
use crate::lower::pod::{Draft, Made, PodObject};
use crate::lower::unmodelled::cause::Cause;
use crate::lower::workload::owner::{self, Owners};
use crate::lower::workload::scale::Scale;
use crate::lower::workload::{Workload, given_labels};

/// Adds the DaemonSets that are not there and whose pods are: each also has such pods on other nodes, or may come to have them.
///
/// A pod is pinned to its node in place of the node affinity of its template, so which nodes that selects is not known.
pub(crate) fn add_daemon_sets(cx: &Context, inventory: &mut Inventory) {
    let owners = Owners::new(&inventory.workloads);
    let mut found: BTreeMap<(String, String), &PodObject> = BTreeMap::new();
    for pod in inventory.pods.iter().filter(|pod| pod.is_of_daemon_set()) {
        let pinned = owner::is_pinned(pod.draft.content.affinities.node.as_deref());
        if let Some(owner) = pod.metadata.owner.as_ref().filter(|_| pinned)
            && owners.chain(cx, &inventory.workloads, &pod.metadata).is_empty()
        {
            found.entry((pod.metadata.namespace.clone(), owner.name.clone())).or_insert(pod);
        }
    }
    let made: Vec<Workload> = found.into_iter().map(|((_, name), pod)| daemon_set(cx, inventory, name, pod)).collect();
    inventory.workloads.extend(made);
}

/// The DaemonSet of a pod, as far as the pod shows.
fn daemon_set(cx: &Context, inventory: &Inventory, name: String, pod: &PodObject) -> Workload {
    let mut template = as_made(cx, inventory, pod);
    let labels = Rc::make_mut(&mut template.labels);
    let given = given_labels::instance_labels(Kind::DaemonSet).iter().filter_map(|key| cx.cluster.symbols.symbol(key));
    given.for_each(|key| labels.remove(key));
    Rc::make_mut(&mut template.content).affinities.node = None;
    let metadata = Metadata { name, owner: None, exceptions: Vec::new(), ..pod.metadata.clone() };
    Workload { unseen: true, ..Workload::plain(Kind::DaemonSet, metadata, template, Scale::per_node(1)) }
}

/// Adds to each pod without an owner that its node would label otherwise today what it would be if it was made again.
pub(crate) fn add_unlabelled(cx: &Context, inventory: &mut Inventory) {
    let others = inventory.pods.iter().filter(|pod| {
        let node = place(inventory, pod).map(|node| &cx.cluster.nodes[node].labels);
        pod.metadata.owner.is_none() && owner::is_unlabelled(cx, &pod.draft.labels, node)
    });
    let made = others.map(|pod| {
        let draft = as_made(cx, inventory, pod);
        let metadata = Metadata { labels: draft.labels.clone(), ..pod.metadata.clone() };
        PodObject { metadata, draft, bound: None, finished: false, waits: false, stored: None, made: Some(Made::Again) }
    });
    let made: Vec<PodObject> = made.collect();
    inventory.pods.extend(made);
}

/// A pod without what its node and its status added.
fn as_made(cx: &Context, inventory: &Inventory, pod: &PodObject) -> Draft {
    let given = owner::given_by(cx, place(inventory, pod).map(|node| &cx.cluster.nodes[node].labels));
    let mut draft = pod.draft.clone();
    let labels: Labels = owner::original_labels(cx, pod, given, None);
    draft.labels = Rc::new(labels);
    draft.causes.remove(&Cause::Resized);
    draft
}
