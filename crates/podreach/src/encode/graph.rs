//! Directed graphs without cycles, and the black pebble game on them.
//!
//! ```text
//! X → X ∪ {v}   if   v ∉ X,  pred(v) ⊆ X  and  |X| < k            X → X − {v}   always
//! ```
//! Like the net's, this native semantics shares nothing with the encoding whose answers are held against it.

use std::collections::{BTreeSet, HashMap};

use super::errors;
use crate::diagnostic::Diagnostic;
use crate::read::Span;

/// A directed graph; vertices are known by their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The names of the vertices.
    pub vertices: Vec<String>,
    /// For each vertex, where edges come from.
    pub predecessors: Vec<BTreeSet<usize>>,
    /// Whether its text can be nothing but a graph, so that errors may quote its names.
    pub(super) declared: bool,
    index: HashMap<String, usize>,
}

/// A move of the pebble game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A pebble is put on a vertex.
    Place(usize),
    /// A pebble is taken off a vertex.
    Remove(usize),
}

impl Graph {
    /// The pyramid of this height, whose top, its last vertex, takes `height + 2` pebbles.
    pub fn pyramid(height: usize) -> Self {
        Self::rows((1..=height + 1).rev(), |column| [column, column + 1])
    }

    /// The complete binary tree of this height, whose root, its last vertex, takes `height + 2` pebbles.
    pub fn tree(height: usize) -> Self {
        Self::rows((0..=height).rev().map(|level| 1 << level), |column| [2 * column, 2 * column + 1])
    }

    /// Rows of vertices, the widest first; `below` says which two of the row before a vertex rests on.
    fn rows(widths: impl Iterator<Item = usize>, below: fn(usize) -> [usize; 2]) -> Self {
        let mut graph = Self::default();
        let mut previous: Vec<usize> = Vec::new();
        for (level, width) in widths.enumerate() {
            let row: Vec<usize> = (0..width).map(|column| graph.add_vertex(&format!("v{level}-{column}"))).collect();
            for (column, &vertex) in row.iter().enumerate().filter(|_| level > 0) {
                below(column).into_iter().for_each(|from| graph.add_edge(previous[from], vertex));
            }
            previous = row;
        }
        graph
    }

    /// The index of a vertex, added on first use.
    pub fn add_vertex(&mut self, name: &str) -> usize {
        if let Some(&vertex) = self.index.get(name) {
            return vertex;
        }
        self.index.insert(name.to_owned(), self.vertices.len());
        self.vertices.push(name.to_owned());
        self.predecessors.push(BTreeSet::new());
        self.vertices.len() - 1
    }

    /// Adds an edge; a second one between the same vertices changes nothing.
    pub fn add_edge(&mut self, from: usize, to: usize) {
        self.predecessors[to].insert(from);
    }

    /// The index of a vertex.
    pub fn vertex(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.predecessors.iter().map(BTreeSet::len).sum()
    }

    /// The graph itself if it has no cycle; otherwise one of its cycles, named.
    pub(crate) fn acyclic(self, span: Option<Span>) -> Result<Self, Diagnostic> {
        match self.cycle() {
            None => Ok(self),
            Some(cycle) => {
                let names: Vec<&str> = cycle.iter().map(|&vertex| self.vertices[vertex].as_str()).collect();
                Err(errors::cycle(span, self.declared.then_some(&names[..])))
            }
        }
    }

