//! podreach as a library: from manifests to checked verdicts, in one straight line.

pub mod answer;
pub mod diagnostic;
pub mod engine;
pub mod lower;
pub mod matrix;
pub mod read;
pub mod report;
