//! The remarks about texts: one function, one code and one sentence each.
//!
//! Codes never change their meaning; `docs/diagnostics.md` says what to do about each.

use super::limits::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES, MAX_DEPTH, MAX_ERRORS, MAX_SCALAR_BYTES, MAX_SOURCE_BYTES};
use super::place::line_and_column;
use super::{Span, shown};
use crate::diagnostic::{Diagnostic, Effect};

/// A refusal, boxed because results that carry it are returned for every value read.
pub(super) type Refused = Box<Diagnostic>;

/// The code of a text that is not JSON; such a text may still be YAML.
pub(super) const JSON_SYNTAX: &str = "E0106";

fn refused(code: &'static str, span: Span, message: impl Into<String>) -> Refused {
    Box::new(Diagnostic::stops(code, span, message))
}

/// The source, as given or unpacked, is larger than the limit.
pub(super) fn too_large(name: &str) -> Diagnostic {
    let message = format!("{} is larger than the limit of {} GiB", shown(name), MAX_SOURCE_BYTES >> 30);
    Diagnostic::stops("E0101", None, message).with_help("split it into several files")
}

/// The source starts as gzip does but does not unpack.
pub(super) fn damaged_gzip(name: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::stops("E0102", None, format!("{} is not valid gzip: {error}", shown(name)))
}

/// The source is UTF-16 or UTF-32.
pub(super) fn wide_encoding(name: &str) -> Diagnostic {
    let message = format!("{} is encoded as UTF-16 or UTF-32; only UTF-8 is read", shown(name));
    Diagnostic::stops("E0103", None, message).with_help("convert it first, for example with `iconv -f UTF-16 -t UTF-8`")
}

/// The source is not UTF-8 from this place on.
pub(super) fn not_utf8(name: &str, line: usize, column: usize) -> Diagnostic {
    Diagnostic::stops("E0104", None, format!("{} is not valid UTF-8: line {line}, column {column}", shown(name)))
}

/// A character that YAML forbids unescaped.
pub(super) fn control_character(span: Span, c: char) -> Refused {
    let message = format!("the control character U+{:04X} is not allowed in YAML", u32::from(c));
    Box::new(Diagnostic::stops("E0105", span, message).with_help("write it as an escape in a double-quoted string"))
}

/// The text is not JSON.
pub(super) fn json_syntax(span: Span, message: String) -> Refused {
    refused(JSON_SYNTAX, span, format!("not valid JSON: {message}"))
}

/// The text is not YAML.
pub(super) fn yaml_syntax(span: Span, message: &str) -> Refused {
    refused("E0107", span, format!("not valid YAML: {message}"))
}

/// A tab is where YAML wants spaces.
pub(super) fn tab(span: Span) -> Refused {
    let refused = Diagnostic::stops("E0108", span, "a tab is used as indentation, which YAML forbids");
    Box::new(refused.with_help("indent with spaces"))
}

/// The text is a template that was never rendered.
pub(super) fn template(span: Span) -> Refused {
    let refused = Diagnostic::stops("E0109", span, "this is an unrendered template (`{{`), not a manifest");
    Box::new(refused.with_help("render it first, for example with `helm template`"))
}

/// Lists and mappings nest deeper than the limit.
pub(super) fn too_deep(span: Span) -> Refused {
    refused("E0110", span, format!("nested deeper than the limit of {MAX_DEPTH} levels"))
}

/// A string or number is longer than the limit.
pub(super) fn scalar_too_long(span: Span) -> Refused {
    refused("E0111", span, format!("this value is longer than the limit of {MAX_SCALAR_BYTES} bytes"))
}

/// Anchors and aliases stand for more than the limit.
pub(super) fn aliases_too_large(span: Span) -> Refused {
    let (nodes, mebibytes) = (MAX_ALIAS_NODES, MAX_ALIAS_BYTES >> 20);
    let message = format!("anchors and aliases expand beyond the limit of {nodes} values or {mebibytes} MiB");
    refused("E0112", span, message)
}

/// The same key twice in a mapping; `text` is the source, to say where the first one is.
pub(super) fn duplicate_key(text: &str, key: &str, first: Span, second: Span) -> Refused {
    let (line, column) = line_and_column(text, first.start);
    let message = format!("duplicate key {}: it is already at line {line}, column {column}", shown(key));
    refused("E0113", second, message)
}

/// The second of two equal keys with equal values.
pub(super) fn repeated_key(text: &str, key: &str, first: Span, second: Span) -> Diagnostic {
    let (line, column) = line_and_column(text, first.start);
    let message = format!("the key {} is already at line {line}, column {column}, with the same value", shown(key));
    Diagnostic::stops("W0125", second, message).with_effect(Effect::Notes)
}

/// An alias inside the very value it names.
pub(super) fn alias_cycle(span: Span) -> Refused {
    refused("E0114", span, "this alias is inside the value it names, which would never end")
}

/// An alias without an anchor before it.
pub(super) fn unknown_alias(span: Span) -> Refused {
    refused("E0115", span, "this alias names an anchor that this document does not define before it")
}

/// A tag other than those of JSON's own types.
pub(super) fn unknown_tag(span: Span, known: Option<&str>) -> Refused {
    let tag = known.map_or_else(|| "this tag".to_owned(), |name| format!("the tag !!{name}"));
    let refused = Diagnostic::stops("E0116", span, format!("{tag} is not supported"));
    Box::new(refused.with_help("only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are"))
}

/// A tag that contradicts its value.
pub(super) fn misfit_tag(span: Span, tag: &str, found: &str) -> Refused {
    refused("E0117", span, format!("the tag !!{tag} does not fit {found}"))
}

/// A key that is not a string, or that no string can stand for.
pub(super) fn key_kind(span: Span, kind: &str) -> Refused {
    refused("E0118", span, format!("a key must be a string, not {kind}"))
}

/// A merge of something other than mappings.
pub(super) fn merge_value(span: Span, kind: &str) -> Refused {
    refused("E0119", span, format!("`<<` takes a mapping or a list of mappings, not {kind}"))
}

/// A merge after a key that it also brings.
pub(super) fn merge_conflict(merge: Span, key: &str) -> Refused {
    let message =
        format!("`<<` also brings the key {}, written before it, and YAML readers disagree on which wins", shown(key));
    Box::new(
        Diagnostic::stops("E0120", merge, message)
            .with_help("put `<<` first: then the written key wins for all readers"),
    )
}

/// Infinity or not-a-number.
pub(super) fn not_finite(span: Span, spelling: &str) -> Refused {
    refused("E0121", span, format!("{} is not a number that JSON, and so Kubernetes, can hold", shown(spelling)))
}

/// A `%YAML` directive for another version than kubectl's.
pub(super) fn yaml_version(span: Span) -> Refused {
    let refused =
        Diagnostic::stops("E0122", span, "kubectl reads YAML 1.1 and refuses documents that declare another version");
    Box::new(refused.with_help("remove the %YAML directive"))
}

/// More errors than anyone reads.
pub(super) fn too_many_errors(span: Span) -> Refused {
    refused("E0123", span, format!("{MAX_ERRORS} errors so far; the rest of this source is not read"))
}

/// A spelling that YAML 1.1 and 1.2 read differently.
pub(super) fn version_dependent(span: Span) -> Refused {
    let refused =
        Diagnostic::stops("E0124", span, "YAML 1.1, which kubectl reads, and YAML 1.2 understand this differently");
    Box::new(refused.with_help("put a space after `:` or `?`, or quote the text"))
}
