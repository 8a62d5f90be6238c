//! How commands end, and why one that cannot go on does.

use super::print;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Yes.
    Yes = 0,
    /// No.
    No = 1,
    /// Not decided.
    Unknown = 3,
    /// The input or the command line cannot be used.
    Bad = 2,
}

/// An ending that was reported to the user already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// Tells why nothing can be done.
pub(crate) fn refuse(message: &str, help: Option<&str>) -> Reported {
    print::usage(message, help);
    Reported
}
