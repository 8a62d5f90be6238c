//! Symmetry.

mod automorphism;
mod canonical;
mod proposal;

pub(crate) use automorphism::{Automorphism, automorphisms, closed};
pub(crate) use canonical::Canonical;
pub use proposal::{exchanges, symmetry};
