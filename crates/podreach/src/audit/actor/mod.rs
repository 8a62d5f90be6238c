//! Actors: who could break a rule, and what they may do beyond what the input deploys.
//!
//! An actor turns a cluster into others: with more pod types (a tenant), or one for each way to label a node (a kubelet). A rule holds
//! against an actor if it holds in each of them. What an actor can do besides is looked at in clusters where more is possible than that:
//! a rule that also holds there holds; of one that does not, the item says what it does not hold for.

mod error;
mod kubelet;
mod labels;
mod tenant;

use std::fmt;
use std::str::FromStr;

use podreach_core::Semantics;

use super::policy::world::{Draft, World};
use super::policy::{PodSelection, Property};
use crate::lower::Lowered;
use crate::lower::object::name;

pub use error::ActorError;

/// Who may act on the cluster.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Actor {
    /// The workloads of the input and nobody else.
    #[default]
    AsIs,
    /// Someone who may create any pod in these namespaces.
    Tenant {
        /// The namespaces.
        namespaces: Vec<String>,
        /// Whether the pods may tolerate taints.
        tolerations: bool,
        /// Whether the pods may name their nodes.
        node_names: bool,
    },
    /// A kubelet that says of its node what it likes.
    NodeCompromise {
        /// The node.
        node: String,
    },
}

/// What follows the namespaces of a tenant whose pods may not name their nodes.
const NO_NODE_NAME: &str = "no-node-name";

impl Actor {
    /// Reads an actor: `as-is`, `tenant=NS[,NS…]`, `tenant-no-tolerations=NS[,NS…]`, `node-compromise=NODE`; a space or a colon may
    /// stand for the first `=`. A tenant whose list ends with `no-node-name` cannot name nodes.
    pub fn parse(text: &str) -> Result<Self, ActorError> {
        let (kind, rest) = text.trim().split_once(['=', ':', ' ']).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        match (kind, rest) {
            ("as-is", "") => Ok(Self::AsIs),
            ("as-is", _) => Err(ActorError::Argument),
            ("tenant" | "tenant-no-tolerations", "") => Err(ActorError::NeedsNamespace(kind.to_owned())),
            ("tenant" | "tenant-no-tolerations", _) => {
                let (rest, node_names) = match rest.rsplit_once(',') {
                    Some((rest, last)) if last.trim() == NO_NODE_NAME => (rest, false),
                    _ => (rest, true),
                };
                Ok(Self::Tenant { namespaces: namespaces(rest)?, tolerations: kind == "tenant", node_names })
            }
            ("node-compromise", "") => Err(ActorError::NeedsNode),
            ("node-compromise", _) => Ok(Self::NodeCompromise { node: rest.to_owned() }),
            _ => Err(ActorError::Kind(kind.to_owned())),
        }
    }
}

/// A cluster as an actor can make it.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) world: World,
    /// What the actor did, to end a sentence with.
    pub(crate) how: Option<String>,
    /// The same with less done, if less may do to break a rule.
    pub(crate) simpler: Option<Box<Variant>>,
}

/// Something that an actor can do besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Change the labels of pods that run.
    Relabels,
    /// Create pods that name their node.
    NamesNodes,
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relabels => write!(f, "pods that are relabelled while they run"),
            Self::NamesNodes => write!(f, "pods that name their node"),
        }
    }
}

/// A cluster in which an actor can do some things besides, and perhaps more than that.
#[derive(Clone, Debug)]
pub(crate) struct Beyond {
    pub(crate) powers: Vec<Power>,
    pub(crate) world: World,
}

/// Every cluster that an actor can make, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Variants {
    pub(crate) variants: Vec<Variant>,
    /// How exact they are, as a sentence.
    pub(crate) note: Option<String>,
    /// Why there may be more, if there may: then no rule is said to hold.
    pub(crate) missed: Option<String>,
    /// What else the actor can do; what combines others comes after them.
    pub(crate) beyond: Vec<Beyond>,
}

/// Every cluster that an actor can make of a draft, as far as it matters to a property; the error says why the actor makes no sense here.
pub(crate) fn variants(
    draft: Draft,
    lowered: &Lowered,
    selections: &[&PodSelection],
    semantics: Semantics,
    actor: &Actor,
    property: &Property,
) -> Result<Variants, ActorError> {
    match actor {
        Actor::AsIs => {
            let variants = vec![Variant { world: draft.finish(semantics), how: None, simpler: None }];
            Ok(Variants { variants, note: None, missed: None, beyond: Vec::new() })
        }
        &Actor::Tenant { ref namespaces, tolerations, node_names } => {
            let rights = tenant::Rights { namespaces, tolerations, node_names };
            tenant::variants(draft, lowered, selections, semantics, rights)
        }
        Actor::NodeCompromise { node } => kubelet::variants(draft, semantics, node, property),
    }
}

fn namespaces(list: &str) -> Result<Vec<String>, ActorError> {
    let mut names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
    for own in &names {
        name::label(own).map_err(|why| ActorError::Namespace(own.clone(), why))?;
    }
    names.sort();
    names.dedup();
    Ok(names)
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        Self::parse(text)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsIs => write!(f, "as-is"),
            Self::Tenant { namespaces, tolerations, node_names } => {
                let kind = if *tolerations { "tenant" } else { "tenant-no-tolerations" };
                let names = if *node_names { String::new() } else { format!(",{NO_NODE_NAME}") };
                write!(f, "{kind}={}{names}", namespaces.join(","))
            }
            Self::NodeCompromise { node } => write!(f, "node-compromise={node}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_read_as_they_are_written() {
        for text in [
            "as-is",
            "tenant=a,b",
            "tenant=a,no-node-name",
            "tenant-no-tolerations=shop",
            "node-compromise=edge-1.example",
        ] {
            assert_eq!(Actor::parse(text).map(|actor| actor.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Actor::parse("tenant shop"), Actor::parse("tenant:shop"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "tenant", "tenant=", "tenant=A", "as-is=x", "node-compromise", "root"] {
            assert!(Actor::parse(text).is_err(), "{text}");
        }
    }
}
