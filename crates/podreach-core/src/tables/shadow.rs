//! Terminating pods: what a pod is between the beginning of its deletion and its end.
//!
//! A pod that is being deleted still serves affinity, takes room, ports and volumes, and repels. Topology spread does not count it
//! (Kubernetes: `podtopologyspread/common.go`, `countPodsMatchSelector`), a quota charges it no longer once its grace period is over
//! (`pkg/quota/v1/evaluator/core/pods.go`, `QuotaV1Pod`) unless it counts objects (`count/pods`), and controllers that count active pods replace it (`controller_utils.go`,
//! `IsPodActive`). So some configurations are reached only by way of it. The *shadow* `p†` of a type `p` is `p` while it is being
//! deleted: a type that no step deploys, and that any `p` may turn into.
//!
//! A type that nothing of the kind counts is the same before and after, and has none. Under the paper deletion is one step.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::cluster::{Barred, Cluster, Pod, PodSpec, Quota};
use crate::id::{IdVec, MatcherId, PodId, QuotaId, Symbol};
use crate::matches::may_see;
use crate::resource::Amount;

/// Gives a shadow to each type that needs one, or, where they have them, makes each shadow what its type is by now.
///
/// `copied_keys` are those whose values a node gives to its pods.
pub(crate) fn add(cluster: &mut Cluster, copied_keys: &[Symbol]) {
    release_terminating(cluster);
    if cluster.shadows.is_empty() {
        for pod in counted(cluster, copied_keys) {
            let Pod { name, spec } = cluster.pods[pod].clone();
            let shadow = cluster.pods.push(Pod { name, spec });
            cluster.shadows.insert(pod, shadow);
        }
        for limit in cluster.limits.iter_mut().filter(|limit| limit.waits) {
            let shadows = limit.pods.iter().filter_map(|pod| cluster.shadows.get(pod));
            limit.pods = limit.pods.iter().chain(shadows).copied().collect();
        }
    }
    let mut known = HashMap::<*const PodSpec, Arc<PodSpec>>::new();
    for (&pod, &shadow) in &cluster.shadows {
        let spec = cluster.pods[pod].spec.clone();
        let made = known.entry(Arc::as_ptr(&spec)).or_insert_with(|| Arc::new(terminating(&cluster.quotas, &spec)));
        cluster.pods[shadow].spec = made.clone();
    }
}

/// Types whose pods are being deleted from the start are counted like shadows: by quotas and limits that count pods until they are gone.
fn release_terminating(cluster: &mut Cluster) {
    let Cluster { pods, limits, quotas, .. } = cluster;
    let mut known = HashMap::<*const PodSpec, Arc<PodSpec>>::new();
    for id in pods.ids() {
        let spec = &mut pods[id].spec;
        if spec.terminating && is_released(quotas, spec) {
            let released = known
                .entry(Arc::as_ptr(spec))
                .or_insert_with(|| Arc::new(PodSpec { quota: charged_until_gone(quotas, spec), ..(**spec).clone() }));
            *spec = released.clone();
        }
    }
    for limit in limits.iter_mut().filter(|limit| !limit.waits) {
        limit.pods.retain(|pod| !pods[*pod].spec.terminating);
    }
}

fn terminating(quotas: &IdVec<QuotaId, Quota>, spec: &PodSpec) -> PodSpec {
    let quota = charged_until_gone(quotas, spec);
    PodSpec { barred: Some(Barred::Terminating), terminating: true, quota, ..spec.clone() }
}

/// What is still charged for a pod that is being deleted.
fn charged_until_gone(quotas: &IdVec<QuotaId, Quota>, spec: &PodSpec) -> BTreeMap<QuotaId, Amount> {
    spec.quota.iter().filter(|(quota, _)| quotas[**quota].until_gone).map(|(&quota, &takes)| (quota, takes)).collect()
}

/// Whether some quota charges a pod only until its deletion begins.
fn is_released(quotas: &IdVec<QuotaId, Quota>, spec: &PodSpec) -> bool {
    spec.quota.keys().any(|&quota| !quotas[quota].until_gone)
}

/// The types that something counts as long as they are not being deleted.
fn counted(cluster: &Cluster, copied_keys: &[Symbol]) -> Vec<PodId> {
    let constraints = cluster.pods.values().flat_map(|pod| pod.spec.spread.iter().map(|constraint| constraint.matcher));
    let matchers: BTreeSet<MatcherId> = constraints.collect();
    let limited: BTreeSet<PodId> =
        cluster.limits.iter().filter(|limit| !limit.waits).flat_map(|limit| limit.pods.iter().copied()).collect();
    let mut known = HashMap::<*const PodSpec, bool>::new();
    let mut is_counted = |pod: &Pod| {
        *known.entry(Arc::as_ptr(&pod.spec)).or_insert_with(|| {
            is_released(&cluster.quotas, &pod.spec)
                || matchers.iter().any(|&matcher| may_see(cluster, copied_keys, matcher, &pod.spec))
        })
    };
    let lasting = cluster.pods.iter().filter(|(_, pod)| pod.spec.barred.as_ref().is_none_or(Barred::may_be_deleted));
    lasting.filter(|(id, pod)| limited.contains(id) || is_counted(pod)).map(|(id, _)| id).collect()
}
