//! Generalisation: a forbidden group is reduced to a smaller one that is still forbidden, pod by pod.
//!
//! A pod is dropped if the rest is still forbidden, after a few counterexamples to generalisation are blocked themselves. After Hassan,
//! Bradley and Somenzi, *Better Generalization in IC3* (FMCAD 2013). Where a puzzle leaves no choice, groups are minimal from the start,
//! and trying costs most of the queries; so the rate of success is measured, and trying stops where it does not pay: where it does, one
//! trial in four succeeds, elsewhere hardly one in a hundred.

use std::cmp::Reverse;

use super::{End, Ic3};
use crate::budget::Budget;
use crate::group::{self, Class, Group};

/// How many counterexamples to generalisation are blocked before an entry is kept, and how deeply.
const COUNTEREXAMPLES: usize = 3;
const COUNTEREXAMPLE_DEPTH: usize = 1;

/// After so many trials it may stop; it goes on while one in so many succeeds; and where it stopped, one group in so many is tried.
const FIRST: u64 = 256;
const RATE: u64 = 16;
const EVERY: u64 = 64;

/// As many trials are remembered.
const MEMORY: u64 = 1 << 12;

/// What came of trying to do with one pod less.
#[derive(Clone, Debug, Default)]
pub struct DropRate {
    tried: u64,
    gained: u64,
    groups: u64,
}

impl DropRate {
    /// Whether to try with one more group: always at first and where it pays, and now and then where it does not.
    pub fn pays(&mut self) -> bool {
        self.groups += 1;
        self.tried < FIRST || self.gained * RATE >= self.tried || self.groups.is_multiple_of(EVERY)
    }

    /// Notes whether one pod less would do; old trials count less and less.
    pub fn note(&mut self, gained: bool) {
        self.tried += 1;
        self.gained += u64::from(gained);
        if self.tried >= MEMORY {
            (self.tried, self.gained) = (self.tried / 2, self.gained / 2);
        }
    }
}

impl Ic3<'_> {
    /// A part of the group, as small as dropping one pod after the other gives, that is still forbidden at `level`. The group was
    /// just found to have no predecessor.
    pub(super) fn generalise(
        &mut self,
        group: Group,
        level: u32,
        depth: usize,
        budget: &Budget<'_>,
    ) -> Result<Group, End> {
        let mut kept = self.predecessors.argument(group);
        if !self.drops.pays() {
            return Ok(kept);
        }
        let mut order: Vec<Class> = kept.iter().map(|entry| entry.0).collect();
        // What is far from the start goes first: what can never be present together is best said of what comes early.
        order.sort_by_key(|&class| Reverse((self.layers[class as usize], class)));
        for class in order {
            while group::count(&kept, class) > 0 {
                let smaller = group::without(&kept, class);
                let forbidden = self.is_forbidden_with_help(&smaller, level, depth, budget)?;
                self.drops.note(forbidden);
                if !forbidden {
                    break;
                }
                kept = self.predecessors.argument(smaller);
            }
        }
        Ok(kept)
    }

    /// Whether a group is forbidden at `level`, after blocking a few counterexamples.
    fn is_forbidden_with_help(
        &mut self,
        group: &Group,
        level: u32,
        depth: usize,
        budget: &Budget<'_>,
    ) -> Result<bool, End> {
        if group::is_covered(group, &self.system.start) {
            return Ok(false);
        }
        for _ in 0..=COUNTEREXAMPLES {
            if self.conflict(group, level).is_some() {
                self.predecessors.forget_argument();
                return Ok(true);
            }
            let Some((before, _)) = self.predecessor(group, level, budget)? else { return Ok(true) };
            let hopeless =
                depth >= COUNTEREXAMPLE_DEPTH || level <= 1 || group::is_covered(&before, &self.system.start);
            if hopeless || !self.is_forbidden(&before, level - 1, budget)? {
                return Ok(false);
            }
            self.learn(before, level - 1, depth + 1, budget)?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(outcomes: impl Iterator<Item = bool>) -> DropRate {
        let mut drops = DropRate::default();
        outcomes.for_each(|gained| drops.note(gained));
        drops
    }

    #[test]
    fn what_fails_is_given_up_and_looked_at_now_and_then() {
        let mut drops = after((0..FIRST).map(|_| false));
        assert_eq!((0..10 * EVERY).filter(|_| drops.pays()).count(), 10);
        (0..MEMORY).for_each(|_| drops.note(true));
        assert!((0..EVERY).all(|_| drops.pays()));
    }

    #[test]
    fn what_pays_goes_on_and_nothing_is_given_up_at_once() {
        let mut young = after((1..FIRST).map(|_| false));
        let mut paying = after((0..100 * MEMORY).map(|trial| trial % 8 == 0));
        assert!((0..EVERY).all(|_| young.pays() && paying.pays()));
    }
}
