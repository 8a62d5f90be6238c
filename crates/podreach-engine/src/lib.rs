//! Engines: the ways to decide a problem, and the order in which they are tried.

mod backward;
mod bits;
mod budget;
mod cache;
mod compile;
mod decide;
mod direct;
mod evidence;
mod forward;
mod group;
mod ic3;
mod lemmas;
mod mutex;
mod plan;
mod portfolio;
mod progress;
mod pursuit;
mod relaxed;
pub mod symmetry;

pub use budget::{Budget, Cache, NoCache, Stop};
pub use cache::fingerprint;
pub use decide::{Decider, Decision, Uniform, UniformAnswer, decide};
pub use progress::{Progress, Seen};
pub use pursuit::{Effort, Engine};
