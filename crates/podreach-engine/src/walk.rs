//! How the forward search goes on by masks: through each door of a configuration that is kept, and on while there is only one way.
//!
//! Of such a stretch just a few milestones are kept, chosen by what they are, so that two stretches that meet soon know it. A door
//! that deletes all that the last step has brought is no way on: it was there before that step, and led at least as far.

use super::forward::{Forward, NONE};
use super::known::tag;
use super::mask::Spot;

/// Where a search is between two configurations that it keeps.
#[derive(Default)]
pub struct Walk {
    /// The configuration that was kept, and what was there before it; nothing where that has nothing to tell.
    start: Spot,
    earlier: Vec<u64>,
    /// The latest configuration that was kept, with its id: often the next one to go on from.
    latest: Spot,
    latest_id: Option<u32>,
    /// The doors of the start, and what is behind them so far, one after the other.
    doors: Vec<u32>,
    behind: Vec<u64>,
    before: Vec<u64>,
    here: Spot,
    /// The rules since the start.
    rules: Vec<u32>,
}

/// What to do next on a stretch.
enum Turn {
    Through(u32),
    Keep,
    GiveUp,
}

/// After so many configurations without a choice one is kept, or as many times more as fewer are kept otherwise.
const STRETCH: u64 = 1 << 10;

