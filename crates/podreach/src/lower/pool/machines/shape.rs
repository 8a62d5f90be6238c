//! What nodes of Cluster API's machines look like.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::NodeId;

use super::Group;
use super::bootstrap::Config;
use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::pool::{Capacity, Choice, HOSTNAME, Open, Requirement, Shape, is_of_platform};
use crate::read::shown;

/// Domains whose labels Cluster API copies from machines to their nodes; the last two with all domains within them.
const COPIED: [&str; 3] = ["node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io"];

/// The shapes of a part of a group: one whose capacity is open, and one of the capacity that annotations of the group declare. `nodes` are those
/// of the input that are of the group.
pub(super) fn shapes(
    cx: &mut Context,
    part: &Group,
    group: &Group,
    config: Option<&Config>,
    nodes: &[NodeId],
) -> Vec<Shape> {
    let known = config.filter(|config| !config.is_strange);
    let mut labels = labels(cx, part, config, nodes);
    let mut taints = part.taints[0].clone();
    taints.extend(known.map(|config| config.taints.clone()).unwrap_or_default());
    taints.sort_unstable();
    taints.dedup();
    let is_declared = |key: &String, value: &String| {
        matches!(labels.get(key), Some(Choice::OneOf(values)) if values.contains(value)) || is_of_platform(key)
    };
    if known.is_some() && std::ptr::eq(part, group) {
        let unfounded: Vec<String> = group
            .believed
            .iter()
            .filter(|(key, value)| !is_declared(key, value))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        cx.log.extend((!unfounded.is_empty()).then(|| believed(group, &unfounded)));
    }
    let Some(known) = known else {
        labels.retain(|_, choice| matches!(choice, Choice::OneOf(_) | Choice::Offered(_)));
        return vec![Shape { labels, open: Open::Anything, taints, capacity: Capacity::Open }];
    };
    labels.extend(seen(cx, &labels, nodes, known));
    let open = Shape { labels, open: Open::Platform, taints, capacity: Capacity::Open };
    let declared = group.capacity.clone().map(|capacity| {
        let taints = open.taints.iter().chain(&part.taints[1]).copied().collect();
        Shape { capacity: Capacity::Known(capacity), taints, ..open.clone() }
    });
    std::iter::once(open).chain(declared).collect()
}

/// Labels of machines and kubelets. Which others Cluster API copies is set by its flags: those that all nodes of the group have, or none.
fn labels(cx: &Context, part: &Group, config: Option<&Config>, nodes: &[NodeId]) -> BTreeMap<String, Choice> {
    let mut labels = BTreeMap::from([
        ("kubernetes.io/arch".to_owned(), Choice::Offered(Requirement::any())),
        ("kubernetes.io/os".to_owned(), Choice::Offered(Requirement::finite(["linux", "windows"]))),
    ]);
    for (key, value) in config.into_iter().flat_map(|config| &config.labels) {
        let choice = value.as_ref().map_or_else(|| Choice::Offered(Requirement::any()), Choice::fixed);
        labels.insert(key.clone(), choice);
    }
    for (key, value) in part.labels.iter().filter(|(key, _)| *key != HOSTNAME) {
        // Nodes of a MachinePool need not have machines of their own.
        if is_copied(key) && part.kind != Kind::MachinePool {
            labels.insert(key.clone(), Choice::fixed(value));
        } else if !labels.contains_key(key) {
            let have = nodes.iter().filter(|node| has(cx, **node, key, value)).count();
            let choice = match have {
                0 if nodes.is_empty() => Choice::Flagged(value.clone()),
                0 => continue,
                _ if have == nodes.len() => Choice::fixed(value),
                _ => Choice::Perhaps(BTreeSet::from([value.clone()])),
            };
            labels.insert(key.clone(), choice);
        }
    }
    labels
}

/// Whether a node has a label.
fn has(cx: &Context, node: NodeId, key: &str, value: &str) -> bool {
    let symbols = &cx.cluster.symbols;
    let own = symbols.symbol(key).and_then(|key| cx.cluster.nodes[node].labels.value(key));
    own.is_some_and(|own| symbols.str(own) == value)
}

fn is_copied(key: &str) -> bool {
    let domain = key.split('/').next().unwrap_or_default();
    let [role, within @ ..] = COPIED;
    let mut rests = within.into_iter().filter_map(|own| domain.strip_suffix(own));
    domain == role || rests.any(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Labels that nodes of the group have though nothing says why: somebody has put them there, or commands of the bootstrap configuration do.
fn seen(cx: &Context, known: &BTreeMap<String, Choice>, nodes: &[NodeId], config: &Config) -> BTreeMap<String, Choice> {
    let symbols = &cx.cluster.symbols;
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for &node in nodes {
        for (key, value) in cx.cluster.nodes[node].labels.iter() {
            let key = symbols.str(key);
            let is_known = known.contains_key(key) || config.labels.contains_key(key);
            if !is_known && key != HOSTNAME && !is_of_platform(key) {
                values.entry(key.to_owned()).or_default().insert(symbols.str(value).to_owned());
            }
        }
    }
    values.into_iter().map(|(key, values)| (key, Choice::Perhaps(values))).collect()
}

/// Cluster Autoscaler believes in labels that nodes do not get.
fn believed(group: &Group, labels: &[String]) -> Diagnostic {
    let message = format!(
        "an annotation of {} {} has Cluster Autoscaler believe that its nodes have {}, and neither its machines nor its bootstrap configuration say so",
        group.kind.name(),
        shown(&group.name),
        labels.join(" and ")
    );
    let help = "add them to node-labels of the bootstrap configuration, or remove the annotation";
    Diagnostic::stops("W0318", group.span, message).with_effect(Effect::Notes).with_help(help)
}
