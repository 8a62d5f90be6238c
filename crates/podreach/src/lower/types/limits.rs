//! Limits on instances: how many pods of a workload, and of a name, there may be at a time.
//!
//! The cost is linear in the workloads and in the pods with types of their own: members of a workload are looked up, not searched for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use podreach_core::cancel::polled;
use podreach_core::cluster::{Limit, Waiting};
use podreach_core::{Cluster, PodId};

use super::{Typing, ordinal};
use crate::lower::inventory::{Inventory, full_name};
use crate::lower::object::kind::Kind;
use crate::lower::workload::scale::Scale;

/// The types that count for each workload besides its own.
type Members = HashMap<usize, BTreeSet<PodId>>;

/// Bounds the instances of every workload by what it says of itself, and of every name by one.
pub(crate) fn declared(inventory: &Inventory, typing: &Typing) -> Vec<Limit> {
    let mut members = members(inventory, typing);
    let mut limits = Vec::new();
    for (&at, &id) in polled(&typing.workloads) {
        let workload = &inventory.workloads[at];
        if typing.above.is_owned(at) {
            continue;
        }
        let mut pods = members.remove(&at).unwrap_or_default();
        pods.insert(id);
        let most = workload.scale.most(inventory.autoscaled.get(&workload.target()).copied());
        let apart = if workload.renews_claims {
            0
        } else {
            typing.apart(inventory, at, |set, number| ordinal::within(inventory, set, number))
        };
        let most = most.map(|most| most.saturating_sub(apart));
        let Some(most) = most else { continue };
        let name = full_name(workload.kind, &workload.metadata);
        let Scale { per_node, waits, .. } = workload.scale;
        limits.push(Limit { name, pods, per_node, most, waits });
    }
    limits.extend(by_name(inventory, typing));
    limits
}

/// What belongs to each workload: other workloads, and pods of former revisions, which count until they are gone, but for those whose
/// number has a bound of its own.
fn members(inventory: &Inventory, typing: &Typing) -> Members {
    let mut members = Members::new();
    for (&below, &id) in polled(&typing.workloads) {
        for &at in &typing.above.workloads[below] {
            members.entry(at).or_default().insert(id);
        }
    }
    for (pod, name) in polled(&typing.named_pods) {
        let metadata = &inventory.pods[*pod].metadata;
        let alone = typing.outdated.contains(pod) && *name == full_name(Kind::Pod, metadata);
        // Those that are being deleted count under the paper, and else where the workload waits for them: the model knows.
        let above = typing.above.pods[*pod].iter();
        for &at in above.filter(|&&at| alone || inventory.workloads[at].renews_claims) {
            members.entry(at).or_default().insert(typing.pods[pod]);
        }
    }
    members
}

/// One pod of each name at a time.
pub(crate) fn by_name(inventory: &Inventory, typing: &Typing) -> Vec<Limit> {
    let mut pods: BTreeMap<String, BTreeSet<PodId>> = BTreeMap::new();
    for at in polled(typing.named_pods.keys()) {
        pods.entry(full_name(Kind::Pod, &inventory.pods[*at].metadata)).or_default().insert(typing.pods[at]);
    }
    polled(pods).map(|(name, pods)| Limit { name, pods, per_node: false, most: 1, waits: true }).collect()
}

/// Pods that wait count for the limits of their workload, which were asked when they were made; and there are so many and no more.
pub(crate) fn add_waiting(cluster: &mut Cluster) {
    let on = if cluster.waiting.is_empty() { HashMap::new() } else { limits_on(cluster) };
    for (&pod, &Waiting { of, count }) in polled(&cluster.waiting) {
        for &at in on.get(&of).into_iter().flatten() {
            cluster.limits[at].pods.insert(pod);
        }
        let (name, pods) = (cluster.pods[pod].name.clone(), BTreeSet::from([pod]));
        cluster.limits.push(Limit { name, pods, per_node: false, most: count, waits: true });
    }
}

/// The limits on each type that is limited, by their index.
pub(crate) fn limits_on(cluster: &Cluster) -> HashMap<PodId, Vec<usize>> {
    let mut on = HashMap::<PodId, Vec<usize>>::new();
    for (at, limit) in polled(cluster.limits.iter().enumerate()) {
        for &pod in &limit.pods {
            on.entry(pod).or_default().push(at);
        }
    }
    on
}
