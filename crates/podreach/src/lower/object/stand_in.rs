//! Stand-ins: placeholders for label values that only a running cluster assigns, such as the hash of a template.
//!
//! Equal parts share one placeholder, and no label of the input equals it.

use std::collections::HashMap;

/// What waits for a label value that only a cluster can give it, by number.
#[derive(Debug, Default)]
pub(crate) struct StandIns(HashMap<Vec<u8>, usize>);

impl StandIns {
    /// What stands in for a label value that a cluster is yet to give: one for all that is the same, and no other has it.
    pub(crate) fn of(&mut self, part: Vec<u8>) -> String {
        let next = self.0.len() + 1;
        format!("{STAND_IN}{}", self.0.entry(part).or_insert(next))
    }
}

/// What stand-ins start with: no label value does, so that none is taken for one.
const STAND_IN: &str = "*";

/// Whether a label value stands in for one that a cluster is yet to give. Such a value is shown to nobody.
pub(crate) fn is_stand_in(value: &str) -> bool {
    value.starts_with(STAND_IN)
}
