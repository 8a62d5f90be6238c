//! Required node affinity, pod affinity and pod anti-affinity.
//!
//! Preferred terms are ignored. Pod terms stay drafts until the labels of their pod are final, since `matchLabelKeys` refers to them.

use std::collections::BTreeSet;

use podreach_core::cluster::{Matcher, NodeRequirement, NodeTerm, Scope};
use podreach_core::id::{NamespaceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::{Allowed, Selector};

use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::object::name;
use crate::lower::object::selector::{self, Parts};
use crate::lower::schema::fields::{
    AFFINITY, NODE_AFFINITY, NODE_SELECTOR, NODE_SELECTOR_TERM, POD_AFFINITY, POD_AFFINITY_TERM, REQUIREMENT,
};
use crate::read::{Span, Tree, shown};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The affinities of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Affinities {
    pub(crate) node: Option<Vec<NodeTerm>>,
    pub(crate) near: Vec<TermDraft>,
    pub(crate) apart: Vec<TermDraft>,
}

/// A required pod affinity or anti-affinity term, before the labels of its pod are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermDraft {
    pub(crate) selector: Option<Selector>,
    pub(crate) same: Vec<Symbol>,
    pub(crate) other: Vec<Symbol>,
    pub(crate) scope: Scope,
    pub(crate) key: Symbol,
}

impl TermDraft {
    /// The pods it looks at: its selector, with the values that its own pod has of the keys it lists.
    ///
    /// Kubernetes: `pkg/registry/core/pod/strategy.go`, `applyMatchLabelKeysAndMismatchLabelKeys`.
    pub(crate) fn matcher(&self, labels: &Labels, admission: bool) -> Matcher {
        let mut selector = self.selector.clone().unwrap_or(Selector::Nothing);
        if admission {
            for (key, value) in values(labels, &self.same) {
                selector = selector.and(key, Allowed::one_of([value]));
            }
            for (key, value) in values(labels, &self.other) {
                selector = selector.and(key, Allowed::none_of([value]));
            }
        }
        Matcher { scope: self.scope.clone(), selector }
    }
}

/// The values that labels have of some keys.
fn values(labels: &Labels, keys: &[Symbol]) -> Vec<(Symbol, Symbol)> {
    keys.iter().filter_map(|&key| Some((key, labels.value(key)?))).collect()
}

/// Reads the affinities of a pod in a namespace.
pub(crate) fn read(cx: &mut Context, spec: &Object<'_, '_>, namespace: NamespaceId) -> Affinities {
    let Some(affinity) = spec.object("affinity", &AFFINITY, &mut cx.log) else { return Affinities::default() };
    let (near, apart) =
        (pod_terms(cx, &affinity, namespace, "podAffinity"), pod_terms(cx, &affinity, namespace, "podAntiAffinity"));
    Affinities { node: required_node_terms(cx, &affinity, "nodeAffinity"), near, apart }
}

fn pod_terms(cx: &mut Context, affinity: &Object<'_, '_>, namespace: NamespaceId, field: &str) -> Vec<TermDraft> {
    let Some(affinity) = affinity.object(field, &POD_AFFINITY, &mut cx.log) else { return Vec::new() };
    let terms = affinity.objects(REQUIRED, &POD_AFFINITY_TERM, &mut cx.log);
    terms.iter().filter_map(|term| pod_term(cx, term, namespace)).collect()
}

/// Whether a term of a pod's affinity looks at other namespaces. Only required terms are read; where a pod has others, that is not known.
///
/// Kubernetes: `pkg/quota/v1/evaluator/core/pods.go`, `usesCrossNamespaceAffinity`.
pub(crate) fn crosses(spec: &Tree<'_>) -> Option<bool> {
    let affinity = spec.field("affinity");
    let kinds = ["podAffinity", "podAntiAffinity"].into_iter().filter_map(|field| affinity?.field(field));
    let kinds: Vec<&Tree<'_>> = kinds.collect();
    let required = kinds.iter().filter_map(|kind| kind.field(REQUIRED)).filter_map(Tree::seq).flatten();
    let looks_elsewhere = required.into_iter().any(|term| {
        let named = term.field("namespaces").and_then(Tree::seq).is_some_and(|names| !names.is_empty());
        named || term.field("namespaceSelector").is_some()
    });
    if looks_elsewhere {
        return Some(true);
    }
    kinds.is_empty().then_some(false)
}

