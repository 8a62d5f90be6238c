//! Merge keys: `<<: *defaults` stands for the entries of another mapping, or of several.
//!
//! A key written after `<<` wins over the merged one, and the first of several merged mappings wins over the others. A key written
//! before `<<` wins according to YAML but loses in kubectl, so such a text is refused instead of guessed at.

use std::collections::HashSet;

use crate::read::errors::{self, Refused};
use crate::read::{Entry, Span, Tree, Value};

/// The value of one `<<`.
pub(super) struct Merge<'a> {
    /// Where `<<` stands.
    pub(super) span: Span,
    /// How many entries were written before it.
    pub(super) after: usize,
    /// What it merges.
    pub(super) value: Tree<'a>,
}

/// Appends what `<<` brings to the written entries.
pub(super) fn apply<'a>(entries: &mut Vec<Entry<'a>>, merge: Merge<'a>) -> Result<(), Refused> {
    let before: HashSet<String> = keys(&entries[..merge.after]);
    let mut present: HashSet<String> = keys(entries);
    for entry in mappings(merge.value)?.into_iter().flatten() {
        if before.contains(entry.key.as_ref()) {
            return Err(errors::merge_conflict(merge.span, &entry.key));
        }
        if present.insert(entry.key.to_string()) {
            entries.push(entry);
        }
    }
    Ok(())
}

fn keys(entries: &[Entry]) -> HashSet<String> {
    entries.iter().map(|entry| entry.key.to_string()).collect()
}

/// The entries of the merged mapping, or of each in a list of them.
fn mappings(tree: Tree<'_>) -> Result<Vec<Vec<Entry<'_>>>, Refused> {
    match tree.value {
        Value::Seq(items) => items.into_iter().map(mapping).collect(),
        _ => mapping(tree).map(|entries| vec![entries]),
    }
}

fn mapping(tree: Tree<'_>) -> Result<Vec<Entry<'_>>, Refused> {
    let kind = tree.kind();
    if let Value::Map(entries) = tree.value { Ok(entries) } else { Err(errors::merge_value(tree.span, kind)) }
}

#[cfg(test)]
mod tests {
    use crate::read::yaml::testing::*;

    #[test]
    fn merged_entries_yield_to_keys_written_after() {
        assert_eq!(json(&one("<<: {a: 1, b: 2}\nb: 3\n")), r#"{"b":3,"a":1}"#);
        assert_eq!(json(&one("<<: [{a: 1}, {a: 2, b: 3}]\nc: 4\n")), r#"{"c":4,"a":1,"b":3}"#);
        assert_eq!(json(&one("x: &x {a: 1}\nz: {<<: {<<: *x}, b: 2}\n")), r#"{"x":{"a":1},"z":{"b":2,"a":1}}"#);
        assert_eq!(json(&one("c: 1\n<<: {a: 2}\n")), r#"{"c":1,"a":2}"#);
    }

    #[test]
    fn a_merge_over_a_key_written_before_is_ambiguous() {
        assert_eq!(codes("a: 1\n<<: {a: 2}\n"), ["E0120"]);
    }

    #[test]
    fn only_a_plain_merge_key_merges() {
        assert_eq!(json(&one("'<<': {a: 1}\n")), r#"{"<<":{"a":1}}"#);
        assert_eq!(json(&one("!!str <<: {a: 1}\nb: <<\n")), r#"{"<<":{"a":1},"b":"<<"}"#);
        assert_eq!(json(&one("[<<, <<]")), r#"["<<","<<"]"#);
    }

    #[test]
    fn a_merge_of_anything_else_is_refused() {
        for text in ["<<: 3", "<<: ~", "<<: [1]", "<<: [{a: 1}, [b]]"] {
            assert_eq!(codes(text), ["E0119"], "{text}");
        }
        assert_eq!(codes("<<: {a: 1}\n<<: {b: 1}\n"), ["E0113"]);
    }
}
