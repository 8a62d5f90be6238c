//! Every way a net, a graph, a policy or a cluster can be refused: one function, one code and one sentence each.
//!
//! Codes never change their meaning; `docs/diagnostics.md` says what to do about each.

use super::graph::Graph;
use crate::diagnostic::{Diagnostic, Effect};
use crate::read::{Span, shown};

/// Text that is not XML.
pub(super) fn not_xml(span: Span, why: &str) -> Diagnostic {
    Diagnostic::stops("E0501", span, format!("this is not well-formed XML: {why}"))
}

/// A document type declaration.
pub(super) fn doctype(span: Span) -> Diagnostic {
    Diagnostic::stops("E0502", span, "a document type declaration is not read, nor anything it would bring in")
        .with_help("remove <!DOCTYPE …>; PNML needs none")
}

/// An entity that XML does not define by itself.
pub(super) fn unknown_entity(span: Span, name: &str) -> Diagnostic {
    Diagnostic::stops("E0503", span, format!("the entity {} is not defined", shown(name)))
        .with_help("only amp, lt, gt, quot, apos and character numbers stand for something")
}

/// Elements inside elements inside elements.
pub(super) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::stops("E0504", span, format!("elements are nested deeper than {limit} levels"))
}

/// XML that is not one PNML net.
pub(super) fn not_a_net(span: Span, why: &str) -> Diagnostic {
    Diagnostic::stops("E0505", span, format!("this is not a PNML file with one net: {why}"))
}

/// A net of another type.
pub(super) fn not_ptnet(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::stops(
        "E0506",
        span,
        format!("only place/transition nets are encoded, not nets of type {}", shown(kind)),
    )
    .with_help("unfold a coloured net first")
}

/// An element without what others know it by.
pub(super) fn missing_attribute(span: Span, element: &str, attribute: &str) -> Diagnostic {
    Diagnostic::stops("E0507", span, format!("this {element} has no attribute {attribute}"))
}

/// The second of two elements with one identifier.
pub(super) fn duplicate_id(span: Span, id: &str) -> Diagnostic {
    Diagnostic::stops("E0508", span, format!("the identifier {} is used twice", shown(id)))
}

/// An arc or reference to nothing.
pub(super) fn dangling(span: Span, element: &str, id: &str) -> Diagnostic {
    let message = format!("this {element} refers to {}, which is neither a place nor a transition", shown(id));
    Diagnostic::stops("E0509", span, message)
}

/// An arc between two of a kind.
pub(super) fn same_kind(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::stops("E0510", span, format!("this arc joins two {kind}s; an arc joins a place and a transition"))
}

/// Text where a number should be.
pub(super) fn not_a_number(span: Span, what: &str, text: &str) -> Diagnostic {
    Diagnostic::stops("E0511", span, format!("{what} must be a natural number, not {}", shown(text)))
}

/// A place with several tokens at first.
pub(super) fn several_tokens(span: Span, place: &str, text: &str) -> Diagnostic {
    let message = format!(
        "place {} starts with {} tokens, but a 1-safe net has at most one on each place",
        shown(place),
        shown(text)
    );
    Diagnostic::stops("E0512", span, message)
        .with_help("the encodings need 1-safe nets: the presence of a pod says that a token is there, not how many")
}

/// An arc of weight two or more.
pub(super) fn weight(span: Span, text: &str) -> Diagnostic {
    let message =
        format!("this arc has weight {}, but a 1-safe net never has that many tokens on a place", shown(text));
    Diagnostic::stops("E0513", span, message).with_help(
        "the encodings need arcs of weight one: the presence of a pod says that a token is there, not how many",
    )
}

/// An arc that is not an ordinary one.
pub(super) fn special_arc(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::stops("E0514", span, format!("arcs of type {} are not part of place/transition nets", shown(kind)))
}

/// Reference nodes that refer to each other.
pub(super) fn reference_cycle(span: Span, id: &str) -> Diagnostic {
    Diagnostic::stops("E0515", span, format!("the reference {} leads back to itself", shown(id)))
}

/// A net that is not 1-safe.
pub(super) fn not_safe(place: &str, run: &str) -> Diagnostic {
    Diagnostic::stops("E0516", None, format!("the net is not 1-safe: place {} gets a second token {run}", shown(place)))
}

/// A goal that is not a place.
pub(super) fn unknown_place<'n>(name: &str, places: impl Iterator<Item = &'n str>) -> Diagnostic {
    let refused = Diagnostic::stops("E0517", None, format!("the net has no place {}", shown(name)));
    refused.with_help(format!("the places are {}", some(places)))
}

/// A question without a goal.
pub(super) fn no_goal() -> Diagnostic {
    Diagnostic::stops("E0518", None, "a goal needs at least one place")
}

/// A net that may or may not be 1-safe.
pub(super) fn maybe_unsafe() -> Diagnostic {
    let message = "whether the net is 1-safe was not found out; the answer counts for the net only if it is";
    Diagnostic::stops("W0519", None, message).with_effect(Effect::Notes)
}

/// A graph that cannot be read.
pub(super) fn not_a_graph(span: Span, why: &str) -> Diagnostic {
    Diagnostic::stops("E0521", span, why.to_owned())
}

/// A graph without directions.
pub(super) fn undirected(span: Span) -> Diagnostic {
    Diagnostic::stops("E0522", span, "pebbling needs a directed graph").with_help("write digraph and ->")
}

