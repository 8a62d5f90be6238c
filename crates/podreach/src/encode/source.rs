//! The source of an encoding, as a document beside the objects: a `PetriNet`, a `PebblingGame` or an `AappPolicy`.
//!
//! ```yaml
//! apiVersion: podreach.dev/v1alpha1
//! kind: PetriNet
//! metadata: {name: mutex}
//! spec:
//!   semantics: paper
//!   goal: [both]
//!   places: [{id: idle, tokens: 1}, {id: busy}]
//!   transitions: [{id: enter, pre: [idle], post: [busy]}]
//! ```
//! It lets an answer be given in the source's own words. The pods' names follow from it, so nothing else needs to be remembered.

use std::collections::BTreeMap;

use podreach_core::Semantics;
use serde_json::{Map, Value, json};

use super::explore::{Safety, safety};
use super::graph::Graph;
use super::name::names;
use super::net::{Net, Place, Transition};
use super::object::API_VERSION;
use super::pebbling::Game;
use super::petri::Encoding;
use super::{Encoded, aapp, errors};
use crate::diagnostic::Diagnostic;
use crate::read::{Sources, Span, Tree, Value as Read};

/// The kinds of documents that hold a source; whoever reads clusters passes over them.
pub const KINDS: [&str; 3] = ["PetriNet", "PebblingGame", aapp::KIND];

/// How many firings are tried to find out whether the net of a document is 1-safe.
const SAFETY_EFFORT: usize = 200_000;

/// What an encoding was made from.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A net and the places that are to be marked together.
    Net {
        /// The net.
        net: Net,
        /// The goal, by index.
        goal: Vec<usize>,
        /// The semantics of the encoding.
        semantics: Semantics,
    },
    /// A pebble game.
    Game(Game),
    /// A question about an aAPP policy.
    Policy(Box<aapp::Query>),
}

impl Source {
    /// The encoding, made again.
    pub fn encoded(&self) -> Encoded {
        match self {
            Self::Net { net, goal, semantics } => Encoding::new(net, goal, *semantics).encoded(),
            Self::Game(game) => game.encoded(),
            Self::Policy(query) => aapp::Encoding::new(query).encoded(),
        }
    }
}

/// The document of a net and its goal.
pub(super) fn net_document(net: &Net, goal: &[usize], semantics: Semantics) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "PetriNet", "metadata": {"name": document_name(&net.name, "net")},
        "spec": {
            "title": net.name,
            "semantics": semantics.name(),
            "goal": ids(net, &mut goal.iter().copied()),
            "places": net.places.iter().map(place_json).collect::<Vec<_>>(),
            "transitions": net.transitions.iter().map(|transition| transition_json(net, transition)).collect::<Vec<_>>(),
        },
    })
}

fn transition_json(net: &Net, transition: &Transition) -> Value {
    let mut entry = identified(&transition.id, &transition.name);
    entry.insert("pre".into(), ids(net, &mut transition.pre.keys().copied()).into());
    entry.insert("post".into(), ids(net, &mut transition.post.keys().copied()).into());
    Value::from(entry)
}

fn place_json(place: &Place) -> Value {
    let mut entry = identified(&place.id, &place.name);
    if place.tokens > 0 {
        entry.insert("tokens".into(), place.tokens.into());
    }
    Value::from(entry)
}

fn ids(net: &Net, places: &mut dyn Iterator<Item = usize>) -> Vec<Value> {
    places.map(|place| net.places[place].id.clone().into()).collect::<Vec<Value>>()
}

fn identified(id: &str, name: &str) -> Map<String, Value> {
    let mut entry = Map::from_iter([("id".to_owned(), id.into())]);
    if name != id {
        entry.insert("name".into(), name.into());
    }
    entry
}

/// The document of a pebble game.
pub(super) fn game_document(game: &Game) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "PebblingGame", "metadata": {"name": "game"},
        "spec": {
            "target": vertex_name(game, &game.target),
            "pebbles": game.pebbles,
            "vertices": (0..game.graph.vertices.len()).map(|vertex| vertex_json(game, vertex)).collect::<Vec<_>>(),
        },
    })
}

fn vertex_json(game: &Game, vertex: usize) -> Value {
    let mut entry = Map::from_iter([("name".to_owned(), Value::from(vertex_name(game, &vertex)))]);
    let predecessors: Vec<&str> =
        game.graph.predecessors[vertex].iter().map(|vertex| vertex_name(game, vertex)).collect();
    if !predecessors.is_empty() {
        entry.insert("predecessors".into(), predecessors.into());
    }
    Value::from(entry)
}