impl Forward<'_> {
    /// Goes on from a configuration that is kept; returns a goal if it finds one.
    pub(super) fn walk(&mut self, walk: &mut Walk, id: u32) -> Option<u32> {
        self.begin(walk, id);
        // Only the start and rules without a mask lead to configurations that are not filled yet. They are left this way alone, so
        // what is filled must not be taken for one of them.
        if !walk.start.rules.is_empty() {
            return self.add_whole(&walk.start.words, id, &walk.start.rules);
        }
        walk.doors.clear();
        walk.doors.extend(walk.start.doors());
        for at in 0..walk.doors.len() {
            let door = walk.doors[at];
            if !self.masks.leads_on(door, &walk.start.words, &walk.earlier) {
                continue;
            }
            self.made += 1;
            self.masks.enter(door, &walk.start, &mut walk.here);
            if walk.behind.chunks(self.words).any(|other| other == walk.here.words) {
                continue;
            }
            walk.behind.extend_from_slice(&walk.here.words);
            let goal = self.stretch(walk, id);
            if goal.is_some() {
                return goal;
            }
        }
        None
    }

    fn begin(&self, walk: &mut Walk, id: u32) {
        let (parent, way) = self.way_to(id);
        if walk.latest_id == Some(id) {
            std::mem::swap(&mut walk.start, &mut walk.latest);
            walk.latest_id = None;
            walk.start.rules.clear();
        } else {
            walk.start.words.clear();
            walk.start.words.extend_from_slice(self.packed(id));
            walk.start.rules.clear();
            self.masks.survey(&mut walk.start);
        }
        walk.behind.clear();
        walk.earlier.clear();
        // What is not filled yet was not left by its doors.
        if parent != NONE && self.masks.is_door(way[0], self.packed(parent)) {
            walk.earlier.extend_from_slice(self.packed(parent));
        }
    }

    /// Goes on from behind a door while there is only one way.
    fn stretch(&mut self, walk: &mut Walk, id: u32) -> Option<u32> {
        walk.rules.clone_from(&walk.here.rules);
        walk.before.clone_from(&walk.start.words);
        for length in 0.. {
            match self.turn(walk, length) {
                Turn::Through(door) => {
                    self.made += 1;
                    walk.before.clone_from(&walk.here.words);
                    self.masks.pass(door, &mut walk.here);
                    walk.rules.extend_from_slice(&walk.here.rules);
                }
                Turn::Keep => return self.keep(walk, id),
                Turn::GiveUp => break,
            }
            self.passed += 1;
        }
        None
    }

    /// Keeps where a stretch has led to, if that is new; returns its id if it is a goal.
    fn keep(&mut self, walk: &mut Walk, id: u32) -> Option<u32> {
        let next = self.kept() as u32;
        let goal = self.add(&walk.here, id, &walk.rules);
        if self.kept() as u32 > next {
            std::mem::swap(&mut walk.here, &mut walk.latest);
            walk.latest_id = Some(next);
        }
        goal
    }

    /// Where a stretch of this length goes on, if there is just one way.
    fn turn(&self, walk: &Walk, length: u64) -> Turn {
        // Rules without masks are ways, too.
        if !self.masks.others.is_empty() || self.is_milestone(&walk.here.words, length) {
            return Turn::Keep;
        }
        let (here, before) = (&walk.here, &walk.before);
        let mut ways = here.doors().filter(|&door| self.masks.leads_on(door, &here.words, before));
        match (ways.next(), ways.next()) {
            (None, _) => Turn::GiveUp,
            (Some(only), None) => Turn::Through(only),
            _ => Turn::Keep,
        }
    }

    /// Whether a configuration after a stretch of this length without a choice is kept: a goal, or one of a few.
    fn is_milestone(&self, packed: &[u64], length: u64) -> bool {
        u64::from(tag(packed)) & self.sparsity == 0 || length > STRETCH * self.sparsity || self.is_goal(packed)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use podreach_core::testing::{Rng, cases};
    use podreach_core::{Problem, Semantics, Verdict, check};

    use super::*;
    use crate::portfolio::Pursuit;
    use crate::{Budget, Found, System, ledger, slice};
    use podreach::encode::explore::{Explored, coverage};
    use podreach::encode::line;
    use podreach::encode::net::Net;
    use podreach::encode::petri::Encoding;

    /// Switches, each a place for on and one for off, that can be turned while others are as they must be; and the question whether
    /// some can be on or off together. Random pods seldom have to be deleted to get anywhere; here some are at every step.
    pub fn random_switches(rng: &mut Rng) -> (Net, Vec<usize>, Problem) {
        let (mut net, switches) = (Net::new("switches"), 3 + rng.below(4));
        for place in 0..2 * switches {
            net.add_place(format!("P{place}"), u64::from(place % 2 == 0));
        }
        let side = |rng: &mut Rng, switch: usize| 2 * switch + rng.below(2);
        for turn in 0..switches + rng.below(2 * switches) {
            let turned = rng.below(switches);
            let others = (0..switches).filter(|&switch| switch != turned);
            let context: Vec<usize> = others.filter(|_| rng.one_in(2)).collect();
            let context: Vec<usize> = context.into_iter().map(|switch| side(rng, switch)).collect();
            let from = side(rng, turned);
            let with = |place: usize| context.iter().copied().chain([place]).collect::<Vec<_>>();
            net.add_transition(format!("t{turn}"), &with(from), &with(from ^ 1));
        }
        let asked: Vec<usize> = (0..switches).filter(|_| rng.one_in(2)).collect();
        let goal: Vec<usize> = asked.into_iter().map(|switch| side(rng, switch)).collect();
        let goal = if goal.is_empty() { vec![1] } else { goal };
        let semantics = if rng.one_in(2) { Semantics::KubeScheduler } else { Semantics::Paper };
        let encoded = Encoding::new(&net, &goal, semantics).encoded();
        (net, goal, line::problem(&encoded).expect("encodings are well-formed"))
    }

    #[test]
    fn whatever_a_net_can_reach_is_found() {
        let (mut rng, mut answers, mut looked_at) = (Rng::new(83), [0; 2], 0);
        let cases = cases(400);
        for _ in 0..cases {
            let (net, goal, problem) = random_switches(&mut rng);
            let truth = matches!(coverage(&net, &goal, usize::MAX), Explored::Found(_));
            let system = System::new(&problem, slice::slice(&problem));
            let mut search = Forward::new(&system);
            match search.pursue(u64::MAX / 2, &Budget::unlimited()) {
                Some(Found::Reached(run)) => {
                    let trace = ledger::trace(&problem, &system, &run);
                    assert!(truth && check(&problem, Verdict::Deployable(trace)).is_ok(), "{goal:?} of {net:#?}");
                }
                Some(other) => panic!("{other:?}"),
                None => assert!(!truth && search.is_spent(), "{goal:?} of {net:#?}"),
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
