//! What can be taken away from the page: the question, the run, the proof, a rule for a policy, a report.

use podreach::answer::Sure;
use podreach::report::{self, Answered, html};
use podreach::sandbox;
use podreach_core::{Problem, Verdict};
use serde_json::{Value, json};

use super::world::{Variant, World};

/// The certificate of an answer; null for a cluster with changes, since no input exists that it could be verified against.
pub(super) fn certificate(world: &World, variant: &Variant, answered: &Answered<'_>) -> Value {
    if !variant.edits.is_empty() {
        return Value::Null;
    }
    let diagnostics = report::diagnostics(&world.session.sources, &world.session.lowered.diagnostics);
    report::verdict(answered, &diagnostics, 0.0).value()
}

/// The texts that people paste elsewhere, by the names of their files.
pub(super) fn texts(answered: &Answered<'_>) -> Value {
    let Answered { problem, decision, .. } = answered;
    let m = &problem.model;
    let mut texts = json!({"question.yaml": question(problem)});
    let asked = problem.asked().any.first().and_then(|goal| goal.iter().next()).map(|(atom, _)| atom);
    if let Some(((pod, node), deployable)) = asked.zip(decision.checked.answer()) {
        texts["policy.yaml"] = sandbox::rule(m, pod, node, deployable).into();
    }
    if let Verdict::Deployable(trace) = decision.checked.verdict() {
        texts["run.mmd"] = report::mermaid(problem, trace).into();
        texts["run.svg"] = report::svg(problem, trace).into();
        texts["run.itf.json"] = report::itf(problem, trace).to_string().into();
    }
    texts
}

/// The question as a document that `podreach check` answers.
fn question(problem: &Problem) -> String {
    let m = &problem.model;
    let wanted = problem.asked().any.iter().take(1).flat_map(podreach_core::Configuration::iter);
    let goal: Vec<Value> = wanted
        .map(|((pod, node), count)| json!({"pod": m.pod_name(pod), "node": m.node_name(node), "count": count}))
        .collect();
    report::yaml(&json!({
        "apiVersion": report::API_VERSION,
        "kind": "Question",
        "metadata": {"name": "asked"},
        "spec": {"semantics": m.semantics().name(), "goal": goal},
    }))
}

/// The page about one answer, as one file.
pub(super) fn report(world: &World, variant: &Variant, (problem, decision): &(Problem, Sure)) -> Value {
    let assumptions = world.session.assumptions(problem.model.semantics());
    let answered = Answered { problem, options: &world.session.options, decision, assumptions };
    let certificate = certificate(world, variant, &answered);
    let diagnostics = report::diagnostics(&world.session.sources, &world.session.lowered.diagnostics);
    let title = match variant.edits.len() {
        0 => world.title.clone(),
        1 => format!("{} with 1 change", world.title),
        count => format!("{} with {count} changes", world.title),
    };
    let data =
        html::data(problem, &title, (&diagnostics, assumptions), html::View::Answers(&[(answered, certificate)]));
    json!({"report.html": html::document(Some(&data))})
}
