//! Graph families for the pebble game, with the number of pebbles that is just enough.

use podreach::encode::graph::Graph;
use podreach::encode::pebbling::Game;

/// Rows of vertices, the widest first; `below` says which two of the row before a vertex rests on.
fn rows(widths: impl Iterator<Item = usize>, below: fn(usize) -> [usize; 2]) -> Graph {
    let mut graph = Graph::default();
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

/// The pyramid of this height, whose top takes `height + 2` pebbles, played with `spare` more or, if negative, fewer.
pub(crate) fn pyramid(height: usize, spare: i64) -> Game {
    game(rows((1..=height + 1).rev(), |column| [column, column + 1]), height, spare)
}

/// The complete binary tree of this height, whose root takes `height + 2` pebbles.
pub(crate) fn tree(height: usize, spare: i64) -> Game {
    game(rows((0..=height).rev().map(|level| 1 << level), |column| [2 * column, 2 * column + 1]), height, spare)
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
