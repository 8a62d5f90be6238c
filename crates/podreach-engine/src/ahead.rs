//! From the start to the goal: first straight on (`climb.rs`); where that leads nowhere, by a search from the best so far (`hill.rs`),
//! as long as that leads on, and by one that is complete (`forward.rs`), in turn.

use podreach_core::Learned;

use super::climb::Climb;
use super::forward::Forward;
use super::hill::Hill;
use super::portfolio::{Effort, Outlook, Pursuit};
use super::system::System;
use super::{Budget, Engine, Found};

/// A climb, and the search after it.
pub struct Ahead<'a> {
    system: &'a System,
    climb: Climb<'a>,
    /// Made when they are needed: their tables are larger than the climb.
    hill: Option<Hill<'a>>,
    search: Option<Forward<'a>>,
}

impl<'a> Ahead<'a> {
    /// A climb from the start.
    pub fn new(system: &'a System) -> Self {
        Self { system, climb: Climb::new(system), hill: None, search: None }
    }

    /// Climbs until that leads no further; returns what was found, or why it stopped.
    pub fn climb_to_the_end(&mut self, budget: &Budget<'_>) -> Option<Found> {
        self.climb(u64::MAX, budget).err()
    }

    /// What it did so far, as a part of a search.
    pub fn as_effort(&self) -> Effort {
        Effort { part: Engine::Forward.name(), counts: self.effort() }
    }

    /// Climbs on; returns what is left of the work, or what was found.
    fn climb(&mut self, work: u64, budget: &Budget<'_>) -> Result<u64, Found> {
        let mut left = work;
        while left > 0 && !self.climb.is_over() {
            if let Some(progress) = budget.progress {
                progress.states(self.climb.deployments());
            }
            if let Some(stop) = budget.stop(self.climb.bytes()) {
                let learned = Learned { deployments_ruled_out: None, explored: self.climb.deployments() };
                return Err(Found::Stopped { stop, learned });
            }
            let (done, run) = self.climb.go_on();
            if let Some(run) = run {
                return Err(Found::Reached(run));
            }
            left = left.saturating_sub(done);
        }
        Ok(left)
    }

    /// Goes on from the best so far, with about so much work; returns what was found.
    fn go_uphill(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let hill = self.hill.get_or_insert_with(|| Hill::new(self.system));
        let mut done = 0;
        while done < work && !hill.is_over() {
            if let Some(stop) = budget.stop(hill.bytes()) {
                let learned = Learned { deployments_ruled_out: None, explored: hill.evaluated() };
                return Some(Found::Stopped { stop, learned });
            }
            let (more, run) = hill.go_on();
            if let Some(run) = run {
                return Some(Found::Reached(run));
            }
            done += more;
        }
        None
    }
}

impl Pursuit for Ahead<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        match self.climb(work, budget) {
            Err(found) => Some(found),
            Ok(0) => None,
            Ok(left) => self.go_uphill(left / 2, budget).or_else(|| {
                self.search.get_or_insert_with(|| Forward::new(self.system)).pursue(left.div_ceil(2), budget)
            }),
        }
    }

    fn is_spent(&self) -> bool {
        self.search.as_ref().is_some_and(Pursuit::is_spent)
    }

    /// A climb is over soon, one way or the other.
    fn outlook(&self) -> Outlook {
        match &self.search {
            Some(search) => search.outlook(),
            None => Outlook::Good,
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        let climbed = self.climb.deployments();
        let plans = self.climb.plans() + self.hill.as_ref().map_or(0, Hill::evaluated);
        let (searched, kept) = self.search.as_ref().map_or((0, 0), |search| (search.looked_at(), search.kept()));
        vec![("plans", plans), ("configurations", climbed + searched), ("kept", kept)]
    }
}
