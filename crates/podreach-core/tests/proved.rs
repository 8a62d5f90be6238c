//! The checker beside the one that was extracted from its proof, on certificates that no engine made: from what exhaustive search does not
//! find, from nothing, and damaged.
//!
//! `podreach/tests/proved` has all other kinds. This one needs the core alone, so that `proofs/mutate` can build it again for every error
//! that it puts into the checker. Without `PODREACH_PROVED` there is nothing to compare with.

#[path = "made/at_most_one.rs"]
mod at_most_one;
#[path = "../../podreach/tests/proved/comparison.rs"]
mod comparison;
#[path = "../../podreach/tests/proved/damage.rs"]
mod damage;
#[path = "made/demands.rs"]
mod demands;
#[path = "made/exchanged.rs"]
mod exchanged;
#[path = "../../podreach/src/report/export/mod.rs"]
#[allow(dead_code, reason = "rules are compared elsewhere")]
mod export;
#[path = "made/groups.rs"]
mod groups;
#[path = "made/kept.rs"]
mod kept;
#[path = "../../podreach/tests/proved/program.rs"]
#[allow(dead_code, reason = "rules are compared elsewhere")]
mod program;

#[path = "made/pools.rs"]
mod pools;
#[path = "../../podreach/tests/made/repetitive.rs"]
mod repetitive;
#[path = "made/starting.rs"]
mod starting;
#[path = "made/witness.rs"]
mod witness;

use std::collections::BTreeMap;

use comparison::Comparison;
use damage::damaged;
use exchanged::exchanged_proof;
use groups::{absent, some_classes};
use podreach_core::demand::{Argument, Inequality, Shortage};
use podreach_core::testing::{
    Rng, Shape, cases, exhaustive, mixed_waiting, problem, random_configuration, reachable, some_terminating,
    some_waiting,
};
use podreach_core::verdict::Group;
use podreach_core::{
    Action, Atom, Checker, Configuration, Goal, NodeId, PodId, Problem, Proof, Quotient, Semantics, Trace, Verdict,
};

fn some_problem(rng: &mut Rng, case: usize) -> Problem {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape::small(semantics);
    let problem = problem(rng, if case.is_multiple_of(3) { shape.with_volumes() } else { shape });
    let problem = if case % 4 == 1 { some_waiting(rng, &problem) } else { problem };
    if case.is_multiple_of(5) { some_terminating(rng, problem) } else { problem }
}

/// A few steps, mostly legal ones.
fn some_run(rng: &mut Rng, problem: &Problem) -> Trace {
    let (mut s, mut steps) = ((*problem.start).clone(), Vec::new());
    for _ in 0..1 + rng.below(6) {
        let pods: Vec<PodId> = problem.pods().collect();
        let nodes: Vec<NodeId> = problem.model.nodes().collect();
        let (pod, node) = (rng.pick(&pods), rng.pick(&nodes));
        let kinds = [
            Action::Deploy(pod, node),
            Action::Deploy(pod, node),
            Action::Settle(node),
            Action::Delete(pod, node),
            Action::Terminate(pod, node),
            Action::Withdraw(pod),
        ];
        let action = rng.pick(&kinds);
        if problem.step(&mut s, action).is_ok() {
            steps.push(action);
        }
    }
    steps.into_iter().collect()
}

