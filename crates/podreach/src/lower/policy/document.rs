//! Reads PlacementPolicy documents, strictly: a misspelt field never turns a rule into another one.

use std::collections::BTreeMap;

use super::{NodeSelection, PodSelection, Policy, Property, Rule, Severity};
use crate::diagnostic::Diagnostic;
use crate::lower::context::Context;
use crate::lower::fields::{
    OBJECT, OBJECT_META, POLICY_NEVER, POLICY_NEVER_TOGETHER, POLICY_POSSIBLE, POLICY_RECOVERABLE, POLICY_RULE,
    POLICY_SPEC,
};
use crate::lower::object::mapping::Object;
use crate::lower::object::name::{key, subdomain};
use crate::lower::{Options, errors};
use crate::read::{SourceId, Sources, Tree, shown};

const VERSION: &str = "podreach.dev/v1alpha1";
const KIND: &str = "PlacementPolicy";
const PROPERTIES: [&str; 4] = ["never", "neverTogether", "possible", "recoverable"];

/// The policies of these sources, which may hold nothing else, and what is wrong with them.
pub fn read(sources: &Sources, ids: impl IntoIterator<Item = SourceId>) -> (Vec<Policy>, Vec<Diagnostic>) {
    let mut cx = Context::new(&Options::default());
    let mut policies = Vec::new();
    for id in ids {
        let (documents, remarks) = sources.documents(id);
        cx.log.extend(remarks);
        documents.iter().for_each(|tree| collect(&mut cx, tree, &mut policies));
    }
    let mut diagnostics = cx.log;
    diagnostics.extend(duplicates(&policies));
    (policies, diagnostics)
}

/// Errors for policies that have the name of one before them.
pub fn duplicates(policies: &[Policy]) -> Vec<Diagnostic> {
    let mut seen = BTreeMap::new();
    let again = policies.iter().filter_map(|policy| {
        let first = *seen.entry(&policy.name).or_insert(policy.span);
        (first != policy.span).then_some((policy, first))
    });
    again
        .map(|(policy, first)| {
            errors::duplicate_object(policy.span, first, &format!("placementpolicy/{}", policy.name))
        })
        .collect()
}

/// The policies of a document, which may be a list.
fn collect(cx: &mut Context, tree: &Tree<'_>, policies: &mut Vec<Policy>) {
    match (tree.text("apiVersion"), tree.text("kind")) {
        (Some(VERSION), Some(KIND)) => policies.extend(document(cx, tree)),
        (Some("v1" | VERSION), Some("List" | "PlacementPolicyList")) => {
            let items = tree.items("items");
            items.iter().for_each(|item| collect(cx, item, policies));
        }
        (version, kind) => {
            let what = match (version, kind) {
                (Some(version), Some(kind)) => format!("{} of {}", shown(kind), shown(version)),
                _ => "one without apiVersion and kind".to_owned(),
            };
            let span = tree.field("kind").map_or(tree.span, |kind| kind.span);
            cx.report(errors::not_a_policy(span, &what).with_help("give objects of the cluster with -f"));
        }
    }
}

/// Reads a PlacementPolicy document; what is wrong with it is reported.
pub(crate) fn document(cx: &mut Context, tree: &Tree<'_>) -> Option<Policy> {
    let object = Object::new(tree, &OBJECT, &mut cx.log)?;
    if let Some(status) = object.field("status") {
        cx.report(errors::bad_policy(status.span, "a policy has no status"));
    }
    let name = name(cx, &object);
    if object.field("spec").is_none() {
        cx.report(errors::missing(object.span(), KIND, "spec"));
    }
    let spec = object.object("spec", &POLICY_SPEC, &mut cx.log)?;
    let entries = spec.objects("rules", &POLICY_RULE, &mut cx.log);
    if entries.is_empty() {
        cx.report(errors::bad_policy(spec.span(), "a policy needs at least one rule"));
    }
    let mut rules: Vec<Rule> = Vec::new();
    for entry in &entries {
        let Some(rule) = rule(cx, entry) else { continue };
        if rules.iter().any(|other| other.name == rule.name) {
            let message = format!("two rules of one policy have the name {}", shown(&rule.name));
            cx.report(errors::bad_policy(rule.span, message));
        }
        rules.push(rule);
    }
    let span = tree.field("metadata").and_then(|metadata| metadata.field("name")).map_or(tree.span, |name| name.span);
    Some(Policy { name: name?, rules, span })
}

fn name(cx: &mut Context, object: &Object<'_, '_>) -> Option<String> {
    let Some(metadata) = object.object("metadata", &OBJECT_META, &mut cx.log) else {
        cx.report(errors::missing(object.span(), KIND, "metadata.name"));
        return None;
    };
    checked_name(cx, &metadata)
}

