//! Pods that wait for a node, against exhaustive search: whatever proof is accepted about bound, terminating and waiting pods is true, and
//! a proof that no more are bound than waited is accepted.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::testing::{Rng, cases, mixed_waiting, reachable, successors};
use podreach_core::{
    Action, Atom, Checker, Configuration, Flaw, Goal, Illegal, NodeId, PodId, Problem, Proof, Trace, Verdict,
};

/// All atoms, those of waiting pods included.
fn atoms(problem: &Problem) -> Vec<Atom> {
    let m = &problem.model;
    m.every_pod().flat_map(|pod| m.places(pod).map(move |node| (pod, node))).collect()
}

fn kind(problem: &Problem, (pod, _): Atom) -> usize {
    let m = &problem.model;
    match (m.bound(pod), m.consumed(m.shadowed(pod).unwrap_or(pod)), m.shadowed(pod)) {
        (Some(_), ..) => 0,
        (_, Some(_), Some(_)) => 1,
        (_, Some(_), None) => 2,
        (_, None, _) => 3,
    }
}

/// The groups of one and of two atoms, and of two and three of one, that no configuration has.
fn never_there(atoms: &[Atom], all: &[Configuration]) -> Vec<BTreeMap<usize, u64>> {
    let mut groups = Vec::<BTreeMap<usize, u64>>::new();
    let pairs = (0..atoms.len()).flat_map(|a| (a + 1..atoms.len()).map(move |b| BTreeMap::from([(a, 1), (b, 1)])));
    let several = (0..atoms.len()).flat_map(|a| (1..=3).map(move |count| BTreeMap::from([(a, count)])));
    let more = (0..atoms.len())
        .flat_map(|a| (0..atoms.len()).filter(move |&b| a != b).map(move |b| BTreeMap::from([(a, 2), (b, 1)])));
    for group in several.chain(pairs).chain(more) {
        let has = |s: &Configuration| group.iter().all(|(&class, &count)| s.count(atoms[class]) >= count);
        let smaller = |known: &BTreeMap<usize, u64>| {
            known.iter().all(|(class, count)| group.get(class).is_some_and(|have| have >= count))
        };
        if !groups.iter().any(smaller) && !all.iter().any(has) {
            groups.push(group);
        }
    }
    groups
}

