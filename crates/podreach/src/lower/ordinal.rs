//! Pods that a StatefulSet would make again: those whose claims outlived them.
//!
//! A StatefulSet names its pods by number, and the claims of each after it. A claim that is there already holds its pod to where its
//! volume is, so such a pod is a type of its own. The StatefulSet itself stands for pods whose claims are yet to be made.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::context::Context;
use super::inventory::{Inventory, full_name};
use super::kind::Kind;
use super::metadata::{Metadata, Owner};
use super::mount::MountedClaim;
use super::pod::{Content, PodObject};
use super::problem;
use super::workload::Workload;

/// Adds the pods that are not there and have claims, and says which types a StatefulSet has besides its own.
pub(crate) fn add(cx: &mut Context, inventory: &mut Inventory, declared: bool) {
    let known: BTreeSet<(String, String)> =
        inventory.pods.iter().map(|pod| (pod.metadata.namespace.clone(), pod.metadata.name.clone())).collect();
    let mut made = Vec::new();
    for set in inventory.workloads.iter().filter(|workload| workload.kind == Kind::StatefulSet) {
        let Metadata { namespace, name, .. } = &set.metadata;
        let ordinals = ordinals(cx, set);
        if let (Some(first), Some(last)) = (ordinals.first(), ordinals.last()) {
            let message = format!(
                "{} has claims for its pods {name}-{first} to {name}-{last}, which are types of their own; it stands for the others",
                full_name(set.kind, &set.metadata)
            );
            cx.report(problem::note("W0311", set.metadata.span, message));
        }
        for ordinal in ordinals.into_iter().filter(|&ordinal| !declared || within(inventory, set, ordinal)) {
            let pod = format!("{name}-{ordinal}");
            if !known.contains(&(namespace.clone(), pod.clone())) {
                made.push(pod_of(cx, set, pod));
            }
        }
    }
    inventory.pods.extend(made);
}

/// The numbers of the pods of a StatefulSet that have claims.
pub(crate) fn ordinals(cx: &Context, set: &Workload) -> BTreeSet<u64> {
    let claims = set.template.content.mounted.claims.iter();
    let templates = claims.filter_map(|claim| match claim {
        MountedClaim::Fresh { template, ephemeral: false, .. } => Some(template.as_str()),
        _ => None,
    });
    cx.storage.ordinals(&set.metadata.namespace, &set.metadata.name, &templates.collect())
}

/// Whether a StatefulSet of its declared size has a pod of this number.
pub(crate) fn within(inventory: &Inventory, set: &Workload, ordinal: u64) -> bool {
    let Metadata { namespace, name, .. } = &set.metadata;
    let autoscaled = inventory.autoscaled.get(&(set.kind, namespace.clone(), name.clone())).copied();
    let most = set.scale.most(autoscaled).unwrap_or(u64::MAX);
    (set.first_ordinal..set.first_ordinal.saturating_add(most)).contains(&ordinal)
}

fn pod_of(cx: &Context, set: &Workload, pod: String) -> PodObject {
    let mut draft = set.template.clone();
    let mut content = Content::clone(&draft.content);
    for claim in &mut content.mounted.claims {
        let MountedClaim::Fresh { template, ephemeral: false, .. } = claim else { continue };
        let (name, template) = (format!("{template}-{pod}"), std::mem::take(template));
        if cx.storage.has_claim(&set.metadata.namespace, &name) {
            *claim = MountedClaim::Own { name, template };
        } else if let MountedClaim::Fresh { template: empty, .. } = claim {
            *empty = template;
        }
    }
    draft.content = Rc::new(content);
    let owner = Owner { kind: set.kind.name().to_owned(), name: set.metadata.name.clone() };
    let metadata = Metadata {
        name: pod,
        owner: Some(Rc::new(owner)),
        labels: draft.labels.clone(),
        generated: false,
        uid: None,
        terminating: false,
        revision: None,
        ..set.metadata.clone()
    };
    PodObject { metadata, draft, bound: None, finished: false }
}
