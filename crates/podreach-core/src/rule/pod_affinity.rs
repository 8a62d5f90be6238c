//! Required pod affinity: a pod may join only where its friends already run.
//!
//! ```text
//! kube-scheduler
//!   friends(s, p)    =  { q ∈ s : q ⊨ σ for every (σ, k) ∈ affinity(p) }
//!   affine(s, p, n)  ≡  ∀ (σ, k) ∈ affinity(p):  k ∈ labels(n)  ∧
//!                       (  ∀ (σ, k) ∃ q ∈ friends(s, p):  node(q)[k] = n[k]            near a friend, or
//!                       ∨  no friend on a node with one of the keys  ∧  p ⊨ all σ )    first of its kind
//! paper
//!   affine(s, p, n)  ≡  ∀ (σ, k) ∈ affinity(p):
//!                       (  ∃ q ∈ s: q ⊨ σ ∧ node(q)[k] = n[k]
//!                       ∨  no q ∈ s with q ⊨ σ  ∧  p ⊨ σ )
//! ```
//! Kubernetes: `interpodaffinity/filtering.go`, `satisfyPodAffinity`. Paper: section 2, `AffinityOK`.

use super::Refusal;
use crate::cluster::Term;
use crate::id::{NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::running::Running;

/// Refuses a node near which a required friend is missing.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId, node: NodeId) -> Option<Refusal> {
    let terms = &m.pod(pod).affinity;
    match m.semantics() {
        Semantics::KubeScheduler => all_terms(m, s, pod, node, terms),
        Semantics::Paper => terms.iter().position(|&term| !affine_paper(m, s, pod, node, term)).map(Refusal::NoWitness),
    }
}

fn all_terms(m: &Model, s: &impl Running, pod: PodId, node: NodeId, terms: &[Term]) -> Option<Refusal> {
    if let Some(term) = terms.iter().position(|term| m.domain(term.key, node).is_none()) {
        return Some(Refusal::AffinityKey(term));
    }
    let friends = || s.seen(m, terms.iter().map(|term| term.matcher));
    let term = terms.iter().position(|term| !friends().any(|(_, at, _)| m.share(term.key, at, node)))?;
    let first = matches_itself(m, pod, terms)
        && !friends().any(|(_, at, _)| terms.iter().any(|term| m.domain(term.key, at).is_some()));
    (!first).then_some(Refusal::NoWitness(term))
}

/// Whether a pod matches every one of these terms of its own, before it is bound.
pub fn matches_itself(m: &Model, pod: PodId, terms: &[Term]) -> bool {
    terms.iter().all(|term| m.sees_unbound(term.matcher, pod))
}

fn affine_paper(m: &Model, s: &impl Running, pod: PodId, node: NodeId, term: Term) -> bool {
    let matching = || s.seen(m, std::iter::once(term.matcher));
    let near = matching().any(|(_, at, _)| m.share(term.key, at, node));
    near || (m.sees_unbound(term.matcher, pod) && matching().next().is_none())
}
