//! A bit matrix: many sets of small numbers; the same word of each is looked at in turn.
//!
//! Stored by column of words: what all sets have of the same 64 numbers is contiguous, so asking many sets about few numbers stays
//! within little memory.

use crate::bits::Bits;

/// Sets of numbers below a bound, as words of 64. What all sets have of the same 64 numbers lies side by side: whoever asks many sets
/// about few numbers stays within little memory.
#[derive(Clone, Debug)]
pub struct BitMatrix {
    /// How many sets there are.
    sets: usize,
    /// How many words each of them has.
    width: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    /// So many empty sets of numbers below `bound`.
    pub fn none(sets: usize, bound: usize) -> Self {
        let width = bound.div_ceil(64);
        Self { sets, width, words: vec![0; sets * width] }
    }

    /// These sets of numbers below `bound`.
    pub fn of(bound: usize, sets: impl ExactSizeIterator<Item = Bits>) -> Self {
        let mut matrix = Self::none(sets.len(), bound);
        for (set, bits) in sets.enumerate() {
            bits.words().iter().enumerate().for_each(|(word, &numbers)| matrix.add(set, word, numbers));
        }
        matrix
    }

    /// How many words each set has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A word of a set.
    pub fn word(&self, set: usize, word: usize) -> u64 {
        self.words[word * self.sets + set]
    }

    /// Adds numbers to a word of a set.
    pub fn add(&mut self, set: usize, word: usize, numbers: u64) {
        self.words[word * self.sets + set] |= numbers;
    }

    /// Removes all numbers of a word of a set, and returns them.
    pub fn take(&mut self, set: usize, word: usize) -> u64 {
        std::mem::take(&mut self.words[word * self.sets + set])
    }

    /// Whether a set has a number.
    pub fn contains(&self, set: usize, number: usize) -> bool {
        self.word(set, number / 64) >> (number % 64) & 1 == 1
    }

    /// Every set on its own.
    pub fn rows(&self) -> impl Iterator<Item = Bits> + '_ {
        (0..self.sets).map(|set| (0..self.width).map(|word| self.word(set, word)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_side_by_side_are_what_they_are_alone() {
        let sets = [Bits::of(130, [3, 64, 129].into_iter()), Bits::none(130), Bits::of(130, [64, 70].into_iter())];
        let mut matrix = BitMatrix::of(130, sets.iter().cloned());
        assert_eq!(matrix.rows().collect::<Vec<_>>(), sets);
        matrix.add(1, 2, 2);
        assert_eq!(matrix.take(2, 1), 1 | 1 << 6);
        assert!(matrix.contains(0, 129) && matrix.contains(1, 129) && !matrix.contains(2, 129));
        assert!(matrix.contains(0, 64) && !matrix.contains(2, 64) && matrix.word(2, 1) == 0);
    }
}