#[test]
fn proofs_and_runs_that_no_engine_made() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(20);
    for case in 0..cases(3_000) {
        let problem = some_problem(&mut rng, case);
        // What a proof is about, in its names.
        let asked = Quotient::new(&problem).named(&problem.goal);
        if let Some(reachable) = reachable(&asked, 1_500) {
            let classes = some_classes(&mut rng, &asked);
            let proof = Proof { forbidden: absent(&classes, &reachable), classes, ..Proof::default() };
            let verdict = Verdict::Never(proof);
            both.verdict(&problem, &problem.goal, &verdict);
            for _ in 0..4 {
                both.verdict(&problem, &problem.goal, &damaged(&mut rng, &problem.model, &verdict));
            }
        }
        let run = some_run(&mut rng, &problem);
        // Wherever it leads is what was asked for.
        let mut s = (*problem.start).clone();
        run.iter().for_each(|action| drop(problem.step(&mut s, action)));
        let end = s.iter().filter(|((pod, _), _)| problem.model.shadowed(*pod).is_none()).collect();
        let goal = Goal { any: vec![end] };
        let verdict = Verdict::Deployable(run);
        both.verdict(&problem, &goal, &verdict);
        for _ in 0..2 {
            both.verdict(&problem, &goal, &damaged(&mut rng, &problem.model, &verdict));
        }
    }
    both.end("proofs and runs that no engine made", 500);
}

/// Proofs with exchanges about problems that are made so, and damaged ones.
fn compare_exchanged(seed: u64, what: &str, least: usize, made: impl Fn(&mut Rng, Problem) -> Problem) {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(seed);
    for case in 0..cases(3_000) {
        let problem = repetitive::repetitive(&mut rng, case);
        let problem = made(&mut rng, problem);
        let goal = repetitive::one_of_many(&mut rng, &problem);
        let asked = Quotient::new(&problem).named(&goal);
        let Some(proof) = exchanged_proof(&mut rng, &asked, &goal) else { continue };
        let verdict = Verdict::Never(proof);
        both.verdict(&problem, &goal, &verdict);
        for _ in 0..4 {
            both.verdict(&problem, &goal, &damaged(&mut rng, &problem.model, &verdict));
        }
    }
    both.end(what, least);
}

#[test]
fn proofs_with_exchanges_that_no_engine_made() {
    compare_exchanged(26, "proofs with exchanges that no engine made", 300, |_, problem| problem);
}

#[test]
fn proofs_with_exchanges_about_pods_that_wait() {
    let what = "proofs with exchanges about pods that wait";
    compare_exchanged(36, what, 100, |rng, problem| some_waiting(rng, &problem));
}

/// Starts that differ from node to node of an orbit, of which the most counts.
#[test]
fn proofs_with_exchanges_of_uneven_starts() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(29);
    for case in 0..cases(3_000) {
        let problem = repetitive::repetitive(&mut rng, case);
        let Some(exchanged::Uneven { problem, goal, proofs }) = exchanged::uneven(&mut rng, problem) else { continue };
        proofs.into_iter().for_each(|proof| both.verdict(&problem, &goal, &Verdict::Never(proof)));
    }
    both.end("proofs with exchanges of uneven starts", cases(3_000) / 20);
}

/// Pairs of a pod and the only one that it comes beside, of which there are never two.
#[test]
fn proofs_about_the_witness_itself() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(30);
    for case in 0..cases(3_000) {
        let Some((problem, atoms)) = witness::with_witness(&mut rng, case) else { continue };
        let asked = Quotient::new(&problem).named(&problem.goal);
        let Some(reachable) = reachable(&asked, 1_500) else { continue };
        let classes: Vec<Vec<Atom>> =
            asked.pods().flat_map(|pod| asked.model.nodes().map(move |node| vec![(pod, node)])).collect();
        let mut forbidden = absent(&classes, &reachable);
        // What may well be, and is what is asked for.
        let pair: Group =
            atoms.iter().filter_map(|&atom| Some((classes.iter().position(|c| c[0] == atom)?, 1))).collect();
        forbidden.push(pair);
        both.verdict(&problem, &problem.goal, &Verdict::Never(Proof { classes, forbidden, ..Proof::default() }));
    }
    both.end("proofs about the witness itself", cases(3_000) / 20);
}

