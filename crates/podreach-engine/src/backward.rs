//! Goal regression: the backward algorithm for coverability in well-structured transition systems.
//!
//! A goal is reachable if the start has it, or if some pod of it was deployed last: then what was there before has the rest of the goal
//! and whatever the guard needs, which is a goal again. What is in the way is simply not there, so goals ask only for presence. Goals
//! that contain others are left out, so minimal ones remain, and there are finitely many of these (Dickson's lemma). If the search ends
//! without meeting the start, the goals are the proof. After Abdulla, Čerāns, Jonsson and Tsay, *General Decidability Theorems for
//! Infinite-State Systems* (LICS 1996).
//!
//! Complete, with counts bounded or not. Nothing is generalised, so it is slow where much could be: the reference for the other engines.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use podreach_core::Learned;

use crate::budget::{Budget, Stop};
use crate::compile::System;
use crate::group::{self, Group};
use crate::ic3::Predecessors;
use crate::lemmas::Lemmas;
use crate::mutex::Mutexes;
use crate::plan::Plan;
use crate::pursuit::{Found, Pursuit};

/// All goals are of this one level: either none can be reached, or one is met.
const LEVEL: u32 = 1;

/// Where a goal came from: deploying by the transition on top of it leads to the parent.
struct Origin {
    parent: Option<(usize, usize)>,
    depth: u64,
}

/// A search that can be paused between goals.
pub struct Backward<'a> {
    system: &'a System,
    mutexes: &'a Mutexes,
    /// The groups of the goals, by the same numbers; forbidden, unless the search meets the start.
    goals: Lemmas,
    origins: Vec<Origin>,
    /// The goals to regress, those of least depth first.
    todo: VecDeque<usize>,
    predecessors: Predecessors<'a>,
}

enum End {
    Met(usize),
    Stopped(Stop, u64),
}

impl<'a> Backward<'a> {
    /// A search for the goals of a system.
    pub fn new(system: &'a System, mutexes: &'a Mutexes) -> Self {
        Self {
            system,
            mutexes,
            goals: Lemmas::new(system.classes.len()),
            origins: Vec::new(),
            todo: VecDeque::new(),
            predecessors: Predecessors::new(system, mutexes),
        }
    }

    /// Regresses goals for so much work; `Continue(true)` when none is left.
    fn run(&mut self, work: u64, budget: &Budget<'_>) -> ControlFlow<End, bool> {
        let pause = self.predecessors.work + work;
        if self.origins.is_empty() {
            for goal in &self.system.goals {
                if self.mutexes.mutex_in(goal).is_none() && self.goals.within(goal, LEVEL).is_none() {
                    self.add(goal.clone(), None)?;
                }
            }
        }
        while let Some(&next) = self.todo.front() {
            if !self.goals.remove_if_subsumed(next as u32) {
                self.regress(next, pause, budget)?;
            }
            if self.predecessors.work >= pause {
                return ControlFlow::Continue(false);
            }
            self.todo.pop_front();
        }
        ControlFlow::Continue(true)
    }

    /// Adds a goal that contains no other.
    fn add(&mut self, group: Group, parent: Option<(usize, usize)>) -> ControlFlow<End> {
        let depth = parent.map_or(0, |(parent, _)| self.origins[parent].depth + 1);
        let met = group::is_covered(&group, &self.system.start);
        self.todo.push_back(self.origins.len());
        self.origins.push(Origin { parent, depth });
        self.goals.add(group, LEVEL, None);
        if met { ControlFlow::Break(End::Met(self.origins.len() - 1)) } else { ControlFlow::Continue(()) }
    }

    /// Adds what could have been there before a goal until goals cover all of it, or the work is done.
    fn regress(&mut self, goal: usize, pause: u64, budget: &Budget<'_>) -> ControlFlow<End> {
        let group = self.goals.group(goal as u32).clone();
        while self.predecessors.work < pause {
            if let Some(stop) = budget.stop(self.bytes()) {
                return ControlFlow::Break(End::Stopped(stop, self.origins[goal].depth));
            }
            let Some((before, transition)) = self.predecessors.find(&mut self.goals, &group, LEVEL) else { break };
            self.add(before, Some((goal, transition)))?;
        }
        ControlFlow::Continue(())
    }

    fn bytes(&self) -> usize {
        self.goals.bytes() + self.origins.len() * (size_of::<Origin>() + size_of::<usize>())
    }
}

impl Pursuit for Backward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        match self.run(work, budget) {
            ControlFlow::Continue(true) => Some(Found::Never(self.goals.from(LEVEL))),
            ControlFlow::Continue(false) => None,
            ControlFlow::Break(End::Met(goal)) => {
                let plan =
                    Plan::from_start(self.system, goal, |at| (self.goals.group(at as u32), self.origins[at].parent));
                Some(Found::Reached(plan))
            }
            ControlFlow::Break(End::Stopped(stop, depth)) => {
                // Every goal of a lesser depth was regressed, and none of them met the start.
                let learned = Learned { deployments_ruled_out: Some(depth), explored: self.origins.len() as u64 };
                Some(Found::Stopped { stop, learned })
            }
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("goals", self.origins.len() as u64),
            ("left", self.todo.len() as u64),
            ("questions", self.predecessors.asked),
            ("lookups", self.goals.visits),
        ]
    }
}
