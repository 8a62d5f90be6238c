//! Every engine agrees with exhaustive search, and the checker accepts its evidence.

use podreach::engine::{Budget, decide};
use podreach_core::testing::{Rng, Shape, exhaustive, problem};
use podreach_core::{Semantics, Verdict};

fn cases(default: usize) -> usize {
    std::env::var("PODREACH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn decisions_equal_exhaustive_search() {
    let mut rng = Rng::new(7);
    let mut answers = [0; 3];
    let mut engines = std::collections::BTreeMap::<_, [usize; 2]>::new();
    for case in 0..cases(3_000) {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
        let problem = problem(&mut rng, shape);
        let Some(truth) = exhaustive(&problem, 20_000) else {
            answers[2] += 1;
            continue;
        };
        let decision = decide(&problem, &Budget::unlimited());
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
        answers[usize::from(truth)] += 1;
        engines.entry(decision.engine).or_default()[usize::from(truth)] += 1;
    }
    assert!(answers[0] > 0 && answers[1] > 0, "both answers occur: {answers:?}");
    println!("never {}, deployable {}, too large {}", answers[0], answers[1], answers[2]);
    println!("{engines:?}");
}
