//! What no step changes: nodes, pods, and the words in which they ask for each other.

pub mod change;
pub mod cluster;
pub mod label;
pub(crate) mod node_term;
pub mod resource;
pub(crate) mod rule_name;
pub mod selector;
pub mod storage;
