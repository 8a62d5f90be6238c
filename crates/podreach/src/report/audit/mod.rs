//! The outcome of an audit in every format.
//!
//! All writers take the same [`AuditReport`] and agree: what one calls an error, none leaves out.

mod baseline;
mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
mod shortage;
mod text;

use podreach_core::{Semantics, Verdict};

use crate::assumption::Assumption;
use crate::audit::{Evidence, Item, Origin, Outcome, Severity, Status};
use crate::diagnostic::Diagnostic;
use crate::lower::{Options, Start};
use crate::read::{Place, Sources, Span};

pub use baseline::{BaselineError, baseline, read_baseline};
pub use github::github;
pub use json::document;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;
pub(crate) use shortage::demanded;
pub use text::text;

/// The outcome of an audit and what it is about.
#[derive(Clone, Copy, Debug)]
pub struct AuditReport<'a> {
    /// What came out.
    pub outcome: &'a Outcome,
    /// The texts that were read.
    pub sources: &'a Sources,
    /// How they were read.
    pub options: &'a Options,
    /// Whose rules count.
    pub semantics: Semantics,
    /// What all verdicts assume.
    pub assumptions: &'a [Assumption],
    /// What there is to say about the input.
    pub diagnostics: &'a [Diagnostic],
    /// The least severe finding that makes the run fail; `None` for none.
    pub fail_on: Option<Severity>,
}

impl AuditReport<'_> {
    /// Whether an item makes the run fail if it is violated, or leaves it open if it is undecided.
    pub fn fails(&self, item: &Item) -> bool {
        matches!(item.origin, Origin::Rule { .. }) || self.fail_on.is_some_and(|least| item.severity >= least)
    }

    /// Where a span starts.
    fn place(&self, span: Option<Span>) -> Option<Place<'_>> {
        self.sources.place(span?)
    }

    /// How the question of a piece of evidence was read. What a run in a part of a cluster begins with is not all that is there.
    fn options_of(&self, evidence: &Evidence) -> Options {
        let (problem, changes) = (evidence.problem(), &evidence.changes);
        let is_part = changes.iter().any(|change| change["change"] == "only");
        let waits = problem.model.cluster().waiting.values().any(|waiting| waiting.count > 0);
        let is_empty = !is_part && !waits && problem.start.minus(&problem.kept).size() == 0;
        let start = if is_empty { Start::Empty } else { self.options.start };
        Options { start, ..self.options.clone() }
    }
}

/// A severity as documents name it.
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A status as documents name it.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Holds => "holds",
        Status::Violated => "violated",
        Status::Undecided => "undecided",
    }
}

/// What a piece of evidence shows, with its verdict: `no node can ever run it (never)`.
pub(crate) fn shown(evidence: &Evidence) -> String {
    let verdict = match evidence.decision.checked.verdict() {
        Verdict::Deployable(trace) if trace.is_empty() => "it is so at the start".to_owned(),
        Verdict::Deployable(trace) => format!("a run of {}", crate::words::number(trace.len(), "step")),
        Verdict::Never(proof) => {
            let facts = proof.forbidden.len() + proof.at_most_one.len();
            let proof = (facts > 0).then(|| format!("a proof of {}", crate::words::number(facts, "fact")));
            let sum = evidence.short.as_deref().filter(|_| facts == 0).and_then(shortage::kind);
            proof.or(sum).unwrap_or_else(|| "a proof of 0 facts".to_owned())
        }
        Verdict::Unknown(reason) => reason.to_string(),
    };
    format!("{} ({verdict})", evidence.shows)
}
