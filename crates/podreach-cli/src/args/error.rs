//! Values of the command line that cannot be read.

use std::fmt;

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentError {
    /// It is not a time.
    Time,
    /// It is not an amount of memory.
    Memory,
    /// It is not a count, or zero.
    Count,
    /// It is not a format with a file.
    Also,
    /// The input cannot be said to have everything of this kind.
    Complete,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "a time looks like 30, 30s, 5m or 1h",
            Self::Memory => "an amount of memory looks like 512Mi or 2Gi",
            Self::Count => "a count is a whole number, at least 1",
            Self::Also => "it looks like json=FILE, with a format that -o has",
            Self::Complete => {
                "use pods, pvc, pv, sc, csinodes, csidrivers, resourceclaims, priorityclasses or serviceaccounts"
            }
        })
    }
}

impl std::error::Error for ArgumentError {}
