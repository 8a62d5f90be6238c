//! Laws that hold whatever the rules are: damaged evidence is refused, names and order do not matter, and loosening never takes away.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach::engine::{Budget, Decider};
use podreach_core::cluster::{Cluster, Node, Pod, PodSpec};
use podreach_core::intern::Interner;
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, random_configuration};
use podreach_core::{
    Action, Atom, Checked, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Proof, Semantics, Trace, Verdict,
    check,
};

fn decide(problem: &Problem) -> Checked {
    Decider::new(problem).decide(&problem.goal, &Budget::unlimited()).checked
}

fn answer(problem: &Problem) -> bool {
    decide(problem).answer().expect("small problems are decided")
}

fn each_problem(seed: u64, count: usize, mut test: impl FnMut(&mut Rng, Problem)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        test(&mut rng, problem);
    }
}

fn with_cluster(problem: &Problem, change: impl FnOnce(&mut Cluster)) -> Problem {
    let mut cluster = problem.model.facts();
    change(&mut cluster);
    Problem { model: Arc::new(Model::new(cluster, problem.model.semantics())), ..problem.clone() }
}

fn edit(pod: &mut Pod, change: impl FnOnce(&mut PodSpec)) {
    let mut spec = (*pod.spec).clone();
    change(&mut spec);
    pod.spec = Arc::new(spec);
}

// Evidence.

fn random_action(rng: &mut Rng, model: &Model) -> Action {
    let pod = PodId::from_index(rng.below(model.pods().len() + 1));
    let node = NodeId::from_index(rng.below(model.nodes().len() + 1));
    if rng.one_in(2) { Action::Deploy(pod, node) } else { Action::Delete(pod, node) }
}

/// One thing missing, added or changed.
fn damaged_trace(rng: &mut Rng, model: &Model, trace: &Trace) -> Trace {
    let mut steps: Vec<Action> = trace.iter().collect();
    let at = rng.below(steps.len().max(1));
    match rng.below(4) {
        0 if !steps.is_empty() => drop(steps.remove(at)),
        1 if steps.len() > 1 => steps.swap(0, at),
        2 if !steps.is_empty() => steps[at] = random_action(rng, model),
        _ => steps.insert(at, random_action(rng, model)),
    }
    steps.into_iter().collect()
}

fn damaged_proof(rng: &mut Rng, proof: &Proof) -> Proof {
    let mut proof = proof.clone();
    let at = rng.below(proof.forbidden.len());
    match rng.below(5) {
        0 => drop(proof.forbidden.remove(at)),
        1 => {
            let key = *proof.forbidden[at].keys().next().expect("groups are not empty");
            proof.forbidden[at].remove(&key);
        }
        2 => {
            proof.forbidden[at].insert(rng.below(proof.classes.len() + 1), 1 + rng.below(2) as u64);
        }
        3 => {
            let class = rng.below(proof.classes.len());
            proof.classes[class].push((PodId::from_index(rng.below(4)), NodeId::from_index(rng.below(4))));
        }
        _ => {
            let class = rng.below(proof.classes.len());
            proof.classes[class].pop();
        }
    }
    proof
}

/// Replays a trace with nothing but the step function.
fn really_reaches(problem: &Problem, trace: &Trace) -> bool {
    let mut s = (*problem.start).clone();
    trace.iter().all(|action| problem.step(&mut s, action).is_ok()) && problem.is_met(&problem.goal, &s)
}

#[test]
fn damaged_evidence_is_refused_unless_it_still_proves_the_truth() {
    let (mut refused, mut harmless) = (0, 0);
    each_problem(3, cases(3_000), |rng, problem| {
        let truth = answer(&problem);
        for _ in 0..3 {
            let damaged = match decide(&problem).verdict() {
                Verdict::Deployable(trace) => Verdict::Deployable(damaged_trace(rng, &problem.model, trace)),
                Verdict::Never(proof) => Verdict::Never(damaged_proof(rng, proof)),
                Verdict::Unknown(_) => unreachable!("small problems are decided"),
            };
            match check(&problem, damaged.clone()) {
                Err(_) => refused += 1,
                Ok(checked) => {
                    harmless += 1;
                    assert_eq!(checked.answer(), Some(truth), "accepted {damaged:?} of {problem:#?}");
                    if let Verdict::Deployable(trace) = &damaged {
                        assert!(really_reaches(&problem, trace));
                    }
                }
            }
        }
    });
    println!("refused {refused}, harmless {harmless}");
    assert!(refused > 2 * harmless, "most damage is refused: {refused} refused, {harmless} harmless");
}

