//! Sums: more is asked for than there can ever be, which needs no search.
//!
//! | sum | compares |
//! |---|---|
//! | of a resource | what pods request with what the nodes have that may give it |
//! | of large pods | how many pods request so much at least with how many such pods each node has room for |
//! | of a quota or limit | what pods take with what is granted |
//! | of domains | pods that keep each other out of a domain with how many domains there are |

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel::polled;
use podreach_core::cluster::Term;
use podreach_core::demand::Inequality;
use podreach_core::id::{KeyId, ResourceId};
use podreach_core::resource::Amount;
use podreach_core::rule::{fit, quota};
use podreach_core::{Atom, Model, NodeId, PodId};

use super::packing::Want;
use super::possible::{Outcome, Why};
use super::ruling::{Asking, listed};
use super::shortage::demand;
use super::world::World;
use crate::words;

/// How many sizes of large pods are looked at for a resource.
const SIZES: usize = 32;

/// A sum that shows that wants can never be met together, if there is one.
pub(crate) fn too_much(asking: &Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    let m = asking.world.model();
    let sure: Vec<Want> = wants.iter().filter(|want| !is_doubted(asking.world, want.pod)).cloned().collect();
    let mut by_nodes = BTreeMap::<Vec<NodeId>, Vec<&Want>>::new();
    for want in polled(&sure) {
        let nodes = want.nodes.iter().copied().filter(|&node| m.placeable(want.pod, node)).collect();
        by_nodes.entry(nodes).or_default().push(want);
    }
    for nodes in by_nodes.keys().filter(|nodes| !nodes.is_empty()) {
        let within = by_nodes.iter().filter(|(other, _)| other.iter().all(|node| nodes.binary_search(node).is_ok()));
        let wants: Vec<Want> = within.flat_map(|(_, wants)| wants.iter().map(|&want| want.clone())).collect();
        for resource in m.cluster().resources.entries().ids() {
            let found = of_resource(asking, nodes, &wants, resource);
            if let Some(never) = found.or_else(|| of_large_pods(asking, nodes, &wants, resource)) {
                return Some(never);
            }
        }
    }
    of_grants(asking, &sure).or_else(|| of_domains(asking, &sure))
}

/// What is wanted of a want besides the kept pods that count for it.
fn missing(asking: &Asking<'_>, want: &Want) -> u64 {
    if asking.world.problem.kept.of(want.pod).next().is_none() {
        return want.count;
    }
    let there = want
        .nodes
        .iter()
        .fold(0, |sum: u64, &node| sum.saturating_add(asking.world.problem.kept.count((want.pod, node))));
    want.count.saturating_sub(there)
}

/// The wants that count for something, with what one pod of each counts for.
fn counting(wants: &[Want], worth: impl Fn(&Want) -> Amount) -> (Vec<Want>, Vec<Amount>) {
    let counted = wants.iter().map(|want| (want.clone(), worth(want)));
    counted.filter(|(_, worth)| *worth > 0).unzip()
}

/// What one pod of a want takes of a resource, as far as the scheduler asks about it.
fn weight(m: &Model, want: &Want, resource: ResourceId) -> Amount {
    if fit::checked(m, want.pod).any(|other| other == resource) { fit::weight(m, want.pod, resource) } else { 0 }
}

fn of_resource(asking: &Asking<'_>, nodes: &[NodeId], wants: &[Want], resource: ResourceId) -> Option<Outcome> {
    let m = asking.world.model();
    let (wants, worth) = counting(wants, |want| weight(m, want, resource));
    let asked = wants.iter().zip(&worth).map(|(want, worth)| worth.saturating_mul(missing(asking, want).into()));
    let asked = asked.fold(0, Amount::saturating_add);
    let room = nodes.iter().map(|&node| free(asking, node, resource)).fold(0, Amount::saturating_add);
    if asked <= room {
        return None;
    }
    let inequalities = nodes.iter().map(|&node| (Inequality::Capacity(node, resource), 1)).collect();
    let name = m.str(m.cluster().resources[resource]);
    let shows = format!("the nodes have less {name} than is asked for");
    let evidence = asking.sum(demand(&wants), shows, worth, inequalities)?;
    let [asked, room] = crate::words::amounts(m, resource, [asked, room]);
    let nodes = words::number(nodes.len(), "node");
    let why =
        format!("The pods that can only run on {nodes} request {asked} {name} together, and the nodes have {room}.");
    Some(Outcome::Never(why.into(), vec![evidence]))
}

/// What the kept pods leave of a node's resource.
fn free(asking: &Asking<'_>, node: NodeId, resource: ResourceId) -> Amount {
    let m = asking.world.model();
    let taken = asking.world.problem.kept.on(node);
    let taken = taken.map(|(pod, count)| fit::weight(m, pod, resource).saturating_mul(count.into()));
    m.node(node).allocatable.amount(resource).saturating_sub(taken.fold(0, Amount::saturating_add))
}

