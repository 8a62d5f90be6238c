//! Pools: sources of nodes that come and go.
//!
//! A pool is a set of *shapes*, and a shape says what a node looks like when it comes: labels that are fixed, labels that are chosen, keys
//! that are absent, keys of which nothing is known; taints that last; capacity, known or open. `template.rs` makes concrete nodes of it,
//! relative to what pods and policies can tell apart; `demand.rs` says which pods a pool can serve. Readers, one
//! for each kind of object: `karpenter.rs`, `own.rs`, `machines/` for Cluster API. `claim.rs` has nodes on their way. `catalogue.rs` has instance types, which make the capacity of Karpenter's pools known;
//! `inferred.rs` takes the nodes of managed pools for their shapes. `listing.rs` lists nodes of pools in the cluster, with the capacity that
//! `known.rs` finds on nodes that a pool has brought already.
//!
//! A template with guesses, or with open capacity, over-approximates the nodes that may come: it serves proofs of *never*, not runs.

pub mod catalogue;
pub(crate) mod claim;
mod demand;
mod inferred;
mod karpenter;
mod known;
mod listing;
pub(crate) mod machines;
mod mentioned;
mod own;
pub mod requirement;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::Taint;
use podreach_core::resource::Resources;

pub use demand::{demands, may_serve, tolerates};
pub use inferred::inferred;
pub(crate) use karpenter::POOL_LABEL;
pub use karpenter::is_well_known;
pub use listing::{Listing, looked_at};
pub(crate) use listing::{clear, list};
pub use mentioned::{Mention, Mentioned};
pub use requirement::{Operator, Requirement, Requirements};
pub use template::{Template, few_templates, templates};

use super::context::Context;
use super::errors;
use super::object::kind::Kind;
use super::object::mapping::Object;
use super::object::name;
use super::object::selector::{Parts, check_values, parts};
use super::schema::fields::POOL_REQUIREMENT;
use crate::read::{Span, Tree};

/// A source of nodes that come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name: `nodepool/general`, `machinedeployment/default/workers`.
    pub name: String,
    /// How its shapes are known.
    pub knowledge: Knowledge,
    /// What its nodes look like.
    pub shapes: Vec<Shape>,
    /// What it requires of its nodes, as Karpenter compares it with what pods ask for; empty for other pools.
    pub requirements: Requirements,
    /// How many nodes it may have at a time, as it declares; autoscalers overrun that, so that it counts only on request.
    pub most: Option<u64>,
    /// How many nodes it has at a time whatever pods need: of a pool of a fixed size, or none of one that is being deleted. Its own nodes may
    /// be more, for now.
    pub fixed: Option<u64>,
    /// Whether it is one node on its way: it comes once, and not again.
    pub once: bool,
    /// The nodes of the input that are its, where something says so node by node; else they are known by their labels.
    pub nodes: Option<BTreeSet<String>>,
    /// The taints that its nodes have only while they start.
    pub startup: Vec<Taint>,
    /// Where it stands.
    pub span: Span,
}

/// How the shapes of a pool are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// What makes the nodes is described.
    Declared,
    /// An autoscaler believes it and puts none of it on nodes: enough for *possible*, never for *never*.
    Believed,
    /// The nodes of the pool look like that today.
    Inferred,
}

/// What a node of a pool looks like when it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its labels; a key that is not listed is absent unless it is open.
    pub labels: BTreeMap<String, Choice>,
    /// Which of the other keys it may have.
    pub open: Open,
    /// Its taints, without those that pass.
    pub taints: Vec<Taint>,
    /// What it has to give.
    pub capacity: Capacity,
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// One of these values.
    OneOf(BTreeSet<String>),
    /// The value that a pod asks for, if the requirement allows it, and else an integer: what Karpenter does. With `NotIn` a pod may also
    /// ask for the absence of the label, and an empty value is not put on the node.
    Asked(Requirement),
    /// Any value that the requirement allows; with `NotIn` or `DoesNotExist` also none.
    Any(Requirement),
    /// A value that the requirement allows, where it is not known which of them there are: what instance types offer.
    Offered(Requirement),
    /// One of these values, or none; nobody knows which.
    Perhaps(BTreeSet<String>),
    /// None, unless flags of a controller say so: then this value.
    Flagged(String),
}

