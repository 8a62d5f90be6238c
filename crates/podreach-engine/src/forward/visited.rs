//! The visited set: a hash table of state numbers.
//!
//! Each entry has 32 bits of the hash, so most lookups, and growing, need no look at the states themselves.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

/// Numbered configurations.
#[derive(Debug, Default)]
pub struct VisitedSet {
    table: HashTable<(u32, u32)>,
}

impl VisitedSet {
    /// Adds a state under a key, unless a stored one subsumes it; returns whether it was added.
    pub fn insert(&mut self, key: &[u64], id: u32, subsumes: impl Fn(u32) -> bool) -> bool {
        let tag = tag(key);
        let entry = self.table.entry(spread(tag), |&(other, id)| other == tag && subsumes(id), |&(tag, _)| spread(tag));
        match entry {
            Entry::Vacant(entry) => {
                entry.insert((tag, id));
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// How many bytes it holds, or will when it grows if it is full.
    pub fn bytes(&self) -> usize {
        let full = self.table.len() == self.table.capacity();
        self.table.allocation_size() * if full { 3 } else { 1 }
    }
}

/// A few bits of a hash.
pub fn tag(key: &[u64]) -> u32 {
    // The high bits, since the low ones depend on few words.
    (FxBuildHasher.hash_one(key) >> 32) as u32
}

/// A hash from a tag: the table looks at the highest and the lowest bits.
fn spread(tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_not_added_again() {
        let all: Vec<[u64; 2]> = (0..1000).map(|number| [number % 500, number % 2]).collect();
        let mut visited = VisitedSet::default();
        for (id, key) in all.iter().enumerate() {
            assert_eq!(visited.insert(key, id as u32, |other| all[other as usize] == *key), id < 500);
        }
        assert!(!visited.insert(&all[7], 1000, |other| other == 7));
        assert!(visited.insert(&all[7], 1000, |_| false));
    }
}
