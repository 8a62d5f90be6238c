//! Karpenter's NodeClaims: nodes that it has asked a cloud for.
//!
//! A claim whose node is in the input says no more than that. Any other is a node on its way: a pool of its own, which brings one node, once.
//! A claim that was launched has the labels of its instance and says what the node will have to give; so it also says what nodes of its pool
//! can be like. One that is being deleted brings nothing.
//!
//! Karpenter (v1.15.0): `pkg/controllers/nodeclaim/lifecycle/launch.go`, `PopulateNodeClaimDetails`, and `registration.go`, `syncNode`.

use std::collections::BTreeMap;

use super::karpenter::{ALWAYS, SETTLED, lasting_taints};
use super::{Capacity, Choice, Knowledge, Open, Operator, Pool, Requirement, Requirements, Shape};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::node::taints_in;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::resources::amount;
use crate::lower::schema::fields::{KARPENTER_CLAIM_SPEC, KARPENTER_CLAIM_STATUS, OBJECT};
use crate::read::Tree;

/// A node that is on its way, or was.
#[derive(Clone, Debug)]
pub(crate) struct NodeClaim {
    /// The node as a pool.
    pub(crate) pool: Pool,
    /// The name of the node, once it has one.
    pub(crate) node: Option<String>,
    /// Whether it is being deleted.
    pub(crate) terminating: bool,
}

/// Reads a NodeClaim; what is wrong with it is reported.
pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<NodeClaim> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::NodeClaim, &object)?;
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), "NodeClaim", "spec"));
    }
    let spec = object.object("spec", &KARPENTER_CLAIM_SPEC, &mut cx.log)?;
    let text = |(key, value)| (cx.cluster.symbols.str(key).to_owned(), cx.cluster.symbols.str(value).to_owned());
    let labels: BTreeMap<String, String> = metadata.labels.iter().map(text).collect();
    let requirements = requirements(cx, &spec, &labels);
    let startup = taints_in(cx, &spec, "startupTaints");
    let taints = lasting_taints(cx, &spec);
    let status = object.object("status", &KARPENTER_CLAIM_STATUS, &mut cx.log);
    let capacity = status.as_ref().map_or(Capacity::Open, |status| capacity(cx, status));
    let node = status.and_then(|status| status.text("nodeName", &mut cx.log).map(str::to_owned));
    let shape = Shape { labels: choices(&labels, &requirements), open: Open::Platform, taints, capacity };
    let pool = Pool {
        name: format!("nodeclaim/{}", metadata.name),
        knowledge: Knowledge::Declared,
        shapes: vec![shape],
        requirements,
        most: None,
        fixed: Some(1),
        once: true,
        nodes: None,
        startup,
        span: metadata.span,
    };
    Some(NodeClaim { pool, node: node.filter(|name| !name.is_empty()), terminating: metadata.terminating })
}

fn requirements(cx: &mut Context, spec: &Object<'_, '_>, labels: &BTreeMap<String, String>) -> Requirements {
    let listed = super::requirements(cx, spec, "requirements");
    let fixed = labels.iter().map(|(key, value)| (key.as_str(), Requirement::finite([value.as_str()])));
    let settled = SETTLED.map(|key| (key, Requirement::finite(["true"])));
    listed.into_iter().map(|(key, requirement, _)| (key, requirement)).chain(fixed).chain(settled).collect()
}

/// The labels that it has; for other keys what it requires, where one value is left that one, and else what instance types offer.
fn choices(labels: &BTreeMap<String, String>, requirements: &Requirements) -> BTreeMap<String, Choice> {
    let one = |(key, wanted): (&str, &Requirement)| {
        let choice = match wanted.operator() {
            Operator::In if wanted.values().len() == 1 => Choice::OneOf(wanted.values().clone()),
            Operator::DoesNotExist => Choice::Any(wanted.clone()),
            _ => Choice::Offered(wanted.clone()),
        };
        (key.to_owned(), choice)
    };
    let mut choices: BTreeMap<String, Choice> = requirements.iter().map(one).collect();
    choices.extend(labels.iter().map(|(key, value)| (key.clone(), Choice::fixed(value))));
    for (key, values) in ALWAYS {
        let any = if values.is_empty() { Requirement::any() } else { Requirement::finite(values.iter().copied()) };
        choices.entry(key.to_owned()).or_insert(Choice::Offered(any));
    }
    choices
}

/// What the node will have to give; open before it is launched.
fn capacity(cx: &mut Context, status: &Object<'_, '_>) -> Capacity {
    let amounts = amount::read(cx, status, "allocatable");
    if amounts.is_empty() { Capacity::Open } else { Capacity::Known(amount::resources(cx, &amounts)) }
}
