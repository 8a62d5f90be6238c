//! Problems with several pods that stay, each of which would be another type if it were being deleted; goals that ask for them beside
//! others; and what such a goal would be for someone who takes the pods that stay for pods on their way out.

use std::sync::Arc;

use podreach_core::cluster::{Cluster, Quota};
use podreach_core::testing::{Rng, Shape, problem, random_configuration, some_terminating};
use podreach_core::{Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Semantics};

/// A small problem without a goal. By the paper no pod has a shadow, so it is by the rules of the real scheduler.
pub(crate) fn several_kept(rng: &mut Rng) -> Problem {
    let semantics = Semantics::KubeScheduler;
    let mut cluster = problem(rng, Shape { nodes: 4, ..Shape::small(semantics) }).model.facts();
    charge(rng, &mut cluster);
    // Where no other pod of its type can come, none is ever on its way out there.
    let closed = rng.one_in(2).then_some(NodeId::from_index(0));
    closed.into_iter().for_each(|node| cluster.nodes[node].unschedulable = true);
    let model = Arc::new(Model::new(cluster, semantics));
    let mut kept = Configuration::new();
    for _ in 0..2 + rng.below(2) {
        let (pod, node) = some_atom(rng, &model);
        kept.add((pod, closed.filter(|_| !rng.one_in(4)).unwrap_or(node)));
    }
    let start = kept.plus(&random_configuration(rng, &model, 2));
    let problem = Problem { kept: Arc::new(kept), ..Problem::new(model, start, Goal::default()) };
    if rng.one_in(5) { some_terminating(rng, problem) } else { problem }
}

/// Makes a quota that charges most types, since those have shadows.
fn charge(rng: &mut Rng, cluster: &mut Cluster) {
    let hard = 2 + rng.below(8) as u128;
    let quota = Quota { name: "default/more".into(), resource: "requests.slot".into(), hard, until_gone: false };
    let quota = cluster.quotas.push(quota);
    for pod in cluster.pods.ids() {
        if !rng.one_in(5) {
            Arc::make_mut(&mut cluster.pods[pod].spec).quota.insert(quota, 1);
        }
    }
}

fn some_atom(rng: &mut Rng, m: &Model) -> Atom {
    (PodId::from_index(rng.below(m.pods().len())), NodeId::from_index(rng.below(m.nodes().len())))
}

/// Most of the pods that stay, beside others: what comes to mind; or what can be reached, several at once and not at first, if possible.
pub(crate) fn kept_beside_others(rng: &mut Rng, problem: &Problem, reachable: &[Configuration]) -> Goal {
    let at_first = others(problem, &problem.start);
    let all: Vec<Configuration> = reachable.iter().map(|s| others(problem, s)).collect();
    let is_new = |others: &&Configuration| others.size() > 1 && !others.is_within(&at_first);
    let new: Vec<Configuration> = all.iter().filter(is_new).cloned().collect();
    let all = if new.is_empty() { all } else { new };
    let mut alternative = || {
        let kept: Configuration = problem.kept.iter().filter(|_| !rng.one_in(5)).collect();
        if rng.one_in(2) {
            return kept.plus(&all[rng.below(all.len())]);
        }
        let size = [1, 2, 2, 2, 3][rng.below(5)];
        let others: Configuration = (0..size).map(|_| (some_atom(rng, &problem.model), 1)).collect();
        kept.plus(&others)
    };
    let first = alternative();
    let second = (first.size() % 4 == 0).then(alternative);
    Goal { any: Some(first).into_iter().chain(second).collect() }
}

/// What runs besides the pods that stay, whether or not it is being deleted.
fn others(problem: &Problem, s: &Configuration) -> Configuration {
    let m = &problem.model;
    s.minus(&problem.kept).iter().map(|((pod, node), count)| ((m.shadowed(pod).unwrap_or(pod), node), count)).collect()
}

/// What is never there of the types that stay: one of them on its way out, or one more than stay.
pub(crate) fn never_joined(problem: &Problem, reachable: &[Configuration]) -> Vec<Configuration> {
    let kept = problem.kept.iter().flat_map(|((pod, node), count)| {
        let shadow = problem.model.shadow(pod).map(|shadow| ((shadow, node), 1));
        shadow.into_iter().chain([((pod, node), count + 1)])
    });
    let is_there = |&(atom, count): &(Atom, u64)| reachable.iter().any(|s| s.count(atom) >= count);
    kept.filter(|group| !is_there(group)).map(|group| [group].into_iter().collect()).collect()
}

/// Whether some alternative asks for several pods that stay and have a shadow, beside several others.
pub(crate) fn is_about_kept(problem: &Problem, goal: &Goal) -> bool {
    goal.any.iter().any(|alternative| {
        let stays = |&((pod, node), count): &(Atom, u64)| {
            problem.model.shadow(pod).map_or(0, |_| problem.kept.count((pod, node)).min(count))
        };
        let kept: u64 = alternative.iter().map(|entry| stays(&entry)).sum();
        kept > 1 && alternative.minus(&problem.kept).size() > 1
    })
}

/// The goal as it must not be taken: of several pods each is on its way out, even those that stay.
pub(crate) fn mistaken(problem: &Problem, goal: &Goal) -> Goal {
    let on_its_way = |alternative: &Configuration| {
        let several = alternative.minus(&problem.kept).size() > 1;
        let shadow = |pod| problem.model.shadow(pod).filter(|_| several).unwrap_or(pod);
        alternative.iter().map(|((pod, node), count)| ((shadow(pod), node), count)).collect()
    };
    Goal { any: goal.any.iter().map(on_its_way).collect() }
}
