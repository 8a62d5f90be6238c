//! Reading a text in one word, for the tests of this directory.

use super::documents;
use crate::diagnostic::Diagnostic;
use crate::read::{SourceId, Tree, Value};

/// What the text is read as.
pub(super) fn read(text: &str) -> (Vec<Tree<'_>>, Vec<Diagnostic>) {
    documents(SourceId(0), text)
}

/// The only document of a text without errors.
pub(super) fn one(text: &str) -> Tree<'_> {
    let (mut documents, diagnostics) = read(text);
    assert_eq!((documents.len(), diagnostics), (1, vec![]), "{text}");
    documents.remove(0)
}

/// The codes of what is wrong with a text.
pub(super) fn codes(text: &str) -> Vec<&'static str> {
    read(text).1.iter().map(|d| d.code).collect()
}

/// The tree as JSON would print it, with keys in their order.
pub(super) fn json(tree: &Tree) -> String {
    match &tree.value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(spelling) => spelling.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Seq(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let entries = entries.iter().map(|entry| format!("{:?}:{}", entry.key, json(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
    }
}
