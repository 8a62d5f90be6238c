//! Puzzles that are hard for their size, in the encodings of the paper.

use podreach::encode::graph::Graph;
use podreach::encode::line;
use podreach::encode::net::Net;
use podreach::encode::pebbling::game;
use podreach::encode::petri::Encoding;
use podreach_core::{Problem, Semantics};

/// The top of a pyramid, with so many pebbles.
pub fn pyramid(height: usize, pebbles: u64) -> Problem {
    let game = game(Graph::pyramid(height), &format!("v{height}-0"), pebbles).expect("the top exists");
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

/// Everyone at a table of philosophers holds one fork.
pub fn philosophers(seats: usize) -> Problem {
    let mut net = Net::new("philosophers");
    let forks: Vec<usize> = (0..seats).map(|seat| net.add_place(format!("fork{seat}"), 1)).collect();
    let first: Vec<usize> = (0..seats).map(|seat| net.add_place(format!("first{seat}"), 0)).collect();
    for seat in 0..seats {
        let (left, right) = (forks[seat], forks[(seat + 1) % seats]);
        let thinking = net.add_place(format!("thinking{seat}"), 1);
        let eating = net.add_place(format!("eating{seat}"), 0);
        net.add_transition(format!("reach{seat}"), &[thinking, left], &[first[seat]]);
        net.add_transition(format!("begin{seat}"), &[first[seat], right], &[eating]);
        net.add_transition(format!("finish{seat}"), &[eating], &[thinking, left, right]);
    }
    line::problem(&Encoding::new(&net, &first, Semantics::Paper).encoded()).expect("encodings are well-formed")
}
