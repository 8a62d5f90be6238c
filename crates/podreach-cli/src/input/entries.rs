//! The file of `--exact`: a list of `{pod, node, count}`, or a Question, whose goal it takes.

use std::path::Path;

use podreach::diagnostic::Diagnostic;
use podreach::read::{Source, Sources, Span, Tree, Value};

use crate::gather;
use crate::output::ending::{Reported, refuse};
use crate::output::remark;

/// A pod, a node and how many.
pub(crate) type Entry = (String, String, u64);

/// Reads the entries of a file; what is wrong with it is reported.
pub(crate) fn read(path: &Path) -> Result<Vec<Entry>, Reported> {
    let name = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|error| refuse(&gather::unreadable(path, &error), None))?;
    let mut sources = Sources::default();
    let read = Source::from_bytes(name, bytes).and_then(|source| {
        let id = sources.add(source);
        let (documents, diagnostics) = sources.documents(id);
        match diagnostics.into_iter().next() {
            Some(diagnostic) => Err(diagnostic),
            None => documents.iter().map(entries).collect::<Result<Vec<_>, _>>(),
        }
    });
    read.map(|documents| documents.concat()).map_err(|diagnostic| {
        remark::print(&sources, &[diagnostic], false, false);
        Reported
    })
}

fn entries(document: &Tree<'_>) -> Result<Vec<Entry>, Diagnostic> {
    let goal = document.field("spec").and_then(|spec| spec.field("goal"));
    let is_question = document.text("kind") == Some("Question");
    let items = goal.filter(|_| is_question).unwrap_or(document).seq();
    let items = items.ok_or_else(|| refused(document.span, "a list of {pod, node, count} is expected here"))?;
    items.iter().map(entry).collect()
}

fn entry(tree: &Tree<'_>) -> Result<Entry, Diagnostic> {
    let entries = tree.map().unwrap_or_default();
    let count = match tree.field("count").map(|count| &count.value) {
        None => Some(1),
        Some(Value::Int(count)) => u64::try_from(*count).ok().filter(|&count| count > 0),
        Some(_) => None,
    };
    match (text(tree, "pod"), text(tree, "node"), count) {
        (Some(pod), Some(node), Some(count)) if entries.iter().all(|entry| is_known(&entry.key)) => {
            Ok((pod, node, count))
        }
        _ => Err(refused(tree.span, "an entry has a pod, a node and, if it is not one, a count")),
    }
}

fn text(tree: &Tree<'_>, key: &str) -> Option<String> {
    tree.text(key).map(str::to_owned)
}

fn is_known(key: &str) -> bool {
    ["pod", "node", "count"].contains(&key)
}

fn refused(span: Span, message: &str) -> Diagnostic {
    Diagnostic::stops("E0302", span, message)
}
