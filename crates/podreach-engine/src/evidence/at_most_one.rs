//! Says many forbidden pairs as few at-most-one constraints: of several sets of classes, at most one has pods at a time.
//!
//! Pairs are the edges of a graph. Classes with the same neighbours (twins) are one part. A constraint stands for the edges of a clique of
//! parts, so few constraints are a small cover of the edges by cliques. A least cover is hard to find. Here each clique grows from an edge
//! that is not covered yet, those of parts with few neighbours first, by the first part that makes more edges covered. After Kou,
//! Stockmeyer and Wong, *Covering Edges by Cliques with Regard to Keyword Conflicts and Intersection Graphs* (Communications of the ACM 21, 1978).
//!
//! Invariant: constraints and groups together stand for exactly the groups that were given. Cost: a row of bits for each part of a
//! constraint.

use podreach_core::{Problem, Proof};
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use crate::compile::System;
use crate::group::{Class, Group};

/// Fewer pairs are listed one by one: they are easier to read, and each is a fact of an explanation.
const MANY: usize = 1 << 12;

/// A constraint that stands for fewer pairs is not worth it.
const LEAST: usize = 4;

/// Forbidden groups as a proof about the whole problem, with at-most-one constraints where there are many pairs.
pub fn proof(system: &System, problem: &Problem, groups: Vec<Group>) -> Proof {
    let pairs = groups.iter().filter(|group| pair(group).is_some()).count();
    if pairs < MANY || problem.model.cluster().shapes.iter().any(|(_, shape)| !shape.is_all) {
        return system.proof(problem, &groups, &[]);
    }
    let is_free: Vec<bool> = (0..system.classes.len() as Class).map(|class| system.kept(problem, class) == 0).collect();
    let (pairs, mut rest): (Vec<Group>, Vec<Group>) = groups
        .into_iter()
        .partition(|group| pair(group).is_some_and(|(a, b)| is_free[a as usize] && is_free[b as usize]));
    let at_most_one = cover(system.classes.len(), pairs.iter().filter_map(pair));
    let (at_most_one, few): (Vec<_>, Vec<_>) =
        at_most_one.into_iter().partition(|constraint| stands_for(constraint) >= LEAST);
    rest.extend(few.iter().flat_map(pairs_of).map(|(a, b)| vec![(a.min(b), 1), (a.max(b), 1)]));
    system.proof(problem, &rest, &at_most_one)
}

/// Sets of classes of which at most one has pods at a time.
pub type AtMostOne = Vec<Vec<Class>>;

/// The classes of a pair of two classes.
fn pair(group: &Group) -> Option<(Class, Class)> {
    match group[..] {
        [(a, 1), (b, 1)] => Some((a, b)),
        _ => None,
    }
}

/// The pairs that a constraint stands for.
fn pairs_of(constraint: &AtMostOne) -> impl Iterator<Item = (Class, Class)> + '_ {
    let parts =
        constraint.iter().enumerate().flat_map(|(at, one)| constraint[at + 1..].iter().map(move |other| (one, other)));
    parts.flat_map(|(one, other)| one.iter().flat_map(move |&a| other.iter().map(move |&b| (a, b))))
}

/// How many pairs a constraint stands for.
fn stands_for(constraint: &AtMostOne) -> usize {
    let sizes = constraint.iter().map(Vec::len);
    sizes.fold((0, 0), |(pairs, before), size| (pairs + before * size, before + size)).0
}

/// Constraints that stand for these pairs and no others.
fn cover(classes: usize, pairs: impl Iterator<Item = (Class, Class)>) -> Vec<AtMostOne> {
    let mut rows = vec![Bits::default(); classes];
    for (a, b) in pairs {
        for (a, b) in [(a as usize, b as usize), (b as usize, a as usize)] {
            if rows[a].words().is_empty() {
                rows[a] = Bits::none(classes);
            }
            rows[a].insert(b);
        }
    }
    let mut graph = Graph::new(&rows);
    let mut at_most_one = Vec::new();
    for first in graph.order() {
        while let Some(second) = graph.open[first].first() {
            let clique = graph.grow(first, second);
            graph.close(&clique);
            at_most_one.push(clique.into_iter().map(|part| graph.parts[part].clone()).collect());
        }
    }
    at_most_one
}

