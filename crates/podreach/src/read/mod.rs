//! Text to objects: YAML streams, JSON, `kind: List`, gzip. Never fails; returns what it could read and what it could not.

mod tree;

pub use tree::{Entry, SourceId, Span, Tree, Value};
