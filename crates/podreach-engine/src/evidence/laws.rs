//! Says many forbidden pairs as few laws: of several classes, at most one has pods at a time.
//!
//! Pairs are the edges of a graph, and a law stands for the edges of a clique; so few laws are a small cover of the edges by cliques. A
//! least one is hard to find. Here each clique grows from an edge that is not covered yet, by the first class that is paired with all of
//! it and that makes more edges covered. After Kou, Stockmeyer and Wong, *Covering Edges by Cliques with Regard to Keyword Conflicts and
//! Intersection Graphs* (Communications of the ACM 21, 1978).
//!
//! Invariant: laws and groups together stand for exactly the groups that were given. Cost: a row of bits for each class of a law.

use podreach_core::{Problem, Proof};

use crate::bits::Bits;
use crate::compile::System;
use crate::group::{Class, Group};

/// Fewer pairs are listed one by one: they are easier to read, and each is a fact of an explanation.
const MANY: usize = 1 << 12;

/// Cliques of fewer classes are not worth a law.
const LEAST: usize = 4;

/// Forbidden groups as a proof about the whole problem, with laws where there are many pairs.
pub fn proof(system: &System, problem: &Problem, groups: Vec<Group>) -> Proof {
    let is_plain = |&class: &Class| system.kept(problem, class) == 0;
    let pairs = groups.iter().filter(|group| pair(group).is_some()).count();
    if pairs < MANY || problem.model.cluster().shapes.iter().any(|(_, shape)| !shape.is_all) {
        return system.proof(problem, &groups, &[]);
    }
    let (pairs, mut rest): (Vec<Group>, Vec<Group>) =
        groups.into_iter().partition(|group| pair(group).is_some_and(|(a, b)| is_plain(&a) && is_plain(&b)));
    let (laws, left) = cover(system.classes.len(), pairs.iter().filter_map(|group| pair(group)));
    rest.extend(left.into_iter().map(|(a, b)| vec![(a, 1), (b, 1)]));
    system.proof(problem, &rest, &laws)
}

/// The classes of a pair of two classes.
fn pair(group: &Group) -> Option<(Class, Class)> {
    match group[..] {
        [(a, 1), (b, 1)] => Some((a, b)),
        _ => None,
    }
}

/// Cliques that cover edges, and the edges that are left.
fn cover(classes: usize, edges: impl Iterator<Item = (Class, Class)>) -> (Vec<Vec<Class>>, Vec<(Class, Class)>) {
    let mut graph = Graph { paired: vec![Bits::default(); classes], open: Vec::new() };
    for (a, b) in edges {
        graph.add(classes, a as usize, b as usize);
        graph.add(classes, b as usize, a as usize);
    }
    graph.open.clone_from(&graph.paired);
    let (mut laws, mut left) = (Vec::new(), Vec::new());
    for first in 0..classes {
        while let Some(second) = graph.open[first].first() {
            let clique = graph.grow(first, second);
            if clique.len() < LEAST {
                left.push((first as Class, second as Class));
                graph.close(&[first, second]);
            } else {
                graph.close(&clique);
                laws.push(clique.into_iter().map(|class| class as Class).collect());
            }
        }
    }
    (laws, left)
}

struct Graph {
    /// For each class, those that it is paired with; no words where that is none.
    paired: Vec<Bits>,
    /// The pairs that no clique covers yet.
    open: Vec<Bits>,
}

impl Graph {
    fn add(&mut self, classes: usize, a: usize, b: usize) {
        if self.paired[a].words().is_empty() {
            self.paired[a] = Bits::none(classes);
        }
        self.paired[a].insert(b);
    }

    /// A clique with an edge; each class that it grows by has an edge to the first that is not covered.
    fn grow(&self, first: usize, second: usize) -> Vec<usize> {
        let mut clique = vec![first, second];
        let mut candidates = self.open[first].clone();
        candidates.intersect(&self.paired[second]);
        while let Some(next) = candidates.first() {
            clique.push(next);
            candidates.intersect(&self.paired[next]);
        }
        clique.sort_unstable();
        clique
    }

    /// The edges of a clique are covered.
    fn close(&mut self, clique: &[usize]) {
        for &class in clique {
            clique.iter().for_each(|&other| self.open[class].remove(other));
        }
    }
}
