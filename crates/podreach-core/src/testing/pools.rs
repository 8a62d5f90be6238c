//! Problems with nodes that come and go, and the same with steps for that.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use super::{Rng, successors};
use crate::cluster::{Lifetime, NodeShape, PodSpec, Pool};
use crate::configuration::Configuration;
use crate::goal::Goal;
use crate::id::{Id, NodeId};
use crate::model::Model;
use crate::rule;
use crate::step::{Action, Problem};

/// The same problem, in which some nodes come and go, and so many nodes of each of some shapes may come.
pub fn with_pools(rng: &mut Rng, problem: &Problem, shapes: usize, copies: usize) -> Problem {
    let mut cluster = problem.model.facts();
    let pool = cluster.pools.push(Pool { name: "pool".into(), most: None, once: false });
    for node in cluster.nodes.ids() {
        if rng.one_in(2) {
            cluster.nodes[node].lifetime = Lifetime::Existing(pool);
        }
    }
    let nodes = cluster.nodes.len();
    for number in 0..shapes {
        let like = NodeId::from_index(rng.below(nodes));
        let is_all = rng.one_in(4);
        let distinct = [cluster.symbols.intern(super::HOST)].into();
        let shape = cluster.shapes.push(NodeShape { is_all, distinct, ..NodeShape::new(pool) });
        for copy in 0..copies {
            let mut node = cluster.nodes[like].clone();
            let name = cluster.symbols.intern(&format!("new-{number}-{copy}"));
            let host = cluster.symbols.intern(super::HOST);
            node.labels =
                node.labels.iter().map(|(key, value)| (key, if key == host { name } else { value })).collect();
            (node.name, node.lifetime, node.passing) = (name, Lifetime::New(shape), Default::default());
            let node = cluster.nodes.push(node);
            cluster.shapes[shape].nodes.push(node);
        }
    }
    // How many domains there are at least is not part of what guards say about nodes that come and go.
    for pod in cluster.pods.ids() {
        let mut spec: PodSpec = (*cluster.pods[pod].spec).clone();
        spec.spread.iter_mut().for_each(|constraint| constraint.min_domains = 1);
        if spec != *cluster.pods[pod].spec {
            cluster.pods[pod].spec = Arc::new(spec);
        }
    }
    let first = cluster.shapes.values().find_map(|shape| shape.nodes.first().copied());
    let model = Arc::new(Model::new(cluster, problem.model.semantics()));
    let goal = moved(rng, &problem.goal, first);
    problem.with_model(model).with_goal(goal)
}

/// The same goal, some pods of which are to be on another node.
fn moved(rng: &mut Rng, goal: &Goal, to: Option<NodeId>) -> Goal {
    let mut place = |((pod, node), count)| ((pod, to.filter(|_| rng.one_in(2)).unwrap_or(node)), count);
    Goal { any: goal.any.iter().map(|alternative| alternative.iter().map(&mut place).collect()).collect() }
}

/// Whether the goal can be reached where nodes come and go by steps of their own: every node that may come or go is there or not,
/// whatever runs, and goes only while it is empty. By visiting every configuration; `None` when there are more than `most`.
pub fn explicit(problem: &Problem, most: usize) -> Option<bool> {
    let m = &problem.model;
    let there = m.nodes().filter(|&node| !matches!(m.node(node).lifetime, Lifetime::New(_)));
    let first = ((*problem.start).clone(), there.collect::<BTreeSet<NodeId>>());
    let (mut seen, mut todo) = (HashSet::from([first.clone()]), VecDeque::from([first]));
    while let Some((s, there)) = todo.pop_front() {
        if problem.is_met(&problem.goal, &s) {
            return Some(true);
        }
        if seen.len() > most {
            return None;
        }
        let pods = pod_steps(problem, &s, &there).map(|next| (next, there.clone()));
        let nodes = node_steps(m, &s, &there).map(|there| (s.clone(), there));
        for next in pods.chain(nodes).collect::<Vec<_>>() {
            if seen.insert(next.clone()) {
                todo.push_back(next);
            }
        }
    }
    Some(false)
}

/// Deployments on nodes that are there, by the rules of a cluster that has no other nodes; and deletions.
fn pod_steps<'a>(
    problem: &'a Problem,
    s: &'a Configuration,
    there: &'a BTreeSet<NodeId>,
) -> impl Iterator<Item = Configuration> + 'a {
    let small = only(problem, there);
    let atoms = problem.model.pods().flat_map(|pod| problem.model.nodes().map(move |node| (pod, node)));
    let deployed = atoms.filter_map(move |(pod, node)| {
        let allowed = there.contains(&node) && small.pod(pod).barred.is_none();
        let index = there.iter().position(|&other| other == node).filter(|_| allowed)?;
        let here: Configuration = s.iter().map(|((q, at), count)| ((q, place(there, at)), count)).collect();
        rule::hard(&small, &here, pod, NodeId::from_index(index)).then(|| {
            let mut next = s.clone();
            next.add((pod, node));
            next
        })
    });
    let deleted = successors(problem, s).filter(|(action, _)| !matches!(action, Action::Deploy(..)));
    deployed.chain(deleted.map(|(_, next)| next))
}

fn place(there: &BTreeSet<NodeId>, node: NodeId) -> NodeId {
    NodeId::from_index(there.iter().position(|&other| other == node).expect("pods are on nodes that are there"))
}

/// The cluster with these nodes alone, for good.
pub fn only(problem: &Problem, there: &BTreeSet<NodeId>) -> Model {
    let mut cluster = problem.model.facts();
    cluster.nodes = there.iter().map(|&node| cluster.nodes[node].clone()).collect();
    cluster.nodes.ids().for_each(|node| cluster.nodes[node].lifetime = Lifetime::Permanent);
    cluster.shapes = Default::default();
    Model::new(cluster, problem.model.semantics())
}

/// Nodes that come, and empty ones that go.
fn node_steps<'a>(
    m: &'a Model,
    s: &'a Configuration,
    there: &'a BTreeSet<NodeId>,
) -> impl Iterator<Item = BTreeSet<NodeId>> + 'a {
    let moving = m.nodes().filter(|&node| m.comes_and_goes(node) && s.on(node).next().is_none());
    moving.map(|node| {
        let mut next = there.clone();
        if !next.remove(&node) {
            next.insert(node);
        }
        next
    })
}
