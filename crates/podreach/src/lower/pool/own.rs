//! Our own NodePool documents, for pools that nothing else describes.
//!
//! ```yaml
//! apiVersion: podreach.dev/v1alpha1
//! kind: NodePool
//! metadata: {name: batch}
//! spec:
//!   labels: {tier: batch}
//!   choices:
//!   - {key: topology.kubernetes.io/zone, operator: In, values: [a, b]}
//!   taints: [{key: batch, effect: NoSchedule}]
//!   allocatable: {cpu: 4, memory: 16Gi, pods: 110}
//!   maxNodes: 20
//! ```
//! A node of the pool has these labels, for each choice a value that it allows, and no other labels but a host name of its own.

use std::collections::BTreeMap;

use podreach_core::cluster::Taint;

use super::{Capacity, Choice, HOSTNAME, Knowledge, Open, Operator, Pool, Requirements, Shape};
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::node::{taints_in, transient};
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::resources::amount;
use crate::lower::schema::fields::{NODE_POOL_SPEC, OBJECT};
use crate::read::{Tree, shown};

/// Reads a NodePool of podreach.dev; what is wrong with it is reported.
pub(super) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Pool> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    let metadata = metadata::read(cx, Kind::NodePool, &object)?;
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), "NodePool", "spec"));
    }
    let spec = object.object("spec", &NODE_POOL_SPEC, &mut cx.log)?;
    let labels = labels(cx, &spec);
    let taints = taints(cx, &spec);
    let capacity = capacity(cx, &spec);
    let most = spec.integer("maxNodes", 0, i64::MAX, &mut cx.log).and_then(|most| u64::try_from(most).ok());
    Some(Pool {
        name: format!("nodepool/{}", metadata.name),
        knowledge: Knowledge::Declared,
        shapes: vec![Shape { labels, open: Open::Nothing, taints, capacity }],
        requirements: Requirements::default(),
        most,
        fixed: metadata.terminating.then_some(0),
        once: false,
        nodes: None,
        startup: Vec::new(),
        span: metadata.span,
    })
}

/// The labels that are fixed and those that are chosen.
fn labels(cx: &mut Context, spec: &Object<'_, '_>) -> BTreeMap<String, Choice> {
    let fixed = cx.labels(spec, "labels");
    let text = |(key, value)| (cx.cluster.symbols.str(key).to_owned(), Choice::fixed(cx.cluster.symbols.str(value)));
    let mut labels: BTreeMap<String, Choice> = fixed.iter().map(text).collect();
    if labels.contains_key(HOSTNAME) {
        cx.report(errors::bad_pool(
            spec.place("labels"),
            "each node of a pool has a kubernetes.io/hostname of its own",
        ));
    }
    for (key, requirement, span) in super::requirements(cx, spec, "choices") {
        if key == HOSTNAME || labels.contains_key(key) {
            cx.report(errors::bad_pool(span, format!("{} is a label of this pool already", shown(key))));
            continue;
        }
        let choice = match requirement.operator() {
            Operator::In => Choice::OneOf(requirement.values().clone()),
            _ => Choice::Any(requirement),
        };
        labels.insert(key.to_owned(), choice);
    }
    labels
}

/// The taints that last.
fn taints(cx: &mut Context, spec: &Object<'_, '_>) -> Vec<Taint> {
    let lasts = |cx: &Context, taint: &Taint| !transient::passes(cx.cluster.symbols.str(taint.key));
    taints_in(cx, spec, "taints").into_iter().filter(|taint| lasts(cx, taint)).collect()
}

/// What a node has to give; open where it is not said. A kubelet takes 110 pods unless it is told otherwise.
fn capacity(cx: &mut Context, spec: &Object<'_, '_>) -> Capacity {
    if spec.field("allocatable").is_none() {
        return Capacity::Open;
    }
    let amounts = amount::read(cx, spec, "allocatable");
    let mut given = amount::resources(cx, &amounts);
    if !amounts.contains_key("pods") {
        given.set(cx.cluster.resource("pods"), 110);
    }
    Capacity::Known(given)
}
