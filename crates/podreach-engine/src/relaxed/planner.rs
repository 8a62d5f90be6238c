//! Relaxed plans: what to deploy, and in which order, if no upper bound existed.
//!
//! A forward pass over the relaxed planning graph finds the first transition that makes each class; a backward pass from a goal selects the
//! transitions that the goal needs. The order is depth first: one witness is finished before the next is begun, the most expensive first, so
//! that few pods wait for others at any time, as needed where room is scarce.
//!
//! Invariant: each step of a plan finds its witnesses among the state and the steps before it. Cost: linear in the size of the transitions.

use crate::compile::{State, Sum, System};
use crate::group::{self, Class, Group};

/// What transitions need, and what can be made of a configuration.
pub struct RelaxedPlanner<'a> {
    system: &'a System,
    /// The sums that must be positive for each transition.
    needed: Vec<Vec<Sum>>,
    /// The transitions that need each sum.
    waiting: Vec<Vec<u32>>,
    /// The sums with such transitions that each class is in.
    helps: Vec<Vec<Sum>>,
    /// The transitions that need none.
    free: Vec<u32>,
    /// How many of its sums each transition lacks.
    lacking: Vec<u32>,
    /// The first member of each sum.
    member: Vec<Class>,
    /// The first transition that makes each class.
    made_by: Vec<u32>,
    /// How many deployments each class takes, where those that several others need count for each of them.
    weight: Vec<u64>,
    queue: Vec<Class>,
}

/// Deployments that reach a goal if no upper bound exists.
#[derive(Clone, Debug, Default)]
pub struct RelaxedPlan {
    /// The transitions, in order.
    pub steps: Vec<u32>,
    /// The goal.
    pub goal: Group,
    /// The last step that needs each class, counted from one; zero where none does.
    last_use: Vec<u32>,
}

/// In place of a transition: nothing makes it, it is there already, or it is in the plan.
const NOTHING: u32 = u32::MAX;
const THERE: u32 = u32::MAX - 1;
const PLANNED: u32 = u32::MAX - 2;

enum Visit {
    Enter(Class),
    Leave(u32),
}

impl RelaxedPlan {
    /// How many of a class the goal and the steps from this one on need.
    pub fn needs(&self, class: Class, from: usize) -> u64 {
        let later = self.last_use[class as usize] as usize > from;
        group::count(&self.goal, class).max(u64::from(later))
    }
}

impl<'a> RelaxedPlanner<'a> {
    /// The needs of a system's transitions.
    pub fn new(system: &'a System) -> Self {
        let (classes, sums, transitions) = (system.classes.len(), system.sums.weights.len(), system.transitions.len());
        let mut planner = Self {
            system,
            needed: Vec::with_capacity(transitions),
            waiting: vec![Vec::new(); sums],
            helps: Vec::new(),
            free: Vec::new(),
            lacking: vec![0; transitions],
            member: vec![NOTHING; sums],
            made_by: vec![NOTHING; classes],
            weight: vec![0; classes],
            queue: Vec::new(),
        };
        for (transition, number) in system.transitions.iter().zip(0..) {
            let mut needed: Vec<Sum> = transition.guard.required().collect();
            needed.sort_unstable();
            needed.dedup();
            needed.iter().for_each(|&sum| planner.waiting[sum as usize].push(number));
            if needed.is_empty() {
                planner.free.push(number);
            }
            planner.needed.push(needed);
        }
        // Most sums are bounded from above, so being in them does not help.
        let helps = system.sums.of.iter().map(|of| {
            of.iter().map(|&(sum, _)| sum).filter(|&sum| !planner.waiting[sum as usize].is_empty()).collect()
        });
        planner.helps = helps.collect();
        planner
    }

    /// How much work a plan is, in units of one configuration.
    pub fn work(&self) -> u64 {
        1 + self.system.transitions.len() as u64 / 64
    }

