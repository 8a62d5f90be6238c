//! Goal regression with an antichain of least goals: decides every problem, bounded or not, given time.
//!
//! A goal is reachable if the start has it, or if some pod of it was deployed last: then what was there before has the rest of the
//! goal and whatever the guard needs, and that is a goal again. What is in the way is simply not there, so goals only ever ask for
//! presence. Least goals form an antichain, and antichains of multisets are finite (Dickson's lemma), so this ends. If it ends
//! without meeting the start, the antichain is the proof.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use super::antichain::Antichain;
use super::form::{FormGuard, Forms, State};
use super::group::{self, Group};
use super::run::{Run, Step};
use super::system::System;
use super::{Budget, Found, Stop};

/// A goal and where it came from: deploying by `rule` on top of this goal leads to `parent`.
struct Regressed {
    parent: Option<(usize, usize)>,
    depth: u64,
    id: usize,
    group: Group,
}

/// Decides a system by regression.
pub fn decide(system: &System, budget: &Budget<'_>) -> Found {
    let mut search =
        Search { system, goals: Vec::new(), least: Antichain::new(system.classes.len()), todo: VecDeque::new() };
    let outcome = search.run(budget);
    match outcome {
        ControlFlow::Continue(()) => Found::Never(search.least.iter().cloned().collect()),
        ControlFlow::Break(End::Met(goal)) => Found::Reached(search.trail(goal)),
        ControlFlow::Break(End::Stopped(stop, depth)) => {
            Found::Stopped { stop, ruled_out: depth.checked_sub(1), explored: search.goals.len() as u64 }
        }
    }
}

enum End {
    Met(usize),
    Stopped(Stop, u64),
}

struct Search<'a> {
    system: &'a System,
    goals: Vec<Regressed>,
    least: Antichain,
    todo: VecDeque<usize>,
}

impl Search<'_> {
    fn run(&mut self, budget: &Budget<'_>) -> ControlFlow<End> {
        for goal in self.system.goals.clone() {
            self.add(goal, None, 0)?;
        }
        while let Some(next) = self.todo.pop_front() {
            if self.least.contains(self.goals[next].id) {
                self.regress(next, budget)?;
            }
        }
        ControlFlow::Continue(())
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
        let (group, depth) = (self.goals[goal].group.clone(), self.goals[goal].depth);
        for &(last, _) in &group {
            for &rule in &self.system.rules_of[last as usize] {
                let stopped = |stop| ControlFlow::Break(End::Stopped(stop, depth));
                let bytes = self.goals.len() * 160;
                budget.stop(bytes).map_or(ControlFlow::Continue(()), stopped)?;
                let before = group::without(&group, last);
                let mut stop = || budget.stop(bytes);
                let guard = &self.system.rules[rule].guard;
                let ways = ways(&self.system.forms, guard, before, &self.least, &mut stop);
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

    /// The deployments that lead from the start to the goal, each with what must be there before it.
    fn trail(&self, mut at: usize) -> Run {
        let mut steps = Vec::new();
        while let Some((parent, rule)) = self.goals[at].parent {
            steps.push(Step { rule, needs: self.goals[at].group.clone() });
            at = parent;
        }
        Run { steps, reaches: self.goals[at].group.clone() }
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
