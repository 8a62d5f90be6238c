//! Targets that read a format: documents, nets, graphs, requests.

use podreach::encode::{self, Encoded, petri, pnml};
use podreach::lower::Options;
use podreach::read::{Source, SourceId, Sources, Tree, Value};
use podreach_core::Semantics;

use crate::world;

/// Sources with one text; `None` if it is none.
pub fn sources(name: &str, bytes: &[u8]) -> Option<Sources> {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes(name, bytes.to_vec()).ok()?);
    Some(sources)
}

/// YAML is read, every remark has a place, and every value lies within the text.
pub fn yaml(bytes: &[u8]) {
    let Some(sources) = sources("a.yaml", bytes) else { return };
    for id in sources.ids() {
        let (documents, remarks) = sources.documents(id);
        remarks.iter().filter_map(|remark| remark.span).for_each(|span| _ = sources.place(span));
        documents.iter().for_each(|tree| within(&sources, id, tree));
    }
}

fn within(sources: &Sources, id: SourceId, tree: &Tree<'_>) {
    let text = sources.source(id).map_or(0, |source| source.text.len());
    assert!(tree.span.start <= tree.span.end && tree.span.end as usize <= text, "{:?} of {text}", tree.span);
    match &tree.value {
        Value::Seq(items) => items.iter().for_each(|item| within(sources, id, item)),
        Value::Map(entries) => entries.iter().for_each(|entry| within(sources, id, &entry.value)),
        _ => {}
    }
}

/// JSON is read as another reader of JSON reads it, and lowered piece by piece as it is as a whole.
pub fn json(bytes: &[u8]) {
    let Some(sources) = sources("a.json", bytes) else { return };
    let text = sources.ids().filter_map(|id| sources.source(id)).map(|source| source.text.clone()).collect::<String>();
    let (documents, remarks) = podreach::read::documents_of_json(SourceId(0), &text);
    if let ([document], true) = (&documents[..], remarks.is_empty()) {
        if let Ok(other) = serde_json::from_str::<serde_json::Value>(&text) {
            same(document, &other);
        }
    }
    let options = Options::default();
    let pieces = podreach::lowered(&sources, &options);
    let (read, remarks) = sources.ids().map(|id| sources.documents(id)).next().unwrap_or_default();
    if remarks.is_empty() && !pieces.is_stopped() {
        let whole = podreach::lower::cluster(&read, &options);
        assert_eq!(world::facts(&pieces), world::facts(&whole), "in pieces, and as a whole");
    }
}

/// That a tree says what another reader found.
fn same(tree: &Tree<'_>, other: &serde_json::Value) {
    match (&tree.value, other) {
        (Value::Null, serde_json::Value::Null) => {}
        (Value::Bool(own), serde_json::Value::Bool(other)) => assert_eq!(own, other),
        (Value::String(own), serde_json::Value::String(other)) => assert_eq!(own, other),
        (Value::Int(own), serde_json::Value::Number(number)) => {
            if let Some(other) = number.as_i128() {
                assert_eq!(*own, other);
            }
        }
        (Value::Float(_), serde_json::Value::Number(_)) => {}
        (Value::Seq(own), serde_json::Value::Array(other)) => {
            assert_eq!(own.len(), other.len());
            own.iter().zip(other).for_each(|(own, other)| same(own, other));
        }
        (Value::Map(own), serde_json::Value::Object(other)) => {
            assert_eq!(own.len(), other.len());
            own.iter().zip(other.values()).for_each(|(own, other)| same(&own.value, other));
        }
        (own, other) => panic!("{own:?} is not {other}"),
    }
}

/// A net is read, encoded for each of its first places, and read again as what was encoded; small ones are decided and told.
pub fn pnml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(net) = pnml::read(SourceId(0), text) else { return };
    for place in net.places.iter().take(2) {
        let Ok(encoded) = petri::encode(&net, &[&place.id], Semantics::Paper) else { continue };
        told(&encoded);
    }
}

/// A graph is read and made a game with few pebbles, which is decided and told.
pub fn dot(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(graph) = encode::dot::read(SourceId(0), text) else { return };
    let Some(last) = graph.vertices.last().cloned() else { return };
    for pebbles in [1, 3] {
        if let Ok(game) = encode::pebbling::game(graph.clone(), &last, pebbles) {
            told(&game.encoded());
        }
    }
}

/// What was encoded is a usable question, and its answer makes sense in the source.
fn told(encoded: &Encoded) {
    if encoded.objects.len() > 60 {
        return;
    }
    let sources = sources("a.yaml", encoded.yaml().as_bytes()).expect("a text");
    let (source, remarks) = podreach::source(&sources);
    let source = source.unwrap_or_else(|| panic!("it says what it is: {remarks:?}"));
    let counter = world::Counter::new(2_000);
    let checked = encode::line::checked(encoded, &counter.budget()).expect("an encoding can be asked");
    if let Some(Err(why)) = encode::decode(&source, &checked) {
        panic!("{why}");
    }
}

/// A request is read or refused, never longer than it is allowed to be.
pub fn http(bytes: &[u8]) {
    let Ok(Some((request, length))) = crate::http::head(bytes) else { return };
    assert!(length <= bytes.len());
    let Ok(expected) = crate::http::body_length(&request) else { return };
    assert!(expected <= 1 << 20);
    let fields = ["host", "origin", "authorization", "content-type", "cookie", "content-length"];
    fields.iter().for_each(|field| assert!(request.field(field).is_none() || request.has(field)));
}
