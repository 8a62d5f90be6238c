//! What can be wrong with an input, or with a question.

use std::fmt;

use crate::diagnostic::{Diagnostic, Effect};
use crate::question::{GoalError, NameError};
use crate::read::Sources;

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
