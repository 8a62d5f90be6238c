//! A tenant: may create any pod in its namespaces, relabel those that run there, and name their nodes.
//!
//! There are endlessly many pods, but few that differ in what they make possible. A pod that asks for nothing and tolerates everything
//! can be deployed wherever another with its labels can, is as good a witness and counterweight, and is in nobody's way more than
//! that one. So one such pod per set of labels and profile stands for all; and labels differ only in which selectors they match, so one
//! set of labels per combination of matches will do. Where limit ranges and quotas let only pods in that ask for something, the
//! cheapest of these take its place.
//!
//! A label can be changed once a pod runs, and nobody asks again. Only required anti-affinity looks at the labels of a new pod, so:
//!
//! ```text
//! all sets of labels are alike to it     relabelling makes nothing possible that a new pod does not
//! some set is noticed by none of it      every pod of the tenant passes it, made with that set and relabelled
//! otherwise                              that every pod passes it is more than can happen: what breaks there only is said to be open
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::cluster::{Pod, PodSpec, Taint, TaintEffect, Toleration, TolerationOperator};
use podreach_core::id::{MatcherId, Symbol};
use podreach_core::label::Labels;
use podreach_core::rule::Rule;
use podreach_core::{Cluster, Model, NodeId, PodId, Semantics};

use super::labels::{self, TYPES, label_sets, repelling, universe, wanting};
use super::{ActorError, Beyond, Power, Variant, Variants};
use crate::audit::changed::Changes;
use crate::audit::policy::PodSelection;
use crate::audit::policy::world::{Draft, World};
use crate::lower::pool::tolerates;
use crate::lower::{Cheapest, Entrance, Kind, Lowered, Scheduling};

/// What a tenant may do.
#[derive(Clone, Copy)]
pub(super) struct Rights<'a> {
    /// Where it may create pods.
    pub(super) namespaces: &'a [String],
    /// Whether they may tolerate taints.
    pub(super) tolerations: bool,
    /// Whether they may name their nodes.
    pub(super) node_names: bool,
}

/// The pod types of a tenant in one of its namespaces.
type Types = Vec<PodId>;

/// The cluster with the pods that a tenant may add.
pub(super) fn variants(
    mut draft: Draft,
    lowered: &Lowered,
    selections: &[&PodSelection],
    semantics: Semantics,
    rights: Rights<'_>,
) -> Result<Variants, ActorError> {
    if let Some(unknown) = rights.namespaces.iter().find(|namespace| !is_known(lowered, namespace)) {
        return Err(ActorError::UnknownNamespace(unknown.clone()));
    }
    let own: Vec<PodId> = draft.cluster.pods.ids().collect();
    let relevant = relevant(&draft.clone().finish(semantics));
    let (types, exact) = add_types(&mut draft, &relevant, lowered, selections, rights);
    let plain = draft.clone().finish(semantics);
    let relabelling = relabel(&mut draft, &plain, &relevant.repelling, &types);
    let asked = asked(&draft.cluster, types.iter().flatten().copied());
    asked.iter().for_each(|&node| Change::Ask(node).apply(&mut draft.cluster));
    draft.changes = Changes::of_added(&draft, own.len(), &lowered.profiles, &asked);
    let running = lasting(&draft, plain.model(), &own, &types);
    let beyond = beyond(&draft, &types, &running, semantics, rights.node_names, relabelling);
    let missed = "the tenant can choose among too many labels: not all of them were tried".to_owned();
    let variants = vec![Variant { world: draft.finish(semantics), how: None, simpler: None }];
    let note = note(&entrances(lowered, rights.namespaces), rights, relabelling);
    Ok(Variants { variants, note: Some(note), missed: (!exact).then_some(missed), beyond })
}

/// Whether the input has a namespace.
fn is_known(lowered: &Lowered, namespace: &str) -> bool {
    lowered.cluster.symbols.symbol(namespace).is_some_and(|name| lowered.cluster.namespaces.id(&name).is_some())
}

/// What admission asks of pods in each namespace.
fn entrances(lowered: &Lowered, namespaces: &[String]) -> Vec<Entrance> {
    let free = Entrance { cheapest: vec![Cheapest::default()], unclear: false };
    namespaces.iter().map(|namespace| lowered.entrances.get(namespace).unwrap_or(&free).clone()).collect()
}

/// Who the tenant's pods are.
fn note(entrances: &[Entrance], rights: Rights<'_>, relabelling: Relabelling) -> String {
    let asks = if rights.tolerations {
        "any labels, tolerations and requests"
    } else {
        "any labels and requests, and no tolerations but those that every pod gets"
    };
    let within = if entrances.iter().any(|entrance| entrance.unclear) {
        "A quota of its namespaces counts pods by what is not modelled and is left out, so an escape may need more than it allows; a \
            rule that holds, holds."
    } else {
        "Limit ranges and quotas of its namespaces hold for them."
    };
    let renamed = match relabelling {
        Relabelling::Free => {
            " A pod called any-relabelled was made with labels that no anti-affinity matches, and got those when it ran."
        }
        _ => "",
    };
    format!("The tenant's pods go through any scheduler profile of the input, with {asks}. {within}{renamed}")
}

