//! Labels of pods and namespaces that selectors look at: what single edits of them are worth trying, and which of them are facts.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::change::Change;
use podreach_core::cluster::Matcher;
use podreach_core::id::{MatcherId, NamespaceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::{Selector, Values};
use podreach_core::{Model, PodId};

use super::fact::Fact;

/// Keys of labels, each with its owner.
type Own<I> = Vec<(I, Symbol)>;

/// Keys with the values that make a difference.
type Keys = BTreeMap<Symbol, BTreeSet<Symbol>>;

/// What a pod looks for in others: those it needs or counts, or those it avoids.
fn looked_for(m: &Model, pods: &BTreeSet<PodId>, avoided: bool) -> BTreeSet<MatcherId> {
    let specs = || pods.iter().map(|&pod| m.pod(pod));
    if avoided {
        return specs().flat_map(|spec| &spec.anti_affinity).map(|term| term.matcher).collect();
    }
    let spread = specs().flat_map(|spec| &spec.spread).map(|spread| spread.matcher);
    specs().flat_map(|spec| &spec.affinity).map(|term| term.matcher).chain(spread).collect()
}

/// Whether the pods need or count others, so that any pod may become one of those by its labels.
pub(crate) fn look_for_others(m: &Model, pods: &BTreeSet<PodId>) -> bool {
    !looked_for(m, pods, false).is_empty()
}

fn selectors<'m>(m: &'m Model, matchers: &BTreeSet<MatcherId>, of_namespaces: bool) -> Vec<&'m Selector> {
    matchers.iter().filter_map(|one| selector(m, of_namespaces, one)).collect()
}

fn selector<'m>(m: &'m Model, of_namespaces: bool, &matcher: &MatcherId) -> Option<&'m Selector> {
    let Matcher { scope, selector } = &m.cluster().matchers[matcher];
    if of_namespaces { scope.selector.as_ref() } else { Some(selector) }
}

fn keys(selectors: &[&Selector]) -> Keys {
    let mut keys = Keys::new();
    for selector in selectors {
        let Selector::Every(entries) = selector else { continue };
        for (&key, allowed) in entries {
            let (Values::Only(values) | Values::AllBut(values)) = &allowed.values;
            // Where any value will do, the key stands for one.
            let any = values.is_empty().then_some(key);
            keys.entry(key).or_default().extend(values.iter().copied().chain(any));
        }
    }
    keys
}

/// The labels after each single edit that changes what selectors match.
fn edits(labels: &Labels, selectors: &[&Selector]) -> Vec<(Symbol, Option<Symbol>)> {
    let mut edits = Vec::new();
    for (key, values) in keys(selectors) {
        for value in std::iter::once(None).chain(values.into_iter().map(Some)) {
            let mut changed = labels.clone();
            match value {
                Some(value) => changed.set(key, value),
                None => changed.remove(key),
            }
            if selectors.iter().any(|selector| selector.matches(labels) != selector.matches(&changed)) {
                edits.push((key, value));
            }
        }
    }
    edits
}

/// Single edits of labels that could matter to pods.
pub(crate) fn changes(m: &Model, pods: &BTreeSet<PodId>) -> Vec<Change> {
    let [needed, avoided] = [false, true].map(|avoided| looked_for(m, pods, avoided));
    let all: BTreeSet<MatcherId> = needed.union(&avoided).copied().collect();
    let mut changes = Vec::new();
    for pod in m.pods() {
        // Another pod matters once one of these pods needs or counts it.
        let matchers = if pods.contains(&pod) { &all } else { &needed };
        let found = edits(&m.pod(pod).labels, &selectors(m, matchers, false));
        changes.extend(found.into_iter().map(|(key, value)| Change::PodLabel(pod, key, value)));
    }
    for (&namespace, labels) in &m.cluster().namespace_labels {
        let found = edits(labels, &selectors(m, &all, true));
        changes.extend(found.into_iter().map(|(key, value)| Change::NamespaceLabel(namespace, key, value)));
    }
    changes
}

