//! Compile.

mod classes;
mod deletions;
mod projection;
mod reachability;
mod slice;
mod sums;
mod system;

pub use deletions::{Deletion, next_deletion};
pub use slice::slice;
pub use sums::{State, Sum, SumDistinct, SumGuard};
pub use system::{Rule, System};
