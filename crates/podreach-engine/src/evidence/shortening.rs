//! Action elimination: a step is dropped if the goal is still reached without it and without the steps that then no longer work.
//!
//! After Fink and Yang, *Formalizing Plan Justifications* (Canadian AI 1992), and Nakhost and Müller, *Action Elimination and Plan
//! Neighborhood Graph Search* (ICAPS 2010). Cost: quadratic in the length, so the number of tries is bounded; what remains of a trace
//! within that bound needs each of its steps.

use std::collections::VecDeque;

use podreach_core::cancel;
use podreach_core::{Action, Changing, Goal, Problem, Trace};

use super::undo::undo;

/// How many steps are tried in all.
const TRIES: usize = 50_000;

/// Longer traces stay as they are.
const LONG: usize = 1_000;

/// The trace without steps that it does not need; `s` is the start, before and after.
pub fn shortened(problem: &Problem, goal: &Goal, trace: Trace, s: &mut impl Changing) -> Trace {
    if trace.len() > LONG {
        return trace;
    }
    let mut attempt = Attempt { problem, goal, s, tries: TRIES };
    let mut actions: Vec<Action> = trace.iter().collect();
    while let Some(shorter) = attempt.shorter(&actions) {
        actions = shorter;
    }
    actions.into_iter().collect()
}

struct Attempt<'a, S> {
    problem: &'a Problem,
    goal: &'a Goal,
    s: &'a mut S,
    tries: usize,
}

impl<S: Changing> Attempt<'_, S> {
    /// One pass over all steps, the last first; `None` when it changes nothing.
    fn shorter(&mut self, actions: &[Action]) -> Option<Vec<Action>> {
        let taken = actions.iter().take_while(|&&action| self.take(action)).count();
        if taken < actions.len() {
            undo(self.problem, self.s, &actions[..taken]);
            return None;
        }
        let (mut rest, mut changed) = (VecDeque::new(), false);
        for &action in actions.iter().rev() {
            undo(self.problem, self.s, &[action]);
            match self.without(&rest) {
                Some(shorter) => (rest, changed) = (shorter.into(), true),
                None => rest.push_front(action),
            }
        }
        changed.then(|| rest.into())
    }

    /// Those of the steps that can be taken from here, if they lead to the goal.
    fn without(&mut self, rest: &VecDeque<Action>) -> Option<Vec<Action>> {
        self.tries = self.tries.checked_sub(rest.len() + 1)?;
        let taken: Vec<Action> = rest.iter().copied().filter(|&action| self.take(action)).collect();
        let reached = self.problem.is_met(self.goal, self.s);
        undo(self.problem, self.s, &taken);
        reached.then_some(taken)
    }

    fn take(&mut self, action: Action) -> bool {
        cancel::poll();
        self.problem.step(self.s, action).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, problem, successors};

    use super::*;

    /// The steps that can be taken when one is left out, and whether they still lead to the goal.
    fn reaches_without(problem: &Problem, trace: &Trace, left_out: usize) -> bool {
        let mut s = (*problem.start).clone();
        let others = trace.iter().enumerate().filter(|&(at, _)| at != left_out);
        others.for_each(|(_, action)| drop(problem.step(&mut s, action)));
        problem.is_met(&problem.goal, &s)
    }

    /// A random walk that ends in the goal, if one does soon.
    fn walk(rng: &mut Rng, problem: &Problem) -> Option<Vec<Action>> {
        let (mut s, mut actions) = ((*problem.start).clone(), Vec::new());
        for _ in 0..40 {
            if problem.is_met(&problem.goal, &s) {
                return Some(actions);
            }
            let next: Vec<_> = successors(problem, &s).collect();
            if next.is_empty() {
                return None;
            }
            let (action, after) = next[rng.below(next.len())].clone();
            actions.push(action);
            s = after;
        }
        None
    }

    #[test]
    fn what_remains_of_a_trace_needs_every_step() {
        let mut rng = Rng::new(41);
        let (mut before, mut after) = (0, 0);
        for case in 0..3_000 {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let problem = problem(&mut rng, Shape::small(semantics));
            let Some(actions) = walk(&mut rng, &problem) else { continue };
            let mut s = (*problem.start).clone();
            before += actions.len();
            let short = shortened(&problem, &problem.goal, actions.into_iter().collect(), &mut s);
            after += short.len();
            assert_eq!(s, *problem.start);
            assert!(podreach_core::check(&problem, podreach_core::Verdict::Deployable(short.clone())).is_ok());
            for at in 0..short.len() {
                assert!(!reaches_without(&problem, &short, at), "case {case}: step {at} of {short:?} is idle");
            }
        }
        assert!(before > 2 * after && after > 200, "{before} {after}");
    }

    #[test]
    fn a_trace_that_is_none_stays_as_it_is() {
        let mut rng = Rng::new(43);
        let problem = problem(&mut rng, Shape::small(Semantics::KubeScheduler));
        let (pod, node) = (problem.model.pods().next().unwrap(), problem.model.nodes().next().unwrap());
        let wrong: Trace = [Action::Delete(pod, node); 9].into_iter().collect();
        let mut s = (*problem.start).clone();
        assert_eq!(shortened(&problem, &problem.goal, wrong.clone(), &mut s), wrong);
        assert_eq!(s, *problem.start);
    }
}
