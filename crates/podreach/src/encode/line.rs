//! An encoded question on the usual line: the text that would be in its file, read and lowered like any other.

use podreach_core::{Checked, Problem};

use super::Encoded;
use super::graph::Graph;
use super::pebbling::{self, Smallest};
use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::{Budget, decide};
use crate::lower::{Options, cluster};
use crate::read::{SourceId, documents_of_json};

/// The problem that the objects of an encoding describe.
pub fn problem(encoded: &Encoded) -> Result<Problem, Vec<Diagnostic>> {
    let text = encoded.json().to_string();
    let (documents, refused) = documents_of_json(SourceId(0), &text);
    let lowered = cluster(&documents, &Options::default());
    let remarks = refused
        .iter()
        .chain(&lowered.diagnostics)
        .filter(|remark| !matches!(remark.effect, Effect::Notes | Effect::Assumes(_)));
    let problems: Vec<Diagnostic> = remarks.cloned().collect();
    let question = lowered.questions.first().filter(|_| problems.is_empty()).ok_or(problems)?;
    let goal = question.goal(&lowered.cluster)?;
    Ok(crate::lower::problem(&lowered, encoded.semantics).with_goal(goal))
}

/// Decides an encoded question.
pub fn checked(encoded: &Encoded, budget: &Budget<'_>) -> Result<Checked, Vec<Diagnostic>> {
    Ok(decide(&problem(encoded)?, budget).checked)
}

/// The smallest number of pebbles with which `target` can be pebbled, with the evidence on both sides.
pub fn smallest(graph: &Graph, target: &str, budget: &Budget<'_>) -> Result<Smallest, Vec<Diagnostic>> {
    pebbling::smallest(graph, target, |encoded| checked(encoded, budget))
}
