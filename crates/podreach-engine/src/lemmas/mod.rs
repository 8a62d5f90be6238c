//! Lemmas: forbidden groups by level, with the lemmas that support them.
//!
//! A lemma of level `k` says that no configuration within `k` deployments of the start contains its group. Frame `k` of IC3 is the set of
//! lemmas of level `k` and above (the delta encoding of Eén, Mishchenko and Brayton, *Efficient Implementation of Property Directed
//! Reachability*, FMCAD 2011). A lemma is supported by others: whichever of its pods came last, one of their groups was there before. So
//! it holds one level above the lowest of them, and it rises when they rise, without a new query.
//!
//! Cost: a lookup visits the part of a set-trie that the configuration contains (`set_trie.rs`).

mod set_trie;

use crate::group::{Class, Group};
use set_trie::SetTrie;
pub use set_trie::{NONE, Within, signature};

/// The level of lemmas that were removed.
const GONE: u32 = 0;

/// Forbidden groups by level.
#[derive(Clone, Debug)]
pub struct Lemmas {
    lemmas: Vec<Lemma>,
    /// The lemmas that came to each level; some have moved on since.
    arrived: Vec<Vec<u32>>,
    trie: SetTrie,
    /// The counts of a group that is looked within.
    counts: Vec<u64>,
    /// How many nodes of the set-trie were visited.
    pub visits: u64,
    /// How many entries the groups have in all.
    entries: usize,
}

#[derive(Clone, Debug)]
struct Lemma {
    group: Group,
    level: u32,
    place: u32,
    /// The lemmas that support it, if they are known.
    support: Option<Box<[u32]>>,
    /// The lemma within it that made it redundant.
    subsumed_by: u32,
}

impl Lemmas {
    /// No lemmas, over so many classes.
    pub fn new(classes: usize) -> Self {
        Self {
            lemmas: Vec::new(),
            arrived: Vec::new(),
            trie: SetTrie::new(),
            counts: vec![0; classes],
            visits: 0,
            entries: 0,
        }
    }

    /// A lemma of at least `level` within a configuration.
    pub fn find<F: Fn(Class) -> u64>(&mut self, within: &Within<'_, F>, level: u32) -> Option<u32> {
        self.trie.find(within, level, NONE, &mut self.visits)
    }

    /// A lemma of at least `level` that `group` contains.
    pub fn within(&mut self, group: &Group, level: u32) -> Option<u32> {
        self.within_but(group, level, NONE)
    }

    fn within_but(&mut self, group: &Group, level: u32, except: u32) -> Option<u32> {
        group.iter().for_each(|&(class, count)| self.counts[class as usize] = count);
        let within = Within {
            classes: [group, &[]],
            signature: signature(group),
            count: |class: Class| self.counts[class as usize],
        };
        let found = self.trie.find(&within, level, except, &mut self.visits);
        group.iter().for_each(|&(class, _)| self.counts[class as usize] = 0);
        found
    }

    /// Adds a lemma, or raises it if it is known.
    pub fn add(&mut self, group: Group, level: u32, support: Option<Box<[u32]>>) {
        let place = self.trie.place(&group);
        let known = self.trie.group(place);
        if known == NONE {
            let lemma = self.lemmas.len() as u32;
            self.entries += group.len();
            self.lemmas.push(Lemma { group, level: GONE, place, support, subsumed_by: NONE });
            self.raise(lemma, level);
        } else if self.level(known) < level {
            self.lemmas[known as usize].subsumed_by = NONE;
            self.lemmas[known as usize].support = support;
            self.raise(known, level);
        }
    }