/// What can tell a tenant's pods apart.
struct Relevant {
    matchers: Vec<MatcherId>,
    repelling: BTreeSet<MatcherId>,
}

/// The selectors of everyone who can take part.
fn relevant(world: &World) -> Relevant {
    let m = world.model();
    let pods = world.relevant(m.pods().filter(|&pod| !world.selected[pod].is_empty()));
    let repelling = repelling(m, &pods);
    let matchers = wanting(m, &pods).union(&repelling).copied().collect();
    Relevant { matchers, repelling }
}

/// Adds the tenant's pod types, and says whether those are all.
fn add_types(
    draft: &mut Draft,
    relevant: &Relevant,
    lowered: &Lowered,
    selections: &[&PodSelection],
    rights: Rights<'_>,
) -> (Vec<Types>, bool) {
    let universe = universe(&mut draft.cluster, &relevant.matchers, selections);
    let usual = [Scheduling::usual()];
    let profiles = best(if lowered.profiles.is_empty() { &usual } else { &lowered.profiles });
    let (mut all, mut exact) = (Vec::new(), true);
    for (namespace, entrance) in rights.namespaces.iter().zip(entrances(lowered, rights.namespaces)) {
        let (sets, complete) = label_sets(&draft.cluster, &universe, &relevant.matchers, |labels| {
            selected(&draft.cluster, namespace, labels, selections)
        });
        exact &= complete;
        let mut types = Types::new();
        for labels in sets {
            for (number, cheapest) in entrance.cheapest.iter().enumerate() {
                for &profile in &profiles {
                    let called = called(number, profile);
                    let spec = spec(draft, namespace, &labels, (cheapest, profile), rights.tolerations);
                    types.push(add(draft, (namespace, &called), spec, selections));
                }
            }
        }
        all.push(types);
    }
    (all, exact)
}

/// The new nodes that come only for pods which ask for their labels, and that pods of the tenant can ask for: these select what they want. One of
/// each shape; a pod for which there is none must be let in, tolerate its taints, and fit.
///
/// A pod of these has no node selector, and so stands for those that have one. Admission may refuse that: see `lowered.entrances`.
fn asked(cluster: &Cluster, types: impl Iterator<Item = PodId> + Clone) -> Vec<NodeId> {
    let shapes = cluster.shapes.values().filter(|shape| shape.is_certain_if_asked && !shape.is_certain);
    let nodes = shapes.filter_map(|shape| shape.nodes.first().copied());
    let can_ask = |node: &NodeId| {
        let node = &cluster.nodes[*node];
        let hard: Vec<Taint> =
            node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule).copied().collect();
        types.clone().map(|pod| &cluster.pods[pod].spec).any(|spec| {
            let fits = spec.requests.iter().all(|(resource, amount)| amount <= node.allocatable.amount(resource));
            fits && spec.added_affinity.is_none() && tolerates(spec, &hard)
        })
    };
    nodes.filter(can_ask).collect()
}

/// The profiles that no other surpasses in everything, for a pod that asks for nothing.
fn best(profiles: &[Scheduling]) -> Vec<&Scheduling> {
    (0..profiles.len()).filter(|&at| !is_beaten(profiles, at)).map(|at| &profiles[at]).collect()
}

fn is_beaten(profiles: &[Scheduling], at: usize) -> bool {
    let others = profiles.iter().enumerate().filter(|(other, _)| *other != at);
    others.into_iter().any(|(other, a)| is_better(a, &profiles[at]) && (other < at || !is_better(&profiles[at], a)))
}

/// Whether a profile asks for no more than another.
fn is_better(a: &Scheduling, b: &Scheduling) -> bool {
    a.exempt.is_superset(&b.exempt) && (a.added_affinity.is_none() || a.added_affinity == b.added_affinity)
}

fn called(number: usize, profile: &Scheduling) -> String {
    let number = if number == 0 { String::new() } else { format!("-{}", number + 1) };
    let by = if profile.is_usual() { String::new() } else { format!("-by-{}", profile.name) };
    format!("any{number}{by}")
}

fn exists(key: Option<Symbol>, effect: Option<TaintEffect>) -> Toleration {
    Toleration { key, operator: TolerationOperator::Exists, effect }
}

