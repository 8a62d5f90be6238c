//! Shortages in words and as documents: what was asked for, and what adds up to less.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::demand::{Argument, Demand, Inequality, Place, Want};
use podreach_core::{Atom, Model, NodeId, PodId, Short};
use serde_json::{Value, json};

use crate::words::{self, amount};

/// The most inequalities that are written unless all are asked for.
const MOST: usize = 8;

/// What kind of argument it is, to follow `a proof of 3 facts`; `None` if the proof says it all.
pub(crate) fn kind(short: &Short) -> Option<String> {
    match &short.shortage().argument {
        Argument::Cover => None,
        Argument::Sum { inequalities, .. } => Some(format!("a sum of {}", words::number(inequalities.len(), "bound"))),
    }
}

/// The bounds of a sum, a line each.
pub(crate) fn lines(m: &Model, short: &Short, all: bool) -> Vec<String> {
    let Argument::Sum { inequalities, .. } = &short.shortage().argument else { return Vec::new() };
    // What a proof says, it has said.
    let shown = inequalities
        .iter()
        .filter(|(inequality, _)| !matches!(inequality, Inequality::Below(..) | Inequality::Place(..)))
        .map(|(inequality, _)| said(m, inequality));
    let mut lines: Vec<String> = shown.map(|inequality| format!("   + {inequality}")).collect();
    if !all && lines.len() > MOST {
        let more = words::number(lines.len() - MOST, "more bound");
        lines.truncate(MOST);
        lines.push(format!("     … and {more} (-v shows all)"));
    }
    lines
}

fn said(m: &Model, inequality: &Inequality) -> String {
    match inequality {
        &Inequality::Capacity(node, resource) => {
            let has = amount(m, resource, m.node(node).allocatable.amount(resource));
            format!("{} has {has} {}", m.node_name(node), m.str(m.cluster().resources[resource]))
        }
        &Inequality::Quota(quota) => {
            let quota = &m.cluster().quotas[quota];
            format!("quota {} bounds {}", quota.name, quota.resource)
        }
        &Inequality::Limit(index) => {
            let limit = &m.cluster().limits[index];
            format!("{} has at most {} instances", limit.name, limit.most)
        }
        Inequality::Few(atoms, most) => format!("{} at most {most} of them", on(&nodes(m, atoms))),
        &Inequality::Below((pod, node), count) => {
            format!("fewer than {count} × {} on {}", m.pod_name(pod), m.node_name(node))
        }
        Inequality::Place(..) => "at most so many in one place".to_owned(),
    }
}

/// The nodes of some atoms, the first few by name.
fn nodes(m: &Model, atoms: &[Atom]) -> String {
    let mut names: Vec<String> = atoms.iter().map(|&(_, node)| m.node_name(node).to_owned()).collect();
    names.dedup();
    words::all(&words::first(names.into_iter(), 4))
}

fn on(nodes: &str) -> String {
    if nodes.is_empty() { "nowhere".to_owned() } else { format!("on {nodes}") }
}

/// So many of these pods, on which nodes, and whether apart from each other.
fn wanted(m: &Model, want: &Want) -> String {
    let atoms = want.places.iter().flat_map(|place| &place.atoms);
    let pods: BTreeSet<PodId> = atoms.clone().map(|&(pod, _)| pod).collect();
    let names = pods.into_iter().map(|pod| m.pod_name(pod).to_owned()).collect::<Vec<_>>();
    let nodes: BTreeSet<NodeId> = atoms.map(|&(_, node)| node).collect();
    let apart = want.count > 1 && want.places.len() > 1 && want.places.iter().all(|place| place.most == 1);
    let apart = if apart { ", no two of them in one place" } else { "" };
    let on = match nodes.len() {
        all if all == m.nodes().len() => String::new(),
        0 => " nowhere".to_owned(),
        _ => {
            let nodes: Vec<String> = nodes.into_iter().map(|node| m.node_name(node).to_owned()).collect();
            format!(" on {}", words::either(&words::first(nodes.into_iter(), 4)))
        }
    };
    let names = words::either(&words::first(names.into_iter(), 4));
    let pods = if want.count == 1 { names } else { format!("{} × {names}", want.count) };
    format!("{pods}{on}{apart}")
}

