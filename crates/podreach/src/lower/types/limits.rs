//! Limits on instances: how many pods of a workload, and of a name, there may be at a time.
//!
//! The cost is linear in the workloads and in the pods with types of their own: members of a workload are looked up, not searched for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use podreach_core::cancel::polled;
use podreach_core::cluster::{Limit, Waiting};
use podreach_core::id::QuotaId;
use podreach_core::resource::Amount;
use podreach_core::rule::Rule;
use podreach_core::{Cluster, PodId};

use super::{Typing, ordinal};
use crate::lower::inventory::{Inventory, full_name};
use crate::lower::object::kind::Kind;
use crate::lower::origin::Instance;
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
        limits.push(Limit { name, pods, per_node, most, waits, unasked: BTreeSet::new() });
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
        let counts = |at: &&usize| alone || inventory.workloads[**at].renews_claims;
        for &at in typing.above.pods[*pod].iter().filter(counts) {
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
    polled(pods)
        .map(|(name, pods)| Limit { name, pods, per_node: false, most: 1, waits: true, unasked: BTreeSet::new() })
        .collect()
}

/// Pods that wait count for the limits of their workload, which were asked when they were made; and there are so many and no more.
///
/// To bind one of them changes nothing about how many there are, and a new one is made only within the limit. So where there are no more
/// than the limit allows, those that run never are more, and a binding may be asked as well. Otherwise it is not.
pub(crate) fn add_waiting(cluster: &mut Cluster, instances: &[Instance]) {
    if cluster.waiting.is_empty() {
        return;
    }
    let on = limits_on(cluster);
    let places = |of: &PodId| on.get(of).into_iter().flatten().copied();
    let mut there = vec![0_u64; cluster.limits.len()];
    for Instance { pod, .. } in polled(instances) {
        places(pod).for_each(|at| there[at] += 1);
    }
    for Waiting { of, count } in cluster.waiting.values() {
        places(of).for_each(|at| there[at] += count);
    }
    for (&pod, &Waiting { of, count }) in polled(&cluster.waiting) {
        for at in places(&of) {
            cluster.limits[at].pods.insert(pod);
            if there[at] > cluster.limits[at].most {
                cluster.limits[at].unasked.insert(pod);
            }
        }
        let (name, pods) = (cluster.pods[pod].name.clone(), BTreeSet::from([pod]));
        let limit = Limit { name, pods, per_node: false, most: count, waits: true, unasked: BTreeSet::new() };
        cluster.limits.push(limit);
    }
}

/// Pods that wait are asked by quotas like others, where all that is there at first is within them.
///
/// They have been charged since they were made: to bind one charges nothing more, and a new pod is made only within the quota. So what is
/// charged never exceeds it, and those that run are never more than that. Where the start exceeds a quota, a binding is not asked.
pub(crate) fn ask_quotas_of_waiting(cluster: &mut Cluster, instances: &[Instance]) {
    // Also those that are being deleted: under the paper they are charged until they are gone.
    let one_each = instances.iter().map(|instance| (instance.pod, 1));
    let waiting = cluster.waiting.iter().map(|(&pod, waiting)| (pod, waiting.count));
    let mut charged = BTreeMap::<QuotaId, Amount>::new();
    for (pod, count) in polled(one_each.chain(waiting)) {
        for (&quota, takes) in &cluster.pods[pod].spec.quota {
            let sum = charged.entry(quota).or_default();
            *sum = sum.saturating_add(takes.saturating_mul(count.into()));
        }
    }
    let Cluster { pods, quotas, waiting, .. } = cluster;
    for &pod in waiting.keys() {
        let spec = &mut pods[pod].spec;
        if spec.quota.keys().all(|quota| charged[quota] <= quotas[*quota].hard) {
            Arc::make_mut(spec).exempt.remove(&Rule::ResourceQuota);
        }
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
