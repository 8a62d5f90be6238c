//! What earlier runs found to hold a rule up, kept under a number made of everything that it depends on.
//!
//! A core is taken from memory as it is. Each escape is asked for again, so that it comes with a run; if one does not escape, nothing
//! that was kept is taken.

use serde_json::json;

use crate::audit::item::{Boundary, Escape};
use crate::audit::memory::{Cache, Means};
use crate::engine::fingerprint;

/// A place in memory for what holds one rule up.
pub(crate) struct Recall<'m> {
    memory: &'m dyn Cache,
    question: String,
}

impl<'m> Recall<'m> {
    /// The place for what depends on these words and nothing else.
    pub(crate) fn new(memory: &'m dyn Cache, words: &str) -> Self {
        let question = json!(["boundary", fingerprint(words)]).to_string();
        Self { memory, question }
    }

    /// What is kept there, with each escape asked for `again`; or else what is `found` now.
    pub(crate) fn or_else(
        &self,
        again: impl Fn(&str) -> Option<Escape>,
        found: impl FnOnce() -> Boundary,
        means: Means<'_>,
    ) -> Boundary {
        let kept = self.memory.get(&self.question).and_then(|text| self.read(&text));
        let known = kept.and_then(|(core, escapes, left_out)| {
            let escapes = escapes.iter().map(|edit| again(edit)).collect::<Option<Vec<_>>>()?;
            Some(Boundary { core, escapes, left_out })
        });
        known.unwrap_or_else(|| {
            let boundary = found();
            // What was cut short is not the whole of it.
            if (means.budget.interrupt)().is_none() {
                let Boundary { core, escapes, left_out } = &boundary;
                let escapes: Vec<&str> = escapes.iter().map(|escape| escape.edit.as_str()).collect();
                self.memory.put(&self.question, &json!([self.question, core, escapes, left_out]).to_string());
            }
            boundary
        })
    }

    /// What was kept, if it was kept for this question.
    fn read(&self, text: &str) -> Option<Kept> {
        let (question, core, escapes, left_out): (String, _, _, _) = serde_json::from_str(text).ok()?;
        (question == self.question).then_some((core, escapes, left_out))
    }
}

/// A core, edits that escape, and what was left out.
type Kept = (Vec<String>, Vec<String>, Option<String>);