/// The name of a policy or a rule.
fn checked_name(cx: &mut Context, object: &Object<'_, '_>) -> Option<String> {
    let name = object.required_text("name", &mut cx.log)?;
    if let Err(why) = subdomain(name) {
        let span = object.field("name").map_or(object.span(), |name| name.span);
        cx.report(errors::bad_name(span, "name", name, why));
    }
    Some(name.to_owned())
}

fn rule(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Rule> {
    let name = checked_name(cx, entry);
    let property = property(cx, entry);
    let severity = severity(cx, entry);
    let description = entry.text("description", &mut cx.log).map(str::to_owned);
    let allow_empty = entry.flag("allowEmpty", &mut cx.log);
    let span = entry.field("name").map_or(entry.span(), |name| name.span);
    Some(Rule { name: name?, property: property?, description, severity, allow_empty, span })
}

fn severity(cx: &mut Context, entry: &Object<'_, '_>) -> Severity {
    match entry.text("severity", &mut cx.log) {
        None | Some("error") => Severity::Error,
        Some("warning") => Severity::Warning,
        Some("note") => Severity::Note,
        Some(other) => {
            let span = entry.field("severity").map_or(entry.span(), |severity| severity.span);
            cx.report(errors::not_one_of(span, "severity", other, &["error", "warning", "note"]));
            Severity::Error
        }
    }
}

fn property(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Property> {
    let said: Vec<&str> = PROPERTIES.into_iter().filter(|property| entry.field(property).is_some()).collect();
    match said.as_slice() {
        ["never"] => never(cx, entry),
        ["neverTogether"] => never_together(cx, entry),
        ["possible"] => possible(cx, entry),
        ["recoverable"] => {
            let body = entry.object("recoverable", &POLICY_RECOVERABLE, &mut cx.log)?;
            Some(Property::Recoverable { pods: pods(cx, &body)? })
        }
        [] => {
            let message = format!("a rule needs one of {}", PROPERTIES.join(", "));
            cx.report(errors::bad_policy(entry.span(), message));
            None
        }
        several => {
            let message = format!("a rule says one thing, and this one has {}", several.join(" and "));
            cx.report(errors::bad_policy(entry.span(), message).with_help("make it several rules"));
            None
        }
    }
}

fn never(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Property> {
    let body = entry.object("never", &POLICY_NEVER, &mut cx.log)?;
    let pods = pods(cx, &body);
    if body.field("nodes").is_none() {
        cx.report(errors::missing(body.span(), "never", "nodes"));
    }
    let nodes = body.field("nodes").and_then(|tree| NodeSelection::read(cx, tree));
    Some(Property::Never { pods: pods?, nodes: nodes? })
}

fn never_together(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Property> {
    let body = entry.object("neverTogether", &POLICY_NEVER_TOGETHER, &mut cx.log)?;
    let selections = body.items("pods", &mut cx.log);
    if selections.len() != 2 {
        let message = "neverTogether needs two selections of pods; they may be equal";
        cx.report(errors::bad_policy(body.field("pods").map_or(body.span(), |pods| pods.span), message));
    }
    let read: Vec<_> = selections.iter().filter_map(|tree| PodSelection::read(cx, tree)).collect();
    let key = topology_key(cx, &body, "topologyKey");
    if body.field("topologyKey").is_none() {
        cx.report(errors::missing(body.span(), "neverTogether", "topologyKey"));
    }
    Some(Property::NeverTogether { pods: read.try_into().ok()?, key: key? })
}

fn possible(cx: &mut Context, entry: &Object<'_, '_>) -> Option<Property> {
    let body = entry.object("possible", &POLICY_POSSIBLE, &mut cx.log)?;
    let pods = pods(cx, &body);
    let count = match body.field("count") {
        None => Some(1),
        Some(_) => body.integer("count", 1, 100_000, &mut cx.log).and_then(|count| u64::try_from(count).ok()),
    };
    let nodes = match body.field("nodes") {
        None => Some(NodeSelection::everything()),
        Some(tree) => NodeSelection::read(cx, tree),
    };
    let spread_over = topology_key(cx, &body, "spreadOver");
    Some(Property::Possible { pods: pods?, count: count?, spread_over, nodes: nodes? })
}

/// The selection of pods that every property needs.
fn pods(cx: &mut Context, body: &Object<'_, '_>) -> Option<PodSelection> {
    let Some(tree) = body.field("pods") else {
        let refused = errors::bad_policy(body.span(), "the field pods is missing");
        cx.report(refused.with_help("`pods: {}` selects all pods"));
        return None;
    };
    PodSelection::read(cx, tree)
}

fn topology_key(cx: &mut Context, body: &Object<'_, '_>, field: &str) -> Option<String> {
    let text = body.text(field, &mut cx.log)?;
    if let Err(why) = key(text) {
        let span = body.field(field).map_or(body.span(), |tree| tree.span);
        cx.report(errors::bad_label(span, "label key", text, why));
    }
    Some(text.to_owned())
}
