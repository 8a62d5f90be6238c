//! Forward search over maximal configurations.
//!
//! More pods never hurt where they can be deleted at any time, so only maximal configurations matter. To deploy a pod, delete just what
//! its guard forbids. Copies that no guard and no goal counts are not made. Breadth first, so runs are short in deletions; each
//! configuration is cheap, so runs of exponential length are found too.
//!
//! Of configurations that are equal up to permutations of pods and nodes which change nothing, one is looked at (`canonical.rs`).
//!
//! Where no more than one pod of each class is ever of use, a configuration is a set of bits, and a rule that asks only for presence
//! and absence is a few masks (`mask.rs`). What such rules deploy without deleting anything is deployed at once: what comes of it
//! covers what was there before, so a protocol's many orders of independent steps are one step.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use podreach_core::Learned;

use super::canonical::Canonical;
use super::form::State;
use super::group::{self, Class, Group};
use super::mask::Masks;
use super::opening::openings;
use super::portfolio::Pursuit;
use super::run::Run;
use super::system::System;
use super::{Budget, Found};

/// A search that can be paused.
pub struct Forward<'a> {
    system: &'a System,
    /// How many pods of each class can be of use.
    caps: Vec<u64>,
    /// Whether that is one of each, so that a configuration is a set of bits; otherwise it is a word per class.
    unit: bool,
    masks: Masks,
    /// The configurations, in the order they were found, one after the other.
    packed: Vec<u64>,
    words: usize,
    /// The configuration each was found from, and the rule.
    parents: Vec<(u32, u32)>,
    known: HashTable<u32>,
    /// The permutations up to which configurations are known, once it pays to look for some.
    canonical: Option<Canonical>,
    /// The next configuration to look at.
    next: usize,
    /// How much was done, in units of one configuration made, new or not.
    made: u64,
}

/// How much more work it is to look for an opening than to file a configuration, roughly.
const WORK_PER_OPENING: u64 = 8;

/// With this many configurations it pays to look for permutations.
const MANY: usize = 64;

/// The start of the search has no parent.
const NONE: u32 = u32::MAX;

/// In the place of a rule: everything that can be deployed without deleting anything.
const FILLED: u32 = u32::MAX;

impl<'a> Forward<'a> {
    /// A search from the start.
    pub fn new(system: &'a System) -> Self {
        Self::from_start(system, true)
    }

    /// A search that deploys one pod at a time: much slower, and with shorter runs.
    pub fn step_by_step(system: &'a System) -> Self {
        Self::from_start(system, false)
    }

