//! Which pods the selectors of terms match, worked out once for each matcher of a cluster.
//!
//! A term of an incoming pod and one of a resident pod do not look at the same namespaces, and a node may give labels to its pods; so a
//! matcher has a row for each, and says whether its match depends on the node. A selector that requires a label is asked only about pods
//! that have it: the tables cost as much as there are matches.

use std::collections::HashMap;

use crate::bit_row::BitRow;
use crate::cancel;
use crate::cluster::{Cluster, Matcher, PodSpec, Scope};
use crate::id::{Id, IdVec, MatcherId, NamespaceId, PodId, Symbol};
use crate::label::Labels;
use crate::selector::Selector;

/// The pods a matcher matches, by their own labels.
#[derive(Clone, Debug)]
pub(crate) struct Matches {
    /// As terms of an incoming pod see them.
    pub(crate) seen: BitRow,
    /// As terms of a resident pod see them when they come in.
    pub(crate) noticed: BitRow,
    /// Whether the match of a resident also depends on labels that its node gives it.
    pub(crate) placed: bool,
}

/// The pods that each matcher of a cluster matches.
pub(crate) fn of_cluster(cluster: &Cluster, copied_keys: &[Symbol]) -> IdVec<MatcherId, Matches> {
    let labelled = labelled(cluster);
    let matchers = cluster.matchers.entries().values();
    matchers.map(|matcher| matches(cluster, matcher, &labelled, copied_keys)).collect()
}

/// The pods that have each label.
type Labelled = HashMap<(Symbol, Symbol), Vec<PodId>>;

fn labelled(cluster: &Cluster) -> Labelled {
    let mut labelled = Labelled::new();
    for (id, pod) in cancel::polled(cluster.pods.iter()) {
        pod.spec.labels.iter().for_each(|label| labelled.entry(label).or_default().push(id));
    }
    labelled
}

fn matches(cluster: &Cluster, matcher: &Matcher, labelled: &Labelled, copied_keys: &[Symbol]) -> Matches {
    cancel::poll();
    let Matcher { scope, selector } = matcher;
    let by_labels: Vec<PodId> = match selector.required() {
        Some((key, values)) => {
            let with = values.iter().flat_map(|&value| labelled.get(&(key, value)).into_iter().flatten());
            with.copied().filter(|&pod| selector.matches(&cluster.pods[pod].spec.labels)).collect()
        }
        None => {
            let bound = cluster.pods.iter().filter(|(_, pod)| !pod.spec.is_unbound());
            bound.filter(|(_, pod)| selector.matches(&pod.spec.labels)).map(|(id, _)| id).collect()
        }
    };
    let row = |in_scope: &dyn Fn(NamespaceId) -> bool| {
        let seen = by_labels.iter().filter(|&&pod| in_scope(cluster.pods[pod].spec.namespace));
        BitRow::of(cluster.pods.len(), seen.map(|pod| pod.index()))
    };
    Matches {
        seen: row(&|namespace| in_scope_of_incoming(cluster, scope, namespace)),
        noticed: row(&|namespace| in_scope_of_resident(cluster, scope, namespace)),
        placed: copied_keys.iter().any(|&key| selector.mentions(key)),
    }
}

/// Whether a term of an incoming pod looks at a namespace: one without an object is seen only by the selector `{}`.
///
/// Kubernetes: `interpodaffinity/plugin.go`, `mergeAffinityTermNamespacesIfNotEmpty`. In some releases it changes a copy of the term: the
/// selector stays, and `AffinityTerm.Matches` asks it about no labels at all.
pub(crate) fn in_scope_of_incoming(cluster: &Cluster, scope: &Scope, namespace: NamespaceId) -> bool {
    scope.listed.contains(&namespace)
        || scope.selector.as_ref().is_some_and(|selector| is_selected(cluster, selector, namespace))
}

/// Whether a selector of namespaces selects one.
fn is_selected(cluster: &Cluster, selector: &Selector, namespace: NamespaceId) -> bool {
    selector.is_everything()
        || cluster.behaviour.namespaces_lack_labels && selector.matches(&Labels::default())
        || cluster.namespace_labels.get(&namespace).is_some_and(|labels| selector.matches(labels))
}

/// Whether a term of a resident pod looks at a namespace: one without an object has no labels.
///
/// Kubernetes: `interpodaffinity/plugin.go`, `GetNamespaceLabelsSnapshot`.
fn in_scope_of_resident(cluster: &Cluster, scope: &Scope, namespace: NamespaceId) -> bool {
    let none = Labels::default();
    let labels = cluster.namespace_labels.get(&namespace).unwrap_or(&none);
    scope.listed.contains(&namespace) || scope.selector.as_ref().is_some_and(|selector| selector.matches(labels))
}

/// Whether a matcher may match a pod, wherever that runs.
pub(crate) fn may_see(cluster: &Cluster, copied_keys: &[Symbol], matcher: MatcherId, spec: &PodSpec) -> bool {
    let Matcher { scope, selector } = &cluster.matchers[matcher];
    !spec.is_unbound()
        && in_scope_of_incoming(cluster, scope, spec.namespace)
        && (copied_keys.iter().any(|&key| selector.mentions(key)) || selector.matches(&spec.labels))
}
