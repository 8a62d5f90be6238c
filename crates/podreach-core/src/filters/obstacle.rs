//! What is in the way of a deployment: the rules, as those ask them who look for a way.
//!
//! Engines know guards, configurations and steps. Before they compile anything they try the obvious: is the guard of an atom met
//! here, does it lack a witness, and which pods could be deleted to make room? These are questions about single rules, so they are
//! answered here, in words that name no rule. Nothing in this file is trusted: what comes of it is a trace, which is checked.

use crate::cluster::Term;
use crate::configuration::Atom;
use crate::id::{MatcherId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::resource::Amount;
use crate::rule::{Refusal, first_refusal, fit, hard, port, quota, volume_limits, volume_restrictions};
use crate::running::Running;

/// Why the guard of an atom does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A condition lacks a witness: another pod may help.
    NoWitness,
    /// Something else.
    Other,
}

/// Whether the guard of an atom holds in a configuration.
pub fn is_enabled(m: &Model, s: &impl Running, (pod, node): Atom) -> bool {
    hard(m, s, pod, node)
}

/// What keeps the guard of an atom from holding; `None` when it holds.
pub fn obstacle(m: &Model, s: &impl Running, (pod, node): Atom) -> Option<Obstacle> {
    if m.pod(pod).barred.is_some() {
        return Some(Obstacle::Other);
    }
    first_refusal(m, s, pod, node).map(|(_, refusal)| match refusal {
        Refusal::NoWitness(_) => Obstacle::NoWitness,
        _ => Obstacle::Other,
    })
}

/// Pods whose deletion works towards the guard of an atom, the best choice first; `None` when nothing is in the way.
pub fn blockers(m: &Model, s: &impl Running, (pod, node): Atom) -> Option<Vec<Atom>> {
    let (_, refusal) = first_refusal(m, s, pod, node)?;
    Some(culprits(m, s, pod, node, &refusal))
}

/// Pods whose deletion works towards lifting a refusal, the best choice first.
fn culprits(m: &Model, s: &impl Running, pod: PodId, node: NodeId, refusal: &Refusal) -> Vec<Atom> {
    match *refusal {
        Refusal::PortTaken { .. } => residents(s, node).filter(|&(q, _)| port::conflict(m, pod, q)).collect(),
        Refusal::Insufficient { resource, requested, used, allocatable } => {
            let excess = used.saturating_add(requested).saturating_sub(allocatable);
            smallest_enough(residents(s, node).collect(), excess, |q| fit::weight(m, q, resource))
        }
        Refusal::Skew { constraint, .. } => {
            let spread = m.pod(pod).spread[constraint];
            let matchers = [spread.matcher];
            let matching = matching(m, s, &matchers);
            matching.filter(|&(_, at)| m.share(spread.key, at, node)).collect()
        }
        Refusal::NoWitness(condition) => {
            let matchers: Vec<MatcherId> = terms(m, pod, condition).iter().map(|term| term.matcher).collect();
            matching(m, s, &matchers).collect()
        }
        Refusal::Repels { resident, at, .. } | Refusal::RepelledBy { resident, at, .. } => vec![(resident, at)],
        Refusal::DiskTaken { .. } => {
            residents(s, node).filter(|&(q, _)| volume_restrictions::disks_conflict(m, pod, q)).collect()
        }
        Refusal::ClaimTaken { holder, at, .. } => vec![(holder, at)],
        Refusal::VolumeLimit { driver, .. } => {
            let own = volume_limits::shared(m, pod, driver);
            let filling = residents(s, node).filter(|&(q, _)| {
                volume_limits::private(m, q, driver) > 0 || !volume_limits::shared(m, q, driver).is_subset(&own)
            });
            filling.collect()
        }
        Refusal::QuotaExceeded { quota, asked, used } => {
            let excess = used.saturating_add(asked).saturating_sub(m.cluster().quotas[quota].hard);
            let users = m.every_pod().filter(|&q| quota::weight(m, q, quota) > 0);
            let running = users.flat_map(|q| s.of(q).map(move |(at, _)| (q, at))).collect();
            smallest_enough(running, excess, |q| quota::weight(m, q, quota))
        }
        Refusal::LimitReached(limit) => {
            let limit = &m.cluster().limits[limit];
            let running = limit.pods.iter().flat_map(|&q| s.of(q).map(move |(at, _)| (q, at)));
            running.filter(|&(_, at)| !limit.per_node || at == node).collect()
        }
        _ => Vec::new(),
    }
}

/// The terms that one witness of a condition must match together.
fn terms(m: &Model, pod: PodId, condition: usize) -> &[Term] {
    let terms = &m.pod(pod).affinity;
    match m.semantics() {
        Semantics::Paper => &terms[condition..=condition],
        Semantics::KubeScheduler => terms,
    }
}

fn residents(s: &impl Running, node: NodeId) -> impl Iterator<Item = Atom> {
    s.on(node).map(move |(q, _)| (q, node))
}

/// Those of the pods that weigh something: the lightest that is heavy enough first; if there is none, the heaviest.
fn smallest_enough(mut users: Vec<Atom>, excess: Amount, weight: impl Fn(PodId) -> Amount) -> Vec<Atom> {
    users.retain(|&(q, _)| weight(q) > 0);
    users.sort_by_key(|&(q, _)| {
        let weight = weight(q);
        if weight >= excess { (false, weight) } else { (true, Amount::MAX - weight) }
    });
    users
}

/// The running pods that all `matchers` see.
fn matching<'a>(m: &'a Model, s: &'a impl Running, matchers: &'a [MatcherId]) -> impl Iterator<Item = Atom> + 'a {
    s.seen(m, matchers.iter().copied()).map(|(q, at, _)| (q, at))
}
