//! Finds what pods ask for that filters look at and the model does not; each such use is a cause of doubt.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel;
use podreach_core::cluster::{Barred, PodSpec};
use podreach_core::id::{NamespaceId, Symbol};
use podreach_core::selector::Selector;

use super::cause::{Cause, Causes};
use crate::diagnostic::GivenLabels;
use crate::lower::context::Context;
use crate::lower::inventory::Inventory;
use crate::lower::node::{NAME_LABEL, devices};
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::pod::{self, Content, security, spec};
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::resources::quantity::Quantity;
use crate::lower::resources::request::{self, Parts};
use crate::lower::storage;
use crate::lower::types::candidate::{Above, Draft, PodDrafts};
use crate::lower::workload::given_labels::Glances;
use crate::read::{Span, Tree};

/// Fields that spoil when they hold anything.
const FILLED: [(&str, Cause); 3] =
    [("schedulingGates", Cause::SchedulingGates), ("schedulingGroup", Cause::Group), ("workloadRef", Cause::Group)];

/// Fields that spoil when they hold another text than usual.
const NAMED: [(&str, Cause, &str); 2] =
    [("runtimeClassName", Cause::RuntimeClass, ""), ("schedulerName", Cause::OtherScheduler, "default-scheduler")];

/// What about the spec of a pod is not modelled.
pub(crate) fn of_spec(spec: &Object<'_, '_>, minor: u32) -> Causes {
    let filled = FILLED.iter().filter_map(|(field, cause)| {
        Some((*cause, spec.field(field).filter(|tree| tree.seq().is_none_or(|items| !items.is_empty()))?.span))
    });
    let named = NAMED.iter().filter_map(|(field, cause, usual)| {
        let tree = spec.field(field).filter(|tree| tree.str().is_none_or(|text| !text.is_empty() && text != *usual))?;
        Some((*cause, tree.span))
    });
    let sysctl = security::unsafe_sysctl(spec, minor).map(|span| (Cause::Sysctls, span));
    filled.chain(named).chain(sysctl).collect()
}

/// What about the volumes and devices of a pod the input does not say, or is not modelled.
fn of_volumes(cx: &mut Context, draft: &pod::Draft) -> Causes {
    let Content { namespace, mounted, devices, .. } = &*draft.content;
    let (_, causes) = storage::claim::mounts(cx, *namespace, mounted);
    let (_, cause) = devices::resolved(cx, *namespace, devices);
    let volumes = causes
        .into_iter()
        .map(|(cause, claim)| (cause, claim.and_then(|at| draft.claims.get(at)).copied().unwrap_or(draft.span)));
    volumes.chain(cause.map(|cause| (cause, draft.span))).collect()
}

/// Where the status of a pod says that it counts with other amounts than its spec asks for: what a container has or was allowed
/// differs, or what the pod as a whole has or was allowed.
///
/// The latter is looked at since 1.36 if the pod asks for something as a whole, since 1.37 always. It is read back from the node, where
/// cpu is kept in coarser steps; less than the containers ask for together means nothing.
/// Kubernetes: `component-helpers/resource/helpers.go`, `PodRequests` with `UseStatusResources`.
pub(crate) fn resized(cx: &Context, status: &Object<'_, '_>, parts: &Parts) -> Option<Span> {
    let lists = ["containerStatuses", "initContainerStatuses"].map(|field| status.field(field).and_then(Tree::seq));
    let container =
        lists.into_iter().flatten().flatten().find(|status| differs(cx, parts, status)).map(|status| status.span);
    container.or_else(|| {
        // Few pods report anything, so what they ask for is summed up only then.
        let asked = LazyCell::new(|| request::before_overhead(parts, cx.admission));
        let (as_a_whole, since) = if parts.whole.is_some() { (true, 36) } else { (false, 37) };
        (cx.release.minor >= since
            && reported(|field| status.field(field)).any(|(of, now)| {
                let asked = amount_of(&asked, of);
                if as_a_whole { now != asked } else { now > asked }
            }))
        .then(|| status.span())
    })
}

