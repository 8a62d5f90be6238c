//! Goals: upward-closed sets of configurations.

use crate::configuration::{Atom, Configuration};

/// What is asked for: a configuration that is at least one of these.
///
/// One pod on one node is one alternative with one atom; several pods at the same time are one alternative with several atoms; any
/// node of a set is one alternative per node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// The alternatives; one suffices.
    pub any: Vec<Configuration>,
}

impl Goal {
    /// One instance of a pod type on a node.
    pub fn atom(atom: Atom) -> Self {
        Self::all([(atom, 1)].into_iter().collect())
    }

    /// Everything in `configuration` at the same time.
    pub fn all(configuration: Configuration) -> Self {
        Self { any: vec![configuration] }
    }
}
