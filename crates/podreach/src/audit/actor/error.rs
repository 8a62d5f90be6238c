//! Why an actor cannot be read, or cannot be part of a cluster.

use std::fmt;

use crate::read::shown;

/// How actors are written.
const FORMS: &str = "as-is, tenant=NAMESPACE, tenant-no-tolerations=NAMESPACE or node-compromise=NODE";

/// What is wrong with an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActorError {
    /// There is no actor of this kind.
    Kind(String),
    /// `as-is` was given an argument.
    Argument,
    /// An actor of this kind needs a namespace.
    NeedsNamespace(String),
    /// `node-compromise` needs a node.
    NeedsNode,
    /// This is not the name of a namespace, for this reason.
    Namespace(String, &'static str),
    /// The input has nothing in this namespace.
    UnknownNamespace(String),
    /// The input has no such node.
    UnknownNode(String),
}

impl fmt::Display for ActorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "there is no actor {}; use {FORMS}", shown(kind)),
            Self::Argument => write!(f, "the actor as-is takes no argument"),
            Self::NeedsNamespace(kind) => write!(f, "the actor {kind} needs a namespace: {kind}=NAMESPACE"),
            Self::NeedsNode => write!(f, "the actor node-compromise needs a node: node-compromise=NODE"),
            Self::Namespace(name, why) => write!(f, "{} is not a namespace: {why}", shown(name)),
            Self::UnknownNamespace(name) => write!(f, "the input has nothing in namespace {name}, the actor's"),
            Self::UnknownNode(name) => write!(f, "there is no node {name}, the actor's"),
        }
    }
}

impl std::error::Error for ActorError {}
