//! Actors: who could break a rule, and what they may do beyond what the input deploys.

use std::fmt;
use std::str::FromStr;

use crate::lower::name;
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
