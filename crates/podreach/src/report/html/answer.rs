//! An answer for a page: the verdict, and its evidence as a film or as a proof to walk.

use podreach_core::{Action, Goal, Problem, Trace, Verdict};
use serde_json::{Value, json};

use super::super::film::{Scene, film};
use super::super::{json as document, words};
use super::cast::Cast;
use super::walk;
use crate::answer::Sure;

/// The verdict of a decision and its evidence.
pub(super) fn answer(cast: &mut Cast, problem: &Problem, decision: &Sure) -> Value {
    let (film, proof, reason) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => (shown(cast, problem, trace), Value::Null, Value::Null),
        Verdict::Never(proof) => (Value::Null, walk::walk(cast, problem, proof), Value::Null),
        Verdict::Unknown(reason) => (Value::Null, Value::Null, reason.to_string().into()),
    };
    let goal: Vec<Value> =
        problem.asked().any.iter().map(|wanted| cast.configuration(&problem.model, wanted)).collect();
    json!({
        "verdict": super::verdict(decision),
        "semantics": problem.model.semantics().name(),
        "engine": decision.engine,
        "goal": goal,
        "film": film,
        "proof": proof,
        "reason": reason,
    })
}

/// The film of a trace: its steps with what they lean on, and which alternative of what was asked it ends in.
fn shown(cast: &mut Cast, problem: &Problem, trace: &Trace) -> Value {
    json!({"steps": steps(cast, problem, trace), "reached": reached(problem, trace)})
}

fn steps(cast: &mut Cast, problem: &Problem, trace: &Trace) -> Vec<Value> {
    let m = &problem.model;
    let step = |Scene { action, notes, witnesses, obstacle }: Scene| {
        let mut step = json!({"op": document::op(m, action), "says": words::step(m, action)});
        match (action.atom(), action.node()) {
            (Some(atom), _) => step["at"] = cast.atom(m, atom),
            (None, Some(node)) => step["node"] = cast.node(m, node).into(),
            (None, None) => {}
        }
        if let Action::Terminate(pod, _) = action
            && let Some(shadow) = m.shadow(pod)
        {
            step["becomes"] = cast.pod(m, shadow).into();
        }
        if !notes.is_empty() {
            step["notes"] = notes.into();
        }
        if !witnesses.is_empty() {
            step["witnesses"] = witnesses.into_iter().map(|witness| cast.atom(m, witness)).collect();
        }
        if let Some(obstacle) = obstacle {
            step["obstacle"] = json!({"of": obstacle.of, "rule": obstacle.rule.name(), "reason": obstacle.reason});
        }
        step
    };
    film(problem, trace).into_iter().map(step).collect()
}

/// The first alternative of what was asked that the end of a trace meets, by its index.
fn reached(problem: &Problem, trace: &Trace) -> Option<usize> {
    let s = trace.after(trace.len(), &problem.model, &problem.start);
    let met = problem.goal.any.iter().position(|alternative| problem.is_met(&Goal::all(alternative.clone()), &s))?;
    Some(problem.asked.as_ref().map_or(met, |asked| asked.of[met]))
}
