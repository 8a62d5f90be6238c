//! A case: command lines about an input, each with what is right about it.

/// One command line and what is right about it.
#[derive(Clone, Copy)]
pub struct Run {
    /// The arguments; `> FILE` at the end keeps what is printed in a file `$T/FILE`.
    pub line: &'static str,
    pub exits: &'static [i32],
    /// An exit status of 0 or 1 is also accepted if one of these is said.
    pub or_says: &'static [&'static str],
    pub says: &'static [&'static str],
    pub silent_about: &'static [&'static str],
    /// Rules of policies, each with the statuses that are accepted.
    pub rules: &'static [(&'static str, &'static [&'static str])],
    /// Findings with a subject that must be reported.
    pub found: &'static [(&'static str, &'static str)],
    /// Findings that must not be reported.
    pub absent: &'static [&'static str],
}

pub const fn run(line: &'static str, exits: &'static [i32]) -> Run {
    Run { line, exits, or_says: &[], says: &[], silent_about: &[], rules: &[], found: &[], absent: &[] }
}

impl Run {
    pub const fn or_says(self, words: &'static [&'static str]) -> Self {
        Self { or_says: words, ..self }
    }

    pub const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }

    pub const fn silent_about(self, words: &'static [&'static str]) -> Self {
        Self { silent_about: words, ..self }
    }

    pub const fn rules(self, rules: &'static [(&'static str, &'static [&'static str])]) -> Self {
        Self { rules, ..self }
    }

    pub const fn found(self, found: &'static [(&'static str, &'static str)]) -> Self {
        Self { found, ..self }
    }

    pub const fn absent(self, absent: &'static [&'static str]) -> Self {
        Self { absent, ..self }
    }
}

/// A case: its name, its folder within `seams/`, and its command lines.
pub type Case = (&'static str, &'static str, &'static [Run]);

pub const DEPLOYABLE: &[i32] = &[0];
pub const NEVER: &[i32] = &[1];
pub const UNKNOWN: &[i32] = &[3];
pub const NOT_NEVER: &[i32] = &[0, 3];
pub const NOT_DEPLOYABLE: &[i32] = &[1, 3];
/// For audits: rules and findings are looked at instead.
pub const ANY: &[i32] = &[0, 1, 3];
pub const HOLDS: &[&str] = &["holds"];
pub const VIOLATED: &[&str] = &["violated"];
pub const NOT_HOLDS: &[&str] = &["violated", "undecided"];
pub const NOT_VIOLATED: &[&str] = &["holds", "undecided"];
