//! Goals from the pieces people give: a pod and its nodes, what runs beside it, or a whole configuration.

use std::collections::BTreeMap;
use std::fmt;

use podreach_core::{Atom, Cluster, Configuration, Goal, NodeId, PodId};

use super::name::{self, NameError, Named};
use crate::diagnostic::Diagnostic;
use crate::lower::question::{Question, Wanted};
use crate::read::shown;

/// Why a piece of a goal cannot be used.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalError {
    /// It is not written as `POD@NODE` or `POD@NODE=COUNT`.
    Form(String),
    /// A name in it cannot be used.
    Name(NameError),
    /// There are too many ways to choose among the pods of a StatefulSet.
    TooManyWays,
    /// An exact configuration leaves out what is never deleted: this pod type on this node.
    LeavesOutKept(String, String),
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(given) => write!(f, "{} is not of the form POD@NODE or POD@NODE=COUNT", shown(given)),
            Self::Name(error) => error.fmt(f),
            Self::TooManyWays => {
                write!(f, "there are too many ways to choose so many pods of a StatefulSet: name them one by one")
            }
            Self::LeavesOutKept(pod, node) => {
                write!(f, "the configuration has fewer of {pod} on {node} than are kept, and those are never deleted")
            }
        }
    }
}

impl std::error::Error for GoalError {}

impl From<NameError> for GoalError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

/// So many instances of a pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The pod, by one of its names.
    pub pod: Named,
    /// The node.
    pub node: NodeId,
    /// How many.
    pub count: u64,
}

/// One instance of `pod` on any of `nodes`, with all of `beside` at the same time.
///
/// An entry for the same name and node says how many there are to be, and not how many more. Two names stand for pods of their own,
/// even where nothing tells them apart.
pub fn goal(pod: &Named, nodes: &[NodeId], beside: &[Beside]) -> Goal {
    let alternative = |&node: &NodeId| {
        let own = Beside { pod: pod.clone(), node, count: 1 };
        at_once(std::iter::once(&own).chain(beside))
    };
    Goal { any: nodes.iter().map(alternative).collect() }
}

/// The entry of `POD@NODE` or `POD@NODE=COUNT`.
pub fn with(cluster: &Cluster, given: &str) -> Result<Beside, GoalError> {
    let form = || GoalError::Form(given.to_owned());
    let (pod, place) = given.split_once('@').ok_or_else(form)?;
    let (node, count) = match place.split_once('=') {
        Some((node, count)) => (node, count.parse().ok().filter(|&count| count > 0).ok_or_else(form)?),
        None => (place, 1),
    };
    Ok(Beside { pod: name::named(cluster, pod)?, node: name::node(cluster, node)?, count })
}

/// A whole configuration: these instances and no others.
///
/// Whatever else runs can be deleted, so it is reachable exactly when it is covered; only kept pods must be part of it.
pub fn exact(cluster: &Cluster, kept: &Configuration, entries: &[(Atom, u64)]) -> Result<Goal, GoalError> {
    let configuration: Configuration = entries.iter().copied().collect();
    let left_out = kept.iter().find(|&(atom, count)| configuration.count(atom) < count);
    if let Some(((pod, node), _)) = left_out {
        let node = cluster.symbols.str(cluster.nodes[node].name).to_owned();
        return Err(GoalError::LeavesOutKept(cluster.pods[pod].name.clone(), node));
    }
    Ok(Goal::all(configuration))
}

fn at_once<'b>(entries: impl Iterator<Item = &'b Beside>) -> Configuration {
    let mut counts = BTreeMap::<(&str, NodeId), (PodId, u64)>::new();
    for Beside { pod, node, count } in entries {
        let (_, most) = counts.entry((&pod.name, *node)).or_insert((pod.pod, 0));
        *most = (*most).max(*count);
    }
    counts.into_iter().map(|((_, node), (pod, count))| ((pod, node), count)).collect()
}

impl Question {
    /// Its goal in a cluster; every name that cannot be used is a diagnostic.
    pub fn goal(&self, cluster: &Cluster) -> Result<Goal, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut entries = Vec::new();
        for Wanted { pod, node, count, span } in &self.goal {
            let mut noted = |error: NameError| problems.push(Diagnostic::stops("E0227", *span, error.to_string()));
            let pod = name::pod(cluster, pod).map_err(&mut noted);
            let node = name::node(cluster, node).map_err(&mut noted);
            if let (Ok(pod), Ok(node)) = (pod, node) {
                entries.push(((pod, node), *count));
            }
        }
        // Entries for one pod and node add up: each of them stands for pods of its own.
        if problems.is_empty() { Ok(Goal::all(entries.into_iter().collect())) } else { Err(problems) }
    }
}
