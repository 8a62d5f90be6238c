//! Runs, stretch by stretch: each begins where the one before it ended, where more nodes have settled.
//!
//! The proved checker knows no step by which a node settles, so such a step ends a document and begins another.

use std::sync::Arc;

use podreach_core::{Action, Atom, Configuration, Goal, Model, NodeId, Problem, Trace};

use super::Unwritten;
use super::tables::{Document, pair};

/// The stretches of a run; the last must come to the goal, and each other to where the next begins.
pub(super) fn documents(problem: &Problem, goal: &Goal, trace: &Trace) -> Result<String, Unwritten> {
    let (mut text, mut here) = (String::new(), problem.clone());
    let (mut s, mut steps) = ((*problem.start).clone(), Vec::new());
    for (index, action) in trace.iter().enumerate() {
        match action {
            Action::Settle(node) => {
                if !steps.is_empty() {
                    let reached = Goal { any: vec![s.iter().collect()] };
                    text += &document(&here, &reached, &std::mem::take(&mut steps));
                }
                if !s.settle(node) {
                    return Err(Unwritten::Step(index));
                }
                here.start = Arc::new(s.clone());
            }
            // A node that comes or goes changes nothing, if it may.
            Action::Add(_) | Action::Remove(_) => {
                problem.step(&mut s, action).map_err(|_| Unwritten::Step(index))?;
            }
            // There, what waits is deleted like any other pod.
            Action::Withdraw(pod) if problem.model.consumed(pod).is_none() => return Err(Unwritten::Step(index)),
            Action::Delete(_, NodeId::NOWHERE) => return Err(Unwritten::Step(index)),
            _ => {
                take(&problem.model, &mut s, action);
                steps.push(action);
            }
        }
    }
    Ok(text + &document(&here, &as_met(problem, goal, &s), &steps))
}

fn document(problem: &Problem, goal: &Goal, steps: &[Action]) -> String {
    let mut document = Document::new(problem);
    document.goal(goal);
    for action in steps {
        let word = match action {
            Action::Deploy(..) => "deploy",
            Action::Terminate(..) => "terminate",
            _ => "delete",
        };
        let atom = action.atom().or_else(|| problem.model.consumed(action.pod()?));
        document.line(word, atom.into_iter().flat_map(pair));
    }
    document.end("deployable")
}

/// What a step makes of a configuration, legal or not.
fn take(m: &Model, s: &mut Configuration, action: Action) {
    match action {
        Action::Deploy(pod, node) => {
            m.consumed(pod).into_iter().for_each(|waiting| drop_one(s, waiting));
            s.add((pod, node));
        }
        Action::Delete(pod, node) => drop_one(s, (pod, node)),
        Action::Terminate(pod, node) => {
            drop_one(s, (pod, node));
            m.shadow(pod).into_iter().for_each(|shadow| s.add((shadow, node)));
        }
        Action::Withdraw(pod) => m.consumed(pod).into_iter().for_each(|waiting| drop_one(s, waiting)),
        Action::Settle(_) | Action::Add(_) | Action::Remove(_) => {}
    }
}

fn drop_one(s: &mut Configuration, atom: Atom) {
    if s.count(atom) > 0 {
        s.remove(atom);
    }
}

/// The goal, in which pods that are being deleted meet what others do not: they still run.
fn as_met(problem: &Problem, goal: &Goal, s: &Configuration) -> Goal {
    Goal { any: goal.any.iter().map(|asked| alternative_as_met(problem, s, asked)).collect() }
}

fn alternative_as_met(problem: &Problem, s: &Configuration, asked: &Configuration) -> Configuration {
    let mut met = Configuration::new();
    for (atom @ (pod, node), count) in asked.iter() {
        let shadow = problem.model.shadow(pod).map(|shadow| (shadow, node));
        let lacking = count.saturating_sub(s.count(atom));
        let instead = shadow.map_or(0, |shadow| s.count(shadow)).min(lacking);
        met.set(atom, count - instead);
        shadow.into_iter().for_each(|shadow| met.set(shadow, met.count(shadow).max(instead)));
    }
    met
}
