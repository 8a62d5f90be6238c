//! Node classes: what is decided once for all nodes that can be exchanged.
//!
//! The checker verifies symmetries; this folder proposes them (`proposal.rs`) and decides what holds for whole orbits (`uniform.rs`).

mod proposal;
mod uniform;

pub use proposal::{exchanges, symmetry};
pub use uniform::{Found, Uniform};
