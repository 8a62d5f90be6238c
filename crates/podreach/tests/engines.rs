//! Every engine agrees with exhaustive search, and the checker accepts its evidence.

use std::collections::BTreeMap;

use podreach::engine::{Budget, Decider, Engine};
use podreach_core::testing::{Rng, Shape, exhaustive, problem};
use podreach_core::{Problem, Semantics, Verdict};

fn cases(default: usize) -> usize {
    std::env::var("PODREACH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Random problems with the truth about them, for as many cases as asked.
fn each_problem(seed: u64, count: usize, mut test: impl FnMut(usize, &Problem, bool)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
        let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
        let problem = problem(&mut rng, shape);
        let truth = exhaustive(&problem, 100_000).expect("small problems have few configurations");
        test(case, &problem, truth);
    }
}

#[test]
fn decisions_equal_exhaustive_search() {
    let mut engines = BTreeMap::<_, [usize; 2]>::new();
    each_problem(7, cases(4_000), |case, problem, truth| {
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
            // Forward search proves nothing, but it must find every run; the others decide everything.
            assert!(
                answer.is_some() || (engine == Engine::Forward && !truth),
                "case {case}: {name} gives up on {problem:#?}"
            );
        }
    });
}