    /// Removes a lemma if another of its level is within it; returns whether it did.
    pub fn remove_if_subsumed(&mut self, lemma: u32) -> bool {
        let Lemma { group, level, place, .. } = &self.lemmas[lemma as usize];
        let (group, level, place) = (group.clone(), *level, *place);
        let Some(subsumed_by) = self.within_but(&group, level, place) else { return false };
        self.trie.put(place, lemma, GONE);
        let lemma = &mut self.lemmas[lemma as usize];
        (lemma.level, lemma.subsumed_by, lemma.support) = (GONE, subsumed_by, None);
        true
    }

    /// The level up to which its support holds a lemma, if that is known.
    pub fn supported_level(&mut self, lemma: u32) -> Option<u32> {
        let mut support = self.lemmas[lemma as usize].support.take()?;
        let supported_level = self.level_supported_by(&mut support);
        self.lemmas[lemma as usize].support = Some(support);
        Some(supported_level)
    }

    /// The level up to which these lemmas support another; replaces those that were removed by what subsumes them.
    pub fn level_supported_by(&self, support: &mut [u32]) -> u32 {
        let levels = support.iter_mut().map(|lemma| {
            *lemma = self.representative(*lemma);
            self.level(*lemma)
        });
        levels.min().map_or(u32::MAX, |level| level.saturating_add(1))
    }

    /// The lemma itself, or what subsumes it if it was removed.
    fn representative(&self, mut lemma: u32) -> u32 {
        while self.lemmas[lemma as usize].subsumed_by != NONE {
            lemma = self.lemmas[lemma as usize].subsumed_by;
        }
        lemma
    }

    /// Sets the support of a lemma.
    pub fn set_support(&mut self, lemma: u32, support: Option<Box<[u32]>>) {
        self.lemmas[lemma as usize].support = support;
    }

    /// The lemmas of exactly a level.
    pub fn at(&self, level: u32) -> Vec<u32> {
        let arrived = self.arrived.get(level as usize).into_iter().flatten().copied();
        arrived.filter(|&lemma| self.level(lemma) == level).collect()
    }

    /// Whether no lemma has exactly this level.
    pub fn is_empty_at(&self, level: u32) -> bool {
        self.arrived.get(level as usize).into_iter().flatten().all(|&lemma| self.level(lemma) != level)
    }

    /// The group of a lemma.
    pub fn group(&self, lemma: u32) -> &Group {
        &self.lemmas[lemma as usize].group
    }

    /// The level of a lemma.
    pub fn level(&self, lemma: u32) -> u32 {
        self.lemmas[lemma as usize].level
    }

    /// Raises a lemma to a level.
    pub fn raise(&mut self, lemma: u32, level: u32) {
        let Lemma { place, level: before, .. } = &mut self.lemmas[lemma as usize];
        *before = level;
        self.trie.put(*place, lemma, level);
        let level = level as usize;
        if self.arrived.len() <= level {
            self.arrived.resize(level + 1, Vec::new());
        }
        self.arrived[level].push(lemma);
    }

    /// The groups that are forbidden from a level on.
    pub fn from(&self, level: u32) -> Vec<Group> {
        let lemmas = self.lemmas.iter().filter(|lemma| lemma.level >= level.max(1));
        lemmas.map(|lemma| lemma.group.clone()).collect()
    }

    /// How many bytes they take, roughly: a group and its path in the set-trie, its support, and the levels it came to.
    pub fn bytes(&self) -> usize {
        self.lemmas.len() * 200 + self.entries * 64
    }

    /// The lemmas of a level or more.
    pub fn above(&self, level: u32) -> Vec<u32> {
        (0..self.lemmas.len() as u32).filter(|&lemma| self.level(lemma) >= level.max(1)).collect()
    }

    /// All groups that are forbidden at some level, with it.
    pub fn all(&self) -> Vec<(Group, u32)> {
        let lemmas = self.lemmas.iter().filter(|lemma| lemma.level > GONE);
        lemmas.map(|lemma| (lemma.group.clone(), lemma.level)).collect()
    }

    /// How many lemmas there ever were.
    pub fn ever(&self) -> usize {
        self.lemmas.len()
    }
}
