//! Goal regression with an antichain of least goals: decides every problem, bounded or not, given time.
//!
//! A goal is reachable if the start has it, or if some pod of it was deployed last: then what was there before has the rest of the
//! goal and whatever the guard needs, and that is a goal again. What is in the way is simply not there, so goals only ever ask for
//! presence. Least goals form an antichain, and antichains of multisets are finite (Dickson's lemma), so this ends. If it ends
//! without meeting the start, the antichain is the proof.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use podreach_core::Learned;

use super::antichain::Antichain;
use super::form::{FormGuard, Forms, State};
use super::group::{self, Group};
use super::portfolio::Pursuit;
use super::run::Run;
use super::system::System;
use super::{Budget, Found, Stop};

/// A goal and where it came from: deploying by `rule` on top of this goal leads to `parent`.
struct Regressed {
    parent: Option<(usize, usize)>,
    depth: u64,
    id: usize,
    group: Group,
}

/// A search that can be paused between goals.
pub struct Backward<'a> {
    system: &'a System,
    goals: Vec<Regressed>,
    least: Antichain,
    todo: VecDeque<usize>,
}

enum End {
    Met(usize),
    Stopped(Stop, u64),
}

impl<'a> Backward<'a> {
    /// A search for the goals of a system.
    pub fn new(system: &'a System) -> Self {
        Self { system, goals: Vec::new(), least: Antichain::new(system.classes.len()), todo: VecDeque::new() }
    }

    /// Regresses so many goals; `Continue(true)` when none is left.
    fn run(&mut self, work: u64, budget: &Budget<'_>) -> ControlFlow<End, bool> {
        if self.goals.is_empty() {
            for goal in &self.system.goals {
                self.add(goal.clone(), None, 0)?;
            }
        }
        for _ in 0..work {
            let Some(&next) = self.todo.front() else { return ControlFlow::Continue(true) };
            if self.least.contains(self.goals[next].id) {
                self.regress(next, budget)?;
            }
            self.todo.pop_front();
        }
        ControlFlow::Continue(false)
    }

    fn add(&mut self, group: Group, parent: Option<(usize, usize)>, depth: u64) -> ControlFlow<End> {
        if self.least.covers(&group) {
            return ControlFlow::Continue(());
        }
        let met = group::is_covered(&group, &self.system.start);
        let id = self.least.insert(group.clone());
        self.goals.push(Regressed { parent, depth, id, group });
        self.todo.push_back(self.goals.len() - 1);
        if met { ControlFlow::Break(End::Met(self.goals.len() - 1)) } else { ControlFlow::Continue(()) }
    }

    fn regress(&mut self, goal: usize, budget: &Budget<'_>) -> ControlFlow<End> {
        let (group, depth, system) = (self.goals[goal].group.clone(), self.goals[goal].depth, self.system);
        for &(last, _) in &group {
            for &rule in &system.rules_of[last as usize] {
                let stopped = |stop| ControlFlow::Break(End::Stopped(stop, depth));
                let bytes = self.goals.len() * 160;
                budget.stop(bytes).map_or(ControlFlow::Continue(()), stopped)?;
                let before = group::without(&group, last);
                let mut stop = || budget.stop(bytes);
                let guard = &system.rules[rule].guard;
                let ways = ways(&system.forms, guard, before, &self.least, &mut stop);
                let ways = match ways {
                    Ok(ways) => ways,
                    Err(stop) => return stopped(stop),
                };
                for way in ways {
                    self.add(way, Some((goal, rule)), depth + 1)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

impl Pursuit for Backward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        match self.run(work, budget) {
            ControlFlow::Continue(true) => Some(Found::Never(self.least.iter().cloned().collect())),
            ControlFlow::Continue(false) => None,
            ControlFlow::Break(End::Met(goal)) => {
                let link = |at: usize| (&self.goals[at].group, self.goals[at].parent);
                Some(Found::Reached(Run::from_start(self.system, goal, link)))
            }
            ControlFlow::Break(End::Stopped(stop, depth)) => {
                // Every goal of a lesser depth was regressed, and none of them met the start.
                let learned = Learned { deployments_ruled_out: Some(depth), explored: self.goals.len() as u64 };
                Some(Found::Stopped { stop, learned })
            }
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![("goals", self.goals.len() as u64), ("left", self.todo.len() as u64)]
    }
}

/// The least groups above `base` where the guard holds, but for those that are covered already.
fn ways(
    forms: &Forms,
    guard: &FormGuard,
    base: Group,
    covered: &Antichain,
    stop: &mut dyn FnMut() -> Option<Stop>,
) -> Result<Vec<Group>, Stop> {
    let (mut stack, mut seen, mut found) = (vec![base], HashSet::new(), Vec::new());
    while let Some(group) = stack.pop() {
        if seen.len() % 256 == 255
            && let Some(stop) = stop()
        {
            return Err(stop);
        }
        let state = State::of_group(forms, &group);
        if !guard.is_bounded(&state) || covered.covers(&group) {
            continue;
        }
        let Some(needed) = guard.needed(&state) else {
            found.push(group);
            continue;
        };
        for &(class, _) in forms.weights[needed as usize].iter().rev() {
            let larger = group::with(&group, class);
            if seen.insert(larger.clone()) {
                stack.push(larger);
            }
        }
    }
    Ok(found)
}
