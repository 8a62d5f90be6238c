//! Questions: what may be asked of a cluster, in documents and on the command line.

mod goal;
mod name;
mod replicas;

pub use goal::{Beside, GoalError, exact, goal, with};
pub use name::{NameError, Named, Unresolved, named, node, nodes, pod};
pub use replicas::{asking, types};

pub use crate::lower::question::{Question, Wanted};
pub(crate) use replicas::choices;
