//! The heuristic: what a goal lacks, and what its last pods lack, a goal count.
//!
//! A goal is often a pod that waits for many others. Counting the missing ones is cheap and shows a direction. It only orders the open
//! list, so nothing depends on its being right. Cost: linear in the goals and the conditions of the rules that make them.

use crate::compile::System;
use crate::group::Class;

/// The goals of a system, with what their last pods wait for.
pub struct GoalCount {
    goals: Vec<Vec<Part>>,
}

struct Part {
    class: Class,
    needed: u64,
    /// For each rule that makes the class, the witnesses it needs, each one of some classes.
    ways: Vec<Vec<Vec<Class>>>,
}

impl GoalCount {
    /// The goals of a system.
    pub fn new(system: &System) -> Self {
        let witnesses = |&rule: &usize| {
            let required =
                system.rules[rule].guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
            let sums = required.flat_map(|condition| &condition.near);
            sums.map(|&sum| system.sums.weights[sum as usize].iter().map(|&(class, _)| class).collect()).collect()
        };
        let part = |&(class, needed): &(Class, u64)| Part {
            class,
            needed,
            ways: system.rules_of[class as usize].iter().map(witnesses).collect(),
        };
        Self { goals: system.goals.iter().map(|goal| goal.iter().map(part).collect()).collect() }
    }

    /// How much is missing for the nearest goal.
    pub fn distance(&self, count: impl Fn(Class) -> u64 + Copy) -> u64 {
        let distance =
            |goal: &Vec<Part>| goal.iter().fold(0u64, |total, part| total.saturating_add(part.distance(count)));
        self.goals.iter().map(distance).min().unwrap_or(0)
    }
}

impl Part {
    fn distance(&self, count: impl Fn(Class) -> u64 + Copy) -> u64 {
        let missing = self.needed.saturating_sub(count(self.class));
        if missing == 0 {
            return 0;
        }
        let unwitnessed = |group: &&Vec<Class>| group.iter().all(|&class| count(class) == 0);
        let lacking = self.ways.iter().map(|groups| groups.iter().filter(unwitnessed).count() as u64);
        missing.saturating_add(lacking.min().unwrap_or(0))
    }
}
