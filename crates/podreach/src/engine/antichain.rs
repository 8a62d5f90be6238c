//! Sets of groups of which none contains another.

use super::group::{Class, Group, is_within};

/// The least groups of an upward-closed set.
#[derive(Clone, Debug, Default)]
pub struct Antichain {
    groups: Vec<Option<Group>>,
    /// For each class the groups that have it.
    having: Vec<Vec<usize>>,
    /// For each class the groups that are filed under it: under one of their own classes each, the rarest when they came.
    filed: Vec<Vec<usize>>,
}

impl Antichain {
    /// An empty set of groups over so many classes.
    pub fn new(classes: usize) -> Self {
        Self { groups: Vec::new(), having: vec![Vec::new(); classes], filed: vec![Vec::new(); classes] }
    }

    /// Whether some group is within `group`.
    pub fn covers(&self, group: &[(Class, u64)]) -> bool {
        let filed = group.iter().flat_map(|&(class, _)| &self.filed[class as usize]);
        filed.filter_map(|&id| self.groups[id].as_ref()).any(|least| is_within(least, group))
    }

    /// Adds a group that is not covered, removes those that it covers, and returns its id.
    pub fn insert(&mut self, group: Group) -> usize {
        let id = self.groups.len();
        let rarest = group.iter().map(|entry| entry.0 as usize).min_by_key(|&class| self.having[class].len());
        if let Some(rarest) = rarest {
            for &other in &self.having[rarest] {
                if self.groups[other].as_ref().is_some_and(|large| is_within(&group, large)) {
                    self.groups[other] = None;
                }
            }
            self.filed[rarest].push(id);
        }
        group.iter().for_each(|&(class, _)| self.having[class as usize].push(id));
        self.groups.push(Some(group));
        id
    }

    /// Whether the group with this id was not removed since.
    pub fn contains(&self, id: usize) -> bool {
        self.groups[id].is_some()
    }

    /// The groups.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_groups_replace_larger_ones() {
        let mut set = Antichain::new(3);
        set.insert(vec![(0, 1), (1, 1)]);
        set.insert(vec![(2, 2)]);
        assert!(set.covers(&[(0, 1), (1, 2)]) && !set.covers(&[(0, 5), (2, 1)]));
        set.insert(vec![(1, 1)]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [&vec![(2, 2)], &vec![(1, 1)]]);
    }
}
