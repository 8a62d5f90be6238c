//! What can be wrong with an input, or with a question.

use std::fmt;

use podreach_core::Flaw;
use podreach_core::verdict::Reason;

use crate::audit::ChangeError;
use crate::diagnostic::{Diagnostic, Effect};
use crate::question::{GoalError, NameError};
use crate::read::Sources;
use crate::report::ResolveError;
use crate::report::export::Unwritten;

/// An input that cannot be used, with every remark about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct InputError {
    /// The texts, to show places in them.
    pub sources: Sources,
    /// The remarks; at least one of them stops.
    pub diagnostics: Vec<Diagnostic>,
}

impl InputError {
    pub(super) fn new(sources: Sources, diagnostics: Vec<Diagnostic>) -> Self {
        Self { sources, diagnostics }
    }
}

impl fmt::Display for InputError {
    /// One line for each remark that stops: its place, its code and what it says.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops = self.diagnostics.iter().filter(|diagnostic| diagnostic.effect == Effect::Stops);
        for (at, diagnostic) in stops.enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            if let Some(place) = diagnostic.span.and_then(|span| self.sources.place(span)) {
                write!(f, "{}:{}:{}: ", place.name, place.line, place.column)?;
            }
            write!(f, "{}: {}", diagnostic.code, diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// A question that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// A name stands for nothing, or for more than one thing.
    Name(NameError),
    /// A goal makes no sense.
    Goal(GoalError),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Goal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AskError {}

impl From<NameError> for AskError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<GoalError> for AskError {
    fn from(error: GoalError) -> Self {
        Self::Goal(error)
    }
}

/// Why a certificate does not prove what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its changes cannot be made to the input.
    Changes(ChangeError),
    /// Something in it has no counterpart in the cluster.
    Names(ResolveError),
    /// A shortage follows from a proof, and it has none.
    NoProof,
    /// The checker refuses its evidence.
    Evidence {
        /// What is wrong with it.
        flaw: Flaw,
        /// The same in the names of the cluster.
        words: String,
    },
    /// What is proved about the model does not hold for the input.
    Doubt(Reason),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changes(error) => error.fmt(f),
            Self::Names(error) => error.fmt(f),
            Self::NoProof => write!(f, "a shortage follows from a proof, and there is none"),
            Self::Evidence { words, .. } => f.write_str(words),
            Self::Doubt(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<ChangeError> for Refusal {
    fn from(error: ChangeError) -> Self {
        Self::Changes(error)
    }
}

impl From<ResolveError> for Refusal {
    fn from(error: ResolveError) -> Self {
        Self::Names(error)
    }
}

/// Why a certificate cannot be written as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportError {
    /// It is about a cluster that it does not describe.
    NotDescribed,
    /// It does not fit the input.
    Refused(Box<Refusal>),
    /// The proved checker has no words for it.
    Unwritten(Unwritten),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDescribed => write!(f, "it does not say how its cluster is made"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unwritten(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for ExportError {}

impl<E: Into<Refusal>> From<E> for ExportError {
    fn from(error: E) -> Self {
        Self::Refused(Box::new(error.into()))
    }
}
