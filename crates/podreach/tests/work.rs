//! How much work questions take, in numbers that do not depend on the machine.

use podreach::encode::graph::Graph;
use podreach::encode::line;
use podreach::encode::pebbling::game;
use podreach::engine::{Budget, Decision, decide};
use podreach_core::{Problem, Verdict};

/// The root of a binary tree, with so many pebbles.
fn tree(height: u32, pebbles: u64) -> Problem {
    let mut graph = Graph::default();
    let vertices: Vec<usize> = (1..2usize << height).map(|at| graph.add_vertex(&format!("v{at}"))).collect();
    for (at, &vertex) in vertices.iter().enumerate().skip(1) {
        graph.add_edge(vertex, vertices[(at - 1) / 2]);
    }
    let game = game(graph, "v1", pebbles).expect("the root exists");
    line::problem(&game.encoded()).expect("encodings are well-formed")
}

fn counted(decision: &Decision, part: &str, what: &str) -> u64 {
    let part = decision.efforts.iter().find(|effort| effort.part == part).expect("this part worked");
    part.counts.iter().find(|(name, _)| *name == what).expect("this is counted").1
}

/// How many groups the proof has.
fn groups(decision: &Decision) -> usize {
    match decision.checked.verdict() {
        Verdict::Never(proof) => proof.forbidden.len(),
        other => panic!("one pebble too few, but {other:?}"),
    }
}

/// Every cut of the tree with at most as many vertices as there are levels below the root is part of any proof: it can never be
/// pebbled, all that is less than it can, and each follows from the one before it without a choice.
#[test]
fn a_tree_one_pebble_short_takes_little_more_than_the_groups_that_no_proof_can_do_without() {
    let mut cuts = 0;
    let mut catalan = 1;
    for height in 1..=8u32 {
        cuts += catalan;
        catalan = catalan * 2 * (2 * height as usize - 1) / (height as usize + 1);
        let decision = decide(&tree(height, u64::from(height) + 1), &Budget::unlimited());
        let groups = groups(&decision);
        // What small ones learn while smaller groups are still tried weighs more.
        let most = if height < 7 { 2 * cuts } else { cuts + cuts / 4 };
        assert!((cuts..=most).contains(&groups), "{groups} groups, {cuts} cuts at {height} levels");
        if height >= 7 {
            let (questions, needed) = (counted(&decision, "inductive", "questions"), (cuts * height as usize) as u64);
            assert!(questions < 8 * needed, "{questions} questions where {needed} would do");
        }
    }
}
