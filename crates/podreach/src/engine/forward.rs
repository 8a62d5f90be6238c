//! Forward search over maximal configurations.
//!
//! More pods never hurt where they can be deleted at any time, so only maximal configurations matter. To deploy a pod, delete just what
//! its guard forbids. Copies that no guard and no goal counts are not made. What lacks least for the goal is looked at first
//! (`aim.rs`), and the oldest of those; each configuration is cheap, so runs of exponential length are found too.
//!
//! Of configurations that are equal up to permutations of pods and nodes which change nothing, one is looked at (`canonical.rs`).
//!
//! Where no more than one pod of each class is ever of use, a configuration is a set of bits, and a rule that asks only for presence
//! and absence is a few masks (`mask.rs`). What such rules deploy without deleting anything is deployed at once: what comes of it
//! covers what was there before, so a protocol's many orders of independent steps are one step. Where there is only one way to go on,
//! it is gone: of such a stretch just a few milestones are kept, chosen by what they are, so that two stretches that meet soon know it.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use podreach_core::Learned;

use super::aim::Aim;
use super::canonical::Canonical;
use super::form::State;
use super::frontier::Frontier;
use super::group::{Class, Group};
use super::mask::{Masks, Spot};
use super::opening::openings;
use super::portfolio::{Outlook, Pursuit};
use super::system::System;
use super::{Budget, Found, Stop};

/// A search that can be paused.
pub struct Forward<'a> {
    pub(super) system: &'a System,
    /// How many pods of each class can be of use.
    caps: Vec<u64>,
    /// Whether that is one of each, so that a configuration is a set of bits; otherwise it is a word per class.
    unit: bool,
    pub(super) masks: Masks,
    /// The configurations, in the order they were found, one after the other.
    packed: Vec<u64>,
    words: usize,
    /// The configuration each was found from, and where its part of `rules` ends.
    parents: Vec<(u32, u32)>,
    /// The rules that lead from a configuration's parent to it.
    rules: Vec<u32>,
    known: HashTable<u32>,
    frontier: Frontier,
    aim: Aim,
    /// The least that was ever missing for the goal, now and when the latest portion began.
    nearest: u64,
    nearest_before: u64,
    /// How many configurations were passed and not kept.
    passed: u64,
    /// Of so many configurations with one way on, less one, one is kept; grows as memory fills.
    sparsity: u64,
    walk: Walk,
    /// The permutations up to which configurations are known, once it pays to look for some.
    canonical: Option<Canonical>,
    /// How much was done, in units of one configuration made, new or not.
    made: u64,
}

/// Where a search is between two configurations that it keeps.
#[derive(Default)]
struct Walk {
    before: Spot,
    here: Spot,
    next: Spot,
    /// The only way on, as far as is known.
    only: Spot,
    /// The rules since the last configuration that was kept.
    rules: Vec<u32>,
}

/// The ways on from a configuration.
enum Ways {
    None,
    One,
    Several,
    Goal(u32),
}

/// How much more work it is to look for an opening than to file a configuration, roughly.
const WORK_PER_OPENING: u64 = 8;

/// With this many configurations it pays to look for permutations.
const MANY: usize = 3_000;

/// The start of the search has no parent.
pub(super) const NONE: u32 = u32::MAX;

