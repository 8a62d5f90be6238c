//! Why the server has no answer to a request that it understands, or cannot read one.

use std::fmt;

use podreach::engine::Stop;
use podreach::question::{GoalError, NameError};
use podreach::read::shown;
use podreach::sandbox::EditError;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Refused {
    /// The request cannot be read.
    Order(OrderError),
    /// A change in the sandbox makes no sense.
    Edit(EditError),
    /// A name stands for nothing, or for more than one thing.
    Name(NameError),
    /// The goal makes no sense.
    Goal(GoalError),
    /// It does not say this.
    Lacks(&'static str),
    /// A run of so many steps is too long to draw.
    TooLong(usize),
    /// A file is too large for the page; this command makes it, if there is one.
    TooLarge(Option<String>),
    /// There is no such file of this answer.
    NoFile(String),
    /// The work was stopped before there was anything to show.
    Stopped(Stop),
    /// The work panicked.
    Bug,
    /// There is no thread for the work.
    NoThread,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(error) => error.fmt(f),
            Self::Edit(error) => error.fmt(f),
            Self::Name(error) => error.fmt(f),
            Self::Goal(error) => error.fmt(f),
            Self::Lacks(what) => write!(f, "a question needs a {what}"),
            Self::TooLong(steps) => write!(f, "a run of {steps} steps is too long to draw"),
            Self::TooLarge(None) => write!(f, "this file is too large for the page; this makes it"),
            Self::TooLarge(Some(command)) => {
                write!(f, "this file is too large for the page; this makes it: {command}")
            }
            Self::NoFile(name) => write!(f, "there is no {} of this answer", shown(name)),
            Self::Stopped(stop) => write!(f, "it was stopped before there was anything to show: {stop}"),
            Self::Bug => write!(f, "this failed inside, which is a bug in podreach"),
            Self::NoThread => write!(f, "there is no thread for this now: try again later"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<OrderError> for Refused {
    fn from(error: OrderError) -> Self {
        Self::Order(error)
    }
}

impl From<EditError> for Refused {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

impl From<NameError> for Refused {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<GoalError> for Refused {
    fn from(error: GoalError) -> Self {
        Self::Goal(error)
    }
}

/// Why a request cannot be read.
#[derive(Debug)]
pub(super) enum OrderError {
    /// Its body is not JSON.
    Json(serde_json::Error),
    /// Something is of another kind than it should be: what it is, and what it should be.
    Kind(String, &'static str),
    /// There are more changes than this.
    TooMany(usize),
    /// A change lacks this.
    Lacks(String),
    /// There is no such change.
    Change(String),
    /// There is no such effect of a taint.
    Effect(String),
    /// There is no such key.
    Key(String),
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "the body is not JSON: {error}"),
            Self::Kind(what, kind) => write!(f, "{what} is not {kind}"),
            Self::TooMany(most) => write!(f, "there are more than {most} changes"),
            Self::Lacks(key) => write!(f, "a change lacks its {key}"),
            Self::Change(op) => write!(f, "there is no change {}", shown(op)),
            Self::Effect(effect) => write!(f, "there is no effect {}", shown(effect)),
            Self::Key(key) => write!(f, "there is nothing called {}", shown(key)),
        }
    }
}

impl std::error::Error for OrderError {}
