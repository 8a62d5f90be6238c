//! A tenant: may create any pod in its namespaces.
//!
//! There are endlessly many pods, but few that differ in what they make possible. A pod that asks for nothing and tolerates everything
//! can be deployed wherever another with its labels can, is as good a witness and counterweight, and is in nobody's way more than
//! that one. So one such pod per set of labels stands for all; and labels differ only in which selectors they match, so one set of
//! labels per combination of matches will do. Where limit ranges and quotas let only pods in that ask for something, the cheapest of
//! these take its place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::{Pod, PodSpec, TaintEffect, Toleration, TolerationOperator};
use podreach_core::id::{MatcherId, Symbol};
use podreach_core::label::Labels;
use podreach_core::selector::{Selector, Values};
use podreach_core::{Cluster, PodId, Semantics};

use super::{Variant, Variants};
use crate::audit::policy::PodSelection;
use crate::audit::policy::world::{Draft, World};
use crate::lower::{Cheapest, Entrance, Kind, Lowered};

/// The most sets of labels that are looked at, and the most pod types that are added for a namespace.
const COMBINATIONS: usize = 16_384;
const TYPES: usize = 128;

/// The cluster with the pods that a tenant may add.
pub(super) fn variants(
    mut draft: Draft,
    lowered: &Lowered,
    selections: &[&PodSelection],
    semantics: Semantics,
    namespaces: &[String],
    tolerations: bool,
) -> Result<Variants, String> {
    let known = |namespace: &&String| {
        lowered.cluster.symbols.symbol(namespace).is_some_and(|name| lowered.cluster.namespaces.id(&name).is_some())
    };
    if let Some(unknown) = namespaces.iter().find(|namespace| !known(namespace)) {
        return Err(format!("the input has nothing in namespace {unknown}, the actor's"));
    }
    let world = draft.clone().finish(semantics);
    let matchers = matchers(&world);
    let universe = universe(&mut draft.cluster, &matchers, selections);
    let mut exact = true;
    let free = Entrance { cheapest: vec![Cheapest::default()], unclear: false };
    let entrances: Vec<&Entrance> =
        namespaces.iter().map(|namespace| lowered.entrances.get(namespace).unwrap_or(&free)).collect();
    for (namespace, entrance) in namespaces.iter().zip(&entrances) {
        let (all, complete) = label_sets(&draft.cluster, &universe, &matchers, namespace, selections);
        exact &= complete;
        for labels in all {
            for (number, cheapest) in entrance.cheapest.iter().enumerate() {
                let called = if number == 0 { "any".to_owned() } else { format!("any-{}", number + 1) };
                add(&mut draft, (namespace, &called), &labels, selections, (cheapest, tolerations));
            }
        }
    }
    let missed = "the tenant can choose among too many labels: not all of them were tried".to_owned();
    let variants = vec![Variant { world: draft.finish(semantics), how: None }];
    Ok(Variants { variants, note: Some(note(&entrances, tolerations)), missed: (!exact).then_some(missed) })
}

/// Who the tenant's pods are, and how exact that is.
fn note(entrances: &[&Entrance], tolerations: bool) -> String {
    let asks = if tolerations {
        "any labels, tolerations and requests"
    } else {
        "any labels and requests, and no tolerations but those that every pod gets"
    };
    let within = if entrances.iter().any(|entrance| entrance.unclear) {
        "A quota of its namespaces counts pods by what is not modelled and is left out, so an escape may need more than it allows; a \
            rule that holds, holds."
    } else {
        "Limit ranges and quotas of its namespaces hold for them: this is exact."
    };
    format!("The tenant's pods are those that go through the scheduler: {asks}. {within}")
}