/// One in so many configurations with only one way on is kept, less one; and one after so many in any case.
const SPARSITY: u64 = 15;
const STRETCH: usize = 1 << 10;

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
            rules: Vec::new(),
            known: HashTable::new(),
            frontier: Frontier::default(),
            aim: Aim::new(system),
            nearest: u64::MAX,
            nearest_before: u64::MAX,
            passed: 0,
            sparsity: SPARSITY,
            walk: Walk::default(),
            canonical: (!fills).then(|| Canonical::trivial(unit)),
            made: 0,
        };
        search.add(&search.pack(&counts), NONE, &[]);
        search.nearest_before = search.nearest;
        search
    }

    fn pack(&self, counts: &[u64]) -> Vec<u64> {
        if !self.unit {
            return counts.to_vec();
        }
        let word = |chunk: &[u64]| chunk.iter().rev().fold(0, |word, &count| word << 1 | count);
        counts.chunks(64).map(word).collect()
    }

    pub(super) fn packed(&self, id: u32) -> &[u64] {
        &self.packed[id as usize * self.words..][..self.words]
    }

    pub(super) fn unpack(&self, id: u32) -> Group {
        let packed = self.packed(id);
        let counts = (0..self.system.classes.len() as Class).map(|class| (class, self.count(packed, class)));
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// The configuration that one was found from, and the rules that lead from there.
    pub(super) fn way_to(&self, id: u32) -> (u32, &[u32]) {
        let first = id.checked_sub(1).map_or(0, |before| self.parents[before as usize].1);
        let (parent, end) = self.parents[id as usize];
        (parent, &self.rules[first as usize..end as usize])
    }

    /// Files a configuration and the rules that lead to it; returns its id if it is new.
    fn add(&mut self, packed: &[u64], parent: u32, rules: &[u32]) -> Option<u32> {
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
        self.rules.extend_from_slice(rules);
        self.parents.push((parent, self.rules.len() as u32));
        let distance = self.aim.distance(|class| self.count(packed, class));
        self.nearest = self.nearest.min(distance);
        self.frontier.push(distance);
        Some(id)
    }

    /// The same for one that may be a goal; returns its id if it is, and new.
    fn add_and_look(&mut self, packed: &[u64], parent: u32, rules: &[u32]) -> Option<u32> {
        self.add(packed, parent, rules).filter(|_| self.is_goal(packed))
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
        let mut goal = None;
        if self.masks.others.len() < self.system.rules.len() {
            let mut walk = std::mem::take(&mut self.walk);
            goal = self.walk(&mut walk, id);
            self.walk = walk;
        }
        if goal.is_some() || self.masks.others.is_empty() {
            return goal;
        }
        let state = State::of_group(&self.system.forms, &self.unpack(id));
        let others = self.masks.others.clone();
        others.into_iter().find_map(|rule| self.deploy(rule, &state, id))
    }

    /// Goes on from a configuration by masks, and further while there is only one way.
    fn walk(&mut self, walk: &mut Walk, id: u32) -> Option<u32> {
        walk.begin(self.packed(id));
        self.masks.survey(&mut walk.here);
        // Only the start and rules without a mask lead to configurations that are not filled yet.
        if !walk.here.rules.is_empty() {
            return self.add_and_look(&walk.here.words, id, &walk.here.rules);
        }
        for length in 0.. {
            match self.ways(walk, id, length == 0) {
                Ways::Goal(goal) => return Some(goal),
                Ways::None => return None,
                Ways::Several if length == 0 => return None,
                Ways::Several => return self.add_and_look(&walk.here.words, id, &walk.rules),
                Ways::One => walk.go_on(),
            }
            if self.is_milestone(&walk.here.words, length) {
                return self.add_and_look(&walk.here.words, id, &walk.rules);
            }
            self.passed += 1;
        }
        None
    }

    /// The ways on from where a walk is; files them if there are several and it is at a configuration that is kept.
    fn ways(&mut self, walk: &mut Walk, id: u32, kept: bool) -> Ways {
        let mut ways = Ways::None;
        for &rule in &walk.here.doors {
            if !self.masks.open(rule, &walk.here.words, &mut walk.next.words) {
                continue;
            }
            self.made += 1;
            walk.next.rules.clear();
            walk.next.rules.push(rule);
            self.masks.survey(&mut walk.next);
            let next = &walk.next;
            if next.words == walk.before.words || !matches!(ways, Ways::None) && next.words == walk.only.words {
                continue;
            }
            match ways {
                Ways::None => {
                    std::mem::swap(&mut walk.next, &mut walk.only);
                    ways = Ways::One;
                    continue;
                }
                _ if !kept => return Ways::Several,
                Ways::One => {
                    ways = Ways::Several;
                    if let Some(goal) = self.add_and_look(&walk.only.words, id, &walk.only.rules) {
                        return Ways::Goal(goal);
                    }
                }
                _ => {}
            }
            if let Some(goal) = self.add_and_look(&next.words, id, &next.rules) {
                return Ways::Goal(goal);
            }
        }
        // Rules without masks are ways, too.
        if kept && matches!(ways, Ways::One) && !self.masks.others.is_empty() {
            let goal = self.add_and_look(&walk.only.words, id, &walk.only.rules);
            return goal.map_or(Ways::Several, Ways::Goal);
        }
        ways
    }

    /// Whether a configuration after a stretch of this length without a choice is kept: a goal, or one of a few.
    fn is_milestone(&self, packed: &[u64], length: usize) -> bool {
        // The high bits, since the low ones depend on few words.
        let hash = FxBuildHasher.hash_one(packed) >> 32;
        hash & self.sparsity == 0 || length as u64 > STRETCH as u64 * self.sparsity || self.is_goal(packed)
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
            self.made += 1;
            let goal = self.add_and_look(&self.pack(&next.counts), id, &[rule as u32]);
            if goal.is_some() {
                return goal;
            }
        }
        None
    }

    fn is_goal(&self, packed: &[u64]) -> bool {
        self.system.goals.iter().any(|goal| goal.iter().all(|&(class, needed)| self.count(packed, class) >= needed))
    }

    /// How many of a class a configuration has.
    pub(super) fn count(&self, packed: &[u64], class: Class) -> u64 {
        if self.unit { packed[class as usize / 64] >> (class % 64) & 1 } else { packed[class as usize] }
    }
}