/// The labels by which pods are drawn to others, or counted: of pods, and of namespaces.
pub(crate) fn drawing(m: &Model, pods: &BTreeSet<PodId>) -> (Own<PodId>, Own<NamespaceId>) {
    let needed = looked_for(m, pods, false);
    let of_pods = pods
        .iter()
        .flat_map(|&pod| carried(m, &needed, &m.pod(pod).labels, false).into_iter().map(move |key| (pod, key)));
    let of_pods = of_pods.collect();
    let own: BTreeSet<NamespaceId> = pods.iter().map(|&pod| m.pod(pod).namespace).collect();
    let labelled = m.cluster().namespace_labels.iter().filter(|(namespace, _)| own.contains(namespace));
    let of_namespaces = labelled.flat_map(|(&namespace, labels)| {
        carried(m, &needed, labels, true).into_iter().map(move |key| (namespace, key))
    });
    (of_pods, of_namespaces.collect())
}

/// The keys among labels that some selectors look at.
fn carried(m: &Model, needed: &BTreeSet<MatcherId>, labels: &Labels, of_namespaces: bool) -> Vec<Symbol> {
    let keys = keys(&selectors(m, needed, of_namespaces)).into_keys();
    keys.filter(|&key| labels.value(key).is_some()).collect()
}

/// The labels that let pods avoid each other and do nothing else: of pods, of namespaces, and the topology of nodes.
pub(crate) fn facts(m: &Model, pods: &BTreeSet<PodId>) -> Vec<Fact> {
    let [needed, avoided] = [false, true].map(|avoided| looked_for(m, pods, avoided));
    let mut facts = Vec::new();
    for &pod in pods {
        let labels = &m.pod(pod).labels;
        let own = only_avoided(m, &needed, &avoided, false).into_iter().filter(|&key| labels.value(key).is_some());
        facts.extend(own.map(|key| Fact::PodLabel(pod, key)));
    }
    let labels = m.cluster().namespace_labels.values();
    let of_namespaces = only_avoided(m, &needed, &avoided, true).into_iter();
    let carried = of_namespaces.filter(|&key| labels.clone().any(|labels| labels.value(key).is_some()));
    facts.extend(carried.map(Fact::NamespaceLabels));
    facts.extend(topology(m, pods).into_iter().map(Fact::NodeLabels));
    facts
}

/// The keys by which pods are avoided, and by which they are not needed.
fn only_avoided(
    m: &Model,
    needed: &BTreeSet<MatcherId>,
    avoided: &BTreeSet<MatcherId>,
    of_namespaces: bool,
) -> BTreeSet<Symbol> {
    let [needed, avoided] = [&needed, &avoided].map(|matchers| keys(&selectors(m, matchers, of_namespaces)));
    avoided.into_keys().filter(|key| !needed.contains_key(key)).collect()
}

/// The labels of nodes by which pods avoid each other, and by which nothing else is decided.
fn topology(m: &Model, pods: &BTreeSet<PodId>) -> BTreeSet<Symbol> {
    let specs = || pods.iter().map(|&pod| m.pod(pod));
    let name = |key| m.cluster().keys[key];
    let avoided = specs().flat_map(|spec| &spec.anti_affinity).map(|term| name(term.key));
    let mut others: BTreeSet<Symbol> = specs().flat_map(|spec| &spec.affinity).map(|term| name(term.key)).collect();
    others.extend(specs().flat_map(|spec| &spec.spread).map(|spread| name(spread.key)));
    others.extend(specs().flat_map(|spec| spec.node_selector.iter().map(|(key, _)| key)));
    let terms = specs().flat_map(|spec| spec.node_affinity.iter().chain(&spec.added_affinity).flatten());
    others.extend(terms.flat_map(|term| &term.expressions).map(|(key, _)| *key));
    let only_avoided = avoided.filter(|key| !others.contains(key));
    only_avoided.filter(|&key| m.nodes().any(|node| m.node(node).labels.value(key).is_some())).collect()
}
