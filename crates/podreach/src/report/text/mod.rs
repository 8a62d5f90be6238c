//! The verdict for a person: the answer in the first line, the evidence below.

pub(crate) mod matrix;
pub(crate) mod source;
pub(crate) mod trace;
pub(crate) mod why;

use podreach_core::{Configuration, Goal, Problem, Reason, Verdict};

use super::Answered;
use super::explain::{assumption, proof};
use crate::engine::Effort;
use crate::lower::{Instances, Release, Start};
use crate::words;

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The first line alone.
    Quiet,
    /// The evidence, abbreviated where it is long.
    Normal,
    /// All of it.
    Verbose,
}

/// The most pods of a goal that a sentence names.
const NAMES: usize = 4;

/// The text of a verdict, with a line end.
pub fn verdict(answered: &Answered<'_>, detail: Detail) -> String {
    let mut lines = vec![headline(answered)];
    if detail > Detail::Quiet {
        lines.extend(evidence(answered, detail == Detail::Verbose));
        lines.extend(assumption::lines(answered.assumed(), detail == Detail::Verbose));
    }
    if detail == Detail::Verbose {
        lines.extend(work(&answered.decision.efforts));
    }
    lines.join("\n") + "\n"
}

/// The first line: the verdict, the claim, and what it is about.
pub fn headline(answered: &Answered<'_>) -> String {
    let word = match answered.decision.checked.verdict() {
        Verdict::Deployable(_) => "DEPLOYABLE",
        Verdict::Never(_) => "NEVER",
        Verdict::Unknown(_) => "UNKNOWN",
    };
    format!("{word}  {} ({})", claimed(answered), context(answered))
}

/// What the verdict says of the goal.
pub(crate) fn claimed(answered: &Answered<'_>) -> String {
    let problem = answered.problem();
    match answered.decision.checked.verdict() {
        Verdict::Deployable(_) if problem.asked().any.len() == 1 => sentence(problem, problem.asked(), "can"),
        Verdict::Deployable(trace) => claim(problem, &trace.after(trace.len(), &problem.model, &problem.start)),
        Verdict::Never(_) => sentence(problem, problem.asked(), "can never"),
        Verdict::Unknown(_) => format!("whether {}", sentence(problem, problem.asked(), "can")),
    }
}

/// The rules that counted, and what was there at first.
pub(crate) fn context(answered: &Answered<'_>) -> String {
    let (problem, options) = (answered.problem(), answered.options);
    let start = match (options.start, problem.kept.is_empty()) {
        (Start::Current, true) => "from the current state".to_owned(),
        (Start::Empty, true) => "from an empty cluster".to_owned(),
        (Start::Current, false) => format!("from the current state, keeping {}", pods(&problem.kept)),
        (Start::Empty, false) => format!("from a cluster with just {} to keep", pods(&problem.kept)),
    };
    let limit = if options.instances == Instances::Declared { ", within the declared instances" } else { "" };
    // The usual release goes without saying, unless someone asks for it by name.
    let release = match options.release {
        release if release == Release::default() => String::new(),
        release => format!(" of {release}"),
    };
    format!("{}{release}, {start}{limit}", problem.model.semantics().name())
}

fn pods(s: &Configuration) -> String {
    words::number(usize::try_from(s.size()).unwrap_or(usize::MAX), "pod")
}

/// What a run has shown: the alternative of the goal that it reaches.
fn claim(problem: &Problem, reached: &Configuration) -> String {
    let met = problem.goal.any.iter().find(|alternative| problem.is_met(&Goal::all((*alternative).clone()), reached));
    let goal = Goal::all(met.cloned().unwrap_or_default());
    let of = match problem.asked().any.len() {
        all if problem.asked().any.iter().all(|one| one.support() == 1) => {
            let m = &problem.model;
            let nodes = problem.asked().any.iter().flat_map(|one| one.iter().map(|((_, node), _)| node));
            match nodes.filter(|&node| words::is_new(m, node)).count() {
                0 => format!(", one of the {all} nodes asked for"),
                new => format!(", one of the {all} nodes asked for, {new} of them yet to come"),
            }
        }
        all => format!(", one of {all} alternatives"),
    };
    sentence(problem, &goal, "can") + &of
}

