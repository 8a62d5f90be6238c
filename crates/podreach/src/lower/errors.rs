//! The remarks about objects: one function, one code and one sentence each.
//!
//! Codes never change their meaning; `docs/diagnostics.md` says what to do about each. A remark repeats only names, keys and short values of
//! fields that are read, never the content of objects that are skipped.

use super::object::nearest::nearest;
use super::resources::quantity::Defect;
use super::schema::fields::Table;
use super::{Release, SelectorError};
use crate::diagnostic::Topic;
use crate::diagnostic::{Diagnostic, Effect};
use crate::read::{Entry, Span, Tree, shown};

/// A release that nobody compared with the real scheduler.
pub(crate) fn not_compared(release: Release) -> Option<Diagnostic> {
    let (first, last) = (Release::COMPARED.start(), Release::COMPARED.end());
    let message = format!("Kubernetes {release} was not compared with its real scheduler; 1.{first} to 1.{last} were");
    let assumed = Diagnostic::stops("W0306", None, message).with_effect(Effect::Assumes(Topic::Release));
    (!Release::COMPARED.contains(&release.minor)).then_some(assumed)
}

/// A document that is not a mapping.
pub(crate) fn not_an_object(tree: &Tree<'_>) -> Diagnostic {
    Diagnostic::stops("E0201", tree.span, format!("a document must be a mapping, not {}", tree.kind()))
}

/// A kind we know under an apiVersion we do not.
pub(crate) fn unknown_version(span: Span, kind: &str, version: &str, known: &str) -> Diagnostic {
    let message = format!("{kind} has no apiVersion {}", shown(version));
    Diagnostic::stops("E0202", span, message).with_help(format!("use {known}"))
}

/// A kind that looks like a misspelling of one we know.
pub(crate) fn misspelt_kind(span: Span, kind: &str, meant: &str) -> Diagnostic {
    let message = format!("there is no kind {} in Kubernetes", shown(kind));
    Diagnostic::stops("E0203", span, message).with_help(format!("did you mean {meant}?"))
}

/// A field that its object does not have.
pub(crate) fn unknown_field(entry: &Entry<'_>, table: &Table) -> Diagnostic {
    let message = format!("{} has no field {}", table.name, shown(&entry.key));
    let refused = Diagnostic::stops("E0204", entry.key_span, message);
    match nearest(&entry.key, table.fields()).first() {
        Some(meant) => refused.with_help(format!("did you mean {meant}?")),
        None => refused,
    }
}

/// A value of another kind than its field takes.
pub(crate) fn wrong_kind(tree: &Tree<'_>, field: &str, expected: &str) -> Diagnostic {
    let message = format!("{} must be {expected}, not {}", name(field), tree.kind());
    let refused = Diagnostic::stops("E0205", tree.span, message);
    let scalar = matches!(tree.kind(), "a boolean" | "a number");
    if scalar && expected == "a string" { refused.with_help("put it in quotes") } else { refused }
}

/// A field that must be there.
pub(crate) fn missing(span: Span, object: &str, field: &str) -> Diagnostic {
    Diagnostic::stops("E0206", span, format!("{object} needs the field {field}"))
}

/// A name that the API server would not take.
pub(crate) fn bad_name(span: Span, what: &str, text: &str, why: &str) -> Diagnostic {
    Diagnostic::stops("E0207", span, format!("{} is not a valid {what}: {why}", shown(text)))
}

/// The second of two objects with one name, and where the first is.
pub(crate) fn duplicate_object(span: Span, before: impl Into<Option<Span>>, name: &str) -> Diagnostic {
    let message = format!("{name} is described twice, and the descriptions cannot both be true");
    let refused = Diagnostic::stops("E0208", span, message).with_help("remove one of them");
    Diagnostic { before: before.into().map(Box::new), ..refused }
}

/// A label that the API server would not take.
pub(crate) fn bad_label(span: Span, what: &str, text: &str, why: &str) -> Diagnostic {
    Diagnostic::stops("E0209", span, format!("{} is not a valid {what}: {why}", shown(text)))
}

/// A value that is not a quantity.
pub(crate) fn bad_quantity(span: Span, resource: &str, text: &str, defect: Defect) -> Diagnostic {
    let name = name(resource);
    match defect {
        Defect::Format => {
            let message = format!("{} is not a quantity (of {name})", shown(text));
            Diagnostic::stops("E0210", span, message).with_help("write for example 500m, 2, 1.5Gi or 1e3")
        }
        Defect::TooLarge => {
            let message = format!("{} (of {name}) is more than Kubernetes can hold, 2^63 - 1", shown(text));
            Diagnostic::stops("E0211", span, message)
        }
    }
}