/// A pod of the tenant.
fn spec(
    draft: &mut Draft,
    namespace: &str,
    labels: &Labels,
    (cheapest, profile): (&Cheapest, &Scheduling),
    tolerations: bool,
) -> PodSpec {
    let tolerations = if tolerations {
        vec![exists(None, None)]
    } else {
        let lost = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        let lost = lost.map(|key| draft.cluster.symbols.intern(key));
        lost.map(|key| exists(Some(key), Some(TaintEffect::NoExecute))).to_vec()
    };
    let Cheapest { requests, quota } = cheapest.clone();
    let Scheduling { exempt, added_affinity, .. } = profile.clone();
    let plain = PodSpec::plain(draft.cluster.namespace(namespace));
    PodSpec { labels: labels.clone(), tolerations, requests, quota, exempt, added_affinity, ..plain }
}

/// Adds a pod type of the tenant, with a name that tells its labels.
fn add(draft: &mut Draft, (namespace, called): (&str, &str), spec: PodSpec, selections: &[&PodSelection]) -> PodId {
    let selected = selected(&draft.cluster, namespace, &spec.labels, selections);
    let name = format!("pod/{namespace}/{called}{}", labels::shown(&draft.cluster, &spec.labels));
    draft.add(Pod { name, spec: Arc::new(spec) }, selected)
}

/// The selections of the rule that select a tenant's pod: it may have any name that a Pod can have.
fn selected(cluster: &Cluster, namespace: &str, labels: &Labels, selections: &[&PodSelection]) -> Vec<usize> {
    let text = |symbol| cluster.symbols.str(symbol).to_owned();
    let labels: BTreeMap<String, String> = labels.iter().map(|(key, value)| (text(key), text(value))).collect();
    (0..selections.len()).filter(|&at| may_select(namespace, &labels, selections[at])).collect()
}

/// Whether a selection selects a tenant's pod with these labels, whatever it is called.
fn may_select(namespace: &str, labels: &BTreeMap<String, String>, selection: &PodSelection) -> bool {
    selection.admits(namespace, Kind::Pod, labels)
        && selection.names.as_ref().is_none_or(|names| names.iter().any(|given| may_be_called(namespace, given)))
}

/// Whether a tenant's pod may have a name that is given as in a rule.
fn may_be_called(namespace: &str, given: &str) -> bool {
    match given.split('/').collect::<Vec<_>>().as_slice() {
        [_] => true,
        [own, _] => *own == namespace,
        [kind, own, _] => *kind == "pod" && *own == namespace,
        _ => false,
    }
}

/// What it comes to that labels of running pods can be changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relabelling {
    /// To nothing.
    Idle,
    /// No anti-affinity keeps the tenant's pods out.
    Free,
    /// To something in between, which is not worked out.
    Open,
}

/// Lets the tenant's pods pass the anti-affinity of others where relabelling does.
fn relabel(draft: &mut Draft, plain: &World, repelling: &BTreeSet<MatcherId>, types: &[Types]) -> Relabelling {
    let m = plain.model();
    let noticed = |pod: PodId| -> Vec<bool> { repelling.iter().map(|&matcher| m.notices(matcher, pod)).collect() };
    let nodes = labels::representatives(m.cluster());
    let seen = |pod: PodId| -> Vec<bool> {
        repelling.iter().flat_map(|&matcher| nodes.iter().map(move |&node| m.sees(matcher, pod, node))).collect()
    };
    let alike =
        |types: &Types| types.windows(2).all(|two| noticed(two[0]) == noticed(two[1]) && seen(two[0]) == seen(two[1]));
    if types.iter().all(alike) {
        return Relabelling::Idle;
    }
    let is_free = |pod: &PodId| !repelling.iter().any(|&matcher| m.notices(matcher, *pod));
    if !types.iter().filter(|types| !types.is_empty()).all(|types| types.iter().any(is_free)) {
        return Relabelling::Open;
    }
    for &pod in types.iter().flatten().filter(|pod| !is_free(pod)) {
        let known = &mut draft.cluster.pods[pod];
        Arc::make_mut(&mut known.spec).exempt.insert(Rule::InterPodAffinity);
        known.name = known.name.replacen("/any", "/any-relabelled", 1);
    }
    Relabelling::Free
}

/// What else the tenant can do, each with a cluster in which it can do that and more.
fn beyond(
    draft: &Draft,
    types: &[Types],
    running: &[PodId],
    semantics: Semantics,
    node_names: bool,
    relabelling: Relabelling,
) -> Vec<Beyond> {
    let relabels = relabelling == Relabelling::Open || !running.is_empty();
    let mut beyond = Vec::new();
    let mut all = draft.clone();
    if relabels {
        loosen(&mut all, types.iter().flatten(), |spec| spec.exempt.extend([Rule::InterPodAffinity]));
        clone_relabelled(&mut all, running, types);
        beyond.push(Beyond { powers: vec![Power::Relabels], world: all.clone().finish(semantics) });
    }
    if node_names {
        let mut named = draft.clone();
        loosen(&mut named, types.iter().flatten(), name_node);
        beyond.push(Beyond { powers: vec![Power::NamesNodes], world: named.finish(semantics) });
    }
    if relabels && node_names {
        loosen(&mut all, types.iter().flatten(), name_node);
        beyond.push(Beyond { powers: vec![Power::Relabels, Power::NamesNodes], world: all.finish(semantics) });
    }
    beyond
}

