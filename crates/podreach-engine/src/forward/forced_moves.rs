//! Expands a state by its moves, and follows forced moves: the states in between are not stored.
//!
//! Of such a stretch a few states are stored, selected by their hash, so that two stretches that meet soon notice it. A move that deletes
//! everything that the last step brought is not followed: it was possible before that step, and led at least as far.
//!
//! Invariant: what is skipped is covered by what is stored or by what it leads to. Cost: one saturation per move.

use super::masks::MaskState;
use super::visited::tag;
use super::{Forward, NONE};

/// Where a search is between two states that it stores.
#[derive(Default)]
pub struct ForcedMoves {
    /// The stored state that is expanded, and its parent; empty where the parent does not matter.
    start: MaskState,
    earlier: Vec<u64>,
    /// The latest stored state, with its id: often the next to be expanded.
    latest: MaskState,
    latest_id: Option<u32>,
    /// The moves of that state, and the states they led to so far.
    moves: Vec<u32>,
    behind: Vec<u64>,
    before: Vec<u64>,
    here: MaskState,
    /// The transitions since the start.
    transitions: Vec<u32>,
}

/// What to do next.
enum Next {
    Apply(u32),
    Store,
    Stop,
}

/// After so many forced moves a state is stored; more, the fewer are stored otherwise.
const STRETCH: u64 = 1 << 10;

impl Forward<'_> {
    /// Expands a stored state; returns a goal if it finds one.
    pub(super) fn follow_moves(&mut self, way: &mut ForcedMoves, id: u32) -> Option<u32> {
        self.begin(way, id);
        // Only the start and transitions without a mask lead to states that are not saturated. Saturation is their only successor, so it
        // must not be taken for one of them.
        if !way.start.transitions.is_empty() {
            return self.add_whole(&way.start.words, id, &way.start.transitions);
        }
        way.moves.clear();
        way.moves.extend(way.start.moves());
        for at in 0..way.moves.len() {
            let transition = way.moves[at];
            if !self.masks.makes_progress(transition, &way.start.words, &way.earlier) {
                continue;
            }
            self.made += 1;
            self.masks.apply_to(transition, &way.start, &mut way.here);
            if way.behind.chunks(self.words).any(|other| other == way.here.words) {
                continue;
            }
            way.behind.extend_from_slice(&way.here.words);
            let goal = self.follow(way, id);
            if goal.is_some() {
                return goal;
            }
        }
        None
    }

    fn begin(&self, way: &mut ForcedMoves, id: u32) {
        let (parent, transitions) = self.way_to(id);
        if way.latest_id == Some(id) {
            std::mem::swap(&mut way.start, &mut way.latest);
            way.latest_id = None;
            way.start.transitions.clear();
        } else {
            way.start.words.clear();
            way.start.words.extend_from_slice(self.packed(id));
            way.start.transitions.clear();
            self.masks.saturate(&mut way.start);
        }
        way.behind.clear();
        way.earlier.clear();
        // A state that is not saturated was not left by its moves.
        if parent != NONE && self.masks.is_move(transitions[0], self.packed(parent)) {
            way.earlier.extend_from_slice(self.packed(parent));
        }
    }

    /// Follows forced moves.
    fn follow(&mut self, way: &mut ForcedMoves, id: u32) -> Option<u32> {
        way.transitions.clone_from(&way.here.transitions);
        way.before.clone_from(&way.start.words);
        for length in 0.. {
            match self.next(way, length) {
                Next::Apply(transition) => {
                    self.made += 1;
                    way.before.clone_from(&way.here.words);
                    self.masks.apply(transition, &mut way.here);
                    way.transitions.extend_from_slice(&way.here.transitions);
                }
                Next::Store => return self.store(way, id),
                Next::Stop => break,
            }
            self.passed += 1;
        }
        None
    }

    /// Stores the state that forced moves led to, if it is new; returns its id if it is a goal.
    fn store(&mut self, way: &mut ForcedMoves, id: u32) -> Option<u32> {
        let next = self.stored() as u32;
        let goal = self.add(&way.here, id, &way.transitions);
        if self.stored() as u32 > next {
            std::mem::swap(&mut way.here, &mut way.latest);
            way.latest_id = Some(next);
        }
        goal
    }

    /// The forced move after so many others, if there is one.
    fn next(&self, way: &ForcedMoves, length: u64) -> Next {
        // Transitions without masks are choices as well.
        if !self.masks.others.is_empty() || self.is_stored(&way.here.words, length) {
            return Next::Store;
        }
        let (here, before) = (&way.here, &way.before);
        let mut ways = here.moves().filter(|&transition| self.masks.makes_progress(transition, &here.words, before));
        match (ways.next(), ways.next()) {
            (None, _) => Next::Stop,
            (Some(only), None) => Next::Apply(only),
            _ => Next::Store,
        }
    }

    /// Whether a state after so many forced moves is stored: a goal, or one of a few.
    fn is_stored(&self, packed: &[u64], length: u64) -> bool {
        u64::from(tag(packed)) & self.sparsity == 0 || length > STRETCH * self.sparsity || self.is_goal(packed)
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, Switches, cases};
    use podreach_core::{Verdict, check};

    use super::*;
    use crate::budget::Budget;
    use crate::compile::{System, slice};
    use crate::evidence::class_trace;
    use crate::pursuit::{Found, Pursuit};

    #[test]
    fn every_puzzle_that_can_be_solved_is() {
        let (mut rng, mut answers, mut looked_at) = (Rng::new(83), [0; 2], 0);
        let cases = cases(400);
        for _ in 0..cases {
            let switches = Switches::random(&mut rng);
            let (truth, problem) = (switches.is_solvable(), switches.problem());
            let system = System::new(&problem, slice(&problem));
            let mut search = Forward::new(&system);
            match search.pursue(u64::MAX / 2, &Budget::unlimited()) {
                Some(Found::Reached(plan)) => {
                    let trace = class_trace(&problem, &system, &plan);
                    assert!(truth && check(&problem, Verdict::Deployable(trace)).is_ok(), "{switches:?}");
                }
                Some(other) => panic!("{other:?}"),
                None => assert!(!truth && search.is_spent(), "{switches:?}"),
            }
            answers[usize::from(truth)] += 1;
            looked_at += search.looked_at();
        }
        assert!(
            answers.iter().all(|&count| count > cases / 10) && looked_at > 8 * cases as u64,
            "{answers:?} {looked_at}"
        );
    }
}