#[test]
fn forged_evidence_for_the_wrong_answer_is_refused() {
    each_problem(5, cases(3_000), |rng, problem| {
        let forged = if answer(&problem) {
            let groups: Vec<Configuration> = (0..4).map(|_| random_configuration(rng, &problem.model, 2)).collect();
            Verdict::Never(Proof::of_configurations(&[&groups[..], &problem.goal.any].concat()))
        } else {
            let steps = (0..6).map(|_| random_action(rng, &problem.model));
            Verdict::Deployable(steps.collect())
        };
        assert!(check(&problem, forged.clone()).is_err(), "accepted {forged:?} of {problem:#?}");
    });
}

#[test]
fn a_proof_for_one_goal_proves_no_other() {
    each_problem(6, cases(1_000), |rng, problem| {
        let Verdict::Never(proof) = decide(&problem).verdict().clone() else { return };
        let other = problem.with_goal(Goal::all(random_configuration(rng, &problem.model, 2)));
        if check(&other, Verdict::Never(proof)).is_ok() {
            assert!(!answer(&other));
        }
    });
}

// Names and order.

/// The same problem with pods and nodes listed in another order.
fn shuffled(rng: &mut Rng, problem: &Problem) -> Problem {
    let permutation = |rng: &mut Rng, len: usize| {
        let mut order: Vec<usize> = (0..len).collect();
        (1..len).rev().for_each(|at| order.swap(at, rng.below(at + 1)));
        order
    };
    let pods = permutation(rng, problem.model.pods().len());
    let nodes = permutation(rng, problem.model.nodes().len());
    let moved = |(pod, node): Atom| (PodId::from_index(pods[pod.index()]), NodeId::from_index(nodes[node.index()]));
    let place = |configuration: &Configuration| -> Configuration {
        configuration.iter().map(|(atom, count)| (moved(atom), count)).collect()
    };
    let mut cluster = problem.model.facts();
    // Shadows are made anew.
    cluster.shadows.clear();
    let of_input = problem.model.pods().len();
    cluster.limits.iter_mut().for_each(|limit| limit.pods.retain(|pod| pod.index() < of_input));
    let by_new: BTreeMap<usize, usize> = pods.iter().enumerate().map(|(old, &new)| (new, old)).collect();
    cluster.pods = by_new.values().map(|&old| problem.model.cluster().pods[PodId::from_index(old)].clone()).collect();
    let by_new: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(old, &new)| (new, old)).collect();
    cluster.nodes =
        by_new.values().map(|&old| problem.model.cluster().nodes[NodeId::from_index(old)].clone()).collect();
    for limit in &mut cluster.limits {
        limit.pods = limit.pods.iter().map(|pod| PodId::from_index(pods[pod.index()])).collect();
    }
    let model = Arc::new(Model::new(cluster, problem.model.semantics()));
    let start = place(&problem.start).with_unsettled(model.nodes().collect::<Vec<_>>());
    let goal = Goal { any: problem.goal.any.iter().map(place).collect() };
    Problem { kept: Arc::new(place(&problem.kept)), ..Problem::new(model, start, goal) }
}

/// The same problem with every string renamed but those that mean something to the rules or to exhaustive search.
fn renamed(problem: &Problem) -> Problem {
    let keeps = |string: &str| string.contains(".io/") || ["", "pods", "slot"].contains(&string);
    let rename = |string: &str| if keeps(string) { string.to_owned() } else { format!("renamed-{string}") };
    with_cluster(problem, |cluster| {
        let mut symbols = Interner::default();
        cluster.symbols.strings().for_each(|string| {
            symbols.intern(&rename(string));
        });
        cluster.symbols = symbols;
        let pods: Vec<PodId> = cluster.pods.ids().collect();
        pods.into_iter().for_each(|pod| cluster.pods[pod].name = rename(&cluster.pods[pod].name));
    })
}

#[test]
fn names_do_not_matter() {
    each_problem(11, cases(1_000), |_, problem| {
        let other = renamed(&problem);
        assert_ne!(problem.model.node_name(NodeId::MIN), other.model.node_name(NodeId::MIN));
        assert_eq!(decide(&problem).verdict(), decide(&other).verdict(), "the same evidence, too: {problem:#?}");
    });
}

