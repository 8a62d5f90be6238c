//! The trusted core of podreach: what a cluster is, what a step is, and what counts as evidence.
//!
//! A verdict is right if this crate is right. It depends on `std` alone, so that it can see no engine, no parser and no clock.
//! Read it in this order: [`step`], [`rule`], [`check`].

mod bit_row;
pub mod cancel;
pub mod change;
pub mod check;
pub mod cluster;
pub mod configuration;
pub mod demand;
pub mod elastic;
pub mod equivalence;
pub mod goal;
pub mod guard;
pub mod helper;
pub mod id;
pub mod intern;
pub mod label;
mod matches;
pub mod model;
mod node_term;
pub mod obstacle;
pub mod quotient;
pub mod random;
pub mod register;
mod repelling;
pub mod resource;
pub mod roster;
pub mod rule;
mod rule_name;
pub mod running;
mod selected;
pub mod selector;
mod shadow;
pub mod starting;
mod static_tables;
pub mod step;
pub mod storage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
mod unbound;
pub mod verdict;
pub mod weakening;

pub use check::shortage::{Short, short};
pub use check::symmetry::{Everywhere, Exchange, Orbits, Symmetry, is_symmetry};
pub use check::{Checked, Checker, Flaw, check};
pub use cluster::Cluster;
pub use configuration::{Atom, Configuration};
pub use demand::Demand;
pub use goal::Goal;
pub use id::{Id, NodeId, PodId};
pub use model::{Model, Semantics};
pub use quotient::{Quotient, Settling, View};
pub use register::Register;
pub use running::{Changing, Running};
pub use step::{Action, Asked, Illegal, Problem};
pub use trace::Trace;
pub use verdict::{Learned, Proof, Reason, Verdict};
pub use weakening::Weakening;