/// A witness that an at-most-one constraint keeps out, beside one that is in no group and no such constraint.
#[test]
fn at_most_one_of_two_witnesses() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(32);
    for case in 0..cases(3_000) {
        let Some((problem, proof)) = witness::with_either_witness(&mut rng, case) else { continue };
        both.verdict(&problem, &problem.goal, &Verdict::Never(proof));
    }
    both.end("at-most-one constraints about one of two witnesses", cases(3_000) / 30);
}

#[test]
fn proofs_with_at_most_one_constraints_that_no_engine_made() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut seen) = (Rng::new(31), BTreeMap::new());
    for case in 0..cases(3_000) {
        let problem = some_problem(&mut rng, case);
        let Some(case) = at_most_one::case(&mut rng, problem) else { continue };
        let verdict = Verdict::Never(case.proof.clone());
        both.verdict(&case.problem, &case.goal, &verdict);
        *seen.entry(at_most_one::accepted(&case)).or_insert(0) += 1;
        for _ in 0..3 {
            both.verdict(&case.problem, &case.goal, &damaged(&mut rng, &case.problem.model, &verdict));
        }
    }
    println!("proofs with at-most-one constraints, accepted with them and without: {seen:?}");
    let often = |accepted: [bool; 2]| seen.get(&accepted).is_some_and(|&times: &usize| times >= cases(3_000) / 100);
    assert!(often([true, false]) && often([false, false]), "too few to tell: {seen:?}");
    both.end("proofs with at-most-one constraints that no engine made", cases(3_000) / 20);
}

/// A goal about several pods that stay, and proofs about it: from what no configuration has, of all types or of those, and damaged.
struct KeptCase {
    problem: Problem,
    goal: Goal,
    proofs: Vec<Verdict>,
}

fn kept_case(rng: &mut Rng) -> Option<KeptCase> {
    let problem = kept::several_kept(rng);
    let goal = kept::kept_beside_others(rng, &problem, &reachable(&problem, 1_500)?);
    // What a proof is about, in its names.
    let asked = Quotient::new(&problem).named(&goal);
    let reachable = reachable(&asked, 1_500)?;
    let classes = some_classes(rng, &asked);
    let about_all = Proof { forbidden: absent(&classes, &reachable), classes, ..Proof::default() };
    let about_kept = Proof::of_configurations(&kept::never_joined(&asked, &reachable));
    let mut proofs = [about_all, about_kept].map(Verdict::Never).to_vec();
    proofs.extend([0, 1].map(|which| damaged(rng, &problem.model, &proofs[which])));
    Some(KeptCase { problem, goal, proofs })
}

/// Whether a proof is accepted, as the goal is meant; and whether it would be, were pods that stay taken for pods on their way out.
fn readings(problem: &Problem, goal: &Goal, proof: &Verdict) -> [bool; 2] {
    let accepts = |result: Result<_, _>| result.is_ok();
    let right = accepts(Checker::new(problem).check(goal, proof.clone(), &|| false));
    // Nothing is left to be worked out of what standing goals mean.
    let asked = Quotient::new(problem).named(goal).with_standing_goals();
    let wrong = kept::mistaken(problem, goal);
    let wrong = accepts(Checker::new(&asked).check_plainly(&wrong, proof.clone(), &|| false));
    [right, wrong && !problem.is_met(goal, &*problem.start)]
}

#[test]
fn proofs_about_several_kept_pods() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut seen) = (Rng::new(27), BTreeMap::new());
    for _ in 0..cases(3_000) {
        let Some(KeptCase { problem, goal, proofs }) = kept_case(&mut rng) else { continue };
        for proof in proofs {
            both.verdict(&problem, &goal, &proof);
            if kept::is_about_kept(&problem, &goal) {
                *seen.entry(readings(&problem, &goal, &proof)).or_insert(0) += 1;
            }
        }
    }
    println!("several kept pods, accepted as meant and as mistaken: {seen:?}");
    let often = |reading: [bool; 2]| seen.get(&reading).is_some_and(|&times: &usize| times >= 50);
    // The mistake asks for more than is meant, so whatever is accepted would be then, too.
    assert!([[true, true], [false, true], [false, false]].into_iter().all(often), "too few to tell: {seen:?}");
    assert!(!seen.contains_key(&[true, false]), "what is meant is more than it may be: {seen:?}");
    both.end("proofs about several kept pods", 300);
}

