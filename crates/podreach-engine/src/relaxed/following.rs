//! Follows relaxed plans from the start, for as long as they become shorter.
//!
//! A relaxed plan ignores what is in the way. Its deployments are made one after the other, each after the deletions that its guard asks
//! for; then a new plan is made from there. So a plan costs what its own steps cost, and no other state is looked at. When plans do not
//! become shorter any more, nothing is concluded.
//!
//! Invariant: the state is the start after all actions. Cost: one relaxed plan per attempt, and one guard per step.

use super::planner::{RelaxedPlan, RelaxedPlanner};
use crate::compile::{Deletion, State, Sum, SumDistinct, System, next_deletion};
use crate::group::{Class, is_covered};
use crate::plan::{Plan, require};

/// Follows one relaxed plan after the other.
pub struct PlanFollower<'a> {
    pub(super) system: &'a System,
    planner: RelaxedPlanner<'a>,
    pub(super) state: State,
    pub(super) actions: Vec<ClassAction>,
    pub(super) relaxed: RelaxedPlan,
    /// The next step of the plan, and whether one was made.
    at: usize,
    moved: bool,
    /// The length of the shortest plan, and how many more may be as long.
    shortest: usize,
    patience: u32,
    over: bool,
    plans: u64,
    deployments: u64,
}

/// What was done, in terms of classes.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClassAction {
    Deploy(u32),
    Delete(Class, u64),
}

/// So many plans may be no shorter than the shortest before.
const PATIENCE: u32 = 16;

impl<'a> PlanFollower<'a> {
    /// From the start.
    pub fn new(system: &'a System) -> Self {
        let mut state = State::empty(&system.sums);
        let there = system.start.iter().zip(0..).filter(|&(&count, _)| count > 0);
        there.for_each(|(&count, class)| state.add(&system.sums, class, count));
        Self {
            system,
            planner: RelaxedPlanner::new(system),
            state,
            actions: Vec::new(),
            relaxed: RelaxedPlan::default(),
            at: 0,
            moved: true,
            shortest: usize::MAX,
            patience: PATIENCE,
            over: false,
            plans: 0,
            deployments: 0,
        }
    }

    /// Whether it leads no further.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// How many plans were made.
    pub fn plans(&self) -> u64 {
        self.plans
    }

    /// How many deployments were made, in vain or not.
    pub fn deployments(&self) -> u64 {
        self.deployments
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        size_of::<ClassAction>() * self.actions.capacity()
    }

    /// Makes a plan or a step of one, unless it is over; returns how much work that was, and the plan if the goal is there.
    pub fn go_on(&mut self) -> (u64, Option<Plan>) {
        let Some(&transition) = self.relaxed.steps.get(self.at) else {
            self.make_plan();
            return (self.planner.work(), None);
        };
        self.deployments += 1;
        if self.deploy(transition) {
            self.moved = true;
            let there = is_covered(&self.relaxed.goal, &self.state.counts);
            self.at += 1;
            return (1, there.then(|| self.extract()));
        }
        // Later steps may depend on this one, so a new plan is made; unless no step of this plan was possible yet.
        self.at = if self.moved { self.relaxed.steps.len() } else { self.at + 1 };
        (1, None)
    }

    fn make_plan(&mut self) {
        self.over = !self.moved || !self.planner.plan(&self.state, &mut self.relaxed);
        if self.over {
            return;
        }
        self.plans += 1;
        (self.at, self.moved) = (0, false);
        if self.relaxed.steps.len() < self.shortest {
            (self.shortest, self.patience) = (self.relaxed.steps.len(), PATIENCE);
        } else {
            self.patience -= 1;
            self.over = self.patience == 0;
        }
    }

    /// A plan from here on, if there is one.
    pub(super) fn plan_from_here(&mut self) -> Option<&RelaxedPlan> {
        self.at = 0;
        self.planner.plan(&self.state, &mut self.relaxed).then_some(&self.relaxed)
    }

    /// How much work a plan is.
    pub(super) fn work_of_plan(&self) -> u64 {
        self.planner.work()
    }

    /// Whether all that a transition needs is there.
    pub(super) fn has_witnesses(&self, transition: u32) -> bool {
        self.system.transitions[transition as usize].guard.needed(&self.state).is_none()
    }