/// A goal with its verb: `web can run on edge-1`, `web on edge-1 and db on edge-2 can be present together`.
fn sentence(problem: &Problem, goal: &Goal, can: &str) -> String {
    let m = &problem.model;
    let [alternative] = goal.any.as_slice() else { return any(problem, goal, can) };
    let atoms: Vec<_> = alternative.iter().collect();
    match atoms.as_slice() {
        [] => format!("an empty goal {can} be met"),
        [((pod, node), 1)] => format!("{} {can} run on {}", m.pod_name(*pod), m.node_name(*node)),
        [((pod, node), count)] => {
            format!("{count} instances of {} {can} run on {} together", m.pod_name(*pod), m.node_name(*node))
        }
        atoms => {
            let names = words::first(atoms.iter().map(|&entry| words::counted(m, entry)), NAMES);
            format!("{} {can} be present together", words::all(&names))
        }
    }
}

/// A goal with several alternatives; usually one pod on any of some nodes.
fn any(problem: &Problem, goal: &Goal, can: &str) -> String {
    let m = &problem.model;
    let (verb, one) = if can == "can never" { ("can never", "any") } else { ("can", "one") };
    let firsts: Vec<_> = goal.any.iter().filter_map(|alternative| alternative.iter().next()).collect();
    let single = goal.any.iter().all(|alternative| alternative.size() == 1);
    match firsts.first() {
        Some(((pod, _), _)) if single && firsts.windows(2).all(|w| w[0].0.0 == w[1].0.0) => {
            let nodes = words::first(firsts.iter().map(|((_, node), _)| m.node_name(*node).to_owned()), NAMES);
            format!("{} {verb} run on {one} of {}", m.pod_name(*pod), words::all(&nodes))
        }
        _ => format!("{one} of the {} alternatives of the goal {verb} be reached", goal.any.len()),
    }
}

fn evidence(answered: &Answered<'_>, all: bool) -> Vec<String> {
    let (problem, decision) = (answered.problem(), answered.decision);
    match decision.checked.verdict() {
        Verdict::Deployable(trace) if trace.is_empty() => vec!["  It is so at the start: no step is needed.".into()],
        Verdict::Deployable(trace) => {
            let mut lines = vec![String::new(), format!("How, in {}:", words::number(trace.len(), "step"))];
            lines.extend(trace::lines(problem, trace, all));
            lines
        }
        Verdict::Never(proof) => {
            let mut lines = vec![String::new(), "Why (this holds at the start, and no step can change it):".to_owned()];
            lines.extend(proof::lines(&proof::about(problem, proof), proof, all));
            lines.extend(proof::allowed_for(problem, proof, all));
            lines
        }
        Verdict::Unknown(reason) => unknown(reason, all),
    }
}

/// What the search did, if there was one.
fn work(efforts: &[Effort]) -> Vec<String> {
    let head = if efforts.is_empty() { Vec::new() } else { vec![String::new(), "Work:".to_owned()] };
    head.into_iter()
        .chain(efforts.iter().map(|effort| {
            let counts: Vec<String> = effort.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
            format!("  {:10} {}", effort.part, counts.join(", "))
        }))
        .collect()
}

/// Why a question was not decided; a long list of what is in doubt is cut.
fn unknown(reason: &Reason, all: bool) -> Vec<String> {
    let Reason::Spoiled { verdict, by } = reason else { return vec![String::new(), format!("  {reason}")] };
    let mut lines =
        vec![String::new(), format!("  It would be {verdict}, but that may change with what is not modelled:")];
    lines.extend(
        words::first(by.iter().cloned(), if all { usize::MAX } else { 5 }).iter().map(|by| format!("  - {by}")),
    );
    lines
}
