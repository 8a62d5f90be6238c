//! Nodes that come and go: by their pods, and by steps of their own.

use podreach_core::guard::{Guards, Universe};
use podreach_core::rule::hard;
use podreach_core::testing::{
    Rng, Shape, cases, exhaustive, explicit, problem, random_configuration, settled, with_pools,
};
use podreach_core::{Configuration, Problem, Semantics};

fn elastic(rng: &mut Rng, case: usize, nodes: usize, copies: usize) -> Problem {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape { nodes, pods: 2, ..Shape::small(semantics) };
    let plain = settled(&problem(rng, shape));
    with_pools(rng, &plain, 1, copies)
}

#[test]
fn guards_equal_rules_where_nodes_come_and_go() {
    let mut rng = Rng::new(3);
    let mut absent = 0;
    for case in 0..cases(3_000) {
        let problem = elastic(&mut rng, case, 3, 2);
        let guards = Guards::new(&problem, Universe::Possible);
        for _ in 0..4 {
            let free: Configuration = random_configuration(&mut rng, &problem.model, 5);
            let free: Configuration = free.iter().filter(|&(atom, _)| problem.is_possible(atom)).collect();
            let s = problem.kept.plus(&free);
            for (pod, node) in problem.model.pods().flat_map(|pod| problem.model.nodes().map(move |node| (pod, node))) {
                let guard = guards.guard((pod, node));
                let domains = guard.iter().flat_map(|guard| guard.spread.iter().flat_map(|c| &c.domains));
                absent += domains.filter(|domain| domain.while_any.is_some()).count();
                let normal = guard.is_some_and(|guard| guard.holds(|atom| free.count(atom)));
                assert_eq!(normal, hard(&problem.model, &s, pod, node), "{pod:?} on {node:?} in {s:?} of {problem:#?}");
            }
        }
    }
    assert!(absent > 100, "only {absent} domains come and go");
}

#[test]
fn what_can_be_reached_does_not_depend_on_empty_nodes() {
    let mut rng = Rng::new(5);
    let mut answers = [0; 2];
    for case in 0..cases(600) {
        let problem = elastic(&mut rng, case, 2, 1);
        let by_pods = exhaustive(&problem, 20_000);
        let by_steps = explicit(&problem, 20_000);
        if let (Some(by_pods), Some(by_steps)) = (by_pods, by_steps) {
            assert_eq!(by_pods, by_steps, "case {case} of {problem:#?}");
            answers[usize::from(by_pods)] += 1;
        }
    }
    println!("never and deployable: {answers:?}");
    assert!(answers.iter().all(|&count| count > 50), "{answers:?}");
}
