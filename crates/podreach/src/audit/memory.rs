//! Answers of earlier runs: never believed, only checked again.
//!
//! What is remembered is the evidence and not the answer. A question finds its certificate by its words, whatever the cluster has
//! become meanwhile; the checker then holds it against the cluster of today, exactly as it would an engine's claim. If the part of the
//! cluster that the evidence speaks of is unchanged it is accepted, without a search. If it is refused, or damaged, or about
//! something else, the question is answered anew. So no memory, however old or false, can change a verdict.

use podreach_core::{Goal, Problem, Verdict};
use serde_json::json;

use crate::answer::Oracle;
use crate::engine::{Budget, Decision};
use crate::lower::{Options, Start};
use crate::read::{SourceId, documents};
use crate::report::{Answered, Certificate, verdict};

/// Where certificates are kept from run to run.
pub trait Memory {
    /// The certificate that was kept for a question.
    fn recall(&self, question: &str) -> Option<String>;
    /// Keeps a certificate for a question.
    fn keep(&self, question: &str, certificate: &str);
}

/// A memory that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

impl Memory for Forgetful {
    fn recall(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, _: &str, _: &str) {}
}

/// What deciding may take, and what earlier runs found out.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Time, memory and threads.
    pub budget: &'a Budget<'a>,
    /// What earlier runs found out.
    pub memory: &'a dyn Memory,
}

/// Ways to decide that are quicker than looking something up.
const QUICK: [&str; 4] = ["start", "one-step", "affinity-free", "greedy"];

/// The answer to a problem's question: from a certificate that still holds, or else by deciding it.
///
/// `about` tells clusters apart that have the same names: what was changed in them.
pub(crate) fn answer(
    Means { memory, budget }: Means<'_>,
    about: &str,
    oracle: &mut Oracle,
    problem: &Problem,
) -> Decision {
    let goal = &problem.goal;
    if let Some(decision) = oracle.quick_answer(goal, budget) {
        return decision;
    }
    let question = question(problem, about);
    if let Some(decision) = memory.recall(&question).and_then(|text| recalled(oracle, problem, &text, budget)) {
        return decision;
    }
    let decision = oracle.answer(goal, budget);
    if decision.checked.answer().is_some() && !QUICK.contains(&decision.engine) {
        memory.keep(&question, &certificate(problem, &decision));
    }
    decision
}

/// A question in words; what it does not say of the cluster, the checker looks at.
fn question(problem: &Problem, about: &str) -> String {
    let m = &problem.model;
    let entries = |goal: &Goal| -> Vec<Vec<(String, String, u64)>> {
        let named = |alternative: &podreach_core::Configuration| {
            let entry = |((pod, node), count)| (m.pod_name(pod).to_owned(), m.node_name(node).to_owned(), count);
            alternative.iter().map(entry).collect()
        };
        goal.any.iter().map(named).collect()
    };
    let from = if problem.start == problem.kept { "empty" } else { "current" };
    json!([env!("CARGO_PKG_VERSION"), m.semantics().name(), from, about, entries(&problem.goal)]).to_string()
}

pub(crate) fn certificate(problem: &Problem, decision: &Decision) -> String {
    let start = if problem.start == problem.kept { Start::Empty } else { Start::Current };
    let options = Options { start, ..Options::default() };
    verdict(&Answered { problem, options: &options, decision }, &json!([]), 0.0).to_string()
}

/// What a certificate is worth today: nothing, unless the checker takes it.
fn recalled(oracle: &mut Oracle, problem: &Problem, text: &str, budget: &Budget<'_>) -> Option<Decision> {
    let (_, claim) = claimed(problem, text)?;
    oracle.confirm(&problem.goal, claim, budget)
}

/// What a certificate claims about a cluster, unchecked.
pub(crate) fn claimed(problem: &Problem, text: &str) -> Option<(Goal, Verdict)> {
    let (trees, problems) = documents(SourceId(0), text);
    let certificates = Certificate::read(trees.first().filter(|_| problems.is_empty())?).ok()?;
    certificates.first()?.resolve(&problem.model).ok()
}
