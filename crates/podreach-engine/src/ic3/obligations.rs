//! Proof obligations: goals to block, each with the obligation it came from.
//!
//! Most are blocked and never looked at again. Only those in the queue, and the way from each of them to a goal of the problem, are
//! needed to extract a plan; the others are dropped when memory gets short.
//!
//! Invariant: a parent is older than its children.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Index;

use crate::group::{Class, Group};

/// A group to block and where it came from: applying the transition to it leads to the parent.
pub struct Obligation {
    pub group: Group,
    pub parent: Option<(usize, usize)>,
}

/// Obligations, by their numbers.
#[derive(Default)]
pub struct Obligations {
    all: Vec<Obligation>,
    /// How many entries the groups have in all.
    entries: usize,
    /// How many were left when some were dropped.
    left: usize,
}

/// Obligations to block, lowest level first, newest first.
pub type Queue = BinaryHeap<(Reverse<u32>, usize)>;

impl Obligations {
    /// One more.
    pub fn push(&mut self, obligation: Obligation) {
        self.entries += obligation.group.capacity();
        self.all.push(obligation);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many bytes they take, the waiting ones and what an allocation costs included.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Obligation>() + self.entries * size_of::<(Class, u64)>() + self.all.len() * 32
    }

    /// Drops obligations that are neither in the queue nor on the way from there to a goal, if these may be many. The first `goals` stay.
    pub fn forget(&mut self, goals: usize, queue: &mut Queue) {
        if self.all.len() < 2 * self.left.max(512) {
            return;
        }
        let mut kept = vec![false; self.all.len()];
        kept[..goals].fill(true);
        for &(_, goal) in queue.iter() {
            let mut at = Some(goal);
            while let Some(goal) = at.filter(|&goal| !kept[goal]) {
                kept[goal] = true;
                at = self.all[goal].parent.map(|(parent, _)| parent);
            }
        }
        let mut numbers = vec![0; self.all.len()];
        let all = std::mem::take(&mut self.all);
        self.entries = 0;
        // Parents are older than what came from them, so their numbers are known.
        for (goal, mut obligation) in all.into_iter().enumerate().filter(|&(goal, _)| kept[goal]) {
            numbers[goal] = self.all.len();
            obligation.parent = obligation.parent.map(|(parent, transition)| (numbers[parent], transition));
            self.push(obligation);
        }
        *queue = queue.drain().map(|(level, goal)| (level, numbers[goal])).collect();
        self.left = self.all.len();
    }
}

impl Index<usize> for Obligations {
    type Output = Obligation;
    fn index(&self, goal: usize) -> &Obligation {
        &self.all[goal]
    }
}

impl FromIterator<Obligation> for Obligations {
    fn from_iter<It: IntoIterator<Item = Obligation>>(all: It) -> Self {
        let mut obligations = Self::default();
        all.into_iter().for_each(|obligation| obligations.push(obligation));
        obligations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_keeps_its_way_to_the_goal_and_the_rest_goes() {
        let goals = (0..2_000).map(|number: usize| Obligation {
            group: vec![(number as Class, 1)],
            parent: number.checked_sub(1).map(|before| (before / 2, number)),
        });
        let mut obligations: Obligations = goals.collect();
        let mut queue: Queue = [(Reverse(3), 1_999), (Reverse(1), 5)].into_iter().collect();
        let before: Vec<_> = queue.clone().into_sorted_vec().iter().map(|&(_, goal)| way(&obligations, goal)).collect();
        let bytes = obligations.bytes();
        obligations.forget(1, &mut queue);
        let after: Vec<_> = queue.clone().into_sorted_vec().iter().map(|&(_, goal)| way(&obligations, goal)).collect();
        assert_eq!(before, after);
        assert!(obligations.len() < 20 && obligations.bytes() < bytes / 50);
    }

    fn way(obligations: &Obligations, mut at: usize) -> Vec<Group> {
        let mut way = vec![obligations[at].group.clone()];
        while let Some((parent, _)) = obligations[at].parent {
            at = parent;
            way.push(obligations[at].group.clone());
        }
        way
    }
}
