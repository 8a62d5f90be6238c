//! Traces are replayed against the rules themselves, not against the guards made from them.

use super::Flaw;
use crate::configuration::Configuration;
use crate::goal::Goal;
use crate::step::{Action, Problem};
use crate::verdict::Trace;

/// Replays a trace from the start, which `scratch` holds before and after.
pub(super) fn check(problem: &Problem, goal: &Goal, trace: &Trace, scratch: &mut Configuration) -> Result<(), Flaw> {
    let (done, outcome) = run(problem, trace, scratch);
    let reached = goal.is_met_by(scratch);
    if done <= problem.start.support() {
        trace.0[..done].iter().rev().for_each(|&action| undo(scratch, action));
    } else {
        scratch.clone_from(&problem.start);
    }
    outcome?;
    if reached { Ok(()) } else { Err(Flaw::GoalNotMet) }
}

/// Takes the steps until one is illegal; says how many were taken.
fn run(problem: &Problem, trace: &Trace, s: &mut Configuration) -> (usize, Result<(), Flaw>) {
    for (index, &action) in trace.0.iter().enumerate() {
        if let Err(illegal) = problem.step(s, action) {
            return (index, Err(Flaw::Step(index, illegal)));
        }
    }
    (trace.0.len(), Ok(()))
}

fn undo(s: &mut Configuration, action: Action) {
    match action {
        Action::Deploy(pod, node) => s.remove((pod, node)),
        Action::Delete(pod, node) => s.add((pod, node)),
    }
}