/// The same against exhaustive search, which needs no other checker.
#[test]
fn accepted_proofs_about_kept_pods_hold() {
    let (mut rng, mut held, mut met) = (Rng::new(28), 0, 0);
    for _ in 0..cases(1_000) {
        let Some(KeptCase { problem, goal, proofs }) = kept_case(&mut rng) else { continue };
        let problem = problem.with_goal(goal.clone());
        let Some(truth) = exhaustive(&problem, 3_000).filter(|_| kept::is_about_kept(&problem, &goal)) else {
            continue;
        };
        for proof in proofs {
            let [accepted, mistaken] = readings(&problem, &goal, &proof);
            assert!(!(accepted && truth), "accepted, but met: {proof:?} of {problem:#?}");
            held += usize::from(accepted);
            met += usize::from(mistaken && truth);
        }
    }
    println!("several kept pods: {held} proofs hold, {met} would be accepted of goals that are met");
    assert!(held >= 50 && met >= 50, "too few to tell: {held} {met}");
}

#[test]
fn forged_evidence() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(15);
    for case in 0..cases(6_000) {
        let problem = some_problem(&mut rng, case);
        // Groups from nothing; the first may be what is asked for.
        let asked = problem.goal.any.first().cloned().unwrap_or_default();
        let others = (0..rng.below(4)).map(|_| random_configuration(&mut rng, &problem.model, 2)).collect::<Vec<_>>();
        let groups: Vec<Configuration> =
            Some(asked).into_iter().chain(others).filter(|group| group.size() > 0).collect();
        let forged = Verdict::Never(Proof::of_configurations(&groups));
        both.verdict(&problem, &problem.goal, &forged);
        // A run from nothing.
        let forged = Verdict::Deployable([].into_iter().collect());
        let forged = (0..1 + rng.below(3)).fold(forged, |run, _| damaged(&mut rng, &problem.model, &run));
        both.verdict(&problem, &problem.goal, &forged);
    }
    both.end("forged evidence", 300);
}

#[test]
fn shortages() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(71);
    for case in 0..cases(3_000) {
        let problem = some_problem(&mut rng, case);
        let Some(reachable) = reachable(&problem, 1_000) else { continue };
        let demand = demands::some_demand(&mut rng, &problem);
        let mut groups = demands::absent(&reachable, &demand);
        if rng.one_in(3) && !groups.is_empty() {
            groups.remove(rng.below(groups.len()));
        }
        let proof = Proof::of_configurations(&groups);
        let shortage = Shortage { ruled_out: Goal { any: groups }, proof, argument: Argument::Cover };
        both.shortage(&problem, &demand, &shortage);
    }
    both.end("shortages", 100);
}

/// Sums of what comes to mind, and of what no configuration has one more of.
#[test]
fn sums_of_inequalities() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(72);
    for case in 0..cases(3_000) {
        let problem = some_problem(&mut rng, case);
        let Some(reachable) = reachable(&problem, 1_000) else { continue };
        let demand = demands::some_demand(&mut rng, &problem);
        for round in 0..6 {
            let mut groups = if rng.one_in(3) { Vec::new() } else { demands::absent(&reachable, &demand) };
            if rng.one_in(4) && !groups.is_empty() {
                groups.remove(rng.below(groups.len()));
            }
            let (proof, ruled_out) = (Proof::of_configurations(&groups), Goal { any: groups });
            let argument = if round == 0 {
                let below = |(atom, count)| (Inequality::Below(atom, count), 1);
                let inequalities =
                    ruled_out.any.iter().flat_map(|group| group.iter().map(below).collect::<Vec<_>>()).collect();
                Argument::Sum { worth: vec![1; demand.wants.len()], inequalities }
            } else {
                let worth = demand.wants.iter().map(|_| rng.below(3) as u128).collect();
                let mut inequality = || (demands::some_inequality(&mut rng, &problem, &demand, &ruled_out), 1);
                let inequalities = (0..round).map(|_| inequality()).collect();
                Argument::Sum { worth, inequalities }
            };
            both.shortage(&problem, &demand, &Shortage { ruled_out, proof, argument });
        }
    }
    both.end("sums of inequalities", 500);
}

