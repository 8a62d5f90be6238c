//! An annotated run: every step of a trace with its witnesses and with what was in its way.
//!
//! The steps are replayed, so that each is explained in the configuration in which it happens. Text, pages and drawings are made from
//! the same annotated run, so they agree.

use std::ops::Range;

use podreach_core::cluster::Term;
use podreach_core::id::KeyId;
use podreach_core::rule::{self, Refusal, Rule, pod_affinity};
use podreach_core::{Action, Atom, Configuration, Model, NodeId, Problem, Semantics, Trace};

use crate::words;
use crate::words::reason::{emptiest, reason, wanted};

/// One step of a trace, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotatedStep {
    /// What happens.
    pub action: Action,
    /// Why it is possible or needed; empty when that goes without saying.
    pub notes: Vec<String>,
    /// The residents that a deployment leans on.
    pub witnesses: Vec<Atom>,
    /// What was in the way: of this deployment a step before it, or of the next deployment when something is deleted.
    pub obstacle: Option<Obstacle>,
}

/// A rule that refuses a deployment of the trace, at a time before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The deployment, by the index of its step.
    pub of: usize,
    /// The rule.
    pub rule: Rule,
    /// Why it refuses, as a clause.
    pub reason: String,
}

/// A legal trace, annotated step by step.
pub fn annotate(problem: &Problem, trace: &Trace) -> Vec<AnnotatedStep> {
    excerpt(problem, trace, 0..trace.len())
}

/// The same for some of the steps.
pub(crate) fn excerpt(problem: &Problem, trace: &Trace, steps: Range<usize>) -> Vec<AnnotatedStep> {
    let next = next_deployments(trace, steps.clone());
    let mut s = trace.after(steps.start, &problem.model, &problem.start);
    let mut early: Option<Obstacle> = None;
    let mut run = Vec::new();
    for (index, action) in trace.iter().enumerate().take(steps.end).skip(steps.start) {
        run.push(match action {
            Action::Deploy(pod, node) => {
                AnnotatedStep { obstacle: early.take(), ..deployment(&problem.model, &s, (pod, node)) }
            }
            Action::Add(node) => arrival(&problem.model, action, node, next[index - steps.start]),
            Action::Delete(..)
            | Action::Withdraw(_)
            | Action::Terminate(..)
            | Action::Settle(_)
            | Action::Remove(_) => {
                let next = next[index - steps.start];
                deletion(action, next.and_then(|at| obstacle(problem, &s, trace, at)), next)
            }
        });
        let follows = trace.get(index + 1).filter(|action| matches!(action, Action::Deploy(..)));
        early = follows.and_then(|_| obstacle(problem, &s, trace, index + 1));
        problem.step(&mut s, action).expect("a checked trace is legal");
    }
    run
}

/// For each of some steps, the index of the next deployment.
fn next_deployments(trace: &Trace, steps: Range<usize>) -> Vec<Option<usize>> {
    let mut seen = (steps.end..trace.len()).find(|index| deploys(trace, index));
    let mut next: Vec<Option<usize>> = Vec::with_capacity(steps.len());
    for index in steps.rev() {
        next.push(seen);
        seen = Some(index).filter(|index| deploys(trace, index)).or(seen);
    }
    next.reverse();
    next
}

fn deploys(trace: &Trace, index: &usize) -> bool {
    matches!(trace[*index], Action::Deploy(..))
}

/// What is in the way of the deployment at index `at` as long as nothing changes.
fn obstacle(problem: &Problem, s: &Configuration, trace: &Trace, at: usize) -> Option<Obstacle> {
    let Action::Deploy(pod, node) = trace[at] else { return None };
    let m = &problem.model;
    let (rule, refusal) = rule::first_refusal(m, s, pod, node)?;
    let reason = match refusal {
        // Where deleting helps, it is not a witness that is missing.
        Refusal::NoWitness(term) if matches!(trace[at - 1], Action::Delete(..)) => {
            format!("it must be the first of its kind, with no pod matching {} anywhere", wanted(m, pod, term))
        }
        refusal => reason(m, pod, node, &refusal),
    };
    Some(Obstacle { of: at, rule, reason })
}

