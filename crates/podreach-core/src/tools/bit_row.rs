//! Rows of bits, of which the tables of a model consist.

/// A row of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct BitRow(Vec<u64>);

impl BitRow {
    pub(crate) fn of(length: usize, ones: impl Iterator<Item = usize>) -> Self {
        let mut row = Self(vec![0; length.div_ceil(64)]);
        ones.for_each(|index| row.set(index));
        row
    }

    pub(crate) fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub(crate) fn clear(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    pub(crate) fn bit(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// Keeps the bits that another row of the same length has as well.
    pub(crate) fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// Adds the bits of another row of the same length.
    pub(crate) fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// The indexes of the bits that are set, in order.
    pub(crate) fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let rests = std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)));
            rests.take_while(|&rest| rest != 0).map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<bool> for BitRow {
    fn from_iter<It: IntoIterator<Item = bool>>(bits: It) -> Self {
        let mut words = Vec::new();
        for (index, bit) in bits.into_iter().enumerate() {
            if index % 64 == 0 {
                words.push(0);
            }
            words[index / 64] |= u64::from(bit) << (index % 64);
        }
        Self(words)
    }
}
