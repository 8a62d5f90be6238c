//! Goals from the pieces people give: a pod and its nodes, what runs beside it, or a whole configuration.

use std::fmt;

use podreach_core::{Atom, Cluster, Configuration, Goal, NodeId, PodId};

use super::document::{Question, Wanted};
use super::name::{self, NameError};
use crate::diagnostic::Diagnostic;
use crate::read::shown;

/// Why a piece of a goal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalError {
    /// It is not written as `POD@NODE` or `POD@NODE=COUNT`.
    Form(String),
    /// A name in it cannot be used.
    Name(NameError),
    /// An exact configuration leaves out what is never deleted: this pod type on this node.
    LeavesOutKept(String, String),
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(given) => write!(f, "{} is not of the form POD@NODE or POD@NODE=COUNT", shown(given)),
            Self::Name(error) => error.fmt(f),
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

/// One instance of `pod` on any of `nodes`, with all of `beside` at the same time.
///
/// An entry of `beside` for the very same pod and node says how many there are to be, and not how many more.
pub fn goal(pod: PodId, nodes: &[NodeId], beside: &[(Atom, u64)]) -> Goal {
    let alternative = |&node: &NodeId| at_once(std::iter::once(((pod, node), 1)).chain(beside.iter().copied()));
    Goal { any: nodes.iter().map(alternative).collect() }
}

/// The atom and count of `POD@NODE` or `POD@NODE=COUNT`.
pub fn with(cluster: &Cluster, given: &str) -> Result<(Atom, u64), GoalError> {
    let form = || GoalError::Form(given.to_owned());
    let (pod, place) = given.split_once('@').ok_or_else(form)?;
    let (node, count) = match place.split_once('=') {
        Some((node, count)) => (node, count.parse().ok().filter(|&count| count > 0).ok_or_else(form)?),
        None => (place, 1),
    };
    Ok(((name::pod(cluster, pod)?, name::node(cluster, node)?), count))
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

fn at_once(entries: impl Iterator<Item = (Atom, u64)>) -> Configuration {
    let mut configuration = Configuration::new();
    for (atom, count) in entries {
        configuration.set(atom, configuration.count(atom).max(count));
    }
    configuration
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
