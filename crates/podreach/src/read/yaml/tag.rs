//! Explicit tags: those of JSON's own types are honoured, every other one is refused.

use std::borrow::Cow;

use granit_parser::Tag;

use super::scalar::{Resolved, resolved};
use crate::read::errors::{self, Refused};
use crate::read::{Span, Value};

/// The value of a scalar with a tag, which applies even to a quoted one.
pub(super) fn tagged<'a>(text: Cow<'a, str>, tag: &Tag, span: Span) -> Result<Value<'a>, Refused> {
    let name = core(tag, span)?;
    if name == "str" {
        return Ok(Value::String(text));
    }
    // What it stands on is not repeated: it may be a secret.
    let misfit = errors::misfit_tag(span, name, "the value that it stands on");
    let Resolved::Value(value) = resolved(text) else { return Err(misfit) };
    if fits(name, &value) { Ok(value) } else { Err(misfit) }
}

/// Refuses a tag on a list or mapping unless it is `wanted`, the tag such a value has anyway.
pub(super) fn of_collection(tag: &Tag, wanted: &str, span: Span) -> Result<(), Refused> {
    let found = if wanted == "seq" { "a list" } else { "a mapping" };
    let name = core(tag, span)?;
    if name == wanted { Ok(()) } else { Err(errors::misfit_tag(span, name, found)) }
}

/// Tags of YAML itself that JSON has no type for.
const OTHERS: [&str; 7] = ["binary", "merge", "omap", "pairs", "set", "timestamp", "value"];

/// The name of a tag; another one is not repeated unless it is YAML's own: a value that begins with `!` is a tag, and may be a secret.
fn core(tag: &Tag, span: Span) -> Result<&str, Refused> {
    tag.core_suffix().ok_or_else(|| {
        let other = OTHERS.into_iter().find(|name| tag.original().strip_prefix("!!") == Some(name));
        errors::unknown_tag(span, other)
    })
}

fn fits(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "bool",
        Value::Int(_) => name == "int" || name == "float",
        Value::Float(_) => name == "float",
        Value::String(_) | Value::Seq(_) | Value::Map(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::read::yaml::testing::*;

    #[test]
    fn tags_of_json_types_are_honoured() {
        let text =
            "[!!str 1, !!str, !!int '7', !!int 010, !!float 1, !!bool 'yes', !!null '', !!map {a: 1}, !!seq [1]]";
        assert_eq!(json(&one(text)), r#"["1","",7,8,1,true,null,{"a":1},[1]]"#);
        assert_eq!(json(&one("!!str n: 1\n!<tag:yaml.org,2002:str> 2: 3\n")), r#"{"n":1,"2":3}"#);
    }

    #[test]
    fn other_tags_are_refused_where_they_stand() {
        for text in [
            "a: !!binary YQ==",
            "a: !foo b",
            "a: !!python/object/apply:os.system [id]",
            "a: !!set {b}",
            "a: !!timestamp 1",
        ] {
            let (documents, diagnostics) = read(text);
            assert_eq!((documents.len(), diagnostics[0].code), (0, "E0116"), "{text}");
            assert_eq!(diagnostics[0].span.unwrap().start, 3);
        }
        assert_eq!(codes("a: !undeclared!x b"), ["E0107"]);
    }

    #[test]
    fn tags_must_fit_their_values() {
        for text in [
            "!!int abc",
            "!!int 1.5",
            "!!bool 1",
            "!!null x",
            "!!float .inf",
            "!!str [1]",
            "!!seq {a: 1}",
            "!!map [1]",
            "!!map x",
        ] {
            assert_eq!(codes(text), ["E0117"], "{text}");
        }
    }
}
