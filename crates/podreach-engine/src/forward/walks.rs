//! Random walks with restarts: from the start, one random move after the other, until a goal is there.
//!
//! In a wide system most moves are independent of each other, and a best-first search goes through their orders. A walk goes through one
//! order of each, deep, and forgets it. After Nakhost and Müller, *Monte-Carlo Exploration for Deterministic Planning* (IJCAI 2009);
//! tools for nets do the same (Thierry-Mieg, *Structural Reductions Revisited*, Petri Nets 2020). Incomplete: nothing is concluded
//! from walks that lead nowhere. The numbers are the same each time, so the same problem ends with the same plan.
//!
//! Invariant: the transitions of a walk lead from the start to where it is; a walk that comes to where it was before forgets the loop.
//! Cost: one saturation per move.

use std::hash::BuildHasher;

use podreach_core::Learned;
use podreach_core::random::Rng;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Forward;
use super::masks::MaskState;
use crate::budget::Budget;
use crate::group::Class;
use crate::plan::Plan;
use crate::pursuit::Found;

/// Walks take turns with these numbers of moves: most goals are near, and some are deep.
const LENGTHS: [u64; 4] = [1 << 8, 1 << 11, 1 << 8, 1 << 14];

/// So many transitions lie between two states that are stored to go back from a goal.
const STRETCH: usize = 1 << 10;

/// A walk, and how many there were.
pub(super) struct Walks {
    rng: Rng,
    /// Where every walk begins, once the first has.
    start: Option<MaskState>,
    here: MaskState,
    before: Vec<u64>,
    /// The transitions since the start.
    transitions: Vec<u32>,
    /// The states with a choice on the way, by their hashes, with how many transitions lead to each.
    way: Vec<(u64, usize)>,
    places: FxHashMap<u64, usize>,
    /// How many moves the walk has left.
    left: u64,
    /// How many walks there were, and how many moves.
    walks: u64,
    pub(super) moves: u64,
    key: Vec<u64>,
    choices: Vec<u32>,
}

impl Default for Walks {
    fn default() -> Self {
        Self {
            rng: Rng::new(0),
            start: None,
            here: MaskState::default(),
            before: Vec::new(),
            transitions: Vec::new(),
            way: Vec::new(),
            places: FxHashMap::default(),
            left: 0,
            walks: 0,
            moves: 0,
            key: Vec::new(),
            choices: Vec::new(),
        }
    }
}

impl Walks {
    /// A new walk.
    fn restart(&mut self) {
        let Some(start) = &self.start else { return };
        self.here.clone_from(start);
        self.before.clear();
        self.transitions.clone_from(&start.transitions);
        self.way.clear();
        self.places.clear();
        self.left = LENGTHS[self.walks as usize % LENGTHS.len()];
        self.walks += 1;
    }

    /// Notes a state with a choice; forgets the way from where it was met before.
    fn note(&mut self) {
        let hash = FxBuildHasher.hash_one(&self.key);
        if let Some(&place) = self.places.get(&hash) {
            for (later, _) in self.way.drain(place + 1..) {
                self.places.remove(&later);
            }
            self.transitions.truncate(self.way[place].1);
        } else {
            self.places.insert(hash, self.way.len());
            self.way.push((hash, self.transitions.len()));
        }
    }
}

