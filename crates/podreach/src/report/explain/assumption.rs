//! What verdicts assume, in a line, in full, and as a document.

use serde_json::{Value, json};

use crate::assumption::Assumption;
use crate::words;

/// The assumptions for a person: by name in a sentence, or each in full.
pub(crate) fn lines<'a>(assumptions: impl Iterator<Item = &'a Assumption>, all: bool) -> Vec<String> {
    let assumptions: Vec<&Assumption> = assumptions.collect();
    if assumptions.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    if all {
        lines.push("Assumed:".to_owned());
        lines.extend(
            assumptions
                .iter()
                .flat_map(|a| words::wrapped(&format!("{} {}: {}", a.topic.code(), a.topic.name(), a.text), 2)),
        );
    } else {
        let briefs: Vec<String> = assumptions.iter().map(|a| format!("{} {}", a.topic.code(), a.brief)).collect();
        lines.extend(words::wrapped(&format!("Assumed: {}", briefs.join(", ")), 0));
    }
    lines
}

/// The assumptions by themselves, for a person.
pub fn assumed(assumptions: &[Assumption], all: bool) -> String {
    lines(assumptions.iter(), all).join("\n")
}

/// The assumptions as documents carry them.
pub(crate) fn json<'a>(assumptions: impl Iterator<Item = &'a Assumption>) -> Value {
    assumptions.map(|a| json!({"code": a.topic.code(), "text": a.text, "about": [a.topic.name()]})).collect()
}
