//! What a policy does: invocations start on workers and end.
//!
//! ```text
//! valid(f, b, w)  ≡  used(w) + memory(f) ≤ capacity(w)          and at most the share of it that b allows
//!                 ∧  |running on w| < max_concurrent_invocations(b)
//!                 ∧  each affine entry of b names a function that runs on w         one witness per entry
//!                 ∧  no anti-affine entry of b names a function that runs on w
//! start(f, w)     ≡  valid(f, b, w) for a block b of f with the worker w; with priorities, besides: no block before b has a valid worker,
//!                    nor, under best-first, has b one before w
//! end(f, w)       ≡  f runs on w
//! ```
//! A function is asked for its entries when it starts and never again, and nobody else's entries are asked then. There is no exception
//! for the first of its kind. Like the net's, this native semantics shares nothing with the encoding whose answers are held against it.
//!
//! **Priorities change no answer.** Suppose that w is valid for f by some block, and other candidates come first. Invoke f again and
//! again: each invocation takes memory where it starts, so every candidate is invalid after finitely many, and one invocation lands on
//! w at last. What w is valid by depends on w alone, and nothing else started there. Then let all the others end: what runs is what
//! ran before, and f on w. So every run without priorities has one with them that reaches the same ([`Query::in_order`]), and priorities only
//! forbid. The orders that make a difference are those of a bounded number of invocations.

use std::collections::BTreeMap;

use super::policy::{Block, Goal, Policy, Priorities, Query, Strategy};
use crate::encode::{DecodeError, EventError};

/// The most events that a run with priorities is written in.
const LONGEST: usize = 20_000;

/// What happens to an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An invocation of a function starts on a worker.
    Start {
        /// The function.
        function: usize,
        /// The worker.
        worker: usize,
    },
    /// An invocation of a function ends on a worker.
    End {
        /// The function.
        function: usize,
        /// The worker.
        worker: usize,
    },
}

/// How many invocations of each function run on each worker; at first, nothing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// By worker and function.
    counts: BTreeMap<(usize, usize), u64>,
}

impl Running {
    /// How many invocations of a function run on a worker.
    pub fn count(&self, function: usize, worker: usize) -> u64 {
        self.counts.get(&(worker, function)).copied().unwrap_or(0)
    }

    /// The same, to be changed.
    fn count_mut(&mut self, function: usize, worker: usize) -> &mut u64 {
        self.counts.entry((worker, function)).or_default()
    }

    /// The functions that run on a worker, with how many invocations of each.
    fn on(&self, worker: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let here = self.counts.range((worker, 0)..=(worker, usize::MAX));
        here.map(|(&(_, function), &count)| (function, count)).filter(|&(_, count)| count > 0)
    }

    /// Whether a goal is reached.
    pub fn has(&self, goal: &Goal, workers: usize) -> bool {
        let wanted = |function: usize| goal.functions.iter().filter(|&&other| other == function).count() as u64;
        let here = |worker: usize| goal.functions.iter().all(|&f| self.count(f, worker) >= wanted(f));
        goal.worker.map_or_else(|| (0..workers).any(here), here)
    }
}

impl Policy {
    /// Whether a worker is valid for a function by a block.
    pub fn is_valid(&self, running: &Running, function: usize, block: &Block, worker: usize) -> bool {
        let here = || running.on(worker);
        let used: u128 = here().map(|(f, count)| u128::from(count) * u128::from(self.functions[f].memory)).sum();
        let invocations: u64 = here().map(|(_, count)| count).sum();
        let runs = |&entry| here().any(|(other, _)| self.names(entry, other));
        used + u128::from(self.functions[function].memory) <= u128::from(self.room(block, worker))
            && block.max_concurrent_invocations.is_none_or(|most| invocations < most)
            && block.affine.iter().all(runs)
            && !block.anti_affine.iter().any(runs)
    }

    /// Where an invocation of a function may start now: the number of a block and a worker of it.
    pub fn choices(&self, running: &Running, function: usize, priorities: Priorities) -> Vec<(usize, usize)> {
        let mut choices = Vec::new();
        for (number, block) in self.blocks(function).into_iter().enumerate() {
            let mut workers: Vec<usize> = self
                .workers(block)
                .into_iter()
                .filter(|&worker| self.is_valid(running, function, block, worker))
                .collect();
            if priorities == Priorities::Respect && block.strategy == Strategy::BestFirst {
                workers.truncate(1);
            }
            choices.extend(workers.into_iter().map(|worker| (number, worker)));
            if priorities == Priorities::Respect && !choices.is_empty() {
                break;
            }
        }
        choices
    }
}

impl Query {
    /// Plays events from the start, where nothing runs, until the goal is reached: for each, the number of the block by which it starts.
    ///
    /// Otherwise says what is wrong with them.
    pub fn play(&self, events: &[Event]) -> Result<Vec<(Event, Option<usize>)>, DecodeError> {
        let mut running = Running::default();
        let mut played = Vec::new();
        for (&event, number) in events.iter().zip(1..) {
            if running.has(&self.goal, self.policy.workers.len()) {
                break;
            }
            let block = self.happens(&mut running, event);
            played.push((event, block.map_err(|why| DecodeError::Event(number, why))?));
        }
        let reached = running.has(&self.goal, self.policy.workers.len());
        if reached { Ok(played) } else { Err(DecodeError::EventsMissGoal) }
    }

    /// The same events with priorities: before a start, invocations that make the candidates before its worker invalid, and after it
    /// their ends. `None` if that takes too many, or the events are not possible.
    pub(crate) fn in_order(&self, events: &[Event]) -> Option<Vec<Event>> {
        let mut running = Running::default();
        let mut ordered = Vec::new();
        for &event in events {
            let mut ends = Vec::new();
            if let Event::Start { function, worker } = event {
                loop {
                    let choices = self.policy.choices(&running, function, Priorities::Respect);
                    if choices.iter().any(|&(_, at)| at == worker) {
                        break;
                    }
                    let &(_, worker) = choices.first().filter(|_| ordered.len() < LONGEST)?;
                    *running.count_mut(function, worker) += 1;
                    ordered.push(Event::Start { function, worker });
                    ends.push(Event::End { function, worker });
                }
            }
            for event in std::iter::once(event).chain(ends) {
                self.happens(&mut running, event).ok()?;
                ordered.push(event);
            }
        }
        (ordered.len() <= LONGEST).then_some(ordered)
    }

    fn happens(&self, running: &mut Running, event: Event) -> Result<Option<usize>, EventError> {
        match event {
            Event::Start { function, worker } => {
                let choices = self.policy.choices(running, function, self.priorities);
                let (block, _) = choices.into_iter().find(|&(_, at)| at == worker).ok_or(EventError::NotChosen)?;
                *running.count_mut(function, worker) += 1;
                Ok(Some(block))
            }
            Event::End { function, worker } => {
                let count = running.count_mut(function, worker);
                *count = count.checked_sub(1).ok_or(EventError::NotRunning)?;
                Ok(None)
            }
        }
    }
}
