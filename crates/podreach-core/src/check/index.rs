//! Forbidden groups in a tree: a group is a path of its entries, and what is not present cuts off everything below it.

use std::collections::BTreeMap;

use super::classes::Class;
use crate::verdict::Group;

/// What is present: how many pods of each class, sorted by class, no zeros.
pub(super) type Present = Vec<(Class, u64)>;

/// How many pods of `class` are present.
pub(super) fn count(present: &Present, class: Class) -> u64 {
    present.binary_search_by_key(&class, |entry| entry.0).map_or(0, |at| present[at].1)
}

/// The same with one more pod of `class`.
pub(super) fn with_one(present: &Present, class: Class) -> Present {
    let mut more = present.clone();
    match more.binary_search_by_key(&class, |entry| entry.0) {
        Ok(at) => more[at].1 = more[at].1.saturating_add(1),
        Err(at) => more.insert(at, (class, 1)),
    }
    more
}

/// A set of groups.
#[derive(Default)]
pub(super) struct Index {
    /// Whether a group ends here.
    ends: bool,
    next: BTreeMap<Class, Vec<(u64, Index)>>,
}

impl Index {
    /// These groups.
    pub(super) fn new<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Self {
        let mut index = Self::default();
        groups.into_iter().for_each(|group| index.add(group));
        index
    }

    fn add(&mut self, group: &Group) {
        let mut at = self;
        for (&class, &needed) in group {
            let ways = at.next.entry(class).or_default();
            let way = ways.iter().position(|way| way.0 == needed).unwrap_or_else(|| {
                ways.push((needed, Self::default()));
                ways.len() - 1
            });
            at = &mut ways[way].1;
        }
        at.ends = true;
    }

    /// Whether a group is contained in what is present.
    pub(super) fn finds_in(&self, present: &[(Class, u64)]) -> bool {
        let below = |at: usize| {
            let (class, count) = present[at];
            let fitting = self.next.get(&class).into_iter().flatten().filter(move |way| way.0 <= count);
            fitting.into_iter().any(|way| way.1.finds_in(&present[at + 1..]))
        };
        self.ends || (!self.next.is_empty() && (0..present.len()).any(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_where_all_of_it_is_present() {
        let groups = [Group::from([(0, 1), (4, 2)]), Group::from([(4, 1), (7, 1)])];
        let index = Index::new(&groups);
        assert!(index.finds_in(&[(0, 3), (4, 2)]) && index.finds_in(&[(1, 1), (4, 1), (7, 9)]));
        assert!(!index.finds_in(&[(0, 3), (4, 1)]) && !index.finds_in(&[(7, 2)]) && !index.finds_in(&[]));
    }
}
