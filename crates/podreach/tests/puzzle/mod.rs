//! Puzzles that are hard for their size, in the encodings of the paper.

use podreach::encode::graph::Graph;
use podreach::encode::line;
use podreach::encode::net::Net;
use podreach::encode::pebbling::game;
use podreach::encode::petri::Encoding;
use podreach_core::{Problem, Semantics};

/// The top of a pyramid, with so many pebbles.
pub fn pyramid(height: usize, pebbles: u64) -> Problem {
    let mut graph = Graph::default();
    let mut below: Vec<usize> = Vec::new();
    for width in (1..=height + 1).rev() {
        let row: Vec<usize> = (0..width).map(|at| graph.add_vertex(&format!("v{width}-{at}"))).collect();
        for (at, &vertex) in row.iter().enumerate().filter(|_| !below.is_empty()) {
            [at, at + 1].into_iter().for_each(|from| graph.add_edge(below[from], vertex));
        }
        below = row;
    }
    let game = game(graph, "v1-0", pebbles).expect("the top exists");
    line::problem(&game.encoded()).expect("encodings are well-formed")
}

/// A binary counter; `end` asks for all bits on, and otherwise for one that is on and off.
pub fn counter(bits: usize, end: bool) -> Problem {
    let mut net = Net::new("counter");
    let off: Vec<usize> = (0..bits).map(|bit| net.add_place(format!("off{bit}"), 1)).collect();
    let on: Vec<usize> = (0..bits).map(|bit| net.add_place(format!("on{bit}"), 0)).collect();
    for bit in 0..bits {
        let take: Vec<usize> = on[..bit].iter().copied().chain([off[bit]]).collect();
        let give: Vec<usize> = off[..bit].iter().copied().chain([on[bit]]).collect();
        net.add_transition(format!("carry{bit}"), &take, &give);
    }
    let goal = if end { on } else { vec![on[bits - 1], off[bits - 1]] };
    line::problem(&Encoding::new(&net, &goal, Semantics::Paper).encoded()).expect("encodings are well-formed")
}
