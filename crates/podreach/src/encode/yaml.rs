//! JSON values as YAML that people like to read: short things on one line, long ones in blocks.

use serde_json::Value;

use crate::yaml::string;

/// The widest line that is still written in one piece.
const WIDTH: usize = 100;

/// A stream of documents.
pub(super) fn documents(values: &[Value]) -> String {
    let mut out = String::new();
    for value in values {
        out.push_str("---\n");
        block(value, 0, &mut out);
    }
    out
}

/// A value in block notation, each line indented.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                pad(indent, out);
                out.push_str(&string(key));
                out.push(':');
                item(value, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for value in items {
                pad(indent, out);
                out.push('-');
                item(value, indent, out);
            }
        }
        plain => {
            pad(indent, out);
            out.push_str(&flow(plain));
            out.push('\n');
        }
    }
}

/// What stands after a key or a dash: on the same line if it fits, otherwise below.
fn item(value: &Value, indent: usize, out: &mut String) {
    let line = flow(value);
    let nested = matches!(value, Value::Object(entries) if !entries.is_empty())
        || matches!(value, Value::Array(items) if !items.is_empty());
    if !nested || indent + line.len() < WIDTH {
        out.push(' ');
        out.push_str(&line);
        out.push('\n');
        return;
    }
    out.push('\n');
    block(value, indent + 2, out);
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", string(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => string(text),
        other => other.to_string(),
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_things_stay_on_their_line() {
        let value = json!({"kind": "Node", "metadata": {"name": "a", "labels": {"yes": "1"}}, "empty": []});
        let text = documents(&[value]);
        assert_eq!(text, "---\nkind: Node\nmetadata: {name: a, labels: {\"yes\": \"1\"}}\nempty: []\n");
    }

    #[test]
    fn whatever_is_written_is_read_back() {
        let long = "x".repeat(120);
        let strings = [
            "",
            "no",
            "1",
            "1.5",
            "a: b",
            "#",
            "~",
            "ä\u{85}\u{7}\n\"\\",
            "- a",
            "2001-01-01",
            &long,
            "a,b",
            "=",
            "<<",
            "𝄞",
        ];
        let text = documents(&[json!({"strings": strings, "deep": {"a": [{"b": [[1, true, null], {}]}, long]}})]);
        let (read, problems) = crate::read::documents(crate::read::SourceId(0), &text);
        assert!(problems.is_empty(), "{problems:?} in {text}");
        let back = read[0].field("strings").unwrap().seq().unwrap();
        assert!(back.iter().zip(strings).all(|(tree, string)| tree.str() == Some(string)), "{text}");
    }
}
