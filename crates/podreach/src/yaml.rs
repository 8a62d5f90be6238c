//! JSON values as YAML, for `-o yaml`.
//!
//! Strings are quoted unless no reader of YAML 1.1 or 1.2 could take them for anything else.

use serde_json::Value;

/// A value as a YAML document.
pub fn yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(entries) if !entries.is_empty() => block(&mut out, value, 0),
        Value::Array(items) if !items.is_empty() => block(&mut out, value, 0),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(entries) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str(&string(key));
                out.push(':');
                // A list stands at the indentation of its key, as kubectl writes it.
                let deeper = if value.is_array() { indent } else { indent + 2 };
                nested(out, value, deeper);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                if is_flat(item) {
                    out.push_str(&inline(item));
                    out.push('\n');
                } else {
                    block(out, item, indent + 2);
                }
            }
        }
        scalar => out.push_str(&inline(scalar)),
    }
}

fn nested(out: &mut String, value: &Value, indent: usize) {
    if is_flat(value) {
        out.push(' ');
        out.push_str(&inline(value));
        out.push('\n');
    } else {
        out.push('\n');
        out.push_str(&" ".repeat(indent));
        block(out, value, indent);
    }
}

/// Whether a value is written on one line.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(entries) => entries.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        other => other.to_string(),
    }
}

/// A string, in quotes unless it can only be read as one.
pub(crate) fn string(text: &str) -> String {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { quoted(text) }
}

/// As JSON quotes it, with what YAML takes for line ends and marks escaped as well.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_values_read_like_kubectl_writes_them() {
        let value = json!({"a": [{"b": 1, "c": [2, []]}, "x: y"], "no": {"d": null, "e": {}}});
        assert_eq!(yaml(&value), "a:\n- b: 1\n  c:\n  - 2\n  - []\n- \"x: y\"\n\"no\":\n  d: null\n  e: {}\n");
    }
}
