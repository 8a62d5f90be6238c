//! A kubelet in the wrong hands: relabels its own node, says of it what it likes, and has mirror pods on it.
//!
//! With the admission plugin NodeRestriction a kubelet may add, change and remove labels of its own node, but
//!
//! ```text
//! node-restriction.kubernetes.io/*, and under any name before it   never
//! other kubernetes.io/* and k8s.io/*, and under any name before    only those that kubelets set themselves
//! ```
//! and it may not touch taints, but for those that follow from what it reports. It writes the status of its node and whether it is
//! cordoned, its CSINode, and mirror pods of any namespace and with any labels. Kubernetes: `plugin/pkg/admission/noderestriction/admission.go`, `getForbiddenUpdateLabels`;
//! `staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go`, `IsKubeletLabel`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::cluster::{Node, NodeRequirement, NodeTerm, Pod, PodSpec};
use podreach_core::id::{MatcherId, NamespaceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::rule::Rule;
use podreach_core::selector::{Selector, Values};
use podreach_core::storage::{ClaimState, DeviceState};
use podreach_core::{Cluster, Id, Model, NodeId, PodId, Semantics};

use super::labels::{self, TYPES, copied_keys, label_sets, universe, wanting};
use super::{ActorError, Variant, Variants};
use crate::audit::changed::{Changes, Step};
use crate::audit::policy::Property;
use crate::audit::policy::world::{Draft, World, nodes_named};
use crate::words;

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
    if is_within(domain, "node-restriction.kubernetes.io") {
        return false;
    }
    let reserved = is_within(domain, "kubernetes.io") || is_within(domain, "k8s.io");
    !reserved
        || OWN.contains(&key)
        || is_within(domain, "kubelet.kubernetes.io")
        || is_within(domain, "node.kubernetes.io")
}

/// Whether a domain is one, or within it.
fn is_within(domain: &str, suffix: &str) -> bool {
    domain == suffix || domain.ends_with(&format!(".{suffix}"))
}

const ONCE: &str = "The kubelet is taken to choose the labels of its node once. It may also change them between deployments, which is \
    not looked at: a violation is one, and a rule that holds may still be broken that way.";

const OPEN: &str = "What the kubelet says of its room, its features and its cordon is taken to be anything, and mirror pods with any labels \
    run on its node; the rule is not about those.";

const CLOSED: &str = "At worst the kubelet says that its node has no room. That its mirror pods keep others away is left out: one with \
    required anti-affinity would keep them all out, as for a tenant.";

/// The cluster under every labelling of the node that makes a difference, and with all that the kubelet can say of it besides.
pub(super) fn variants(
    mut draft: Draft,
    semantics: Semantics,
    node: &str,
    property: &Property,
) -> Result<Variants, ActorError> {
    let world = draft.clone().finish(semantics);
    let Some(id) = nodes_named(world.model()).find(|(_, name)| *name == node).map(|(id, _)| id) else {
        return Err(ActorError::UnknownNode(node.to_owned()));
    };
    let relevant = world.relevant(world.model().pods().filter(|&pod| !world.selected[pod].is_empty()));
    let mut complete = true;
    if property.forbids() {
        complete &= add_mirrors(&mut draft, world.model(), &relevant, id);
    }
    draft.changes = Changes::of_added(&draft, world.model().pods().len(), &[], &[]);
    let world = draft.finish(semantics);
    let mut cluster = world.model().facts();
    let choices = choices(&mut cluster, &relevant, id);
    // The labels that it can choose are words of its cluster from here on.
    let world = world.with_cluster(cluster);
    let said = world.made(&Step::Change(if property.forbids() { Change::Open(id) } else { Change::Close(id) }));
    let (labellings, all) = labellings(&world, &said, &choices, &relevant, id);
    let missed = "the kubelet can choose among too many labels: not all of them were tried".to_owned();
    let note = note(world.model(), &relevant, property);
    let variants =
        labellings.into_iter().map(|labels| variant((&world, &said), id, &labels, property.forbids())).collect();
    Ok(Variants { variants, note: Some(note), missed: (!(complete && all)).then_some(missed), beyond: Vec::new() })
}

/// What is and what is not looked at.
fn note(m: &Model, relevant: &BTreeSet<PodId>, property: &Property) -> String {
    let specs = || relevant.iter().map(|&pod| m.pod(pod));
    let social =
        specs().any(|spec| !(spec.affinity.is_empty() && spec.anti_affinity.is_empty() && spec.spread.is_empty()));
    let when = match property {
        Property::Never { .. } if !social => {
            "No pod of this rule looks at others, so it does not matter when the kubelet changes labels."
        }
        _ => ONCE,
    };
    let devices = specs().any(|spec| !spec.devices.is_empty());
    let left_out = if devices { " What devices it says its node has is left out." } else { "" };
    format!("{} {when}{left_out}", if property.forbids() { OPEN } else { CLOSED })
}

