//! Every engine agrees with exhaustive search where nodes come and go, and a proof about a few new nodes holds for more of them.

use std::sync::Arc;

use podreach_core::cluster::{HostPort, Lifetime, Matcher, Node, NodeShape, Pod, PodSpec, Pool, Scope, Term};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, settled, with_pools};
use podreach_core::{Cluster, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Reason, Semantics, Verdict};
use podreach_engine::{Budget, Decider, Engine};

const HOST: &str = "kubernetes.io/hostname";

/// A problem with so many new nodes of one shape; the same in all else for the same case.
fn elastic(case: usize, copies: usize) -> Problem {
    let mut rng = Rng::new(1_000 + case as u64);
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape { nodes: 2, pods: 3, ..Shape::small(semantics) };
    let plain = settled(&problem(&mut rng, shape));
    with_pools(&mut rng, &plain, 1, copies)
}

/// A chain of pods, each of which needs the one before it in its zone and can share a node with none; the last is asked for on a new
/// node, of which so many are listed.
fn chain(pods: usize, copies: usize) -> Problem {
    let mut cluster = Cluster::default();
    let namespace = cluster.namespace("default");
    let pool = cluster.pools.push(Pool { name: "pool".into(), most: None, once: false });
    let shape = cluster.shapes.push(NodeShape::new(pool));
    for copy in 0..copies {
        let name = format!("new-{copy}");
        let labels = cluster.labels([(HOST, name.as_str()), ("zone", "a")]);
        let allocatable = [(cluster.resource("pods"), 10)].into_iter().collect();
        let name = cluster.symbols.intern(&name);
        let node = Node { labels, allocatable, lifetime: Lifetime::New(shape), ..Node::new(name) };
        let node = cluster.nodes.push(node);
        cluster.shapes[shape].nodes.push(node);
    }
    for number in 0..pods {
        let mut spec = PodSpec::plain(namespace);
        spec.labels = cluster.labels([("app", number.to_string().as_str())]);
        let protocol = cluster.symbols.intern("TCP");
        spec.ports.insert(HostPort { address: None, protocol, port: 80 });
        if number > 0 {
            let app = (cluster.symbols.intern("app"), cluster.symbols.intern(&(number - 1).to_string()));
            let selector = Selector::everything().and(app.0, Allowed::one_of([app.1]));
            let matcher = cluster.matchers.intern(Matcher { scope: Scope::only(namespace), selector });
            spec.affinity.push(Term { matcher, key: cluster.key("zone") });
        }
        cluster.pods.push(Pod { name: format!("pod/default/p{number}"), spec: Arc::new(spec) });
    }
    let goal = (0..pods).map(|pod| ((PodId::from_index(pod), NodeId::from_index(0)), u64::from(pod + 1 == pods)));
    let goal = Goal { any: vec![goal.filter(|&(_, count)| count > 0).collect()] };
    Problem::new(Arc::new(Model::new(cluster, Semantics::KubeScheduler)), Configuration::new(), goal)
}

#[test]
fn a_goal_that_needs_more_new_nodes_than_are_listed_is_not_called_impossible() {
    for pods in 2..=3 {
        for copies in 1..=4 {
            let problem = chain(pods, copies);
            let truth = exhaustive(&problem, 60_000).expect("it is small");
            // The pod before the last goes once it is no longer needed, so two nodes are enough for any chain.
            assert_eq!(truth, copies >= 2);
            let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
            match decision.checked.verdict() {
                Verdict::Deployable(_) => assert!(truth),
                Verdict::Unknown(Reason::MoreNodes) => assert!(!truth),
                verdict => panic!("{pods} pods, {copies} new nodes: {verdict:?}"),
            }
        }
    }
}

fn is_bounded(problem: &Problem) -> bool {
    problem.model.cluster().shapes.values().all(|shape| shape.is_all)
}

#[test]
fn each_engine_equals_exhaustive_search() {
    let (mut answers, mut few) = ([0; 2], 0);
    for case in 0..cases(400) {
        let problem = elastic(case, 2);
        let Some(truth) = exhaustive(&problem, 60_000) else { continue };
        for engine in Engine::ALL {
            let decision =
                Decider::new(&problem).with_engines(engine.alone()).decide(&problem.goal, &Budget::unlimited());
            let verdict = decision.checked.verdict();
            let rejected = matches!(verdict, Verdict::Unknown(Reason::Rejected { .. }));
            assert!(!rejected, "case {case}, {}: {verdict:?} of {problem:#?}", engine.name());
            let answer = decision.checked.answer();
            assert!(answer.is_none_or(|yes| yes == truth), "case {case}: {} lies about {problem:#?}", engine.name());
            few += usize::from(matches!(verdict, Verdict::Unknown(Reason::MoreNodes)));
            let dies = problem.model.every_pod().len() > problem.model.pods().len();
            let may_give_up = (engine == Engine::Forward && (!truth || dies)) || (!truth && !is_bounded(&problem));
            assert!(answer.is_some() || may_give_up, "case {case}: {} gives up on {problem:#?}", engine.name());
        }
        answers[usize::from(truth)] += 1;
    }
    println!("never and deployable: {answers:?}; too few new nodes: {few}");
    assert!(answers.iter().all(|&count| count > cases(400) / 20), "{answers:?}");
}

