//! Nodes and namespaces.

pub(crate) mod devices;
pub(crate) mod features;
pub(crate) mod transient;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use podreach_core::cluster::{Node, Passing, Taint, TaintEffect};
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::resource::Resources;

use super::context::Context;
use super::errors;
use super::object::kind::Kind;
use super::object::mapping::Object;
use super::object::metadata::{self, Metadata};
use super::object::name;
use super::resources::amount::{self, Amounts};
use super::schema::fields::{NODE_SPEC, NODE_STATUS, OBJECT, TAINT};
use crate::read::{Span, Tree, shown};

/// Reads a node.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<(Metadata, Node)> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::Node, &object)?;
    let spec = object.object("spec", &NODE_SPEC, &mut cx.log);
    let allocatable = allocatable(cx, &object, &metadata.name);
    let mut node = Node {
        name: cx.symbol(&metadata.name),
        labels: Labels::clone(&metadata.labels),
        taints: spec.map(|spec| taints(cx, &spec)).unwrap_or_default(),
        unschedulable: spec.is_some_and(|spec| spec.flag("unschedulable", &mut cx.log)),
        allocatable: amount::resources(cx, &allocatable),
        features: features(cx, &object),
        drivers: BTreeMap::new(),
        lifetime: Default::default(),
        passing: Passing::default(),
    };
    if metadata.terminating {
        cx.report(errors::leaving_node(metadata.span, &metadata.name));
    } else {
        let capacity = capacity(cx, &object);
        transient::split(cx, &mut node, &capacity);
    }
    Some((metadata, node))
}

/// The features that the kubelet of a node declares.
fn features(cx: &mut Context, object: &Object<'_, '_>) -> BTreeSet<Symbol> {
    let mut log = Vec::new();
    let Some(status) = object.object("status", &NODE_STATUS, &mut log) else { return BTreeSet::new() };
    let features = status.texts("declaredFeatures", &mut cx.log);
    features.into_iter().map(|(feature, _)| cx.symbol(feature)).collect()
}

/// What a node has in all, where it says both that and what of it can be had.
fn capacity(cx: &mut Context, object: &Object<'_, '_>) -> Resources {
    let mut log = Vec::new();
    let status = object.object("status", &NODE_STATUS, &mut log).filter(|status| status.field("allocatable").is_some());
    let Some(status) = status.filter(|status| status.field("capacity").is_some()) else { return Resources::default() };
    let amounts = amount::read(cx, &status, "capacity");
    amount::resources(cx, &amounts)
}

/// What a node has to give: its allocatable amounts, or else its capacity.
///
/// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_NodeStatus`.
fn allocatable(cx: &mut Context, object: &Object<'_, '_>, node: &str) -> Amounts {
    let status = object.object("status", &NODE_STATUS, &mut cx.log);
    let said = status.and_then(|status| {
        let field = ["allocatable", "capacity"].into_iter().find(|field| status.field(field).is_some())?;
        Some((status, field))
    });
    match said {
        Some((status, field)) => amount::read(cx, &status, field),
        None => {
            cx.report(errors::no_allocatable(object.span(), node));
            Amounts::new()
        }
    }
}

fn taints(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Taint> {
    taints_in(cx, spec, "taints")
}

/// The taints in a list field.
pub(crate) fn taints_in(cx: &mut Context, spec: &Object<'_, '_>, field: &str) -> Vec<Taint> {
    let taints = spec.objects(field, &TAINT, &mut cx.log);
    let taints: Vec<Taint> = taints.iter().filter_map(|taint| read_taint(cx, taint)).collect();
    let mut seen = std::collections::BTreeSet::new();
    if !taints.iter().all(|taint| seen.insert((taint.key, taint.effect))) {
        cx.report(errors::bad_toleration(spec.span(), "two taints of one node have the same key and effect"));
    }
    taints
}

fn read_taint(cx: &mut Context, taint: &Object<'_, '_>) -> Option<Taint> {
    let key = taint.required_text("key", &mut cx.log);
    let value = taint.text("value", &mut cx.log).unwrap_or_default();
    let effect = taint.required_text("effect", &mut cx.log).and_then(|text| effect(cx, text, taint.span()));
    let key = key?;
    if let Err(why) = name::key(key) {
        cx.report(errors::bad_toleration(taint.span(), format!("{} cannot be the key of a taint: {why}", shown(key))));
    }
    if let Err(why) = name::value(value) {
        cx.report(errors::bad_toleration(
            taint.span(),
            format!("{} cannot be the value of a taint: {why}", shown(value)),
        ));
    }
    Some(Taint { key: cx.symbol(key), value: cx.symbol(value), effect: effect? })
}

/// The effect of that name.
pub(crate) fn effect(cx: &mut Context, text: &str, span: Span) -> Option<TaintEffect> {
    match text {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => {
            cx.report(errors::not_one_of(span, "effect", text, &["NoSchedule", "PreferNoSchedule", "NoExecute"]));
            None
        }
    }
}

/// Reads a namespace: its labels, and the one that every namespace has.
///
/// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_Namespace`.
pub(crate) fn read_namespace(cx: &mut Context, tree: &Tree<'_>) -> Option<Metadata> {
    // The content of spec and status has nothing to say about placement.
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let mut metadata = metadata::read(cx, Kind::Namespace, &object)?;
    if cx.admission {
        let (key, value) = (cx.symbol(NAME_LABEL), cx.symbol(&metadata.name));
        Rc::make_mut(&mut metadata.labels).set(key, value);
    }
    Some(metadata)
}

/// The label that names a namespace.
pub(crate) const NAME_LABEL: &str = "kubernetes.io/metadata.name";
