//! What the input asks for that filters look at and we do not.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::PodSpec;
use podreach_core::id::{NamespaceId, Symbol};
use podreach_core::selector::Selector;

use super::candidate::{Draft, PodDrafts};
use super::cause::{Cause, Causes};
use super::context::Context;
use super::fields::VOLUME;
use super::inventory::Inventory;
use super::node::NAME_LABEL;
use super::object::Object;
use super::quantity::Quantity;
use super::request::Parts;
use super::{owner, spec};
use crate::read::{Entry, Span, Tree, Value};

/// Fields that spoil when they hold anything.
const FILLED: [(&str, Cause); 4] = [
    ("resourceClaims", Cause::ResourceClaims),
    ("schedulingGates", Cause::SchedulingGates),
    ("schedulingGroup", Cause::Group),
    ("workloadRef", Cause::Group),
];

/// Fields that spoil when they hold another text than usual.
const NAMED: [(&str, Cause, &str); 2] =
    [("runtimeClassName", Cause::RuntimeClass, ""), ("schedulerName", Cause::OtherScheduler, "default-scheduler")];

/// What about the spec of a pod is not modelled.
pub(crate) fn of_spec(cx: &mut Context, spec: &Object<'_, '_>, parts: &Parts, host_network: bool) -> Causes {
    let mut causes = Causes::new();
    let is_filled = |tree: &&Tree<'_>| tree.seq().is_none_or(|items| !items.is_empty());
    let filled = FILLED.iter().filter_map(|(field, cause)| Some((*cause, spec.field(field).filter(is_filled)?.span)));
    let is_other = |tree: &Tree<'_>, usual: &str| tree.str().is_none_or(|text| !text.is_empty() && text != usual);
    let named = NAMED.iter().filter_map(|(field, cause, usual)| {
        let tree = spec.field(field).filter(|tree| is_other(tree, usual))?;
        Some((*cause, tree.span))
    });
    causes.extend(filled.chain(named));
    let containers = parts.containers.iter().chain(&parts.init);
    causes.extend(containers.flat_map(|container| &container.causes).map(|&cause| (cause, spec.span())));
    let own_users = spec.field("hostUsers").filter(|tree| host_network && tree.value == Value::Bool(false));
    causes.extend(own_users.map(|tree| (Cause::DeclaredFeatures, tree.span)));
    let volumes = spec.objects("volumes", &VOLUME, &mut cx.log);
    let looked_at =
        |volume: &Object<'_, '_>| VOLUME.spoiling.iter().find_map(|source| Some(volume.field(source)?.span));
    causes.extend(volumes.iter().find_map(looked_at).map(|span| (Cause::Volumes, span)));
    causes
}

/// Where the status of a pod says that a container has other amounts than its spec asks for.
///
/// Kubernetes: `component-helpers/resource/helpers.go`, `PodRequests` with `UseStatusResources`.
pub(crate) fn resized(status: &Object<'_, '_>, parts: &Parts) -> Option<Span> {
    let lists = ["containerStatuses", "initContainerStatuses"].map(|field| status.field(field).and_then(Tree::seq));
    let differs = |status: &&Tree<'_>| {
        let name = status.field("name").and_then(Tree::str);
        let mut containers = parts.containers.iter().chain(&parts.init);
        let container = containers.find(|container| Some(container.name.as_str()) == name);
        let amounts = status.field("resources").and_then(|resources| resources.field("requests")).and_then(Tree::map);
        let other = |entry: &Entry<'_>| {
            let now = entry.value.str().and_then(|text| Quantity::parse(text).ok()).map(|(quantity, _)| quantity);
            let asked = container.and_then(|container| container.requests.get(entry.key.as_ref()));
            now.is_some_and(|now| asked.is_some_and(|asked| *asked != now))
        };
        amounts.is_some_and(|amounts| amounts.iter().any(other))
    };
    lists.into_iter().flatten().flatten().find(differs).map(|status| status.span)
}

/// Adds what admission and selectors say about each pod and template.
pub(crate) fn add(
    cx: &mut Context,
    inventory: &Inventory,
    mentioned: &BTreeSet<Symbol>,
    workloads: &mut BTreeMap<usize, Draft>,
    pods: &mut PodDrafts,
) {
    let specs = workloads.values().map(|draft| &draft.spec).chain(pods.variants.iter().map(|variant| &variant.own));
    let unknown = unknown_namespaces(cx, specs.map(|spec| spec.namespace).collect());
    let selects = |cx: &Context, spec: &PodSpec| unknown && selects_namespaces(cx, spec);
    for (&at, draft) in workloads.iter_mut() {
        let workload = &inventory.workloads[at];
        draft.causes.extend(inventory.rules.causes(&cx.cluster, &workload.template));
        let differs = |key: &&str| {
            let key = cx.cluster.symbols.symbol(key);
            key.is_some_and(|key| mentioned.contains(&key) && workload.template.labels.value(key).is_none())
        };
        if owner::instance_labels(workload.kind).iter().any(differs) {
            draft.causes.insert(Cause::InstanceLabels, workload.metadata.span);
        }
        if selects(cx, &draft.spec) {
            draft.causes.insert(Cause::NamespaceLabels, workload.template.span);
        }
    }
    let PodDrafts { variants, pods, .. } = pods;
    let select: Vec<bool> = variants.iter().map(|variant| selects(cx, &variant.own)).collect();
    for (pod, draft) in inventory.pods.iter().zip(pods) {
        draft.causes.extend(inventory.rules.causes(&cx.cluster, &pod.draft));
        if select[draft.variant] {
            draft.causes.insert(Cause::NamespaceLabels, pod.draft.span);
        }
        if variants[draft.variant].own.barred.is_some() {
            draft.causes.retain(|cause, _| cause.outlives_deployment());
        }
    }
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