#[test]
fn accepted_proofs_about_waiting_pods_are_true() {
    let (mut rng, mut accepted, mut refused, mut about) = (Rng::new(401), 0, 0, [0; 4]);
    for case in 0..cases(3_000) {
        let problem = mixed_waiting(&mut rng, case);
        let problem = Problem { standing: true, ..problem };
        let Some(all) = reachable(&problem, 4_000) else { continue };
        let atoms = atoms(&problem);
        let mut groups = never_there(&atoms, &all);
        if groups.is_empty() {
            continue;
        }
        // An honest proof; one that lacks some groups; and one that claims what is not so.
        match case % 3 {
            0 => {}
            1 => groups.retain(|_| !rng.one_in(4)),
            _ => {
                let forged =
                    BTreeMap::from([(rng.below(atoms.len()), 1), (rng.below(atoms.len()), 1 + rng.below(2) as u64)]);
                groups.push(forged);
            }
        }
        let Some(goal) = groups.last() else { continue };
        let goal: Configuration = goal.iter().map(|(&class, &count)| (atoms[class], count)).collect();
        let goal = Goal { any: vec![goal] };
        let proof = Proof {
            classes: atoms.iter().map(|&atom| vec![atom]).collect(),
            forbidden: groups.clone(),
            ..Proof::default()
        };
        match Checker::new(&problem).check_plainly(&goal, Verdict::Never(proof), &|| false) {
            Ok(_) => {
                for group in &groups {
                    let has = |s: &&Configuration| group.iter().all(|(&class, &count)| s.count(atoms[class]) >= count);
                    assert_eq!(all.iter().find(has), None, "case {case}: {group:?} of {atoms:?} in {problem:#?}");
                    group.keys().for_each(|&class| about[kind(&problem, atoms[class])] += 1);
                }
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{accepted} accepted, {refused} refused, about {about:?}");
    assert!(accepted > cases(3_000) / 10 && refused > cases(3_000) / 10, "{accepted} {refused}");
    assert!(about.iter().all(|&count| count > 100), "{about:?}");
}

#[test]
fn no_more_are_bound_than_wait_and_the_proof_needs_those_that_wait() {
    let (mut rng, mut proved, mut refused) = (Rng::new(403), 0, 0);
    for case in 0..cases(1_000) {
        let problem = mixed_waiting(&mut rng, case);
        let m = problem.model.clone();
        for (&pod, waiting) in &m.cluster().waiting {
            let unbound = m.consumed(pod).expect("it waits");
            let shadow = m.shadow(pod);
            let places = m.nodes().map(|node| (pod, node)).filter(|&atom| problem.is_possible(atom));
            let dying = m.nodes().filter_map(|node| Some((shadow?, node))).filter(|&atom| problem.is_possible(atom));
            let all: Vec<Atom> = places.clone().chain(dying).collect();
            if all.is_empty() || waiting.count == 0 {
                continue;
            }
            // Of bound and waiting pods together there are never more than waited.
            let mut groups = vec![BTreeMap::new()];
            for class in 0..=all.len() {
                let more = |group: &BTreeMap<usize, u64>| {
                    let left = waiting.count + 1 - group.values().sum::<u64>();
                    let group = group.clone();
                    (0..=left).map(move |count| {
                        let mut group = group.clone();
                        if count > 0 {
                            group.insert(class, count);
                        }
                        group
                    })
                };
                groups = groups.iter().flat_map(more).collect();
            }
            groups.retain(|group| group.values().sum::<u64>() == waiting.count + 1);
            let (node, count) = (all[0].1, waiting.count + 1);
            let goal = Goal { any: vec![[((pod, node), count)].into_iter().collect()] };
            let problem = Problem { standing: true, ..problem.with_goal(goal.clone()) };
            let classes: Vec<Vec<Atom>> = all.iter().copied().chain([unbound]).map(|atom| vec![atom]).collect();
            let proof = Proof { classes, forbidden: groups.clone(), ..Proof::default() };
            let check = |proof| Checker::new(&problem).check_plainly(&goal, Verdict::Never(proof), &|| false);
            assert!(check(proof.clone()).is_ok(), "case {case}: {:?} of {problem:#?}", check(proof));
            proved += 1;
            // Without a word about those that wait, more could be bound, unless something else is in the way.
            let mut less = proof.clone();
            less.forbidden.retain(|group| !group.contains_key(&all.len()));
            if let Err(flaw) = check(less) {
                assert!(matches!(flaw, Flaw::Escapes { .. }), "{flaw:?}");
                refused += 1;
            }
            // One less than waited is too strong a claim.
            let mut forged = proof.clone();
            forged.forbidden.push(BTreeMap::from([(all.len(), waiting.count)]));
            assert_eq!(check(forged).err(), Some(Flaw::StartForbidden(groups.len())));
        }
    }
    assert!(proved > cases(1_000) / 4 && refused > proved / 10, "{proved} {refused}");
}

#[test]
fn a_binding_moves_what_is_charged_and_traces_are_followed_back_and_forth() {
    let (mut rng, mut bound, mut withdrawn) = (Rng::new(407), 0, 0);
    for case in 0..cases(1_000) {
        let problem = mixed_waiting(&mut rng, case);
        let m = &problem.model;
        let (mut s, mut steps) = ((*problem.start).clone(), Vec::new());
        for _ in 0..12 {
            let mut next: Vec<(Action, Configuration)> = successors(&problem, &s).collect();
            // What is gone cannot be bound.
            let stays = |(action, _): &(Action, Configuration)| matches!(action, Action::Deploy(..));
            if next.iter().any(stays) && !rng.one_in(3) {
                next.retain(stays);
            }
            let Some((action, after)) = (!next.is_empty()).then(|| next[rng.below(next.len())].clone()) else { break };
            let charged = |s: &Configuration, quota| {
                let weight = |pod| podreach_core::rule::quota::weight(m, pod, quota);
                s.iter().map(|((pod, _), count)| weight(pod) * u128::from(count)).sum::<u128>()
            };
            match action {
                Action::Deploy(pod, _) if m.consumed(pod).is_some() => {
                    let moved = m.cluster().quotas.ids().all(|quota| charged(&s, quota) == charged(&after, quota));
                    assert!(moved, "case {case}: {action:?} in {s:?}");
                    bound += 1;
                }
                Action::Withdraw(_) => withdrawn += 1,
                _ => {}
            }
            steps.push(action);
            s = after;
        }
        let trace: Trace = steps.iter().copied().collect();
        assert_eq!(trace.after(steps.len(), m, &problem.start), s, "case {case}");
        let goal = Goal { any: vec![s.iter().filter(|((_, node), _)| *node != NodeId::NOWHERE).collect()] };
        let mut checker = Checker::new(&problem);
        for _ in 0..2 {
            // The checker's own configuration is what it was, so that the second time is like the first.
            checker.check_plainly(&goal, Verdict::Deployable(trace.clone()), &|| false).expect("a run is one");
        }
    }
    assert!(bound > cases(1_000) / 8 && withdrawn > cases(1_000) / 8, "{bound} {withdrawn}");
}

#[test]
fn only_what_waits_is_bound_or_withdrawn() {
    let (mut rng, mut none_left) = (Rng::new(409), 0);
    for case in 0..cases(500) {
        let mut problem = mixed_waiting(&mut rng, case);
        let m = problem.model.clone();
        let start = Arc::make_mut(&mut problem.start);
        m.cluster().waiting.keys().filter_map(|&pod| m.consumed(pod)).for_each(|unbound| start.set(unbound, 0));
        for &pod in m.cluster().waiting.keys() {
            let mut s = (*problem.start).clone();
            assert_eq!(problem.step(&mut s, Action::Withdraw(pod)), Err(Illegal::NothingToDelete));
            let (unbound, nowhere) = m.consumed(pod).expect("it has such a type");
            assert!(problem.step(&mut s, Action::Delete(unbound, nowhere)).is_err());
            assert!(problem.step(&mut s, Action::Deploy(unbound, nowhere)).is_err());
            for node in m.nodes().filter(|&node| m.placeable(pod, node)) {
                assert_eq!(problem.step(&mut s, Action::Deploy(pod, node)), Err(Illegal::NoneWaits));
                none_left += 1;
            }
        }
        let other = m.pods().find(|pod| !m.cluster().waiting.contains_key(pod)).unwrap_or(PodId::MIN);
        let mut s = (*problem.start).clone();
        assert_eq!(problem.step(&mut s, Action::Withdraw(other)), Err(Illegal::NothingToDelete));
    }
    assert!(none_left > cases(500) / 4, "{none_left}");
}

/// Classes name pods that wait nowhere, and others on nodes.
#[test]
fn classes_of_waiting_pods_have_no_node() {
    let (mut rng, mut tried) = (Rng::new(419), 0);
    for case in 0..cases(200) {
        let problem = mixed_waiting(&mut rng, case);
        let Some(unbound) = problem.model.cluster().unbound.values().next().copied() else { continue };
        let node = problem.model.nodes().next().expect("there is a node");
        let pod = PodId::MIN;
        for class in [(unbound, node), (pod, NodeId::NOWHERE)] {
            let proof = Proof { classes: vec![vec![class]], ..Proof::default() };
            let goal = Goal { any: vec![[((pod, node), 9)].into_iter().collect()] };
            let checked = Checker::new(&problem).check_plainly(&goal, Verdict::Never(proof), &|| false);
            assert_eq!(checked.err(), Some(Flaw::BadClass(0)));
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn the_same_question_of_other_facts_keeps_what_waits() {
    let (mut rng, mut kept) = (Rng::new(421), 0);
    for case in 0..cases(300) {
        let problem = mixed_waiting(&mut rng, case);
        let mut fewer = problem.clone();
        let waits: Vec<Atom> =
            problem.start.iter().map(|(atom, _)| atom).filter(|atom| atom.1 == NodeId::NOWHERE).collect();
        for &atom in waits.iter().take(1) {
            Arc::make_mut(&mut fewer.start).remove(atom);
        }
        let model = Arc::new(podreach_core::Model::new(fewer.model.facts(), fewer.model.semantics()));
        let again = fewer.with_model(model);
        assert_eq!(again.start, fewer.start, "case {case}");
        kept += usize::from(!waits.is_empty());
    }
    assert!(kept > 50, "{kept}");
}
