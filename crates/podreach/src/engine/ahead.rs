//! From the start to the goal: first straight on (`climb.rs`), and by a search (`forward.rs`) where that leads nowhere.

use podreach_core::Learned;

use super::climb::Climb;
use super::forward::Forward;
use super::portfolio::{Outlook, Pursuit};
use super::system::System;
use super::{Budget, Found};

/// A climb, and the search after it.
pub struct Ahead<'a> {
    system: &'a System,
    climb: Climb<'a>,
    /// Made when it is needed: its tables are larger than the climb.
    search: Option<Forward<'a>>,
}

impl<'a> Ahead<'a> {
    /// A climb from the start.
    pub fn new(system: &'a System) -> Self {
        Self { system, climb: Climb::new(system), search: None }
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
}

impl Pursuit for Ahead<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        match self.climb(work, budget) {
            Err(found) => Some(found),
            Ok(0) => None,
            Ok(left) => self.search.get_or_insert_with(|| Forward::new(self.system)).pursue(left, budget),
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
        let (climbed, plans) = (self.climb.deployments(), self.climb.plans());
        let (searched, kept) = self.search.as_ref().map_or((0, 0), |search| (search.looked_at(), search.kept()));
        vec![("plans", plans), ("configurations", climbed + searched), ("kept", kept)]
    }
}
