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
pub(crate) mod header;
pub(crate) mod list;
#[cfg(feature = "live")]
mod page;
#[cfg(feature = "live")]
mod reading;
pub(crate) mod resource;
mod unseen;

#[cfg(feature = "live")]
pub(crate) use reading::{gather, read};