#[test]
fn a_proof_about_few_new_nodes_holds_for_more() {
    let (mut held, mut few, mut turned) = (0, 0, 0);
    for (case, copies) in (0..cases(400)).map(|case| (case, 1 + case % 3)) {
        let small = elastic(case, copies);
        let decision = Decider::new(&small).decide(&small.goal, &Budget::unlimited());
        let unlisted = match decision.checked.verdict() {
            Verdict::Never(_) if !is_bounded(&small) => false,
            Verdict::Unknown(Reason::MoreNodes) => true,
            _ => continue,
        };
        for more in [copies + 1, copies + 2] {
            let large = elastic(case, more);
            let Some(truth) = exhaustive(&large, 60_000) else { continue };
            assert!(unlisted || !truth, "case {case}: with {more} new nodes it is deployable: {large:#?}");
            held += usize::from(!unlisted);
            turned += usize::from(truth);
        }
        few += usize::from(unlisted);
    }
    println!("{held} proofs held for more nodes, {few} would need more; {turned} goals are reached with more");
    assert!(held > cases(400) / 4, "{held}, {few}, {turned}");
}

/// Three or four pods that fill a node each, or half of one, need others of them nearby and keep away from others; the first is asked for
/// on a new node, of which so many are listed, or on one that stays and has room for it alone. The same in all else for the same case.
fn gathering(case: usize, copies: usize) -> Problem {
    let mut rng = Rng::new(90_000 + case as u64);
    let semantics = if case.is_multiple_of(3) { Semantics::KubeScheduler } else { Semantics::Paper };
    let mut cluster = Cluster::default();
    let namespace = cluster.namespace("default");
    let pool = cluster.pools.push(Pool { name: "pool".into(), most: None, once: false });
    let host = cluster.symbols.intern(HOST);
    let shape = cluster.shapes.push(NodeShape { distinct: [host].into(), ..NodeShape::new(pool) });
    let slot = cluster.resource("slot");
    let room = 1 + rng.below(2) as u128;
    let labels = cluster.labels([("zone", "a")]);
    let allocatable = [(slot, room), (cluster.resource("pods"), 10)].into_iter().collect();
    let name = cluster.symbols.intern("new");
    let like = Node { labels, allocatable, ..Node::new(name) };
    cluster.list_new_node(shape, "new-1", like);
    for _ in 1..copies {
        cluster.list_one_more(shape);
    }
    let stays = rng.one_in(2);
    if stays {
        let (name, labels) = (cluster.symbols.intern("old"), cluster.labels([("zone", "a"), (HOST, "old")]));
        let allocatable = [(cluster.resource("pods"), 10)].into_iter().collect();
        cluster.nodes.push(Node { labels, allocatable, ..Node::new(name) });
    }
    let pods = 3 + rng.below(2);
    for number in 0..pods {
        let mut spec = PodSpec::plain(namespace);
        spec.labels = cluster.labels([("app", number.to_string().as_str())]);
        let needs_room = number > 0 || !stays;
        spec.requests = needs_room.then_some((slot, 1)).into_iter().collect();
        let friends = if number == 0 { 2 } else { rng.below(2) };
        for _ in 0..friends {
            let friend = 1 + rng.below(pods - 1);
            spec.affinity.push(term(&mut cluster, friend, "zone"));
        }
        if rng.one_in(3) {
            let other = rng.below(pods);
            let key = if rng.one_in(2) { "zone" } else { HOST };
            spec.anti_affinity.push(term(&mut cluster, other, key));
        }
        cluster.pods.push(Pod { name: format!("pod/default/p{number}"), spec: Arc::new(spec) });
    }
    let target = cluster.nodes.ids().find(|&node| cluster.nodes[node].lifetime == Lifetime::Permanent || !stays);
    let goal = Goal::atom((PodId::from_index(0), target.expect("some node is listed")));
    Problem::new(Arc::new(Model::new(cluster, semantics)), Configuration::new(), goal)
}

