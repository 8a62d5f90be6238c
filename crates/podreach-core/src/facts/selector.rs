//! Label selectors in normal form.
//!
//! A selector is a conjunction of requirements. Requirements on one key intersect to one `Allowed`, so a selector is a map from keys
//! to what they may be, and two selectors are equal exactly when they match the same labels.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::Symbol;
use crate::label::Labels;

/// What a selector says about one key: may it be absent, and which values may it take?
///
/// | operator       | absent | values      |
/// |----------------|--------|-------------|
/// | `In S`         | no     | `Only(S)`   |
/// | `NotIn S`      | yes    | `AllBut(S)` |
/// | `Exists`       | no     | `AllBut(∅)` |
/// | `DoesNotExist` | yes    | `Only(∅)`   |
///
/// The four are closed under intersection, so a selector needs one `Allowed` per key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Allowed {
    /// Whether labels without the key match.
    pub absent: bool,
    /// Which values match.
    pub values: Values,
}

/// A set of values, finite or with a finite complement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Values {
    /// Just these.
    Only(BTreeSet<Symbol>),
    /// All but these.
    AllBut(BTreeSet<Symbol>),
}

impl Values {
    /// Whether the set holds `value`.
    pub fn contains(&self, value: Symbol) -> bool {
        match self {
            Self::Only(set) => set.contains(&value),
            Self::AllBut(set) => !set.contains(&value),
        }
    }

    fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::AllBut(a), Self::AllBut(b)) => Self::AllBut(a | b),
            (Self::Only(only), rest) | (rest, Self::Only(only)) => {
                Self::Only(only.iter().copied().filter(|&value| rest.contains(value)).collect())
            }
        }
    }
}

impl Allowed {
    /// `In S`.
    pub fn one_of(values: impl IntoIterator<Item = Symbol>) -> Self {
        Self { absent: false, values: Values::Only(values.into_iter().collect()) }
    }

    /// `NotIn S`.
    pub fn none_of(values: impl IntoIterator<Item = Symbol>) -> Self {
        Self { absent: true, values: Values::AllBut(values.into_iter().collect()) }
    }

    /// `Exists`.
    pub fn present() -> Self {
        Self { absent: false, values: Values::AllBut(BTreeSet::new()) }
    }

    /// `DoesNotExist`.
    pub fn missing() -> Self {
        Self { absent: true, values: Values::Only(BTreeSet::new()) }
    }

    /// Whether a key with this value (`None`: without the key) is allowed.
    pub fn allows(&self, value: Option<Symbol>) -> bool {
        value.map_or(self.absent, |value| self.values.contains(value))
    }

    fn intersection(&self, other: &Self) -> Self {
        Self { absent: self.absent && other.absent, values: self.values.intersection(&other.values) }
    }

    fn is_impossible(&self) -> bool {
        !self.absent && self.values == Values::Only(BTreeSet::new())
    }
}

/// A predicate over labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// Matches no labels: a selector that is not set, or one that contradicts itself.
    Nothing,
    /// Matches labels that satisfy every entry; without entries, all labels.
    Every(BTreeMap<Symbol, Allowed>),
}

impl Selector {
    /// The selector `{}`, which matches everything.
    pub fn everything() -> Self {
        Self::Every(BTreeMap::new())
    }

    /// The selector that also asks `allowed` of `key`.
    #[must_use]
    pub fn and(self, key: Symbol, allowed: Allowed) -> Self {
        let Self::Every(mut entries) = self else { return self };
        let met = match entries.get(&key) {
            Some(before) => before.intersection(&allowed),
            None => allowed,
        };
        if met.is_impossible() {
            return Self::Nothing;
        }
        entries.insert(key, met);
        Self::Every(entries)
    }

    /// Whether it matches these labels.
    pub fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::Nothing => false,
            Self::Every(entries) => entries.iter().all(|(&key, allowed)| allowed.allows(labels.value(key))),
        }
    }

    /// A key that labels must have, and the values of it that may match; `None` where no key has but a few.
    pub fn required(&self) -> Option<(Symbol, &BTreeSet<Symbol>)> {
        let Self::Every(entries) = self else { return None };
        entries.iter().find_map(|(&key, allowed)| match &allowed.values {
            Values::Only(values) if !allowed.absent => Some((key, values)),
            _ => None,
        })
    }

    /// Whether it asks nothing, and so matches all labels.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Every(entries) if entries.is_empty())
    }

    /// Whether it looks at `key`.
    pub fn mentions(&self, key: Symbol) -> bool {
        matches!(self, Self::Every(entries) if entries.contains_key(&key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn symbol(index: usize) -> Symbol {
        Symbol::from_index(index)
    }

    fn requirements() -> Vec<Allowed> {
        let sets: [&[usize]; 4] = [&[0], &[1], &[0, 1], &[0, 1, 2]];
        let sets = sets.map(|set| set.iter().copied().map(symbol).collect::<Vec<_>>());
        let mut all = vec![Allowed::present(), Allowed::missing()];
        all.extend(sets.iter().cloned().map(Allowed::one_of));
        all.extend(sets.iter().cloned().map(Allowed::none_of));
        all
    }

    #[test]
    fn the_normal_form_matches_what_its_requirements_match_one_by_one() {
        let key = symbol(9);
        let values = [None, Some(symbol(0)), Some(symbol(1)), Some(symbol(2)), Some(symbol(3))];
        for a in requirements() {
            for b in requirements() {
                let both = Selector::everything().and(key, a.clone()).and(key, b.clone());
                for value in values {
                    let labels: Labels = value.map(|value| (key, value)).into_iter().collect();
                    assert_eq!(both.matches(&labels), a.allows(value) && b.allows(value), "{a:?} {b:?} {value:?}");
                }
            }
        }
    }

    #[test]
    fn selectors_that_match_the_same_labels_are_equal() {
        let key = symbol(9);
        let select = |list: &[Allowed]| list.iter().cloned().fold(Selector::everything(), |s, a| s.and(key, a));
        let (zero, one) = (symbol(0), symbol(1));
        assert_eq!(
            select(&[Allowed::one_of([zero, one]), Allowed::none_of([one])]),
            select(&[Allowed::one_of([zero])])
        );
        assert_eq!(select(&[Allowed::present(), Allowed::missing()]), Selector::Nothing);
        assert_eq!(select(&[Allowed::one_of([zero]), Allowed::one_of([one])]), Selector::Nothing);
        assert_eq!(select(&[Allowed::none_of([zero]), Allowed::missing()]), select(&[Allowed::missing()]));
    }
}
