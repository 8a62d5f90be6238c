//! Reports: checked answers as text for people and as documents for programs.
//!
//! | room | has |
//! |---|---|
//! | `explain/` | what evidence means: the annotated run, the argument of a proof. All other rooms build on it |
//! | `text/` | answers, matrices and rules for a person |
//! | `document/` | answers as JSON, and certificates read back. The wire format is defined here alone, and names pods and nodes, never ids |
//! | `drawing/` | runs as SVG, Mermaid, ITF, and frames for a terminal |
//! | `html/` | pages |
//! | `audit/` | outcomes of audits: text, JSON, SARIF, JUnit, Markdown, GitHub |
//! | `export/` | questions and certificates for the proved checker |
//!
//! Every function is pure: it takes an answer and returns a string or a JSON value. Reasons and names become English in `words/`, below.

pub mod audit;
mod document;
mod drawing;
mod explain;
pub mod export;
pub mod html;
mod text;

use podreach_core::Problem;

use crate::answer::Sure;
use crate::assumption::Assumption;
use crate::lower::Options;

pub use crate::words::flaw::flaw;
pub use crate::yaml::yaml;
pub use document::certificate::{Asked, Assertion, Certificate, ResolveError};
pub use document::json::{API_VERSION, Document, Documents, diagnostics, verdict};
pub(crate) use document::legend::legend;
pub use document::lowered::{lowered, lowered_pod};
pub use document::shortage::WrittenShortage;
pub use drawing::frames::frames;
pub use drawing::itf::itf;
pub use drawing::mermaid::mermaid;
pub use drawing::svg::svg;
pub use explain::assumption::assumed;
pub use explain::run::{AnnotatedStep, Obstacle, annotate};
pub use text::matrix::{Width, matrix, matrix_json};
pub(crate) use text::source::{source_json, source_text};
pub use text::why::{Why, why, why_json};
pub use text::{Detail, headline, verdict as verdict_text};

/// A question and its answer, as reports take them.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// How the input was read.
    pub options: &'a Options,
    /// The answer, with the question that it answers.
    pub decision: &'a Sure,
    /// What all verdicts about the cluster assume.
    pub assumptions: &'a [Assumption],
}

impl<'a> Answered<'a> {
    /// The question, with the cluster and the start it is about.
    pub fn problem(&self) -> &'a Problem {
        self.decision.checked.problem()
    }

    /// What this verdict assumes.
    pub(crate) fn assumed(&self) -> impl Iterator<Item = &'a Assumption> {
        let verdict = self.decision.checked.verdict();
        self.assumptions.iter().filter(move |assumption| assumption.bears_on(verdict))
    }
}
