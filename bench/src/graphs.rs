//! Graph families for the pebble game, with the number of pebbles that is just enough.

use podreach::encode::graph::Graph;
use podreach::encode::pebbling::Game;

/// The pyramid of this height, whose top takes `height + 2` pebbles, played with `spare` more or, if negative, fewer.
pub(crate) fn pyramid(height: usize, spare: i64) -> Game {
    game(Graph::pyramid(height), height, spare)
}

/// The complete binary tree of this height, whose root takes `height + 2` pebbles.
pub(crate) fn tree(height: usize, spare: i64) -> Game {
    game(Graph::tree(height), height, spare)
}

fn game(graph: Graph, height: usize, spare: i64) -> Game {
    let pebbles = (height as u64 + 2).checked_add_signed(spare).expect("a family leaves some pebbles");
    Game { target: graph.vertices.len() - 1, graph, pebbles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_expected() {
        let (pyramid, tree) = (pyramid(4, 0), tree(3, -1));
        assert_eq!((pyramid.graph.vertices.len(), pyramid.graph.edges(), pyramid.pebbles), (15, 20, 6));
        assert_eq!((tree.graph.vertices.len(), tree.graph.edges(), tree.pebbles), (15, 14, 4));
    }
}
