//! Selections: which pods and which nodes a rule speaks of.
//!
//! A selection is the conjunction of its parts, and a part that is a list is met by any of its items; without parts it selects all.
//! Pods are selected by what their workload says of them today: its namespace, its kind, its name and the labels of its template.

use std::collections::BTreeMap;

use crate::lower::context::Context;
use crate::lower::fields::{NODE_SELECTION, POD_SELECTION, REQUIREMENT};
use crate::lower::object::mapping::Object;
use crate::lower::object::name;
use crate::lower::object::nearest::nearest;
use crate::lower::object::selector::{check_values, parts};
use crate::lower::{Kind, Origin, Selection, errors};
use crate::read::{Span, Tree};

/// The kinds whose pods can be selected.
const KINDS: [Kind; 9] = [
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::ReplicationController,
    Kind::PodTemplate,
    Kind::Pod,
];

/// A selection of pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSelection {
    /// Their namespaces.
    pub namespaces: Option<Vec<String>>,
    /// Their names: `kind/namespace/name`, or the last one or two parts of it.
    pub names: Option<Vec<String>>,
    /// Their kinds.
    pub kinds: Option<Vec<Kind>>,
    /// Their labels.
    pub labels: Selection,
}

/// A selection of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSelection {
    /// Their names.
    pub names: Option<Vec<String>>,
    /// Their labels.
    pub labels: Selection,
}

impl PodSelection {
    /// Whether it selects the pods of this full name: by it, or as those of a workload that they belong to.
    ///
    /// A StatefulSet all of whose pods have claims of their own is these pods, and not what it would make beyond them.
    pub fn selects(&self, name: &str, origin: &Origin) -> bool {
        let kinds = std::iter::once(origin.kind).chain(origin.owners.iter().map(|(kind, _)| *kind));
        let names = std::iter::once(name).chain(origin.owners.iter().map(|(_, name)| name.as_str()));
        !origin.beyond
            && self.admits_labels(&origin.namespace, &origin.labels)
            && self.kinds.as_ref().is_none_or(|given| kinds.clone().any(|kind| given.contains(&kind)))
            && self
                .names
                .as_ref()
                .is_none_or(|given| given.iter().any(|given| names.clone().any(|name| is_named(name, given))))
    }

    /// Whether it selects pods of this namespace, kind and labels, whatever their name.
    pub(crate) fn admits(&self, namespace: &str, kind: Kind, labels: &BTreeMap<String, String>) -> bool {
        self.admits_labels(namespace, labels) && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    fn admits_labels(&self, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
        let listed = self.namespaces.as_ref().is_none_or(|listed| listed.iter().any(|own| own == namespace));
        listed && has(&self.labels, labels)
    }

    /// Reads a selection; what is wrong with it is reported.
    pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Self> {
        let object = Object::new(tree, &POD_SELECTION, &mut cx.log)?;
        let namespaces = texts(cx, &object, "namespaces");
        let namespaces = namespaces.map(|list| list.into_iter().map(|given| namespace(cx, given)).collect());
        let names = texts(cx, &object, "names");
        let names = names.map(|list| list.into_iter().map(|(text, _)| text.to_owned()).collect());
        let kinds = texts(cx, &object, "kinds");
        let kinds = kinds.map(|list| list.into_iter().filter_map(|given| kind(cx, given)).collect());
        Some(Self { namespaces, names, kinds, labels: labels(cx, &object, &SETS) })
    }
}

impl NodeSelection {
    /// All nodes.
    pub fn everything() -> Self {
        Self { names: None, labels: Selection::everything() }
    }

    /// Whether it selects the node of this name.
    pub fn selects(&self, name: &str, origin: &Origin) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|given| given == name))
            && has(&self.labels, &origin.labels)
    }

    /// Whether it may select the node of this name once labels have come that the node does not have.
    pub(crate) fn may_select(&self, name: &str, origin: &Origin) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|given| given == name))
            && self.labels.may_match(|key| origin.labels.get(key).map(String::as_str))
    }

    /// Reads a selection; what is wrong with it is reported.
    pub(crate) fn read(cx: &mut Context, tree: &Tree<'_>) -> Option<Self> {
        let object = Object::new(tree, &NODE_SELECTION, &mut cx.log)?;
        let names = object.texts("names", &mut cx.log).into_iter().map(|(text, _)| text.to_owned()).collect();
        let names = object.field("names").map(|_| names);
        let operators: Vec<&str> = SETS.into_iter().chain(["Gt", "Lt"]).collect();
        Some(Self { names, labels: labels(cx, &object, &operators) })
    }
}

/// The strings of a field, with their places; `None` where the field is missing.
fn texts<'t>(cx: &mut Context, object: &Object<'t, '_>, field: &str) -> Option<Vec<(&'t str, Span)>> {
    let texts = object.texts(field, &mut cx.log);
    object.field(field).map(|_| texts)
}

fn namespace(cx: &mut Context, (text, span): (&str, Span)) -> String {
    if let Err(why) = name::label(text) {
        cx.report(errors::bad_name(span, "namespace", text, why));
    }
    text.to_owned()
}

fn kind(cx: &mut Context, (text, span): (&str, Span)) -> Option<Kind> {
    let known = KINDS.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
    if known.is_none() {
        let refused = errors::not_one_of(span, "kinds", text, &KINDS.map(Kind::name));
        let near = nearest(text, KINDS.iter().map(|kind| kind.name()));
        cx.report(match near.first() {
            Some(meant) => refused.with_help(format!("did you mean {meant}?")),
            None => refused,
        });
    }
    known
}

/// The operators on sets of values.
const SETS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

fn labels(cx: &mut Context, object: &Object<'_, '_>, operators: &[&str]) -> Selection {
    let mut selection = Selection::everything();
    for (entry, value) in object.pairs("matchLabels", &mut cx.log) {
        if let Err(why) = name::key(&entry.key) {
            cx.report(errors::bad_label(entry.key_span, "label key", &entry.key, why));
        } else if let Err(why) = name::value(value) {
            cx.report(errors::bad_label(entry.value.span, "label value", value, why));
        }
        selection.and_one_of(&entry.key, vec![value.to_owned()]);
    }
    for expression in object.objects("matchExpressions", &REQUIREMENT, &mut cx.log) {
        let Some(parts) = parts(cx, &expression) else { continue };
        let values: Vec<String> = parts.values.iter().map(|(value, _)| (*value).to_owned()).collect();
        let compares = ["Gt", "Lt"].contains(&parts.operator);
        let (count, known) = (values.len(), operators.contains(&parts.operator));
        if known && selection.and_operator(parts.key, parts.operator, values) {
            if !compares {
                check_values(cx, expression.span(), parts.operator, count);
            }
        } else if known && compares {
            cx.report(errors::bad_requirement(expression.span(), "the operators Gt and Lt take one whole number"));
        } else {
            cx.report(errors::not_one_of(expression.span(), "operator", parts.operator, operators));
        }
    }
    selection
}

fn has(selection: &Selection, labels: &BTreeMap<String, String>) -> bool {
    selection.matches(|key| labels.get(key).map(String::as_str))
}

/// Whether a full name ends in the parts given.
fn is_named(full: &str, given: &str) -> bool {
    full.strip_suffix(given).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