/// The selectors that can tell a tenant's pods apart: those of everyone who can take part.
fn matchers(world: &World) -> Vec<MatcherId> {
    let m = world.model();
    let seeds = m.pods().filter(|&pod| !world.selected[pod].is_empty());
    let mut matchers = BTreeSet::new();
    for pod in world.relevant(seeds) {
        let spec = m.pod(pod);
        matchers.extend(spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.matcher));
        matchers.extend(spec.spread.iter().map(|spread| spread.matcher));
    }
    matchers.into_iter().collect()
}

/// The values of each key that matter; the last stands for all others.
type Universe = BTreeMap<Symbol, Vec<Symbol>>;

fn universe(cluster: &mut Cluster, matchers: &[MatcherId], selections: &[&PodSelection]) -> Universe {
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

/// One set of labels per combination of selectors that it matches, and whether those are all.
fn label_sets(
    cluster: &Cluster,
    universe: &Universe,
    matchers: &[MatcherId],
    namespace: &str,
    selections: &[&PodSelection],
) -> (Vec<Labels>, bool) {
    let mut found = BTreeMap::<(Vec<bool>, Vec<usize>), Labels>::new();
    let combinations = universe.values().fold(1_usize, |all, values| all.saturating_mul(values.len() + 1));
    for combination in 0..combinations.min(COMBINATIONS) {
        let labels = numbered(universe, combination);
        let matched = matchers.iter().map(|&matcher| cluster.matchers[matcher].selector.matches(&labels)).collect();
        let signature = (matched, selected(cluster, namespace, &labels, selections));
        found.entry(signature).or_insert(labels);
    }
    let exact = combinations <= COMBINATIONS && found.len() <= TYPES;
    (found.into_values().take(TYPES).collect(), exact)
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

/// The selections of the rule that select a tenant's pod: it may have any name that a Pod can have.
fn selected(cluster: &Cluster, namespace: &str, labels: &Labels, selections: &[&PodSelection]) -> Vec<usize> {
    let text = |symbol| cluster.symbols.str(symbol).to_owned();
    let labels: BTreeMap<String, String> = labels.iter().map(|(key, value)| (text(key), text(value))).collect();
    let may_be_called = |given: &String| match given.split('/').collect::<Vec<_>>().as_slice() {
        [_] => true,
        [own, _] => *own == namespace,
        [kind, own, _] => *kind == "pod" && *own == namespace,
        _ => false,
    };
    let selects = |selection: &PodSelection| {
        selection.admits(namespace, Kind::Pod, &labels)
            && selection.names.as_ref().is_none_or(|names| names.iter().any(may_be_called))
    };
    (0..selections.len()).filter(|&at| selects(selections[at])).collect()
}

/// Adds a pod type of the tenant, with a name that tells its labels.
fn add(
    draft: &mut Draft,
    (namespace, called): (&str, &str),
    labels: &Labels,
    selections: &[&PodSelection],
    (cheapest, tolerations): (&Cheapest, bool),
) -> PodId {
    let exists = |key, effect| Toleration { key, operator: TolerationOperator::Exists, effect };
    let tolerations = if tolerations {
        vec![exists(None, None)]
    } else {
        let lost = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        let lost = lost.map(|key| draft.cluster.symbols.intern(key));
        lost.map(|key| exists(Some(key), Some(TaintEffect::NoExecute))).to_vec()
    };
    let Cheapest { requests, quota } = cheapest.clone();
    let plain = PodSpec::plain(draft.cluster.namespace(namespace));
    let spec = PodSpec { labels: labels.clone(), tolerations, requests, quota, ..plain };
    let text = |symbol| draft.cluster.symbols.str(symbol);
    let mut shown: Vec<String> = labels.iter().map(|(key, value)| format!("{}={}", text(key), text(value))).collect();
    shown.sort();
    let with = if shown.is_empty() { String::new() } else { format!("[{}]", shown.join(",")) };
    let selected = selected(&draft.cluster, namespace, labels, selections);
    let name = format!("pod/{namespace}/{called}{with}");
    draft.add(Pod { name, spec: Arc::new(spec) }, selected)
}
