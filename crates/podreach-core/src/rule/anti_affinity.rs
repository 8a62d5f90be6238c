//! Required pod anti-affinity: a pod keeps away from those it names, and under kube-scheduler from those that name it.
//!
//! ```text
//! own(s, p, n)      ≡  no (σ, k) ∈ anti(p), q ∈ s:   q ⊨ σ  ∧  node(q)[k] = n[k]
//! others(s, p, n)   ≡  no q ∈ s, (σ, k) ∈ anti(q):   p ⊨ σ  ∧  node(q)[k] = n[k]
//! paper:            own          kube-scheduler:   own ∧ others
//! ```
//! A node or a resident's node without the key is never in the way.
//! Kubernetes: `interpodaffinity/filtering.go`, `satisfyPodAntiAffinity`, `satisfyExistingPodsAntiAffinity`. Paper: section 2, `AffinityOK`.

use super::Refusal;
use crate::cluster::Term;
use crate::id::{NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::running::Running;

/// Refuses a node near which a repelling or a repelled pod runs.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    own(m, s, pod, node).or_else(|| match m.semantics() {
        Semantics::KubeScheduler => others(m, s, pod, node),
        Semantics::Paper => None,
    })
}

fn own(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    m.pod(pod).anti_affinity.iter().enumerate().find_map(|(index, term)| {
        let mut seen = s.seen(m, std::iter::once(term.matcher));
        let (resident, at, _) = seen.find(|&(_, at, _)| m.share(term.key, at, node))?;
        Some(Refusal::Repels { term: index, resident, at })
    })
}

fn others(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let mut terms = m.repelling(pod);
    terms.find_map(|(resident, index)| repelled(m, s, node, resident, index, m.pod(resident).anti_affinity[index]))
}

fn repelled(m: &Model, s: &impl Running, node: NodeId, resident: PodId, index: usize, term: Term) -> Option<Refusal> {
    let at = s.of(resident).map(|(at, _)| at).find(|&at| m.share(term.key, at, node))?;
    Some(Refusal::RepelledBy { resident, term: index, at })
}
