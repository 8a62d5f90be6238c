//! The pairs that a proof needs, and how the transitions that could complete one are ruled out.
//!
//! A transition is ruled out beside a class if that class alone exceeds a bound, or if each witness of some condition is a mutex with it.
//! Of the conditions that would do, one is taken whose pairs are needed anyway; otherwise the one whose witness serves the most
//! transitions, since its pairs then serve more arguments. What this does not rule out is left to the search of `reduction.rs`.
//!
//! Invariant: `bits` has a pair if and only if the list has. Cost: a few lookups per condition of a transition.

use crate::bits::Bits;
use crate::compile::System;
use crate::group::{Class, Group};
use crate::mutex::Mutexes;

/// Pairs of classes in the order in which they were needed.
pub struct NeededPairs<'a> {
    system: &'a System,
    list: Vec<(Class, Class)>,
    /// For each class, those it is paired with, once there is one.
    bits: Vec<Option<Bits>>,
    /// For each transition, the classes of which one alone exceeds a bound, once it was asked for.
    barred: Vec<Option<Bits>>,
    /// For each transition, the witnesses of its conditions, those first that serve the most transitions, once it was asked for.
    witnesses: Vec<Option<Vec<Vec<Class>>>>,
    /// How many transitions each class can be a witness for.
    uses: Vec<u32>,
}

impl<'a> NeededPairs<'a> {
    /// No pairs.
    pub fn new(system: &'a System) -> Self {
        let mut uses = vec![0; system.classes.len()];
        for sum in system.transitions.iter().flat_map(|transition| transition.guard.required()) {
            system.sums.members(sum).for_each(|class| uses[class as usize] += 1);
        }
        let (bits, barred) = (vec![None; system.classes.len()], vec![None; system.transitions.len()]);
        Self { system, list: Vec::new(), bits, barred, witnesses: vec![None; system.transitions.len()], uses }
    }

    /// The pair of a number, as a group.
    pub fn get(&self, number: usize) -> Option<Group> {
        self.list.get(number).map(|&pair| as_group(pair))
    }

    /// All pairs.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        self.list.iter().map(|&pair| as_group(pair))
    }

    /// Adds a pair.
    pub fn insert(&mut self, a: Class, b: Class) {
        if self.has(a, b) {
            return;
        }
        self.list.push((a.min(b), a.max(b)));
        let classes = self.system.classes.len();
        for (a, b) in [(a, b), (b, a)] {
            self.bits[a as usize].get_or_insert_with(|| Bits::none(classes)).insert(b as usize);
        }
    }

    fn has(&self, a: Class, b: Class) -> bool {
        self.bits[a as usize].as_ref().is_some_and(|bits| bits.contains(b as usize))
    }

    /// Whether a group contains a pair.
    pub fn is_within(&self, group: &Group) -> bool {
        let entries = group.iter().enumerate();
        entries.into_iter().any(|(at, &(a, count))| {
            (count > 1 && self.has(a, a)) || group[at + 1..].iter().any(|&(b, _)| self.has(a, b))
        })
    }

    /// Whether a transition can never be applied where a class is; makes the pairs needed that say so.
    pub fn rule_out(&mut self, mutexes: &Mutexes, transition: usize, other: Class) -> bool {
        if self.system.transitions[transition].consumes.is_some() {
            return false;
        }
        self.prepare(transition);
        if self.barred[transition].as_ref().is_some_and(|bits| bits.contains(other as usize)) {
            return true;
        }
        let conditions = self.witnesses[transition].iter().flatten();
        if conditions.clone().any(|witnesses| witnesses.iter().all(|&class| class != other && self.has(class, other))) {
            return true;
        }
        let mut conditions = conditions.into_iter();
        let found = conditions.find(|witnesses| witnesses.iter().all(|&class| are_apart(mutexes, class, other)));
        let Some(found) = found else { return false };
        found.clone().into_iter().for_each(|witness| self.insert(witness, other));
        true
    }

    /// Finds out what is to be known of a transition.
    fn prepare(&mut self, transition: usize) {
        if self.witnesses[transition].is_some() {
            return;
        }
        let (system, guard) = (self.system, &self.system.transitions[transition].guard);
        let too_heavy = guard.at_most.iter().flat_map(|&(sum, bound)| {
            let weights = system.sums.weights[sum as usize].iter();
            weights.filter(move |&&(_, weight)| weight > bound).map(|&(class, _)| class as usize)
        });
        let barred = Bits::of(system.classes.len(), too_heavy);
        let mut conditions: Vec<Vec<Class>> = guard
            .required()
            .map(|sum| system.sums.members(sum).filter(|&class| !barred.contains(class as usize)).collect())
            .collect();
        conditions.sort_by_key(|witnesses| {
            (witnesses.len(), std::cmp::Reverse(witnesses.iter().map(|&class| self.uses[class as usize]).min()))
        });
        self.witnesses[transition] = Some(conditions);
        self.barred[transition] = Some(barred);
    }
}

fn as_group((a, b): (Class, Class)) -> Group {
    if a == b { vec![(a, 2)] } else { vec![(a, 1), (b, 1)] }
}
/// Whether two classes that may each be present are a mutex.
fn are_apart(mutexes: &Mutexes, class: Class, other: Class) -> bool {
    let possible = &mutexes.possible;
    class != other
        && !mutexes.compatible[class as usize].contains(other as usize)
        && possible.contains(class as usize)
        && possible.contains(other as usize)
}