/// Pods that request more than a part of a node leave the rest of it to smaller ones.
fn of_large_pods(asking: &Asking<'_>, nodes: &[NodeId], wants: &[Want], resource: ResourceId) -> Option<Outcome> {
    let m = asking.world.model();
    let sizes: BTreeSet<Amount> = wants.iter().map(|want| weight(m, want, resource)).filter(|&size| size > 0).collect();
    for &size in sizes.iter().rev().take(SIZES) {
        let (large, worth) = counting(wants, |want| Amount::from(weight(m, want, resource) >= size));
        let asked = large.iter().fold(0, |sum: u64, want| sum.saturating_add(missing(asking, want)));
        let most = |node: NodeId| u64::try_from(free(asking, node, resource) / size).unwrap_or(u64::MAX);
        let room = nodes.iter().fold(0, |sum: u64, &node| sum.saturating_add(most(node)));
        if asked <= room {
            continue;
        }
        let inequalities = nodes.iter().map(|&node| {
            let on = large.iter().filter(|want| want.nodes.contains(&node)).map(|want| (want.pod, node));
            (Inequality::Few(on.collect::<BTreeSet<Atom>>().into_iter().collect(), most(node)), 1)
        });
        let inequalities = inequalities.collect();
        let name = m.str(m.cluster().resources[resource]);
        let size = crate::words::amount(m, resource, size);
        let shows = format!("the nodes have room for fewer pods that request {size} {name}");
        let Some(evidence) = asking.sum(demand(&large), shows, worth, inequalities) else { continue };
        let nodes = words::number(nodes.len(), "node");
        let why = format!(
            "{asked} pods that can only run on {nodes} request {size} {name} or more each, and the nodes have room for {room} such pods."
        );
        return Some(Outcome::Never(why.into(), vec![evidence]));
    }
    None
}

/// Quotas of namespaces and limits of instances.
fn of_grants(asking: &Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    let cluster = asking.world.model().cluster();
    for (id, granted) in cluster.quotas.iter() {
        let m = asking.world.model();
        let (users, worth) = counting(wants, |want| quota::weight(m, want.pod, id));
        let asked = users.iter().zip(&worth).map(|(want, worth)| worth.saturating_mul(want.count.into()));
        if asked.fold(0, Amount::saturating_add) <= granted.hard {
            continue;
        }
        let shows = format!("quota {} grants less {} than is asked for", granted.name, granted.resource);
        let why =
            format!("Quota {} does not grant as much {} as the pods take together.", granted.name, granted.resource);
        if let Some(evidence) = asking.sum(demand(&users), shows, worth, vec![(Inequality::Quota(id), 1)]) {
            return Some(Outcome::Never(why.into(), vec![evidence]));
        }
    }
    for (index, limit) in cluster.limits.iter().enumerate().filter(|(_, limit)| !limit.per_node) {
        let (members, worth) = counting(wants, |want| limit.pods.contains(&want.pod).into());
        if members.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count)) <= limit.most {
            continue;
        }
        let shows = format!("{} has no more than {} instances", limit.name, limit.most);
        let why = format!("There are never more than {} instances of {}.", limit.most, limit.name);
        if let Some(evidence) = asking.sum(demand(&members), shows, worth, vec![(Inequality::Limit(index), 1)]) {
            return Some(Outcome::Never(why.into(), vec![evidence]));
        }
    }
    None
}

/// Pods that keep each other out of a domain need a domain each.
fn of_domains(asking: &Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    let m = asking.world.model();
    let mut seen = BTreeSet::new();
    for (at, want) in wants.iter().enumerate() {
        for key in terms(m, want.pod).iter().map(|term| term.key).collect::<BTreeSet<_>>() {
            let mut apart: Vec<Want> = Vec::new();
            for other in std::iter::once(want).chain(&wants[..at]).chain(&wants[at + 1..]) {
                let repel = |p: PodId, q: PodId| repels(m, p, q, key) && repels(m, q, p, key);
                if repel(other.pod, other.pod) && apart.iter().all(|one| repel(one.pod, other.pod)) {
                    apart.push(other.clone());
                }
            }
            let pods: BTreeSet<PodId> = apart.iter().map(|want| want.pod).collect();
            let new = !pods.is_empty() && seen.insert((key, pods));
            if let Some(never) = new.then(|| each_alone(asking, &apart, key)).flatten() {
                return Some(never);
            }
        }
    }
    None
}

fn terms(m: &Model, pod: PodId) -> &[Term] {
    &m.pod(pod).anti_affinity
}

/// Whether a pod keeps another out of its domain.
fn repels(m: &Model, p: PodId, q: PodId, key: KeyId) -> bool {
    terms(m, p).iter().any(|term| term.key == key && m.sees_unbound(term.matcher, q))
}

fn each_alone(asking: &Asking<'_>, wants: &[Want], key: KeyId) -> Option<Outcome> {
    let m = asking.world.model();
    let mut domains = BTreeMap::<_, BTreeSet<Atom>>::new();
    for want in wants {
        for &node in want.nodes.iter().filter(|&&node| asking.world.problem.is_possible((want.pod, node))) {
            domains.entry(m.domain(key, node)?).or_default().insert((want.pod, node));
        }
    }
    let asked = wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count));
    if asked <= domains.len() as u64 {
        return None;
    }
    let inequalities = domains.values().map(|atoms| (Inequality::Few(atoms.iter().copied().collect(), 1), 1)).collect();
    let worth = vec![1; wants.len()];
    let evidence = asking.sum(demand(wants), "each of them needs a domain for itself", worth, inequalities)?;
    let names: Vec<String> = wants.iter().map(|want| m.pod_name(want.pod).to_owned()).collect();
    let (names, key) = (listed(&names), m.str(m.cluster().keys[key]));
    let count = words::number(domains.len(), "domain");
    let fact = format!("Pods of {names} keep each other out of a domain of {key}");
    let why = Why::counted(fact, format!("; they can use {count}, and it takes {asked}."));
    Some(Outcome::Never(why, vec![evidence]))
}

/// Whether what a pod requests and where it may run is in doubt.
fn is_doubted(world: &World, pod: PodId) -> bool {
    use crate::diagnostic::Effect;
    let name = world.model().pod_name(pod);
    world.diagnostics.iter().any(|d| {
        matches!(d.effect, Effect::UnderApproximates | Effect::Both) && d.pods.iter().any(|about| about == name)
    })
}