/// Whether a container has other amounts than it asks for.
fn differs(cx: &Context, parts: &Parts, status: &Tree<'_>) -> bool {
    let name = status.text("name");
    let mut containers = parts.containers.iter().chain(&parts.init);
    let container = containers.find(|container| Some(container.name.as_str()) == name);
    container.is_some_and(|container| {
        let asked = LazyCell::new(|| request::requests(container, cx.admission));
        reported(|field| status.field(field)).any(|(of, now)| now != amount_of(&asked, of))
    })
}

fn amount_of(amounts: &Amounts, resource: &str) -> Quantity {
    amounts.get(resource).copied().unwrap_or_default()
}

/// The amounts that a status, given by its fields, reports as allowed and as in use.
fn reported<'t, 'a: 't>(
    field: impl Fn(&'static str) -> Option<&'t Tree<'a>>,
) -> impl Iterator<Item = (&'t str, Quantity)> {
    let used = field("resources").and_then(|resources| resources.field("requests"));
    let entries = [field("allocatedResources"), used].into_iter().flatten().filter_map(Tree::map).flatten();
    entries.filter_map(|entry| {
        let text = amount::spelled(&entry.value)?;
        Some((entry.key.as_ref(), Quantity::parse(&text).ok()?.0))
    })
}

/// The label in which a StatefulSet keeps the hash of its template.
const REVISION: &str = "controller-revision-hash";

/// Adds what admission and selectors say about each pod and template.
pub(crate) fn add(
    cx: &mut Context,
    inventory: &Inventory,
    (above, mentioned): (&Above, &BTreeSet<Symbol>),
    workloads: &mut BTreeMap<usize, Draft>,
    pods: &mut PodDrafts,
) {
    let specs = workloads.values().map(|draft| &draft.spec).chain(pods.variants.iter().map(|variant| &variant.own));
    let unknown = unknown_namespaces(cx, specs.map(|spec| spec.namespace).collect());
    let selects = |cx: &Context, spec: &PodSpec| unknown && selects_namespaces(cx, spec);
    let full = without_room(cx, inventory);
    let glances = Glances::new(&cx.cluster);
    let doubtful: Vec<GivenLabels> =
        cancel::polled(workloads.keys()).map(|&at| glances.doubtful_labels(&inventory.workloads[at])).collect();
    for ((&at, draft), doubtful) in cancel::polled(workloads.iter_mut()).zip(doubtful) {
        let workload = &inventory.workloads[at];
        draft.causes.extend(inventory.admission.causes(cx, &workload.template));
        draft.causes.extend(of_volumes(cx, &workload.template));
        if !doubtful.is_empty() {
            draft.causes.insert(Cause::InstanceLabels(doubtful), workload.metadata.span);
        }
        if selects(cx, &draft.spec) {
            draft.causes.insert(Cause::NamespaceLabels, workload.template.span);
        }
        if full.contains(&(workload.kind, workload.metadata.namespace.as_str())) {
            draft.causes.insert(Cause::CountedMakers, workload.metadata.span);
        }
    }
    add_waiting_daemons(inventory, above, workloads, pods);
    let PodDrafts { variants, pods, .. } = pods;
    let select: Vec<bool> = cancel::polled(&*variants).map(|variant| selects(cx, &variant.own)).collect();
    for (pod, draft) in cancel::polled(inventory.pods.iter().zip(pods)) {
        draft.causes.extend(inventory.admission.causes(cx, &pod.draft));
        draft.causes.extend(of_volumes(cx, &pod.draft));
        if select[draft.variant] {
            draft.causes.insert(Cause::NamespaceLabels, pod.draft.span);
        }
        let revision = cx.cluster.symbols.symbol(REVISION).filter(|key| mentioned.contains(key));
        if pod.made.is_some() && pod.is_of_stateful_set() && revision.is_some() {
            draft.causes.insert(Cause::InstanceLabels(GivenLabels::of([REVISION])), pod.metadata.span);
        }
        if let Some(barred) = &variants[draft.variant].own.barred {
            let refused = matches!(barred, Barred::Refused(_) | Barred::Invalid(_));
            draft.causes.retain(|cause, _| cause.outlives_deployment() || (refused && cause.may_undo_refusal()));
        }
    }
}

