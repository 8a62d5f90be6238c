//! The custom resources of a live cluster: the same is said about them as about those in a file.

use podreach::diagnostic::Diagnostic;
use podreach::lower::{self, Custom, Does};

/// What there is to say about custom resources that a cluster has.
pub(crate) fn remark(version: &str, kind: &str) -> Option<Diagnostic> {
    lower::remark(&Custom { version, kind, does: does(version, kind), seen: true, span: None })
}

/// What is done with custom resources.
pub(crate) fn does(version: &str, kind: &str) -> Does {
    let group = version.split_once('/').map_or("", |(group, _)| group);
    lower::does(group, kind)
}