/// Sums of one inequality, or of one on each node, that leave room for a little more or less than is asked for.
#[test]
fn each_inequality_by_itself() {
    for kind in [demands::Kind::Capacity, demands::Kind::Quota, demands::Kind::Limit, demands::Kind::Few] {
        let Some(mut both) = Comparison::start() else { return };
        let mut rng = Rng::new(73);
        for case in 0..cases(3_000) {
            let problem = some_problem(&mut rng, case);
            let pods: Vec<PodId> = problem.model.pods().collect();
            let pod = rng.pick(&pods);
            let (demand, argument) = demands::some_sum(&mut rng, &problem, kind, pod);
            let shortage = Shortage { ruled_out: Goal::default(), proof: Proof::default(), argument };
            both.shortage(&problem, &demand, &shortage);
        }
        both.end(&format!("sums of inequalities, {kind:?}"), 50);
    }
}

/// A small problem in which pods wait for a node, and are counted by quotas and limits while they do.
fn with_waiting(rng: &mut Rng, case: usize) -> Problem {
    let problem = mixed_waiting(rng, case);
    if rng.one_in(2) { problem.with_standing_goals() } else { problem }
}

/// Whether some group of a proof counts pods that wait, beside others.
fn counts_waiting(problem: &Problem, proof: &Proof) -> bool {
    let waits = |class: &usize| proof.classes[*class].iter().any(|&(pod, _)| problem.model.bound(pod).is_some());
    proof.forbidden.iter().any(|group| group.len() > 1 && group.keys().any(waits))
}

/// What no configuration has of pods that are bound and of pods that wait, about a goal that it rules out or any other.
#[test]
fn proofs_about_pods_that_wait() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut counted) = (Rng::new(33), 0);
    for case in 0..cases(3_000) {
        let problem = with_waiting(&mut rng, case);
        let asked = Quotient::new(&problem).named(&problem.goal);
        let Some(reachable) = reachable(&asked, 1_500) else { continue };
        let classes = some_classes(&mut rng, &asked);
        let proof = Proof { forbidden: absent(&classes, &reachable), classes, ..Proof::default() };
        // Without what is said of pods that wait, a proof that bindings consume them is none.
        let waits = |class: usize| proof.classes[class].iter().all(|&(pod, _)| problem.model.bound(pod).is_some());
        let silent = proof.forbidden.iter().filter(|group| !group.keys().any(|&class| waits(class)));
        let silent = Proof { forbidden: silent.cloned().collect(), ..proof.clone() };
        let goal = some_group(&mut rng, &problem, &proof).filter(|_| !rng.one_in(4)).unwrap_or(problem.goal.clone());
        let accepts =
            |proof: &Proof| Checker::new(&problem).check(&goal, Verdict::Never(proof.clone()), &|| false).is_ok();
        counted += usize::from(counts_waiting(&asked, &proof) && accepts(&proof) && !accepts(&silent));
        let verdict = Verdict::Never(proof);
        both.verdict(&problem, &goal, &verdict);
        both.verdict(&problem, &goal, &Verdict::Never(silent));
        for _ in 0..4 {
            both.verdict(&problem, &goal, &damaged(&mut rng, &problem.model, &verdict));
        }
    }
    println!("pods that wait: {counted} proofs lean on how many do");
    assert!(counted >= cases(3_000) / 100, "too few lean on how many wait: {counted}");
    both.end("proofs about pods that wait", cases(3_000) / 20);
}

