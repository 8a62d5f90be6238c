//! podreach as a library: from manifests to checked verdicts, in one straight line.

pub mod diagnostic;
pub mod encode;
pub mod engine;
pub mod lower;
pub mod question;
pub mod read;
