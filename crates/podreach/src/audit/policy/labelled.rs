//! Nodes that are still starting and may get labels which a rule selects.
//!
//! A rule speaks of them as soon as they have these labels, and says nothing of them before: what it says of the others holds only if it is so
//! of these, too.

use podreach_core::{Goal, NodeId, PodId, Semantics};

use super::property::{label, places, selected_nodes};
use super::ruling::{ALTERNATIVES, Asking, Ruling};
use super::world::World;
use super::{Property, never, together};
use crate::audit::item::Status;
use crate::lower::{Lowered, what_is_starting};
use crate::words;

/// The ruling, if the nodes that may come to be selected do not change it; else that it is not decided.
pub(super) fn held(asking: &mut Asking<'_>, lowered: &Lowered, property: &Property, ruling: Ruling) -> Ruling {
    let world = asking.world;
    // What is possible stays so, and what is violated.
    let may_change = match property {
        Property::Never { .. } | Property::NeverTogether { .. } => ruling.status == Status::Holds,
        Property::Possible { .. } => ruling.status == Status::Violated,
        Property::Recoverable { .. } => false,
    };
    if !may_change || world.model().semantics() == Semantics::Paper {
        return ruling;
    }
    let nodes = yet_to_be_selected(lowered, world, property);
    if nodes.is_empty() {
        return ruling;
    }
    let pods: Vec<PodId> = world.pods(0);
    let goals: Vec<Goal> = match property {
        Property::NeverTogether { key, .. } => {
            let mut places = places(lowered, world, key);
            for place in &mut places {
                let others: Vec<NodeId> = nodes.iter().copied().filter(|node| !place.contains(node)).collect();
                place.extend(others);
            }
            vec![together::pairs(&pods, &world.pods(1), &places, |_, _| true)]
        }
        _ => pods.chunks((ALTERNATIVES / nodes.len()).max(1)).map(|pods| never::goal(pods, &nodes)).collect(),
    };
    let m = world.model();
    let names: Vec<String> = nodes.iter().map(|&node| m.node_name(node).to_owned()).collect();
    let shows = format!("nor can it be on {}, which may get labels that the rule looks at", words::all(&names));
    let mut held = ruling;
    for goal in goals {
        let decision = asking.answer(&goal);
        if decision.checked.answer() != Some(false) {
            let message = "not decided, since nodes may get labels that the rule looks at".to_owned();
            let mut open = Ruling::new(Status::Undecided, message);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            open.explanation.push(never::sentence(&what_is_starting(&names)));
            return open;
        }
        held.evidence.push(asking.evidence(shows.clone(), decision));
    }
    held
}

/// The nodes that are still starting, and may get labels by which a property selects them or says where they are.
fn yet_to_be_selected(lowered: &Lowered, world: &World, property: &Property) -> Vec<NodeId> {
    let m = world.model();
    let lacks =
        |node: NodeId, key: Option<&str>| key.is_some_and(|key| label(lowered, m.node_name(node), key).is_none());
    let starting = m.nodes().filter(|&node| m.node(node).passing.is_starting);
    match property {
        Property::Never { nodes, .. } | Property::Possible { nodes, .. } => {
            let key = if let Property::Possible { spread_over, .. } = property { spread_over.as_deref() } else { None };
            let selected = selected_nodes(lowered, world, nodes);
            let named = starting.map(|node| (node, m.node_name(node)));
            let may_be = named.filter(|(_, name)| {
                lowered.origins.nodes.get(*name).is_some_and(|origin| nodes.may_select(name, origin))
            });
            may_be.map(|(node, _)| node).filter(|&node| !selected.contains(&node) || lacks(node, key)).collect()
        }
        Property::NeverTogether { key, .. } => starting.filter(|&node| lacks(node, Some(key))).collect(),
        Property::Recoverable { .. } => Vec::new(),
    }
}
