//! Plans made into traces of the whole problem.
//!
//! A plan says which deployments to make and what each needs. The trace keeps everything else for as long as it can: before a
//! deployment it deletes only pods that are in the way of its guard, and none that the rest of the plan needs.
//!
//! Cost: one look for obstacles per step and deletion, in the size of the configuration; plans of 1,000 steps go to `class_trace.rs`.

use podreach_core::cancel;
use podreach_core::obstacle::blockers;
use podreach_core::{Action, Atom, Changing, Configuration, Goal, NodeId, PodId, Problem, Register, Running, Trace};

use super::class_trace;
use super::shortening::shortened;
use super::undo::undo;
use crate::compile::{System, Transition};
use crate::group::{Group, count};
use crate::plan::Plan;

/// Makes traces for one cluster and start, for any number of goals.
#[derive(Clone, Debug)]
pub struct TraceBuilder {
    problem: Problem,
    s: Configuration,
}

/// How far ahead a plan is searched for a step whose needs are met already, unless it is so long that nobody will read it.
const LOOK_AHEAD: usize = 64;
const LONG: usize = 1_000;

/// So many steps are worth a register of what runs.
const MANY: usize = 64;

/// What a deployment needs of what is there besides the kept pods.
#[derive(Clone, Copy)]
enum Needs<'a> {
    /// These pods.
    Pods(&'a Configuration),
    /// So many of each class.
    Classes(&'a System, &'a Group),
}

impl TraceBuilder {
    /// For this cluster, start and kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self { problem: problem.clone(), s: (*problem.start).clone() }
    }

    /// The trace that deploys one atom which the kept pods alone allow.
    pub fn single(&mut self, atom: Atom) -> Trace {
        let (nothing, mut draft) = (Configuration::new(), Draft::new(&self.problem, &mut self.s));
        draft.deploy(atom, Needs::Pods(&nothing));
        draft.cleared()
    }

    /// The trace that deploys these atoms one after the other, each where the one before it is; the first may run already.
    pub fn relay(&mut self, atoms: &[Atom]) -> Trace {
        let (mut before, mut draft) = (Configuration::new(), Draft::new(&self.problem, &mut self.s));
        for (at, &atom) in atoms.iter().enumerate() {
            if at > 0 || draft.free(atom) == 0 {
                draft.deploy(atom, Needs::Pods(&before));
            }
            before = [(atom, 1)].into_iter().collect();
        }
        draft.cleared()
    }

    /// The trace of a plan.
    pub fn of_plan(&mut self, system: &System, plan: &Plan) -> Trace {
        match plan.len() {
            0..MANY => Draft::new(&self.problem, &mut self.s).of_plan(system, plan),
            MANY..LONG => {
                let mut register = Register::new(&self.problem.model, &self.problem.start);
                Draft::new(&self.problem, &mut register).of_plan(system, plan)
            }
            _ => class_trace::trace(&self.problem, system, plan),
        }
    }

    /// The trace without steps that the goal does not need.
    pub fn shortened(&mut self, goal: &Goal, trace: Trace) -> Trace {
        if trace.len() < MANY {
            return shortened(&self.problem, goal, trace, &mut self.s);
        }
        shortened(&self.problem, goal, trace, &mut Register::new(&self.problem.model, &self.problem.start))
    }
}

/// Where a trace is made: what runs, and the steps so far.
struct Draft<'a, S> {
    problem: &'a Problem,
    s: &'a mut S,
    actions: Vec<Action>,
}

impl<'a, S: Changing> Draft<'a, S> {
    /// At the start, which `s` holds.
    fn new(problem: &'a Problem, s: &'a mut S) -> Self {
        Self { problem, s, actions: Vec::new() }
    }

    /// The trace of a plan. What is there already need not be deployed: the trace goes on at the latest step whose needs are met.
    fn of_plan(mut self, system: &System, plan: &Plan) -> Trace {
        let (steps, mut at) = (plan.with_needs(system), 0);
        while !self.has(system, plan.reaches()) {
            let ahead = steps.len().min(at + LOOK_AHEAD);
            at = (at..ahead).rev().find(|&step| self.has(system, &steps[step].1)).unwrap_or(at);
            let Some((transition, needs)) = steps.get(at) else { break };
            let Transition { deploys: atom @ (pod, node), consumes, .. } = system.transitions[*transition];
            match self.problem.model.shadowed(pod).filter(|_| consumes.is_some()) {
                Some(base) => self.terminate((base, node)),
                None => self.deploy(atom, Needs::Classes(system, needs)),
            }
            at += 1;
        }
        self.cleared()
    }

    /// Whether there is enough of each class besides the kept pods.
    fn has(&self, system: &System, group: &Group) -> bool {
        group.iter().all(|&(class, needed)| {
            let there = system.classes[class as usize].iter().map(|&member| self.free(member));
            there.fold(0, u64::saturating_add) >= needed
        })
    }

    fn free(&self, atom: Atom) -> u64 {
        self.s.count(atom) - self.problem.kept.count(atom)
    }

    /// Begins to delete a pod.
    fn terminate(&mut self, (pod, node): Atom) {
        let Some(shadow) = self.problem.model.shadow(pod).filter(|_| self.free((pod, node)) > 0) else { return };
        self.s.remove((pod, node));
        self.s.add((shadow, node));
        self.actions.push(Action::Terminate(pod, node));
    }

    /// Deletes what is in the way of an atom, and deploys it; what is being deleted is deployed as what it was before.
    fn deploy(&mut self, (pod, node): Atom, needs: Needs<'_>) {
        cancel::poll();
        if let Some(base) = self.problem.model.shadowed(pod) {
            self.deploy((base, node), needs);
            return self.terminate((base, node));
        }
        while let Some(obstacle) = self.obstacle(pod, node, needs) {
            self.s.remove(obstacle);
            self.actions.push(self.problem.model.deletion(obstacle));
        }
        match self.problem.model.consumed(pod) {
            // Nothing can be done.
            Some(unbound) if self.free(unbound) == 0 => return,
            consumed => consumed.into_iter().for_each(|unbound| self.s.remove(unbound)),
        }
        self.s.add((pod, node));
        self.actions.push(Action::Deploy(pod, node));
    }

    /// Goes back to the start; the steps are left.
    fn cleared(self) -> Trace {
        undo(self.problem, self.s, &self.actions);
        self.actions.into_iter().collect()
    }

    /// A pod to delete before `pod` can be deployed on `node`; `None` when nothing is in the way (or nothing can be done).
    fn obstacle(&self, pod: PodId, node: NodeId, needs: Needs<'_>) -> Option<Atom> {
        let m = &self.problem.model;
        let blockers = blockers(m, &*self.s, (pod, node))?;
        let consumed = m.consumed(pod);
        let spare = |&atom: &Atom| Some(atom) != consumed && self.is_spare(atom, needs);
        let found = blockers.into_iter().find(spare);
        found.or_else(|| self.s.seen(m, std::iter::empty()).map(|(q, at, _)| (q, at)).find(spare))
    }

    /// Whether an instance may be deleted and the plan does not need it.
    fn is_spare(&self, atom: Atom, needs: Needs<'_>) -> bool {
        let needed = match needs {
            Needs::Pods(pods) => pods.count(atom),
            Needs::Classes(system, group) => {
                let Some(class) = system.class(atom) else { return self.free(atom) > 0 };
                let members = system.classes[class as usize].iter().filter(|&&member| member != atom);
                let others = members.map(|&member| self.free(member)).fold(0, u64::saturating_add);
                count(group, class).saturating_sub(others)
            }
        };
        self.free(atom) > needed
    }
}
