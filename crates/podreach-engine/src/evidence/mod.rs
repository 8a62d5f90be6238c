//! Evidence: makes plans into traces (`trace.rs`, `class_trace.rs`) and shortens them (`shortening.rs`), reduces proofs to the
//! groups that their argument needs (`reduction.rs`), and says many of them as at-most-one constraints (`at_most_one.rs`).
//!
//! Nothing here is trusted: the checker replays traces and re-proves groups.

mod at_most_one;
mod class_trace;
mod needed_pairs;
mod reduction;
mod shortening;
mod trace;
mod undo;

pub use at_most_one::proof;
#[cfg(test)]
pub use class_trace::trace as class_trace;
pub use reduction::reduced;
pub use trace::TraceBuilder;
