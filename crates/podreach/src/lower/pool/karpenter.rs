//! Karpenter's NodePools.
//!
//! Karpenter (v1.15.0): `pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go`, `NewNodeClaimTemplate` for the requirements and
//! `resolveCustomLabelsFromRequirements` for the labels of a node; `pkg/apis/v1/nodepool_validation.go` for what makes a pool unusable.

use std::collections::BTreeMap;

use podreach_core::cluster::Taint;

use super::{Capacity, Choice, HOSTNAME, Knowledge, Open, Operator, Pool, Requirement, Requirements, Shape};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::node::{taints_in, transient};
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::resources::amount;
use crate::lower::resources::quantity::Quantity;
use crate::lower::schema::fields::{
    KARPENTER_CLASS_REFERENCE, KARPENTER_NODE_POOL_SPEC, KARPENTER_TEMPLATE, KARPENTER_TEMPLATE_SPEC, OBJECT,
    TEMPLATE_META,
};
use crate::read::{Span, Tree, shown};

/// The label that names a node's pool.
pub(crate) const POOL_LABEL: &str = "karpenter.sh/nodepool";

/// Labels that every node has once it can be used.
pub(super) const SETTLED: [&str; 2] = ["karpenter.sh/initialized", "karpenter.sh/registered"];

/// Keys that Karpenter knows values of from instance types, whichever cloud it runs on.
const WELL_KNOWN: [&str; 8] = [
    POOL_LABEL,
    "karpenter.sh/capacity-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Keys that every node has a value of, one of those listed where some are.
pub(super) const ALWAYS: [(&str, &[&str]); 5] = [
    ("karpenter.sh/capacity-type", &["on-demand", "reserved", "spot"]),
    ("kubernetes.io/arch", &[]),
    ("kubernetes.io/os", &["linux", "windows"]),
    ("node.kubernetes.io/instance-type", &[]),
    ("topology.kubernetes.io/zone", &[]),
];

/// Whether instance types have values for a key. Clouds add keys of their own domains to those that Karpenter knows by itself.
pub fn is_well_known(key: &str) -> bool {
    let clouds =
        ["karpenter.k8s.aws", "karpenter.azure.com", "karpenter.k8s.gcp", "karpenter.kwok.sh", "eks.amazonaws.com"];
    WELL_KNOWN.contains(&key) || key.split_once('/').is_some_and(|(domain, _)| clouds.contains(&domain))
}

/// Reads a NodePool; what is wrong with it is reported.
pub(super) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Pool> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::KarpenterNodePool, &object)?;
    let spec = required(cx, &object, "spec", &KARPENTER_NODE_POOL_SPEC)?;
    let template = required(cx, &spec, "template", &KARPENTER_TEMPLATE)?;
    let inner = required(cx, &template, "spec", &KARPENTER_TEMPLATE_SPEC)?;
    let mut labels = given_labels(cx, &template);
    labels.insert(POOL_LABEL.to_owned(), metadata.name.clone());
    labels.extend(class_label(cx, &inner));
    let requirements = all_requirements(cx, &inner, &labels);
    let startup = taints_in(cx, &inner, "startupTaints");
    let taints = lasting_taints(cx, &inner);
    let (fixed, most) = sizes(cx, &spec, metadata.terminating);
    let shape = Shape { labels: choices(&labels, &requirements), open: Open::Drawn, taints, capacity: Capacity::Open };
    let name = format!("nodepool/{}", metadata.name);
    let (knowledge, shapes, span) = (Knowledge::Declared, vec![shape], metadata.span);
    Some(Pool { name, knowledge, shapes, requirements, most, fixed, once: false, nodes: None, startup, span })
}

/// The mapping in a field that must be there.
fn required<'t, 'a>(
    cx: &mut Context,
    object: &Object<'t, 'a>,
    field: &str,
    table: &'static crate::lower::schema::fields::Table,
) -> Option<Object<'t, 'a>> {
    if object.field(field).is_none() {
        cx.report(errors::missing(object.span(), "NodePool", field));
    }
    object.object(field, table, &mut cx.log)
}

/// The labels of the template; a key that Karpenter keeps for itself is reported.
fn given_labels(cx: &mut Context, template: &Object<'_, '_>) -> BTreeMap<String, String> {
    let Some(meta) = template.object("metadata", &TEMPLATE_META, &mut cx.log) else { return BTreeMap::new() };
    for (entry, _) in meta.pairs("labels", &mut Vec::new()) {
        check_key(cx, &entry.key, entry.key_span);
    }
    let labels = cx.labels(&meta, "labels");
    let text = |(key, value)| (cx.cluster.symbols.str(key).to_owned(), cx.cluster.symbols.str(value).to_owned());
    labels.iter().map(text).collect()
}

