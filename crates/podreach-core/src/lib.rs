//! The trusted core of podreach: what a cluster is, what a step is, and what counts as evidence.
//!
//! A verdict is right if this crate is right. It depends on `std` alone, so that it can see no engine, no parser and no clock.
//! Read it in this order: [`step`], [`rule`], [`check`].

pub mod check;
mod conditions;
mod evidence;
mod facts;
mod filters;
pub mod quotient;
pub mod register;
pub mod rule;
pub mod running;
mod state;
pub mod step;
mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tools;
mod weakenings;

// Folders only say what belongs together: a module is known by its own name.
pub use conditions::{guard, helper};
pub use evidence::{demand, trace, verdict};
pub use facts::{change, cluster, label, resource, selector, storage};
use facts::{node_term, rule_name};
pub use filters::obstacle;
use filters::selected;
pub use state::{configuration, goal, roster};
pub use tables::{elastic, equivalence, model};
use tables::{matches, repelling, shadow, unbound};
use tools::bit_row;
pub use tools::{cancel, id, intern, random};
pub use weakenings::{starting, weakening};

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