impl Forward<'_> {
    /// Walks on, with so much work; returns what was found. Only where every transition is a mask.
    pub(super) fn walk(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        if !self.masks.any || !self.masks.others.is_empty() {
            return None;
        }
        let mut walks = std::mem::take(&mut self.walks);
        let found = self.walk_on(&mut walks, work, budget);
        self.walks = walks;
        found
    }

    fn walk_on(&mut self, walks: &mut Walks, work: u64, budget: &Budget<'_>) -> Option<Found> {
        if walks.start.is_none() {
            let mut start = MaskState::default();
            start.words.extend_from_slice(self.packed(0));
            self.masks.saturate(&mut start);
            walks.start = Some(start);
        }
        for _ in 0..work {
            if walks.moves.is_multiple_of(64)
                && let Some(stop) = budget.stop(self.bytes())
            {
                let learned = Learned { deployments_ruled_out: None, explored: walks.moves };
                return Some(Found::Stopped { stop, learned });
            }
            walks.moves += 1;
            if !self.make_random_move(walks) {
                walks.restart();
            } else if self.is_goal(&walks.here.words)
                && let Some(plan) = self.plan_of_walk(walks)
            {
                return Some(Found::Reached(plan));
            }
        }
        None
    }

    /// Makes one move; says whether there is one, and the walk is not over.
    fn make_random_move(&self, walks: &mut Walks) -> bool {
        let Walks { here, before, choices, .. } = &mut *walks;
        choices.clear();
        choices.extend(here.moves().filter(|&transition| self.masks.makes_progress(transition, &here.words, before)));
        if walks.left == 0 || walks.choices.is_empty() {
            return false;
        }
        walks.left -= 1;
        if walks.choices.len() > 1 {
            self.masks.without_deleted(&walks.here, &mut walks.key);
            walks.note();
        }
        let transition = walks.rng.pick(&walks.choices);
        walks.before.clone_from(&walks.here.words);
        self.masks.apply(transition, &mut walks.here);
        walks.transitions.extend_from_slice(&walks.here.transitions);
        true
    }

    /// The plan of a walk that ended in a goal; `None` if a hash took two states for one.
    fn plan_of_walk(&self, walks: &Walks) -> Option<Plan> {
        let mut stretches = vec![self.packed(0).to_vec()];
        for transitions in walks.transitions.chunks(STRETCH) {
            let after_each = self.after_transitions(stretches.last()?, transitions)?;
            stretches.push(after_each.chunks(self.words).next_back()?.to_vec());
        }
        let reached = stretches.last()?;
        let goal = self
            .system
            .goals
            .iter()
            .find(|goal| goal.iter().all(|&(class, needed)| self.count(reached, class) >= needed))?;
        let mut plan = Plan::to(goal.clone());
        let mut needs = vec![0; self.words];
        goal.iter().for_each(|&(class, _)| needs[class as usize / 64] |= 1 << (class % 64));
        for (transitions, from) in walks.transitions.chunks(STRETCH).zip(&stretches).rev() {
            let after_each = self.after_transitions(from, transitions)?;
            self.back_over(transitions, &after_each, &mut needs, &mut plan);
        }
        let needs = (0..self.system.classes.len() as Class).map(|class| (class, self.count(&needs, class)));
        plan.reverse(needs.filter(|&(_, count)| count > 0).collect());
        Some(plan)
    }

    /// What is there after each of some transitions, one after the other; `None` if one is not applicable.
    fn after_transitions(&self, from: &[u64], transitions: &[u32]) -> Option<Vec<u64>> {
        let (mut here, mut next, mut after_each) = (from.to_vec(), Vec::new(), Vec::new());
        for &transition in transitions {
            if !self.masks.has_witnesses(transition, &here) {
                return None;
            }
            self.masks.apply_alone(transition, &here, &mut next);
            std::mem::swap(&mut here, &mut next);
            after_each.extend_from_slice(&here);
        }
        Some(after_each)
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Switches, cases};
    use podreach_core::{Verdict, check};

    use super::*;
    use crate::compile::{System, slice};
    use crate::evidence::class_trace;

    #[test]
    fn walks_end_in_goals_that_can_be_reached() {
        let (mut rng, mut reached, mut solvable) = (Rng::new(97), 0, 0);
        let cases = cases(200);
        for _ in 0..cases {
            let switches = Switches::random(&mut rng);
            let (truth, problem) = (switches.is_solvable(), switches.problem());
            let system = System::new(&problem, slice(&problem));
            solvable += usize::from(truth);
            match Forward::new(&system).walk(1 << 14, &Budget::unlimited()) {
                Some(Found::Reached(plan)) => {
                    let trace = class_trace(&problem, &system, &plan);
                    assert!(truth && check(&problem, Verdict::Deployable(trace)).is_ok(), "{switches:?}");
                    reached += 1;
                }
                other => assert!(other.is_none(), "{other:?}"),
            }
        }
        assert!(reached > solvable / 2 && solvable < cases && reached > cases / 16, "{reached} of {solvable}");
    }
}
