//! The schema of the objects: which fields there are, which of them matter to placement, and what is kept of each kind.

pub mod fields;
pub mod shape;
