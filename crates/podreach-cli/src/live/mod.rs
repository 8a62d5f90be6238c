//! Live clusters: the objects that matter, read from the API server as pages of JSON, and handed on as any other source.
//!
//! Reading only lists, never watches or changes; there is no second path from objects to verdicts. What was read is told in a first
//! document of kind Snapshot: the release of the server, and what its reader may not see. With that, a file of the same texts means
//! the same as the cluster did.

#[cfg(feature = "live")]
pub(crate) mod connection;
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
        match &self.namespace {
            Some(namespace) if !name.contains('/') => format!("{namespace}/{name}"),
            _ => name.to_owned(),
        }
    }
}
