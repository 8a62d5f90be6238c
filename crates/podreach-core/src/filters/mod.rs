//! The rules asked of many pods and nodes at a time.

pub mod obstacle;
pub(crate) mod selected;
pub(crate) mod static_tables;