fn vertex_name<'g>(game: &'g Game, vertex: &usize) -> &'g str {
    game.graph.vertices[*vertex].as_str()
}

fn document_name(title: &str, word: &str) -> String {
    names([title], word).remove(0)
}

/// What the sources say they are an encoding of, if they say so, and what is to be said about that.
pub fn of_sources(sources: &Sources) -> (Option<Source>, Vec<Diagnostic>) {
    if is_mentioned(sources) { find(&sources.all_documents().0) } else { (None, Vec::new()) }
}

/// Whether some text may say that it is an encoding.
pub(crate) fn is_mentioned(sources: &Sources) -> bool {
    let mut texts = sources.ids().filter_map(|id| sources.source(id)).map(|source| &source.text);
    texts.any(|text| KINDS.iter().any(|kind| text.contains(kind)))
}

/// The source among some documents (lists looked into), and what is to be said about it.
///
/// A source whose objects are not its encoding is not trusted, and not returned; nor is a net that is not 1-safe.
pub fn find(documents: &[Tree<'_>]) -> (Option<Source>, Vec<Diagnostic>) {
    let objects: Vec<&Tree<'_>> = documents.iter().flat_map(objects).collect();
    let Some(document) = objects.iter().find(|object| is_source(object)) else { return (None, Vec::new()) };
    let source = match read(document) {
        Ok(source) => source,
        Err(refused) => return (None, vec![refused]),
    };
    let encoded = source.encoded();
    if let Some(what) = difference(&encoded, &objects) {
        return (None, vec![errors::changed(document.span, &what)]);
    }
    let safety = if let Source::Net { net, .. } = &source { safety(net, SAFETY_EFFORT) } else { Safety::Safe };
    match safety {
        Safety::Safe => (Some(source), encoded.notes),
        Safety::Undecided => (Some(source), vec![errors::maybe_unsafe()]),
        Safety::Unsafe { .. } => (None, vec![errors::changed(document.span, "its net is not 1-safe")]),
    }
}

/// A document, or the items of a list.
fn objects<'t, 'a>(document: &'t Tree<'a>) -> Vec<&'t Tree<'a>> {
    match document.field("items").and_then(Tree::seq) {
        Some(items) if text(document, "kind") == Some("List") => items.iter().collect(),
        _ => vec![document],
    }
}

fn is_source(object: &Tree<'_>) -> bool {
    text(object, "apiVersion") == Some(API_VERSION) && text(object, "kind").is_some_and(|kind| KINDS.contains(&kind))
}

fn text<'t>(tree: &'t Tree<'_>, field: &str) -> Option<&'t str> {
    tree.text(field)
}

/// How the objects differ from an encoding; questions do not matter.
fn difference(encoded: &Encoded, objects: &[&Tree<'_>]) -> Option<String> {
    let mut expected: BTreeMap<(&str, &str), &Value> = encoded
        .objects
        .iter()
        .filter_map(|object| Some(((object["kind"].as_str()?, object["metadata"]["name"].as_str()?), object)))
        .filter(|((kind, _), _)| *kind != "Question")
        .collect();
    for object in objects {
        let kind = text(object, "kind").unwrap_or_default();
        if kind == "Question" {
            continue;
        }
        let name = object.field("metadata").and_then(|metadata| text(metadata, "name")).unwrap_or_default();
        match expected.remove(&(kind, name)) {
            None => return Some(format!("{kind} {name} is not part of it")),
            Some(value) if !same(object, value) => return Some(format!("{kind} {name} differs")),
            Some(_) => {}
        }
    }
    expected.keys().next().map(|(kind, name)| format!("{kind} {name} is missing"))
}

/// Whether a tree and a value say the same.
fn same(tree: &Tree<'_>, value: &Value) -> bool {
    match (&tree.value, value) {
        (Read::Map(entries), Value::Object(fields)) => {
            entries.len() == fields.len()
                && entries.iter().all(|e| fields.get(e.key.as_ref()).is_some_and(|field| same(&e.value, field)))
        }
        (Read::Seq(trees), Value::Array(values)) => {
            trees.len() == values.len() && trees.iter().zip(values).all(|(tree, value)| same(tree, value))
        }
        (Read::String(text), Value::String(string)) => text == string,
        (Read::Int(number), Value::Number(other)) => other.as_i128() == Some(*number),
        (Read::Bool(one), Value::Bool(other)) => one == other,
        (Read::Null, Value::Null) => true,
        _ => false,
    }
}

fn read(document: &Tree<'_>) -> Result<Source, Diagnostic> {
    let spec = document.field("spec").ok_or_else(|| errors::bad_source(document.span, "the field spec is missing"))?;
    match text(document, "kind") {
        Some("PetriNet") => read_net(spec),
        Some(aapp::KIND) => Ok(Source::Policy(Box::new(aapp::query(spec)?))),
        _ => read_game(spec),
    }
}

fn read_net(spec: &Tree<'_>) -> Result<Source, Diagnostic> {
    let mut net = Net::new(text(spec, "title").unwrap_or_default());
    for place in list(spec, "places")? {
        let (id, name) = identity(place)?;
        let tokens = place.field("tokens").map_or(Ok(0), number)?;
        if tokens > 1 {
            return Err(errors::bad_source(place.span, "a place of a 1-safe net has at most one token"));
        }
        net.places.push(Place { id, name, tokens });
    }
    let index: BTreeMap<String, usize> = net.places.iter().map(|place| place.id.clone()).zip(0..).collect();
    if index.len() < net.places.len() {
        return Err(errors::bad_source(spec.span, "two places have the same id"));
    }
    let places = |tree: &Tree<'_>, field: &str| -> Result<Vec<usize>, Diagnostic> {
        let places = list(tree, field)?.iter().map(|id| {
            let place = id.str().and_then(|id| index.get(id).copied());
            place.ok_or_else(|| errors::bad_source(id.span, "this is not the id of a place"))
        });
        places.collect()
    };
    for transition in list(spec, "transitions")? {
        let (id, name) = identity(transition)?;
        let (pre, post) = (once(places(transition, "pre")?), once(places(transition, "post")?));
        net.transitions.push(Transition { id, name, pre, post });
    }
    let semantics = [Semantics::Paper, Semantics::KubeScheduler];
    let semantics = semantics.into_iter().find(|semantics| text(spec, "semantics") == Some(semantics.name()));
    let semantics = semantics.ok_or_else(|| errors::bad_source(spec.span, "semantics is paper or kube-scheduler"))?;
    let goal = places(spec, "goal")?;
    if goal.is_empty() {
        return Err(errors::bad_source(spec.span, "a goal needs at least one place"));
    }
    Ok(Source::Net { goal, semantics, net })
}

fn once(places: Vec<usize>) -> BTreeMap<usize, u64> {
    places.into_iter().map(|place| (place, 1)).collect()
}

fn read_game(spec: &Tree<'_>) -> Result<Source, Diagnostic> {
    let mut graph = Graph::default();
    let vertices = list(spec, "vertices")?;
    for vertex in vertices {
        let field = vertex.field("name").ok_or_else(|| errors::bad_source(vertex.span, "a vertex needs a name"))?;
        graph.add_vertex(&name(field, vertex.span)?);
    }
    if graph.vertices.len() < vertices.len() {
        return Err(errors::bad_source(spec.span, "two vertices have the same name"));
    }
    for (to, vertex) in vertices.iter().enumerate() {
        for from in vertex.items("predecessors") {
            let known = graph.vertex(&name(from, from.span)?);
            let from = known.ok_or_else(|| errors::bad_source(from.span, "this is not the name of a vertex"))?;
            graph.add_edge(from, to);
        }
    }
    let target = text(spec, "target").and_then(|target| graph.vertex(target));
    let target = target.ok_or_else(|| errors::bad_source(spec.span, "the target is not a vertex"))?;
    let pebbles = spec.field("pebbles").map_or(Ok(0), number)?;
    Ok(Source::Game(Game { graph: graph.acyclic(Some(spec.span))?, target, pebbles }))
}

fn name(tree: &Tree<'_>, span: Span) -> Result<String, Diagnostic> {
    let name = tree.str().map(str::to_owned);
    name.ok_or_else(|| errors::bad_source(span, "a vertex needs a name"))
}

fn list<'t, 'a>(tree: &'t Tree<'a>, field: &str) -> Result<&'t [Tree<'a>], Diagnostic> {
    let list = tree.field(field).and_then(Tree::seq);
    list.ok_or_else(|| errors::bad_source(tree.span, &format!("the list {field} is missing")))
}

fn identity(tree: &Tree<'_>) -> Result<(String, String), Diagnostic> {
    let id = text(tree, "id").ok_or_else(|| errors::bad_source(tree.span, "an id is missing"))?;
    Ok((id.to_owned(), text(tree, "name").unwrap_or(id).to_owned()))
}

fn number(tree: &Tree<'_>) -> Result<u64, Diagnostic> {
    let number = if let Read::Int(number) = tree.value { u64::try_from(number).ok() } else { None };
    number.ok_or_else(|| errors::bad_source(tree.span, "a natural number is expected here"))
}
