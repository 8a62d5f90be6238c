//! From evidence about an encoded policy back to the policy: events from a trace, groups of invocations from a proof.
//!
//! Neither is taken on trust: events are played by the policy, and groups are kept only if the policy itself shows them inductive.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use podreach_core::{Action, Id, NodeId, PodId, Problem, Proof, Trace};

use super::invariant::Group;
use super::pods::Encoding;
use super::policy::Query;
use super::schedule::Event;
use crate::encode::DecodeError;

/// The most groups that one group of classes stands for.
const MOST_GROUPS: usize = 64;

/// What the pods and nodes of a problem stand for: functions, if they are invocations, and workers.
struct Meaning {
    pods: Vec<Option<Option<usize>>>,
    nodes: Vec<Option<usize>>,
}

impl Meaning {
    fn new(query: &Query, problem: &Problem) -> Self {
        let encoding = Encoding::new(query);
        let pods: HashMap<String, Option<usize>> = encoding.meanings().collect();
        let workers: HashMap<&str, usize> = encoding.nodes().iter().map(String::as_str).zip(0..).collect();
        let cluster = problem.model.cluster();
        let nodes = cluster.nodes.ids().map(|node| workers.get(problem.model.node_name(node)).copied());
        Self { pods: cluster.pods.values().map(|pod| pods.get(&pod.name).copied()).collect(), nodes: nodes.collect() }
    }

    /// The function and the worker of an invocation; no function for another pod, nothing for one that has no part in the policy.
    fn of(&self, pod: PodId, node: NodeId) -> Option<(Option<usize>, usize)> {
        Some(((*self.pods.get(pod.index())?)?, (*self.nodes.get(node.index())?)?))
    }
}

/// The events of a run.
pub(super) fn events(query: &Query, problem: &Problem, trace: &Trace) -> Result<Vec<Event>, DecodeError> {
    let meaning = Meaning::new(query, problem);
    let mut events = Vec::new();
    for action in trace.iter() {
        // Under the paper every step deploys or deletes.
        let Some((pod, node)) = action.atom() else { continue };
        let known = meaning.of(pod, node);
        let (function, worker) = known
            .ok_or_else(|| DecodeError::NoPart { pod: problem.model.pod_name(pod).to_owned(), source: "policy" })?;
        events.extend(function.map(|function| match action {
            Action::Deploy(..) => Event::Start { function, worker },
            _ => Event::End { function, worker },
        }));
    }
    Ok(events)
}

/// Groups of invocations that never run together, the goal among them, as the policy itself confirms.
pub(super) fn groups(query: &Query, problem: &Problem, proof: &Proof) -> Option<Vec<Group>> {
    let meaning = Meaning::new(query, problem);
    let mut groups: BTreeSet<Group> = BTreeSet::new();
    for group in &proof.in_groups().forbidden {
        let mut classes = group.iter();
        let all = classes.try_fold(vec![Group::new()], |groups, (&class, &count)| {
            spread(groups, &members(&meaning, proof.classes.get(class)?)?, count)
        });
        groups.extend(all.unwrap_or_default());
    }
    // What no pod stands for is not in the proof: functions that no block lets in, and the goal as a whole.
    let wanted = query.wanted();
    let workers: BTreeSet<usize> = wanted.iter().flat_map(BTreeMap::keys).map(|&(_, worker)| worker).collect();
    groups.extend(
        query
            .helpers()
            .into_iter()
            .flat_map(|function| workers.iter().map(move |&worker| Group::from([((function, worker), 1)]))),
    );
    groups.extend(wanted);
    query.inductive(groups)
}

/// The invocations that the members of a class stand for; `None` when one stands for something else.
fn members(meaning: &Meaning, class: &[(PodId, NodeId)]) -> Option<BTreeSet<(usize, usize)>> {
    class.iter().map(|one| invocation(meaning, one)).collect()
}

/// The invocation that an atom stands for.
fn invocation(meaning: &Meaning, &(pod, node): &(PodId, NodeId)) -> Option<(usize, usize)> {
    let (function, worker) = meaning.of(pod, node)?;
    Some((function?, worker))
}

/// Each group with `count` of these invocations added, in every way; `None` if these are too many.
fn spread(mut groups: Vec<Group>, members: &BTreeSet<(usize, usize)>, count: u64) -> Option<Vec<Group>> {
    for _ in 0..count {
        let mut more = BTreeSet::new();
        for (group, &member) in groups.iter().flat_map(|group| members.iter().map(move |member| (group, member))) {
            let mut group = group.clone();
            *group.entry(member).or_default() += 1;
            more.insert(group);
        }
        if more.len() > MOST_GROUPS {
            return None;
        }
        groups = more.into_iter().collect();
    }
    Some(groups)
}