    /// Makes a deployment after the deletions that it takes; says whether it can be made, and changes nothing if not.
    pub(super) fn deploy(&mut self, transition: u32) -> bool {
        let (system, before) = (self.system, self.actions.len());
        let guard = &system.transitions[transition as usize].guard;
        // What turns into something else is left to the engines that go back from the goal.
        if system.transitions[transition as usize].consumes.is_some() {
            return false;
        }
        loop {
            let helped = match next_deletion(guard, &self.state) {
                Deletion::None => break,
                Deletion::Impossible => false,
                Deletion::Clear(sum) => self.clear(sum),
                Deletion::Reduce(sum) => self.reduce(sum),
                Deletion::ReduceOrClear(some, all) => {
                    if self.is_spare(all) {
                        self.clear(all)
                    } else {
                        self.reduce(some)
                    }
                }
                Deletion::Free(condition) => self.free(condition),
            };
            if !helped {
                self.undo(before);
                return false;
            }
        }
        self.make(ClassAction::Deploy(transition));
        true
    }

    fn delete(&mut self, class: Class, count: u64) {
        self.make(ClassAction::Delete(class, count));
    }

    /// Deletes every pod of a sum.
    fn clear(&mut self, sum: Sum) -> bool {
        let system = self.system;
        for &(class, _) in &system.sums.weights[sum as usize] {
            let count = self.state.counts[class as usize];
            if count > 0 {
                self.delete(class, count);
            }
        }
        true
    }

    /// Deletes a pod of a sum that the plan does not need any more; says whether there is one.
    fn reduce(&mut self, sum: Sum) -> bool {
        let spare = self.system.sums.members(sum).find(|&class| self.spare(class) > 0);
        spare.inspect(|&class| self.delete(class, 1)).is_some()
    }

    /// Deletes a pod that counts by itself, or all that share something, if the plan does not need them.
    fn free(&mut self, condition: &SumDistinct) -> bool {
        if self.reduce(condition.weights) {
            return true;
        }
        let sum = condition.groups.iter().copied().find(|&sum| self.is_spare(sum));
        sum.is_some_and(|sum| self.clear(sum))
    }

    /// Whether there are pods of a sum, and the plan needs none of them any more.
    fn is_spare(&self, sum: Sum) -> bool {
        let mut members = self.system.sums.members(sum);
        self.state.value(sum) > 0 && members.all(|class| self.spare(class) == self.state.counts[class as usize])
    }

    /// How many of a class the plan does not need any more.
    fn spare(&self, class: Class) -> u64 {
        self.state.counts[class as usize].saturating_sub(self.relaxed.needs(class, self.at))
    }

    /// Does an action.
    pub(super) fn make(&mut self, step: ClassAction) {
        match step {
            ClassAction::Deploy(transition) => {
                self.state.add(&self.system.sums, self.system.transitions[transition as usize].head, 1)
            }
            ClassAction::Delete(class, count) => self.state.remove(&self.system.sums, class, count),
        }
        self.actions.push(step);
    }

    /// Undoes actions.
    pub(super) fn undo(&mut self, length: usize) {
        while self.actions.len() > length {
            self.take_back();
        }
    }

    fn take_back(&mut self) -> Option<ClassAction> {
        let last = self.actions.pop()?;
        match last {
            ClassAction::Deploy(transition) => {
                self.state.remove(&self.system.sums, self.system.transitions[transition as usize].head, 1)
            }
            ClassAction::Delete(class, count) => self.state.add(&self.system.sums, class, count),
        }
        Some(last)
    }

    /// The deployments that led here, as far as the goal needs them; goes back to the start.
    pub(super) fn extract(&mut self) -> Plan {
        let mut plan = Plan::to(self.relaxed.goal.clone());
        let mut needs = State::of_group(&self.system.sums, &self.relaxed.goal);
        while let Some(last) = self.take_back() {
            if let ClassAction::Deploy(transition) = last {
                require(self.system, transition as usize, &mut needs, &mut plan, |class| {
                    self.state.counts[class as usize]
                });
            }
        }
        plan.reverse(needs.group());
        plan
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, Shape, cases, problem, settled};
    use podreach_core::{Semantics, Verdict, check};

    use super::*;
    use crate::compile::slice;
    use crate::evidence::class_trace;

    #[test]
    fn where_a_climb_ends_in_the_goal_its_run_does() {
        let mut rng = Rng::new(73);
        let (mut reached, mut over) = (0, 0);
        for case in 0..cases(3_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            let problem = settled(&problem(&mut rng, shape));
            let system = System::new(&problem, slice(&problem));
            let mut follower = PlanFollower::new(&system);
            let mut plan = None;
            while plan.is_none() && !follower.is_over() {
                plan = follower.go_on().1;
            }
            if let Some(plan) = &plan {
                let verdict = Verdict::Deployable(class_trace(&problem, &system, plan));
                assert!(check(&problem, verdict).is_ok(), "case {case}: {plan:?}");
            }
            *(if plan.is_some() { &mut reached } else { &mut over }) += 1;
        }
        assert!(reached > cases(3_000) / 16 && over > cases(3_000) / 8, "{reached} {over}");
    }
}
