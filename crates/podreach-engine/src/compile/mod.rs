//! Compiles a problem into a [`System`]: the part that matters, with atoms that nothing tells apart merged into classes.
//!
//! In this order: the slice of atoms that can help the goal (`slice.rs`), those of them that are reachable at all (`reachability.rs`),
//! classes (`classes.rs`), and guards over sums of classes (`projection.rs`, `sums.rs`). `deletions.rs` says what a guard wants deleted.

mod classes;
mod deletions;
mod projection;
mod reachability;
mod slice;
mod sums;
mod system;

pub use deletions::{Deletion, next_deletion};
pub use slice::slice;
pub use sums::{State, Sum, SumDistinct, SumDomain, SumGuard};
pub use system::{System, Transition};
