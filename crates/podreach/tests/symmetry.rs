//! What is decided for nodes that can be exchanged is the truth about each, and exchanges that change anything are refused.

#[path = "made/repetitive.rs"]
mod repetitive;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::engine::{Budget, Decider, Engine};
use podreach::matrix::{Cell, Matrix};
use podreach::symmetry::symmetry;
use podreach_core::cluster::{Cluster, Matcher, Scope};
use podreach_core::rule::{hard, static_refusal};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, cases, random_configuration, successors};
use podreach_core::{
    Atom, Configuration, Exchange, Goal, Id, Model, NodeId, Problem, Semantics, Symmetry, Verdict, check, is_symmetry,
};

use repetitive::{one_of_many, repetitive};

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Every atom that is present in some configuration that can be reached; `None` if there are too many of those.
fn ever_present(problem: &Problem) -> Option<BTreeSet<Atom>> {
    let mut seen = HashSet::from([(*problem.start).clone()]);
    let mut todo = vec![(*problem.start).clone()];
    let mut present = BTreeSet::new();
    while let Some(s) = todo.pop() {
        present.extend(s.iter().map(|(atom, _)| atom));
        if seen.len() > 3_000 {
            return None;
        }
        todo.extend(successors(problem, &s).map(|(_, next)| next).filter(|next| seen.insert(next.clone())));
    }
    Some(present)
}

#[test]
fn every_cell_is_what_exhaustive_search_says() {
    let mut rng = Rng::new(101);
    let (mut shared, mut alone, mut checked) = (0, 0, 0);
    for case in 0..cases(2_500) {
        let problem = repetitive(&mut rng, case);
        let Some(truth) = ever_present(&problem) else { continue };
        let oracle = Oracle::new(&problem, &[]);
        let cells = Matrix::new(&oracle, &Budget::unlimited(), 1, &|| {}).cells();
        for (atom, cell) in cells {
            let expected = if truth.contains(&atom) { Cell::Deployable } else { Cell::Never };
            assert_eq!(cell, expected, "case {case}: {atom:?} of {problem:#?}");
            checked += 1;
        }
        let mut oracle = oracle;
        for orbit in oracle.orbits().to_vec().iter().filter(|orbit| orbit.len() > 1) {
            for pod in problem.model.pods() {
                match oracle.everywhere(pod, orbit, &Budget::unlimited()) {
                    Some(_) => shared += 1,
                    None => alone += 1,
                }
            }
        }
    }
    println!("{checked} cells; {shared} orbits decided at once, {alone} node by node");
    assert!(shared > 10 * alone && alone > 0, "{shared} {alone}");
}

#[test]
fn cells_equal_single_questions() {
    let mut rng = Rng::new(103);
    for case in 0..cases(600) {
        let problem = repetitive(&mut rng, case);
        let oracle = Oracle::new(&problem, &[]);
        let cells = Matrix::new(&oracle, &Budget::unlimited(), 2, &|| {}).cells();
        let mut decider = Decider::new(&problem);
        for (atom, cell) in cells {
            let answer = decider.decide(&Goal::atom(atom), &Budget::unlimited()).checked.answer();
            assert_eq!(Some(cell == Cell::Deployable), answer, "case {case}: {atom:?} of {problem:#?}");
        }
    }
}

/// Whether a configuration that can be reached meets a goal; `None` if there are too many of those.
fn is_ever_met(problem: &Problem, goal: &Goal) -> Option<bool> {
    podreach_core::testing::exhaustive(&problem.with_goal(goal.clone()), 3_000)
}

#[test]
fn goals_on_any_node_have_the_answer_of_exhaustive_search() {
    let mut rng = Rng::new(127);
    let (mut shared, mut answers) = (0, [0; 2]);
    for case in 0..cases(4_000) {
        let problem = repetitive(&mut rng, case);
        let goal = one_of_many(&mut rng, &problem);
        let Some(truth) = is_ever_met(&problem, &goal) else { continue };
        let decision = Decider::new(&problem).decide(&goal, &Budget::unlimited());
        assert_eq!(decision.checked.answer(), Some(truth), "case {case}: {goal:?} of {problem:#?}");
        answers[usize::from(truth)] += 1;
        if let Verdict::Never(proof) = decision.checked.verdict() {
            shared += usize::from(!proof.exchanges.is_empty());
        }
    }
    println!("never and deployable: {answers:?}; {shared} proofs speak for nodes that they do not name");
    assert!(answers.iter().all(|&count| count > 200) && shared > 200, "{answers:?} {shared}");
}