/// The pairs of classes, twins merged.
struct Graph {
    /// Classes that are paired with the same ones.
    parts: Vec<Vec<Class>>,
    /// For each part, those that it is paired with, and of these the ones that no clique covers yet.
    paired: Vec<Bits>,
    open: Vec<Bits>,
}

impl Graph {
    fn new(rows: &[Bits]) -> Self {
        let (mut parts, mut part_of) = (Vec::<Vec<Class>>::new(), FxHashMap::<&Bits, usize>::default());
        for (class, row) in rows.iter().enumerate().filter(|(_, row)| !row.words().is_empty()) {
            let part = *part_of.entry(row).or_insert(parts.len());
            if part == parts.len() {
                parts.push(Vec::new());
            }
            parts[part].push(class as Class);
        }
        let paired = parts.iter().map(|part| {
            let row = &rows[part[0] as usize];
            let others = parts.iter().enumerate().filter(|(_, other)| row.contains(other[0] as usize));
            Bits::of(parts.len(), others.map(|(other, _)| other))
        });
        let paired: Vec<Bits> = paired.collect();
        Self { parts, open: paired.clone(), paired }
    }

    /// The parts, those with few neighbours first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|&part| self.paired[part].len());
        order
    }

    /// A clique with an edge; each part that it grows by has an edge to the first that is not covered.
    fn grow(&self, first: usize, second: usize) -> Vec<usize> {
        let mut clique = vec![first, second];
        let mut candidates = self.open[first].clone();
        candidates.intersect(&self.paired[second]);
        while let Some(next) = candidates.first() {
            clique.push(next);
            candidates.intersect(&self.paired[next]);
        }
        clique
    }

    /// The edges of a clique are covered.
    fn close(&mut self, clique: &[usize]) {
        let all = Bits::of(self.parts.len(), clique.iter().copied());
        clique.iter().for_each(|&part| self.open[part].subtract(&all));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use podreach_core::testing::{Rng, cases};

    use super::*;

    #[test]
    fn constraints_stand_for_the_pairs_that_they_were_made_of() {
        let (mut rng, mut pairs, mut entries) = (Rng::new(107), 0, 0);
        for _ in 0..cases(500) {
            let classes = 2 + rng.below(70);
            // Classes in few kinds, of which some exclude each other: so there are twins and cliques.
            let kinds = 1 + rng.below(8);
            let kind: Vec<usize> = (0..classes).map(|_| rng.below(kinds)).collect();
            let excluded: BTreeSet<(usize, usize)> =
                (0..rng.below(30)).map(|_| (rng.below(kinds), rng.below(kinds))).collect();
            let all = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
            let pairs_of_kinds = all.filter(|&(a, b)| excluded.contains(&(kind[a].min(kind[b]), kind[a].max(kind[b]))));
            let mut given: BTreeSet<(Class, Class)> = pairs_of_kinds.map(|(a, b)| (a as Class, b as Class)).collect();
            given.retain(|_| !rng.one_in(50));
            let at_most_one = cover(classes, given.iter().copied());
            let meant: BTreeSet<(Class, Class)> =
                at_most_one.iter().flat_map(pairs_of).map(|(a, b)| (a.min(b), a.max(b))).collect();
            assert_eq!(meant, given);
            assert!(at_most_one.iter().all(|constraint| stands_for(constraint) == pairs_of(constraint).count()));
            pairs += given.len();
            entries += at_most_one.iter().flatten().map(Vec::len).sum::<usize>();
        }
        assert!(pairs > 2 * entries && entries > 0, "{pairs} pairs, {entries} entries");
    }
}
