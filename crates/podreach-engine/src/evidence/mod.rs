//! Evidence: makes plans into traces (`trace.rs`, `class_trace.rs`) and shortens them (`shortening.rs`), and reduces proofs to the
//! groups that their argument needs (`reduction.rs`), and says many of them as laws (`laws.rs`).
//!
//! Nothing here is trusted: the checker replays traces and re-proves groups.

mod class_trace;
mod laws;
mod needed_pairs;
mod reduction;
mod shortening;
mod trace;
mod undo;

#[cfg(test)]
pub use class_trace::trace as class_trace;
pub use laws::proof;
pub use reduction::reduced;
pub use trace::TraceBuilder;
