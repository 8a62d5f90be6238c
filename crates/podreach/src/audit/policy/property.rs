//! From a rule to its item: the worlds it is asked in, the ruling in each, and what they come to.
//!
//! Nodes and topology are the input's: an actor who relabels a node does not change what the rule speaks of.

use std::sync::Arc;

use podreach_core::{Goal, NodeId, Semantics};

use super::numbered::{self, Group};
use super::packing::Want;
use super::ruling::{Asking, Ruling};
use super::world::{Draft, World, nodes_named};
use super::{NodeSelection, PodSelection, Policy, Property, Rule, labelled, never, possible, recoverable, together};
use crate::audit::actor::{self, Actor, Beyond, Power, Variant, Variants};
use crate::audit::boundary;
use crate::audit::item::{Item, Origin, Severity, Status};
use crate::audit::memory::Means;
use crate::lower::Lowered;
use crate::words;

impl Property {
    /// Its selections of pods, in order.
    pub(crate) fn selections(&self) -> Vec<&PodSelection> {
        match self {
            Self::Never { pods, .. } | Self::Possible { pods, .. } | Self::Recoverable { pods } => vec![pods],
            Self::NeverTogether { pods: [a, b], .. } => vec![a, b],
        }
    }

    /// Whether it says that something can never be.
    pub(crate) fn forbids(&self) -> bool {
        matches!(self, Self::Never { .. } | Self::NeverTogether { .. })
    }
}

/// A rule about which nothing is known yet.
pub(super) fn undecided(policy: &Policy, rule: &Rule) -> Item {
    Item {
        origin: Origin::Rule { policy: policy.name.clone(), rule: rule.name.clone() },
        status: Status::Undecided,
        severity: rule.severity,
        subject: Vec::new(),
        span: Some(rule.span),
        message: String::new(),
        explanation: rule.description.iter().cloned().collect(),
        fix: None,
        evidence: Vec::new(),
        boundary: None,
    }
}

/// Decides one rule.
pub(crate) fn item(
    lowered: &Lowered,
    policy: &Policy,
    rule: &Rule,
    semantics: Semantics,
    actor: &Actor,
    means: Means<'_>,
) -> Item {
    let mut item = undecided(policy, rule);
    let selections = rule.property.selections();
    let draft = Draft::new(lowered, semantics, &selections);
    let acting = if applies(actor, &rule.property) { actor } else { &Actor::AsIs };
    let Variants { variants, note, missed, beyond } =
        match actor::variants(draft, lowered, &selections, semantics, acting, &rule.property) {
            Ok(found) => found,
            Err(error) => return Item { message: error.to_string(), ..item },
        };
    if let Some(what) = selects_nothing(lowered, &rule.property, &variants[0].world) {
        return vacuous(item, rule, &what);
    }
    item.explanation.extend(note);
    if acting != actor {
        item.explanation.push(HELPLESS.to_owned());
    }
    let item = settle(item, lowered, rule, variants, means);
    let mut item =
        if item.status == Status::Holds { bounded(item, lowered, rule, acting, &beyond, means) } else { item };
    if *acting != Actor::AsIs {
        for evidence in &mut item.evidence {
            evidence.changed.get_or_insert_with(|| format!("with the pods of {acting}"));
        }
    }
    match missed {
        Some(missed) if item.status == Status::Holds => Item { status: Status::Undecided, message: missed, ..item },
        _ => item,
    }
}

/// A rule that holds, with what it does not hold for: what else the actor can do.
fn bounded(mut item: Item, lowered: &Lowered, rule: &Rule, actor: &Actor, beyond: &[Beyond], means: Means<'_>) -> Item {
    let mut broken: Vec<Power> = Vec::new();
    for Beyond { powers, world } in beyond {
        if powers.iter().all(|power| broken.contains(power)) {
            continue;
        }
        let ruling = ruling(lowered, &rule.property, world, means);
        match ruling.status {
            Status::Holds => continue,
            Status::Violated if *powers == [Power::NamesNodes] => {
                item.explanation.push(format!("With pods that name their node {}.", ruling.message));
            }
            _ => {}
        }
        broken.extend(powers.iter().filter(|power| !broken.contains(power)).copied().collect::<Vec<_>>());
    }
    if broken.contains(&Power::NamesNodes) {
        let advice =
            "Where admission lets nobody set spec.nodeName, say so: no-node-name after the namespaces of the actor.";
        item.explanation.push(advice.to_owned());
    }
    if !broken.is_empty() {
        let powers: Vec<String> = broken.iter().map(ToString::to_string).collect();
        item.message = format!("{}, but for {}", item.message, words::all(&powers));
    } else if matches!(actor, Actor::Tenant { .. }) {
        item.explanation.push(exact(beyond));
    }
    item
}