    fn from_start(system: &'a System, fills: bool) -> Self {
        let caps: Vec<u64> = caps(system);
        let unit = caps.iter().all(|&cap| cap == 1);
        let classes = system.classes.len();
        let counts: Vec<u64> = system.start.iter().zip(&caps).map(|(&count, &cap)| count.min(cap)).collect();
        let mut search = Self {
            system,
            caps,
            unit,
            masks: Masks::new(system, unit && fills),
            packed: Vec::new(),
            words: if unit { classes.div_ceil(64) } else { classes },
            parents: Vec::new(),
            known: HashTable::new(),
            canonical: (!fills).then(|| Canonical::trivial(unit)),
            next: 0,
            made: 0,
        };
        search.add(&search.pack(&counts), NONE, FILLED);
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
        let counts = (0..self.system.classes.len() as Class).map(|class| (class, self.count(packed, class)));
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// Files a configuration; returns its id if it is new.
    fn add(&mut self, packed: &[u64], parent: u32, rule: u32) -> Option<u32> {
        self.made += 1;
        if self.canonical.is_none() && self.parents.len() >= MANY {
            self.recognise_images();
        }
        let none = Canonical::trivial(self.unit);
        let canonical = self.canonical.as_ref().unwrap_or(&none);
        self.made += canonical.work();
        let (all, words) = (&self.packed, self.words);
        let stored = |id: u32| canonical.lowest(&all[id as usize * words..][..words]);
        let hash = |lowest: &[u64]| FxBuildHasher.hash_one(lowest);
        let lowest = canonical.lowest(packed);
        let entry = self.known.entry(hash(&lowest), |&id| stored(id) == lowest, |&id| hash(&stored(id)));
        let hashbrown::hash_table::Entry::Vacant(entry) = entry else { return None };
        let id = self.parents.len() as u32;
        entry.insert(id);
        self.packed.extend_from_slice(packed);
        self.parents.push((parent, rule));
        Some(id)
    }

    /// Looks for permutations, and files the configurations that are known by their lowest forms.
    fn recognise_images(&mut self) {
        let canonical = Canonical::new(self.system, self.unit);
        if !canonical.is_trivial() {
            let (all, words) = (&self.packed, self.words);
            let hash = |&id: &u32| FxBuildHasher.hash_one(&*canonical.lowest(&all[id as usize * words..][..words]));
            self.known.clear();
            for id in 0..self.parents.len() as u32 {
                self.known.insert_unique(hash(&id), id, hash);
            }
        }
        self.canonical = Some(canonical);
    }

    /// Looks at every deployment from one configuration; says which new one meets a goal.
    fn expand(&mut self, id: u32) -> Option<u32> {
        self.made += 1;
        let here = self.packed(id).to_vec();
        let mut next = here.clone();
        // Only rules without a mask lead to configurations that are not filled yet.
        if self.masks.fill(&mut next, |_, _| ()) {
            return self.add(&next, id, FILLED).filter(|&new| self.is_goal(new));
        }
        for rule in self.masks.near(&here) {
            if self.masks.open(rule, &here, &mut next) {
                self.masks.fill(&mut next, |_, _| ());
                let new = self.add(&next, id, rule);
                if let Some(new) = new.filter(|&new| self.is_goal(new)) {
                    return Some(new);
                }
            }
        }
        if self.masks.others.is_empty() {
            return None;
        }
        let state = State::of_group(&self.system.forms, &self.unpack(id));
        let others = self.masks.others.clone();
        others.into_iter().find_map(|rule| self.deploy(rule, &state, id))
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
        self.system.goals.iter().any(|goal| goal.iter().all(|&(class, needed)| self.count(packed, class) >= needed))
    }

    /// The deployments that lead to a configuration, each with what must be there before it.
    fn trail(&self, id: u32) -> Run {
        let reached = self.unpack(id);
        let goal = self.system.goals.iter().find(|goal| group::is_within(goal, &reached));
        let goal = goal.expect("the trail ends in a goal");
        let mut needs = State::of_group(&self.system.forms, goal);
        let (mut run, mut at) = (Run::to(goal.clone()), id);
        let mut filling: Vec<(usize, Vec<u64>)> = Vec::new();
        while let (parent, rule) = self.parents[at as usize]
            && parent != NONE
        {
            let mut now = self.packed(parent).to_vec();
            let plain = rule == FILLED || self.masks.is_mask(rule as usize);
            if rule != FILLED && plain {
                let here = now.clone();
                self.masks.open(rule, &here, &mut now);
            }
            if plain {
                self.masks.fill(&mut now, |rule, before| filling.push((rule as usize, before.to_vec())));
            }
            while let Some((rule, before)) = filling.pop() {
                self.require(rule, &mut needs, &mut run, |class| before[class as usize / 64] >> (class % 64) & 1);
            }
            if rule != FILLED {
                let (rule, head) = (rule as usize, self.system.rules[rule as usize].head);
                let after = if plain { now } else { self.packed(at).to_vec() };
                let opening = |class: Class| self.count(&after, class) - u64::from(class == head);
                self.require(rule, &mut needs, &mut run, opening);
            }
            at = parent;
        }
        run.reverse(needs.group());
        run
    }

    /// Changes what is needed after a deployment into what is needed before it, and notes the deployment if it is needed at all.
    ///
    /// What is needed is a part of the opening: what is needed later but for the deployed pod, and witnesses for the guard.
    fn require(&self, rule: usize, needs: &mut State, run: &mut Run, opening: impl Fn(Class) -> u64) {
        let (forms, head) = (&self.system.forms, self.system.rules[rule].head);
        if needs.counts[head as usize] == 0 {
            return;
        }
        needs.remove(forms, head, 1);
        let guard = &self.system.rules[rule].guard;
        while let Some(form) = guard.needed(needs) {
            let more = |&&(class, _): &&(Class, u128)| needs.counts[class as usize] < opening(class);
            let witness = forms.weights[form as usize].iter().find(more);
            let (witness, _) = *witness.expect("the guard holds in the opening");
            needs.add(forms, witness, 1);
            run.drop_after(witness);
        }
        run.push(rule);
    }

    /// How many of a class a configuration has.
    fn count(&self, packed: &[u64], class: Class) -> u64 {
        if self.unit { packed[class as usize / 64] >> (class % 64) & 1 } else { packed[class as usize] }
    }
}

impl Pursuit for Forward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let until = self.made + work;
        while self.made < until && !self.is_spent() {
            if let Some(progress) = budget.progress {
                progress.states(self.parents.len() as u64);
            }
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

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![("configurations", self.parents.len() as u64), ("expanded", self.next as u64)]
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
