//! Actors: who could break a rule, and what they may do beyond what the input deploys.
//!
//! An actor turns a cluster into others: with more pod types (a tenant), or one for each way to label a node (a kubelet). A rule holds
//! against an actor if it holds in each of them.

mod kubelet;
mod tenant;

use std::fmt;
use std::str::FromStr;

use podreach_core::Semantics;

use super::policy::PodSelection;
use super::policy::world::{Draft, World};
use crate::lower::{Lowered, name};
use crate::read::shown;

/// Whose doing is to be expected.
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
    },
    /// A kubelet that relabels its node.
    NodeCompromise {
        /// The node.
        node: String,
    },
}

/// How actors are written.
const FORMS: &str = "as-is, tenant=NAMESPACE, tenant-no-tolerations=NAMESPACE or node-compromise=NODE";

impl Actor {
    /// Reads an actor: `as-is`, `tenant=NS[,NS…]`, `tenant-no-tolerations=NS[,NS…]`, `node-compromise=NODE`; a space or a colon may
    /// stand for the first `=`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.trim().split_once(['=', ':', ' ']).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        match (kind, rest) {
            ("as-is", "") => Ok(Self::AsIs),
            ("as-is", _) => Err("the actor as-is takes no argument".to_owned()),
            ("tenant" | "tenant-no-tolerations", "") => {
                Err(format!("the actor {kind} needs a namespace: {kind}=NAMESPACE"))
            }
            ("tenant" | "tenant-no-tolerations", _) => {
                Ok(Self::Tenant { namespaces: namespaces(rest)?, tolerations: kind == "tenant" })
            }
            ("node-compromise", "") => Err("the actor node-compromise needs a node: node-compromise=NODE".to_owned()),
            ("node-compromise", _) => Ok(Self::NodeCompromise { node: rest.to_owned() }),
            _ => Err(format!("there is no actor {}; use {FORMS}", shown(kind))),
        }
    }
}

/// A cluster as an actor can make it.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) world: World,
    /// What the actor did, to end a sentence with.
    pub(crate) how: Option<String>,
}

/// Every cluster that an actor can make, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Variants {
    pub(crate) variants: Vec<Variant>,
    /// How exact they are, as a sentence.
    pub(crate) note: Option<String>,
    /// Why there may be more, if there may: then no rule is said to hold.
    pub(crate) missed: Option<String>,
}

/// Every cluster that an actor can make of a draft; the error says why the actor makes no sense here. `plain` is a rule of single pods
/// that must never be somewhere.
pub(crate) fn variants(
    draft: Draft,
    lowered: &Lowered,
    selections: &[&PodSelection],
    semantics: Semantics,
    actor: &Actor,
    plain: bool,
) -> Result<Variants, String> {
    match actor {
        Actor::AsIs => {
            let variants = vec![Variant { world: draft.finish(semantics), how: None }];
            Ok(Variants { variants, note: None, missed: None })
        }
        Actor::Tenant { namespaces, tolerations } => {
            tenant::variants(draft, lowered, selections, semantics, namespaces, *tolerations)
        }
        Actor::NodeCompromise { node } => kubelet::variants(draft.finish(semantics), node, plain),
    }
}

fn namespaces(list: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
    for own in &names {
        name::label(own).map_err(|why| format!("{} is not a namespace: {why}", shown(own)))?;
    }
    names.sort();
    names.dedup();
    Ok(names)
}

impl FromStr for Actor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsIs => write!(f, "as-is"),
            Self::Tenant { namespaces, tolerations: true } => write!(f, "tenant={}", namespaces.join(",")),
            Self::Tenant { namespaces, tolerations: false } => {
                write!(f, "tenant-no-tolerations={}", namespaces.join(","))
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
        for text in ["as-is", "tenant=a,b", "tenant-no-tolerations=shop", "node-compromise=edge-1.example"] {
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