/// Reports a key that a pool may not set.
///
/// Karpenter: `pkg/apis/v1/labels.go`, `IsRestrictedLabel`, and `nodepool_validation.go`.
fn check_key(cx: &mut Context, key: &str, span: Span) {
    let own =
        key.split_once('/').is_some_and(|(domain, _)| domain == "karpenter.sh" || domain.ends_with(".karpenter.sh"));
    if key == POOL_LABEL || key == HOSTNAME || (own && !is_well_known(key)) {
        cx.report(errors::bad_pool(
            span,
            format!("a NodePool may not set {}: Karpenter does not use such a pool", shown(key)),
        ));
    }
}

/// The label that names the node class.
fn class_label(cx: &mut Context, spec: &Object<'_, '_>) -> Option<(String, String)> {
    let class = required(cx, spec, "nodeClassRef", &KARPENTER_CLASS_REFERENCE)?;
    let kind = class.required_text("kind", &mut cx.log);
    let name = class.required_text("name", &mut cx.log);
    // Before v1 there was an apiVersion instead of the group.
    let version = class.text("apiVersion", &mut cx.log).and_then(|version| version.split_once('/'));
    let group = class.text("group", &mut cx.log).or(version.map(|(group, _)| group));
    if group.is_none() {
        cx.report(errors::missing(class.span(), "nodeClassRef", "group"));
    }
    Some((format!("{}/{}", group?, kind?.to_ascii_lowercase()), name?.to_owned()))
}

/// The requirements of a pool, those of its labels among them.
fn all_requirements(cx: &mut Context, spec: &Object<'_, '_>, labels: &BTreeMap<String, String>) -> Requirements {
    let listed = super::requirements(cx, spec, "requirements");
    for (key, _, span) in &listed {
        check_key(cx, super::requirement::normalised(key), *span);
    }
    let fixed = labels.iter().map(|(key, value)| (key.as_str(), Requirement::finite([value.as_str()])));
    let settled = SETTLED.map(|key| (key, Requirement::finite(["true"])));
    listed.into_iter().map(|(key, requirement, _)| (key, requirement)).chain(fixed).chain(settled).collect()
}

/// What nodes have for each key: the labels of the template as they are, a value that pods choose for other custom keys, and what instance
/// types offer for well-known ones.
fn choices(labels: &BTreeMap<String, String>, requirements: &Requirements) -> BTreeMap<String, Choice> {
    let chosen = requirements.iter().map(|(key, requirement)| {
        let choice = match requirement.operator() {
            _ if is_well_known(key) => Choice::Offered(requirement.clone()),
            Operator::DoesNotExist => Choice::Any(requirement.clone()),
            _ => Choice::Asked(requirement.clone()),
        };
        (key.to_owned(), choice)
    });
    let mut choices: BTreeMap<String, Choice> = chosen.collect();
    for (key, values) in ALWAYS {
        let any = if values.is_empty() { Requirement::any() } else { Requirement::finite(values.iter().copied()) };
        choices.entry(key.to_owned()).or_insert(Choice::Offered(any));
    }
    choices.extend(labels.iter().map(|(key, value)| (key.clone(), Choice::fixed(value))));
    choices
}

/// The taints that last: `startupTaints` are there only while a node starts.
pub(super) fn lasting_taints(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Taint> {
    let lasts = |cx: &Context, taint: &Taint| !transient::passes(cx.cluster.symbols.str(taint.key));
    taints_in(cx, spec, "taints").into_iter().filter(|taint| lasts(cx, taint)).collect()
}

/// What every node has some of.
const OF_EVERY_NODE: [&str; 3] = ["cpu", "memory", "pods"];

/// How many nodes it has at a time whatever pods need, and how many it declares at most.
///
/// A pool of a fixed size has its replicas and no more than its limit of nodes; nothing is launched for pods. Nor does a pool bring nodes that
/// is being deleted. A limit of zero of what every node has leaves room for none.
/// Karpenter: `pkg/controllers/provisioning/provisioner.go`, `NewScheduler`; `pkg/controllers/static/provisioning/controller.go`;
/// `pkg/controllers/provisioning/scheduling/scheduler.go`, `filterByRemainingResources`.
fn sizes(cx: &mut Context, spec: &Object<'_, '_>, terminating: bool) -> (Option<u64>, Option<u64>) {
    let replicas = spec.integer("replicas", 0, i64::MAX, &mut cx.log);
    let replicas = replicas.and_then(|replicas| u64::try_from(replicas).ok());
    let limits = amount::read(cx, spec, "limits");
    let nodes = limits.get("nodes").and_then(|nodes| u64::try_from(nodes.units()).ok());
    let has_none = |resource: &&str| limits.get(*resource).is_some_and(|limit| *limit == Quantity::default());
    let most = if OF_EVERY_NODE.iter().any(has_none) { Some(0) } else { nodes };
    let fixed = replicas.map(|replicas| nodes.map_or(replicas, |nodes| nodes.min(replicas)));
    (if terminating { Some(0) } else { fixed }, most)
}
