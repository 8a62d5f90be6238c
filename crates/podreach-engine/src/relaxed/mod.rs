//! Relaxed.

mod following;
mod hill_climbing;
mod planner;

pub use following::PlanFollower;
pub use hill_climbing::HillClimbing;