/// A term about the pods of a number.
fn term(cluster: &mut Cluster, number: usize, key: &str) -> Term {
    let app = (cluster.symbols.intern("app"), cluster.symbols.intern(&number.to_string()));
    let namespace = cluster.namespace("default");
    let selector = Selector::everything().and(app.0, Allowed::one_of([app.1]));
    let matcher = cluster.matchers.intern(Matcher { scope: Scope::only(namespace), selector });
    Term { matcher, key: cluster.key(key) }
}

#[test]
fn goals_that_need_several_new_nodes_are_reached_with_as_many_and_never_ruled_out_with_fewer() {
    // How many goals need so many nodes; none is reached with four that is not reached with three.
    let (mut needed, mut held, mut short) = ([0; 4], 0, 0);
    for case in 0..cases(300) {
        let truths: Vec<Option<bool>> = (1..=4).map(|copies| exhaustive(&gathering(case, copies), 60_000)).collect();
        let Some(truths) = truths.into_iter().collect::<Option<Vec<bool>>>() else { continue };
        let least = truths.iter().position(|&truth| truth);
        needed[least.unwrap_or(3)] += 1;
        for copies in 1..=4 {
            let problem = gathering(case, copies);
            let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
            match decision.checked.verdict() {
                Verdict::Deployable(_) => assert!(truths[copies - 1], "case {case}, {copies} new nodes"),
                Verdict::Never(_) => {
                    assert!(least.is_none(), "case {case}, {copies} new nodes: {:?}", least.map(|least| least + 1));
                    held += 1;
                }
                Verdict::Unknown(Reason::MoreNodes) => {
                    assert!(!truths[copies - 1], "case {case}, {copies} new nodes");
                    short += 1;
                }
                verdict => panic!("case {case}, {copies} new nodes: {verdict:?} of {problem:#?}"),
            }
        }
    }
    println!("1, 2, 3 new nodes and never: {needed:?}; {held} proofs, {short} about too few nodes");
    assert!(needed.iter().all(|&count| count > cases(300) / 100), "{needed:?}");
    assert!(held > cases(300) / 10 && short > cases(300) / 10, "{held} {short}");
}

/// A pod on a node that stays, which needs two others in its zone; these come on new nodes alone and can share none.
fn guest_of_two(copies: usize) -> Problem {
    let mut cluster = Cluster::default();
    let namespace = cluster.namespace("default");
    let pool = cluster.pools.push(Pool { name: "pool".into(), most: None, once: false });
    let host = cluster.symbols.intern(HOST);
    let shape = cluster.shapes.push(NodeShape { distinct: [host].into(), ..NodeShape::new(pool) });
    let labels = cluster.labels([("zone", "a"), (HOST, "old")]);
    let (slot, pods) = (cluster.resource("slot"), cluster.resource("pods"));
    let name = cluster.symbols.intern("old");
    let allocatable = [(pods, 10)].into_iter().collect();
    cluster.nodes.push(Node { labels, allocatable, ..Node::new(name) });
    let labels = cluster.labels([("zone", "a")]);
    let name = cluster.symbols.intern("new");
    let allocatable = [(slot, 1), (pods, 10)].into_iter().collect();
    cluster.list_new_node(shape, "new-1", Node { labels, allocatable, ..Node::new(name) });
    for _ in 1..copies {
        cluster.list_one_more(shape);
    }
    for number in 0..3 {
        let mut spec = PodSpec::plain(namespace);
        spec.labels = cluster.labels([("app", number.to_string().as_str())]);
        if number == 0 {
            spec.affinity = vec![term(&mut cluster, 1, "zone"), term(&mut cluster, 2, "zone")];
        } else {
            spec.requests = [(slot, 1)].into_iter().collect();
        }
        cluster.pods.push(Pod { name: format!("pod/default/p{number}"), spec: Arc::new(spec) });
    }
    let goal = Goal::atom((PodId::from_index(0), NodeId::from_index(0)));
    Problem::new(Arc::new(Model::new(cluster, Semantics::Paper)), Configuration::new(), goal)
}

#[test]
fn one_new_node_does_not_speak_for_two() {
    for copies in 1..=3 {
        let problem = guest_of_two(copies);
        assert_eq!(exhaustive(&problem, 60_000), Some(copies > 1));
        let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
        match decision.checked.verdict() {
            Verdict::Deployable(_) => assert!(copies > 1),
            Verdict::Unknown(Reason::MoreNodes) => assert!(copies == 1),
            verdict => panic!("{copies} new nodes: {verdict:?}"),
        }
    }
}
