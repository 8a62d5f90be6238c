//! Names as people type them: full, or as short as is unambiguous.

use std::collections::BTreeSet;
use std::fmt;

use podreach_core::cluster::Node;
use podreach_core::{Cluster, NodeId, PodId};

use crate::lower::object::nearest::nearest;
use crate::lower::{Kind, Selection, SelectorError};
use crate::read::shown;

/// A name that stands for nothing, or for more than one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// What it should have named: `pod type` or `node`.
    pub what: &'static str,
    /// The name as given.
    pub given: String,
    /// Why it cannot be used.
    pub why: Unresolved,
}

/// Why a name cannot be used.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// Nothing has it; these are near.
    Unknown(Vec<String>),
    /// These have it.
    Ambiguous(Vec<String>),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = shown(&self.given);
        match &self.why {
            Unresolved::Unknown(near) if near.is_empty() => write!(f, "there is no {} {given}", self.what),
            Unresolved::Unknown(near) => {
                write!(f, "there is no {} {given}; did you mean {}?", self.what, near.join(" or "))
            }
            Unresolved::Ambiguous(names) => write!(f, "{given} could be {}", names.join(" or ")),
        }
    }
}

impl std::error::Error for NameError {}

/// A pod type under one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The type.
    pub pod: PodId,
    /// The name it was asked for by, in full.
    pub name: String,
}

/// The pod type of a name: `kind/namespace/name`, or `namespace/name`, `kind/name` or `name` where only one type has it.
pub fn pod(cluster: &Cluster, given: &str) -> Result<PodId, NameError> {
    named(cluster, given).map(|named| named.pod)
}

/// The same, with the full name.
pub fn named(cluster: &Cluster, given: &str) -> Result<Named, NameError> {
    let named = |&(pod, name): &(PodId, &String)| Named { pod, name: name.clone() };
    let error = |why| NameError { what: "pod type", given: given.to_owned(), why };
    let names = || cluster.pods.iter().map(|(id, pod)| (id, &pod.name));
    let depth = given.matches('/').count();
    let kubectl = of_kubectl(given);
    let is_meant = |name: &str| kubectl.as_ref().is_some_and(|(kind, rest)| is_of_kind(name, kind, rest));
    let found: Vec<_> = names().filter(|(_, name)| tail(name, depth) == given || is_meant(name)).collect();
    let exact = found.iter().find(|(_, name)| *name == given);
    match (exact, found.as_slice()) {
        (Some(exact), _) => Ok(named(exact)),
        (None, []) => {
            let mut near = nearest(given, names().map(|(_, name)| tail(name, depth)));
            if near.is_empty() {
                // The last part is right more often than what comes before it: kubectl writes kind/name.
                let namesakes = names().filter(|(_, name)| tail(name, 0) == tail(given, 0));
                near.extend(namesakes.map(|(_, name)| name.as_str()).take(3));
            }
            Err(error(Unresolved::Unknown(distinct(near.into_iter()))))
        }
        // In the cluster of a model, what a pod is while it is being deleted comes later under the same name.
        (None, [first, rest @ ..]) if rest.iter().all(|(_, name)| *name == first.1) => Ok(named(first)),
        (None, _) => Err(error(Unresolved::Ambiguous(distinct(found.iter().map(|(_, name)| name.as_str()))))),
    }
}

/// Names without repetitions: pods that wait for a node go under the name of what would be made in their place.
fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

/// A name as kubectl writes it (`deploy/web`, `deployment.apps/web`, also with a namespace in between): its kind and the rest.
fn of_kubectl(given: &str) -> Option<(String, &str)> {
    let (kind, rest) = given.split_once('/')?;
    Some((Kind::called(kind)?.name().to_ascii_lowercase(), rest))
}

/// Whether a full name is of a kind and ends in the rest.
fn is_of_kind(full: &str, kind: &str, rest: &str) -> bool {
    let own = full.split_once('/').filter(|(own, _)| *own == kind);
    own.is_some_and(|(_, own)| tail(own, rest.matches('/').count()) == rest)
}

/// The end of a name, from so many slashes before its last part.
fn tail(name: &str, slashes: usize) -> &str {
    let start = name.rmatch_indices('/').nth(slashes).map_or(0, |(at, _)| at + 1);
    &name[start..]
}

/// The node of a name.
pub fn node(cluster: &Cluster, given: &str) -> Result<NodeId, NameError> {
    let name = |id: NodeId| cluster.symbols.str(cluster.nodes[id].name);
    let bare = given.split_once('/').filter(|(kind, _)| Kind::called(kind) == Some(Kind::Node));
    let symbol = cluster.symbols.symbol(bare.map_or(given, |(_, name)| name));
    let found = cluster.nodes.iter().find(|(_, node)| Some(node.name) == symbol);
    found.map(|(id, _)| id).ok_or_else(|| {
        let near = nearest(tail(given, 0), cluster.nodes.ids().map(name)).into_iter().map(str::to_owned).collect();
        NameError { what: "node", given: given.to_owned(), why: Unresolved::Unknown(near) }
    })
}

/// The nodes that a selector matches, in the notation of `kubectl -l`.
pub fn nodes(cluster: &Cluster, selector: &str) -> Result<Vec<NodeId>, SelectorError> {
    let selection = Selection::parse(selector)?;
    let symbols = &cluster.symbols;
    let selected = cluster.nodes.iter().filter(|(_, Node { labels, .. })| {
        selection.matches(|key| symbols.symbol(key).and_then(|key| labels.value(key)).map(|value| symbols.str(value)))
    });
    Ok(selected.map(|(id, _)| id).collect())
}