/// A graph with a cycle, which is named if its names may be quoted.
pub(super) fn cycle(span: Option<Span>, vertices: Option<&[&str]>) -> Diagnostic {
    let which = vertices.map(|vertices| format!(", and this is one: {}", path(vertices))).unwrap_or_default();
    Diagnostic::stops("E0523", span, format!("pebbling needs a graph without cycles{which}"))
}

fn path(vertices: &[&str]) -> String {
    vertices.iter().map(|vertex| shown(vertex)).collect::<Vec<_>>().join(" -> ")
}

/// A target that is not a vertex. The vertices are named if they may be quoted.
pub(super) fn unknown_vertex(name: &str, graph: &Graph) -> Diagnostic {
    let refused = Diagnostic::stops("E0524", None, format!("the graph has no vertex {}", shown(name)));
    refused.with_help(if graph.declared {
        format!("the vertices are {}", some(graph.vertices.iter().map(String::as_str)))
    } else {
        "it was read as a list of edges, u v; one with an arrow, u -> v, is surely meant as one".to_owned()
    })
}

/// The first of many names, and how many more there are.
fn some<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(shown).collect();
    let (first, more) = names.split_at(names.len().min(12));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    first.join(", ") + &more
}

/// A number of pebbles that search cannot settle.
pub(super) fn pebbles_unknown(pebbles: u64, reason: &str) -> Diagnostic {
    Diagnostic::stops("E0525", None, format!("whether {pebbles} pebbles are enough was not found out: {reason}"))
}

/// The smallest number of pebbles.
pub(super) fn smallest(enough: u64, short: Option<u64>) -> Diagnostic {
    let message = match short {
        Some(short) => format!("{enough} pebbles are enough and {short} are not; both were proved"),
        None => format!("{enough} pebble is enough, as a run shows"),
    };
    Diagnostic::stops("W0526", None, message).with_effect(Effect::Notes)
}

/// A cluster that has no net.
pub(super) fn no_net(why: impl Into<String>) -> Diagnostic {
    Diagnostic::stops("E0531", None, why)
        .with_help("a net can be written for clusters without topology spread, for goals of single instances")
}

/// A text that is not a policy, or not its functions or workers.
pub(super) fn not_a_policy(span: Span, why: &str) -> Diagnostic {
    Diagnostic::stops("E0551", span, why.to_owned())
}

/// A key that means nothing here.
pub(super) fn unknown_key(span: Span, what: &str, key: &str, keys: &[&str]) -> Diagnostic {
    let refused = Diagnostic::stops("E0552", span, format!("{what} has no {}", shown(key)));
    refused.with_help(format!("the keys are {}", keys.join(", ")))
}

/// A tag, worker or function that is not there.
pub(super) fn unknown_name<'n>(
    span: impl Into<Option<Span>>,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let refused = Diagnostic::stops("E0553", span, format!("there is no {what} {}", shown(name)));
    refused.with_help(format!("the {what}s are {}", some(known)))
}

/// A strategy or a follow-up that does not exist.
pub(super) fn unknown_word(span: Span, what: &str, word: Option<&str>, known: &[&str]) -> Diagnostic {
    let given = word.map_or_else(|| "this".to_owned(), shown);
    let refused = Diagnostic::stops("E0554", span, format!("{given} is not a {what}"));
    refused.with_help(format!("it is one of {}", known.join(", ")))
}

/// A share of the memory that is not one.
pub(super) fn bad_percentage(span: Span) -> Diagnostic {
    Diagnostic::stops("E0555", span, "capacity_used must be a whole number of percent from 0 to 100")
        .with_help("write 50% or 50")
}

/// An amount that is not a whole number within bounds.
pub(super) fn bad_amount(span: Span, what: &str, least: u64, most: u64) -> Diagnostic {
    Diagnostic::stops("E0556", span, format!("{what} must be a whole number from {least} to {most}"))
}

/// The second of two with one name.
pub(super) fn twice(span: Span, what: &str, name: &str) -> Diagnostic {
    Diagnostic::stops("E0557", span, format!("the {what} {} is there twice", shown(name)))
}

/// An affinity entry that names different functions as a tag and as a function.
pub(super) fn ambiguous(span: Span, name: &str) -> Diagnostic {
    let message = format!("{} is a tag and also the name of a function that is not the only one with it", shown(name));
    Diagnostic::stops("E0558", span, message)
        .with_help("rename the function or the tag, so that the entry means one of them")
}

/// An affinity entry that is not a string.
pub(super) fn bad_entry(span: Span) -> Diagnostic {
    Diagnostic::stops("E0559", span, "an affinity entry must be the name of a tag or a function, with or without !")
        .with_help("quote it: in YAML, !name without quotes is something else")
}

/// A tag that does not say what happens when no worker is valid.
pub(super) fn followup_assumed(span: Span, tag: &str, followup: &str) -> Diagnostic {
    let message = format!("the tag {} has no followup; it is read as {followup}", shown(tag));
    Diagnostic::stops("W0561", span, message)
        .with_effect(Effect::Notes)
        .with_help("FunLess reads fail, forks of OpenWhisk read default; --followup says which is meant")
}

/// A source document that makes no sense.
pub(super) fn bad_source(span: Span, why: &str) -> Diagnostic {
    Diagnostic::stops("E0541", span, why.to_owned())
}

/// Objects that are not what the source document becomes.
pub(super) fn changed(span: Span, what: &str) -> Diagnostic {
    let message =
        format!("the objects are not the encoding of this document ({what}), so nothing is said in its words");
    Diagnostic::stops("W0542", span, message).with_effect(Effect::Notes)
}