/// What a rule holds for besides.
fn exact(beyond: &[Beyond]) -> String {
    let names = beyond.iter().any(|beyond| beyond.powers.contains(&Power::NamesNodes));
    let also = if names { " and for pods that name their node" } else { "" };
    format!("This also holds for pods that are relabelled while they run{also}: it is exact.")
}

/// Why a rule of what is possible is decided without a tenant.
const HELPLESS: &str = "Decided without the tenant: whoever may create any pod can also create one that keeps a workload out by \
    required anti-affinity, wherever its pods do not run yet, so that no rule of what is possible would hold against it.";

/// Whether an actor matters to a rule: a kubelet can draw pods to its node and can keep them away, a tenant is only asked about where
/// it does not win at once.
fn applies(actor: &Actor, property: &Property) -> bool {
    property.forbids() || !matches!(actor, Actor::Tenant { .. })
}

/// The ruling of all worlds together: broken in one is broken, and it holds if it holds in each.
fn settle(mut item: Item, lowered: &Lowered, rule: &Rule, variants: Vec<Variant>, means: Means<'_>) -> Item {
    let mut open: Option<Ruling> = None;
    let alone = variants.len() == 1;
    for Variant { world, how, simpler } in variants {
        let (world, mut ruling) = ruled(lowered, rule, world, how.as_deref(), means);
        let mut how = how;
        if let (Status::Violated, Some(simpler)) = (ruling.status, simpler) {
            let Variant { world, how: less, .. } = *simpler;
            let (_, simple) = ruled(lowered, rule, world, less.as_deref(), means);
            if simple.status == Status::Violated {
                (ruling, how) = (simple, less);
            }
        }
        match ruling.status {
            Status::Violated => {
                item.explanation.extend(how.map(|how| format!("This happens {how}.")));
                return with_ruling(item, ruling);
            }
            Status::Undecided => open = open.or(Some(ruling)),
            Status::Holds => {
                if alone {
                    item.boundary = Some(boundary::of(lowered, &rule.property, &world, &ruling, means));
                }
                let evidence = std::mem::take(&mut item.evidence);
                item = with_ruling(item, ruling);
                item.evidence.splice(0..0, evidence);
            }
        }
    }
    match open {
        Some(ruling) => with_ruling(Item { evidence: Vec::new(), ..item }, ruling),
        None => item,
    }
}

/// The ruling in a world that an actor made, with what it did.
fn ruled(lowered: &Lowered, rule: &Rule, world: World, how: Option<&str>, means: Means<'_>) -> (World, Ruling) {
    let world = if matches!(rule.property, Property::Recoverable { .. }) { world.emptied() } else { world };
    let mut ruling = ruling(lowered, &rule.property, &world, means);
    if let Some(how) = how {
        for evidence in &mut ruling.evidence {
            evidence.shows.push_str(&format!(" {how}"));
            evidence.changed = Some(how.to_owned());
        }
    }
    (world, ruling)
}

fn with_ruling(item: Item, ruling: Ruling) -> Item {
    let explanation = item.explanation.into_iter().chain(ruling.explanation).collect();
    let Ruling { status, message, fix, subject, evidence, .. } = ruling;
    Item { status, message, fix, subject, evidence, explanation, ..item }
}

/// The ruling in one world.
pub(crate) fn ruling(lowered: &Lowered, property: &Property, world: &World, means: Means<'_>) -> Ruling {
    // What is forbidden is so until it is gone; a pod that is being deleted is none that anybody wants.
    let world = &if property.forbids() { world.clone() } else { world.clone().standing() };
    let mut asking = Asking::new(world, means);
    let ruling = match property {
        Property::Never { nodes, .. } => {
            never::ruling(&mut asking, &world.pods(0), &selected_nodes(lowered, world, nodes))
        }
        Property::NeverTogether { key, .. } => {
            together::ruling(&mut asking, &world.pods(0), &world.pods(1), &places(lowered, world, key))
        }
        Property::Possible { spread_over, nodes, count, .. } => {
            let groups = possible_groups(lowered, world, *count, spread_over.as_deref(), nodes);
            possible::ruling(&mut asking, &groups, *count, spread_over.as_deref())
        }
        Property::Recoverable { .. } => recoverable::ruling(&mut asking, &wanted(lowered, property, world)),
    };
    labelled::held(&mut asking, lowered, property, ruling)
}

