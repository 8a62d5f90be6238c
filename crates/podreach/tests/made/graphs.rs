//! Random graphs to pebble.

use podreach::encode::graph::Graph;
use podreach_core::testing::Rng;

/// A graph without cycles, the last vertex of which is a target.
pub(crate) fn random_graph(rng: &mut Rng, most: usize) -> Graph {
    let mut graph = Graph::default();
    for vertex in 0..2 + rng.below(most - 1) {
        graph.add_vertex(&format!("V_{vertex}"));
        for _ in 0..rng.below(4).min(vertex) {
            graph.add_edge(rng.below(vertex), vertex);
        }
    }
    graph
}
