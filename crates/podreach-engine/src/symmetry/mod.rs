//! Symmetry: what can be exchanged without changing anything.
//!
//! Two levels: exchanges of nodes of the whole problem (`proposal.rs`), which the checker verifies and proofs may carry; and permutations
//! of the classes of a compiled system (`automorphism.rs`), which engines use to prune (`canonical.rs`) and to learn more at once.

mod automorphism;
mod canonical;
mod proposal;

pub(crate) use automorphism::{Automorphism, automorphisms, closed};
pub(crate) use canonical::Canonical;
pub use proposal::{exchanges, symmetry};
