//! aAPP policies of serverless platforms as clusters: Reach and CoOccur become deployability.
//!
//! aAPP (De Palma, Giallorenzo, Mauro, Trentin, Zavattaro; arXiv 2407.14572) places invocations of functions on workers by affinity and
//! anti-affinity between functions. *Reach* asks whether a function can ever start on a worker, *CoOccur* whether functions can ever run on one worker
//! together (arXiv 2407.14159: linear without affinity and with anti-affinity alone, PSPACE-complete with both).
//!
//! A worker is a node, a running invocation is a pod, an end is a deletion. Affinity is directional and each entry has its own witness,
//! so this is right under `paper` semantics only. What policies and clusters do differently is in [`pods`]: thresholds that belong to blocks
//! and not to nodes, and no exception for the first of its kind. Why the order of candidates changes no answer is in [`schedule`].

mod decode;
mod document;
mod invariant;
mod pods;
mod policy;
mod read;
mod schedule;
mod words;

pub(crate) use document::KIND;
pub(super) use document::query;
pub use invariant::Group;
pub use pods::Encoding;
pub use policy::{Block, Entry, Followup, Function, Goal, Policy, Priorities, Query, Strategy, Tag, Worker};
pub use read::{Read, read, read_sources};
pub use schedule::{Event, Running};
pub(super) use words::decoded;
pub(crate) use words::{event_json, group_json};