    /// Writes a plan to the goal that seems nearest; `false` when none can be reached even so.
    pub fn plan(&mut self, state: &State, plan: &mut RelaxedPlan) -> bool {
        self.spread(state);
        let system = self.system;
        let costs = system.goals.iter().filter_map(|goal| Some((self.cost(goal, state)?, goal)));
        let Some((_, goal)) = costs.min_by_key(|&(cost, _)| cost) else { return false };
        plan.goal.clone_from(goal);
        self.collect(state, plan);
        true
    }

    /// Finds what can be made, layer by layer.
    fn spread(&mut self, state: &State) {
        self.lacking.iter_mut().zip(&self.needed).for_each(|(lacking, needed)| *lacking = needed.len() as u32);
        self.member.fill(NOTHING);
        self.made_by.fill(NOTHING);
        self.queue.clear();
        for class in (0..state.counts.len()).filter(|&class| state.counts[class] > 0) {
            self.made_by[class] = THERE;
            self.weight[class] = 0;
            self.queue.push(class as Class);
        }
        for at in 0..self.free.len() {
            self.make(self.free[at]);
        }
        let mut next = 0;
        while let Some(&class) = self.queue.get(next) {
            next += 1;
            for at in 0..self.helps[class as usize].len() {
                let sum = self.helps[class as usize][at];
                if self.member[sum as usize] == NOTHING {
                    self.member[sum as usize] = class;
                    self.wake(sum);
                }
            }
        }
    }

    /// Counts down the transitions that wait for a sum.
    fn wake(&mut self, sum: Sum) {
        for at in 0..self.waiting[sum as usize].len() {
            let transition = self.waiting[sum as usize][at];
            self.lacking[transition as usize] -= 1;
            if self.lacking[transition as usize] == 0 {
                self.make(transition);
            }
        }
    }

    fn make(&mut self, transition: u32) {
        let head = self.system.transitions[transition as usize].head;
        if self.made_by[head as usize] == NOTHING {
            self.made_by[head as usize] = transition;
            self.weight[head as usize] = self.weight_of(transition);
            self.queue.push(head);
        }
    }

    fn weight_of(&self, transition: u32) -> u64 {
        let witnesses = self.needed[transition as usize].iter().map(|&sum| self.member[sum as usize]);
        witnesses.fold(1, |total: u64, class| total.saturating_add(self.weight[class as usize]))
    }

    /// The transition to make one more of a class.
    fn transition_for(&self, class: Class) -> Option<u32> {
        match self.made_by[class as usize] {
            NOTHING => None,
            THERE | PLANNED => {
                let transitions = self.system.transitions_of[class as usize].iter().copied();
                let ready =
                    transitions.filter(|&transition| self.lacking[transition] == 0).map(|transition| transition as u32);
                ready.min_by_key(|&transition| self.weight_of(transition))
            }
            transition => Some(transition),
        }
    }

    /// How many deployments a goal takes, about.
    fn cost(&self, goal: &Group, state: &State) -> Option<u64> {
        goal.iter().try_fold(0u64, |total, &(class, needed)| {
            let missing = needed.saturating_sub(state.counts[class as usize]);
            let each = if missing == 0 { 0 } else { self.weight_of(self.transition_for(class)?) };
            Some(total.saturating_add(each.saturating_mul(missing)))
        })
    }

    /// Collects what the goal of a plan takes.
    fn collect(&mut self, state: &State, plan: &mut RelaxedPlan) {
        plan.steps.clear();
        plan.last_use.clear();
        plan.last_use.resize(state.counts.len(), 0);
        let mut visits = Vec::new();
        for &(class, needed) in &plan.goal {
            let planned = u64::from(self.made_by[class as usize] == PLANNED);
            let missing = needed.saturating_sub(state.counts[class as usize]).saturating_sub(planned);
            if let Some(transition) = self.transition_for(class).filter(|_| missing > 0) {
                self.enter(transition, &mut visits);
                self.made_by[class as usize] = PLANNED;
                while let Some(visit) = visits.pop() {
                    self.visit(visit, &mut visits, &mut plan.steps);
                }
                // A relaxed plan is no longer than a plan can be.
                let copies = missing.min(COPIES) - 1;
                plan.steps.extend((0..copies).map(|_| transition));
            }
        }
        for (&transition, at) in plan.steps.iter().zip(1..) {
            for &sum in &self.needed[transition as usize] {
                plan.last_use[self.member[sum as usize] as usize] = at;
            }
        }
    }

