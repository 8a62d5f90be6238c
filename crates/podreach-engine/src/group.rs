//! Groups: small multisets of classes, as lists sorted by class.
//!
//! Invariant: classes ascend and counts are positive. Lookups are binary searches; containment is a merge.

/// A class of atoms that nothing tells apart, by its index in the system.
pub type Class = u32;

/// How many pods of each class, at least; sorted by class, no zeros.
pub type Group = Vec<(Class, u64)>;

/// How many of `class` a group has.
pub fn count(group: &[(Class, u64)], class: Class) -> u64 {
    group.binary_search_by_key(&class, |entry| entry.0).map_or(0, |index| group[index].1)
}

/// Adds one of `class`.
pub fn add(group: &mut Group, class: Class) {
    match group.binary_search_by_key(&class, |entry| entry.0) {
        Ok(index) => group[index].1 += 1,
        Err(index) => group.insert(index, (class, 1)),
    }
}

/// Removes one of `class`, if there is one.
pub fn remove(group: &mut Group, class: Class) {
    if let Ok(index) = group.binary_search_by_key(&class, |entry| entry.0) {
        group[index].1 -= 1;
        if group[index].1 == 0 {
            group.remove(index);
        }
    }
}

/// The group with one less of `class`.
#[must_use]
pub fn without(group: &[(Class, u64)], class: Class) -> Group {
    let mut smaller = group.to_vec();
    remove(&mut smaller, class);
    smaller
}

/// Pointwise `≤`.
pub fn is_within(small: &[(Class, u64)], large: &[(Class, u64)]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len()
        && small.iter().all(|&(class, needed)| {
            rest.by_ref().find(|entry| entry.0 >= class).is_some_and(|&(c, have)| c == class && have >= needed)
        })
}

/// Pointwise `≤` against counts of all classes.
pub fn is_covered(group: &[(Class, u64)], counts: &[u64]) -> bool {
    group.iter().all(|&(class, needed)| counts[class as usize] >= needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_and_removing_undo_each_other() {
        let group = vec![(1, 2), (4, 1)];
        assert_eq!(without(&with(&group, 3), 3), group);
        assert_eq!(without(&with(&group, 4), 4), group);
        assert_eq!(without(&group, 4), vec![(1, 2)]);
    }

    fn with(group: &Group, class: Class) -> Group {
        let mut larger = group.clone();
        add(&mut larger, class);
        larger
    }

    #[test]
    fn containment_is_pointwise() {
        let large = vec![(1, 2), (4, 1), (7, 3)];
        assert!(is_within(&[(1, 1), (7, 3)], &large) && is_within(&[], &large) && is_within(&large, &large));
        assert!(
            !is_within(&[(1, 3)], &large) && !is_within(&[(2, 1)], &large) && !is_within(&[(7, 1), (8, 1)], &large)
        );
    }
}
