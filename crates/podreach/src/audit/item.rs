//! One result of an audit: a rule of a policy, or a finding.
//!
//! An item makes no claim of its own: what it says of the cluster stands on answered questions, which it carries.

use podreach_core::{Problem, Short};
use serde_json::Value;

use crate::answer::Sure;
pub use crate::lower::policy::Severity;
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
    /// What holds a rule up that holds; `None` for findings and where it was not looked for.
    pub boundary: Option<Boundary>,
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

/// An answered question that an item stands on.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What it shows, as a clause.
    pub shows: String,
    /// The checked answer, with its question.
    pub decision: Sure,
    /// What follows from it for any choice of nodes, if that is what it is for.
    pub short: Option<Box<Short>>,
    /// How the cluster that it is about differs from the input, as a clause; `None` if it does not.
    pub changed: Option<String>,
    /// The changes that make that cluster of the input, by name; `audit/changed/` reads them.
    pub changes: Vec<Value>,
}

impl Evidence {
    /// An answer about the input as it is.
    pub fn new(shows: impl Into<String>, decision: Sure) -> Self {
        Self { shows: shows.into(), decision, short: None, changed: None, changes: Vec::new() }
    }

    /// The question, in full.
    pub fn problem(&self) -> &Problem {
        self.decision.checked.problem()
    }
}

/// What holds a rule up.
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    /// A minimal set of facts: with these alone the rule holds, and with any one of them gone too it does not. Empty when the rule
    /// holds whatever facts are dropped, or when the search for it was cut short.
    pub core: Vec<String>,
    /// Single edits after which the rule is broken, each with the run that breaks it.
    pub escapes: Vec<Escape>,
    /// What was left out of the search for cores and escapes, as a sentence, if something was.
    pub left_out: Option<String>,
}

/// A single edit that breaks a rule.
#[derive(Clone, Debug)]
pub struct Escape {
    /// The edit, as a condition: `node edge-3 lost taint pool=public:NoSchedule`.
    pub edit: String,
    /// The same by name, as documents write changes.
    pub change: serde_json::Value,
    /// The answered question about the cluster after the edit; `None` where counting is enough.
    pub evidence: Option<Evidence>,
}
