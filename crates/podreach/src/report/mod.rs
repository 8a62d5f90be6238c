//! Reports: checked answers as text for people and as documents for programs.
//!
//! Every function here is pure: it takes what was found out and returns a string or a JSON value. The wire format lives here alone, and
//! names pods and nodes, never ids.

mod alike;
mod amount;
mod argument;
mod assumption;
pub mod audit;
mod certificate;
pub mod export;
mod film;
mod flaw;
mod frame;
pub mod html;
mod itf;
mod json;
mod legend;
mod lowered;
mod matrix;
mod mermaid;
mod need;
mod proof;
pub(crate) mod reason;
mod shortfall;
mod source;
mod svg;
mod text;
mod trace;
mod volume;
mod weakening;
mod why;
pub(crate) mod words;
mod yaml;

use podreach_core::Problem;

use crate::answer::Sure;
use crate::assumption::Assumption;
use crate::lower::Options;

pub(crate) use amount::{amount, amounts};
pub use assumption::assumed;
pub use certificate::{Asked, Certificate, Claim};
pub use film::{Obstacle, Scene, film};
pub use flaw::flaw;
pub use frame::frames;
pub use itf::itf;
pub use json::{API_VERSION, Document, Documents, diagnostics, verdict};
pub use legend::legend;
pub use lowered::{lowered, lowered_pod};
pub use matrix::{Width, matrix, matrix_json};
pub use mermaid::mermaid;
pub use shortfall::Shortfall;
pub use source::{source_json, source_text};
pub use svg::svg;
pub use text::{Detail, headline, verdict as verdict_text};
pub use why::{Why, why, why_json};
pub(crate) use yaml::string as yaml_string;
pub use yaml::yaml;

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
