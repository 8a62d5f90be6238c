//! Sets of labels that selectors can tell apart: one stands for all that they treat alike.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::id::{MatcherId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::{Selector, Values};
use podreach_core::{Cluster, Model, NodeId, PodId};

use crate::audit::policy::PodSelection;

/// The most sets of labels that are looked at, and the most that are used.
const COMBINATIONS: usize = 16_384;
pub(super) const TYPES: usize = 128;

/// The labels that a node gives to the pods that are bound to it.
const COPIED: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// The values of each key that matter; the last stands for all others.
pub(super) type Universe = BTreeMap<Symbol, Vec<Symbol>>;

/// The keys and values that matchers and selections ask for.
pub(super) fn universe(cluster: &mut Cluster, matchers: &[MatcherId], selections: &[&PodSelection]) -> Universe {
    let mut universe = Universe::new();
    for &matcher in matchers {
        let Selector::Every(entries) = cluster.matchers[matcher].selector.clone() else { continue };
        for (key, allowed) in entries {
            let (Values::Only(values) | Values::AllBut(values)) = allowed.values;
            universe.entry(key).or_default().extend(values);
        }
    }
    for (key, values) in selections.iter().flat_map(|selection| selection.labels.keys()) {
        let key = cluster.symbols.intern(key);
        let values: Vec<Symbol> = values.iter().map(|value| cluster.symbols.intern(value)).collect();
        universe.entry(key).or_default().extend(values);
    }
    for values in universe.values_mut() {
        values.sort_unstable();
        values.dedup();
        let other = (0..)
            .map(|n| format!("other-{n}"))
            .find(|text| cluster.symbols.symbol(text).is_none_or(|symbol| !values.contains(&symbol)));
        values.push(cluster.symbols.intern(&other.unwrap_or_default()));
    }
    universe
}

/// One set of labels per combination of selectors that it matches, before it is bound and on each node, and of what `selected` says of
/// it; and whether those are all.
pub(super) fn label_sets(
    cluster: &Cluster,
    universe: &Universe,
    matchers: &[MatcherId],
    selected: impl Fn(&Labels) -> Vec<usize>,
) -> (Vec<Labels>, bool) {
    let given = given(cluster);
    let mut found = BTreeMap::<(Vec<bool>, Vec<usize>), Labels>::new();
    let combinations = universe.values().fold(1_usize, |all, values| all.saturating_mul(values.len() + 1));
    for combination in 0..combinations.min(COMBINATIONS) {
        let labels = numbered(universe, combination);
        let matched = matches(cluster, matchers, &labels)
            .into_iter()
            .chain(given.iter().flat_map(|given| matches(cluster, matchers, &bound(&labels, given))));
        found.entry((matched.collect(), selected(&labels))).or_insert(labels);
    }
    let exact = combinations <= COMBINATIONS && found.len() <= TYPES;
    (found.into_values().take(TYPES).collect(), exact)
}

/// Which of some selectors match.
fn matches(cluster: &Cluster, matchers: &[MatcherId], labels: &Labels) -> Vec<bool> {
    matchers.iter().map(|&matcher| cluster.matchers[matcher].selector.matches(labels)).collect()
}

/// The labels that a node gives to its pods, where anyone has them.
pub(super) fn copied_keys(cluster: &Cluster) -> Vec<Symbol> {
    COPIED.into_iter().filter_map(|key| cluster.symbols.symbol(key)).collect()
}

/// What nodes give to their pods, each once.
fn given(cluster: &Cluster) -> BTreeSet<Vec<(Symbol, Symbol)>> {
    let keys = copied_keys(cluster);
    let nodes = cluster.nodes.values();
    nodes.map(|node| keys.iter().filter_map(|&key| Some((key, node.labels.value(key)?))).collect()).collect()
}

/// One node for each of what nodes give to their pods.
pub(super) fn representatives(cluster: &Cluster) -> Vec<NodeId> {
    let keys = copied_keys(cluster);
    let mut nodes = BTreeMap::<Vec<Option<Symbol>>, NodeId>::new();
    for (id, node) in cluster.nodes.iter() {
        nodes.entry(keys.iter().map(|&key| node.labels.value(key)).collect()).or_insert(id);
    }
    nodes.into_values().collect()
}

/// The labels of a pod once it is bound to a node that gives it these.
fn bound(labels: &Labels, given: &[(Symbol, Symbol)]) -> Labels {
    let mut labels = labels.clone();
    given.iter().for_each(|&(key, value)| labels.set(key, value));
    labels
}

/// The set of labels of a number: its digits choose the values, and zero is none.
fn numbered(universe: &Universe, mut number: usize) -> Labels {
    let mut labels = Labels::default();
    for (&key, values) in universe {
        let digit = number % (values.len() + 1);
        number /= values.len() + 1;
        if digit > 0 {
            labels.set(key, values[digit - 1]);
        }
    }
    labels
}

/// `[app=cache]`, or nothing where there are none.
pub(super) fn shown(cluster: &Cluster, labels: &Labels) -> String {
    let text = |symbol| cluster.symbols.str(symbol);
    let mut shown: Vec<String> = labels.iter().map(|(key, value)| format!("{}={}", text(key), text(value))).collect();
    shown.sort();
    if shown.is_empty() { String::new() } else { format!("[{}]", shown.join(",")) }
}

/// The matchers of the affinity and spread constraints of pods: those that ask for company.
pub(super) fn wanting(m: &Model, pods: &BTreeSet<PodId>) -> BTreeSet<MatcherId> {
    pods.iter()
        .flat_map(|&pod| {
            let spec = m.pod(pod);
            spec.affinity.iter().map(|term| term.matcher).chain(spec.spread.iter().map(|spread| spread.matcher))
        })
        .collect()
}

/// The matchers of the anti-affinity terms of pods: those that keep away.
pub(super) fn repelling(m: &Model, pods: &BTreeSet<PodId>) -> BTreeSet<MatcherId> {
    pods.iter().flat_map(|&pod| m.pod(pod).anti_affinity.iter().map(|term| term.matcher)).collect()
}
