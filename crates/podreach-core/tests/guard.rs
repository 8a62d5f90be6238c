//! The guard normal form equals the rules, configuration by configuration.

use podreach_core::guard::{Guards, Universe};
use podreach_core::rule::hard;
use podreach_core::testing::{Rng, Shape, cases, problem, random_configuration, some_waiting};
use podreach_core::{Configuration, NodeId, Problem, Semantics};

fn agree(problem: &Problem, free: &Configuration) {
    let s = problem.kept.plus(free);
    let guards = Guards::new(problem, Universe::Possible);
    for pod in problem.model.pods() {
        for node in problem.model.nodes() {
            let guard = guards.guard((pod, node));
            let normal = guard.is_some_and(|guard| guard.holds(|atom| free.count(atom)));
            // A guard also asks for what a deployment consumes.
            let waits = problem.model.consumed(pod).is_none_or(|unbound| s.count(unbound) > 0);
            assert_eq!(
                normal,
                waits && hard(&problem.model, &s, pod, node),
                "{pod:?} on {node:?} in {s:?} of {problem:#?}"
            );
        }
    }
}

/// Configurations within what the start and deployments can make present.
fn possible(problem: &Problem, s: Configuration) -> Configuration {
    s.iter().filter(|&(atom, _)| problem.is_possible(atom)).collect()
}

#[test]
fn pods_of_one_node_share_what_they_look_at() {
    let mut rng = Rng::new(7);
    let mut shared = 0;
    for _ in 0..200 {
        let problem = problem(&mut rng, Shape::small(Semantics::Paper));
        let guards = Guards::new(&problem, Universe::Possible);
        for node in problem.model.nodes() {
            let all = problem.model.pods().filter_map(|pod| guards.guard((pod, node)));
            let lists: Vec<_> = all.flat_map(|guard| guard.at_most).map(|condition| condition.weights).collect();
            let places: std::collections::BTreeSet<_> = lists.iter().map(|list| list.as_ptr()).collect();
            shared += lists.len() - places.len();
        }
    }
    assert!(shared > 50, "only {shared} lists were not made again");
}

#[test]
fn guards_equal_rules() {
    let mut rng = Rng::new(1);
    let cases = cases(4_000);
    for case in 0..cases {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
        let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
        let problem = problem(&mut rng, shape);
        let problem = if case % 4 == 1 { some_waiting(&mut rng, &problem) } else { problem };
        for _ in 0..4 {
            let mut free = random_configuration(&mut rng, &problem.model, 5);
            for (atom, count) in problem.start.iter().filter(|((_, node), _)| *node == NodeId::NOWHERE) {
                free.set(atom, rng.below(count as usize + 1) as u64);
            }
            agree(&problem, &possible(&problem, free));
        }
    }
}

#[test]
fn nodes_give_labels_to_pods_that_they_get_and_none_to_those_whose_labels_are_final() {
    let mut rng = Rng::new(11);
    let (mut given, mut kept) = (0, 0);
    for _ in 0..2_000 {
        let problem = problem(&mut rng, Shape::small(Semantics::KubeScheduler));
        let m = &problem.model;
        let zone = m.cluster().symbols.symbol("topology.kubernetes.io/zone");
        let Some(zone) = zone.filter(|_| m.cluster().behaviour.topology_labels) else { continue };
        for pod in m.pods() {
            for node in m.nodes().filter(|&node| m.node(node).labels.value(zone).is_some()) {
                let (bound, own) = (m.bound_labels(pod, node), &m.pod(pod).labels);
                if m.pod(pod).labels_are_final {
                    assert_eq!(bound, *own);
                    kept += 1;
                } else {
                    assert_eq!(bound.value(zone), m.node(node).labels.value(zone));
                    given += 1;
                }
            }
        }
    }
    assert!(given > 100 && kept > 20, "{given} and {kept}");
}
