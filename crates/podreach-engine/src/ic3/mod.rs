//! IC3 for systems in which everything can be deleted: incremental, inductive coverability.
//!
//! Frame `k` holds groups that no configuration within `k` deployments contains. To show that a goal is not reached within `k`
//! deployments, ask of each pod of it: could it have come last, on top of a configuration that frame `k − 1` allows? If so, the least
//! part of that configuration is an obligation for `k − 1`; if not, the goal is forbidden at `k`, and is generalised. When two frames
//! agree, they are an inductive invariant and the proof.
//!
//! Goals ask only for presence, so predecessors need no lifting and groups no negation. After Bradley, *SAT-Based Model Checking Without
//! Unrolling* (VMCAI 2011), Eén, Mishchenko and Brayton, *Efficient Implementation of Property Directed Reachability* (FMCAD 2011), and
//! Kloos, Majumdar, Niksic and Piskac, *Incremental, Inductive Coverability* (CAV 2013).
//!
//! Invariant: a lemma of level `k` is forbidden within `k` deployments. Complete where counts are bounded; each query is a small
//! search (`predecessors.rs`) and the number of queries is exponential in the worst case.

mod generalisation;
mod obligations;
mod predecessors;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::convert::Infallible;

use podreach_core::Learned;

use crate::budget::{Budget, Stop};
use crate::compile::System;
use crate::evidence::reduced;
use crate::group::{self, Group};
use crate::lemmas::Lemmas;
use crate::mutex::Mutexes;
use crate::plan::Plan;
use crate::pursuit::{Found, Pursuit};
use crate::symmetry::{Automorphism, automorphisms, closed};
use generalisation::DropRate;
use obligations::{Obligation, Obligations, Queue};
pub use predecessors::Predecessors;

/// Frames are added one by one at first, so that short plans are found first. A goal that is out of reach of these is then looked at
/// from much farther away: what is learned at once for many frames is nearly always part of the invariant, whereas climbing frame by
/// frame learns three groups for each that is kept in the end.
const SHALLOW: u32 = 8;
const DEEP: u32 = 256;

/// With this many groups it pays to look for permutations that make more of them, up to so many of one.
const MANY: usize = 1024;
const IMAGES: usize = 32;

/// How a search ends, or why it pauses.
enum End {
    Reached(usize),
    Invariant(u32),
    Stopped(Stop),
    Paused,
}

/// A search that can be paused.
pub struct Ic3<'a> {
    system: &'a System,
    mutexes: &'a Mutexes,
    lemmas: Lemmas,
    predecessors: Predecessors<'a>,
    obligations: Obligations,
    /// Obligations to block, lowest level first, newest first.
    queue: Queue,
    /// How far from the start each class is, at least.
    layers: Vec<u32>,
    /// Permutations of the classes that change neither the transitions nor the start, once they were looked for.
    automorphisms: Option<Vec<Automorphism>>,
    top: u32,
    /// How many obligations were looked at.
    blocked: u64,
    /// How often dropping a pod of a group succeeded.
    drops: DropRate,
    /// The amount of work at which to pause.
    pause: u64,
}

impl<'a> Ic3<'a> {
    /// A search for the goals of a system.
    pub fn new(system: &'a System, mutexes: &'a Mutexes) -> Self {
        let mut search = Self {
            system,
            mutexes,
            lemmas: Lemmas::new(system.classes.len()),
            layers: system.layers(),
            automorphisms: None,
            blocked: 0,
            predecessors: Predecessors::new(system, mutexes),
            obligations: system.goals.iter().map(|group| Obligation { group: group.clone(), parent: None }).collect(),
            queue: Queue::new(),
            top: 1,
            drops: DropRate::default(),
            pause: 0,
        };
        search.ask_goals();
        search
    }

    /// Asks for every goal at the top level.
    fn ask_goals(&mut self) {
        self.queue.extend((0..self.system.goals.len()).map(|goal| (Reverse(self.top), goal)));
    }

    fn run(&mut self, budget: &Budget<'_>) -> Result<Infallible, End> {
        loop {
            // An obligation leaves the queue only once it is blocked, so a pause loses nothing.
            while let Some((level, goal)) = self.waiting(budget) {
                let again = self.block(goal, level, budget)?;
                self.queue.pop();
                self.queue.extend(again);
            }
            self.propagate(budget)?;
            self.top = if self.top < SHALLOW { self.top + 1 } else { self.top.saturating_mul(2).max(DEEP) };
            self.ask_goals();
        }
    }

