//! Pods that a StatefulSet would make again, because their claims outlived them.
//!
//! A StatefulSet numbers its pods, and names the claims of each after it. An existing claim restricts its pod to the nodes of its volume, so
//! such a pod is a type of its own. The type of the StatefulSet itself is for pods whose claims do not exist yet. Where claims are deleted
//! with their pods, a pod may also come back with new ones, which is one more type.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::Topic;
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::inventory::{Inventory, full_name};
use crate::lower::object::kind::Kind;
use crate::lower::object::metadata::{Metadata, Owner};
use crate::lower::pod::{Content, Made, PodObject};
use crate::lower::storage::mount::MountedClaim;
use crate::lower::workload::Workload;

/// Adds the pods that are not there and have claims, and says which types a StatefulSet has besides its own.
pub(crate) fn add(cx: &mut Context, inventory: &mut Inventory, declared: bool) {
    let mut made = Vec::new();
    for set in inventory.workloads.iter().filter(|workload| workload.kind == Kind::StatefulSet) {
        let name = &set.metadata.name;
        let ordinals = ordinals(cx, set);
        if let (Some(first), Some(last)) = (ordinals.first(), ordinals.last()) {
            let message = format!(
                "{} has claims for its pods {name}-{first} to {name}-{last}, which are types of their own: asking for it asks for one of them",
                full_name(set.kind, &set.metadata)
            );
            cx.report(errors::note("W0311", set.metadata.span, message));
            if set.ordered {
                let message = format!(
                    "{} is OrderedReady and makes a pod only while all before it are ready; each is asked about by itself here",
                    full_name(set.kind, &set.metadata)
                );
                cx.report(errors::assumed(Topic::Steps, "W0322", set.metadata.span, message));
            }
        }
        for ordinal in ordinals.into_iter().filter(|&ordinal| !declared || within(inventory, set, ordinal)) {
            made.push(pod_of(cx, set, ordinal, Made::Again));
            if set.renews_claims {
                made.push(pod_of(cx, set, ordinal, Made::Anew));
            }
        }
    }
    inventory.pods.extend(made);
    keep_shared(inventory);
}

/// A claim that another pod mounts by its name is not one pod's own.
fn keep_shared(inventory: &mut Inventory) {
    let pods = inventory.pods.iter().map(|pod| (&pod.metadata.namespace, &pod.draft.content.mounted));
    let sets = inventory.workloads.iter().map(|set| (&set.metadata.namespace, &set.template.content.mounted));
    let named: BTreeSet<(String, String)> = pods
        .chain(sets)
        .flat_map(|(namespace, mounted)| mounted.claims.iter().map(move |claim| (namespace, claim)))
        .filter_map(|(namespace, claim)| match claim {
            MountedClaim::Named(name) => Some((namespace.clone(), name.clone())),
            _ => None,
        })
        .collect();
    let is_shared = |namespace: &String, claim: &MountedClaim| match claim {
        MountedClaim::Own { name, .. } => named.contains(&(namespace.clone(), name.clone())),
        _ => false,
    };
    for pod in &mut inventory.pods {
        let namespace = &pod.metadata.namespace;
        if pod.draft.content.mounted.claims.iter().any(|claim| is_shared(namespace, claim)) {
            for claim in &mut Rc::make_mut(&mut pod.draft.content).mounted.claims {
                if let (true, MountedClaim::Own { name, .. }) = (is_shared(namespace, claim), &mut *claim) {
                    *claim = MountedClaim::Named(std::mem::take(name));
                }
            }
        }
    }
}

/// The numbers of the pods of a StatefulSet that have claims.
fn ordinals(cx: &Context, set: &Workload) -> BTreeSet<u64> {
    let claims = set.template.content.mounted.claims.iter();
    let templates = claims.filter_map(|claim| match claim {
        MountedClaim::Fresh { template, ephemeral: false, .. } => Some(template.as_str()),
        _ => None,
    });
    cx.storage.ordinals(&set.metadata.namespace, &set.metadata.name, &templates.collect())
}

/// The number of a pod of a StatefulSet.
pub(crate) fn number(set: &Workload, pod: &Metadata) -> Option<u64> {
    let digits = pod.name.strip_prefix(&set.metadata.name)?.strip_prefix('-')?;
    digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'))
}

/// Whether a StatefulSet asks for a pod of this number now.
pub(crate) fn is_declared(set: &Workload, ordinal: u64) -> bool {
    let replicas = set.scale.replicas.unwrap_or(u64::MAX);
    (set.first_ordinal..set.first_ordinal.saturating_add(replicas)).contains(&ordinal)
}

/// Whether a StatefulSet of its declared size has a pod of this number.
pub(crate) fn within(inventory: &Inventory, set: &Workload, ordinal: u64) -> bool {
    let autoscaled = inventory.autoscaled.get(&set.target()).copied();
    let most = set.scale.most(autoscaled).unwrap_or(u64::MAX);
    (set.first_ordinal..set.first_ordinal.saturating_add(most)).contains(&ordinal)
}

/// The pod of a number, as its StatefulSet makes it today.
///
/// Kubernetes: `pkg/controller/statefulset/stateful_set_utils.go`, `updateIdentity`.
fn pod_of(cx: &mut Context, set: &Workload, ordinal: u64, made: Made) -> PodObject {
    let pod = format!("{}-{ordinal}", set.metadata.name);
    let mut draft = set.template.clone();
    if cx.admission {
        let labels = Rc::make_mut(&mut draft.labels);
        labels.set(cx.symbol("statefulset.kubernetes.io/pod-name"), cx.symbol(&pod));
        labels.set(cx.symbol("apps.kubernetes.io/pod-index"), cx.symbol(&ordinal.to_string()));
    }
    let mut content = Content::clone(&draft.content);
    for claim in content.mounted.claims.iter_mut().filter(|_| made == Made::Again) {
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
    PodObject { metadata, draft, bound: None, finished: false, waits: false, stored: None, made: Some(made) }
}
