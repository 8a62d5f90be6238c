//! Random small clusters: cores hold the rule up and are minimal; every edit is listed as an escape exactly if it is one. For rules of what
//! can never be, and for rules of what is possible.

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::cluster::Node;
use podreach_core::id::IdVec;
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, reachable as configurations};
use podreach_core::{Configuration, Goal, Id, Model, NodeId, PodId, Problem, Semantics};

use super::core::core;
use super::edit::edits;
use super::fact::{Fact, only};
use super::support::{Ground, Support};
use super::{escape, loss};
use crate::audit::changed::Changes;
use crate::audit::item::Status;
use crate::audit::memory::{Means, NoCache};
use crate::audit::policy::packing::Want;
use crate::audit::policy::world::{World, nodes_named};
use crate::audit::policy::{NodeSelection, PodSelection, Property, property};
use crate::engine::{Budget, Decider};
use crate::lower::{Declared, Kind, Lowered, Origin, Selection};
use crate::read::{SourceId, Span};

const BUDGET: Budget<'static> =
    Budget { interrupt: &|| None, memory: usize::MAX, threads: 1, progress: None, cache: None };
const MEANS: Means<'static> = Means { budget: &BUDGET, memory: &NoCache };

fn world(problem: &Problem) -> World {
    let selected: IdVec<PodId, Vec<usize>> = problem.model.pods().map(|_| vec![0]).collect();
    World {
        problem: problem.with_goal(Goal::default()),
        diagnostics: Vec::new(),
        selected,
        changes: Changes::default(),
    }
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
            let mut cluster = problem.model.facts();
            edit.change.apply(&mut cluster);
            let edited = world.with_cluster(cluster).problem.with_goal(problem.goal.clone());
            let Some(truth) = exhaustive(&edited, 3_000) else { continue };
            assert_eq!(found.is_some(), truth, "case {case}: {edit:?} of {problem:#?}");
            *(if truth { &mut escapes } else { &mut harmless }) += 1;
        }
    });
    assert!(escapes > 50 && harmless > 500, "{escapes} {harmless}");
}

/// The problem in which the last node differs from the first in nothing but its name: chance makes few such nodes.
fn twinned(problem: &Problem) -> Problem {
    let mut cluster = problem.model.facts();
    let (first, last) = (NodeId::from_index(0), NodeId::from_index(cluster.nodes.len() - 1));
    let Node { name, labels, .. } = cluster.nodes[last].clone();
    let host = cluster.symbols.intern("kubernetes.io/hostname");
    let mut twin = Node { name, ..cluster.nodes[first].clone() };
    labels.value(host).into_iter().for_each(|value| twin.labels.set(host, value));
    cluster.nodes[last] = twin;
    let model = Arc::new(Model::new(cluster, problem.model.semantics()));
    let start = (*problem.start).clone().with_unsettled(model.nodes());
    Problem { kept: problem.kept.clone(), ..Problem::new(model, start, problem.goal.clone()) }
}