    fn visit(&mut self, visit: Visit, visits: &mut Vec<Visit>, steps: &mut Vec<u32>) {
        match visit {
            Visit::Leave(transition) => steps.push(transition),
            Visit::Enter(class) => {
                let transition = self.made_by[class as usize];
                if transition != THERE && transition != PLANNED {
                    self.made_by[class as usize] = PLANNED;
                    self.enter(transition, visits);
                }
            }
        }
    }

    /// The witnesses of a transition, the heaviest on top and of equals the first, and then the transition.
    fn enter(&self, transition: u32, visits: &mut Vec<Visit>) {
        visits.push(Visit::Leave(transition));
        let first = visits.len();
        let witnesses = self.needed[transition as usize].iter().map(|&sum| self.member[sum as usize]);
        visits.extend(witnesses.rev().map(Visit::Enter));
        visits[first..].sort_by_key(|visit| match *visit {
            Visit::Enter(class) => self.weight[class as usize],
            Visit::Leave(_) => 0,
        });
    }
}

/// So many copies of one class are planned at a time.
const COPIES: u64 = 1 << 10;

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem};

    use super::*;
    use crate::compile::slice;

    /// Whether each step finds its witnesses among what was there and what the steps before it made, up to the goal.
    fn stands(system: &System, state: &State, plan: &RelaxedPlan) -> bool {
        let mut there = state.counts.clone();
        plan.steps.iter().zip(0..).all(|(&transition, at)| {
            let transition = &system.transitions[transition as usize];
            let met = transition.guard.required().all(|sum| {
                system.sums.members(sum).any(|class| there[class as usize] > 0 && plan.needs(class, at) > 0)
            });
            there[transition.head as usize] += 1;
            met
        }) && group::is_covered(&plan.goal, &there)
    }

    /// Whether no class is made more often than the goal asks, or once.
    fn is_lean(system: &System, state: &State, plan: &RelaxedPlan) -> bool {
        (0..).zip(&state.counts).all(|(class, &there)| {
            let made =
                plan.steps.iter().filter(|&&transition| system.transitions[transition as usize].head == class).count();
            made as u64 <= group::count(&plan.goal, class).saturating_sub(there).max(1)
        })
    }

    #[test]
    fn a_plan_leads_to_a_goal_if_nothing_is_in_the_way() {
        let mut rng = Rng::new(71);
        let (mut plans, mut steps) = (0, 0);
        for case in 0..cases(3_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let problem = problem(&mut rng, Shape::small(semantics));
            let system = System::new(&problem, slice(&problem));
            let mut state = State::empty(&system.sums);
            (0..).zip(&system.start).for_each(|(class, &count)| state.add(&system.sums, class, count));
            let mut plan = RelaxedPlan::default();
            if RelaxedPlanner::new(&system).plan(&state, &mut plan) {
                assert!(stands(&system, &state, &plan), "case {case}: {plan:?}");
                assert!(is_lean(&system, &state, &plan), "case {case}: {plan:?}");
                (plans, steps) = (plans + 1, steps + plan.steps.len());
            } else {
                assert_eq!(exhaustive(&problem, 100_000), Some(false), "case {case}: no plan for {problem:#?}");
            }
        }
        assert!(plans > cases(3_000) / 4 && steps > cases(3_000) / 8, "{plans} plans of {steps} steps");
    }
}
