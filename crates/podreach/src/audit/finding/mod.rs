//! Findings: what is wrong with a cluster by itself, found without being asked.
//!
//! One file per finding, each with its code, its severity, why it matters and what to do about it; `docs/findings.md` is made of the
//! same words. A finding that claims that something can or cannot be reached stands on checked verdicts. One that the input leaves in
//! doubt is not made: silence is better than a false alarm.

mod scene;
mod schedule;

use podreach_core::Semantics;

use super::item::{Item, Severity};
use crate::engine::Budget;
use crate::lower::Lowered;
use scene::Scene;

/// What is known about a finding before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its code, which never changes its meaning.
    pub code: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// Why it matters.
    pub explanation: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

/// A finding and what looks for it.
type Search = fn(&mut Scene<'_>) -> Vec<Item>;

/// The searches, in the order of their codes.
const SEARCHES: &[Search] = &[schedule::items];

/// Every finding, in the order of the codes.
pub const ALL: &[Finding] = &[schedule::NEVER, schedule::DEPENDENT, schedule::NOT_RESTARTABLE];

/// The finding of a code.
pub fn find(code: &str) -> Option<&'static Finding> {
    ALL.iter().find(|finding| finding.code == code)
}

/// How many times `done` is told of a finished part.
pub fn parts() -> usize {
    SEARCHES.len()
}

/// Looks for every finding; `done` hears of each finished part.
pub fn items(lowered: &Lowered, semantics: Semantics, budget: &Budget<'_>, done: &dyn Fn()) -> Vec<Item> {
    let mut scene = Scene::new(lowered, semantics, *budget);
    let search = |search: &Search| {
        let items = search(&mut scene);
        done();
        items
    };
    SEARCHES.iter().flat_map(search).collect()
}
