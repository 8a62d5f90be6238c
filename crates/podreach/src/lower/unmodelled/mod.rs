//! What the input has and the model does not: which verdicts that puts in doubt, and the remarks about it.

pub(crate) mod cause;
pub(crate) mod hidden;
pub(crate) mod spoiling;
