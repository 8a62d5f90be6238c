//! Decides whether a goal can be reached, with evidence that `podreach-core` checks.
//!
//! An engine may be clever and wrong: nothing is an answer before the checker accepts its evidence. The crate knows atoms, guards,
//! configurations and steps, and no word of Kubernetes. Start with [`Decider`], or with [`decide()`] for a single goal.
//!
//! Each module uses only modules above it in this list; `tests/direction.rs` holds them to it:
//!
//! | module | what it is |
//! |---|---|
//! | `bits`, `group`, `progress`, `budget` | bit sets, multisets of classes, limits |
//! | `compile` | a problem as a small transition system: relevance, classes, sums, projection of guards |
//! | `plan`, `pursuit` | what engines find, and the interface they share |
//! | `mutex` | h² mutexes: pairs of classes that are never present together |
//! | `lemmas` | forbidden groups by level, in a set-trie |
//! | `symmetry` | automorphisms of the compiled system, canonical states, exchanges of nodes |
//! | `evidence` | plans made into traces, shortening, reduction of proofs |
//! | `relaxed` | delete relaxation, relaxed plans, enforced hill climbing |
//! | `ic3`, `backward`, `forward` | the engines: inductive frames, goal regression, heuristic search |
//! | `portfolio`, `cache` | engines side by side, and the results of earlier searches |
//! | `direct` | fragments that need no search |
//! | `decide` | the order in which all of this is tried |

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
