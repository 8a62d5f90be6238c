//! What earlier runs found to hold a rule up, kept under a number made of everything that it depends on.
//!
//! A core is taken from the cache as it is. Each escape is kept as a change by name, and asked for again, so that it comes with a run; if
//! one does not escape, nothing that was kept is taken.

use serde_json::{Value, json};

use crate::audit::item::{Boundary, Escape};
use crate::audit::memory::{Cache, Means};
use crate::engine::fingerprint;

/// A place in the cache for what holds one rule up.
pub(crate) struct Entry<'m> {
    cache: &'m dyn Cache,
    question: String,
}

impl<'m> Entry<'m> {
    /// The place for what depends on these words and nothing else.
    pub(crate) fn new(cache: &'m dyn Cache, words: &str) -> Self {
        let question = json!(["boundary", fingerprint(words)]).to_string();
        Self { cache, question }
    }

    /// What is kept there, with each escape asked for `again`; or else what is `found` now.
    pub(crate) fn or_else(
        &self,
        again: impl Fn(&Value) -> Option<Escape>,
        found: impl FnOnce() -> Boundary,
        means: Means<'_>,
    ) -> Boundary {
        let kept = self.cache.get(&self.question).and_then(|text| self.read(&text));
        let known = kept.and_then(|(core, escapes, left_out)| {
            let escapes = escapes.iter().map(&again).collect::<Option<Vec<_>>>()?;
            Some(Boundary { core, escapes, left_out })
        });
        known.unwrap_or_else(|| {
            let boundary = found();
            // What was cut short is not the whole of it.
            if (means.budget.interrupt)().is_none() {
                let Boundary { core, escapes, left_out } = &boundary;
                let escapes: Vec<&Value> = escapes.iter().map(|escape| &escape.change).collect();
                self.cache.put(&self.question, &json!([self.question, core, escapes, left_out]).to_string());
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

/// A core, changes that escape, and what was left out.
type Kept = (Vec<String>, Vec<Value>, Option<String>);
