//! Why a certificate does not fit a cluster.

use std::fmt;

use crate::question::GoalError;
use crate::read::shown;

/// What about a certificate has no counterpart in a cluster.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// The input has no such thing of that name.
    NotInInput {
        /// What it should be: `pod`, `node`, `resource`, `quota` or `limit`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// This pod type is the same while it is being deleted.
    NoShadow(String),
    /// No pod of this type waits for a node.
    NoneWaits(String),
    /// Its proof does not allow for something that the input leaves in doubt, in words.
    DoesNotAllow(String),
    /// Its proof allows for something that the input does not leave in doubt.
    OtherCluster(String),
    /// It claims nothing, for this reason.
    ClaimsNothing(String),
    /// A step names what it is not about.
    Step,
    /// Its goal makes no sense.
    Goal(GoalError),
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInInput { what, name } => {
                write!(f, "it names a {what} {} that is not in the input", shown(name))
            }
            Self::NoShadow(name) => {
                write!(f, "it names {} while it is being deleted, which makes no difference", shown(name))
            }
            Self::NoneWaits(name) => {
                write!(f, "it names {} without a node, and no such pod waits for one", shown(name))
            }
            Self::DoesNotAllow(sentence) => write!(f, "its proof does not allow for this: {sentence}"),
            Self::OtherCluster(name) => write!(f, "its proof is about another cluster, with {}", shown(name)),
            Self::ClaimsNothing(reason) => write!(f, "it claims nothing: {}", shown(reason)),
            Self::Step => write!(f, "a step names what it is not about"),
            Self::Goal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ResolveError {}

impl From<GoalError> for ResolveError {
    fn from(error: GoalError) -> Self {
        Self::Goal(error)
    }
}
