//! How much work questions take, in numbers that do not depend on the machine.

mod puzzle;

use podreach::engine::{Budget, Decision, decide};
use podreach_core::Verdict;

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
        let decision = decide(&puzzle::tree(height, u64::from(height) + 1), &Budget::unlimited());
        let groups = groups(&decision);
        assert!((cuts..=cuts + cuts / 8 + 2).contains(&groups), "{groups} groups, {cuts} cuts at {height} levels");
        if height >= 7 {
            let (questions, needed) = (counted(&decision, "inductive", "questions"), (cuts * height as usize) as u64);
            assert!(questions < 5 * needed, "{questions} questions where {needed} would do");
        }
    }
}

#[test]
fn a_pyramid_one_pebble_short_takes_a_few_questions_for_each_entry_of_its_groups() {
    let decision = decide(&puzzle::pyramid(7, 8), &Budget::unlimited());
    let (questions, groups) = (counted(&decision, "inductive", "questions"), groups(&decision) as u64);
    assert!(questions < 16 * groups, "{questions} questions for {groups} groups");
}
