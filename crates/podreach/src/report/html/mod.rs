//! Pages: one HTML file with everything in it, which makes no request.
//!
//! What a page shows is computed here, as one JSON value; `page/types.d.ts` describes it. The page's code only draws it, and draws names as
//! text and never as markup. The same code, without data, is the shell of `podreach serve`.

mod answer;
mod budget;
mod describe;
mod digest;
mod entities;
mod findings;
mod map;
mod proof;
mod shell;

use podreach_core::{Problem, cancel};
use serde_json::{Value, json};

use super::{Answered, text};
use crate::answer::Sure;
use crate::assumption::Assumption;
use crate::audit::Item;
use crate::matrix::Matrix;
use budget::SizeBudget;
use entities::Entities;
pub use map::{Evidence, evidence};
pub use shell::{POLICY, document};

/// What a page shows besides the cluster.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Answered questions, each with its certificate.
    Answers(&'a [(Answered<'a>, Value)]),
    /// A matrix for each semantics, with the evidence of its cells.
    Matrices(&'a [(&'a Matrix, Evidence)]),
    /// What an audit says.
    Audit(&'a [&'a Item]),
    /// The cluster alone: everything else is asked for.
    Cluster,
}

/// Everything that a page shows, as the page's code reads it.
///
/// `problem` is the cluster to show and its start; `title` says where it comes from; `diagnostics` are the remarks about the input as
/// [`super::diagnostics`] makes them; `assumptions` is what all verdicts on the page assume.
pub fn data(
    problem: &Problem,
    title: &str,
    (diagnostics, assumptions): (&Value, &[Assumption]),
    view: View<'_>,
) -> Value {
    // Evidence is left out where there is no time for it, and the cluster is not.
    let mut entities = match view {
        View::Cluster => Entities::new(problem, usize::MAX),
        _ => cancel::exempt(|| Entities::new(problem, budget::NAMES)),
    };
    let mut budget = SizeBudget::new();
    let (kind, answers, matrices, findings) = match view {
        View::Answers(answered) => {
            let answers = answered.iter().map(|(answered, certificate)| {
                let mut answer = certified(&mut entities, &mut budget, answered, certificate.clone());
                answer["start"] = entities.start(answered.problem()).0;
                answer
            });
            ("check", answers.collect::<Vec<_>>(), Vec::new(), Vec::new())
        }
        View::Matrices(all) => {
            let rows = budget::ROWS / all.len().max(1);
            let one = |(matrix, evidence): &(&Matrix, Evidence)| {
                cancel::exempt(|| map::excerpt(matrix, evidence, &mut entities, &mut budget, rows))
            };
            ("matrix", Vec::new(), all.iter().map(one).collect(), Vec::new())
        }
        View::Audit(items) => ("audit", Vec::new(), Vec::new(), findings::findings(&mut entities, &mut budget, items)),
        View::Cluster => ("serve", Vec::new(), Vec::new(), Vec::new()),
    };
    let cluster = match view {
        View::Cluster => entities.into_json(problem),
        _ => cancel::exempt(|| entities.into_json(problem)),
    };
    json!({
        "generator": concat!("podreach ", env!("CARGO_PKG_VERSION")),
        "kind": kind,
        "title": title,
        "semantics": problem.model.semantics().name(),
        "cluster": cluster,
        "answers": answers,
        "matrices": matrices,
        "findings": findings,
        "assumptions": super::explain::assumption::json(assumptions.iter()),
        "diagnostics": diagnostics,
    })
}

/// One answer by itself, with the names it speaks of: what a page that is open already asks for.
pub fn answer(answered: &Answered<'_>, certificate: Value) -> Value {
    certified(&mut Entities::numbers(answered.problem()), &mut SizeBudget::new(), answered, certificate)
}

/// How to get the evidence of a question that is not on the page.
const ELSEWHERE: &str = "`podreach check -o json` writes it.";

/// An answer with its certificate.
fn certified(entities: &mut Entities, budget: &mut SizeBudget, answered: &Answered<'_>, certificate: Value) -> Value {
    let decision = answered.decision;
    let explained = |entities: &mut Entities| {
        let mut answer = answer::answer(entities, decision);
        answer["certificate"] = certificate;
        (answer, 0)
    };
    let mut answer = budget.fit(entities, || answer::outline(decision), explained, ELSEWHERE);
    answer["headline"] = super::headline(answered).into();
    answer["claim"] = text::claimed(answered).into();
    answer["context"] = text::context(answered).into();
    answer
}

/// A matrix by itself; see [`answer`].
pub fn matrix(matrix: &Matrix) -> Value {
    map::map(matrix)
}

/// The cluster by itself; see [`answer`].
pub fn cluster(problem: &Problem) -> Value {
    Entities::new(problem, usize::MAX).into_json(problem)
}

/// The verdict of a decision, as documents name it.
fn verdict(decision: &Sure) -> &'static str {
    match decision.checked.answer() {
        Some(true) => "deployable",
        Some(false) => "never",
        None => "unknown",
    }
}