    /// The level and the obligation to block next; where memory gets short, obligations that no plan needs are dropped before.
    fn waiting(&mut self, budget: &Budget<'_>) -> Option<(u32, usize)> {
        if self.bytes() > budget.memory / 2 {
            self.obligations.forget(self.system.goals.len(), &mut self.queue);
        }
        self.queue.peek().map(|&(Reverse(level), goal)| (level, goal))
    }

    /// Blocks an obligation at `level`, or asks for a predecessor to be blocked first; returns what to do next.
    fn block(&mut self, goal: usize, level: u32, budget: &Budget<'_>) -> Result<Vec<(Reverse<u32>, usize)>, End> {
        self.blocked += 1;
        let group = self.obligations[goal].group.clone();
        if group::is_covered(&group, &self.system.start) {
            return Err(End::Reached(goal));
        }
        if let Some(known) = self.conflict(&group, level) {
            return Ok(self.again(goal, known.saturating_add(1)));
        }
        if let Some((before, transition)) = self.predecessor(&group, level, budget)? {
            self.obligations.push(Obligation { group: before, parent: Some((goal, transition)) });
            return Ok(vec![(Reverse(level), goal), (Reverse(level - 1), self.obligations.len() - 1)]);
        }
        let known = self.learn(group, level, 0, budget)?;
        Ok(self.again(goal, known + 1))
    }

    fn again(&self, goal: usize, level: u32) -> Vec<(Reverse<u32>, usize)> {
        if level <= self.top { vec![(Reverse(level), goal)] } else { Vec::new() }
    }

    /// Generalises a group that is forbidden at `level`, raises it as far as it goes, and adds it as a lemma.
    fn learn(&mut self, group: Group, level: u32, depth: usize, budget: &Budget<'_>) -> Result<u32, End> {
        let group = self.generalise(group, level, depth, budget)?;
        let (mut level, mut support) = (level, None);
        while level < self.top && self.is_forbidden(&group, level + 1, budget)? {
            let mut latest = self.predecessors.support();
            level = self.lemmas.level_supported_by(&mut latest).min(self.top);
            support = Some(latest);
        }
        self.lemmas.add(group.clone(), level, support);
        self.add_images(&group, level);
        Ok(level)
    }

    /// Adds the images of a group that is forbidden at `level`, which are forbidden there as well; of all groups, once there
    /// are so many that it pays to look for permutations.
    fn add_images(&mut self, group: &Group, level: u32) {
        if let Some(automorphisms) = &self.automorphisms {
            images(automorphisms, group).into_iter().for_each(|image| self.lemmas.add(image, level, None));
        } else if self.lemmas.ever() >= MANY {
            self.automorphisms = Some(closed(&automorphisms(self.system, &self.system.start), IMAGES));
            for (group, level) in self.lemmas.all() {
                self.add_images(&group, level);
            }
        }
    }

    fn is_forbidden(&mut self, group: &Group, level: u32, budget: &Budget<'_>) -> Result<bool, End> {
        Ok(!group::is_covered(group, &self.system.start) && self.predecessor(group, level, budget)?.is_none())
    }

    /// The level from which a mutex or a lemma forbids the group, if that is `level` or more.
    fn conflict(&mut self, group: &Group, level: u32) -> Option<u32> {
        if self.mutexes.mutex_in(group).is_some() {
            return Some(u32::MAX);
        }
        self.lemmas.within(group, level).map(|lemma| self.lemmas.level(lemma))
    }

    /// Raises lemmas to the next level where they also hold there; ends the search when two frames agree.
    fn propagate(&mut self, budget: &Budget<'_>) -> Result<(), End> {
        for level in 1..=self.top {
            for lemma in self.lemmas.at(level) {
                // Another lemma may have replaced it meanwhile.
                if self.lemmas.level(lemma) == level {
                    self.push(lemma, level, budget)?;
                }
            }
            if self.lemmas.is_empty_at(level) {
                return Err(End::Invariant(level + 1));
            }
        }
        Ok(())
    }

