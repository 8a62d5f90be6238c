//! Random small clusters: cores hold the rule up and are minimal; every edit is listed as an escape exactly if it is one. For rules of what
//! can never be, and for rules of what is possible.

use std::collections::BTreeSet;

use podreach_core::id::IdVec;
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, reachable as configurations};
use podreach_core::{Goal, Id, PodId, Problem, Semantics};

use super::core::core;
use super::edit::edits;
use super::escape;
use super::fact::{Fact, only};
use super::loss;
use super::support::{Ground, Support};
use crate::audit::item::Status;
use crate::audit::memory::{Forgetful, Means};
use crate::audit::policy::world::{World, nodes_named};
use crate::audit::policy::{Claim, NodeSelection, PodSelection, claim};
use crate::engine::{Budget, Decider};
use crate::lower::{Kind, Lowered, Origin, Selection};
use crate::read::{SourceId, Span};

const BUDGET: Budget<'static> =
    Budget { interrupt: &|| None, memory: usize::MAX, threads: 1, progress: None, known: None };
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

fn origin(kind: Kind) -> Origin {
    let span = Span { source: SourceId(0), start: 0, end: 0 };
    let (namespace, labels) = (String::new(), std::collections::BTreeMap::new());
    Origin { kind, namespace, labels, span, declared: None, outdated: false, exceptions: Vec::new() }
}

/// What the input says of a random cluster.
fn lowered(problem: &Problem) -> Lowered {
    let m = &problem.model;
    let mut lowered = Lowered::default();
    for pod in m.pods() {
        lowered.origins.pods.insert(m.pod_name(pod).to_owned(), origin(Kind::Deployment));
    }
    for (node, name) in nodes_named(m) {
        let labels = m.node(node).labels.iter().map(|(key, value)| (m.str(key).to_owned(), m.str(value).to_owned()));
        lowered.origins.nodes.insert(name.to_owned(), Origin { labels: labels.collect(), ..origin(Kind::Deployment) });
    }
    lowered
}

/// A rule that so many of a pod can be there, and the world it is about.
fn possibility(problem: &Problem, pod: PodId, count: u64) -> (Claim, World) {
    let m = &problem.model;
    let name = Some(vec![m.pod_name(pod).to_owned()]);
    let pods = PodSelection { namespaces: None, names: name, kinds: None, labels: Selection::everything() };
    let selected = m.pods().map(|other| if other == pod { vec![0] } else { Vec::new() }).collect();
    let claim = Claim::Possible { pods, count, spread_over: None, nodes: NodeSelection::everything() };
    (claim, World { problem: problem.with_goal(Goal::default()), diagnostics: Vec::new(), selected })
}

/// Whether so many of the selected pod are there in some configuration that can be reached; `None` if there are too many of these.
fn truth(ground: &Ground<'_>, count: u64) -> Option<bool> {
    let pods = ground.world.pods(0);
    let there =
        |s: &podreach_core::Configuration| -> u64 { pods.iter().flat_map(|&pod| s.of(pod)).map(|of| of.1).sum() };
    Some(configurations(&ground.world.problem, 20_000)?.iter().any(|s| there(s) >= count))
}

#[test]
fn a_possibility_stands_on_its_core_and_breaks_with_each_loss_that_is_listed() {
    let (mut rng, mut facts, mut losses, mut harmless) = (Rng::new(24), [0_usize; 7], 0, 0);
    for case in 0..cases(500) {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let (pod, count) = (PodId::from_index(rng.below(problem.model.pods().len())), 1 + rng.below(2) as u64);
        let (claim, world) = possibility(&problem, pod, count);
        let lowered = lowered(&problem);
        let whole = Ground::new(&lowered, &claim, world.clone());
        let ruling = claim::ruling(&lowered, &claim, &world, MEANS);
        if ruling.status != Status::Holds || truth(&whole, count).is_none() {
            continue;
        }
        let core = loss::core(&whole, &loss::used(&world, &ruling), MEANS).expect("few nodes");
        let m = core.ground.world.model();
        let all = core.ground.facts(&m.pods().collect(), &m.nodes().collect());
        let only = |kept: &[Support]| {
            let lost: Vec<Support> = all.iter().filter(|fact| !kept.contains(fact)).cloned().collect();
            truth(&core.ground.without(&lost), count).expect("less has no more configurations")
        };
        assert!(only(&core.facts), "case {case}: {:?} is not enough in {problem:#?}", core.facts);
        for member in core.facts.iter().filter(|_| core.sure) {
            let fewer: Vec<Support> = core.facts.iter().filter(|fact| *fact != member).cloned().collect();
            assert!(!only(&fewer), "case {case}: {member:?} is not needed in {:?} of {problem:#?}", core.facts);
            facts[kind(member)] += 1;
        }
        let boundary = loss::boundary(&lowered, &claim, &world, &ruling, MEANS);
        let listed: BTreeSet<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
        for fact in whole.facts(&whole.pods(), &whole.world.model().nodes().collect()) {
            let (edit, lost) = (fact.lost(whole.world.model()), whole.without(std::slice::from_ref(&fact)));
            let Some(holds) = truth(&lost, count) else { continue };
            let open = boundary.left_out.as_ref().is_some_and(|text| text.contains(&edit));
            assert!(open || listed.contains(edit.as_str()) != holds, "case {case}: {edit} of {problem:#?}");
            *(if holds { &mut harmless } else { &mut losses }) += 1;
        }
    }
    println!("{facts:?} {losses} {harmless}");
    assert!(facts[0] > 50 && facts[2] > 10 && losses > 100 && harmless > 100, "{facts:?} {losses} {harmless}");
}

fn kind(fact: &Support) -> usize {
    match fact {
        Support::Node(_) => 0,
        Support::Label(..) => 1,
        Support::Room(..) => 2,
        Support::Toleration(..) => 3,
        Support::PodLabel(..) => 4,
        Support::NamespaceLabel(..) => 5,
        Support::Other(_) => 6,
    }
}
