//! Which kinds the input has completely, so that an object of such a kind that is missing does not exist.
//!
//! A single object says nothing about others: a chart has one claim, a cluster many. These say so:
//!
//! ```text
//! PersistentVolumeClaimList   as the API server writes it: all of the kind
//! List with resourceVersion   as kubectl prints it: all of each kind that is in it
//! a snapshot's header         what was read of a live cluster, list by list
//! --complete pvc              the user says so
//! ```
//! A list of a namespaced kind whose objects are all in one namespace may have been asked for that namespace only, so it counts for that
//! namespace. An empty list says that there are none, if it names its kind.

use std::collections::{BTreeMap, BTreeSet};

use super::kind::{Kind, Sort, sort};
use crate::read::Tree;

/// What the input has all of.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The kinds of which all objects are there.
    whole: BTreeSet<Kind>,
    /// The kinds of which all objects of a namespace are there.
    partial: BTreeSet<(Kind, String)>,
    /// Whether the input begins as a snapshot does.
    is_snapshot: bool,
    /// Kinds of which whole lists were read, which are all there is in a snapshot.
    typed: BTreeSet<Kind>,
    /// What was met since the last document began: its kind and namespace.
    met: Met,
}

/// Kinds, each with the namespaces of some objects.
type Met = BTreeMap<Kind, BTreeSet<String>>;

impl Listing {
    /// What someone says is all there.
    pub(crate) fn new(complete: &BTreeSet<Kind>) -> Self {
        Self { whole: complete.clone(), ..Self::default() }
    }

    /// Whether every object of a kind is in the input.
    pub(crate) fn has_all(&self, kind: Kind) -> bool {
        self.whole.contains(&kind) || (self.is_snapshot && self.typed.contains(&kind))
    }

    /// Whether every object of a kind in a namespace is in the input.
    pub(crate) fn has_all_in(&self, kind: Kind, namespace: &str) -> bool {
        self.has_all(kind) || self.partial.contains(&(kind, namespace.to_owned()))
    }

    /// The input has the header of a snapshot.
    pub(crate) fn is_snapshot(&mut self) {
        self.is_snapshot = true;
    }

    /// Notes an object, which may turn out to stand in a list.
    pub(crate) fn meet(&mut self, kind: Kind, object: &Tree<'_>) {
        if kind.is_looked_up() {
            self.met.entry(kind).or_default().insert(namespace(object));
        }
    }

    /// A document ends: what follows is not in its lists.
    pub(crate) fn part(&mut self) {
        self.met.clear();
    }

    /// A list of one kind.
    pub(crate) fn close(&mut self, kind: Kind, list: &Tree<'_>) {
        self.typed.insert(kind);
        let mut met = self.met_in(list);
        self.closed(kind, &met.remove(&kind).unwrap_or_default());
    }

    /// A list as kubectl prints it; if nothing is in it, nobody knows what it is a list of.
    pub(crate) fn close_each(&mut self, list: &Tree<'_>) {
        self.met_in(list).iter().for_each(|(&kind, namespaces)| self.closed(kind, namespaces));
    }

    fn closed(&mut self, kind: Kind, namespaces: &BTreeSet<String>) {
        match namespaces.first() {
            Some(only) if kind.is_namespaced() && namespaces.len() == 1 => {
                self.partial.insert((kind, only.clone()));
            }
            _ => _ = self.whole.insert(kind),
        }
    }

    /// What is in a list; of one that was handed over piece by piece, what was met before its end.
    fn met_in(&self, list: &Tree<'_>) -> Met {
        let items = list.items("items");
        if items.is_empty() {
            return self.met.clone();
        }
        let version = text(list, "apiVersion").unwrap_or_default();
        let usual =
            text(list, "kind").and_then(|kind| kind.strip_suffix("List").map(str::to_owned)).unwrap_or_default();
        let mut met = Met::new();
        for item in items {
            let version = text(item, "apiVersion").unwrap_or_else(|| version.clone());
            let kind = text(item, "kind").unwrap_or_else(|| usual.clone());
            if let Sort::Read(kind) = sort(&version, &kind) {
                met.entry(kind).or_default().insert(namespace(item));
            }
        }
        met.retain(|kind, _| kind.is_looked_up());
        met
    }
}

fn text(tree: &Tree<'_>, key: &str) -> Option<String> {
    tree.text(key).map(str::to_owned)
}

/// Whether a list is as kubectl prints one: it has a version of its own, which is empty.
pub(crate) fn is_of_kubectl(list: &Tree<'_>) -> bool {
    let is_list = list.text("kind") == Some("List");
    is_list && list.field("metadata").is_some_and(|metadata| metadata.field("resourceVersion").is_some())
}

fn namespace(object: &Tree<'_>) -> String {
    let namespace = object.field("metadata").and_then(|metadata| metadata.field("namespace")).and_then(Tree::str);
    namespace.unwrap_or("default").to_owned()
}
