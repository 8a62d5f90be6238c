//! Random clusters with nodes that are alike, and goals on any of them.

use std::sync::Arc;

use podreach_core::cluster::{Cluster, NodeTerm};
use podreach_core::selector::Allowed;
use podreach_core::testing::{Rng, Shape, problem, random_configuration};
use podreach_core::{Configuration, Goal, Id, Model, NodeId, Problem, Semantics};

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Makes most nodes copies of others: twins in their domains, or of whole zones.
fn repeat_nodes(rng: &mut Rng, cluster: &mut Cluster, most: usize) {
    let originals: Vec<NodeId> = cluster.nodes.ids().take(1 + rng.below(2)).collect();
    let kinds: Vec<_> = originals.iter().map(|&node| cluster.nodes[node].clone()).collect();
    let mirrored = rng.one_in(3);
    cluster.nodes = podreach_core::id::IdVec::new();
    for index in 0..2 + rng.below(most - 1) {
        let mut node = kinds[index % kinds.len()].clone();
        node.name = cluster.symbols.intern(&format!("n{index}"));
        node.labels.set(cluster.symbols.intern(HOST), node.name);
        if mirrored {
            let zone = if index / kinds.len() % 2 == 0 { "a" } else { "b" };
            node.labels.set(cluster.symbols.intern(ZONE), cluster.symbols.intern(zone));
        }
        cluster.nodes.push(node);
    }
}

/// Sometimes, some pod asks for a node by name.
fn name_nodes(rng: &mut Rng, cluster: &mut Cluster) {
    let pods: Vec<_> = cluster.pods.ids().collect();
    for pod in pods {
        let name = cluster.nodes[NodeId::from_index(rng.below(cluster.nodes.len()))].name;
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        match rng.below(12) {
            0 => spec.node_name = Some(name),
            1 => spec.node_selector.set(cluster.symbols.intern(HOST), name),
            2 => {
                let names = vec![Allowed::none_of([name])];
                spec.node_affinity = Some(vec![NodeTerm { expressions: Vec::new(), names }]);
            }
            _ => {}
        }
    }
}

/// A small problem on such nodes, without a goal.
pub(crate) fn repetitive(rng: &mut Rng, case: usize) -> Problem {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let mut shape = Shape::small(semantics);
    shape.spread = !rng.one_in(3);
    let mut cluster = problem(rng, shape).model.facts();
    repeat_nodes(rng, &mut cluster, 4);
    name_nodes(rng, &mut cluster);
    let model = Arc::new(Model::new(cluster, semantics));
    let start = random_configuration(rng, &model, 4);
    let kept = if rng.one_in(3) { start.iter().filter(|_| rng.one_in(2)).collect() } else { Configuration::new() };
    Problem { kept: Arc::new(kept), ..Problem::new(model, start, Goal::default()) }
}

/// One pod on any of some nodes, sometimes beside another that stays where it is.
pub(crate) fn one_of_many(rng: &mut Rng, problem: &Problem) -> Goal {
    let m = &problem.model;
    let pods: Vec<_> = m.pods().collect();
    let pod = pods[rng.below(pods.len())];
    let node = NodeId::from_index(rng.below(m.nodes().len()));
    let beside = rng.one_in(3).then(|| ((pods[rng.below(pods.len())], node), 1));
    let some = rng.one_in(2);
    let mut nodes: Vec<NodeId> = m.nodes().filter(|_| !some || !rng.one_in(3)).collect();
    nodes.extend(m.nodes().take(usize::from(nodes.is_empty())));
    Goal { any: nodes.into_iter().map(|node| beside.into_iter().chain([((pod, node), 1)]).collect()).collect() }
}
