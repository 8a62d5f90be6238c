//! Questions: what may be asked of a cluster, in documents and on the command line.

mod document;
mod goal;
mod name;
mod replicas;

pub use document::{Question, Wanted};
pub use goal::{Beside, GoalError, exact, goal, with};
pub use name::{NameError, Named, Unresolved, named, node, nodes, pod};
pub use replicas::{asking, types};

pub(crate) use document::read;
pub(crate) use replicas::choices;