    /// A cycle, along its edges, the first vertex repeated at the end.
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let mut state = vec![Visit::New; self.vertices.len()];
        (0..self.vertices.len()).find_map(|root| self.cycle_from(root, &mut state))
    }

    /// Depth first against the edges, with a stack of our own: graphs may be deep.
    fn cycle_from(&self, root: usize, state: &mut [Visit]) -> Option<Vec<usize>> {
        if state[root] != Visit::New {
            return None;
        }
        let mut path = vec![(root, self.predecessors[root].iter())];
        state[root] = Visit::Open;
        while let Some((vertex, rest)) = path.last_mut() {
            match rest.next() {
                Some(&next) if state[next] == Visit::Open => {
                    let from =
                        path.iter().position(|&(vertex, _)| vertex == next).expect("open vertices are on the path");
                    let mut cycle: Vec<usize> = path[from..].iter().map(|&(vertex, _)| vertex).collect();
                    cycle.push(next);
                    cycle.reverse();
                    return Some(cycle);
                }
                Some(&next) if state[next] == Visit::New => {
                    state[next] = Visit::Open;
                    path.push((next, self.predecessors[next].iter()));
                }
                Some(_) => {}
                None => {
                    state[*vertex] = Visit::Done;
                    path.pop();
                }
            }
        }
        None
    }

    /// The position after a move with at most `pebbles` on the graph; `None` when the move is not legal.
    pub fn moved(&self, position: &BTreeSet<usize>, pebbles: u64, step: Move) -> Option<BTreeSet<usize>> {
        let mut next = position.clone();
        let legal = match step {
            Move::Remove(vertex) => next.remove(&vertex),
            Move::Place(vertex) => {
                let ready = self.predecessors[vertex].is_subset(position) && (position.len() as u64) < pebbles;
                ready && next.insert(vertex)
            }
        };
        legal.then_some(next)
    }

    /// Whether these moves, from the empty graph, are legal and end with a pebble on `target`.
    pub fn reaches(&self, target: usize, pebbles: u64, moves: &[Move]) -> bool {
        let end = moves.iter().try_fold(BTreeSet::new(), |position, &step| self.moved(&position, pebbles, step));
        end.is_some_and(|position| position.contains(&target))
    }

    /// The smallest number of pebbles that reaches `target`, by search over all positions; for small graphs.
    pub fn pebbling_number(&self, target: usize) -> u64 {
        (1..=self.vertices.len() as u64)
            .find(|&pebbles| self.is_enough(target, pebbles))
            .expect("a pebble for every vertex is enough")
    }

    fn is_enough(&self, target: usize, pebbles: u64) -> bool {
        let mut seen = BTreeSet::from([BTreeSet::new()]);
        let mut todo = vec![BTreeSet::new()];
        while let Some(position) = todo.pop() {
            if position.contains(&target) {
                return true;
            }
            let steps = (0..self.vertices.len()).flat_map(|vertex| [Move::Place(vertex), Move::Remove(vertex)]);
            for next in steps.filter_map(|step| self.moved(&position, pebbles, step)) {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        false
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for (from, to) in edges {
            let (from, to) = (graph.add_vertex(from), graph.add_vertex(to));
            graph.add_edge(from, to);
        }
        graph
    }

    #[test]
    fn a_cycle_is_named_along_its_edges() {
        let looped = Graph { declared: true, ..graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]) };
        let refused = looped.acyclic(None).unwrap_err();
        assert!(
            refused.message.ends_with("\"b\" -> \"c\" -> \"b\"")
                || refused.message.ends_with("\"c\" -> \"b\" -> \"c\"")
        );
        assert!(graph(&[("a", "a")]).cycle().is_some());
        assert!(graph(&[("a", "b"), ("a", "c"), ("b", "c")]).cycle().is_none());
    }

    #[test]
    fn a_chain_needs_two_pebbles_and_a_diamond_three() {
        assert_eq!(graph(&[("a", "b"), ("b", "c"), ("c", "d")]).pebbling_number(3), 2);
        assert_eq!(graph(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).pebbling_number(3), 3);
    }

    #[test]
    fn a_deep_graph_needs_no_deep_stack() {
        let mut deep = Graph::default();
        let vertices: Vec<usize> = (0..200_000).map(|i| deep.add_vertex(&i.to_string())).collect();
        vertices.windows(2).for_each(|pair| deep.add_edge(pair[1], pair[0]));
        assert!(deep.cycle().is_none());
    }
}
