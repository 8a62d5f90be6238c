//! Forbidden pairs as a table of bits: what they rule out beside a guard is found for all classes at once.
//!
//! Nearly all groups of large proofs are pairs. Let `{l, r}` be one, `l` the last pod, and `s` a configuration with `r` in which the guard
//! of `l` holds. There is no such `s` without a group if one of these is so:
//!
//! * one pod of `r` alone exceeds a bound of the guard;
//! * the guard asks for a member of a local group, whatever else is there, and each class `w` of that group alone exceeds a bound, is
//!   forbidden by itself, or is another class than `r` and forbidden together with it: one such `w` would be in `s`.
//!
//! Both use only what must hold of `s`, so spread and shared volumes need not be looked at. What is not ruled out so is left to the search of
//! `forbidden.rs`. Cost: for each guard its lists once, and a row of the table for each witness.

use super::Flaw;
use super::classes::{Class, Classes};
use super::forbidden::weight;
use super::index::Present;
use crate::guard::Guard;
use crate::verdict::AtMostOne;

/// The forbidden pairs, and the classes that are forbidden by themselves.
pub(super) struct Pairs {
    /// How many classes there are; others are in no pair.
    classes: usize,
    /// How many words a row has.
    width: usize,
    /// For each class, those that are never there together with it.
    rows: Vec<u64>,
    /// The classes of which not even one is ever there.
    never: Vec<u64>,
    /// For each class that was asked for, what is ruled out while it is deployed.
    beside: Vec<Option<Box<[u64]>>>,
}

/// A table has at most so many words for each pair, not more than the pairs themselves take, and for each entry of a constraint.
const WORDS_PER_PAIR: usize = 16;
const WORDS_PER_ENTRY: usize = 64;

impl Pairs {
    /// The pairs among groups of so many classes, and of at-most-one constraints; `None` where they are so few that a table would be
    /// larger than they are.
    pub(super) fn new(classes: usize, groups: &[Present], at_most_one: &[AtMostOne]) -> Option<Self> {
        let width = classes.div_ceil(64);
        let pairs = groups.iter().filter(|group| pair(group).is_some()).count();
        let entries: usize = at_most_one.iter().flatten().map(Vec::len).sum();
        let most = pairs.saturating_mul(WORDS_PER_PAIR).saturating_add(entries.saturating_mul(WORDS_PER_ENTRY));
        if classes.saturating_mul(width) > most {
            return None;
        }
        let rows = vec![0; classes * width];
        let mut table = Self { classes, width, rows, never: vec![0; width], beside: vec![None; classes] };
        for group in groups {
            if let Some((a, b)) = pair(group) {
                table.rows[a * width + b / 64] |= 1 << (b % 64);
                table.rows[b * width + a / 64] |= 1 << (a % 64);
            } else if let [(class, 1)] = group[..] {
                table.never[class / 64] |= 1 << (class % 64);
            }
        }
        at_most_one.iter().for_each(|constraint| table.add_constraint(constraint));
        Some(table)
    }

    /// Each two classes of different parts of an at-most-one constraint are a pair.
    fn add_constraint(&mut self, constraint: &AtMostOne) {
        let mut all = vec![0; self.width];
        constraint.iter().flatten().for_each(|&class| all[class / 64] |= 1 << (class % 64));
        for part in constraint {
            let mut others = all.clone();
            part.iter().for_each(|&class| others[class / 64] &= !(1 << (class % 64)));
            for &class in part {
                let row = &mut self.rows[class * self.width..][..self.width];
                row.iter_mut().zip(&others).for_each(|(row, others)| *row |= others);
            }
        }
    }

    /// The classes that are forbidden together with one, are others, and are not ruled out when it is deployed.
    pub(super) fn left_open(&mut self, classes: &mut Classes<'_>, last: Class) -> Result<Vec<Class>, Flaw> {
        let others = (0..self.classes).filter(|&other| other != last && self.has(last, other)).collect::<Vec<_>>();
        let mut open = Vec::new();
        for other in others {
            if !self.rule_out(classes, last, other)? {
                open.push(other);
            }
        }
        Ok(open)
    }

    /// Whether a pair is contained in what is present.
    pub(super) fn finds_in(&self, present: &[(Class, u64)]) -> bool {
        let known = |class: Class| class < self.classes;
        present.iter().enumerate().filter(|(_, entry)| known(entry.0)).any(|(at, &(a, count))| {
            (count > 1 && self.has(a, a)) || present[at + 1..].iter().any(|&(b, _)| known(b) && self.has(a, b))
        })
    }

    fn has(&self, a: Class, b: Class) -> bool {
        is_in(self.row(a), b)
    }

    fn row(&self, class: Class) -> &[u64] {
        &self.rows[class * self.width..][..self.width]
    }

    /// Whether a pod of `last` can never be deployed where one of `other` is; if not, that is left open.
    pub(super) fn rule_out(&mut self, classes: &mut Classes<'_>, last: Class, other: Class) -> Result<bool, Flaw> {
        if self.beside[last].is_none() {
            self.beside[last] = Some(self.ruled_out(classes, last)?);
        }
        Ok(self.beside[last].as_deref().is_some_and(|beside| is_in(beside, other)))
    }

    /// What is never there when a pod of a class is deployed, by whichever of its guards.
    fn ruled_out(&self, classes: &mut Classes<'_>, class: Class) -> Result<Box<[u64]>, Flaw> {
        if !classes.sources(class).is_empty() {
            return Ok(vec![0; self.width].into());
        }
        let mut ruled_out = vec![u64::MAX; self.width];
        for (_, guard) in classes.guards(class)?.iter() {
            let beside = self.ruled_out_by(guard);
            ruled_out.iter_mut().zip(beside).for_each(|(all, beside)| *all &= beside);
        }
        Ok(ruled_out.into())
    }

    fn ruled_out_by(&self, guard: &Guard<Class>) -> Vec<u64> {
        let mut ruled_out = self.never.clone();
        for condition in &guard.at_most {
            let too_heavy =
                condition.weights.iter().filter(|&&(class, weight)| class < self.classes && weight > condition.bound);
            too_heavy.for_each(|&(class, _)| ruled_out[class / 64] |= 1 << (class % 64));
        }
        let alone = ruled_out.clone();
        let is_out = |class: Class| match class < self.classes {
            true => is_in(&alone, class),
            false => guard.at_most.iter().any(|condition| weight(condition, class) > condition.bound),
        };
        let required = guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
        for group in required.flat_map(|condition| &condition.near) {
            let mut with_all = vec![u64::MAX; self.width];
            for witness in group.iter().copied().filter(|&class| !is_out(class)) {
                self.keep_partners(&mut with_all, witness);
            }
            ruled_out.iter_mut().zip(with_all).for_each(|(out, more)| *out |= more);
        }
        ruled_out
    }

    /// Leaves in a set only what is forbidden together with a class, and is another one.
    fn keep_partners(&self, set: &mut [u64], class: Class) {
        if class >= self.classes {
            return set.fill(0);
        }
        set.iter_mut().zip(self.row(class)).for_each(|(set, row)| *set &= row);
        set[class / 64] &= !(1 << (class % 64));
    }
}

fn is_in(bits: &[u64], class: Class) -> bool {
    bits[class / 64] >> (class % 64) & 1 == 1
}

/// The two classes of a pair; twice the same where it is two pods of one class.
pub(super) fn pair(group: &Present) -> Option<(Class, Class)> {
    match group[..] {
        [(a, 1), (b, 1)] => Some((a, b)),
        [(a, 2)] => Some((a, a)),
        _ => None,
    }
}
