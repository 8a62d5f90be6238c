//! A weakening only adds behaviour: what the rules let in, they let in afterwards, in the same configuration and once its nodes have
//! settled.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::cluster::{Cluster, Pod};
use podreach_core::rule::hard;
use podreach_core::testing::{Rng, Shape, cases, problem, random_configuration, some_starting};
use podreach_core::weakening::weakened;
use podreach_core::{Configuration, Model, Problem, Semantics, Weakening};

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

#[test]
fn nodes_that_have_started_allow_no_more() {
    let mut rng = Rng::new(7);
    let (mut later, mut added, mut refused) = (0, 0, 0);
    for case in 0..cases(5_000) {
        let shape = Shape { nodes: 4, room: Some(4), ..Shape::small(Semantics::KubeScheduler) };
        let problem = problem(&mut rng, if case % 3 == 0 { shape.with_volumes() } else { shape });
        let (now, then) = some_starting(&mut rng, &problem.model.facts());
        let s = random_configuration(&mut rng, &problem.model, 6);
        let model = |cluster: Cluster| Model::new(cluster, Semantics::KubeScheduler);
        let weak = model(weakened(&now, &[Weakening::Starting]));
        let (now, then) = (model(now), model(then));
        for pod in now.pods() {
            for node in now.nodes() {
                let [before, after, weak] = [&now, &then, &weak].map(|m| hard(m, &s, pod, node));
                assert!(weak || !(before || after), "{pod:?} on {node:?} in {s:?}: {before} {after} of {problem:#?}");
                later += u64::from(after);
                added += u64::from(after && !before);
                refused += u64::from(!weak);
            }
        }
    }
    assert!(later > 1_000 && added > 200 && refused > 10_000, "{later} {added} {refused}");
}

/// Every change to a cluster that is said to weaken it.
fn changes(cluster: &Cluster) -> Vec<Change> {
    let pods = || cluster.pods.iter();
    let resources: Vec<_> = cluster.resources.entries().ids().collect();
    let add = |pod: &Pod| Change::Add(Box::new(Pod { name: "another".into(), ..pod.clone() }));
    let mut all: Vec<Change> = pods().map(|(_, pod)| add(pod)).take(2).collect();
    all.extend(cluster.nodes.ids().flat_map(|node| resources.iter().map(move |&of| Change::Enlarge(node, of))));
    all.extend(cluster.quotas.ids().map(Change::Quota));
    for (pod, known) in pods() {
        all.extend((!known.spec.ports.is_empty()).then_some(Change::Ports(pod)));
        all.extend(known.spec.node_name.map(|_| Change::NodeName(pod)));
        all.extend(known.spec.requests.iter().map(|(of, _)| Change::Request(pod, of)));
        all.extend((0..known.spec.anti_affinity.len()).map(|at| Change::AntiAffinity(pod, at)));
    }
    assert!(all.iter().all(Change::weakens));
    all
}

#[test]
fn changes_that_weaken_forbid_nothing() {
    let mut rng = Rng::new(5);
    let mut counts = BTreeMap::<String, (u64, u64)>::new();
    for case in 0..cases(5_000) {
        let semantics = if case % 4 == 0 { Semantics::Paper } else { Semantics::KubeScheduler };
        let shape = Shape { nodes: 4, room: Some(4), ..Shape::small(semantics) };
        let problem = problem(&mut rng, if case % 3 == 0 { shape.with_volumes() } else { shape });
        let s = random_configuration(&mut rng, &problem.model, 6).with_unsettled(problem.model.nodes());
        let problem = Problem { start: Arc::new(s), ..problem };
        for change in changes(&problem.model.facts()) {
            let mut cluster = problem.model.facts();
            change.apply(&mut cluster);
            let weak = problem.with_model(Arc::new(Model::new(cluster, semantics)));
            let sum = counts.entry(format!("{change:?}").split('(').next().unwrap_or_default().to_owned()).or_default();
            for pod in problem.model.pods() {
                for node in problem.model.nodes() {
                    let before = hard(&problem.model, &*problem.start, pod, node);
                    let after = hard(&weak.model, &*weak.start, pod, node);
                    assert!(!before || after, "{change:?} forbids {pod:?} on {node:?} in {problem:#?}");
                    *sum = (sum.0 + u64::from(before), sum.1 + u64::from(after && !before));
                }
            }
        }
    }
    for (kind, (left, added)) in &counts {
        assert!(*left > 100, "{kind} was tried where {left} deployments are possible");
        assert!(*added > 0 || kind == "Add", "{kind} makes nothing possible");
    }
    assert!(counts.contains_key("Add") && counts.contains_key("AntiAffinity"), "{counts:?}");
}
