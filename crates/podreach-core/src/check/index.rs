//! Forbidden groups in a tree: a group is a path of its entries, and what is not present cuts off everything below it. Where there are
//! many pairs, these are in a table instead, and so are those that at-most-one constraints stand for.

use super::classes::Class;
use super::pairs::{Pairs, pair};
use crate::verdict::AtMostOne;

/// What is present: how many pods of each class, sorted by class, no zeros.
pub(super) type Present = Vec<(Class, u64)>;

/// How many pods of `class` are present.
pub(super) fn count(present: &Present, class: Class) -> u64 {
    present.binary_search_by_key(&class, |entry| entry.0).map_or(0, |at| present[at].1)
}

/// Adds one more pod of `class`.
pub(super) fn add_one(present: &mut Present, class: Class) {
    match present.binary_search_by_key(&class, |entry| entry.0) {
        Ok(at) => present[at].1 = present[at].1.saturating_add(1),
        Err(at) => present.insert(at, (class, 1)),
    }
}

/// A set of groups.
pub(super) struct Index {
    /// The places of the tree; the first is the root.
    places: Vec<Place>,
    /// Whether some group has a class.
    mentioned: Vec<bool>,
    /// The pairs, where there are many.
    pub(super) pairs: Option<Pairs>,
}

#[derive(Default)]
struct Place {
    /// Whether a group ends here.
    ends: bool,
    /// The next entries: a class, how many of it are needed, and the place below; sorted.
    next: Vec<(Class, u64, usize)>,
}

impl Index {
    /// These groups of so many classes, and those that at-most-one constraints stand for; `None` where the constraints do not fit into a
    /// table.
    pub(super) fn new(classes: usize, groups: &[Present], at_most_one: &[AtMostOne]) -> Option<Self> {
        let pairs = Pairs::new(classes, groups, at_most_one);
        if pairs.is_none() && at_most_one.iter().flatten().any(|part| !part.is_empty()) {
            return None;
        }
        let mut index = Self::with(pairs, classes, groups);
        at_most_one.iter().flatten().flatten().for_each(|&class| index.mentioned[class] = true);
        Some(index)
    }

    /// The same with this table of pairs, or with all groups in the tree.
    fn with(pairs: Option<Pairs>, classes: usize, groups: &[Present]) -> Self {
        let mut index = Self { places: vec![Place::default()], mentioned: vec![false; classes], pairs };
        groups.iter().flatten().for_each(|&(class, _)| index.mentioned[class] = true);
        let has_table = index.pairs.is_some();
        groups.iter().filter(|group| !has_table || pair(group).is_none()).for_each(|group| index.add(group));
        index
    }

    /// The same with all groups in the tree, however many pairs there are.
    #[cfg(test)]
    pub(super) fn without_table(classes: usize, groups: &[Present]) -> Self {
        Self::with(None, classes, groups)
    }

    fn add(&mut self, group: &Present) {
        let mut at = 0;
        for &(class, needed) in group {
            let found =
                self.places[at].next.binary_search_by_key(&(class, needed), |&(class, needed, _)| (class, needed));
            at = match found {
                Ok(way) => self.places[at].next[way].2,
                Err(way) => {
                    let below = self.places.len();
                    self.places[at].next.insert(way, (class, needed, below));
                    self.places.push(Place::default());
                    below
                }
            };
        }
        self.places[at].ends = true;
    }

    /// Whether some group has a class.
    pub(super) fn mentions(&self, class: Class) -> bool {
        self.mentioned.get(class).copied().unwrap_or(false)
    }

    /// Whether a group is contained in what is present.
    pub(super) fn finds_in(&self, present: &[(Class, u64)]) -> bool {
        self.pairs.as_ref().is_some_and(|pairs| pairs.finds_in(present)) || self.finds_below(0, present)
    }

    fn finds_below(&self, at: usize, present: &[(Class, u64)]) -> bool {
        let Place { ends, next } = &self.places[at];
        *ends
            || present.iter().enumerate().any(|(entry, &(class, count))| {
                let first = next.partition_point(|way| way.0 < class);
                let ways = next[first..].iter().take_while(|way| way.0 == class && way.1 <= count);
                ways.into_iter().any(|way| self.finds_below(way.2, &present[entry + 1..]))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_where_all_of_it_is_present() {
        let groups: [Present; 2] = [vec![(0, 1), (4, 2)], vec![(4, 1), (7, 1)]];
        let index = Index::new(8, &groups, &[]).expect("there are no constraints");
        assert!(index.finds_in(&[(0, 3), (4, 2)]) && index.finds_in(&[(1, 1), (4, 1), (7, 9)]));
        assert!([0, 4, 7].iter().all(|&class| index.mentions(class)) && !index.mentions(1));
        assert!(!index.finds_in(&[(0, 3), (4, 1)]) && !index.finds_in(&[(7, 2)]) && !index.finds_in(&[]));
    }

    #[test]
    fn pairs_are_found_in_the_table_as_in_the_tree() {
        let pairs = (0..5).flat_map(|a| (a..5).map(move |b| if a == b { vec![(a, 2)] } else { vec![(a, 1), (b, 1)] }));
        let (kept, groups): (Vec<Present>, Vec<Present>) = pairs.partition(|group| group[0].0 == 2);
        let (table, tree) = (Index::new(5, &groups, &[]).expect("no constraints"), Index::without_table(5, &groups));
        assert!(table.pairs.is_some() && tree.pairs.is_none());
        assert!(groups.iter().all(|group| table.finds_in(group) && tree.finds_in(group)));
        assert!(kept.iter().all(|group| !table.finds_in(group) && !tree.finds_in(group)) && table.mentions(2));
        assert!(
            !table.finds_in(&[(0, 1)])
                && !table.finds_in(&[(3, 1), (9, 2)])
                && table.finds_in(&[(1, 1), (4, 7), (9, 1)])
        );
    }
}