/// An amount below zero.
pub(crate) fn negative(span: Span, resource: &str) -> Diagnostic {
    Diagnostic::stops("E0212", span, format!("an amount of {} must not be negative", name(resource)))
}

/// A fraction of something that has none.
pub(crate) fn fraction(span: Span, resource: &str) -> Diagnostic {
    Diagnostic::stops("E0213", span, format!("an amount of {} must be a whole number", name(resource)))
}

/// A resource that containers cannot have.
pub(crate) fn bad_resource(span: Span, resource: &str) -> Diagnostic {
    let refused = Diagnostic::stops("E0214", span, format!("a container cannot request {}", shown(resource)));
    refused
        .with_help("use cpu, memory, ephemeral-storage, hugepages-<size> or a resource with a domain (example.com/gpu)")
}

/// A request above its limit.
pub(crate) fn above_limit(span: Span, resource: &str) -> Diagnostic {
    Diagnostic::stops("E0215", span, format!("the request for {} is above its limit", name(resource)))
}

/// A number outside its range.
pub(crate) fn out_of_range(span: Span, field: &str, least: i64, most: i64) -> Diagnostic {
    let message = match (least, most) {
        (least, i64::MAX) => format!("{field} must be at least {least}"),
        _ => format!("{field} must be between {least} and {most}"),
    };
    Diagnostic::stops("E0216", span, message)
}

/// A selector requirement that says nothing sensible.
pub(crate) fn bad_requirement(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0217", span, message)
}

/// A required node affinity without terms.
pub(crate) fn no_terms(span: Span) -> Diagnostic {
    let refused = Diagnostic::stops("E0218", span, "a required node affinity needs at least one term");
    refused.with_help("remove the node affinity if every node will do")
}

/// A value that is none of those allowed.
pub(crate) fn not_one_of(span: Span, field: &str, text: &str, allowed: &[&str]) -> Diagnostic {
    let message = format!("{} is not a value of {field}", shown(text));
    Diagnostic::stops("E0219", span, message).with_help(format!("use {}", allowed.join(", ")))
}

/// A spread constraint that the API server would not take.
pub(crate) fn bad_spread(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0220", span, message)
}

/// A taint or toleration that the API server would not take.
pub(crate) fn bad_toleration(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0221", span, message)
}

/// A node that says nothing of what it has.
pub(crate) fn no_allocatable(span: Span, node: &str) -> Diagnostic {
    let message = format!("node {node} has neither status.allocatable nor status.capacity");
    let refused = Diagnostic::stops("E0222", span, message);
    refused.with_help("say what it has, for example `allocatable: {cpu: 4, memory: 8Gi, pods: 110}`")
}

/// Lists within lists beyond any use.
pub(crate) fn nested_lists(span: Span) -> Diagnostic {
    Diagnostic::stops("E0223", span, "lists of objects nest too deep")
}

/// A host address that is none.
pub(crate) fn bad_address(span: Span, text: &str) -> Diagnostic {
    Diagnostic::stops("E0224", span, format!("hostIP {} is not an IP address", shown(text)))
}

/// A selector of `--keep` that cannot be read.
pub(crate) fn bad_keep(selector: &str, why: &SelectorError) -> Diagnostic {
    Diagnostic::stops("E0225", None, format!("--keep {}: {why}", shown(selector)))
}

/// A question that cannot be read.
pub(crate) fn bad_question(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0226", span, message)
}

/// A policy that cannot be read.
pub(crate) fn bad_policy(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0240", span, message)
}

/// A document in a policy file that is not a policy.
pub(crate) fn not_a_policy(span: Span, what: &str) -> Diagnostic {
    let message = format!("a policy file holds documents of podreach.dev/v1alpha1 PlacementPolicy, not {what}");
    Diagnostic::stops("E0241", span, message)
}

/// A description of nodes that come and go which cannot be used.
pub(crate) fn bad_pool(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0242", span, message)
}

/// A remark without effect.
pub(crate) fn note(code: &'static str, span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::stops(code, span, message).with_effect(Effect::Notes)
}

/// A node that is being deleted.
pub(crate) fn leaving_node(span: Span, node: &str) -> Diagnostic {
    let message = format!("node/{node} is being deleted: until it is gone it is taken to stay as it is");
    assumed(Topic::Nodes, "W0325", span, message)
}

/// A remark about something that verdicts take for granted.
pub(crate) fn assumed(topic: Topic, code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic::stops(code, span, message).with_effect(Effect::Assumes(topic))
}

/// A field or resource name inside a sentence: bare where that is harmless.
fn name(text: &str) -> String {
    let plain = !text.is_empty() && text.len() < 64 && text.bytes().all(|b| b.is_ascii_graphic());
    if plain { text.to_owned() } else { shown(text) }
}
