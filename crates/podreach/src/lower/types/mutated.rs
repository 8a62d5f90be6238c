//! Workloads whose running pods differ from their template although they are of its current revision: admission changes them.
//!
//! No verdict may then rest on the template alone. If all such pods are changed in the same way, the workload is modelled as they are; if
//! they differ, or a resize may be the reason, the workload is in doubt. Labels and volumes are not compared, since others change them.

use std::collections::BTreeMap;

use podreach_core::cancel;
use podreach_core::cluster::PodSpec;

use super::candidate::{Draft, PodDraft, PodDrafts, place};
use crate::diagnostic::labels::TEMPLATE_HASH;
use crate::lower::context::Context;
use crate::lower::inventory::Inventory;
use crate::lower::object::kind::Kind;
use crate::lower::pod::{self, PodObject};
use crate::lower::unmodelled::cause::Cause;
use crate::lower::workload::Workload;

/// Models workloads by their running pods, where those show that their templates are changed.
pub(crate) fn adopt(cx: &Context, inventory: &Inventory, workloads: &mut BTreeMap<usize, Draft>, pods: &PodDrafts) {
    if !cx.admission {
        return;
    }
    let mut seen: BTreeMap<usize, Vec<(usize, &PodSpec)>> = BTreeMap::new();
    for (at, (pod, draft)) in cancel::polled(inventory.pods.iter().zip(&pods.pods).enumerate()) {
        if place(inventory, pod).is_none() || is_otherwise_changed(draft) {
            continue;
        }
        for (owner, spec) in &pods.variants[draft.variant].by_owner {
            if is_current(cx, pod, &inventory.workloads[*owner]) {
                seen.entry(*owner).or_default().push((at, spec));
            }
        }
    }
    for (owner, seen) in seen {
        let Some(draft) = workloads.get_mut(&owner) else { continue };
        let Some(&(pod, spec)) = seen.iter().find(|(_, spec)| compared(spec) != compared(&draft.spec)) else {
            continue;
        };
        let workload = &inventory.workloads[owner];
        let agree = seen.iter().all(|(_, other)| compared(other) == compared(spec));
        if agree && is_telling(spec, &draft.spec, &inventory.pods[pod].draft, &workload.template) {
            let PodSpec { labels, mounts, devices, .. } = draft.spec.clone();
            draft.spec = PodSpec { labels, mounts, devices, ..spec.clone() };
            draft.causes.insert(Cause::SeenOtherwise, workload.metadata.span);
        } else {
            draft.causes.insert(Cause::SeenApart, workload.metadata.span);
        }
    }
}

/// Whether something else than admission when it was made accounts for what a pod is: a resize under way, a LimitRange since then.
fn is_otherwise_changed(draft: &PodDraft) -> bool {
    [Cause::Resized, Cause::LimitRangeDefaults].iter().any(|cause| draft.causes.contains_key(cause))
}

/// Whether a pod was made from the template that a workload has now. Deployments and ReplicaSets tell by the hash of the template, and
/// the template of a Job does not change.
fn is_current(cx: &Context, pod: &PodObject, workload: &Workload) -> bool {
    match workload.kind {
        Kind::Deployment => has_template_hash(cx, pod, workload),
        Kind::ReplicaSet => workload.metadata.owner.is_some() && has_template_hash(cx, pod, workload),
        Kind::Job => true,
        _ => false,
    }
}

/// Whether a pod carries the hash that its workload's template has.
fn has_template_hash(cx: &Context, pod: &PodObject, workload: &Workload) -> bool {
    let Some(key) = cx.cluster.symbols.symbol(TEMPLATE_HASH) else { return false };
    let own = pod.draft.labels.value(key);
    own.is_some() && workload.template.labels.value(key) == own
}

/// What is compared.
fn compared(spec: &PodSpec) -> PodSpec {
    let PodSpec { namespace, .. } = *spec;
    let plain = PodSpec::plain(namespace);
    let PodSpec { labels, mounts, devices, quota, .. } = plain;
    PodSpec { labels, mounts, devices, quota, ..spec.clone() }
}

/// Whether a pod that is not what its template makes shows what new pods are: what it requests may have been resized since, unless it
/// has other containers, and what a runtime class adds may have changed.
fn is_telling(pod: &PodSpec, template: &PodSpec, seen: &pod::Draft, written: &pod::Draft) -> bool {
    let count = |draft: &pod::Draft| (draft.content.parts.containers.len(), draft.content.parts.init.len());
    let resized = pod.requests != template.requests && count(seen) == count(written);
    !resized && written.content.runtime_class.is_none()
}