/// Pods of DaemonSets that wait for their nodes were let in, and no part of the model: that matters where new ones are refused or counted.
fn add_waiting_daemons(
    inventory: &Inventory,
    above: &Above,
    workloads: &mut BTreeMap<usize, Draft>,
    pods: &mut PodDrafts,
) {
    let waiting = inventory.pods.iter().zip(&above.pods).filter(|(pod, _)| pod.waits && pod.is_of_daemon_set());
    let sets: BTreeSet<usize> = cancel::polled(waiting).flat_map(|(_, above)| above.iter()).copied().collect();
    let mut quotas = BTreeSet::new();
    for at in sets {
        let Some(draft) = workloads.get_mut(&at) else { continue };
        let refused = matches!(draft.spec.barred, Some(Barred::Refused(_) | Barred::Invalid(_)));
        if refused || !draft.spec.quota.is_empty() {
            draft.causes.insert(Cause::WaitingDaemon, inventory.workloads[at].metadata.span);
            quotas.extend(draft.spec.quota.keys().copied());
        }
    }
    let is_counted = |spec: &PodSpec| spec.quota.iter().any(|(quota, _)| quotas.contains(quota));
    for (&at, draft) in workloads.iter_mut().filter(|(_, draft)| is_counted(&draft.spec)) {
        draft.causes.insert(Cause::CountedDaemon, inventory.workloads[at].metadata.span);
    }
    let PodDrafts { variants, pods, .. } = pods;
    let drafts = inventory.pods.iter().zip(pods);
    for (pod, draft) in drafts.filter(|(_, draft)| !quotas.is_empty() && is_counted(&variants[draft.variant].own)) {
        draft.causes.insert(Cause::CountedDaemon, pod.metadata.span);
    }
}

/// What makes pods through objects of another kind, with the name that quotas have for that.
const THROUGH: [(Kind, Kind, &str); 2] =
    [(Kind::Deployment, Kind::ReplicaSet, "count/replicasets.apps"), (Kind::CronJob, Kind::Job, "count/jobs.batch")];

/// The kinds of workloads, with their namespaces, for whose next object a quota may have no room: it bounds these objects by no more than
/// there are, with one more for each workload.
fn without_room<'i>(cx: &Context, inventory: &'i Inventory) -> BTreeSet<(Kind, &'i str)> {
    let mut full = BTreeSet::new();
    if !cx.admission {
        return full;
    }
    let mut count = BTreeMap::<(Kind, &str), i128>::new();
    for workload in cancel::polled(&inventory.workloads) {
        *count.entry((workload.kind, workload.metadata.namespace.as_str())).or_default() += 1;
    }
    for (&(kind, namespace), &own) in &count {
        let Some(&(_, through, name)) = THROUGH.iter().find(|(maker, ..)| *maker == kind) else { continue };
        let there = count.get(&(through, namespace)).copied().unwrap_or(0);
        if inventory.admission.bound(namespace, name).is_some_and(|bound| bound.units() < own.saturating_add(there)) {
            full.insert((kind, namespace));
        }
    }
    full
}

/// Whether some pod is in a namespace whose object is not in the input. Such a namespace has its name as label and maybe others.
fn unknown_namespaces(cx: &mut Context, used: BTreeSet<NamespaceId>) -> bool {
    if !cx.admission {
        return false;
    }
    let known: BTreeSet<_> = cx.cluster.namespace_labels.keys().copied().collect();
    let unknown: Vec<_> = used.difference(&known).copied().collect();
    for &namespace in &unknown {
        let key = cx.symbol(NAME_LABEL);
        let labels = [(key, cx.cluster.namespaces[namespace])].into_iter().collect();
        cx.cluster.namespace_labels.insert(namespace, labels);
    }
    !unknown.is_empty()
}

/// Whether a pod selects namespaces by labels other than their name.
fn selects_namespaces(cx: &Context, pod: &PodSpec) -> bool {
    let name = cx.cluster.symbols.symbol(NAME_LABEL);
    let selectors = spec::term_matchers(pod).filter_map(|id| cx.cluster.matchers[id].scope.selector.as_ref());
    let mut keys = selectors.flat_map(|selector| match selector {
        Selector::Nothing => Vec::new(),
        Selector::Every(entries) => entries.keys().copied().collect(),
    });
    keys.any(|key| Some(key) != name)
}
