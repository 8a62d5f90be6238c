//! One result of an audit: a rule of a policy, or a finding.
//!
//! An item makes no claim of its own: what it says of the cluster stands on answered questions, which it carries.

use podreach_core::Problem;

use crate::engine::Decision;
use crate::read::Span;

/// A result: one rule of a policy, or one finding.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it comes from.
    pub origin: Origin,
    /// What came out.
    pub status: Status,
    /// How bad it is if it is bad.
    pub severity: Severity,
    /// What it is about: names of pod types, nodes, namespaces, in a stable order.
    pub subject: Vec<String>,
    /// The place in the input that it is best shown at.
    pub span: Option<Span>,
    /// One sentence.
    pub message: String,
    /// What it means and why it matters, a sentence or two each.
    pub explanation: Vec<String>,
    /// What to do about it.
    pub fix: Option<String>,
    /// The answered questions that it stands on.
    pub evidence: Vec<Evidence>,
}

/// Where an item comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A rule, by the names of its policy and of itself.
    Rule {
        /// The policy's name.
        policy: String,
        /// The rule's name.
        rule: String,
    },
    /// A finding, by its stable code; `docs/findings.md` explains each.
    Finding(&'static str),
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The rule holds, with proof.
    Holds,
    /// The rule is violated, or the finding is there.
    Violated,
    /// Not decided.
    Undecided,
}

/// How bad a violated item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Likely a mistake.
    Warning,
    /// Broken.
    Error,
}

/// An answered question that an item stands on.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What it shows, as a clause.
    pub shows: String,
    /// The question, in full.
    pub problem: Problem,
    /// The checked answer.
    pub decision: Decision,
}
