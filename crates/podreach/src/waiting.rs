//! Pods that wait for a node: each was admitted once, and is bound at most once.
//!
//! The rules let as many of them be present as there are, and a configuration does not say which of them were bound before. So a trace
//! is followed once more:
//!
//! ```text
//! a waiting pod is bound      one of those that are left; nothing is asked of it
//! another pod is made         quotas and limits count those that are left, besides what runs
//! ```
//! Those that a trace never binds are deleted before its first step, which is best for all others. The rules count no waiting pods, so
//! that what they never allow is never so.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::cluster::{Barred, Limit};
use podreach_core::rule::{Rule, quota};
use podreach_core::{Action, Configuration, Model, PodId, Problem, Trace};

/// Why a trace that the rules allow is not possible, once it is known what waits at each of its steps; `None` when it is.
pub(crate) fn objection(problem: &Problem, trace: &Trace) -> Option<String> {
    let m = &*problem.model;
    if m.cluster().waiting.is_empty() {
        return None;
    }
    let mut left = BTreeMap::<PodId, u64>::new();
    for action in trace.iter() {
        if let Some(pod) = deployed(action).filter(|pod| m.cluster().waiting.contains_key(pod)) {
            *left.entry(pod).or_default() += 1;
        }
    }
    let exceeded = left.iter().find(|(pod, bound)| **bound > m.cluster().waiting[*pod].count);
    if let Some((&pod, _)) = exceeded {
        return Some(format!("no more pods of {} wait for a node, and new ones are admitted anew", m.pod_name(pod)));
    }
    let mut s = (*problem.start).clone();
    for action in trace.iter() {
        if let Some(pod) = deployed(action) {
            if let Some(waiting) = left.get_mut(&pod) {
                *waiting -= 1;
            } else if concerns(m, pod) && is_refused(m, &s, &left, pod) {
                return Some(format!("pods that wait for a node leave no room for {}", m.pod_name(pod)));
            }
        }
        problem.step(&mut s, action).ok()?;
    }
    None
}

/// Whether what waits matters to pods of a type: it is one of them, or takes of what they take.
pub(crate) fn concerns(m: &Model, pod: PodId) -> bool {
    let waiting = &m.cluster().waiting;
    let shares = |other: &PodId| m.pod(pod).quota.keys().any(|quota| m.pod(*other).quota.contains_key(quota));
    let counts = |limit: &Limit| limit.is_asked(pod) && limit.pods.iter().any(|other| waiting.contains_key(other));
    waiting.contains_key(&pod) || waiting.keys().any(shares) || m.cluster().limits.iter().any(counts)
}

fn deployed(action: Action) -> Option<PodId> {
    match action {
        Action::Deploy(pod, _) => Some(pod),
        Action::Delete(..) | Action::Terminate(..) | Action::Settle(_) => None,
    }
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
    for &pod in cluster.waiting.keys() {
        Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some(Barred::LeftOut("it waits for a node no longer"));
    }
    problem.with_model(Arc::new(Model::new(cluster, problem.model.semantics())))
}