#[test]
fn an_edit_does_the_same_to_nodes_that_are_alike() {
    let mut twins = 0;
    each_boundary(23, cases(6_000), &mut |case, problem| {
        let problem = &twinned(problem);
        if exhaustive(problem, 50_000) != Some(false) {
            return;
        }
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
    assert!(twins > 100, "{twins}");
}

fn origin(kind: Kind) -> Origin {
    let span = Span { source: SourceId(0), start: 0, end: 0 };
    Origin::plain(kind, "", std::collections::BTreeMap::new(), span)
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
fn possibility(problem: &Problem, pod: PodId, count: u64) -> (Property, World) {
    let m = &problem.model;
    let name = Some(vec![m.pod_name(pod).to_owned()]);
    let pods = PodSelection { namespaces: None, names: name, kinds: None, labels: Selection::everything() };
    let selected = m.pods().map(|other| if other == pod { vec![0] } else { Vec::new() }).collect();
    let property = Property::Possible { pods, count, spread_over: None, nodes: NodeSelection::everything() };
    (
        property,
        World {
            problem: problem.with_goal(Goal::default()),
            diagnostics: Vec::new(),
            selected,
            changes: Changes::default(),
        },
    )
}

/// Whether all that a rule wants is there in some configuration that can be reached; `None` if there are too many of these.
fn truth(ground: &Ground<'_>) -> Option<bool> {
    let wants = ground.wants();
    let mut all = configurations(&ground.world.problem, 20_000)?.into_iter();
    Some(all.any(|s| wants.iter().all(|want| there(&s, want) >= want.count)))
}

/// How many instances of those that are wanted a configuration has.
fn there(s: &Configuration, want: &Want) -> u64 {
    let used = want.nodes.iter().filter(|&&node| s.count((want.pod, node)) > 0);
    match want.apart {
        Some(_) => used.map(|&node| want.place(node)).collect::<BTreeSet<_>>().len() as u64,
        None => used.map(|&node| s.count((want.pod, node))).sum(),
    }
}

/// What was seen of rules of what is possible: members of cores by their kind, losses that break a rule, and losses that do not.
#[derive(Debug, Default)]
struct Seen {
    facts: [usize; 7],
    losses: usize,
    harmless: usize,
}

/// A rule that holds stands on its core, and breaks with each loss that is listed and with no other.
fn stands(name: &str, lowered: &Lowered, property: &Property, world: &World, seen: &mut Seen) {
    let whole = Ground::new(lowered, property, world.clone());
    let ruling = property::ruling(lowered, property, world, MEANS);
    if ruling.status != Status::Holds || truth(&whole).is_none() {
        return;
    }
    let problem = &world.problem;
    let core = loss::core(&whole, &loss::used(world, &ruling), MEANS).expect("few nodes");
    let m = core.ground.world.model();
    let all = core.ground.facts(&m.pods().collect(), &m.nodes().collect());
    let only = |kept: &[Support]| {
        let lost: Vec<Support> = all.iter().filter(|fact| !kept.contains(fact)).cloned().collect();
        truth(&core.ground.without(&lost)).expect("less has no more configurations")
    };
    assert!(only(&core.facts), "{name}: {:?} is not enough in {problem:#?}", core.facts);
    for member in core.facts.iter().filter(|_| core.sure) {
        let fewer: Vec<Support> = core.facts.iter().filter(|fact| *fact != member).cloned().collect();
        assert!(!only(&fewer), "{name}: {member:?} is not needed in {:?} of {problem:#?}", core.facts);
        seen.facts[kind(member)] += 1;
    }
    let boundary = loss::boundary(lowered, property, world, &ruling, MEANS);
    let listed: BTreeSet<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
    for fact in whole.facts(&whole.pods(), &whole.world.model().nodes().collect()) {
        let (edit, lost) = (fact.lost(whole.world.model()), whole.without(std::slice::from_ref(&fact)));
        let Some(holds) = truth(&lost) else { continue };
        let open = boundary.left_out.as_ref().is_some_and(|text| text.contains(&edit));
        assert!(open || listed.contains(edit.as_str()) != holds, "{name}: {edit} of {property:?} in {problem:#?}");
        *(if holds { &mut seen.harmless } else { &mut seen.losses }) += 1;
    }
}

#[test]
fn a_possibility_stands_on_its_core_and_breaks_with_each_loss_that_is_listed() {
    let (mut rng, mut seen) = (Rng::new(24), Seen::default());
    for case in 0..cases(2_500) {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let (pod, count) = (PodId::from_index(rng.below(problem.model.pods().len())), 1 + rng.below(2) as u64);
        let (property, world) = possibility(&problem, pod, count);
        stands(&format!("case {case}"), &lowered(&problem), &property, &world, &mut seen);
    }
    println!("{seen:?}");
    let Seen { facts, losses, harmless } = seen;
    assert!(facts[0] > 50 && facts[2] > 10 && losses > 100 && harmless > 100, "{facts:?} {losses} {harmless}");
}

#[test]
fn so_does_one_that_asks_for_domains_or_for_some_nodes_or_has_volumes() {
    let (mut rng, mut seen) = (Rng::new(25), Seen::default());
    for case in 0..cases(1_000) {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = Shape::small(semantics);
        let problem = problem(&mut rng, if case % 3 == 0 { shape.with_volumes() } else { shape });
        let (pod, count) = (PodId::from_index(rng.below(problem.model.pods().len())), 1 + rng.below(2) as u64);
        let (mut property, world) = possibility(&problem, pod, count);
        if let Property::Possible { spread_over, nodes, .. } = &mut property {
            let keys = [None, None, Some("topology.kubernetes.io/zone"), Some("rack"), Some("kubernetes.io/hostname")];
            *spread_over = rng.pick(&keys).map(str::to_owned);
            if let Some(asked) = rng.pick(&[None, Some("rack"), Some("!rack"), Some("rack!=1")]) {
                nodes.labels = Selection::parse(asked).expect("a selector");
            }
        }
        stands(&format!("case {case}"), &lowered(&problem), &property, &world, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.facts[0] > 50 && seen.losses > 100 && seen.harmless > 100, "{seen:?}");
}

#[test]
fn so_does_what_can_be_up_again_on_each_node_or_on_some() {
    let (mut rng, mut seen, mut daemons) = (Rng::new(26), Seen::default(), 0);
    for case in 0..cases(1_000) {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let pod = PodId::from_index(rng.below(problem.model.pods().len()));
        let (property, mut world) = possibility(&problem, pod, 1);
        let Property::Possible { pods, .. } = property else { unreachable!("it is one") };
        let mut lowered = lowered(&problem);
        for origin in lowered.origins.pods.values_mut() {
            let (replicas, per_node) = (1 + rng.below(2) as u64, rng.one_in(2));
            origin.declared = Some(Declared { replicas, per_node, rollout: None });
        }
        if rng.one_in(3) {
            world.selected = problem.model.pods().map(|_| vec![0]).collect();
        }
        let before = seen.losses;
        let property = Property::Recoverable { pods };
        stands(&format!("case {case}"), &lowered, &property, &world.emptied(), &mut seen);
        let declared = lowered.origins.pods.get(problem.model.pod_name(pod)).and_then(|origin| origin.declared);
        daemons += if declared.is_some_and(|declared| declared.per_node) { seen.losses - before } else { 0 };
    }
    println!("{seen:?} {daemons}");
    assert!(seen.facts[0] > 50 && seen.losses > 100 && seen.harmless > 100 && daemons > 50, "{seen:?} {daemons}");
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
