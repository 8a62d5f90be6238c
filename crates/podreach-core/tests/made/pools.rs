//! Proofs about nodes that come, of which a few are listed: from what no configuration of these has.

use std::sync::Arc;

use podreach_core::cluster::{Cluster, Matcher, Node, NodeShape, Pod, PodSpec, Pool, Scope, Term};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, Shape, cases, problem, reachable, settled, some_terminating, with_pools};
use podreach_core::{
    Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Proof, Quotient, Semantics, Verdict,
};

use crate::comparison::Comparison;
use crate::damage::damaged;
use crate::groups::absent;
use crate::some_group;

const HOST: &str = "kubernetes.io/hostname";

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

/// A pod on a node that stays, or on a new one, which needs two others in its zone; these come on new nodes alone, of which so many are listed,
/// with room for so many pods.
fn guest_of_two(copies: usize, room: u128, stays: bool) -> Problem {
    let mut cluster = Cluster::default();
    let namespace = cluster.namespace("default");
    let pool = cluster.pools.push(Pool { name: "pool".into(), most: None, once: false });
    let distinct = [cluster.symbols.intern(HOST)].into();
    let shape = cluster.shapes.push(NodeShape { distinct, ..NodeShape::new(pool) });
    let [seat, slot] = ["seat", "slot"].map(|name| cluster.resource(name));
    let labels = cluster.labels([("zone", "a")]);
    let [old, new] = ["old", "new"].map(|name| Node::new(cluster.symbols.intern(name)));
    let here = |seats: u128, slots: u128| [(seat, seats), (slot, slots)].into_iter().collect();
    cluster.nodes.push(Node { labels: labels.clone(), allocatable: here(1, 0), ..old });
    cluster.list_new_node(shape, "new-1", Node { labels, allocatable: here(0, room), ..new });
    (1..copies).for_each(|_| _ = cluster.list_one_more(shape));
    let app = cluster.symbols.intern("app");
    for number in 0..3 {
        let mut spec = PodSpec::plain(namespace);
        spec.labels.set(app, cluster.symbols.intern(&number.to_string()));
        spec.requests = [(if number > 0 || !stays { slot } else { seat }, 1)].into_iter().collect();
        if number == 0 {
            spec.affinity = [1, 2].map(|friend: usize| beside(&mut cluster, friend)).to_vec();
        }
        cluster.pods.push(Pod { name: format!("pod/default/p{number}"), spec: Arc::new(spec) });
    }
    let goal = Goal::atom((PodId::from_index(0), NodeId::from_index(usize::from(!stays))));
    Problem::new(Arc::new(Model::new(cluster, Semantics::Paper)), Configuration::new(), goal)
}

/// A term that asks for a type, by its number, in the same zone.
fn beside(cluster: &mut Cluster, friend: usize) -> Term {
    let (app, value) = (cluster.symbols.intern("app"), cluster.symbols.intern(&friend.to_string()));
    let selector = Selector::everything().and(app, Allowed::one_of([value]));
    let scope = Scope::only(cluster.namespace("default"));
    let matcher = cluster.matchers.intern(Matcher { scope, selector });
    Term { matcher, key: cluster.key("zone") }
}

/// What cannot share the one node that is listed may have a node each.
#[test]
fn proofs_about_pods_that_share_no_new_node() {
    let Some(mut both) = Comparison::start() else { return };
    let cases = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 1)];
    for ((copies, room), stays) in cases.into_iter().flat_map(|case| [(case, true), (case, false)]) {
        let problem = guest_of_two(copies, room, stays);
        let reachable = reachable(&problem, 5_000).expect("it is small");
        let places = |pod| problem.model.places(pod).map(move |node| vec![(pod, node)]);
        let classes: Vec<Vec<Atom>> = problem.pods().flat_map(places).collect();
        let forbidden = absent(&classes, &reachable);
        let pairs =
            |most: usize| forbidden.iter().filter(move |group| group.values().sum::<u64>() <= most as u64).cloned();
        for most in 1..=3 {
            let proof = Proof { forbidden: pairs(most).collect(), classes: classes.clone(), ..Proof::default() };
            both.verdict(&problem, &problem.goal, &Verdict::Never(proof));
        }
    }
    assert!(both.tally.too_few[0] > 0, "a single node speaks for two");
    both.end("proofs about pods that share no new node", 1);
}
