//! The open list: states that are found and not expanded, by heuristic value, with every fourth turn for the oldest.
//!
//! Alternation makes the search fair: even where there are infinitely many states, each is expanded at some time. Compare the alternation
//! of open lists in Helmert, *The Fast Downward Planning System* (JAIR 26, 2006).
//!
//! Invariant: a state is expanded once, whichever queue it is taken from. Cost: logarithmic in the number of heuristic values.

use std::collections::{BTreeMap, VecDeque};

/// Of so many turns one is the oldest's.
const TURNS: u64 = 4;

/// What is left to look at, by a number that says how far it seems from the goal.
#[derive(Debug, Default)]
pub struct OpenList {
    by_distance: BTreeMap<u64, VecDeque<u32>>,
    /// Whether each was looked at.
    done: Vec<bool>,
    /// None before this is left.
    oldest: usize,
    taken: u64,
}

impl OpenList {
    /// One more; they are numbered as they come.
    pub fn push(&mut self, distance: u64) {
        let id = self.done.len() as u32;
        self.done.push(false);
        self.by_distance.entry(distance).or_default().push_back(id);
    }

    /// How many were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// How many are left.
    pub fn left(&self) -> u64 {
        self.done.len() as u64 - self.taken
    }

    /// Takes the next to look at.
    pub fn pop(&mut self) -> Option<u32> {
        let id = if self.taken % TURNS == TURNS - 1 { self.pop_oldest() } else { self.pop_nearest() }?;
        self.done[id as usize] = true;
        self.taken += 1;
        Some(id)
    }

    fn pop_oldest(&mut self) -> Option<u32> {
        while *self.done.get(self.oldest)? {
            self.oldest += 1;
        }
        Some(self.oldest as u32)
    }

    fn pop_nearest(&mut self) -> Option<u32> {
        loop {
            let mut nearest = self.by_distance.first_entry()?;
            match nearest.get_mut().pop_front() {
                Some(id) if !self.done[id as usize] => return Some(id),
                Some(_) => {}
                None => drop(nearest.remove()),
            }
        }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.done.capacity() + self.by_distance.values().map(|queue| 4 * queue.capacity()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_the_oldest_in_between() {
        let mut open = OpenList::default();
        [5, 5, 5, 1, 1, 1, 1].into_iter().for_each(|distance| open.push(distance));
        let order: Vec<u32> = std::iter::from_fn(|| open.pop()).collect();
        assert_eq!(order, [3, 4, 5, 0, 6, 1, 2]);
        assert_eq!((open.left(), open.taken(), open.pop()), (0, 7, None));
    }

    #[test]
    fn without_a_direction_the_oldest_come_first() {
        let mut open = OpenList::default();
        (0..9).for_each(|_| open.push(2));
        assert!(std::iter::from_fn(|| open.pop()).eq(0..9));
    }
}
