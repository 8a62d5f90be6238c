//! Every engine agrees with exhaustive search, and the checker accepts its evidence.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use podreach::engine::{Budget, Decider, Engine, Stop};
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, some_terminating, some_waiting};
use podreach_core::{Problem, Semantics, Verdict};

use crate::puzzle::{counter, philosophers, pyramid};

/// Random problems with the truth about them, for as many cases as asked.
fn each_problem(seed: u64, count: usize, mut test: impl FnMut(usize, &Problem, bool)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
        let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
        let problem = problem(&mut rng, shape);
        let problem = if case % 7 < 2 { some_waiting(&mut rng, &problem) } else { problem };
        let problem = if case % 4 == 0 { some_terminating(&mut rng, problem) } else { problem };
        let truth = exhaustive(&problem, 100_000).expect("small problems have few configurations");
        test(case, &problem, truth);
    }
}

#[test]
fn decisions_equal_exhaustive_search() {
    let mut engines = BTreeMap::<_, [usize; 2]>::new();
    each_problem(7, cases(8_000), |case, problem, truth| {
        let decision = Decider::new(problem).decide(&problem.goal, &Budget::unlimited());
        let verdict = decision.checked.verdict();
        assert!(
            !matches!(verdict, Verdict::Unknown(_)),
            "case {case}: {verdict:?} by {} of {problem:#?}",
            decision.engine
        );
        assert_eq!(
            decision.checked.answer(),
            Some(truth),
            "case {case} by {}: {verdict:?} of {problem:#?}",
            decision.engine
        );
        engines.entry(decision.engine).or_default()[usize::from(truth)] += 1;
    });
    println!("never and deployable by engine: {engines:?}");
    assert!(engines["inductive"].iter().all(|&count| count > 0), "both answers need a search: {engines:?}");
    assert!(engines["one-witness"].iter().all(|&count| count > 0), "both answers need a witness: {engines:?}");
}

#[test]
fn each_engine_alone_equals_exhaustive_search() {
    each_problem(11, cases(2_000), |case, problem, truth| {
        for engine in Engine::ALL {
            let mut decider = Decider::new(problem).with_engines(engine.alone());
            let decision = decider.decide(&problem.goal, &Budget::unlimited());
            let (answer, name) = (decision.checked.answer(), engine.name());
            let rejected =
                matches!(decision.checked.verdict(), Verdict::Unknown(podreach_core::Reason::Rejected { .. }));
            assert!(!rejected, "case {case}, {name}: {:?} of {problem:#?}", decision.checked.verdict());
            assert!(answer.is_none_or(|yes| yes == truth), "case {case}: {name} lies about {problem:#?}");
            // Forward search proves nothing, but it must find every run in which no pod that was there for a while is caught dying, and
            // none that waited is bound; the others decide everything.
            let dies = problem.model.every_pod().len() > problem.model.pods().len();
            assert!(
                answer.is_some() || (engine == Engine::Forward && (!truth || dies)),
                "case {case}: {name} gives up on {problem:#?}"
            );
        }
    });
}

#[test]
fn little_memory_costs_answers_and_never_their_truth() {
    let (mut decided, mut given_up) = ([0; 2], 0);
    each_problem(13, cases(2_000), |case, problem, truth| {
        let budget = Budget { memory: 1 << (case % 16), ..Budget::unlimited() };
        let decision = Decider::new(problem).decide(&problem.goal, &budget);
        match decision.checked.verdict() {
            Verdict::Unknown(podreach_core::Reason::Memory(_)) => given_up += 1,
            verdict => {
                assert_eq!(decision.checked.answer(), Some(truth), "case {case}: {verdict:?} of {problem:#?}");
                decided[usize::from(truth)] += 1;
            }
        }
    });
    assert!(given_up > 0 && decided.iter().all(|&count| count > 0), "{decided:?}, {given_up} given up");
}

/// What an engine says when it may ask so many times whether to stop.
fn answer_within(patience: u64, engine: Engine, problem: &Problem) -> Option<bool> {
    let asked = AtomicU64::new(0);
    let interrupt = || (asked.fetch_add(1, Ordering::Relaxed) >= patience).then_some(Stop::Interrupted);
    let budget = Budget { interrupt: &interrupt, ..Budget::unlimited() };
    let decision = Decider::new(problem).with_engines(engine.alone()).decide(&problem.goal, &budget);
    let verdict = decision.checked.verdict();
    let rejected = matches!(verdict, Verdict::Unknown(podreach_core::Reason::Rejected { .. }));
    assert!(!rejected, "{}: {verdict:?} of {problem:#?}", engine.name());
    decision.checked.answer()
}

#[test]
fn engines_agree_where_exhaustive_search_is_out_of_reach() {
    let mut rng = Rng::new(13);
    let mut given = [0; 2];
    for case in 0..cases(4_000) / 4 {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = Shape { semantics, nodes: 4, pods: 6, room: Some(4), spread: case % 4 < 2, volumes: case % 3 == 0 };
        let problem = problem(&mut rng, shape);
        let answers = Engine::ALL.map(|engine| answer_within(2_000, engine, &problem));
        let mut known = answers.iter().flatten();
        let Some(&first) = known.next() else { continue };
        assert!(known.all(|&answer| answer == first), "case {case}: {answers:?} about {problem:#?}");
        given[usize::from(first)] += 1;
    }
    println!("never and deployable: {given:?}");
    assert!(given.iter().all(|&count| count > cases(4_000) / 100), "both answers are given: {given:?}");
}

#[test]
fn engines_agree_on_puzzles() {
    let puzzles = [
        (pyramid(3, 4), false),
        (pyramid(4, 5), false),
        (pyramid(4, 6), true),
        (counter(3, true), true),
        (counter(5, true), true),
        (counter(4, false), false),
    ];
    for (at, (problem, truth)) in puzzles.iter().enumerate() {
        for engine in Engine::ALL {
            let answer = answer_within(u64::MAX, engine, problem);
            let silent = engine == Engine::Forward && !truth && answer.is_none();
            assert!(silent || answer == Some(*truth), "puzzle {at}: {} says {answer:?}", engine.name());
        }
    }
}

#[test]
fn long_runs_are_found_and_stand() {
    let problem = counter(12, true);
    let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
    let Verdict::Deployable(trace) = decision.checked.verdict() else { panic!("{:?}", decision.checked) };
    assert!(trace.len() > 12 * 4_000, "a counter of 12 bits counts to 4,095: {} steps", trace.len());
}

/// How many steps a puzzle takes, and how many configurations were looked at for them.
fn steps_and_configurations(problem: &Problem) -> (u64, u64) {
    let decision = Decider::new(problem).decide(&problem.goal, &Budget::unlimited());
    let Verdict::Deployable(trace) = decision.checked.verdict() else { panic!("{:?}", decision.checked) };
    let forward = decision.efforts.iter().find(|effort| effort.part == "forward").expect("it takes a search");
    let looked_at = forward.counts.iter().find(|(what, _)| *what == "configurations").expect("they are counted");
    (trace.len() as u64, looked_at.1)
}

#[test]
fn a_run_that_little_is_in_the_way_of_costs_its_own_steps() {
    let puzzles = [philosophers(12), philosophers(48), pyramid(10, 12), pyramid(16, 18), pyramid(20, 22)];
    for (at, problem) in puzzles.iter().enumerate() {
        let (steps, configurations) = steps_and_configurations(problem);
        assert!(configurations <= steps, "puzzle {at}: {configurations} configurations for {steps} steps");
    }
}
