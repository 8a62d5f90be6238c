//! Random questions as the tests of engines ask them: certificates as each engine makes them, and damaged ones.

use podreach::engine::{Budget, Decider, Engine};
use podreach_core::testing::{Rng, Shape, cases, problem, said_as_at_most_one, some_terminating, some_waiting};
use podreach_core::{Atom, Goal, Id, PodId, Problem, Proof, Semantics, Verdict, Weakening};

use crate::comparison::Comparison;
use crate::damage::damaged;
use crate::repetitive::{one_of_many, repetitive};

pub(crate) fn shape(case: usize) -> Shape {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = if case.is_multiple_of(5) { Shape::unbounded(semantics) } else { Shape::small(semantics) };
    if case.is_multiple_of(3) { shape.with_volumes() } else { shape }
}

fn some_problem(rng: &mut Rng, case: usize) -> Problem {
    let problem = problem(rng, shape(case));
    let problem = if case % 6 == 1 { some_waiting(rng, &problem) } else { problem };
    if case.is_multiple_of(7) { some_terminating(rng, problem) } else { problem }
}

fn compare(both: &mut Comparison, rng: &mut Rng, problem: &Problem, goal: &Goal, verdict: &Verdict) {
    both.verdict(problem, goal, verdict);
    for _ in 0..3 {
        both.verdict(problem, goal, &damaged(rng, &problem.model, verdict));
    }
}

#[test]
fn evidence_of_engines() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(5);
    for case in 0..cases(4_000) {
        let problem = some_problem(&mut rng, case);
        // All together, or each alone.
        let engine = Engine::ALL.get(case % (2 * Engine::ALL.len()));
        let decider = Decider::new(&problem);
        let mut decider = match engine {
            Some(engine) => decider.with_engines(engine.alone()),
            None => decider,
        };
        let decision = decider.decide(&problem.goal, &Budget::unlimited());
        let verdict = decision.checked.verdict();
        assert!(engine.is_some() || decision.checked.answer().is_some(), "{verdict:?}");
        compare(&mut both, &mut rng, &problem, &problem.goal, verdict);
    }
    both.end("evidence of engines", 1_000);
}

/// Pairs of what engines find, said as at-most-one constraints, as they do themselves where there are thousands.
#[test]
fn evidence_said_as_constraints() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut at_most_one) = (Rng::new(37), 0);
    for case in 0..cases(4_000) {
        let problem = some_problem(&mut rng, case);
        let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
        let Verdict::Never(proof) = decision.checked.verdict() else { continue };
        let count = |class: &Vec<Atom>| class.iter().map(|&atom| problem.kept.count(atom)).sum::<u64>();
        let kept: Vec<u64> = proof.classes.iter().map(count).collect();
        let proof = said_as_at_most_one(&mut rng, proof, &kept);
        if proof.at_most_one.iter().any(|constraint| constraint.len() > 1) {
            at_most_one += 1;
            compare(&mut both, &mut rng, &problem, &problem.goal, &Verdict::Never(proof));
        }
    }
    println!("evidence said as at-most-one constraints: {at_most_one} proofs");
    assert!(at_most_one > 50, "{at_most_one} proofs with constraints");
    both.end("evidence said as at-most-one constraints", 50);
}

#[test]
fn evidence_with_exchanges() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(25);
    let mut exchanged = 0;
    for case in 0..cases(2_500) {
        let problem = repetitive(&mut rng, case);
        let goal = one_of_many(&mut rng, &problem);
        let decision = Decider::new(&problem).decide(&goal, &Budget::unlimited());
        let verdict = decision.checked.verdict();
        if matches!(verdict, Verdict::Never(proof) if !proof.exchanges.is_empty()) {
            exchanged += 1;
            compare(&mut both, &mut rng, &problem, &goal, verdict);
        }
    }
    assert!(exchanged > 100, "{exchanged} proofs with exchanges");
    both.end("evidence with exchanges", 100);
}

#[test]
fn evidence_about_weaker_clusters() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(35);
    for case in 0..cases(2_500) {
        let problem = some_problem(&mut rng, case);
        let pod = PodId::from_index(rng.below(problem.model.pods().len()));
        let some = [Weakening::Unruled(pod), Weakening::Unscheduled(pod), Weakening::Unseen, Weakening::Uneven];
        let mut weakened: Vec<Weakening> = some.into_iter().filter(|_| rng.one_in(3)).collect();
        weakened.sort();
        let weak = problem.weakened(&weakened);
        let decision = Decider::new(&weak).decide(&problem.goal, &Budget::unlimited());
        let Verdict::Never(proof) = decision.checked.verdict() else { continue };
        let verdict = Verdict::Never(Proof { weakened, ..proof.clone() });
        compare(&mut both, &mut rng, &problem, &problem.goal, &verdict);
    }
    both.end("evidence about weaker clusters", 300);
}
