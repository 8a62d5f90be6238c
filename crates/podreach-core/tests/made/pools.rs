//! Proofs about nodes that come, of which a few are listed: from what no configuration of these has.

use podreach_core::testing::{Rng, Shape, cases, problem, reachable, settled, some_terminating, with_pools};
use podreach_core::{Atom, Configuration, NodeId, PodId, Problem, Proof, Quotient, Semantics, Verdict};

use crate::comparison::Comparison;
use crate::damage::damaged;
use crate::groups::absent;
use crate::some_group;

fn with_new_nodes(rng: &mut Rng, case: usize) -> Problem {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape { nodes: 2, spread: false, ..Shape::small(semantics) };
    let problem = settled(&problem(rng, shape));
    let problem = if case.is_multiple_of(5) { some_terminating(rng, problem) } else { problem };
    let problem = with_pools(rng, &problem, 1 + case % 2, 1 + case % 3);
    if rng.one_in(8) { with_pods_on_new_nodes(rng, problem) } else { problem }
}

/// The same problem with a pod on a new node at the start, where none may be.
fn with_pods_on_new_nodes(rng: &mut Rng, problem: Problem) -> Problem {
    let pods: Vec<PodId> = problem.model.pods().collect();
    let nodes: Vec<NodeId> = problem.model.cluster().shapes.values().flat_map(|shape| shape.nodes.clone()).collect();
    let mut start: Configuration = problem.start.iter().collect();
    start.add((rng.pick(&pods), rng.pick(&nodes)));
    Problem { start: start.into(), ..problem }
}

/// Each type on the new nodes of a shape as a class, or on each node by itself.
fn classes(rng: &mut Rng, problem: &Problem) -> Vec<Vec<Atom>> {
    let m = &problem.model;
    let mut classes: Vec<Vec<Atom>> = Vec::new();
    for pod in problem.pods().collect::<Vec<PodId>>() {
        let mut alone: Vec<NodeId> = m.places(pod).collect();
        for shape in m.cluster().shapes.values().filter(|_| !rng.one_in(3)) {
            alone.retain(|node| !shape.nodes.contains(node));
            classes.push(shape.nodes.iter().map(|&node| (pod, node)).collect());
        }
        classes.extend(alone.into_iter().map(|node| vec![(pod, node)]));
    }
    classes
}

#[test]
fn proofs_about_nodes_that_come() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut endless) = (Rng::new(38), 0);
    for case in 0..cases(3_000) {
        let problem = with_new_nodes(&mut rng, case);
        let asked = Quotient::new(&problem).named(&problem.goal);
        let Some(reachable) = reachable(&asked, 1_500) else { continue };
        let classes = classes(&mut rng, &asked);
        let mut forbidden = absent(&classes, &reachable);
        // What is said of many pods at once needs many nodes.
        let most = 1 + rng.below(3) as u64;
        forbidden.retain(|group| group.values().sum::<u64>() <= most && !rng.one_in(12));
        let proof = Proof { classes, forbidden, ..Proof::default() };
        let plain = some_group(&mut rng, &problem, &proof).filter(|_| !rng.one_in(4));
        let goal = plain.unwrap_or(problem.goal.clone());
        let accepted = both.tally.accepted;
        let verdict = Verdict::Never(proof);
        both.verdict(&problem, &goal, &verdict);
        let is_endless = problem.model.cluster().shapes.values().any(|shape| !shape.is_all);
        endless += usize::from(is_endless && both.tally.accepted > accepted);
        for _ in 0..3 {
            both.verdict(&problem, &goal, &damaged(&mut rng, &problem.model, &verdict));
        }
    }
    let unwritten = both.forget_unwritten();
    println!("nodes that come: {endless} proofs hold of any number, {unwritten} have no form");
    assert!(endless >= cases(3_000) / 30, "too few to tell: {endless}");
    both.end("proofs about nodes that come", cases(3_000) / 20);
}
