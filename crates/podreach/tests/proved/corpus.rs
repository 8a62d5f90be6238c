//! Clusters of others: what an audit stands on, and the answer for every pod on every node.

use podreach::audit::finding;
use podreach::audit::memory::NoCache;
use podreach::engine::{Budget, Decider};
use podreach::lower::Lowered;
use podreach_core::testing::Rng;
use podreach_core::{Goal, Problem, Semantics};

use crate::comparison::Comparison;
use crate::corpus_files::{clusters, lowered};
use crate::damage::damaged;

/// The most pods on nodes that a cluster may have here: the proved checker goes through all of them for every sum.
const MOST: usize = 120;

fn small_clusters() -> impl Iterator<Item = Lowered> {
    let clusters = clusters().into_iter().filter(|(name, _)| !name.starts_with("trace"));
    let clusters = clusters.map(|(_, paths)| lowered(&paths)).filter(|lowered| !lowered.is_stopped());
    clusters.filter(|lowered| (1..=MOST).contains(&(lowered.cluster.pods.len() * lowered.cluster.nodes.len())))
}

#[test]
fn every_pod_on_every_node() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(84);
    for (number, lowered) in small_clusters().enumerate() {
        let semantics = if number % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem: Problem = podreach::problem(&lowered, semantics);
        let mut decider = Decider::new(&problem);
        let m = problem.model.clone();
        for atom in m.pods().flat_map(|pod| m.nodes().map(move |node| (pod, node))) {
            let goal = Goal::atom(atom);
            let decision = decider.decide(&goal, &Budget::unlimited());
            both.verdict(&problem, &goal, decision.checked.verdict());
            both.verdict(&problem, &goal, &damaged(&mut rng, &m, decision.checked.verdict()));
        }
    }
    both.end("pods of the corpus on nodes", 200);
}

#[test]
fn what_audits_stand_on() {
    let Some(mut both) = Comparison::start() else { return };
    for lowered in small_clusters() {
        let items = finding::items(&lowered, Semantics::KubeScheduler, &Budget::unlimited(), &NoCache, &|| ());
        for evidence in items.iter().flat_map(|item| &item.evidence) {
            both.verdict(evidence.problem(), &evidence.problem().goal, evidence.decision.checked.verdict());
            if let Some(short) = &evidence.short {
                both.shortage(evidence.problem(), short.demand(), short.shortage());
            }
        }
    }
    println!("audits of the corpus: {:?}", both.tally);
    assert!(both.tally.accepted > 20 && both.tally.refused == 0 && both.tally.unwritten == 0);
}