    /// Raises a lemma as far as it goes, if that is further than `level`.
    fn push(&mut self, lemma: u32, level: u32, budget: &Budget<'_>) -> Result<(), End> {
        let mut supported_level = self.lemmas.supported_level(lemma).unwrap_or(level);
        if supported_level <= level {
            let group = self.lemmas.group(lemma).clone();
            if self.is_forbidden(&group, level + 1, budget)? {
                let mut support = self.predecessors.support();
                supported_level = self.lemmas.level_supported_by(&mut support);
                self.lemmas.set_support(lemma, Some(support));
            } else if self.lemmas.remove_if_subsumed(lemma) {
                return Ok(());
            }
        }
        if supported_level > level {
            self.lemmas.raise(lemma, supported_level.min(self.top + 1));
        }
        Ok(())
    }

    /// A configuration within `level − 1` deployments, as far as the frames know, and a transition that completes `group` from it.
    fn predecessor(&mut self, group: &Group, level: u32, budget: &Budget<'_>) -> Result<Option<(Group, usize)>, End> {
        if self.predecessors.work >= self.pause {
            return Err(End::Paused);
        }
        let found = self.predecessors.find(&mut self.lemmas, group, level - 1);
        if let Some(progress) = budget.progress {
            progress.frames(self.top.into(), self.lemmas.ever() as u64);
        }
        budget.stop(self.bytes()).map_or(Ok(found), |stop| Err(End::Stopped(stop)))
    }

    /// An invariant as far as the goals need it; `None` if it is none. Images of groups may depend on images that were
    /// not made: then it is lowered, and the search goes on.
    fn invariant(&mut self, level: u32, budget: &Budget<'_>) -> Result<Option<Found>, End> {
        if let Some(needed) = reduced(self.system, self.mutexes, self.lemmas.from(level)) {
            return Ok(Some(Found::Reduced(needed)));
        }
        // What rules out the goals may be among what is lowered.
        self.ask_goals();
        let mut lowered = false;
        while self.lower(level, budget)? {
            lowered = true;
        }
        Ok((!lowered).then(|| Found::Never(self.lemmas.from(level))))
    }

    /// Lowers the lemmas from a level on that the others do not hold there; says whether there was any.
    fn lower(&mut self, level: u32, budget: &Budget<'_>) -> Result<bool, End> {
        let mut lowered = false;
        for lemma in self.lemmas.above(level) {
            let group = self.lemmas.group(lemma).clone();
            if !self.is_forbidden(&group, level + 1, budget)? {
                self.lemmas.set_support(lemma, None);
                self.lemmas.raise(lemma, level - 1);
                lowered = true;
            }
        }
        Ok(lowered)
    }

    fn bytes(&self) -> usize {
        self.lemmas.bytes() + self.obligations.bytes() + self.queue.len() * 24
    }
}

impl Pursuit for Ic3<'_> {
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        self.pause = self.predecessors.work + work;
        let end = loop {
            match self.run(budget) {
                Err(End::Invariant(level)) => match self.invariant(level, budget) {
                    Ok(Some(found)) => return Some(found),
                    Ok(None) => {}
                    Err(end) => break end,
                },
                Err(end) => break end,
            }
        };
        match end {
            End::Reached(goal) => Some(Found::Reached(Plan::from_start(self.system, goal, |at| {
                (&self.obligations[at].group, self.obligations[at].parent)
            }))),
            End::Stopped(stop) => {
                let deployments_ruled_out = Some(u64::from(self.top) - 1);
                Some(Found::Stopped {
                    stop,
                    learned: Learned { deployments_ruled_out, explored: self.predecessors.asked },
                })
            }
            End::Paused | End::Invariant(_) => None,
        }
    }

    fn effort(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("frames", self.top.into()),
            ("goals", self.blocked),
            ("groups", self.lemmas.ever() as u64),
            ("questions", self.predecessors.asked),
            ("lookups", self.lemmas.visits),
            ("permutations", self.automorphisms.as_ref().map_or(0, Vec::len) as u64),
        ]
    }
}

/// What permutations make of a group, each image once.
fn images(automorphisms: &[Automorphism], group: &Group) -> BTreeSet<Group> {
    automorphisms.iter().filter_map(|automorphism| automorphism.image(group)).collect()
}
