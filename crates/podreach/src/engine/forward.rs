//! Forward search over maximal configurations.
//!
//! More pods never hurt where they can be deleted at any time, so only maximal configurations matter. To deploy a pod, delete just what
//! its guard forbids. Copies that no guard and no goal counts are not made. Breadth first, so runs are short in deployments; each
//! configuration is cheap, so runs of exponential length are found too.
//!
//! Where no more than one pod of each class is ever of use, a configuration is a set of bits, and a rule that asks only for presence
//! and absence is a few masks.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use podreach_core::Learned;

use super::bits::Bits;
use super::form::{Form, FormGuard, State};
use super::group::{self, Class, Group};
use super::opening::openings;
use super::run::{Run, Step};
use super::system::System;
use super::{Budget, Found, Pursuit};

/// A search that can be paused.
pub struct Forward<'a> {
    system: &'a System,
    /// How many pods of each class can be of use.
    caps: Vec<u64>,
    /// Whether that is one of each, so that a configuration is a set of bits; otherwise it is a word per class.
    unit: bool,
    masks: Vec<Option<Mask>>,
    /// The configurations, in the order they were found, one after the other.
    packed: Vec<u64>,
    words: usize,
    /// The configuration each was found from, and the rule.
    parents: Vec<(u32, u32)>,
    known: HashTable<u32>,
    /// The next configuration to look at.
    next: usize,
    /// How much was done, in units of one configuration made, new or not.
    made: u64,
}

/// A rule of a system of bits that asks only for presence and absence.
struct Mask {
    near: Vec<Bits>,
    barred: Bits,
}

/// How much more work it is to look for an opening than to file a configuration, roughly.
const WORK_PER_OPENING: u64 = 8;

/// The start of the search has no parent.
const NONE: u32 = u32::MAX;

impl<'a> Forward<'a> {
    /// A search from the start.
    pub fn new(system: &'a System) -> Self {
        let caps: Vec<u64> = caps(system);
        let unit = caps.iter().all(|&cap| cap == 1);
        let classes = system.classes.len();
        let counts: Vec<u64> = system.start.iter().zip(&caps).map(|(&count, &cap)| count.min(cap)).collect();
        let mut search = Self {
            system,
            caps,
            unit,
            masks: system.rules.iter().map(|rule| mask(system, &rule.guard).filter(|_| unit)).collect(),
            packed: Vec::new(),
            words: if unit { classes.div_ceil(64) } else { classes },
            parents: Vec::new(),
            known: HashTable::new(),
            next: 0,
            made: 0,
        };
        search.add(&search.pack(&counts), NONE, NONE);
        search
    }

    fn pack(&self, counts: &[u64]) -> Vec<u64> {
        if !self.unit {
            return counts.to_vec();
        }
        let word = |chunk: &[u64]| chunk.iter().rev().fold(0, |word, &count| word << 1 | count);
        counts.chunks(64).map(word).collect()
    }

    fn packed(&self, id: u32) -> &[u64] {
        &self.packed[id as usize * self.words..][..self.words]
    }