fn deletion(action: Action, obstacle: Option<Obstacle>, next: Option<usize>) -> AnnotatedStep {
    let notes = match (&obstacle, next) {
        (Some(Obstacle { of, reason, .. }), _) => vec![format!("in the way of step {}: {reason}", of + 1)],
        (None, Some(_)) => Vec::new(),
        (None, None) => vec!["left over".to_owned()],
    };
    AnnotatedStep { action, notes, witnesses: Vec::new(), obstacle }
}

/// What a new node is like, as far as pods can see; and which step it is for.
fn arrival(m: &Model, action: Action, node: NodeId, next: Option<usize>) -> AnnotatedStep {
    let labels = words::seen_labels(m, node).map(|labels| format!("with {labels}"));
    let needed = next.map(|at| format!("for step {}", at + 1));
    AnnotatedStep { action, notes: labels.into_iter().chain(needed).collect(), witnesses: Vec::new(), obstacle: None }
}

/// What a deployment leans on: its witnesses, and the balance of its spread.
fn deployment(m: &Model, s: &Configuration, atom: Atom) -> AnnotatedStep {
    let asked = |rule| m.asks(atom.0, rule);
    let (mut notes, witnesses) = if asked(Rule::InterPodAffinity) { affinity(m, s, atom) } else { Default::default() };
    let constraints = (0..m.pod(atom.0).spread.len()).filter(|_| asked(Rule::PodTopologySpread));
    notes.extend(constraints.filter_map(|index| balance(m, s, atom, index)));
    AnnotatedStep { action: Action::Deploy(atom.0, atom.1), notes, witnesses, obstacle: None }
}

fn affinity(m: &Model, s: &Configuration, (pod, node): Atom) -> (Vec<String>, Vec<Atom>) {
    let terms = &m.pod(pod).affinity;
    let groups: Vec<&[Term]> = match m.semantics() {
        _ if terms.is_empty() => Vec::new(),
        Semantics::KubeScheduler => vec![terms],
        Semantics::Paper => terms.iter().map(std::slice::from_ref).collect(),
    };
    let (mut notes, mut witnesses) = (Vec::new(), Vec::new());
    for (index, group) in groups.iter().enumerate() {
        let matching = wanted(m, pod, index);
        let mut keys: Vec<KeyId> = group.iter().map(|term| term.key).collect();
        keys.dedup();
        let near: Option<Vec<Atom>> = keys.iter().map(|&key| witness(m, s, group, key, (pod, node))).collect();
        match near {
            Some(mut near) => {
                near.dedup();
                notes.extend(near.iter().map(|&w| format!("near {}, which matches {matching}", words::atom(m, w))));
                witnesses.extend(near);
            }
            None if pod_affinity::matches_itself(m, pod, group) => {
                notes.push(format!("first of its kind: no pod matching {matching} runs yet"));
            }
            None => {}
        }
    }
    (notes, witnesses)
}

/// A resident that matches all terms of a group and is near under `key`.
fn witness(m: &Model, s: &Configuration, group: &[Term], key: KeyId, (_, node): Atom) -> Option<Atom> {
    s.iter()
        .map(|(atom, _)| atom)
        .find(|&(q, at)| m.share(key, at, node) && group.iter().all(|term| m.sees(term.matcher, q, at)))
}

fn balance(m: &Model, s: &Configuration, (pod, node): Atom, index: usize) -> Option<String> {
    let constraint = &m.pod(pod).spread[index];
    m.domain(constraint.key, node)?;
    let (here, least) = rule::spread::balance(m, s, pod, node, index);
    let (place, least) = (words::near(m, constraint.key, node), emptiest(m, pod, index, least));
    Some(format!("spread: {here} {place} against {least} (maxSkew {})", constraint.max_skew))
}