/// The terms of the required node affinity in a field.
pub(crate) fn required_node_terms(cx: &mut Context, holder: &Object<'_, '_>, field: &str) -> Option<Vec<NodeTerm>> {
    let affinity = holder.object(field, &NODE_AFFINITY, &mut cx.log)?;
    let selector = affinity.object(REQUIRED, &NODE_SELECTOR, &mut cx.log)?;
    Some(node_terms(cx, &selector))
}

/// The terms of a node selector; one with a requirement that cannot be read matches no node.
///
/// Kubernetes: `component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`, `NewLazyErrorNodeSelector`.
pub(crate) fn node_terms(cx: &mut Context, selector: &Object<'_, '_>) -> Vec<NodeTerm> {
    read_terms(cx, selector).into_iter().map(|term| term.unwrap_or_else(no_node)).collect()
}

fn no_node() -> NodeTerm {
    NodeTerm { expressions: Vec::new(), names: Vec::new() }
}

/// The same where one requirement that cannot be read spoils the others: then no term matches.
///
/// Kubernetes: the same file, `NewNodeSelector`.
pub(crate) fn strict_node_terms(cx: &mut Context, selector: &Object<'_, '_>) -> Vec<NodeTerm> {
    read_terms(cx, selector).into_iter().collect::<Option<_>>().unwrap_or_default()
}

fn read_terms(cx: &mut Context, selector: &Object<'_, '_>) -> Vec<Option<NodeTerm>> {
    let terms = selector.objects("nodeSelectorTerms", &NODE_SELECTOR_TERM, &mut cx.log);
    if terms.is_empty() {
        cx.report(errors::no_terms(selector.span()));
    }
    terms.iter().map(|term| node_term(cx, term)).collect()
}

/// A term, if all its requirements can be read.
fn node_term(cx: &mut Context, term: &Object<'_, '_>) -> Option<NodeTerm> {
    let expressions = term.objects("matchExpressions", &REQUIREMENT, &mut cx.log);
    let fields = term.objects("matchFields", &REQUIREMENT, &mut cx.log);
    let expressions: Vec<_> = expressions.iter().map(|expression| node_requirement(cx, expression)).collect();
    let names: Vec<_> = fields.iter().map(|field| name_requirement(cx, field)).collect();
    let term = expressions.into_iter().collect::<Option<_>>().zip(names.into_iter().collect::<Option<_>>());
    term.map(|(expressions, names)| NodeTerm { expressions, names })
}

fn node_requirement(cx: &mut Context, expression: &Object<'_, '_>) -> Option<(Symbol, NodeRequirement)> {
    let Parts { key, operator, values } = selector::parts(cx, expression)?;
    let key = cx.symbol(key);
    if values.iter().any(|(value, _)| name::value(value).is_err()) {
        return None;
    }
    if let Some(allowed) = selector::set_requirement(cx, operator, &values) {
        selector::check_values(cx, expression.span(), operator, values.len());
        return Some((key, NodeRequirement::Label(allowed)));
    }
    let compare: fn(i64) -> NodeRequirement = match operator {
        "Gt" => NodeRequirement::Above,
        "Lt" => NodeRequirement::Below,
        _ => {
            let operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
            cx.report(errors::not_one_of(expression.place("operator"), "operator", operator, &operators));
            return None;
        }
    };
    let [(value, span)] = values.as_slice() else {
        let message = format!("the operator {} needs exactly one value", shown(operator));
        cx.report(errors::bad_requirement(expression.span(), message));
        return None;
    };
    let bound = value.parse().ok();
    if bound.is_none() {
        // The API server takes it, and the scheduler can make nothing of it.
        let message = format!("{} is not a whole number: this term of a node affinity matches no node", shown(value));
        cx.report(errors::note("W0307", *span, message));
    }
    Some((key, compare(bound?)))
}

