//! What deciding may take, and what earlier runs found out.
//!
//! Two things are remembered: searches (`podreach-engine/src/cache.rs`), and what holds a rule up (`boundary/cache.rs`). Each is found by all that it
//! depends on, so that a run that remembers says the same as one that does not, to the letter.

pub use crate::engine::{Cache, NoCache};

use podreach_core::Goal;

use crate::answer::{Oracle, Sure};
use crate::engine::Budget;

/// What deciding may take, and what earlier runs found out.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Time, memory and threads.
    pub budget: &'a Budget<'a>,
    /// What earlier runs found out.
    pub memory: &'a dyn Cache,
}

impl<'a> Means<'a> {
    /// The budget of a search that may remember.
    pub(crate) fn searching(self) -> Budget<'a> {
        Budget { cache: Some(self.memory), ..*self.budget }
    }
}

/// The answer to a question; what takes no search is tried first.
pub(crate) fn answer(means: Means<'_>, oracle: &mut Oracle, goal: &Goal) -> Sure {
    let budget = means.searching();
    let asked = oracle.problem().asking(goal);
    match oracle.quick_answer(&asked, &budget) {
        Some(decision) => decision,
        None => oracle.answer(&asked, &budget),
    }
}
