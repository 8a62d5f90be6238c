//! What can be taken away from the page: the question, the run, the proof, a rule for a policy, a report.

use podreach::report::{self, Answered, html};
use podreach::sandbox;
use podreach_core::{Problem, Trace, Verdict};
use serde_json::{Value, json};

use super::refused::Refused;
use super::world::{Decided, Variant, World};
use crate::command::check::LONGEST;

/// The certificate of an answer; null for a cluster with changes, since no input exists that it could be verified against.
pub(super) fn certificate(world: &World, variant: &Variant, answered: &Answered<'_>) -> Value {
    if !variant.edits.is_empty() {
        return Value::Null;
    }
    let diagnostics = report::diagnostics(world.session.sources(), world.session.remarks());
    report::verdict(answered, &diagnostics, 0.0).value()
}

/// The largest file that is made; a run in full says after each step what runs then, all over the cluster.
const BYTES: usize = 32 << 20;

/// The files that can be made of an answer, by their names; each is made when it is asked for.
pub(super) fn files(decided: &Decided) -> Vec<&'static str> {
    let mut files = vec!["question.yaml"];
    if decided.decision.checked.answer().is_some() {
        files.push("policy.yaml");
    }
    if matches!(decided.decision.checked.verdict(), Verdict::Deployable(_)) {
        files.extend(["run.mmd", "run.svg", "run.itf.json"]);
    }
    files.push("report.html");
    files
}

/// A file of an answer; an error says why there is none.
pub(super) fn file(world: &World, variant: &Variant, decided: &Decided, name: &str) -> Result<Value, Refused> {
    let decision = &decided.decision;
    let problem = decision.checked.problem();
    let asked = problem.asked().any.first().and_then(|goal| goal.iter().next()).map(|(atom, _)| atom);
    let text = match (name, decision.checked.verdict(), asked.zip(decision.checked.answer())) {
        ("question.yaml", ..) => question(problem),
        ("policy.yaml", _, Some(((pod, node), deployable))) => sandbox::rule(&problem.model, pod, node, deployable),
        ("run.mmd" | "run.svg" | "run.itf.json", Verdict::Deployable(trace), _) if trace.len() > LONGEST => {
            return Err(Refused::TooLong(trace.len()));
        }
        ("run.mmd", Verdict::Deployable(trace), _) => report::mermaid(problem, trace),
        ("run.svg", Verdict::Deployable(trace), _) => report::svg(problem, trace),
        ("run.itf.json", Verdict::Deployable(trace), _) if states(problem, trace) > BYTES => {
            let [((pod, node), _)] = problem.asked().any[0].iter().collect::<Vec<_>>()[..] else {
                return Err(Refused::TooLarge(None));
            };
            let (pod, node) = (problem.model.pod_name(pod), problem.model.node_name(node));
            return Err(Refused::TooLarge(Some(format!("podreach check -f FILE {pod} {node} -o itf"))));
        }
        ("run.itf.json", Verdict::Deployable(trace), _) => report::itf(problem, trace).to_string(),
        ("report.html", ..) => report(world, variant, decided),
        _ => return Err(Refused::NoFile(name.to_owned())),
    };
    Ok(json!({name: text}))
}

/// About how many bytes the states of a run take.
fn states(problem: &Problem, trace: &Trace) -> usize {
    let running = problem.start.iter().count().saturating_add(trace.len());
    running.saturating_mul(trace.len() + 1).saturating_mul(64)
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
fn report(world: &World, variant: &Variant, decided: &Decided) -> String {
    let answered = decided.answered(world);
    let (problem, assumptions) = (answered.problem(), answered.assumptions);
    let certificate = certificate(world, variant, &answered);
    let diagnostics = report::diagnostics(world.session.sources(), world.session.remarks());
    let title = match variant.edits.len() {
        0 => world.title.clone(),
        1 => format!("{} with 1 change", world.title),
        count => format!("{} with {count} changes", world.title),
    };
    let data =
        html::data(problem, &title, (&diagnostics, assumptions), html::View::Answers(&[(answered, certificate)]));
    html::document(Some(&data))
}
