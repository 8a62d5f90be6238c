//! Why evidence about an encoded question makes no sense in its source.

use std::fmt;

use podreach_core::verdict::Reason;

/// What is wrong with decoded evidence: a bug, or evidence about other objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// A pod has no part in the source.
    NoPart {
        /// The pod.
        pod: String,
        /// What the source is: a net, a game or a policy.
        source: &'static str,
    },
    /// A firing is not enabled: its number from one, and its transition.
    NotEnabled(usize, String),
    /// The firings do not reach the goal.
    FiringsMissGoal,
    /// The moves are not a legal game that reaches the target.
    IllegalGame,
    /// An event is not possible: its number from one, and why.
    Event(usize, EventError),
    /// The events do not reach the goal.
    EventsMissGoal,
    /// There is no verdict, for this reason.
    Undecided(Reason),
}

/// Why an event of an aAPP policy is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventError {
    /// The policy does not choose the worker.
    NotChosen,
    /// The function does not run there.
    NotRunning,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPart { pod, source } => write!(f, "{pod} has no part in the {source}"),
            Self::NotEnabled(number, transition) => {
                write!(f, "firing {number} ({transition}) is not enabled in the net")
            }
            Self::FiringsMissGoal => write!(f, "the firings do not reach the goal in the net"),
            Self::IllegalGame => write!(f, "the moves are not a legal game that reaches the target"),
            Self::Event(number, why) => write!(f, "event {number} is not possible: {why}"),
            Self::EventsMissGoal => write!(f, "the events do not reach the goal"),
            Self::Undecided(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotChosen => write!(f, "the worker is not chosen"),
            Self::NotRunning => write!(f, "the function does not run there"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl std::error::Error for EventError {}
