//! A kubelet in the wrong hands: relabels its own node.
//!
//! With the admission plugin NodeRestriction a kubelet may add, change and remove labels of its own node, but
//!
//! ```text
//! node-restriction.kubernetes.io/*, and under any name before it   never
//! other kubernetes.io/* and k8s.io/*, and under any name before    only those that kubelets set themselves
//! ```
//! and it may not touch taints. Kubernetes: `plugin/pkg/admission/noderestriction/admission.go`, `getForbiddenUpdateLabels`;
//! `staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go`, `IsKubeletLabel`.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::NodeRequirement;
use podreach_core::id::Symbol;
use podreach_core::label::Labels;
use podreach_core::selector::{Selector, Values};
use podreach_core::{Cluster, NodeId, PodId};

use super::{Variant, Variants};
use crate::audit::policy::world::{World, nodes_named};

/// The most sets of labels that are looked at, and the most that are asked about.
const COMBINATIONS: usize = 4_096;
const WORLDS: usize = 256;

/// Labels that kubelets set on their own nodes.
const OWN: [&str; 10] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Whether a kubelet may change a label of its node.
pub(crate) fn may_change(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else { return true };
    let within = |suffix: &str| domain == suffix || domain.ends_with(&format!(".{suffix}"));
    if within("node-restriction.kubernetes.io") {
        return false;
    }
    let reserved = within("kubernetes.io") || within("k8s.io");
    !reserved || OWN.contains(&key) || within("kubelet.kubernetes.io") || within("node.kubernetes.io")
}

const NOTE: &str = "The kubelet is taken to choose the labels of its node once. It may also change them between deployments, which is \
    not looked at: a violation is one, and a rule that holds may still be broken that way.";

/// The cluster under every labelling of the node that makes a difference.
pub(super) fn variants(world: World, node: &str, plain: bool) -> Result<Variants, String> {
    let Some(id) = nodes_named(world.model()).find(|(_, name)| *name == node).map(|(id, _)| id) else {
        return Err(format!("there is no node {node}, the actor's"));
    };
    let seeds = world.model().pods().filter(|&pod| !world.selected[pod].is_empty());
    let relevant = world.relevant(seeds);
    let mut cluster = world.model().facts();
    let choices = choices(&mut cluster, &relevant, id);
    let combinations = choices.values().fold(1_usize, |all, values| all.saturating_mul(values.len()));
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    let mut complete = combinations <= COMBINATIONS;
    for combination in 0..combinations.min(COMBINATIONS) {
        let labels = relabelled(&cluster, &choices, id, combination);
        if !seen.insert(effect(&world, &cluster, &relevant, id, &labels)) {
            continue;
        }
        if variants.len() >= WORLDS {
            complete = false;
            break;
        }
        // The first are the labels as they are.
        let how = if combination == 0 { format!("with {node} as it is") } else { described(&cluster, id, &labels) };
        let mut other = cluster.clone();
        other.nodes[id].labels = labels;
        variants.push(Variant { world: world.with_cluster(other), how: Some(how) });
    }
    let social = relevant.iter().any(|&pod| {
        let spec = world.model().pod(pod);
        !(spec.affinity.is_empty() && spec.anti_affinity.is_empty() && spec.spread.is_empty())
    });
    let missed = "the kubelet can choose among too many labels: not all of them were tried".to_owned();
    let note = if social || !plain {
        NOTE
    } else {
        "No pod of this rule looks at others, so it does not matter when the kubelet changes labels: this is exact."
    };
    Ok(Variants { variants, note: Some(note.to_owned()), missed: (!complete).then_some(missed) })
}

/// The keys that a kubelet may change and someone looks at, each with the values that make a difference; `None` is no value.
type Choices = BTreeMap<Symbol, Vec<Option<Symbol>>>;