/// A demand that can never be met, as a sentence.
pub(crate) fn demanded(m: &Model, demand: &Demand) -> String {
    let wants: Vec<String> = demand.wants.iter().map(|want| wanted(m, want)).collect();
    let several = demand.wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count)) > 1;
    let together = if several { " at the same time" } else { "" };
    format!("{} can never be there{together}", words::all(&words::first(wants.into_iter(), 8)))
}

/// The demand and the argument; the proof is beside it.
pub(crate) fn document(m: &Model, short: &Short) -> Value {
    let wants = short.demand().wants.iter().map(|want| {
        let places: Vec<Value> = want.places.iter().map(|place| self::place(m, place)).collect();
        json!({"count": want.count, "places": places})
    });
    let wants: Vec<Value> = wants.collect();
    match &short.shortage().argument {
        Argument::Cover => json!({"demand": wants, "argument": "cover"}),
        Argument::Sum { worth, inequalities } => {
            let worth: Vec<String> = worth.iter().map(u128::to_string).collect();
            let inequalities: Vec<Value> =
                inequalities.iter().map(|(inequality, times)| self::inequality(m, inequality, *times)).collect();
            json!({"demand": wants, "argument": "sum", "worth": worth, "laws": inequalities})
        }
    }
}

/// Pods on nodes, by pod; `*` is every node.
fn atoms(m: &Model, atoms: &[Atom]) -> Value {
    let mut by_pod = BTreeMap::<PodId, Vec<NodeId>>::new();
    atoms.iter().for_each(|&(pod, node)| by_pod.entry(pod).or_default().push(node));
    by_pod.into_iter().map(|one| entry(m, one)).collect()
}

fn entry(m: &Model, (pod, nodes): (PodId, Vec<NodeId>)) -> Value {
    let names: Value = match nodes.len() == m.nodes().len() {
        true => "*".into(),
        false => nodes.iter().map(|&node| m.node_name(node)).collect::<Vec<_>>().into(),
    };
    waited(m, pod, json!({"pod": m.pod_name(pod), "nodes": names}))
}

/// The same, distinguished from what is made in its place if it is about pods that wait for a node.
fn waited(m: &Model, pod: PodId, mut entry: Value) -> Value {
    if m.cluster().is_twin(pod) {
        entry["waited"] = true.into();
    }
    entry
}

fn place(m: &Model, place: &Place) -> Value {
    json!({"most": place.most, "of": atoms(m, &place.atoms)})
}

fn inequality(m: &Model, inequality: &Inequality, times: u128) -> Value {
    let times = times.to_string();
    match inequality {
        &Inequality::Capacity(node, resource) => {
            let resource = m.str(m.cluster().resources[resource]);
            json!({"law": "capacity", "node": m.node_name(node), "resource": resource, "times": times})
        }
        &Inequality::Quota(quota) => {
            let quota = &m.cluster().quotas[quota];
            json!({"law": "quota", "quota": quota.name, "resource": quota.resource, "times": times})
        }
        &Inequality::Limit(index) => json!({"law": "limit", "limit": m.cluster().limits[index].name, "times": times}),
        Inequality::Few(members, most) => json!({"law": "few", "of": atoms(m, members), "most": most, "times": times}),
        &Inequality::Below((pod, node), count) => {
            let (name, node) = (m.pod_name(pod), m.node_name(node));
            let inequality = json!({"law": "below", "pod": name, "node": node, "count": count, "times": times});
            waited(m, pod, inequality)
        }
        &Inequality::Place(want, place) => json!({"law": "place", "want": want, "place": place, "times": times}),
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::Semantics;
    use podreach_core::testing::{Rng, Shape, problem};

    use super::*;

    #[test]
    fn one_pod_is_told_as_one_and_several_by_their_number() {
        let problem = problem(&mut Rng::new(1), Shape::small(Semantics::KubeScheduler));
        let m = &problem.model;
        let atoms: Vec<Atom> = m.pods().take(1).flat_map(|pod| m.nodes().map(move |node| (pod, node))).collect();
        let name = m.pod_name(atoms[0].0);
        let shown = |counts: &[u64]| {
            let wants = counts.iter().copied();
            let wants = wants.map(|count| Want { count, places: vec![Place { atoms: atoms.clone(), most: count }] });
            demanded(m, &Demand { wants: wants.collect() })
        };
        assert_eq!(shown(&[1]), format!("{name} can never be there"));
        assert_eq!(shown(&[3]), format!("3 × {name} can never be there at the same time"));
        assert_eq!(shown(&[1, 2]), format!("{name} and 2 × {name} can never be there at the same time"));
    }
}