fn loosen<'p>(draft: &mut Draft, pods: impl Iterator<Item = &'p PodId>, how: impl Fn(&mut PodSpec)) {
    pods.for_each(|&pod| how(Arc::make_mut(&mut draft.cluster.pods[pod].spec)));
}

/// A pod that names its node is seen by no scheduler. Its kubelet looks at room, at ports and at taints that make pods leave.
///
/// Kubernetes: `pkg/kubelet/lifecycle/predicate.go`, `generalFilter`.
fn name_node(spec: &mut PodSpec) {
    let looked_at = [Rule::NodeResourcesFit, Rule::NodePorts, Rule::TaintToleration, Rule::ResourceQuota];
    spec.exempt.extend(Rule::ALL.into_iter().filter(|rule| rule.is_filter() && !looked_at.contains(rule)));
    spec.tolerations.push(exists(None, Some(TaintEffect::NoSchedule)));
    spec.added_affinity = None;
}

/// The pod types of the input that the tenant can relabel to more effect than pods of its own: they run, or can run, where those cannot.
fn lasting(draft: &Draft, plain: &Model, own: &[PodId], types: &[Types]) -> Vec<PodId> {
    let theirs: BTreeSet<_> = types.iter().flatten().map(|&pod| plain.pod(pod).namespace).collect();
    let own = own.iter().copied().filter(|&pod| theirs.contains(&plain.pod(pod).namespace));
    let lasting = own.filter(|&pod| {
        let namespace = plain.pod(pod).namespace;
        let mut others = types.iter().flatten().filter(|&&other| plain.pod(other).namespace == namespace);
        !others.any(|&other| can_stand_in(draft, plain, other, pod))
    });
    lasting.collect()
}

/// Whether a pod of the tenant can be wherever a pod of the input is or can get to, once that one is deleted.
fn can_stand_in(draft: &Draft, m: &Model, own: PodId, pod: PodId) -> bool {
    let (a, b) = (m.pod(own), m.pod(pod));
    let asks_less = a.requests.iter().all(|(resource, amount)| amount <= b.requests.amount(resource))
        && a.quota.iter().all(|(quota, amount)| *amount <= b.quota.get(quota).copied().unwrap_or(0));
    let tolerates =
        a.tolerations.contains(&exists(None, None)) || b.tolerations.iter().all(|t| a.tolerations.contains(t));
    let is_kept = draft.kept.of(pod).next().is_some();
    asks_less
        && tolerates
        && !is_kept
        && draft.start.of(pod).all(|(node, _)| {
            m.static_ok(own, node) && Rule::NodeResourcesFit.refusal(m, &draft.kept, own, node).is_none()
        })
}

/// Gives every running pod of these types any of the tenant's labels, without asking anti-affinity again.
fn clone_relabelled(draft: &mut Draft, pods: &[PodId], types: &[Types]) {
    let masks: Vec<(Arc<PodSpec>, Vec<usize>)> = types
        .iter()
        .flatten()
        .map(|&pod| (draft.cluster.pods[pod].spec.clone(), draft.selected[pod].clone()))
        .collect();
    for &pod in pods {
        let original = draft.cluster.pods[pod].clone();
        let mut seen = BTreeSet::new();
        for (mask, selected) in masks.iter().filter(|(mask, _)| mask.namespace == original.spec.namespace) {
            if !seen.insert(labels::shown(&draft.cluster, &mask.labels)) || seen.len() > TYPES {
                continue;
            }
            let mut spec = PodSpec { labels: mask.labels.clone(), ..(*original.spec).clone() };
            spec.exempt.insert(Rule::InterPodAffinity);
            let name = format!("{}{}", original.name, labels::shown(&draft.cluster, &mask.labels));
            let selected = selected.iter().chain(&draft.selected[pod]).copied().collect::<BTreeSet<_>>();
            let id = draft.add(Pod { name, spec: Arc::new(spec) }, selected.into_iter().collect());
            let running: Vec<_> = draft.start.of(pod).collect();
            running.into_iter().for_each(|(node, count)| draft.start.set((id, node), count));
        }
        draft.kept = draft.kept.iter().filter(|((kept, _), _)| *kept != pod).collect();
    }
}
