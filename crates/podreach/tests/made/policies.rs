//! Random aAPP policies, and what to ask of them.

use podreach::encode::aapp::{Block, Entry, Followup, Function, Goal, Policy, Strategy, Tag, Worker};
use podreach_core::testing::Rng;

/// A small policy: a few tags, functions and workers.
pub(crate) fn random_policy(rng: &mut Rng) -> Policy {
    let tags = 1 + rng.below(3);
    let names = ["default", "d", "heavy", "i"];
    let skip = rng.below(2);
    let worker = |rng: &mut Rng, n: usize| Worker { name: format!("w{n}"), capacity: rng.below(5) as u64 };
    let function = |rng: &mut Rng, n: usize| {
        let memory = [1, 1, 2, 3][rng.below(4)];
        Function { name: format!("f{n}"), tag: rng.below(tags), memory }
    };
    let workers: Vec<Worker> = (0..1 + rng.below(3)).map(|n| worker(rng, n)).collect();
    let functions: Vec<Function> = (0..1 + rng.below(4)).map(|n| function(rng, n)).collect();
    let sizes = (tags, functions.len(), workers.len());
    let tag = |rng: &mut Rng, n: usize| Tag {
        name: names[n + skip].to_owned(),
        blocks: (0..1 + rng.below(2)).map(|_| random_block(rng, sizes)).collect(),
        followup: if rng.one_in(2) { Followup::Default } else { Followup::Fail },
    };
    let tags = (0..tags).map(|n| tag(rng, n)).collect();
    Policy { tags, functions, workers }
}

fn random_block(rng: &mut Rng, (tags, functions, workers): (usize, usize, usize)) -> Block {
    let entries = |rng: &mut Rng, most: usize| {
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..rng.below(most + 1) {
            let entry = if rng.one_in(2) { Entry::Tag(rng.below(tags)) } else { Entry::Function(rng.below(functions)) };
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries
    };
    let most = [0, 0, 1, 2][rng.below(4)];
    let (affine, anti_affine) = (entries(rng, most), entries(rng, 2));
    let mut order: Vec<usize> = (0..workers).collect();
    order.rotate_left(rng.below(workers));
    order.truncate(1 + rng.below(workers));
    Block {
        workers: (!rng.one_in(3)).then_some(order),
        strategy: [Strategy::BestFirst, Strategy::BestFirst, Strategy::Random, Strategy::Platform][rng.below(4)],
        capacity_used: rng.one_in(4).then(|| rng.below(101) as u64),
        max_concurrent_invocations: rng.one_in(5).then(|| rng.below(4) as u64),
        affine,
        anti_affine,
    }
}

/// One function for Reach, two for CoOccur (perhaps twice the same), on a worker or on any.
pub(crate) fn random_goal(rng: &mut Rng, policy: &Policy) -> Goal {
    let mut functions: Vec<usize> = (0..1 + rng.below(2)).map(|_| rng.below(policy.functions.len())).collect();
    functions.sort_unstable();
    Goal { functions, worker: (!rng.one_in(4)).then(|| rng.below(policy.workers.len())) }
}
