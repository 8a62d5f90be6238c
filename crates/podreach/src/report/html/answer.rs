//! An answer for a page: the verdict, and its evidence as a run to replay or as a proof to click through.

use podreach_core::{Action, Goal, Model, Problem, Trace, Verdict};
use serde_json::{Value, json};

use super::entities::Entities;
use super::proof;
use crate::answer::Sure;
use crate::report::document::json as document;
use crate::report::explain::run::{AnnotatedStep, excerpt};
use crate::words;

/// The most alternatives of a goal that are shown, and the most steps of a run.
const GOALS: usize = 24;
const STEPS: usize = 20_000;

/// The verdict of a decision and its evidence.
pub(super) fn answer(entities: &mut Entities, decision: &Sure) -> Value {
    let problem = decision.checked.problem();
    let mut answer = outline(decision);
    let mut shown: Vec<usize> = (0..problem.asked().any.len().min(GOALS)).collect();
    match decision.checked.verdict() {
        Verdict::Deployable(trace) => {
            let reached = reached(problem, trace).map(|reached| {
                shown.extend((reached >= GOALS).then_some(reached));
                shown.iter().position(|&at| at == reached)
            });
            let more = trace.len().saturating_sub(STEPS);
            answer["film"] = json!({"steps": steps(entities, problem, trace), "reached": reached, "more": more});
            if more > 0 {
                answer["leftOut"] = format!("{more} more steps follow, which `podreach check -o json` writes.").into();
            }
        }
        Verdict::Never(proof) => answer["proof"] = proof::walk(entities, problem, proof),
        Verdict::Unknown(_) => {}
    }
    let goal = shown.iter().map(|&at| entities.configuration(&problem.model, &problem.asked().any[at]));
    answer["goal"] = goal.collect::<Vec<_>>().into();
    answer
}

/// The verdict of a decision alone.
pub(super) fn outline(decision: &Sure) -> Value {
    let problem = decision.checked.problem();
    let reason = match decision.checked.verdict() {
        Verdict::Unknown(reason) => reason.to_string().into(),
        _ => Value::Null,
    };
    json!({
        "verdict": super::verdict(decision),
        "semantics": problem.model.semantics().name(),
        "engine": decision.engine,
        "goal": [],
        "goals": problem.goal.any.len(),
        "film": Value::Null,
        "proof": Value::Null,
        "reason": reason,
    })
}

fn steps(entities: &mut Entities, problem: &Problem, trace: &Trace) -> Vec<Value> {
    let shown = excerpt(problem, trace, 0..trace.len().min(STEPS));
    shown.into_iter().map(|annotated| step(entities, &problem.model, annotated)).collect()
}

fn step(entities: &mut Entities, m: &Model, annotated: AnnotatedStep) -> Value {
    let AnnotatedStep { action, notes, witnesses, obstacle } = annotated;
    let mut step = json!({"op": document::op(m, action), "says": words::step(m, action)});
    match (action.atom(), action.node()) {
        (Some(atom), _) => step["at"] = entities.atom(m, atom),
        (None, Some(node)) => step["node"] = entities.node(m, node).into(),
        (None, None) => {}
    }
    if let Action::Terminate(pod, _) = action
        && let Some(shadow) = m.shadow(pod)
    {
        step["becomes"] = entities.pod(m, shadow).into();
    }
    if !notes.is_empty() {
        step["notes"] = notes.into();
    }
    if !witnesses.is_empty() {
        step["witnesses"] = witnesses.into_iter().map(|witness| entities.atom(m, witness)).collect();
    }
    if let Some(obstacle) = obstacle {
        step["obstacle"] = json!({"of": obstacle.of, "rule": obstacle.rule.name(), "reason": obstacle.reason});
    }
    step
}

/// The first alternative of what was asked that the end of a trace meets, by its index.
fn reached(problem: &Problem, trace: &Trace) -> Option<usize> {
    let s = trace.after(trace.len(), &problem.model, &problem.start);
    let met = problem.goal.any.iter().position(|alternative| problem.is_met(&Goal::all(alternative.clone()), &s))?;
    Some(problem.asked.as_ref().map_or(met, |asked| asked.of[met]))
}
