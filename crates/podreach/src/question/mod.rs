//! Questions: what may be asked of a cluster, in documents and on the command line.

mod document;
mod goal;
mod name;

pub use document::{Question, Wanted};
pub use goal::{Beside, GoalError, exact, goal, with};
pub use name::{NameError, Named, Unresolved, named, node, nodes, pod};

pub(crate) use document::read;
