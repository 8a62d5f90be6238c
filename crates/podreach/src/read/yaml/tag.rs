//! Explicit tags: those of JSON's own types are honoured, every other one is refused.

use std::borrow::Cow;

use granit_parser::Tag;

use super::scalar::{Resolved, resolved};
use crate::read::problem::{self, Refused};
use crate::read::{Span, Value};

/// The value of a scalar with a tag, which applies even to a quoted one.
pub(super) fn tagged<'a>(text: Cow<'a, str>, tag: &Tag, span: Span) -> Result<Value<'a>, Refused> {
    let name = core(tag, span)?;
    if name == "str" {
        return Ok(Value::String(text));
    }
    let misfit = problem::misfit_tag(span, name, &crate::read::shown(&text));
    let Resolved::Value(value) = resolved(text) else { return Err(misfit) };
    if fits(name, &value) { Ok(value) } else { Err(misfit) }
}

/// Refuses a tag on a list or mapping unless it is `wanted`, the tag such a value has anyway.
pub(super) fn of_collection(tag: &Tag, wanted: &str, span: Span) -> Result<(), Refused> {
    let found = if wanted == "seq" { "a list" } else { "a mapping" };
    let name = core(tag, span)?;
    if name == wanted { Ok(()) } else { Err(problem::misfit_tag(span, name, found)) }
}

fn core(tag: &Tag, span: Span) -> Result<&str, Refused> {
    tag.core_suffix().ok_or_else(|| problem::unknown_tag(span, &tag.original()))
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