    fn unpack(&self, id: u32) -> Group {
        let packed = self.packed(id);
        let counts = (0..self.system.classes.len()).map(|class| match self.unit {
            true => (class as Class, packed[class / 64] >> (class % 64) & 1),
            false => (class as Class, packed[class]),
        });
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// Files a configuration; returns its id if it is new.
    fn add(&mut self, packed: &[u64], parent: u32, rule: u32) -> Option<u32> {
        self.made += 1;
        let hash = |packed: &[u64]| FxBuildHasher.hash_one(packed);
        let (all, words) = (&self.packed, self.words);
        let stored = |id: u32| &all[id as usize * words..][..words];
        let entry = self.known.entry(hash(packed), |&id| stored(id) == packed, |&id| hash(stored(id)));
        let hashbrown::hash_table::Entry::Vacant(entry) = entry else { return None };
        let id = self.parents.len() as u32;
        entry.insert(id);
        self.packed.extend_from_slice(packed);
        self.parents.push((parent, rule));
        Some(id)
    }

    /// Looks at every deployment from one configuration; says which new one meets a goal.
    fn expand(&mut self, id: u32) -> Option<u32> {
        self.made += 1;
        let here = self.packed(id).to_vec();
        let mut state = None;
        let mut next = here.clone();
        for rule in 0..self.system.rules.len() {
            let met = match &self.masks[rule] {
                Some(mask) => {
                    let head = self.system.rules[rule].head as usize;
                    let open = here[head / 64] >> (head % 64) & 1 == 0 && mask.open(&here, &mut next);
                    if !open {
                        continue;
                    }
                    next[head / 64] |= 1 << (head % 64);
                    self.add(&next, id, rule as u32).filter(|&new| self.is_goal(new))
                }
                None => {
                    let state = state.get_or_insert_with(|| State::of_group(&self.system.forms, &self.unpack(id)));
                    self.deploy(rule, state, id)
                }
            };
            if met.is_some() {
                return met;
            }
        }
        None
    }

    /// Makes the deployments of a rule that is not a mask.
    fn deploy(&mut self, rule: usize, state: &State, id: u32) -> Option<u32> {
        let system = self.system;
        let head = system.rules[rule].head;
        if state.counts[head as usize] >= self.caps[head as usize] {
            return None;
        }
        let mut looked_at = 0;
        let openings = openings(system, &system.rules[rule].guard, state, &mut looked_at);
        self.made += WORK_PER_OPENING * looked_at;
        for mut next in openings {
            next.add(&system.forms, head, 1);
            let new = self.add(&self.pack(&next.counts), id, rule as u32);
            if let Some(new) = new.filter(|&new| self.is_goal(new)) {
                return Some(new);
            }
        }
        None
    }

    fn is_goal(&self, id: u32) -> bool {
        let packed = self.packed(id);
        let count = |class: Class| match self.unit {
            true => packed[class as usize / 64] >> (class % 64) & 1,
            false => packed[class as usize],
        };
        self.system.goals.iter().any(|goal| goal.iter().all(|&(class, needed)| count(class) >= needed))
    }

    /// The deployments that lead to a configuration, each with what must be there before it.
    fn trail(&self, id: u32) -> Run {
        let reached = self.unpack(id);
        let goal = self.system.goals.iter().find(|goal| group::is_within(goal, &reached));
        let mut needs = goal.cloned().expect("the trail ends in a goal");
        let (reaches, mut steps, mut at) = (needs.clone(), Vec::new(), id);
        while let (parent, rule) = self.parents[at as usize]
            && parent != NONE
        {
            let rule = rule as usize;
            let opening = group::without(&self.unpack(at), self.system.rules[rule].head);
            if let Some(support) = self.support(rule, &opening, &needs) {
                steps.push(Step { rule, needs: support.clone() });
                needs = support;
            }
            at = parent;
        }
        steps.reverse();
        Run { steps, reaches }
    }

    /// What must be there before a deployment so that what is needed is there after it; `None` when the deployment is not needed.
    ///
    /// A part of the opening: what is needed later but for the deployed pod, and witnesses for the guard.
    fn support(&self, rule: usize, opening: &Group, needs: &Group) -> Option<Group> {
        let (system, head) = (self.system, self.system.rules[rule].head);
        if group::count(needs, head) == 0 {
            return None;
        }
        let rest = group::without(needs, head);
        let guard = &system.rules[rule].guard;
        let mut state = State::of_group(&system.forms, &rest);
        while let Some(form) = guard.needed(&state) {
            let more = |&&(class, _): &&(Class, u128)| state.counts[class as usize] < group::count(opening, class);
            let witness = system.forms.weights[form as usize].iter().find(more);
            state.add(&system.forms, witness.expect("the guard holds in the opening").0, 1);
        }
        Some(state.group())
    }
}

impl Mask {
    /// Writes what is left of `here` once everything barred is gone; says whether every witness is still there.
    fn open(&self, here: &[u64], left: &mut [u64]) -> bool {
        left.iter_mut().zip(here).zip(self.barred.words()).for_each(|((left, here), barred)| *left = here & !barred);
        self.near.iter().all(|near| near.words().iter().zip(&*left).any(|(near, left)| near & left != 0))
    }
}

/// The masks of a guard that asks only for presence and absence.
fn mask(system: &System, guard: &FormGuard) -> Option<Mask> {
    let plain = guard.spread.is_empty()
        && guard.distinct.is_empty()
        && guard.at_most.iter().all(|&(_, bound)| bound == 0)
        && guard.affinity.iter().all(|condition| condition.first_unless.is_none());
    let members = |form: Form| system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
    plain.then(|| Mask {
        near: guard
            .affinity
            .iter()
            .flat_map(|c| &c.near)
            .map(|&form| Bits::of(system.classes.len(), members(form)))
            .collect(),
        barred: Bits::of(system.classes.len(), guard.at_most.iter().flat_map(|&(form, _)| members(form))),
    })
}

impl Pursuit for Forward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let until = self.made + work;
        while self.made < until && !self.is_spent() {
            if self.next.is_multiple_of(16)
                && let Some(stop) = budget.stop(self.parents.len() * (self.words * 8 + 16))
            {
                let learned = Learned { deployments_ruled_out: None, explored: self.parents.len() as u64 };
                return Some(Found::Stopped { stop, learned });
            }
            let goal = self.expand(self.next as u32);
            self.next += 1;
            if let Some(goal) = goal {
                return Some(Found::Reached(self.trail(goal)));
            }
        }
        None
    }

    fn is_spent(&self) -> bool {
        self.next == self.parents.len()
    }
}

/// How many pods of each class can be of use: one as a witness, as many as a goal asks for, any number where they are counted.
fn caps(system: &System) -> Vec<u64> {
    let mut caps = vec![1; system.classes.len()];
    for &(class, count) in system.goals.iter().flatten() {
        caps[class as usize] = caps[class as usize].max(count);
    }
    let spread = system.rules.iter().flat_map(|rule| &rule.guard.spread);
    for (form, _) in spread.flat_map(|condition| &condition.domains) {
        system.forms.weights[*form as usize].iter().for_each(|&(class, _)| caps[class as usize] = u64::MAX);
    }
    caps
}
