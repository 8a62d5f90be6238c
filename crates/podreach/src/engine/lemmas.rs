//! Forbidden groups by level, filed so that only those that could matter are ever looked at.
//!
//! A lemma of level `k` says that no configuration within `k` deployments of the start contains its group. A search that starts from
//! one group and may add pods of a few classes can only meet lemmas within those classes; they are found through an index (each
//! lemma under one of its classes, the rarest when it came) and a comparison of bit sets.

use super::bits::Bits;
use super::group::{Class, Group, is_within};

/// The level of lemmas that were replaced by better ones.
const GONE: u32 = 0;

/// Forbidden groups by level.
#[derive(Clone, Debug)]
pub struct Lemmas {
    groups: Vec<Group>,
    /// The classes of each lemma, one after the other.
    supports: Vec<u64>,
    words: usize,
    levels: Vec<u32>,
    /// The lemmas that came to each level; some have moved on since.
    arrived: Vec<Vec<u32>>,
    /// For each class, the lemmas that mention it.
    mentions: Vec<Vec<u32>>,
    /// For each class, the lemmas filed under it, each with its signature: most that do not matter are passed over by that alone.
    filed: Vec<Vec<(u64, u32)>>,
}

impl Lemmas {
    /// No lemmas, over so many classes.
    pub fn new(classes: usize) -> Self {
        let words = classes.div_ceil(64);
        Self {
            groups: Vec::new(),
            supports: Vec::new(),
            words,
            levels: Vec::new(),
            arrived: Vec::new(),
            mentions: vec![Vec::new(); classes],
            filed: vec![Vec::new(); classes],
        }
    }

    /// Adds to `found` the lemmas of at least `level` whose classes are all within `classes`.
    pub fn find_within(&self, classes: &Bits, level: u32, found: &mut Vec<u32>) {
        let (level, outside) = (level.max(1), !signature(classes));
        for class in classes.ones() {
            for &(signature, lemma) in &self.filed[class] {
                if signature & outside == 0 && self.levels[lemma as usize] >= level && self.is_within(lemma, classes) {
                    found.push(lemma);
                }
            }
        }
    }

    /// How many lemmas have to be looked at to find those within `classes`.
    pub fn filed_within(&self, classes: &Bits) -> usize {
        classes.ones().map(|class| self.filed[class].len()).sum()
    }

    /// Whether the classes of a lemma are all within `classes`.
    pub fn is_within(&self, lemma: u32, classes: &Bits) -> bool {
        let at = lemma as usize * self.words;
        self.supports[at..at + self.words].iter().zip(classes.words()).all(|(word, allowed)| word & !allowed == 0)
    }

    /// The highest level of a lemma that `group` contains, if it is at least `level`.
    pub fn conflict(&self, group: &[(Class, u64)], level: u32) -> Option<u32> {
        self.contained(group, level).map(|lemma| self.levels[lemma as usize]).max()
    }

    /// A lemma that `group` contains.
    pub fn first_within(&self, group: &[(Class, u64)]) -> Option<&Group> {
        self.contained(group, 1).next().map(|lemma| &self.groups[lemma as usize])
    }

    fn contained<'a>(&'a self, group: &'a [(Class, u64)], level: u32) -> impl Iterator<Item = u32> + 'a {
        let level = level.max(1);
        let outside = !group.iter().fold(0, |signature, &(class, _)| signature | 1 << (class % 64));
        let filed = group.iter().flat_map(|&(class, _)| &self.filed[class as usize]);
        let possible = filed.filter(move |&&(signature, _)| signature & outside == 0).map(|&(_, lemma)| lemma);
        possible.filter(move |&lemma| {
            self.levels[lemma as usize] >= level && is_within(&self.groups[lemma as usize], group)
        })
    }

    /// Adds a lemma and removes those that say no more than it does.
    pub fn add(&mut self, group: Group, level: u32) {
        let rarest = group.iter().map(|entry| entry.0 as usize).min_by_key(|&class| self.mentions[class].len());
        let rarest = rarest.expect("the start contains the empty group");
        let weaker =
            |&&other: &&u32| self.levels[other as usize] <= level && is_within(&group, &self.groups[other as usize]);
        let weaker: Vec<u32> = self.mentions[rarest].iter().filter(weaker).copied().collect();
        weaker.into_iter().for_each(|other| self.remove(other));
        let lemma = self.groups.len() as u32;
        group.iter().for_each(|&(class, _)| self.mentions[class as usize].push(lemma));
        let support = Bits::of(self.mentions.len(), group.iter().map(|entry| entry.0 as usize));
        self.filed[rarest].push((signature(&support), lemma));
        self.supports.extend(support.words());
        self.levels.push(level);
        self.arrive(lemma, level);
        self.groups.push(group);
    }

    fn remove(&mut self, lemma: u32) {
        self.levels[lemma as usize] = GONE;
        for (class, _) in std::mem::take(&mut self.groups[lemma as usize]) {
            self.mentions[class as usize].retain(|&other| other != lemma);
            self.filed[class as usize].retain(|&(_, other)| other != lemma);
        }
    }

    /// The lemmas of exactly a level.
    pub fn at(&self, level: u32) -> Vec<u32> {
        let arrived = self.arrived.get(level as usize).into_iter().flatten().copied();
        arrived.filter(|&lemma| self.levels[lemma as usize] == level).collect()
    }

    /// The group of a lemma.
    pub fn group(&self, lemma: u32) -> &Group {
        &self.groups[lemma as usize]
    }

    /// The level of a lemma.
    pub fn level(&self, lemma: u32) -> u32 {
        self.levels[lemma as usize]
    }

    /// Raises a lemma to a level.
    pub fn raise(&mut self, lemma: u32, level: u32) {
        self.levels[lemma as usize] = level;
        self.arrive(lemma, level);
    }

    fn arrive(&mut self, lemma: u32, level: u32) {
        let level = level as usize;
        if self.arrived.len() <= level {
            self.arrived.resize(level + 1, Vec::new());
        }
        self.arrived[level].push(lemma);
    }

    /// The groups that are forbidden from a level on.
    pub fn from(&self, level: u32) -> Vec<Group> {
        let lemmas = self.groups.iter().zip(&self.levels).filter(|&(_, &at)| at >= level.max(1));
        lemmas.map(|(group, _)| group.clone()).collect()
    }

    /// How many lemmas there ever were.
    pub fn ever(&self) -> usize {
        self.levels.len()
    }
}

/// A set of classes in one word: what is within another set has a signature within the other's.
fn signature(classes: &Bits) -> u64 {
    classes.words().iter().fold(0, |all, word| all | word)
}
