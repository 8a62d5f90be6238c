//! PlacementPolicy documents: rules, the property that each states, and the pods and nodes it is about.

mod document;
mod selection;

use crate::read::Span;

pub(crate) use document::document;
pub use document::{duplicates, read};
pub use selection::{NodeSelection, PodSelection};

/// A `PlacementPolicy` document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Its rules, in the order of the document.
    pub rules: Vec<Rule>,
    /// Where it is.
    pub span: Span,
}

/// One rule of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which no other rule of the policy has.
    pub name: String,
    /// What it says.
    pub property: Property,
    /// Why it is there, in the words of whoever wrote it.
    pub description: Option<String>,
    /// How bad it is if it is broken.
    pub severity: Severity,
    /// Whether its selections may match nothing.
    pub allow_empty: bool,
    /// Where it is.
    pub span: Span,
}

/// What a rule says.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// None of these pods can ever run on any of these nodes.
    Never {
        /// The pods.
        pods: PodSelection,
        /// The nodes.
        nodes: NodeSelection,
    },
    /// No two pods, one of each selection, can ever run on one node, or on two nodes that share a value of the key.
    NeverTogether {
        /// The two selections.
        pods: [PodSelection; 2],
        /// The topology key.
        key: String,
    },
    /// So many instances of each of these workloads can run at the same time.
    Possible {
        /// The workloads.
        pods: PodSelection,
        /// How many instances of each.
        count: u64,
        /// The topology key in which no two of them may share a value.
        spread_over: Option<String>,
        /// The nodes they may use.
        nodes: NodeSelection,
    },
    /// All of these workloads can be brought up together from an empty cluster.
    Recoverable {
        /// The workloads.
        pods: PodSelection,
    },
}

/// How bad a violated item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Likely a mistake.
    Warning,
    /// Broken.
    Error,
}
