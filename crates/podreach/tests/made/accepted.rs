//! Texts that are read without a word about YAML, and lowered without an error that stops.

use podreach::lower::{self, Lowered, Options};
use podreach::read::{SourceId, documents};

/// What lowering makes of such a text.
pub(crate) fn lowered(text: &str, options: &Options) -> Lowered {
    let (documents, problems) = documents(SourceId(0), text);
    assert_eq!(problems, []);
    let lowered = lower::cluster(&documents, options);
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    lowered
}
