//! An encoded question on the usual line: the text that would be in its file, read and lowered like any other.

use std::sync::Arc;

use podreach_core::{Checked, Model, Problem};

use super::Encoded;
use super::pebbling::{self, Smallest};
use crate::diagnostic::{Diagnostic, Effect};
use crate::encode::graph::Graph;
use crate::engine::{Budget, decide};
use crate::lower::{Options, cluster};
use crate::read::{SourceId, documents_of_json};

/// The problem that the objects of an encoding describe.
pub fn problem(encoded: &Encoded) -> Result<Problem, Vec<Diagnostic>> {
    let text = encoded.json().to_string();
    let (documents, refused) = documents_of_json(SourceId(0), &text);
    let lowered = cluster(&documents, &Options::default());
    let stops = |diagnostic: &Diagnostic| diagnostic.effect != Effect::Notes;
    let problems: Vec<Diagnostic> = refused.into_iter().chain(lowered.diagnostics).filter(stops).collect();
    let question = lowered.questions.first().filter(|_| problems.is_empty()).ok_or(problems)?;
    let goal = question.goal(&lowered.cluster)?;
    let model = Model::new(lowered.cluster, encoded.semantics);
    Ok(Problem::new(Arc::new(model), lowered.start, goal))
}

/// Decides an encoded question.
pub fn checked(encoded: &Encoded, budget: &Budget<'_>) -> Result<Checked, Vec<Diagnostic>> {
    Ok(decide(&problem(encoded)?, budget).checked)
}

/// The smallest number of pebbles with which `target` can be pebbled, with the evidence on both sides.
pub fn smallest(graph: &Graph, target: &str, budget: &Budget<'_>) -> Result<Smallest, Vec<Diagnostic>> {
    pebbling::smallest(graph, target, |encoded| checked(encoded, budget))
}
