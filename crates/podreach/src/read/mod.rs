//! Text to objects: YAML streams, JSON, gzip. Never fails; returns what it could read and what it could not.
//!
//! ```text
//! bytes ─ source ─> text ─┬─ json ─┬─> Tree, one per document
//!                         └─ yaml ─┘
//! ```
//!
//! Both notations end in the same [`Tree`], with values as kubectl sees them after it has converted YAML to JSON, so nothing after
//! this stage knows which one was used.

mod duplicate;
mod errors;
mod json;
pub mod limits;
mod piece;
mod place;
mod shown;
mod source;
mod sources;
mod template;
mod tree;
mod yaml;

pub use piece::Piece;
pub use shown::{shown, shown_path};
pub use source::Source;
pub use sources::{Place, Sources};
pub use tree::{Entry, Tree, Value};

use crate::diagnostic::Diagnostic;
pub use crate::diagnostic::{SourceId, Span};

/// The documents of a text, YAML or JSON, without empty ones; a broken document becomes a diagnostic and the others are still read.
///
/// A text that starts with `{` or `[` is read as JSON, and as YAML if it turns out not to be JSON.
pub fn documents(source: SourceId, text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
    if !looks_like_json(text) {
        return yaml::documents(source, text);
    }
    match json::documents(source, text) {
        (documents, None, notes) => (documents, notes),
        (documents, Some(refused), _) if refused.code != errors::JSON_SYNTAX => (documents, vec![*refused]),
        (documents, Some(refused), _) => json_or_yaml(source, text, documents, *refused),
    }
}

/// The documents of a text that must be JSON; those after a broken one are not read, since JSON has no mark to resume at.
pub fn documents_of_json(source: SourceId, text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
    let (documents, refused, notes) = json::documents(source, text);
    (documents, refused.into_iter().map(|refused| *refused).chain(notes).collect())
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Reads as YAML what is not JSON. If it is not YAML either, a text that was meant as JSON gets the error JSON has for it.
fn json_or_yaml<'a>(
    source: SourceId,
    text: &'a str,
    documents: Vec<Tree<'a>>,
    refused: Diagnostic,
) -> (Vec<Tree<'a>>, Vec<Diagnostic>) {
    let yaml = yaml::documents(source, text);
    let failed = yaml.0.is_empty() && !yaml.1.is_empty();
    if failed && meant_as_json(text) { (documents, vec![refused]) } else { yaml }
}

/// Whether a text that starts with a bracket goes on as JSON usually does.
fn meant_as_json(text: &str) -> bool {
    text.trim_start()
        .get(1..)
        .is_some_and(|rest| rest.trim_start().starts_with(['"', '{', '[', '}', ']']) && !rest.starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (usize, Vec<&'static str>) {
        let (documents, diagnostics) = documents(SourceId(0), text);
        (documents.len(), diagnostics.iter().map(|d| d.code).collect())
    }

    #[test]
    fn json_may_be_followed_by_yaml() {
        assert_eq!(read("{\"a\": 1}\n---\nb: 2\n"), (2, vec![]));
        assert_eq!(read("{\"a\": 1} # one\n"), (1, vec![]));
    }

    #[test]
    fn a_flow_mapping_is_yaml() {
        assert_eq!(read("{a: 1, b: [x]}"), (1, vec![]));
    }

    #[test]
    fn broken_json_gets_the_error_of_json() {
        assert_eq!(read("{\"a\": 1,\n \"b\" 2}"), (0, vec!["E0106"]));
        assert_eq!(read("{\"a\": {\"b\": 2}"), (0, vec!["E0106"]));
    }

    #[test]
    fn broken_yaml_gets_the_error_of_yaml() {
        assert_eq!(read("{a: 1, b: [x}"), (0, vec!["E0107"]));
        assert_eq!(read("{{ .Values.all }}\n"), (0, vec!["E0109"]));
    }

    #[test]
    fn a_limit_met_in_json_is_not_tried_as_yaml() {
        assert_eq!(read(&"[".repeat(50_000)), (0, vec!["E0110"]));
        assert_eq!(read("{\"a\":1,\"a\":2}"), (0, vec!["E0113"]));
    }

    #[test]
    fn an_empty_text_has_no_documents() {
        assert_eq!(read(""), (0, vec![]));
        assert_eq!(read(" \n# nothing\n"), (0, vec![]));
    }
}
