//! The answer, its evidence, what is printed and what is counted do not depend on the threads; limits on memory are kept.

use podreach::answer::Sure;
use podreach::engine::{Budget, Decider, Decision, Engine};
use podreach::lower::Options;
use podreach::report::{Answered, Detail, verdict_text};
use podreach_core::testing::{Rng, Shape, cases, problem};
use podreach_core::{Problem, Reason, Semantics, Verdict};

use crate::puzzle::{counter, philosophers, pyramid};

/// Puzzles that take a search of some length, and whether they can be solved.
fn ladder() -> [(Problem, bool); 5] {
    [
        (counter(9, true), true),
        (philosophers(10), true),
        (pyramid(7, 9), true),
        (pyramid(5, 6), false),
        (pyramid(6, 7), false),
    ]
}

/// Everything that is told about a problem.
fn told(problem: &Problem, threads: usize) -> (Decision, String) {
    let decision = Decider::new(problem).decide(&problem.goal, &Budget { threads, ..Budget::unlimited() });
    let sure = Sure::of_model(decision.clone());
    let answered = Answered { options: &Options::default(), decision: &sure, assumptions: &[] };
    let text = verdict_text(&answered, Detail::Verbose);
    (decision, text)
}

fn same_on_any_number_of_threads(problem: &Problem, name: &str) {
    let (decision, text) = told(problem, 1);
    for threads in [2, 4] {
        let (other, printed) = told(problem, threads);
        assert_eq!(decision.checked.verdict(), other.checked.verdict(), "{name} on {threads} threads");
        assert_eq!((decision.engine, &decision.efforts), (other.engine, &other.efforts), "{name} on {threads} threads");
        assert_eq!(text, printed, "{name} on {threads} threads");
    }
}

#[test]
fn random_problems_have_one_answer_on_any_number_of_threads() {
    let mut rng = Rng::new(71);
    for case in 0..cases(4_000) / 4 {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let shape = Shape { semantics, nodes: 4, pods: 5, room: Some(3), spread: case % 4 < 2, volumes: case % 3 == 0 };
        same_on_any_number_of_threads(&problem(&mut rng, shape), &format!("case {case}"));
    }
}

#[test]
fn puzzles_have_one_answer_on_any_number_of_threads() {
    for (at, (problem, _)) in ladder().iter().enumerate() {
        same_on_any_number_of_threads(problem, &format!("puzzle {at}"));
    }
}

#[test]
fn an_engine_that_runs_out_of_memory_leaves_the_rest_to_the_others() {
    let mut retired = 0;
    for (at, (problem, truth)) in ladder().iter().enumerate() {
        for kibibytes in [64, 1024] {
            let budget = Budget { memory: kibibytes << 10, ..Budget::unlimited() };
            let decided = |engines: &'static [Engine]| {
                Decider::new(problem).with_engines(engines).decide(&problem.goal, &budget).checked
            };
            let alone: Vec<_> = Engine::PORTFOLIO.iter().map(|engine| decided(engine.alone())).collect();
            let all = decided(Engine::PORTFOLIO);
            assert!(all.answer().is_none_or(|answer| answer == *truth), "puzzle {at} in {kibibytes} KiB: {all:?}");
            let one = alone.iter().any(|checked| checked.answer().is_some());
            assert!(
                !one || all.answer() == Some(*truth),
                "puzzle {at} in {kibibytes} KiB: one engine alone decides it"
            );
            let full =
                |checked: &&_| matches!(podreach_core::Checked::verdict(checked), Verdict::Unknown(Reason::Memory(_)));
            retired += usize::from(one && alone.iter().any(|checked| full(&checked)));
        }
    }
    assert!(retired > 1, "some engine runs out of memory where another decides: {retired}");
}
