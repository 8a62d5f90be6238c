//! What is wrong with the changes of a document.

use std::fmt;

use crate::read::shown;

/// Why changes cannot be made to the input, or why evidence about what they make says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no such kind of change.
    Kind(String),
    /// It lacks this, or has something else there.
    Lacks(String),
    /// An amount is not a number.
    Amount,
    /// It is not written as podreach writes it.
    Form(String),
    /// It names a namespace that is not in the input.
    Namespace,
    /// It names a quota that is not in the input.
    Quota,
    /// It changes a pod that does not exist.
    Pod(String),
    /// It changes a node that does not exist.
    Node(String),
    /// It adds a pod that exists.
    Exists(String),
    /// A change comes after pods were deleted.
    AfterDeletion,
    /// The evidence is about a part of a cluster, and is not a run.
    Part,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "there is no change {}", shown(kind)),
            Self::Lacks(key) => write!(f, "a change lacks {key}, or has no such thing there"),
            Self::Amount => write!(f, "an amount of a change is not a number"),
            Self::Form(change) => {
                write!(f, "it has a change that is not written as podreach writes it: {}", shown(change))
            }
            Self::Namespace => write!(f, "it names a namespace that is not in the input"),
            Self::Quota => write!(f, "it names a quota that is not in the input"),
            Self::Pod(name) => write!(f, "it changes a pod {} that is not there", shown(name)),
            Self::Node(name) => write!(f, "it changes a node {} that is not there", shown(name)),
            Self::Exists(name) => write!(f, "it adds a pod {} that is there already", shown(name)),
            Self::AfterDeletion => write!(f, "it changes a cluster after pods were deleted"),
            Self::Part => write!(f, "it is about a part of a cluster, of which only a run says something"),
        }
    }
}

impl std::error::Error for ChangeError {}