/// Pods as a group of a proof forbids them, none of which waits or is being deleted.
fn some_group(rng: &mut Rng, problem: &Problem, proof: &Proof) -> Option<Goal> {
    let m = &problem.model;
    let group = &proof.forbidden[rng.below(proof.forbidden.len().max(1)).min(proof.forbidden.len().checked_sub(1)?)];
    let atoms = group.iter().map(|(&class, &count)| (rng.pick(&proof.classes[class]), count));
    let atoms: Configuration = atoms.collect();
    let may_be_asked = |pod: PodId| m.shadowed(pod).is_none() && m.bound(pod).is_none();
    let is_plain = atoms.iter().all(|((pod, _), _)| may_be_asked(pod));
    is_plain.then_some(Goal { any: vec![atoms] })
}

/// Steps by which pods are bound and withdrawn, one too many among them.
#[test]
fn runs_of_pods_that_wait() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut bound) = (Rng::new(34), 0);
    for case in 0..cases(3_000) {
        let problem = with_waiting(&mut rng, case);
        let m = &problem.model;
        let waiting: Vec<PodId> = m.cluster().waiting.keys().copied().collect();
        let nodes: Vec<NodeId> = m.nodes().collect();
        let steps = 4 + rng.below(8);
        let step = |rng: &mut Rng| {
            let (pod, node) = (rng.pick(&waiting), rng.pick(&nodes));
            rng.pick(&[
                Action::Deploy(pod, node),
                Action::Deploy(pod, node),
                Action::Delete(pod, node),
                Action::Withdraw(pod),
            ])
        };
        let (mut s, mut legal, mut refused) = ((*problem.start).clone(), Vec::new(), None);
        for action in (0..steps).map(|_| step(&mut rng)).collect::<Vec<_>>() {
            match problem.step(&mut s, action) {
                Ok(()) => legal.push(action),
                Err(_) => refused = refused.or(Some((legal.len(), action))),
            }
        }
        bound += usize::from(legal.iter().any(|action| matches!(action, Action::Deploy(..))));
        let goal = Goal { any: vec![s.iter().filter(|((pod, _), _)| m.shadowed(*pod).is_none()).collect()] };
        both.verdict(&problem, &goal, &Verdict::Deployable(legal.iter().copied().collect()));
        let Some((at, action)) = refused else { continue };
        let mut forged = legal;
        forged.insert(at, action);
        both.verdict(
            &problem,
            &Goal { any: vec![Configuration::new()] },
            &Verdict::Deployable(forged.into_iter().collect()),
        );
    }
    assert!(bound >= cases(3_000) / 20, "too few runs bind anything: {bound}");
    both.end("runs of pods that wait", cases(3_000) / 10);
}

/// A quota or declared instances, about pods that wait: they bound those that are bound and those that wait together.
#[test]
fn sums_about_pods_that_wait() {
    for kind in [demands::Kind::Quota, demands::Kind::Limit, demands::Kind::Few] {
        let Some(mut both) = Comparison::start() else { return };
        let mut rng = Rng::new(74);
        for case in 0..cases(3_000) {
            let problem = with_waiting(&mut rng, case);
            let waiting: Vec<PodId> = problem.model.cluster().waiting.keys().copied().collect();
            let pod = rng.pick(&waiting);
            let (demand, argument) = demands::some_sum(&mut rng, &problem, kind, pod);
            let shortage = Shortage { ruled_out: Goal::default(), proof: Proof::default(), argument };
            both.shortage(&problem, &demand, &shortage);
        }
        both.end(&format!("sums about pods that wait, {kind:?}"), cases(3_000) / 100);
    }
}
