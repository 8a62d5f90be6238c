//! Random puzzles of switches, in which some pod has to be deleted at every step.
//!
//! A switch is on, off or removed: at most one pod of it runs. It can be turned to a side while certain others are as they must be.
//! Random problems seldom need a deletion to get anywhere; here every turn is one.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use super::{HOST, Rng};
use crate::cluster::{Barred, Cluster, Matcher, Node, Passing, Pod, PodSpec, Scope, Term};
use crate::configuration::Configuration;
use crate::goal::Goal;
use crate::id::{NamespaceId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::selector::{Allowed, Selector};
use crate::step::Problem;

/// A puzzle: which sides can be turned to while which others are up. Sides `2i` and `2i + 1` are those of switch `i`.
#[derive(Clone, Debug)]
pub struct Switches {
    count: usize,
    /// The side that comes up, and the sides that must be.
    turns: Vec<(usize, Vec<usize>)>,
    /// The sides that are wanted at the same time.
    wanted: Vec<usize>,
    semantics: Semantics,
}

impl Switches {
    /// A random puzzle. Under kube-scheduler's semantics a pod needs one witness at most, so a turn depends on one side.
    pub fn random(rng: &mut Rng) -> Self {
        let semantics = if rng.one_in(4) { Semantics::KubeScheduler } else { Semantics::Paper };
        let count = 7 + rng.below(3);
        let most = if semantics == Semantics::Paper { count } else { 1 };
        let mut turns = Vec::new();
        for up in 0..2 * count {
            for _ in 0..1 + rng.below(2) {
                let others = sides(rng, count, 7).into_iter().filter(|side| side / 2 != up / 2);
                turns.push((up, others.take(most).collect()));
            }
        }
        let wanted: Vec<usize> = sides(rng, count, 14).into_iter().take(most).collect();
        Self { count, turns, wanted: if wanted.is_empty() { vec![1] } else { wanted }, semantics }
    }

    /// Whether the wanted sides can be up together, by visiting every state. Removing a switch never helps another one.
    pub fn is_solvable(&self) -> bool {
        let start: Vec<usize> = (0..self.count).map(|switch| 2 * switch).collect();
        let (mut seen, mut todo) = (HashSet::from([start.clone()]), VecDeque::from([start]));
        while let Some(state) = todo.pop_front() {
            let is_up = |side: &usize| state[side / 2] == *side;
            if self.wanted.iter().all(is_up) {
                return true;
            }
            for (side, _) in self.turns.iter().filter(|(_, context)| context.iter().all(is_up)) {
                let mut next = state.clone();
                next[side / 2] = *side;
                if seen.insert(next.clone()) {
                    todo.push_back(next);
                }
            }
        }
        false
    }

    /// The puzzle as a problem: a pod type for each turn, one for each switch as it is at first, and one that needs what is wanted.
    pub fn problem(&self) -> Problem {
        let mut cluster = Cluster::default();
        let namespace = cluster.namespace("default");
        let node = node(&mut cluster);
        let mut start = Configuration::new();
        for switch in 0..self.count {
            let pod = side(&mut cluster, namespace, 2 * switch, &[], Some(Barred::Refused("there at first".into())));
            start.add((pod, node));
        }
        for (up, context) in &self.turns {
            side(&mut cluster, namespace, *up, context, None);
        }
        let mut spec = PodSpec::plain(namespace);
        spec.affinity = terms(&mut cluster, namespace, "side", &self.wanted);
        let goal = cluster.pods.push(Pod { name: "pod/default/goal".into(), spec: Arc::new(spec) });
        Problem::new(Arc::new(Model::new(cluster, self.semantics)), start, Goal::atom((goal, node)))
    }
}

/// A side of each of some switches; of each with a chance of so many twentieths.
fn sides(rng: &mut Rng, switches: usize, twentieths: usize) -> Vec<usize> {
    let some: Vec<usize> = (0..switches).filter(|_| rng.below(20) < twentieths).collect();
    some.into_iter().map(|switch| 2 * switch + rng.below(2)).collect()
}

fn node(cluster: &mut Cluster) -> NodeId {
    let node = Node {
        name: cluster.symbols.intern("n"),
        labels: cluster.labels([(HOST, "n")]),
        taints: Vec::new(),
        unschedulable: false,
        allocatable: [(cluster.resource("pods"), u128::MAX)].into_iter().collect(),
        features: BTreeSet::new(),
        drivers: Default::default(),
        passing: Passing::default(),
        lifetime: Default::default(),
    };
    cluster.nodes.push(node)
}

/// A pod type that is a side of a switch and can be deployed while others are up.
fn side(cluster: &mut Cluster, namespace: NamespaceId, up: usize, context: &[usize], barred: Option<Barred>) -> PodId {
    let mut spec = PodSpec::plain(namespace);
    let (switch, name) = ((up / 2).to_string(), up.to_string());
    spec.labels = cluster.labels([("switch", switch.as_str()), ("side", name.as_str())]);
    spec.affinity = terms(cluster, namespace, "side", context);
    spec.anti_affinity = terms(cluster, namespace, "switch", &[up / 2]);
    spec.barred = barred;
    let name = format!("pod/default/p{}", cluster.pods.len());
    cluster.pods.push(Pod { name, spec: Arc::new(spec) })
}

/// One term for each value of a label, on the same node.
fn terms(cluster: &mut Cluster, namespace: NamespaceId, label: &str, values: &[usize]) -> Vec<Term> {
    let (symbol, key) = (cluster.symbols.intern(label), cluster.key(HOST));
    let terms = values.iter().map(|value| {
        let value = cluster.symbols.intern(&value.to_string());
        let selector = Selector::everything().and(symbol, Allowed::one_of([value]));
        let matcher = Matcher { scope: Scope::only(namespace), selector };
        Term { matcher: cluster.matchers.intern(matcher), key }
    });
    terms.collect()
}
