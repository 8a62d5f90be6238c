//! Verdicts: an answer and its evidence in one value.

use std::fmt;

use crate::configuration::Configuration;
use crate::step::Action;

/// What an engine claims; only [`crate::check::check`] turns it into an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The goal can be reached, by these steps.
    Deployable(Trace),
    /// The goal can never be reached, for this reason.
    Never(Proof),
    /// Not decided, for this reason.
    Unknown(Reason),
}

/// Steps that lead from the start to the goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace(pub Vec<Action>);

/// Groups of pods that can never be present together.
///
/// Together they form an inductive invariant: no configuration on any run contains one of them, because the start does not, and
/// whichever pod of a group came last would have needed a configuration that contained another group already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The forbidden groups, as the least counts that are never reached together.
    pub forbidden: Vec<Configuration>,
}

/// Why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Time ran out.
    Timeout(Learned),
    /// Memory ran out.
    Memory(Learned),
    /// The user interrupted.
    Interrupted(Learned),
    /// The engine does not handle problems of this shape.
    Unsupported(String),
    /// The checker refused the engine's evidence: a bug of ours, never an answer.
    Rejected {
        /// The engine that made the claim.
        engine: String,
        /// What is wrong with its evidence.
        flaw: String,
    },
    /// The answer depends on something in the input that is not modelled.
    Spoiled {
        /// The verdict that would have been given.
        verdict: &'static str,
        /// What spoils it: messages of diagnostics.
        by: Vec<String>,
    },
}

/// What a search that did not finish has ruled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// No run with this many deployments or fewer reaches the goal.
    pub deployments_ruled_out: Option<u64>,
    /// How many configurations or goals were looked at.
    pub explored: u64,
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.deployments_ruled_out {
            Some(1) => write!(f, "no run with a single deployment reaches the goal")?,
            Some(bound) => write!(f, "no run with {bound} deployments or fewer reaches the goal")?,
            None => write!(f, "nothing was ruled out")?,
        }
        write!(f, " ({} looked at)", self.explored)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(learned) => write!(f, "time ran out; {learned}"),
            Self::Memory(learned) => write!(f, "memory ran out; {learned}"),
            Self::Interrupted(learned) => write!(f, "interrupted; {learned}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::Rejected { engine, flaw } => {
                write!(
                    f,
                    "the evidence of engine {engine} was refused by the checker, which is a bug in podreach: {flaw}"
                )
            }
            Self::Spoiled { verdict, by } => {
                write!(f, "it would be {verdict}, but that depends on what is not modelled: {}", by.join("; "))
            }
        }
    }
}
