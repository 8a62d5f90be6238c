//! Evidence.

mod class_trace;
mod reduction;
mod shortening;
mod trace;

#[cfg(test)]
pub use class_trace::trace as class_trace;
pub use reduction::reduced;
pub use trace::TraceBuilder;