/// A labelling with everything else the kubelet says; or with that alone as it is, if less may do.
fn variant((world, said): (&World, &World), node: NodeId, labels: &Labels, open: bool) -> Variant {
    let m = world.model();
    let (own, name) = (m.node(node), m.node_name(node));
    let changes = described(m.cluster(), node, labels);
    let mut all = changes.clone();
    all.extend((open && (own.unschedulable || own.passing.cordoned)).then(|| "no cordon".to_owned()));
    all.push(if open { "any room" } else { "no room" }.to_owned());
    let simple = if changes.is_empty() { format!("with {name} as it is") } else { on(&changes, name) };
    let simpler = Variant { world: labelled(world, node, labels), how: Some(simple), simpler: None };
    Variant { world: labelled(said, node, labels), how: Some(on(&all, name)), simpler: Some(Box::new(simpler)) }
}

/// The world in which a node has these labels.
fn labelled(world: &World, node: NodeId, labels: &Labels) -> World {
    let own = &world.model().node(node).labels;
    let set = labels.iter().filter(|&(key, value)| own.value(key) != Some(value));
    let set = set.map(|(key, value)| Change::Label(node, key, Some(value)));
    let gone = own.iter().filter(|&(key, _)| labels.value(key).is_none());
    let gone = gone.map(|(key, _)| Change::Label(node, key, None));
    let changes: Vec<Change> = set.chain(gone).collect();
    world.changed(&changes)
}

fn on(changes: &[String], node: &str) -> String {
    format!("with {} on {node}", words::all(changes))
}

/// Adds mirror pods of the node for all sets of labels that make a difference to those who want company; says whether those are all.
///
/// A kubelet may create them in every namespace; no scheduler sees them.
fn add_mirrors(draft: &mut Draft, m: &Model, relevant: &BTreeSet<PodId>, node: NodeId) -> bool {
    let matchers: Vec<MatcherId> = wanting(m, relevant).into_iter().collect();
    let universe = universe(&mut draft.cluster, &matchers, &[]);
    let (sets, mut complete) = label_sets(&draft.cluster, &universe, &matchers, |_| Vec::new());
    let namespaces: Vec<NamespaceId> = draft.cluster.namespaces.entries().ids().collect();
    let mut mirrors = Vec::new();
    for (namespace, labels) in
        namespaces.iter().flat_map(|&namespace| sets.iter().map(move |labels| (namespace, labels)))
    {
        let node_name = Some(draft.cluster.nodes[node].name);
        let exempt = Rule::ALL.into_iter().filter(|rule| *rule != Rule::NodeName && rule.is_filter()).collect();
        mirrors.push(PodSpec { labels: labels.clone(), node_name, exempt, ..PodSpec::plain(namespace) });
    }
    for spec in distinct(draft, m.semantics(), &matchers, mirrors) {
        let namespace = draft.cluster.symbols.str(draft.cluster.namespaces[spec.namespace]);
        let name = format!("pod/{namespace}/mirror{}", labels::shown(&draft.cluster, &spec.labels));
        complete &= draft.cluster.pods.len() < m.pods().len() + TYPES;
        if complete {
            draft.add(Pod { name, spec: Arc::new(spec) }, Vec::new());
        }
    }
    complete
}

/// One pod for each combination of matchers that see it, those that none sees left out. Labels that its node gives it are among its own:
/// it may have those that the node will have.
fn distinct(draft: &Draft, semantics: Semantics, matchers: &[MatcherId], mirrors: Vec<PodSpec>) -> Vec<PodSpec> {
    let mut cluster = draft.cluster.clone();
    let first = cluster.pods.len();
    for spec in &mirrors {
        cluster.pods.push(Pod { name: String::new(), spec: Arc::new(spec.clone()) });
    }
    let m = Model::new(cluster, semantics);
    let mut found = BTreeMap::<Vec<bool>, PodSpec>::new();
    for (at, spec) in mirrors.into_iter().enumerate() {
        let pod = PodId::from_index(first + at);
        let seen: Vec<bool> = matchers.iter().map(|&matcher| m.sees_unbound(matcher, pod)).collect();
        if seen.contains(&true) {
            found.entry(seen).or_insert(spec);
        }
    }
    found.into_values().collect()
}

/// The keys that a kubelet may change and someone looks at, each with the values that make a difference; `None` stands for no value.
type Choices = BTreeMap<Symbol, Vec<Option<Symbol>>>;

/// The values of labels that someone looks at.
type Looked = BTreeMap<Symbol, BTreeSet<Symbol>>;

fn choices(cluster: &mut Cluster, relevant: &BTreeSet<PodId>, node: NodeId) -> Choices {
    let mut values = Looked::new();
    for &pod in relevant {
        let spec = cluster.pods[pod].spec.clone();
        for (key, value) in spec.node_selector.iter() {
            values.entry(key).or_default().insert(value);
        }
        let terms: Vec<NodeTerm> = spec.node_affinity.iter().chain(&spec.added_affinity).flatten().cloned().collect();
        look_at_terms(cluster, &mut values, &terms);
        look_at_storage(cluster, &mut values, &spec);
        let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.key);
        for key in terms.chain(spec.spread.iter().map(|spread| spread.key)) {
            let key = cluster.keys[key];
            let existing = cluster.nodes.values().filter_map(|node| node.labels.value(key));
            values.entry(key).or_default().extend(existing);
        }
    }
    // A pod gets the zone and region of its node, so selectors also see these labels.
    for key in copied_keys(cluster) {
        let selectors = cluster.matchers.entries().values().map(|matcher| &matcher.selector);
        selectors.for_each(|selector| look_at_selector(&mut values, selector, |other| other == key));
    }
    values.retain(|&key, _| may_change(cluster.symbols.str(key)));
    let other = cluster.symbols.intern("relabelled");
    let own = cluster.nodes[node].labels.clone();
    let all = values.into_iter().map(|(key, values)| {
        let mut all = vec![own.value(key)];
        for value in std::iter::once(None).chain(values.into_iter().map(Some)).chain([Some(other)]) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        (key, all)
    });
    all.collect()
}

