//! What can be wrong with options that are given as text.

use std::fmt;

use crate::read::shown;

/// A label selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectorError {
    /// Its parentheses do not match.
    Parentheses,
    /// It has an empty part.
    EmptyPart,
    /// Something other than `in` or `notin` is before parentheses.
    Operator,
    /// `<` or `>` comes before something other than a whole number.
    Number,
    /// This is not a label key, for this reason.
    Key(String, &'static str),
    /// This is not a label value, for this reason.
    Value(String, &'static str),
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parentheses => write!(f, "its parentheses do not match"),
            Self::EmptyPart => write!(f, "it has an empty part"),
            Self::Operator => write!(f, "before parentheses it takes `in` or `notin`"),
            Self::Number => write!(f, "`<` and `>` take a whole number"),
            Self::Key(key, why) => write!(f, "its key {} is not a label key: {why}", shown(key)),
            Self::Value(value, why) => write!(f, "its value {} is not a label value: {why}", shown(value)),
        }
    }
}

impl std::error::Error for SelectorError {}

/// A text that does not name a Kubernetes release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseError;

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a Kubernetes release looks like 1.37")
    }
}

impl std::error::Error for ReleaseError {}