#[test]
fn order_does_not_matter() {
    each_problem(13, cases(2_000), |rng, problem| {
        let other = shuffled(rng, &problem);
        assert_eq!(answer(&problem), answer(&other), "{problem:#?}");
    });
}

#[test]
fn what_is_unrelated_does_not_matter() {
    each_problem(17, cases(2_000), |_, problem| {
        let wider = with_cluster(&problem, |cluster| {
            let namespace = cluster.namespace("elsewhere");
            let unrelated = PodSpec { labels: cluster.labels([("unrelated", "yes")]), ..PodSpec::plain(namespace) };
            cluster.pods.push(Pod { name: "pod/elsewhere/x".into(), spec: Arc::new(unrelated) });
        });
        // A stranger can only take room (or be seen by a term that looks at every namespace): leave it out of the start.
        let seen = wider.model.cluster().matchers.entries().ids().any(|matcher| {
            let stranger = wider.model.pods().next_back().expect("one was added");
            wider.model.nodes().any(|node| wider.model.sees(matcher, stranger, node))
                || wider.model.notices(matcher, stranger)
        });
        if !seen {
            assert_eq!(answer(&problem), answer(&wider), "{problem:#?}");
        }
    });
}

#[test]
fn the_same_problem_gives_the_same_evidence() {
    each_problem(19, cases(500), |_, problem| assert_eq!(decide(&problem).verdict(), decide(&problem).verdict()));
}

// Loosening and tightening.

#[test]
fn loosening_takes_nothing_away() {
    each_problem(23, cases(3_000), |rng, problem| {
        let looser = match rng.below(4) {
            0 => with_cluster(&problem, |cluster| {
                let nodes: Vec<NodeId> = cluster.nodes.ids().collect();
                for node in nodes {
                    let node: &mut Node = &mut cluster.nodes[node];
                    node.allocatable =
                        node.allocatable.iter().map(|(resource, amount)| (resource, amount + 1)).collect();
                }
            }),
            1 => with_cluster(&problem, |cluster| {
                let pods: Vec<PodId> = cluster.pods.ids().collect();
                pods.into_iter().for_each(|pod| edit(&mut cluster.pods[pod], |spec| spec.anti_affinity.truncate(1)));
            }),
            2 => with_cluster(&problem, |cluster| cluster.limits.clear()),
            _ => Problem { kept: Arc::default(), ..problem.clone() },
        };
        if answer(&problem) {
            assert!(answer(&looser), "{problem:#?}");
        }
    });
}

#[test]
fn an_emptier_start_adds_nothing() {
    each_problem(29, cases(2_000), |_, problem| {
        let emptier = Problem { start: problem.kept.clone(), ..problem.clone() };
        if answer(&emptier) {
            assert!(answer(&problem), "{problem:#?}");
        }
    });
}

#[test]
fn reachable_configurations_are_closed_under_deletion() {
    each_problem(31, cases(1_000), |_, problem| {
        for alternative in &problem.goal.any {
            let whole = problem.with_goal(Goal::all(alternative.clone()));
            if answer(&whole) {
                for (atom, _) in alternative.iter() {
                    assert!(answer(&problem.with_goal(Goal::atom(atom))), "{problem:#?}");
                }
            }
        }
    });
}

#[test]
fn both_semantics_agree_where_neither_affinity_nor_overcommitment_is_involved() {
    let mut rng = Rng::new(37);
    for _ in 0..cases(500) {
        let kube = problem(&mut rng, Shape { spread: false, ..Shape::small(Semantics::KubeScheduler) });
        let simple = with_cluster(&Problem { start: Arc::default(), kept: Arc::default(), ..kube }, |cluster| {
            // In the paper nodes do not change, and nothing is counted differently while it is being deleted.
            cluster.nodes.ids().for_each(|node| cluster.nodes[node].keep_what_passes());
            cluster.limits.clear();
            let pods: Vec<PodId> = cluster.pods.ids().collect();
            pods.into_iter().for_each(|pod| {
                edit(&mut cluster.pods[pod], |spec| {
                    spec.affinity.clear();
                    spec.anti_affinity.clear();
                    spec.quota.clear();
                });
            });
        });
        let paper = Arc::new(Model::new(simple.model.facts(), Semantics::Paper));
        let paper = Problem { model: paper, ..simple.clone() };
        assert_eq!(exhaustive(&simple, 100_000), exhaustive(&paper, 100_000));
        assert_eq!(answer(&simple), answer(&paper), "{simple:#?}");
    }
}
