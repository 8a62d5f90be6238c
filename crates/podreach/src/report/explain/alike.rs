//! Which other nodes a proof also covers.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::{Exchange, NodeId, Orbits, Problem, Proof};

/// The nodes of a goal that a proof argues about, each with how many it speaks for; those that speak only for themselves are left out.
pub(crate) fn spoken_for(problem: &Problem, proof: &Proof) -> Vec<(NodeId, usize)> {
    let Ok(orbits) = Orbits::new(problem, &proof.exchanges) else { return Vec::new() };
    let alike = orbits.alike(&problem.goal).into_iter().filter(|alternatives| alternatives.len() > 1);
    alike
        .filter_map(|alternatives| {
            let mut nodes = problem.goal.any[alternatives[0]].iter().map(|((_, node), _)| node);
            nodes.find(|&node| orbits.moves(node)).map(|node| (node, alternatives.len()))
        })
        .collect()
}

/// An exchange as the rounds in which nodes move: each to the next, and the last to the first.
pub(crate) fn rounds(exchange: &Exchange) -> Vec<Vec<NodeId>> {
    let next: BTreeMap<NodeId, NodeId> = exchange.iter().copied().collect();
    let mut seen = BTreeSet::new();
    let mut rounds = Vec::new();
    for &first in next.keys() {
        let round: Vec<NodeId> = std::iter::successors(Some(first), |node| next.get(node).copied())
            .take_while(|&node| seen.insert(node))
            .collect();
        if !round.is_empty() {
            rounds.push(round);
        }
    }
    rounds
}
