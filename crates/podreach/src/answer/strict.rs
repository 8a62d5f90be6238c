//! The strict model, in which nothing that is in doubt is deployed: what can be reached there can be reached in the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::cluster::{Barred, NodeRequirement, NodeTerm, PodSpec};
use podreach_core::selector::{Allowed, Values};
use podreach_core::{Action, Atom, Cluster, Configuration, Goal, Model, Problem};

use super::deletions;
use super::doubt::{Doubt, Place, Residents};
use crate::engine::Decider;
use crate::{arriving, history};

/// The strict model: what is deleted at first, and who decides the rest.
#[derive(Clone, Debug)]
pub(super) struct Strict {
    pub(super) deleted: Vec<Action>,
    pub(super) whole: Decider,
}

impl Strict {
    pub(super) fn new(problem: &Problem, doubts: &[Doubt], goal: Option<&Goal>) -> Self {
        let (strict, deleted) = Self::problem(problem, doubts, goal);
        Self { deleted, whole: Decider::new(&strict) }
    }

    /// The problem in which nothing in doubt is deployed or stays, and what is deleted to get there.
    pub(super) fn problem(problem: &Problem, doubts: &[Doubt], goal: Option<&Goal>) -> (Problem, Vec<Action>) {
        let doubtful = |&(atom, _): &(Atom, u64)| {
            let extends = |doubt: &Doubt| doubt.residents != Residents::AsSeen && doubt.is_about(atom.0);
            doubts.iter().any(extends)
        };
        let deleted: Configuration = problem.start.minus(&problem.kept).iter().filter(doubtful).collect();
        let mut cluster = strict(problem.model.cluster(), doubts);
        arriving::close(&mut cluster);
        if let Some(goal) = goal {
            cluster = history::cautious(&cluster, &problem.model, goal);
        }
        let unsettled = problem.start.unsettled().iter().copied();
        let start = Arc::new(problem.start.minus(&deleted).with_unsettled(unsettled));
        let strict = arriving::keeping_static_pods(Problem { start, ..with_cluster(problem, cluster) });
        (strict, deletions(&problem.model, &deleted).collect())
    }
}

fn with_cluster(problem: &Problem, cluster: Cluster) -> Problem {
    Problem { model: Arc::new(Model::new(cluster, problem.model.semantics())), ..problem.clone() }
}

/// The cluster in which no pod type in doubt is ever deployed.
fn strict(cluster: &Cluster, doubts: &[Doubt]) -> Cluster {
    let mut cluster = cluster.clone();
    for pod in cluster.pods.ids() {
        for doubt in doubts.iter().filter(|doubt| doubt.is_about(pod)) {
            let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
            match &doubt.on {
                Place::Anywhere => spec.barred = Some(Barred::Doubtful),
                Place::Without(key, _) => {
                    let exists =
                        NodeRequirement::Label(Allowed { absent: false, values: Values::AllBut(BTreeSet::new()) });
                    ask(spec, &NodeTerm { expressions: vec![(*key, exists)], names: Vec::new() });
                }
                Place::On(nodes) => {
                    let names = nodes.iter().map(|&node| cluster.nodes[node].name);
                    ask(spec, &NodeTerm { expressions: Vec::new(), names: vec![Allowed::none_of(names)] });
                }
            }
        }
    }
    cluster
}

/// Keeps pods to nodes on which a term holds, whatever else they ask.
fn ask(spec: &mut PodSpec, term: &NodeTerm) {
    match &mut spec.added_affinity {
        None => spec.added_affinity = Some(vec![term.clone()]),
        // A term that asks for nothing matches no node.
        Some(terms) => {
            let asks = |term: &&mut NodeTerm| !term.expressions.is_empty() || !term.names.is_empty();
            for own in terms.iter_mut().filter(asks) {
                own.expressions.extend(term.expressions.iter().cloned());
                own.names.extend(term.names.iter().cloned());
            }
        }
    }
}
