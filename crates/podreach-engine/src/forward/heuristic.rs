//! The heuristic: what a goal lacks, and what its last pods lack, a goal count.
//!
//! A goal is often a pod that waits for many others. Counting the missing ones is cheap and shows a direction. It only orders the open
//! list, so nothing depends on its being right. Cost: linear in the goals and the conditions of the transitions that make them.

use crate::compile::{System, Transition};
use crate::group::{Class, Group};

/// The goals of a system, with what their last pods wait for.
pub struct GoalCount {
    goals: Vec<Vec<Part>>,
}

struct Part {
    class: Class,
    needed: u64,
    /// For each transition that makes the class, the witnesses it needs, each one of some classes.
    ways: Vec<Vec<Vec<Class>>>,
}

impl GoalCount {
    /// The goals of a system.
    pub fn new(system: &System) -> Self {
        Self { goals: system.goals.iter().map(|goal| parts(system, goal)).collect() }
    }

    /// How much is missing for the nearest goal.
    pub fn distance(&self, count: impl Fn(Class) -> u64 + Copy) -> u64 {
        let distance =
            |goal: &Vec<Part>| goal.iter().fold(0u64, |total, part| total.saturating_add(part.distance(count)));
        self.goals.iter().map(distance).min().unwrap_or(0)
    }
}

fn parts(system: &System, goal: &Group) -> Vec<Part> {
    goal.iter().map(|&(class, needed)| Part::new(system, class, needed)).collect()
}

impl Part {
    fn new(system: &System, class: Class, needed: u64) -> Self {
        let transitions = system.transitions_of[class as usize].iter();
        Self {
            class,
            needed,
            ways: transitions.map(|&transition| witnesses(system, &system.transitions[transition])).collect(),
        }
    }

    fn distance(&self, count: impl Fn(Class) -> u64 + Copy) -> u64 {
        let missing = self.needed.saturating_sub(count(self.class));
        if missing == 0 {
            return 0;
        }
        let lacking = self
            .ways
            .iter()
            .map(|groups| groups.iter().filter(|group| group.iter().all(|&class| count(class) == 0)).count() as u64);
        missing.saturating_add(lacking.min().unwrap_or(0))
    }
}

/// The witnesses that a transition needs, each one of some classes.
fn witnesses(system: &System, transition: &Transition) -> Vec<Vec<Class>> {
    transition.guard.required().map(|sum| system.sums.members(sum).collect()).collect()
}