#[test]
fn each_engine_alone_decides_goals_among_nodes_that_can_be_exchanged() {
    let mut rng = Rng::new(137);
    let mut answers = [0; 2];
    for case in 0..cases(3_000) {
        let problem = repetitive(&mut rng, case);
        let goal = one_of_many(&mut rng, &problem);
        let goal = Goal { any: goal.any.into_iter().take(1 + rng.below(2)).collect() };
        let Some(truth) = is_ever_met(&problem, &goal) else { continue };
        answers[usize::from(truth)] += 1;
        for engine in Engine::ALL {
            let decision = Decider::new(&problem).with_engines(engine.alone()).decide(&goal, &Budget::unlimited());
            let dies = problem.model.every_pod().len() > problem.model.pods().len();
            let silent = engine == Engine::Forward && (!truth || dies) && decision.checked.answer().is_none();
            let name = engine.name();
            assert!(
                silent || decision.checked.answer() == Some(truth),
                "case {case}, {name}: {:?} about {goal:?} of {problem:#?}",
                decision.checked.verdict()
            );
        }
    }
    assert!(answers.iter().all(|&count| count > 100), "{answers:?}");
}

#[test]
fn proofs_with_exchanges_that_change_something_are_refused() {
    let mut rng = Rng::new(131);
    let (mut refused, mut accepted) = (0, 0);
    for case in 0..cases(4_000) {
        let problem = repetitive(&mut rng, case);
        let goal = one_of_many(&mut rng, &problem);
        // A proof about some of the alternatives, which claims to speak for the others.
        let few = Goal { any: goal.any.iter().filter(|_| rng.one_in(2)).cloned().collect() };
        let decision = Decider::new(&problem).decide(&few, &Budget::unlimited());
        let Verdict::Never(proof) = decision.checked.verdict() else { continue };
        let mut proof = proof.clone();
        if !rng.one_in(3) {
            proof.exchanges.push(random_exchange(&mut rng, problem.model.nodes().len()));
        } else {
            proof.exchanges.extend(podreach::symmetry::exchanges(&problem, |_| Vec::new()));
            proof.exchanges.retain(|exchange| is_symmetry(&problem, exchange));
        }
        match check(&problem.with_goal(goal.clone()), Verdict::Never(proof.clone())) {
            Ok(_) => {
                accepted += usize::from(few != goal);
                let truth = is_ever_met(&problem, &goal);
                assert_ne!(truth, Some(true), "case {case}: {proof:?} about {goal:?} of {problem:#?}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}

fn random_exchange(rng: &mut Rng, nodes: usize) -> Exchange {
    let mut images: Vec<usize> = (0..nodes).collect();
    (1..nodes).rev().for_each(|at| images.swap(at, rng.below(at + 1)));
    let pairs = images.iter().enumerate().filter(|(from, to)| from != *to);
    pairs.map(|(from, &to)| (NodeId::from_index(from), NodeId::from_index(to))).collect()
}

fn moved(exchange: &Exchange, s: &Configuration) -> Configuration {
    let goes = |node| exchange.iter().find(|(from, _)| *from == node).map_or(node, |&(_, to)| to);
    s.iter().map(|((pod, node), count)| ((pod, goes(node)), count)).collect()
}

/// Whether some random configuration tells an exchange from a symmetry.
fn is_told_apart(rng: &mut Rng, problem: &Problem, exchange: &Exchange) -> bool {
    let m = &problem.model;
    let goes = |node| {
        let pod = m.pods().next().expect("a pod type");
        let alone = moved(exchange, &[((pod, node), 1)].into_iter().collect());
        alone.iter().next().expect("the pod that was moved").0.1
    };
    *problem.kept != moved(exchange, &problem.kept)
        || (0..12).any(|_| {
            let s = random_configuration(rng, m, 4);
            let image = moved(exchange, &s);
            m.pods().any(|pod| m.nodes().any(|node| hard(m, &s, pod, node) != hard(m, &image, pod, goes(node))))
        })
}

#[test]
fn exchanges_that_change_anything_are_refused() {
    let mut rng = Rng::new(107);
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..cases(3_000) {
        let problem = repetitive(&mut rng, case);
        let exchange = random_exchange(&mut rng, problem.model.nodes().len());
        if is_symmetry(&problem, &exchange) {
            accepted += usize::from(!exchange.is_empty());
            assert!(!is_told_apart(&mut rng, &problem, &exchange), "case {case}: {exchange:?} of {problem:#?}");
        } else {
            refused += 1;
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} {refused}");
}

#[test]
fn what_is_no_exchange_is_refused_and_makes_no_orbit() {
    let mut rng = Rng::new(109);
    for case in 0..cases(300) {
        let problem = repetitive(&mut rng, case);
        let [a, b] = [0, 1].map(NodeId::from_index);
        let none = NodeId::from_index(99);
        for wrong in [vec![(a, b)], vec![(a, b), (b, b)], vec![(a, none), (none, a)], vec![(a, b), (a, a), (b, a)]] {
            assert!(!is_symmetry(&problem, &wrong), "{wrong:?}");
            assert_eq!(Symmetry::new(&problem, [wrong]).orbits().len(), problem.model.nodes().len());
        }
    }
}

#[test]
fn whole_zones_that_are_alike_are_one_orbit() {
    let mut cluster = Cluster::default();
    for index in 0..6 {
        let (name, zone) = (format!("n{index}"), ["a", "b", "c"][index % 3]);
        let labels = cluster.labels([(HOST, name.as_str()), (ZONE, zone)]);
        let name = cluster.symbols.intern(&name);
        let allocatable = [(cluster.resource("pods"), 3)].into_iter().collect();
        let node = podreach_core::cluster::Node {
            name,
            labels,
            taints: Vec::new(),
            unschedulable: false,
            allocatable,
            features: BTreeSet::new(),
            drivers: BTreeMap::new(),
            lifetime: Default::default(),
            passing: Default::default(),
        };
        cluster.nodes.push(node);
    }
    cluster.key(HOST);
    cluster.key(ZONE);
    let namespace = cluster.namespace("default");
    let spec = Arc::new(podreach_core::cluster::PodSpec::plain(namespace));
    cluster.pods.push(podreach_core::cluster::Pod { name: "pod/default/p".into(), spec });
    let orbits = |cluster: &Cluster| {
        let model = Arc::new(Model::new(cluster.clone(), Semantics::KubeScheduler));
        symmetry(&Problem::new(model, Configuration::new(), Goal::default())).orbits().len()
    };
    assert_eq!(orbits(&cluster), 1);
    let pod = cluster.pods.ids().next().unwrap();
    let selector = cluster.labels([(ZONE, "b")]);
    Arc::make_mut(&mut cluster.pods[pod].spec).node_selector = selector;
    assert_eq!(orbits(&cluster), 2, "a zone that is asked for is unlike the others");
}

#[test]
fn nodes_that_look_alike_pass_the_same_filters() {
    let mut rng = Rng::new(113);
    for case in 0..cases(1_500) {
        let problem = repetitive(&mut rng, case);
        let m = &problem.model;
        for (pod, node) in m.pods().flat_map(|pod| m.nodes().map(move |node| (pod, node))) {
            assert_eq!(m.static_ok(pod, node), static_refusal(m, pod, node).is_none(), "{problem:#?}");
            for index in 0..m.pod(pod).spread.len() {
                let eligible = podreach_core::rule::spread::is_eligible(m, pod, index, node);
                assert_eq!(m.eligible(pod, index, node), eligible, "{problem:#?}");
            }
        }
    }
}

/// A pyramid of pods, each of which needs the two below it in the zone, on nodes with room for one pod each.
fn pyramid_on_equal_nodes(height: usize, nodes: usize) -> Problem {
    let mut cluster = Cluster::default();
    let slot = cluster.resource("example.com/slot");
    let (zone, host) = (cluster.key(ZONE), HOST);
    for index in 0..nodes {
        let name = format!("n{index}");
        let labels = cluster.labels([(host, name.as_str()), (ZONE, "a")]);
        let name = cluster.symbols.intern(&name);
        cluster.nodes.push(podreach_core::cluster::Node {
            name,
            labels,
            taints: Vec::new(),
            unschedulable: false,
            allocatable: [(slot, 1)].into_iter().collect(),
            features: BTreeSet::new(),
            drivers: BTreeMap::new(),
            lifetime: Default::default(),
            passing: Default::default(),
        });
    }
    let namespace = cluster.namespace("default");
    for width in (1..=height + 1).rev() {
        for at in 0..width {
            let name = format!("v{width}-{at}");
            let mut spec = podreach_core::cluster::PodSpec::plain(namespace);
            spec.labels = cluster.labels([("v", name.as_str())]);
            spec.requests = [(slot, 1)].into_iter().collect();
            if width <= height {
                for below in [at, at + 1] {
                    let value = cluster.symbols.intern(&format!("v{}-{below}", width + 1));
                    let key = cluster.symbols.intern("v");
                    let selector = Selector::everything().and(key, Allowed::one_of([value]));
                    let matcher = cluster.matchers.intern(Matcher { scope: Scope::only(namespace), selector });
                    spec.affinity.push(podreach_core::cluster::Term { matcher, key: zone });
                }
            }
            let pod = podreach_core::cluster::Pod { name: format!("pod/default/{name}"), spec: Arc::new(spec) };
            cluster.pods.push(pod);
        }
    }
    let top = cluster.pods.ids().last().expect("a pyramid has a top");
    let model = Arc::new(Model::new(cluster, Semantics::Paper));
    Problem::new(model, Configuration::new(), Goal::atom((top, NodeId::from_index(0))))
}

/// How many configurations the forward search files before it ends, and its answer.
fn filed(problem: &Problem) -> (u64, Option<bool>) {
    let mut decider = Decider::new(problem).with_engines(Engine::Forward.alone());
    let decision = decider.decide(&problem.goal, &Budget::unlimited());
    let forward = decision.efforts.iter().find(|effort| effort.part == "forward").expect("a search was needed");
    let counted = forward.counts.iter().find(|(what, _)| *what == "configurations").expect("it counts them");
    (counted.1, decision.checked.answer())
}

#[test]
fn configurations_that_are_equal_up_to_exchanges_are_filed_once() {
    let (few, answer) = filed(&pyramid_on_equal_nodes(3, 4));
    assert_eq!(answer, None, "four nodes do not suffice, and the forward search proves nothing");
    let (many, answer) = filed(&pyramid_on_equal_nodes(2, 20));
    assert_eq!(answer, Some(true), "twenty nodes suffice");
    assert!(few < 3_500 && many < 20_000, "{few} {many}");
}