fn choices(cluster: &mut Cluster, relevant: &BTreeSet<PodId>, node: NodeId) -> Choices {
    let mut values = BTreeMap::<Symbol, BTreeSet<Symbol>>::new();
    for &pod in relevant {
        let spec = cluster.pods[pod].spec.clone();
        for (key, value) in spec.node_selector.iter() {
            values.entry(key).or_default().insert(value);
        }
        let terms = spec.node_affinity.iter().chain(&spec.added_affinity).flatten();
        for (key, requirement) in terms.flat_map(|term| &term.expressions) {
            let named = match requirement {
                NodeRequirement::Label(allowed) => match &allowed.values {
                    Values::Only(values) | Values::AllBut(values) => values.iter().copied().collect(),
                },
                NodeRequirement::Above(bound) => vec![cluster.symbols.intern(&bound.saturating_add(1).to_string())],
                NodeRequirement::Below(bound) => vec![cluster.symbols.intern(&bound.saturating_sub(1).to_string())],
            };
            values.entry(*key).or_default().extend(named);
        }
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.key);
        for key in terms.chain(spec.spread.iter().map(|spread| spread.key)) {
            let key = cluster.keys[key];
            let existing = cluster.nodes.values().filter_map(|node| node.labels.value(key));
            values.entry(key).or_default().extend(existing);
        }
    }
    // A pod gets the zone and region of its node, so selectors see these labels, too.
    for key in copied_keys(cluster) {
        let selectors = cluster.matchers.entries().values().filter_map(|matcher| match &matcher.selector {
            Selector::Nothing => None,
            Selector::Every(entries) => entries.get(&key),
        });
        for allowed in selectors {
            let (Values::Only(named) | Values::AllBut(named)) = &allowed.values;
            values.entry(key).or_default().extend(named);
        }
    }
    values.retain(|&key, _| may_change(cluster.symbols.str(key)));
    let other = cluster.symbols.intern("relabelled");
    let own = cluster.nodes[node].labels.clone();
    let all = |(key, values): (Symbol, BTreeSet<Symbol>)| {
        let mut all = vec![own.value(key)];
        for value in std::iter::once(None).chain(values.into_iter().map(Some)).chain([Some(other)]) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        (key, all)
    };
    values.into_iter().map(all).collect()
}

/// The labels of a number: its digits choose the values; zero is the labels as they are.
fn relabelled(cluster: &Cluster, choices: &Choices, node: NodeId, mut number: usize) -> Labels {
    let mut labels = cluster.nodes[node].labels.clone();
    for (&key, values) in choices {
        match values[number % values.len()] {
            Some(value) => labels.set(key, value),
            None => labels.remove(key),
        }
        number /= values.len();
    }
    labels
}

/// What rules can see of a labelling: which pods the node takes, and which domains it is in.
fn effect(
    world: &World,
    cluster: &Cluster,
    relevant: &BTreeSet<PodId>,
    node: NodeId,
    labels: &Labels,
) -> (Vec<bool>, Vec<Option<Symbol>>) {
    let (mut part, map) = world.part(|pod| relevant.contains(&pod), |other| other == node);
    let mut small = part.model().facts();
    small.symbols = cluster.symbols.clone();
    let only = map.nodes[node].expect("the part has the node");
    small.nodes[only].labels = labels.clone();
    part = part.with_cluster(small);
    let takes = part.model().pods().map(|pod| part.model().static_ok(pod, only)).collect();
    let keys: BTreeSet<Symbol> = cluster.keys.entries().values().copied().chain(copied_keys(cluster)).collect();
    (takes, keys.into_iter().map(|key| labels.value(key)).collect())
}

/// The labels that a node gives to its pods.
fn copied_keys(cluster: &Cluster) -> Vec<Symbol> {
    let keys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    keys.into_iter().filter_map(|key| cluster.symbols.symbol(key)).collect()
}

fn described(cluster: &Cluster, node: NodeId, labels: &Labels) -> String {
    let text = |symbol| cluster.symbols.str(symbol);
    let own = &cluster.nodes[node];
    let set = labels.iter().filter(|&(key, value)| own.labels.value(key) != Some(value));
    let mut changes: Vec<String> = set.map(|(key, value)| format!("{}={}", text(key), text(value))).collect();
    let gone = own.labels.iter().filter(|&(key, _)| labels.value(key).is_none());
    changes.extend(gone.map(|(key, _)| format!("{} removed", text(key))));
    changes.sort();
    format!("with {} on {}", changes.join(", "), text(own.name))
}

#[cfg(test)]
mod tests {
    use super::may_change;

    #[test]
    fn a_kubelet_may_change_what_node_restriction_leaves_it() {
        for key in
            ["pool", "example.com/pool", "kubernetes.io/hostname", "x.node.kubernetes.io/a", "kubelet.kubernetes.io/b"]
        {
            assert!(may_change(key), "{key}");
        }
        for key in ["node-restriction.kubernetes.io/pool", "a.node-restriction.kubernetes.io/b", "kubernetes.io/pool"] {
            assert!(!may_change(key), "{key}");
        }
        for key in ["node-role.kubernetes.io/control-plane", "k8s.io/x", "scheduling.k8s.io/x"] {
            assert!(!may_change(key), "{key}");
        }
    }
}