fn look_at_terms(cluster: &mut Cluster, values: &mut Looked, terms: &[NodeTerm]) {
    for (key, requirement) in terms.iter().flat_map(|term| &term.expressions) {
        let named = match requirement {
            NodeRequirement::Label(allowed) => match &allowed.values {
                Values::Only(values) | Values::AllBut(values) => values.iter().copied().collect(),
            },
            NodeRequirement::Above(bound) => vec![cluster.symbols.intern(&bound.saturating_add(1).to_string())],
            NodeRequirement::Below(bound) => vec![cluster.symbols.intern(&bound.saturating_sub(1).to_string())],
        };
        values.entry(*key).or_default().extend(named);
    }
}

fn look_at_selector(values: &mut Looked, selector: &Selector, is_of: impl Fn(Symbol) -> bool) {
    let Selector::Every(entries) = selector else { return };
    for (&key, allowed) in entries.iter().filter(|(key, _)| is_of(**key)) {
        let (Values::Only(named) | Values::AllBut(named)) = &allowed.values;
        values.entry(key).or_default().extend(named);
    }
}

/// What the volumes and devices of a pod ask of nodes: where a volume is, or can be made, and from where devices can be used.
fn look_at_storage(cluster: &mut Cluster, values: &mut Looked, spec: &PodSpec) {
    let mut terms: Vec<NodeTerm> = Vec::new();
    for &property in &spec.mounts.claims {
        let volumes = match &cluster.claims[property].state {
            ClaimState::Bound { volume, .. } => volume.iter().copied().collect(),
            ClaimState::Waiting(waiting) => waiting.volumes.clone(),
            _ => Vec::new(),
        };
        for volume in volumes.into_iter().map(|volume| &cluster.volumes[volume]) {
            terms.extend(volume.node_affinity.iter().flatten().cloned());
            for zone in &volume.zones {
                for key in [zone.key, zone.instead] {
                    values.entry(key).or_default().extend(&zone.values);
                }
            }
        }
        let ClaimState::Waiting(waiting) = &cluster.claims[property].state else { continue };
        if let Some(provision) = &waiting.provision {
            terms.extend(provision.topologies.iter().flatten().cloned());
            provision.pools.iter().flatten().for_each(|pool| look_at_selector(values, pool, |_| true));
        }
    }
    for &property in &spec.devices {
        if let DeviceState::Allocated(Some(places)) = &cluster.device_claims[property].state {
            terms.extend(places.iter().cloned());
        }
    }
    look_at_terms(cluster, values, &terms);
}

/// The labellings that make a difference to what the kubelet says, and whether those are all; the first is as it is.
fn labellings(
    world: &World,
    said: &World,
    choices: &Choices,
    relevant: &BTreeSet<PodId>,
    node: NodeId,
) -> (Vec<Labels>, bool) {
    let combinations = choices.values().fold(1_usize, |all, values| all.saturating_mul(values.len()));
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for combination in 0..combinations.min(COMBINATIONS) {
        let labels = relabelled(world.model().cluster(), choices, node, combination);
        if seen.insert(effect(world, said.model().cluster(), relevant, node, &labels)) {
            if found.len() >= WORLDS {
                return (found, false);
            }
            found.push(labels);
        }
    }
    (found, combinations <= COMBINATIONS)
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
    small.nodes[only] = Node { labels: labels.clone(), ..cluster.nodes[node].clone() };
    part = part.with_cluster(small);
    let takes = part.model().pods().map(|pod| part.model().static_ok(pod, only)).collect();
    let keys: BTreeSet<Symbol> = cluster.keys.entries().values().copied().chain(copied_keys(cluster)).collect();
    (takes, keys.into_iter().map(|key| labels.value(key)).collect())
}

/// What differs from the labels as they are.
fn described(cluster: &Cluster, node: NodeId, labels: &Labels) -> Vec<String> {
    let text = |symbol| cluster.symbols.str(symbol);
    let own = &cluster.nodes[node];
    let set = labels.iter().filter(|&(key, value)| own.labels.value(key) != Some(value));
    let mut changes: Vec<String> = set.map(|(key, value)| format!("{}={}", text(key), text(value))).collect();
    let gone = own.labels.iter().filter(|&(key, _)| labels.value(key).is_none());
    changes.extend(gone.map(|(key, _)| format!("{} removed", text(key))));
    changes.sort();
    changes
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