/// A requirement on the node's name, the only field there is.
fn name_requirement(cx: &mut Context, field: &Object<'_, '_>) -> Option<Allowed> {
    let key = field.required_text("key", &mut cx.log);
    let operator = field.required_text("operator", &mut cx.log);
    let values = field.texts("values", &mut cx.log);
    let (key, operator) = (key?, operator?);
    if key != "metadata.name" {
        cx.report(errors::not_one_of(field.place("key"), "the key of matchFields", key, &["metadata.name"]));
        return None;
    }
    let [(value, span)] = values.as_slice() else {
        cx.report(errors::bad_requirement(field.span(), "matchFields needs exactly one value"));
        return None;
    };
    if let Err(why) = name::subdomain(value) {
        cx.report(errors::bad_name(*span, "name of a node", value, why));
    }
    let value = cx.symbol(value);
    match operator {
        "In" => Some(Allowed::one_of([value])),
        "NotIn" => Some(Allowed::none_of([value])),
        _ => {
            cx.report(errors::not_one_of(
                field.place("operator"),
                "the operator of matchFields",
                operator,
                &["In", "NotIn"],
            ));
            None
        }
    }
}

fn pod_term(cx: &mut Context, term: &Object<'_, '_>, namespace: NamespaceId) -> Option<TermDraft> {
    let selector = selector::read(cx, term, "labelSelector");
    let scope = scope(cx, term, namespace);
    let same = label_keys(cx, term, "matchLabelKeys", selector.is_some());
    let other = label_keys(cx, term, "mismatchLabelKeys", selector.is_some());
    let key = topology_key(cx, term)?;
    Some(TermDraft { selector, same, other, scope, key })
}

/// The namespaces a term looks at: its owner's when it says nothing.
fn scope(cx: &mut Context, term: &Object<'_, '_>, namespace: NamespaceId) -> Scope {
    let selector = selector::read(cx, term, "namespaceSelector");
    let mut listed = BTreeSet::new();
    for (text, span) in term.texts("namespaces", &mut cx.log) {
        if let Err(why) = name::label(text) {
            cx.report(errors::bad_name(span, "namespace", text, why));
        } else {
            listed.insert(cx.cluster.namespace(text));
        }
    }
    if listed.is_empty() && selector.is_none() {
        listed.insert(namespace);
    }
    Scope { listed, selector }
}

/// The label keys in a field, which goes with a label selector only.
pub(crate) fn label_keys(cx: &mut Context, object: &Object<'_, '_>, field: &str, selector: bool) -> Vec<Symbol> {
    let keys = object.texts(field, &mut cx.log);
    if let (Some((_, span)), false) = (keys.first(), selector) {
        cx.report(errors::bad_requirement(*span, format!("{field} needs a labelSelector beside it")));
    }
    keys.iter().filter_map(|(key, span)| checked_key(cx, key, *span)).collect()
}

/// The topology key of a term or constraint.
pub(crate) fn topology_key(cx: &mut Context, object: &Object<'_, '_>) -> Option<Symbol> {
    let key = object.required_text("topologyKey", &mut cx.log)?;
    let span = object.field("topologyKey").map_or(object.span(), |key| key.span);
    checked_key(cx, key, span)
}

fn checked_key(cx: &mut Context, key: &str, span: Span) -> Option<Symbol> {
    if let Err(why) = name::key(key) {
        cx.report(errors::bad_label(span, "label key", key, why));
        return None;
    }
    Some(cx.symbol(key))
}
