//! Topology spread: no domain may get too far ahead of the emptiest one.
//!
//! ```text
//! count(s, c, v)   =  number of pods q ∈ s on eligible nodes with value v of key(c) that selector(c) matches
//! least(s, c)      =  min over the values v of eligible nodes of count(s, c, v);  0 if there are fewer than minDomains(c)
//! even(s, c, p, n) ≡  count(s, c, n[key(c)]) + [p ⊨ selector(c)] − least(s, c) ≤ maxSkew(c)
//!
//! eligible, kube-scheduler:  has the keys of all hard constraints of p, and passes p's node affinity and taints as the policies say
//! eligible, paper:           the same for the constraint's own key; and n itself must be eligible
//! ```
//! A node that comes and goes is eligible while a pod is on it, and when `p` is bound to it; see [`crate::elastic`].
//! Under kube-scheduler pods being deleted are not counted, and neither is any pod by `labelSelector: {}` (from 1.27 to 1.37).
//! Kubernetes: `podtopologyspread/filtering.go`, `calPreFilterState`, `Filter`. Paper: section 2, `SpreadOK`.

use std::collections::BTreeMap;

use super::{Refusal, node_affinity, passing, taint};
use crate::cluster::Spread;
use crate::id::{DomainId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::running::Running;

/// Refuses a node whose domain is too full already.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let constraints = &m.pod(pod).spread;
    if constraints.is_empty() {
        return None;
    }
    let missing = constraints.iter().position(|constraint| m.domain(constraint.key, node).is_none());
    if let Some(constraint) = missing {
        return Some(Refusal::SpreadKey(constraint));
    }
    (0..constraints.len()).find_map(|index| uneven(m, s, pod, node, index))
}

fn uneven(m: &Model, s: &impl Running, pod: PodId, node: NodeId, index: usize) -> Option<Refusal> {
    let constraint = m.pod(pod).spread[index];
    if m.semantics() == Semantics::Paper && !looks_at(m, s, pod, index, node) {
        return Some(Refusal::SpreadIneligible(index));
    }
    let (here, least) = balance(m, s, pod, node, index);
    (here.saturating_sub(least) > constraint.max_skew).then_some(Refusal::Skew { constraint: index, here, least })
}

/// The matching pods in `node`'s domain, the new one included if it matches, and those in the emptiest domain.
pub fn balance(m: &Model, s: &impl Running, pod: PodId, node: NodeId, index: usize) -> (u64, u64) {
    let constraint = m.pod(pod).spread[index];
    let counts = counts(m, s, pod, index);
    let own = m.domain(constraint.key, node).and_then(|domain| counts.get(&domain)).copied().unwrap_or(0);
    let enough = counts.len() as u64 >= constraint.min_domains;
    let least = if enough && !has_empty(m, s, pod, node, index, &counts) {
        counts.values().copied().min().unwrap_or(0)
    } else {
        0
    };
    (own.saturating_add(u64::from(m.sees_unbound(constraint.matcher, pod))), least)
}

/// The pods counted in each eligible domain that has any.
fn counts(m: &Model, s: &impl Running, pod: PodId, index: usize) -> BTreeMap<DomainId, u64> {
    let constraint = m.pod(pod).spread[index];
    let mut counts = BTreeMap::new();
    if !counts_pods(m, &constraint) {
        return counts;
    }
    for (q, at, count) in s.seen(m, std::iter::once(constraint.matcher)) {
        if looks_at(m, s, pod, index, at) && is_counted(m, q) {
            let domain = m.domain(constraint.key, at).expect("an eligible node has the key");
            let sum: &mut u64 = counts.entry(domain).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    counts
}

/// Whether a constraint looks at a node as it is by now.
fn looks_at(m: &Model, s: &impl Running, pod: PodId, index: usize, node: NodeId) -> bool {
    let honored = m.pod(pod).spread[index].honor_taints;
    m.eligible(pod, index, node) && (!honored || passing::untolerated(m, s, pod, node).is_none())
}

/// Whether a constraint looks at a domain without a pod when the pod is bound to `target`. With such a domain the least count is zero,
/// however many there are; without one, the domains are those that have counts.
fn has_empty(
    m: &Model,
    s: &impl Running,
    pod: PodId,
    target: NodeId,
    index: usize,
    counts: &BTreeMap<DomainId, u64>,
) -> bool {
    let Spread { honor_taints, key, .. } = m.pod(pod).spread[index];
    if m.eligible_domains(pod, index) == counts.len() {
        return false;
    }
    if !m.is_elastic() && (!honor_taints || m.nodes().all(|node| s.is_settled(node))) {
        return true;
    }
    let empty = m.domains(key).filter(|domain| !counts.contains_key(domain));
    let nodes = empty.flat_map(|domain| m.members(domain).iter().copied());
    let mut seen = nodes.filter(|&node| looks_at(m, s, pod, index, node));
    seen.any(|node| node == target || !m.comes_and_goes(node) || s.on(node).next().is_some())
}

/// Whether a constraint counts any pod at all.
pub fn counts_pods(m: &Model, constraint: &Spread) -> bool {
    let everything = m.cluster().matchers[constraint.matcher].selector.is_everything();
    m.semantics() == Semantics::Paper || m.cluster().behaviour.empty_spread_selector_counts || !everything
}

/// Whether a pod that a constraint's selector matches is counted.
pub fn is_counted(m: &Model, pod: PodId) -> bool {
    m.semantics() == Semantics::Paper || !m.pod(pod).terminating
}

/// Whether a constraint of `pod` (by its index) looks at `node`, once that has settled.
pub fn is_eligible(m: &Model, pod: PodId, index: usize, node: NodeId) -> bool {
    let constraints = &m.pod(pod).spread;
    let constraint = &constraints[index];
    let keys = match m.semantics() {
        Semantics::KubeScheduler => constraints.iter().all(|other| m.domain(other.key, node).is_some()),
        Semantics::Paper => m.domain(constraint.key, node).is_some(),
    };
    keys && (!constraint.honor_affinity || node_affinity::own_refusal(m, pod, node).is_none())
        && (!constraint.honor_taints || taint::refusal(m, pod, node).is_none())
}
