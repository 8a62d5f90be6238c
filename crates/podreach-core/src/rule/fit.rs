//! NodeResourcesFit: what a pod requests must be free.
//!
//! ```text
//! used(s, n, r)          =  Σ { s(q, n) · request(q, r) }
//! paper:           fits  ≡  ∀ r:                       used(s, n, r) + request(p, r) ≤ allocatable(n, r)
//! kube-scheduler:  fits  ≡  ∀ r with request(p, r) > 0:  the same,   and   |s on n| + 1 ≤ allocatable(n, pods)
//! ```
//! The real filter never looks at a resource that the pod does not request, even on a node that is over-committed in it; the paper
//! compares whole vectors. The resource `pods` is the real filter's alone.
//! Kubernetes: `noderesources/fit.go`, `fitsRequest`. Paper: section 2, `used`.

use super::Refusal;
use crate::id::{NodeId, PodId, ResourceId};
use crate::model::{Model, Semantics};
use crate::resource::Amount;
use crate::running::Running;

/// Refuses a node where too little is free.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    checked(m, pod).find_map(|resource| {
        let (requested, allocatable) = (weight(m, pod, resource), m.node(node).allocatable.amount(resource));
        let used = used(m, s, node, resource);
        let over = used.saturating_add(requested) > allocatable;
        over.then_some(Refusal::Insufficient { resource, requested, used, allocatable })
    })
}

/// The resources that are looked at when `pod` is deployed.
pub fn checked(m: &Model, pod: PodId) -> impl Iterator<Item = ResourceId> + '_ {
    let all = m.cluster().resources.entries().ids().filter(|&resource| resource != m.pods_resource());
    let asked = std::iter::once(m.pods_resource()).chain(m.pod(pod).requests.iter().map(|(resource, _)| resource));
    let (all, asked) = match m.semantics() {
        Semantics::Paper => (Some(all), None),
        Semantics::KubeScheduler => (None, Some(asked)),
    };
    all.into_iter().flatten().chain(asked.into_iter().flatten())
}

/// How much of a resource one instance takes: its request, and one of `pods`.
pub fn weight(m: &Model, pod: PodId, resource: ResourceId) -> Amount {
    if resource == m.pods_resource() { 1 } else { m.pod(pod).requests.amount(resource) }
}

/// How much of a resource the pods on a node take.
pub(super) fn used(m: &Model, s: &impl Running, node: NodeId, resource: ResourceId) -> Amount {
    if resource == m.pods_resource() {
        return s.crowd(node);
    }
    let taken = s.on(node).map(|(q, count)| weight(m, q, resource).saturating_mul(Amount::from(count)));
    taken.fold(0, Amount::saturating_add)
}
