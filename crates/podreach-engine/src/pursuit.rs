//! What engines have in common: they work in portions, and end with a plan or with forbidden groups.

use podreach_core::Learned;

use crate::budget::{Budget, Stop};
use crate::group::Group;
use crate::plan::Plan;

/// What an engine found out about a system.
#[derive(Clone, Debug)]
pub enum Found {
    /// A plan that reaches a goal.
    Reached(Plan),
    /// Groups that are never present together, a goal among them.
    Never(Vec<Group>),
    /// The same, and all of them matter.
    Reduced(Vec<Group>),
    /// Everything was looked at without meeting a goal, which is not a proof that others could check.
    Spent,
    /// Nothing yet.
    Stopped {
        /// Why it stopped.
        stop: Stop,
        /// What was ruled out.
        learned: Learned,
    },
}

/// A decision procedure; each is complete for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Goal regression with least goals only.
    Backward,
    /// Frames of forbidden groups.
    Inductive,
    /// Search over maximal configurations.
    Forward,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Backward, Self::Inductive, Self::Forward];

    /// The engines that a portfolio has by default.
    pub const PORTFOLIO: &'static [Self] = &[Self::Inductive, Self::Forward];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backward => "backward",
            Self::Inductive => "inductive",
            Self::Forward => "forward",
        }
    }

    /// Just this engine.
    pub fn alone(self) -> &'static [Self] {
        match self {
            Self::Backward => &[Self::Backward],
            Self::Inductive => &[Self::Inductive],
            Self::Forward => &[Self::Forward],
        }
    }
}

/// A search that works in portions, so that several can take turns.
pub trait Pursuit {
    /// Works on; `None` when the portion is used up and nothing is decided.
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found>;
    /// Whether there is nothing left to look at, although nothing is decided.
    fn is_spent(&self) -> bool {
        false
    }
    /// Whether it seems to get anywhere.
    fn outlook(&self) -> Outlook {
        Outlook::Open
    }
    /// What it did so far.
    fn effort(&self) -> Vec<(&'static str, u64)>;
}

/// What a search expects of itself; a function of the work done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It may well come to an end.
    Good,
    /// Unknown.
    Open,
    /// Its open list keeps growing.
    Bad,
}

/// What a part of a search did, in numbers that do not depend on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The part: an engine, or the compiled system.
    pub part: &'static str,
    /// What was counted, and how many.
    pub counts: Vec<(&'static str, u64)>,
}
