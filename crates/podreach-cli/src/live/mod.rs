//! Live clusters: the objects that matter, read from the API server as pages of JSON, and handed on as any other source.
//!
//! Reading only lists, never watches or changes; there is no second path from objects to verdicts. What was read is described in a first
//! document of kind Snapshot: the release of the server, and what its reader may not see. With that, a file of the same texts means
//! the same as the cluster did.

#[cfg(feature = "live")]
pub(crate) mod connection;
pub(crate) mod custom;
#[cfg(feature = "live")]
pub(crate) mod failure;
#[cfg(feature = "live")]
pub(crate) mod flags;
pub(crate) mod header;
#[cfg(feature = "live")]
mod page;
#[cfg(feature = "live")]
mod reading;
pub(crate) mod resource;
mod unseen;

#[cfg(feature = "live")]
pub(crate) use flags::Flags;
#[cfg(feature = "live")]
pub(crate) use reading::{gather, read};

use podreach::lower::Kind;

/// Stands in for the flags of live clusters where they cannot be read.
#[cfg(not(feature = "live"))]
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Flags {
    /// Where names without a namespace are looked up
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

impl Flags {
    /// The name of a pod as it is looked up: one without a namespace is of the namespace that was given.
    pub(crate) fn qualified(&self, name: &str) -> String {
        let Some(namespace) = &self.namespace else { return name.to_owned() };
        match name.split_once('/') {
            None => format!("{namespace}/{name}"),
            Some((kind, rest)) if !rest.contains('/') && Kind::called(kind).is_some() => {
                format!("{kind}/{namespace}/{rest}")
            }
            Some(_) => name.to_owned(),
        }
    }
}
