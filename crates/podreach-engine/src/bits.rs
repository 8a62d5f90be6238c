//! Bit sets: sets of numbers below a bound, one bit each.

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// No numbers, below `bound`.
    pub fn none(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    /// These numbers, below `bound`.
    pub fn of(bound: usize, numbers: impl Iterator<Item = usize>) -> Self {
        let mut bits = Self::none(bound);
        numbers.for_each(|number| bits.insert(number));
        bits
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Makes it the empty set of numbers below `bound`.
    pub fn resize(&mut self, bound: usize) {
        self.0.clear();
        self.0.resize(bound.div_ceil(64), 0);
    }

    /// Removes every number.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Removes a number.
    pub fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Whether it has a number.
    pub fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Leaves only numbers that are in another set as well.
    pub fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// The least number.
    pub fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    /// Removes all numbers of another set.
    pub fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    /// Whether it has no number.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Its numbers as words of bits.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Its numbers, in order.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| ones(index, word))
    }
}

impl FromIterator<u64> for Bits {
    /// The numbers of words of bits.
    fn from_iter<I: IntoIterator<Item = u64>>(words: I) -> Self {
        Self(words.into_iter().collect())
    }
}

/// The numbers of a word of bits, in order.
pub fn ones(index: usize, word: u64) -> impl Iterator<Item = usize> {
    let rests = std::iter::successors((word != 0).then_some(word), |&rest| {
        let rest = rest & (rest - 1);
        (rest != 0).then_some(rest)
    });
    rests.map(move |rest| index * 64 + rest.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let mut bits = Bits::of(130, [3, 64, 129].into_iter());
        assert_eq!(bits.ones().collect::<Vec<_>>(), [3, 64, 129]);
        bits.remove(64);
        assert!(bits.contains(129) && !bits.contains(64));
        bits.subtract(&Bits::of(130, [3].into_iter()));
        assert_eq!(bits.ones().collect::<Vec<_>>(), [129]);
        assert_eq!(bits, [0, 0, 2].into_iter().collect());
    }
}
