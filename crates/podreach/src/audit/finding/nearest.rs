//! Why no node takes a pod: what refuses it where the fewest rules do.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use podreach_core::rule::Rule;
use podreach_core::{NodeId, PodId, Problem};

use crate::words;
use crate::words::reason::reason;

/// The most nodes that are named.
const NAMES: usize = 3;

/// What refuses a pod on the nodes that come nearest to taking it, as a sentence; `None` without nodes.
pub(super) fn sentence(problem: &Problem, pod: PodId) -> Option<String> {
    let m = &problem.model;
    if let Some(why) = &m.pod(pod).barred {
        return Some(format!("Its pods are never made: {why}."));
    }
    let mut groups = BTreeMap::<Vec<String>, Vec<NodeId>>::new();
    for node in m.nodes() {
        groups.entry(refusals(problem, pod, node)).or_default().push(node);
    }
    let all = m.nodes().len();
    let (reasons, nodes) =
        groups.iter().min_by_key(|(reasons, nodes)| (reasons.len(), Reverse(nodes.len()), nodes[0]))?;
    let names = words::first(nodes.iter().map(|&node| m.node_name(node).to_owned()), NAMES);
    let place = match nodes.len() {
        some if some == all && all > 1 => "every node".to_owned(),
        _ => words::all(&names),
    };
    let nearest = if nodes.len() < all { "Nearest, on" } else { "On" };
    Some(format!("{nearest} {place}: {}.", words::all(reasons)))
}

/// The reasons of every rule that refuses a pod on a node with nothing else in the way.
fn refusals(problem: &Problem, pod: PodId, node: NodeId) -> Vec<String> {
    let m = &problem.model;
    let asked = Rule::ALL.into_iter().filter(|rule| !m.pod(pod).exempt.contains(rule));
    asked.filter_map(|rule| Some(reason(m, pod, node, &rule.refusal(m, &*problem.start, pod, node)?))).collect()
}
