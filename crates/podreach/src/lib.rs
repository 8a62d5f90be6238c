//! podreach as a library: can this pod ever land on that node?
//!
//! ```
//! use podreach::Analysis;
//!
//! let cluster = Analysis::from_yaml("
//! {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
//! ---
//! {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
//! ")?;
//! let answer = cluster.ask("default/web", "n1")?.decide();
//! assert!(answer.to_string().starts_with("DEPLOYABLE  pod/default/web can run on n1"));
//! assert!(cluster.verify(&answer.certificate())?.iter().all(|verified| verified.is_proved()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Start with [`Analysis`]. `examples/` has a program for each use: to ask, to audit in a test, to verify, and to bring input from
//! elsewhere. The modules below are the stages that a question passes, in order: [`read`], [`lower`], [`question`], [`engine`],
//! [`answer`], [`report`]; ARCHITECTURE.md leads through them.

mod analysis;
pub mod answer;
mod arriving;
pub mod assumption;
pub mod audit;
pub mod diagnostic;
pub mod encode;
mod history;
pub mod lower;
pub mod matrix;
pub mod question;
pub mod read;
pub mod report;
pub mod sandbox;
mod words;
mod yaml;

pub use encode::source::of_sources as source;
pub use lower::{lowered, problem};
pub use podreach_engine as engine;
pub use podreach_engine::symmetry;

pub use analysis::{Analysis, Answer, AskError, Audit, ExportError, InputError, Onlooker, Question, Refusal, Verified};
