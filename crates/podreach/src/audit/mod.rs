//! The audit: do the placement policies hold, and what is wrong with the cluster by itself?
//!
//! Rules of policies and findings nobody asked for come out in one form, the [`Item`], so that every output treats them alike.

pub mod actor;
mod boundary;
mod changed;
mod content;
pub mod finding;
pub mod fnv;
mod item;
pub mod memory;
mod outcome;
pub mod policy;

pub use actor::{Actor, ActorError};
pub use changed::{ChangeError, Changed};
pub use item::{Boundary, Escape, Evidence, Item, Origin, Severity, Status};
pub use outcome::{Entry, Identity, LookedFor, Outcome, Standing};
