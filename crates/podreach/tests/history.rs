//! What is said about claims that wait holds in a cluster that remembers every binding.
//!
//! The real thing, in small: a state is a configuration and what every claim is bound to. Its best case, in which volumes that are made
//! can be used anywhere, must not reach what is said to be never; its worst case, in which they can be used from one node only, must
//! allow every trace that is given.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach_core::cluster::{NodeRequirement, NodeTerm};
use podreach_core::id::{ClaimId, VolumeId};
use podreach_core::rule::{hard, volume_binding};
use podreach_core::selector::Allowed;
use podreach_core::storage::{Claim, ClaimState, Volume};
use podreach_core::testing::{Rng, Shape, cases, problem};
use podreach_core::{Action, Atom, Cluster, Configuration, Model, NodeId, Problem, Semantics, Trace, Verdict};

/// What is bound: claims to volumes that were there, or that were made for a node; and volumes that are given away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bindings {
    claims: BTreeMap<ClaimId, Result<VolumeId, NodeId>>,
    taken: BTreeSet<VolumeId>,
}

/// The cluster as it is with these bindings; volumes that were made can be used anywhere or from one node.
fn with(cluster: &Cluster, bindings: &Bindings, anywhere: bool) -> Cluster {
    let mut cluster = cluster.clone();
    for pod in cluster.pods.ids() {
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        for id in &mut spec.mounts.claims {
            let claim = cluster.claims[*id].clone();
            let state = match (bindings.claims.get(id), claim.state.clone()) {
                (Some(Err(_)), _) if anywhere => ClaimState::Anywhere,
                (Some(&bound), _) => {
                    let volume = bound.unwrap_or_else(|node| {
                        let key = cluster.symbols.intern("kubernetes.io/hostname");
                        let name = NodeRequirement::Label(Allowed::one_of([cluster.nodes[node].name]));
                        let terms = vec![NodeTerm { expressions: vec![(key, name)], names: Vec::new() }];
                        let made = Volume { name: "made".into(), node_affinity: Some(terms), zones: Vec::new() };
                        cluster.volumes.intern(made)
                    });
                    ClaimState::Bound { volume: Some(volume), complete: true }
                }
                (None, ClaimState::Waiting(mut waiting)) => {
                    waiting.volumes.retain(|volume| !bindings.taken.contains(volume));
                    ClaimState::Waiting(waiting)
                }
                (None, ClaimState::Unbound | ClaimState::Bound { complete: false, .. }) if anywhere => {
                    ClaimState::Anywhere
                }
                (None, other) => other,
            };
            *id = cluster.claims.intern(Claim { state, ..claim });
        }
        spec.mounts.claims.sort_unstable();
        if anywhere {
            spec.devices.retain(|&id| cluster.device_claims[id].state == podreach_core::storage::DeviceState::Missing);
        }
    }
    for node in cluster.nodes.ids().filter(|_| anywhere) {
        cluster.nodes[node].drivers.values_mut().for_each(|driver| driver.attached = 0);
    }
    cluster
}

/// Deploys an atom if the cluster with its bindings allows that, and binds what it binds.
fn deploy(problem: &Problem, bindings: &mut Bindings, s: &mut Configuration, atom: Atom, anywhere: bool) -> bool {
    let m = &problem.model;
    let now = Model::new(with(m.cluster(), bindings, anywhere), m.semantics());
    if !hard(&now, s, atom.0, atom.1) {
        return false;
    }
    let claims = m.pod(atom.0).mounts.claims.iter().copied();
    let open = claims.filter(|id| volume_binding::waiting(m, *id).is_some() && !bindings.claims.contains_key(id));
    let found = volume_binding::binding(m, open.collect(), atom.1, &bindings.taken);
    for (claim, volume) in found.unwrap_or_default() {
        bindings.taken.extend(volume);
        if !m.cluster().claims[claim].private {
            bindings.claims.insert(claim, volume.ok_or(atom.1));
        }
    }
    s.add(atom);
    true
}

/// Whether the goal can be reached at best; `None` when there are too many states.
fn at_best(problem: &Problem, most: usize) -> Option<bool> {
    let start = ((*problem.start).clone(), Bindings::default());
    let (mut seen, mut todo) = (HashSet::from([start.clone()]), VecDeque::from([start]));
    while let Some((s, bindings)) = todo.pop_front() {
        if problem.is_met(&problem.goal, &s) {
            return Some(true);
        }
        if seen.len() > most {
            return None;
        }
        let atoms = problem.model.pods().flat_map(|pod| problem.model.nodes().map(move |node| (pod, node)));
        for atom in atoms {
            let (mut more, mut bound) = (s.clone(), bindings.clone());
            let deployed = deploy(problem, &mut bound, &mut more, atom, true).then_some((more, bound));
            let deleted = (s.count(atom) > problem.kept.count(atom)).then(|| {
                let mut less = s.clone();
                less.remove(atom);
                (less, bindings.clone())
            });
            for next in deployed.into_iter().chain(deleted) {
                if seen.insert(next.clone()) {
                    todo.push_back(next);
                }
            }
        }
    }
    Some(false)
}

/// Whether a trace is possible at worst.
fn at_worst(problem: &Problem, trace: &Trace) -> bool {
    let (mut s, mut bindings) = ((*problem.start).clone(), Bindings::default());
    trace.iter().all(|action| match action {
        Action::Deploy(pod, node) => deploy(problem, &mut bindings, &mut s, (pod, node), false),
        Action::Delete(pod, node) => {
            s.remove((pod, node));
            true
        }
        other => problem.step(&mut s, other).is_ok(),
    })
}

fn binds(problem: &Problem) -> bool {
    let m = &problem.model;
    m.claimants()
        .iter()
        .any(|&pod| m.pod(pod).mounts.claims.iter().any(|&claim| volume_binding::waiting(m, claim).is_some()))
}

#[test]
fn what_is_said_holds_in_a_cluster_that_remembers() {
    let cases = cases(12_000);
    let mut rng = Rng::new(29);
    let (mut said, mut held_back) = ([0, 0], 0);
    for case in 0..cases {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = Shape { nodes: 2, spread: case % 3 == 0, ..Shape::small(semantics).with_volumes() };
        let problem = problem(&mut rng, shape);
        // A pod that runs although its claims wait is bound by no step.
        let odd = problem.start.iter().any(|((pod, _), _)| !problem.model.pod(pod).mounts.claims.is_empty());
        if odd || !binds(&problem) {
            continue;
        }
        let decision = Oracle::new(&problem, &[]).answer(&problem, &Budget::unlimited());
        match decision.checked.verdict() {
            Verdict::Deployable(trace) => {
                assert!(at_worst(&problem, trace), "case {case}: {trace:?} of {problem:#?}");
                said[1] += 1;
            }
            Verdict::Never(_) => {
                assert_ne!(at_best(&problem, 600), Some(true), "case {case}: {problem:#?}");
                said[0] += 1;
            }
            Verdict::Unknown(_) => held_back += 1,
        }
    }
    println!("{said:?} never and deployable, {held_back} held back");
    assert!(said.iter().all(|&count| count > 20) && held_back > 5, "{said:?} said, {held_back} held back");
}
