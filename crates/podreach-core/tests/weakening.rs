//! A weakening only adds behaviour: what the rules let in, they let in afterwards, in the same configuration and once its nodes have
//! settled.

use std::collections::BTreeMap;

use podreach_core::cluster::Cluster;
use podreach_core::rule::hard;
use podreach_core::testing::{Rng, Shape, cases, problem, random_configuration};
use podreach_core::{Configuration, Problem, Semantics, Weakening};

/// Every weakening that says something about a cluster.
fn all(cluster: &Cluster) -> Vec<Weakening> {
    let pods = || cluster.pods.ids();
    let keys = ["app", "tier", "team", "topology.kubernetes.io/zone", "kubernetes.io/hostname"];
    let keys = keys.iter().filter_map(|key| cluster.symbols.symbol(key));
    let mut all = vec![Weakening::Unseen, Weakening::Uneven];
    all.extend(pods().map(Weakening::Unruled).chain(pods().map(Weakening::Unscheduled)));
    all.extend(keys.map(Weakening::Unlabelled));
    all.extend(cluster.claims.entries().ids().map(Weakening::OpenClaim));
    all.extend(cluster.nodes.ids().map(Weakening::Detached));
    all
}

/// The name of its kind.
fn kind(weakening: &Weakening) -> String {
    format!("{weakening:?}").split('(').next().unwrap_or_default().to_owned()
}

/// How many deployments a weakening leaves possible, and how many it makes possible.
fn compare(problem: &Problem, weakening: &Weakening, s: &Configuration) -> (u64, u64) {
    let weak = problem.weakened(std::slice::from_ref(weakening));
    let settled: Configuration = s.iter().collect();
    let (mut left, mut added) = (0, 0);
    for pod in problem.model.pods() {
        for node in problem.model.nodes() {
            let before = hard(&problem.model, s, pod, node);
            let after = hard(&weak.model, s, pod, node);
            let later = hard(&weak.model, &settled, pod, node);
            let matters = matches!(weakening, Weakening::Uneven) || !problem.model.settling_matters();
            assert!(!before || after, "{weakening:?} forbids {pod:?} on {node:?} in {s:?} of {problem:#?}");
            assert!(!before || !matters || later, "{weakening:?}: {pod:?} on {node:?} in {s:?} of {problem:#?}");
            left += u64::from(before);
            added += u64::from(later && !hard(&problem.model, &settled, pod, node));
        }
    }
    (left, added)
}

#[test]
fn weakenings_forbid_nothing() {
    let mut rng = Rng::new(3);
    let mut counts = BTreeMap::<String, (u64, u64)>::new();
    for case in 0..cases(10_000) {
        let semantics = if case % 4 == 0 { Semantics::Paper } else { Semantics::KubeScheduler };
        let shape = Shape { nodes: 4, room: Some(4), ..Shape::small(semantics) };
        let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
        let problem = problem(&mut rng, shape);
        let weakenings = all(problem.model.cluster());
        let s = random_configuration(&mut rng, &problem.model, 6).with_unsettled(problem.model.nodes());
        for weakening in &weakenings {
            let (left, added) = compare(&problem, weakening, &s);
            let sum = counts.entry(kind(weakening)).or_default();
            *sum = (sum.0 + left, sum.1 + added);
        }
    }
    for (kind, (left, added)) in counts {
        assert!(left > 500 && added > 3, "{kind} was asked of {left} deployments and made {added} more possible");
    }
}
