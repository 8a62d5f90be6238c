//! A trace as numbered steps: what each deployment leans on, and what each deletion clears the way for.
//!
//! The steps are replayed, so that each is explained in the configuration in which it happens.

use podreach_core::cluster::Term;
use podreach_core::id::KeyId;
use podreach_core::rule::{self, Refusal, Rule, pod_affinity};
use podreach_core::{Action, Atom, Configuration, Model, Problem, Semantics, Trace};

use super::reason::{emptiest, reason, wanted};
use super::words;

/// Some equal steps in a row.
struct Steps {
    /// The number of the first, from 1.
    first: usize,
    /// How many there are.
    count: usize,
    action: Action,
    /// Why they are possible or needed; empty when that goes without saying.
    notes: Vec<String>,
}

/// The most steps, each with its notes, that are shown unless all are asked for.
const MOST: usize = 24;

/// The lines of a trace.
pub(crate) fn lines(problem: &Problem, trace: &Trace, all: bool) -> Vec<String> {
    let steps = steps(problem, trace);
    let hidden = if all { 0..0 } else { MOST * 2 / 3..steps.len().saturating_sub(MOST / 3) };
    let mut lines = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if !hidden.contains(&index) {
            lines.extend(step.lines(&problem.model));
        } else if index == hidden.start {
            let more = steps[hidden.clone()].iter().map(|step| step.count).sum();
            lines.push(format!("     … {} (-v shows all)", words::number(more, "more step")));
        }
    }
    lines
}

impl Steps {
    fn lines(&self, m: &Model) -> Vec<String> {
        let (verb, pod, node) = match self.action {
            Action::Deploy(pod, node) => ("deploy", pod, node),
            Action::Delete(pod, node) => ("delete", pod, node),
        };
        let number = match self.count {
            1 => format!("{}.", self.first),
            count => format!("{}-{}.", self.first, self.first + count - 1),
        };
        let times = if self.count == 1 { String::new() } else { format!("{} × ", self.count) };
        let mut lines = vec![format!("{number:>5} {verb} {times}{}", words::atom(m, (pod, node)))];
        lines.extend(self.notes.iter().flat_map(|note| words::wrapped(note, 13)));
        lines
    }
}

/// The steps of a trace, equal ones in a row together; equal deletions share the note of the first.
fn steps(problem: &Problem, trace: &Trace) -> Vec<Steps> {
    let next = next_deployments(trace);
    let mut s = (*problem.start).clone();
    let mut steps: Vec<Steps> = Vec::new();
    for (index, &action) in trace.0.iter().enumerate() {
        let repeats = steps.last().is_some_and(|last| last.action == action);
        let notes = match (action, next[index]) {
            (Action::Deploy(pod, node), _) => deployment(&problem.model, &s, (pod, node)),
            (Action::Delete(..), _) if repeats => Vec::new(),
            (Action::Delete(..), Some(at)) => deletion(problem, &s, trace, at).into_iter().collect(),
            (Action::Delete(..), None) => vec!["left over".to_owned()],
        };
        let deletes = matches!(action, Action::Delete(..));
        match steps.last_mut().filter(|last| repeats && (deletes || last.notes == notes)) {
            Some(last) => last.count += 1,
            None => steps.push(Steps { first: index + 1, count: 1, action, notes }),
        }
        problem.step(&mut s, action).expect("a checked trace is legal");
    }
    steps
}

/// For each step, the index of the next deployment.
fn next_deployments(trace: &Trace) -> Vec<Option<usize>> {
    let mut next = vec![None; trace.0.len()];
    let mut seen = None;
    for (index, action) in trace.0.iter().enumerate().rev() {
        next[index] = seen;
        if matches!(action, Action::Deploy(..)) {
            seen = Some(index);
        }
    }
    next
}

/// What stands in the way of the deployment at index `at` as long as nothing more is deleted.
fn deletion(problem: &Problem, s: &Configuration, trace: &Trace, at: usize) -> Option<String> {
    let Action::Deploy(pod, node) = trace.0[at] else { return None };
    let m = &problem.model;
    let (_, refusal) = rule::first_refusal(m, s, pod, node)?;
    let why = match refusal {
        Refusal::NoWitness(term) => {
            format!("it must be the first of its kind, with no pod matching {} anywhere", wanted(m, pod, term))
        }
        refusal => reason(m, pod, node, &refusal),
    };
    Some(format!("in the way of step {}: {why}", at + 1))
}

/// What a deployment leans on: its witnesses, and the balance of its spread.
fn deployment(m: &Model, s: &Configuration, atom: Atom) -> Vec<String> {
    let asked = |rule| !m.pod(atom.0).exempt.contains(&rule);
    let near = if asked(Rule::InterPodAffinity) { affinity(m, s, atom) } else { Vec::new() };
    let constraints = (0..m.pod(atom.0).spread.len()).filter(|_| asked(Rule::PodTopologySpread));
    near.into_iter().chain(constraints.filter_map(|index| balance(m, s, atom, index))).collect()
}

fn affinity(m: &Model, s: &Configuration, (pod, node): Atom) -> Vec<String> {
    let terms = &m.pod(pod).affinity;
    let groups: Vec<&[Term]> = match m.semantics() {
        _ if terms.is_empty() => return Vec::new(),
        Semantics::KubeScheduler => vec![terms],
        Semantics::Paper => terms.iter().map(std::slice::from_ref).collect(),
    };
    let notes = groups.iter().enumerate().flat_map(|(index, group)| {
        let matching = wanted(m, pod, index);
        let mut keys: Vec<KeyId> = group.iter().map(|term| term.key).collect();
        keys.dedup();
        let near: Option<Vec<Atom>> = keys.iter().map(|&key| witness(m, s, group, key, (pod, node))).collect();
        match near {
            Some(mut near) => {
                near.dedup();
                near.iter().map(|&w| format!("near {}, which matches {matching}", words::atom(m, w))).collect()
            }
            None if pod_affinity::matches_itself(m, pod, group) => {
                vec![format!("first of its kind: no pod matching {matching} runs yet")]
            }
            None => Vec::new(),
        }
    });
    notes.collect()
}

/// A resident that matches all terms of a group and is near under `key`.
fn witness(m: &Model, s: &Configuration, group: &[Term], key: KeyId, (_, node): Atom) -> Option<Atom> {
    let serves = |&(q, at): &Atom| m.share(key, at, node) && group.iter().all(|term| m.sees(term.matcher, q, at));
    s.iter().map(|(atom, _)| atom).find(serves)
}

fn balance(m: &Model, s: &Configuration, (pod, node): Atom, index: usize) -> Option<String> {
    let constraint = &m.pod(pod).spread[index];
    m.domain(constraint.key, node)?;
    let (here, least) = rule::spread::balance(m, s, pod, node, index);
    let (place, least) = (words::near(m, constraint.key, node), emptiest(m, pod, index, least));
    Some(format!("spread: {here} {place} against {least} (maxSkew {})", constraint.max_skew))
}
