//! The stages of the forward engine: follow relaxed plans; then enforced hill climbing, random walks and complete search, in turn.
//!
//! FF does the same without walks and turns: hill climbing first and, if that fails, best-first search.

use podreach_core::Learned;

use super::Forward;
use crate::budget::Budget;
use crate::compile::System;
use crate::pursuit::{Effort, Engine, Found, Outlook, Pursuit};
use crate::relaxed::{HillClimbing, PlanFollower};

/// The stages of a forward search.
pub struct Staged<'a> {
    system: &'a System,
    follower: PlanFollower<'a>,
    /// Made when they are needed: their tables are large.
    hill_climbing: Option<HillClimbing<'a>>,
    search: Option<Forward<'a>>,
}

impl<'a> Staged<'a> {
    /// From the start.
    pub fn new(system: &'a System) -> Self {
        Self { system, follower: PlanFollower::new(system), hill_climbing: None, search: None }
    }

    /// Follows relaxed plans as far as they lead; returns what was found, or why it stopped.
    pub fn follow_to_the_end(&mut self, budget: &Budget<'_>) -> Option<Found> {
        self.follow(u64::MAX, budget).err()
    }

    /// What it did so far, as a part of a search.
    pub fn as_effort(&self) -> Effort {
        Effort { part: Engine::Forward.name(), counts: self.effort() }
    }

    /// Follows relaxed plans; returns what is left of the work, or what was found.
    fn follow(&mut self, work: u64, budget: &Budget<'_>) -> Result<u64, Found> {
        let mut left = work;
        while left > 0 && !self.follower.is_over() {
            if let Some(progress) = budget.progress {
                progress.states(self.follower.deployments());
            }
            if let Some(stop) = budget.stop(self.follower.bytes()) {
                let learned = Learned { deployments_ruled_out: None, explored: self.follower.deployments() };
                return Err(Found::Stopped { stop, learned });
            }
            let (done, plan) = self.follower.go_on();
            if let Some(plan) = plan {
                return Err(Found::Reached(plan));
            }
            left = left.saturating_sub(done);
        }
        Ok(left)
    }

    /// Climbs on, with about so much work; returns what was found.
    fn climb(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let hill_climbing = self.hill_climbing.get_or_insert_with(|| HillClimbing::new(self.system));
        let mut done = 0;
        while done < work && !hill_climbing.is_over() {
            if let Some(stop) = budget.stop(hill_climbing.bytes()) {
                let learned = Learned { deployments_ruled_out: None, explored: hill_climbing.evaluated() };
                return Some(Found::Stopped { stop, learned });
            }
            let (more, plan) = hill_climbing.go_on();
            if let Some(plan) = plan {
                return Some(Found::Reached(plan));
            }
            done += more;
        }
        None
    }

    /// Searches on; walks half as much, unless the search seems to get somewhere or has nothing left to look at.
    fn search(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let search = self.search.get_or_insert_with(|| Forward::new(self.system));
        let walks = search.outlook() != Outlook::Good && !search.is_spent();
        let found = if walks { search.walk(work / 2, budget) } else { None };
        found.or_else(|| search.pursue(work, budget))
    }
}

impl Pursuit for Staged<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        match self.follow(work, budget) {
            Err(found) => Some(found),
            Ok(0) => None,
            Ok(left) => self.climb(left / 2, budget).or_else(|| self.search(left.div_ceil(2), budget)),
        }
    }

    fn is_spent(&self) -> bool {
        self.search.as_ref().is_some_and(Pursuit::is_spent)
    }

    /// Following relaxed plans is over soon, one way or the other.
    fn outlook(&self) -> Outlook {
        match &self.search {
            Some(search) => search.outlook(),
            None => Outlook::Good,
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        let climbed = self.follower.deployments();
        let plans = self.follower.plans() + self.hill_climbing.as_ref().map_or(0, HillClimbing::evaluated);
        let (searched, kept, walked) =
            self.search.as_ref().map_or((0, 0, 0), |search| (search.looked_at(), search.stored(), search.walks.moves));
        vec![("plans", plans), ("configurations", climbed + searched), ("kept", kept), ("walked", walked)]
    }
}