impl Choice {
    /// One value.
    pub fn fixed(value: impl Into<String>) -> Self {
        Self::OneOf(BTreeSet::from([value.into()]))
    }
}

/// Which keys may be on a node besides those that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// None but the host name.
    Nothing,
    /// Those that Kubernetes, clouds and hardware discovery put on nodes.
    Platform,
    /// Any.
    Anything,
    /// The same; and for any other key an integer, where a pod says `NotIn`: Karpenter adds what a pod asks for to what the node must
    /// satisfy, and then draws a value.
    Drawn,
}

impl Open {
    /// Whether a key may be there.
    pub fn admits(self, key: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Platform | Self::Drawn => is_of_platform(key),
            Self::Anything => true,
        }
    }
}

/// Domains whose labels kubelets, clouds and hardware discovery set.
const PLATFORM: &[&str] = &[
    "alibabacloud.com",
    "amazonaws.com",
    "amd.com",
    "aws",
    "aws.com",
    "azure.com",
    "csi.cloud.google.com",
    "csi.k8s.io",
    "digitalocean.com",
    "eksctl.io",
    "gke.io",
    "google.com",
    "intel.com",
    "k8s-sigs.io",
    "k8s.io",
    "karpenter.sh",
    "kubernetes.io",
    "nvidia.com",
    "oraclecloud.com",
    "scaleway.com",
    "x-k8s.io",
];

/// Domains within those whose labels nodes do not get by themselves: kubelets may not set them.
const RESERVED: &[&str] = &["node-restriction.kubernetes.io", "node-role.kubernetes.io", "node.cluster.x-k8s.io"];

fn is_of_platform(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| is_platform_domain(domain))
}

/// Whether kubelets, clouds or hardware discovery set labels of a domain.
pub(crate) fn is_platform_domain(domain: &str) -> bool {
    let is_in = |of: &&str| domain.strip_suffix(*of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    PLATFORM.iter().any(is_in) && !RESERVED.iter().any(is_in)
}

/// What a node has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So much.
    Known(Resources),
    /// Nobody knows; a proof of *never* takes it to be enough for anything, and no run relies on it.
    Open,
}

/// The label that every node has a value of its own for.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// Reads an object that describes a pool; what is wrong with it is reported.
pub(crate) fn read(cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<Pool> {
    match kind {
        Kind::KarpenterNodePool => karpenter::read(cx, tree),
        Kind::NodePool => own::read(cx, tree),
        _ => None,
    }
}

/// Reads a requirement of a pool; what is wrong with it is reported.
fn requirement<'t>(cx: &mut Context, object: &Object<'t, '_>) -> Option<(&'t str, Requirement)> {
    let Parts { key, operator, values } = parts(cx, object)?;
    let Some(known) = Operator::named(operator) else {
        cx.report(errors::not_one_of(
            object.place("operator"),
            "operator",
            operator,
            &Operator::ALL.map(|(name, _)| name),
        ));
        return None;
    };
    for (value, span) in &values {
        if let Err(why) = name::value(value) {
            cx.report(errors::bad_label(*span, "label value", value, why));
        }
    }
    match known.compares() {
        true => check_integer(cx, object, operator, &values),
        false => check_values(cx, object.span(), operator, values.len()),
    }
    Some((key, Requirement::new(known, values.iter().map(|(value, _)| *value))))
}

/// Reports a comparison with anything but one integer that is not negative.
fn check_integer(cx: &mut Context, object: &Object<'_, '_>, operator: &str, values: &[(&str, Span)]) {
    let is_integer = |value: &str| value.parse::<i64>().is_ok_and(|number| number >= 0);
    if !matches!(values, [(value, _)] if is_integer(value)) {
        let message = format!("the operator {operator} takes one whole number that is not negative");
        cx.report(errors::bad_requirement(object.span(), message));
    }
}

/// The requirements in a list field.
fn requirements<'t, 'a>(cx: &mut Context, object: &Object<'t, 'a>, field: &str) -> Vec<(&'t str, Requirement, Span)> {
    let list = object.objects(field, &POOL_REQUIREMENT, &mut cx.log);
    let read =
        |one: &Object<'t, 'a>| requirement(cx, one).map(|(key, requirement)| (key, requirement, one.place("key")));
    list.iter().filter_map(read).collect()
}
