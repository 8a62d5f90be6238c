//! Random small clusters: cores hold the rule up and are minimal; every edit is listed as an escape exactly if it is one.

use std::collections::BTreeSet;

use podreach_core::id::IdVec;
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem};
use podreach_core::{Goal, PodId, Problem, Semantics};

use super::core::core;
use super::edit::edits;
use super::escape;
use super::fact::{Fact, only};
use crate::audit::memory::{Forgetful, Means};
use crate::audit::policy::world::World;
use crate::engine::{Budget, Decider};

const BUDGET: Budget<'static> = Budget { interrupt: &|| None, memory: usize::MAX, threads: 1, progress: None };
const MEANS: Means<'static> = Means { budget: &BUDGET, memory: &Forgetful };

fn world(problem: &Problem) -> World {
    let selected: IdVec<PodId, Vec<usize>> = problem.model.pods().map(|_| vec![0]).collect();
    World { problem: problem.with_goal(Goal::default()), diagnostics: Vec::new(), selected }
}

/// Problems whose goal is never reached.
fn each_boundary(seed: u64, count: usize, test: &mut dyn FnMut(usize, &Problem)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = if case % 3 == 0 { Shape::small(semantics) } else { Shape::unbounded(semantics) };
        let problem = problem(&mut rng, shape);
        if exhaustive(&problem, 50_000) == Some(false) {
            test(case, &problem);
        }
    }
}

/// Whether the goal is reachable with these facts alone.
fn reachable(problem: &Problem, facts: &[Fact], pods: &BTreeSet<PodId>) -> bool {
    let cluster = only(&problem.model, facts, pods);
    let changed = world(problem).with_cluster(cluster).problem.with_goal(problem.goal.clone());
    let decided = Decider::new(&changed).decide(&problem.goal, &Budget::unlimited()).checked.answer();
    let bounded = problem.model.cluster().symbols.symbol("slot").is_some();
    if !bounded {
        assert_eq!(decided, exhaustive(&changed, 100_000), "the engines agree with exhaustive search");
    }
    decided.expect("small problems are decided")
}

#[test]
fn cores_hold_the_rule_up_and_no_member_can_go() {
    let mut sizes = [0_usize; 4];
    each_boundary(21, cases(900), &mut |case, problem| {
        let world = world(problem);
        let (core, sure) = core(&world, &problem.goal, &Budget::unlimited());
        assert!(sure, "case {case}");
        let asked: BTreeSet<PodId> =
            problem.goal.any.iter().flat_map(|goal| goal.iter().map(|((pod, _), _)| pod)).collect();
        let pods = world.relevant(asked);
        assert!(!reachable(problem, &core, &pods), "case {case}: {core:?} does not hold {problem:#?}");
        for member in &core {
            let fewer: Vec<Fact> = core.iter().filter(|fact| *fact != member).cloned().collect();
            assert!(reachable(problem, &fewer, &pods), "case {case}: {member:?} is not needed in {core:?}");
        }
        sizes[core.len().min(3)] += 1;
    });
    assert!(sizes.iter().all(|&count| count > 2), "cores of all sizes appear: {sizes:?}");
}

#[test]
fn an_edit_is_an_escape_exactly_if_the_rule_is_broken_after_it() {
    let (mut escapes, mut harmless) = (0, 0);
    each_boundary(22, cases(400), &mut |case, problem| {
        let world = world(problem);
        for edit in edits(&world, &problem.goal) {
            let found = escape(&world, &problem.goal, &edit, MEANS);
            let mut cluster = problem.model.cluster().clone();
            edit.apply(&mut cluster);
            let edited = world.with_cluster(cluster).problem.with_goal(problem.goal.clone());
            let Some(truth) = exhaustive(&edited, 3_000) else { continue };
            assert_eq!(found.is_some(), truth, "case {case}: {edit:?} of {problem:#?}");
            *(if truth { &mut escapes } else { &mut harmless }) += 1;
        }
    });
    assert!(escapes > 50 && harmless > 500, "{escapes} {harmless}");
}

#[test]
fn an_edit_does_the_same_to_nodes_that_are_alike() {
    let mut twins = 0;
    each_boundary(23, cases(6_000), &mut |case, problem| {
        let world = world(problem);
        for edit in edits(&world, &problem.goal) {
            let here = escape(&world, &problem.goal, &edit, MEANS).is_some();
            for there in edit.elsewhere() {
                twins += 1;
                let there = escape(&world, &problem.goal, &there, MEANS).is_some();
                assert_eq!(here, there, "case {case}: {edit:?} of {problem:#?}");
            }
        }
    });
    assert!(twins > 20, "{twins}");
}