impl Walk {
    fn begin(&mut self, packed: &[u64]) {
        self.rules.clear();
        self.before.words.clear();
        self.here.words.clear();
        self.here.words.extend_from_slice(packed);
        self.here.rules.clear();
    }

    /// Takes the only way on.
    fn go_on(&mut self) {
        std::mem::swap(&mut self.before, &mut self.here);
        std::mem::swap(&mut self.here, &mut self.only);
        self.rules.extend_from_slice(&self.here.rules);
    }
}

impl Pursuit for Forward<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let until = self.made + work;
        self.nearest_before = self.nearest;
        while self.made < until && !self.is_spent() {
            if let Some(progress) = budget.progress {
                progress.states(self.looked_at());
            }
            if let Some(stop) = self.stop(budget) {
                let learned = Learned { deployments_ruled_out: None, explored: self.looked_at() };
                return Some(Found::Stopped { stop, learned });
            }
            let goal = self.frontier.pop().and_then(|next| self.expand(next));
            if let Some(goal) = goal {
                return Some(Found::Reached(self.trail(goal)));
            }
        }
        None
    }

    fn is_spent(&self) -> bool {
        self.frontier.left() == 0
    }

    /// A search that comes nearer to its goal, or whose frontier stays small, may well come to an end; one whose frontier grows with
    /// every step will not.
    fn outlook(&self) -> Outlook {
        let (left, taken) = (self.frontier.left(), self.frontier.taken());
        let nearer = self.nearest < self.nearest_before;
        if nearer || left > 0 && left * 16 <= taken + self.passed {
            Outlook::Good
        } else if taken >= 64 && left > taken {
            Outlook::Bad
        } else {
            Outlook::Open
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![("configurations", self.looked_at()), ("kept", self.kept())]
    }
}

impl Forward<'_> {
    /// How many configurations were looked at.
    pub(super) fn looked_at(&self) -> u64 {
        self.kept() + self.passed
    }

    /// How many of them were kept.
    pub(super) fn kept(&self) -> u64 {
        self.parents.len() as u64
    }

    /// How many bytes it holds, or will when a table grows that is full.
    fn bytes(&self) -> usize {
        let grown = |length: usize, capacity: usize| if length == capacity { 3 * capacity } else { capacity };
        let full = self.known.len() == self.known.capacity();
        8 * grown(self.packed.len(), self.packed.capacity())
            + 8 * grown(self.parents.len(), self.parents.capacity())
            + 4 * grown(self.rules.len(), self.rules.capacity())
            + self.frontier.bytes()
            + self.known.allocation_size() * if full { 3 } else { 1 }
    }

    /// Keeps fewer configurations as memory fills; says when to stop.
    fn stop(&mut self, budget: &Budget<'_>) -> Option<Stop> {
        if !self.frontier.taken().is_multiple_of(16) {
            return None;
        }
        let bytes = self.bytes();
        if bytes > budget.memory / 2 {
            self.sparsity = SPARSITY << 4 | SPARSITY;
        }
        let full = self.rules.len() > (u32::MAX / 2) as usize || self.parents.len() > (u32::MAX / 2) as usize;
        budget.stop(if full { usize::MAX } else { bytes })
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
