//! The delete relaxation: planning as if no upper bound existed, so that a pod stays once it is there.
//!
//! `planner.rs` makes relaxed plans; `following.rs` follows them on the real system; `hill_climbing.rs` uses their length as a
//! heuristic. After Hoffmann and Nebel, *The FF Planning System: Fast Plan Generation Through Heuristic Search* (JAIR 14, 2001). All of it
//! is incomplete: it finds plans that need few deletions.

mod following;
mod hill_climbing;
mod planner;

pub use following::PlanFollower;
pub use hill_climbing::HillClimbing;
