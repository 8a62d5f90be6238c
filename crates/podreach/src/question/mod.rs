//! Questions: what may be asked of a cluster, in documents and on the command line.

mod document;
mod goal;
mod name;

pub use document::{Question, Wanted};
pub use goal::{GoalError, exact, goal, with};
pub use name::{NameError, Unresolved, node, nodes, pod};

pub(crate) use document::read;
