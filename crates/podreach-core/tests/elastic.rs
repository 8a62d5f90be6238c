//! Nodes that come and go: by their pods, and by steps of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::guard::{Guards, Universe};
use podreach_core::rule::{hard, spread};
use podreach_core::testing::{
    Rng, Shape, cases, exhaustive, explicit, problem, random_configuration, settled, with_pools,
};
use podreach_core::{Configuration, Model, NodeId, PodId, Problem, Semantics};

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

/// What a spread constraint asks, word for word: the count of the pod's own domain, and the least of all domains that are there.
fn balance_by_formula(m: &Model, s: &Configuration, pod: PodId, target: NodeId, index: usize) -> (u64, u64) {
    let constraint = m.pod(pod).spread[index];
    let is_there = |node: NodeId| node == target || !m.comes_and_goes(node) || s.on(node).next().is_some();
    let mut counts = BTreeMap::new();
    for node in m.nodes().filter(|&node| is_there(node) && m.eligible(pod, index, node)) {
        let is_counted = |q: PodId| {
            let all = spread::counts_pods(m, &constraint) && spread::is_counted(m, q);
            all && m.sees(constraint.matcher, q, node)
        };
        let count: u64 = s.on(node).filter(|&(q, _)| is_counted(q)).map(|(_, count)| count).sum();
        *counts.entry(m.domain(constraint.key, node)).or_insert(0) += count;
    }
    let own = counts.get(&m.domain(constraint.key, target)).copied().unwrap_or(0);
    let enough = counts.len() as u64 >= constraint.min_domains;
    let least = counts.values().copied().min().filter(|_| enough).unwrap_or(0);
    (own + u64::from(m.sees_unbound(constraint.matcher, pod)), least)
}

#[test]
fn spread_counts_the_domains_that_are_there() {
    let mut rng = Rng::new(11);
    let (mut compared, mut positive, mut too_few) = (0, 0, 0);
    for case in 0..cases(3_000) {
        let problem = elastic(&mut rng, case, 3, 2);
        let mut cluster = problem.model.facts();
        for pod in cluster.pods.ids() {
            let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
            spec.spread.iter_mut().for_each(|constraint| constraint.min_domains = 1 + rng.below(4) as u64);
        }
        let m = Model::new(cluster, problem.model.semantics());
        let s = random_configuration(&mut rng, &m, 6);
        for (pod, node) in m.pods().flat_map(|pod| m.nodes().map(move |node| (pod, node))) {
            for index in (0..m.pod(pod).spread.len()).filter(|_| m.pod(pod).barred.is_none()) {
                if m.domain(m.pod(pod).spread[index].key, node).is_none() {
                    continue;
                }
                let (own, least) = balance_by_formula(&m, &s, pod, node, index);
                assert_eq!(spread::balance(&m, &s, pod, node, index), (own, least), "{pod:?} on {node:?} in {s:?}");
                compared += 1;
                positive += usize::from(least > 0);
                too_few += usize::from(m.pod(pod).spread[index].min_domains > 1);
            }
        }
    }
    println!("{compared} compared, {positive} with a pod in every domain, {too_few} with a least number of domains");
    assert!(compared > 1_000 && positive > 20 && too_few > 100, "{compared}, {positive}, {too_few}");
}
