//! The checker and the one that was extracted from its proof give the same answers.
//!
//! `PODREACH_PROVED` names the program; `proofs/test` builds it and sets it. Without it there is nothing to compare with.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use podreach::engine::{Budget, Decider};
use podreach::report::export;
use podreach_core::rule::hard;
use podreach_core::testing::{Rng, Shape, cases, problem, random_configuration, settled};
use podreach_core::{Checker, Configuration, Flaw, Goal, Problem, Proof, Semantics, Trace, Verdict};

/// The extracted program, asked one document at a time.
struct Proved {
    child: Child,
    documents: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Proved {
    fn start() -> Option<Self> {
        let program = std::env::var_os("PODREACH_PROVED")?;
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program of PODREACH_PROVED starts");
        let documents = child.stdin.take().expect("it reads");
        let answers = BufReader::new(child.stdout.take().expect("it writes"));
        Some(Self { child, documents, answers })
    }

    fn ask(&mut self, document: &str) -> String {
        self.documents.write_all(document.as_bytes()).expect("it reads all");
        self.documents.flush().expect("it reads all");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        assert!(!answer.is_empty(), "no answer to\n{document}");
        answer.trim_end().to_owned()
    }
}

impl Drop for Proved {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn shape(case: usize) -> Shape {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = if case.is_multiple_of(5) { Shape::unbounded(semantics) } else { Shape::small(semantics) };
    if case.is_multiple_of(3) { shape.with_volumes() } else { shape }
}

/// The same proof with one thing changed.
fn damaged(rng: &mut Rng, proof: &Proof) -> Proof {
    let mut damaged = proof.clone();
    let groups = damaged.forbidden.len();
    let classes = damaged.classes.len();
    match rng.below(6) {
        0 if groups > 0 => {
            damaged.forbidden.remove(rng.below(groups));
        }
        1 if groups > 0 => {
            let group = &mut damaged.forbidden[rng.below(groups)];
            if let Some(count) = group.values_mut().next() {
                *count += 1;
            }
        }
        2 if groups > 0 => {
            damaged.forbidden[rng.below(groups)].pop_last();
        }
        3 if groups > 0 => {
            damaged.forbidden[rng.below(groups)].insert(rng.below(classes + 1), 1);
        }
        4 if classes > 1 => {
            let moved = damaged.classes[classes - 1].pop();
            damaged.classes[0].extend(moved);
        }
        _ => damaged.forbidden.push([(rng.below(classes + 1), 1 + rng.below(2) as u64)].into_iter().collect()),
    }
    damaged
}

/// Whether both checkers accept a proof, if both can be asked.
fn compare(proved: &mut Proved, problem: &Problem, goal: &Goal, proof: &Proof) -> Option<bool> {
    let mut checker = Checker::new(problem);
    let ours = checker.check(goal, Verdict::Never(proof.clone()), &|| false);
    if !proof.exchanges.is_empty() || matches!(ours, Err(Flaw::MetAtStart)) {
        return None;
    }
    let view = checker.quotient(&proof.weakened).view(goal);
    let document = export::never(&view.problem, &view.problem.meant(&view.goal), &view.renamed(proof));
    let theirs = proved.ask(&document);
    let ours = ours.map_or_else(|flaw| format!("refused: {flaw:?}"), |_| "proved".to_owned());
    assert_eq!(ours.starts_with("proved"), theirs == "proved", "ours: {ours}, theirs: {theirs}, of\n{document}");
    Some(theirs == "proved")
}

#[test]
fn proofs_are_accepted_and_refused_by_both() {
    let Some(mut proved) = Proved::start() else { return };
    let (mut rng, mut accepted, mut refused) = (Rng::new(5), 0, 0);
    for case in 0..cases(1_500) {
        let problem = problem(&mut rng, shape(case));
        let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
        let Verdict::Never(proof) = decision.checked.verdict() else { continue };
        let mut proofs = vec![proof.clone()];
        proofs.extend((0..4).map(|_| damaged(&mut rng, proof)));
        for proof in proofs {
            match compare(&mut proved, &problem, &problem.goal, &proof) {
                Some(true) => accepted += 1,
                Some(false) => refused += 1,
                None => {}
            }
        }
    }
    println!("{accepted} proofs accepted by both checkers, {refused} refused by both");
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}

#[test]
fn traces_are_accepted_and_refused_by_both() {
    let Some(mut proved) = Proved::start() else { return };
    let (mut rng, mut accepted, mut refused) = (Rng::new(6), 0, 0);
    for case in 0..cases(3_000) {
        let problem = settled(&problem(&mut rng, shape(case)));
        let goal = problem.meant(&problem.goal);
        let decision = Decider::new(&problem).decide(&problem.goal, &Budget::unlimited());
        let Verdict::Deployable(trace) = decision.checked.verdict() else { continue };
        for left_out in 0..=trace.len() {
            let steps = trace.iter().enumerate().filter(|&(index, _)| index + 1 != left_out).map(|(_, action)| action);
            let trace: Trace = steps.collect();
            let Some(document) = export::deployable(&problem, &goal, &trace) else { continue };
            // What is meant is plainly there, or not.
            let end = legal_end(&problem, &trace);
            let ours = end.is_some_and(|s| goal.any.iter().any(|alternative| alternative.is_within(&s)));
            assert_eq!(ours, proved.ask(&document) == "proved", "{document}");
            if ours { accepted += 1 } else { refused += 1 }
        }
    }
    println!("{accepted} traces accepted by both checkers, {refused} refused by both");
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}

/// Where a trace ends, if all of its steps are legal.
fn legal_end(problem: &Problem, trace: &Trace) -> Option<Configuration> {
    let mut s = (*problem.start).clone();
    trace.iter().all(|action| problem.step(&mut s, action).is_ok()).then_some(s)
}

#[test]
fn rules_let_in_the_same() {
    let Some(mut proved) = Proved::start() else { return };
    let (mut rng, mut counts) = (Rng::new(8), [0u64; 2]);
    for case in 0..cases(4_000) {
        let problem = settled(&problem(&mut rng, shape(case)));
        let s = random_configuration(&mut rng, &problem.model, 5);
        let problem = Problem { start: s.into(), kept: Configuration::new().into(), ..problem };
        let atoms: Vec<_> = problem.pods().flat_map(|pod| problem.model.nodes().map(move |node| (pod, node))).collect();
        let document = export::rules(&problem, atoms.iter().copied());
        let ours = atoms.iter().map(|&(pod, node)| hard(&problem.model, &*problem.start, pod, node));
        let ours: String = ours.map(|lets_in| if lets_in { '1' } else { '0' }).collect();
        assert_eq!(ours, proved.ask(&document), "{document}");
        counts[0] += ours.matches('0').count() as u64;
        counts[1] += ours.matches('1').count() as u64;
    }
    println!("{} deployments refused by both, {} let in", counts[0], counts[1]);
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}
