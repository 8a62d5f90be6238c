//! Keys of mappings: resolved like any scalar and then written as a string, because that is what kubectl does on the way to JSON.
//!
//! So `n: x` has the key `false`, and `0x10: x` the key `16`.
//! Source: sigs.k8s.io/yaml, `convertToJSONableObject`.

use std::borrow::Cow;

use crate::read::errors::{self, Refused};
use crate::read::{Span, Tree, Value};

/// The string that a node stands for as a key.
pub(super) fn key(node: Tree<'_>) -> Result<Cow<'_, str>, Refused> {
    match node.value {
        Value::String(text) => Ok(text),
        Value::Bool(value) => Ok(if value { "true" } else { "false" }.into()),
        Value::Int(value) => {
            i64::try_from(value).map(|value| value.to_string().into()).map_err(|_| too_large(node.span))
        }
        Value::Float(spelling) => float(&spelling).map(Cow::Owned).ok_or_else(|| too_large(node.span)),
        Value::Null | Value::Seq(_) | Value::Map(_) => Err(errors::key_kind(node.span, node.kind())),
    }
}

fn too_large(span: Span) -> Refused {
    errors::key_kind(span, "a number this large")
}

/// A float as Go's `FormatFloat(x, 'g', -1, 32)` writes it: the shortest digits of a 32-bit float, with an exponent for powers of
/// ten below -4 or above 5. `None` if it overflows.
fn float(spelling: &str) -> Option<String> {
    let value = spelling.parse::<f64>().ok()? as f32;
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    let plain = (-4..6).contains(&exponent);
    Some(if plain { value.to_string() } else { format!("{digits}e{sign}{:02}", exponent.abs()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::SourceId;
    use crate::read::yaml::testing::*;

    fn of(value: Value<'_>) -> Option<Cow<'_, str>> {
        key(Tree { span: Span { source: SourceId(0), start: 0, end: 0 }, value }).ok()
    }

    #[test]
    fn floats_are_written_as_go_writes_them() {
        let pairs = [("1.5", "1.5"), ("1.10", "1.1"), ("1e3", "1000"), ("1e6", "1e+06"), ("123456.789", "123456.79")];
        let more = [
            ("1234567890.5", "1.234568e+09"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1e21", "1e+21"),
            ("-0.0", "-0"),
        ];
        for (spelling, expected) in pairs.into_iter().chain(more) {
            assert_eq!(of(Value::Float(spelling.into())).as_deref(), Some(expected));
        }
    }

    #[test]
    fn numbers_and_booleans_become_strings() {
        assert_eq!(of(Value::Bool(false)).as_deref(), Some("false"));
        assert_eq!(of(Value::Int(-16)).as_deref(), Some("-16"));
    }

    #[test]
    fn what_kubectl_cannot_write_as_a_key_is_refused() {
        let values =
            [Value::Null, Value::Seq(vec![]), Value::Map(vec![]), Value::Int(1 << 63), Value::Float("1e39".into())];
        values.into_iter().for_each(|value| assert_eq!(of(value.clone()), None, "{value:?}"));
    }

    #[test]
    fn keys_are_resolved_and_then_written_as_strings() {
        assert_eq!(json(&one("{n: 1, 0x10: 2, 1.50: 3, 'y': 4, '': 5}")), r#"{"false":1,"16":2,"1.5":3,"y":4,"":5}"#);
        assert_eq!(json(&one("? a\n: b\n? c\n")), r#"{"a":"b","c":null}"#);
    }

    #[test]
    fn keys_that_are_no_strings_are_refused() {
        for text in ["[a]: x", "{a: 1}: x", "~: x", ": x", "18446744073709551615: x"] {
            assert_eq!(codes(text), ["E0118"], "{text}");
        }
    }
}
