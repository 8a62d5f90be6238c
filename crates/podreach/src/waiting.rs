//! Pods that wait for a node: each was admitted once, and is bound at most once.
//!
//! The rules let as many of them be present as there are, and a configuration does not say which of them were bound before. So a trace
//! is followed once more:
//!
//! ```text
//! a waiting pod is bound      one of those that are left; nothing is asked of it
//! a waiting pod is deleted    one of those that are left
//! another pod is made         quotas and limits count those that are left, besides what runs
//! ```
//! A trace that never binds some of them, and needs what they take, deletes them at its beginning: no later time is better. The rules
//! count no waiting pods, so that what they never allow is never so.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::cluster::{Barred, Limit};
use podreach_core::rule::{Rule, quota};
use podreach_core::{Action, Configuration, Model, PodId, Problem, Trace};

/// Why a trace that the rules allow is not possible, once it is known what waits at each of its steps; `None` when it is.
pub(crate) fn objection(problem: &Problem, trace: &Trace) -> Option<String> {
    if problem.model.cluster().waiting.is_empty() {
        return None;
    }
    objection_with(problem, trace, at_start(&problem.model))
}

/// The same when so many pods wait at first.
fn objection_with(problem: &Problem, trace: &Trace, mut left: BTreeMap<PodId, u64>) -> Option<String> {
    let m = &*problem.model;
    let mut s = (*problem.start).clone();
    for action in trace.iter() {
        match action {
            Action::Deploy(pod, _) | Action::Withdraw(pod) if left.contains_key(&pod) => {
                let Some(fewer) = left[&pod].checked_sub(1) else {
                    let name = m.pod_name(pod);
                    return Some(format!("no more pods of {name} wait for a node, and new ones are admitted anew"));
                };
                left.insert(pod, fewer);
            }
            Action::Deploy(pod, _) if concerns(m, pod) && is_refused(m, &s, &left, pod) => {
                return Some(format!("pods that wait for a node leave no room for {}", m.pod_name(pod)));
            }
            _ => {}
        }
        problem.step(&mut s, action).ok()?;
    }
    None
}

/// A trace with the deletions of waiting pods that it needs before its first step; `None` where it needs none, or where none help.
pub(crate) fn withdrawing(problem: &Problem, trace: &Trace) -> Option<Trace> {
    objection(problem, trace)?;
    let mut gone = spare(&problem.model, trace);
    let objects = |gone: &BTreeMap<PodId, u64>| {
        let mut left = at_start(&problem.model);
        gone.iter().for_each(|(pod, count)| *left.entry(*pod).or_default() -= count);
        objection_with(problem, trace, left).is_some()
    };
    if objects(&gone) {
        return None;
    }
    for pod in gone.keys().copied().collect::<Vec<_>>() {
        let (mut fewest, mut most) = (0, gone[&pod]);
        while fewest < most {
            let some = fewest + (most - fewest) / 2;
            gone.insert(pod, some);
            if objects(&gone) { fewest = some + 1 } else { most = some }
        }
        gone.insert(pod, most);
    }
    let withdrawals = gone.iter().flat_map(|(&pod, &count)| (0..count).map(move |_| Action::Withdraw(pod)));
    Some(withdrawals.chain(trace.iter()).collect())
}

/// How many waiting pods of each type a trace neither binds nor deletes.
fn spare(m: &Model, trace: &Trace) -> BTreeMap<PodId, u64> {
    let mut spare = at_start(m);
    for action in trace.iter() {
        if let Action::Deploy(pod, _) | Action::Withdraw(pod) = action
            && let Some(count) = spare.get_mut(&pod)
        {
            *count = count.saturating_sub(1);
        }
    }
    spare
}

/// Whether what waits matters to pods of a type: it is one of them, or takes of what they take.
pub(crate) fn concerns(m: &Model, pod: PodId) -> bool {
    let waiting = &m.cluster().waiting;
    let shares = |other: &PodId| m.pod(pod).quota.keys().any(|quota| m.pod(*other).quota.contains_key(quota));
    let counts = |limit: &Limit| limit.is_asked(pod) && limit.pods.iter().any(|other| waiting.contains_key(other));
    waiting.contains_key(&pod) || waiting.keys().any(shares) || m.cluster().limits.iter().any(counts)
}

/// Whether a new pod is refused because of what waits besides what runs.
fn is_refused(m: &Model, s: &Configuration, left: &BTreeMap<PodId, u64>, pod: PodId) -> bool {
    let asks = |rule: Rule| !m.pod(pod).exempt.contains(&rule);
    let count = |limit: &Limit| {
        let waiting = left.iter().filter(|(pod, _)| limit.pods.contains(pod)).map(|(_, &count)| count);
        let running = limit.pods.iter().flat_map(|&pod| s.of(pod)).map(|(_, count)| count);
        waiting.chain(running).fold(0, u64::saturating_add)
    };
    let mut limits = m.cluster().limits.iter().filter(|limit| limit.is_asked(pod) && !limit.per_node);
    (asks(Rule::ResourceQuota) && quota::refusal_beside(m, s, left, pod).is_some())
        || (asks(Rule::InstanceLimit) && limits.any(|limit| count(limit) >= limit.most))
}

/// How many pods of each type wait at the start.
pub(crate) fn at_start(m: &Model) -> BTreeMap<PodId, u64> {
    m.cluster().waiting.iter().map(|(&pod, waiting)| (pod, waiting.count)).collect()
}

/// The problem in which nothing waits: whatever did was deleted.
pub(crate) fn without(problem: &Problem) -> Problem {
    if problem.model.cluster().waiting.is_empty() {
        return problem.clone();
    }
    let mut cluster = problem.model.facts();
    for (&pod, waiting) in &mut cluster.waiting {
        waiting.count = 0;
        Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some(Barred::LeftOut("it waits for a node no longer"));
    }
    problem.with_model(Arc::new(Model::new(cluster, problem.model.semantics())))
}