/// What the property wants in one world; nothing if it forbids.
pub(crate) fn wanted(lowered: &Lowered, property: &Property, world: &World) -> Vec<Want> {
    match property {
        Property::Never { .. } | Property::NeverTogether { .. } => Vec::new(),
        Property::Possible { spread_over, nodes, count, .. } => {
            let groups = possible_groups(lowered, world, *count, spread_over.as_deref(), nodes);
            groups.into_iter().flat_map(|group| group.ways.into_iter().flatten()).collect()
        }
        Property::Recoverable { .. } => recoverable::wants(lowered, world),
    }
}

/// What the property forbids in one world; `None` if it forbids nothing.
pub(crate) fn forbidden(lowered: &Lowered, property: &Property, world: &World) -> Option<Goal> {
    match property {
        Property::Never { nodes, .. } => Some(never::goal(&world.pods(0), &selected_nodes(lowered, world, nodes))),
        Property::NeverTogether { key, .. } => {
            let places = places(lowered, world, key);
            Some(together::pairs(&world.pods(0), &world.pods(1), &places, |_, _| true))
        }
        Property::Possible { .. } | Property::Recoverable { .. } => None,
    }
}

/// What `possible` asks for: so many of each workload, on nodes that have the key.
fn possible_groups(
    lowered: &Lowered,
    world: &World,
    count: u64,
    key: Option<&str>,
    nodes: &NodeSelection,
) -> Vec<Group> {
    let apart = key.map(|key| place_of_each(lowered, world, key));
    let nodes: Arc<[NodeId]> = selected_nodes(lowered, world, nodes)
        .into_iter()
        .filter(|node| key.is_none_or(|key| label(lowered, world.model().node_name(*node), key).is_some()))
        .collect();
    let want = |pod, count| Want { pod, count, nodes: Arc::clone(&nodes), apart: apart.clone() };
    numbered::groups(lowered, world, want, count)
}

/// The nodes of a world that a selection selects, by what the input says of them.
pub(super) fn selected_nodes(lowered: &Lowered, world: &World, nodes: &NodeSelection) -> Vec<NodeId> {
    let selected = nodes_named(world.model())
        .filter(|(_, name)| lowered.origins.nodes.get(*name).is_some_and(|origin| nodes.selects(name, origin)));
    selected.map(|(node, _)| node).collect()
}

/// The value that the input has for a label of a node.
pub(super) fn label<'l>(lowered: &'l Lowered, node: &str, key: &str) -> Option<&'l String> {
    lowered.origins.nodes.get(node).and_then(|origin| origin.labels.get(key))
}

pub(super) fn places(lowered: &Lowered, world: &World, key: &str) -> together::Places {
    together::places(nodes_named(world.model()).map(|(node, name)| (node, label(lowered, name, key).cloned())))
}

/// For each node the place it is in, as a number.
fn place_of_each(lowered: &Lowered, world: &World, key: &str) -> Vec<usize> {
    let places = places(lowered, world, key);
    world
        .model()
        .nodes()
        .map(|node| places.iter().position(|nodes| nodes.contains(&node)).unwrap_or(usize::MAX))
        .collect()
}

/// The selection of a property that selects nothing, if there is one.
fn selects_nothing(lowered: &Lowered, property: &Property, world: &World) -> Option<String> {
    let no_pod = |selection: usize| world.pods(selection).is_empty();
    let no_node =
        |nodes: &NodeSelection| !lowered.origins.nodes.iter().any(|(name, origin)| nodes.selects(name, origin));
    match property {
        Property::Never { .. } | Property::Possible { .. } | Property::Recoverable { .. } if no_pod(0) => {
            Some("its selection of pods matches no pod type of the input".to_owned())
        }
        Property::Never { nodes, .. } | Property::Possible { nodes, .. } if no_node(nodes) => {
            Some("its selection of nodes matches no node of the input".to_owned())
        }
        Property::NeverTogether { .. } if no_pod(0) || no_pod(1) => {
            let which = if no_pod(0) { "first" } else { "second" };
            Some(format!("its {which} selection of pods matches no pod type of the input"))
        }
        Property::NeverTogether { key, .. } if has_no_key(lowered, key) => Some(format!("no node has the label {key}")),
        _ => None,
    }
}

/// Whether no node has a label.
fn has_no_key(lowered: &Lowered, key: &str) -> bool {
    !lowered.origins.nodes.values().any(|node| node.labels.contains_key(key))
}

/// A rule that says nothing about this input: never passed in silence.
fn vacuous(item: Item, rule: &Rule, what: &str) -> Item {
    if rule.allow_empty {
        return Item { status: Status::Holds, message: format!("{what}, which the rule allows"), ..item };
    }
    let fix = "correct the selection, or say `allowEmpty: true` if there may be none".to_owned();
    let severity = item.severity.min(Severity::Warning);
    let message = format!("{what}: the rule says nothing");
    Item { status: Status::Violated, severity, message, fix: Some(fix), ..item }
}
