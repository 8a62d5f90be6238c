//! Node selectors: what pods, volumes and devices ask of the node they are used on.
//!
//! Kubernetes: `NodeSelectorTerm` of the core API. A list of terms is a disjunction, a term a conjunction.

use crate::id::Symbol;
use crate::selector::Allowed;

/// A node affinity term: all its requirements must hold; without any, it matches no node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeTerm {
    /// Requirements on labels.
    pub expressions: Vec<(Symbol, NodeRequirement)>,
    /// Requirements on the node's name (`matchFields`).
    pub names: Vec<Allowed>,
}

/// What a node affinity expression asks of a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeRequirement {
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`.
    Label(Allowed),
    /// `Gt`: the value is an integer above this one.
    Above(i64),
    /// `Lt`: the value is an integer below this one.
    Below(i64),
}
