//! Traces are replayed against the rules themselves, not against the guards made from them.

use super::Flaw;
use crate::configuration::Configuration;
use crate::goal::Goal;
use crate::model::Model;
use crate::register::Register;
use crate::running::Changing;
use crate::step::{Action, Problem};
use crate::trace::Trace;

/// A trace of so many steps is replayed on a register, which takes a while to make.
const LONG: usize = 2_000;

/// How many steps are taken between two questions whether to stop.
const STRETCH: usize = 1 << 12;

/// Replays a trace from the start, which `scratch` holds before and after.
pub(super) fn check(
    problem: &Problem,
    goal: &Goal,
    trace: &Trace,
    scratch: &mut Configuration,
    stop: &dyn Fn() -> bool,
) -> Result<(), Flaw> {
    if trace.len() >= LONG {
        let mut register = Register::new(&problem.model, &problem.start);
        return run(problem, goal, trace, &mut register, stop).1;
    }
    let (done, outcome) = run(problem, goal, trace, scratch, stop);
    if done <= problem.start.support() {
        trace.iter().take(done).rev().for_each(|action| undo(&problem.model, scratch, action));
    } else {
        scratch.clone_from(&problem.start);
    }
    outcome
}

/// Takes the steps until one is illegal, and looks where they led; says how many were taken.
fn run(
    problem: &Problem,
    goal: &Goal,
    trace: &Trace,
    s: &mut impl Changing,
    stop: &dyn Fn() -> bool,
) -> (usize, Result<(), Flaw>) {
    for (index, action) in trace.iter().enumerate() {
        if index % STRETCH == STRETCH - 1 && stop() {
            return (index, Err(Flaw::Stopped));
        }
        if let Err(illegal) = problem.step(s, action) {
            return (index, Err(Flaw::Step(index, illegal)));
        }
    }
    (trace.len(), if problem.is_met(goal, s) { Ok(()) } else { Err(Flaw::GoalNotMet) })
}

fn undo(m: &Model, s: &mut Configuration, action: Action) {
    match action {
        Action::Deploy(pod, node) => {
            s.remove((pod, node));
            m.consumed(pod).into_iter().for_each(|unbound| s.add(unbound));
        }
        Action::Delete(pod, node) => s.add((pod, node)),
        Action::Terminate(pod, node) => {
            s.add((pod, node));
            m.shadow(pod).into_iter().for_each(|shadow| s.remove((shadow, node)));
        }
        Action::Settle(node) => s.unsettle(node),
        Action::Withdraw(pod) => m.consumed(pod).into_iter().for_each(|unbound| s.add(unbound)),
        Action::Add(_) | Action::Remove(_) => {}
    }
}
