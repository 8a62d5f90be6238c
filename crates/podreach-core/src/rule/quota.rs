//! ResourceQuota: what the pods of a namespace take together is capped.
//!
//! ```text
//! ok(s, p)  ≡  ∀ quota k with takes(p, k) > 0:  Σ { s(q, n) · takes(q, k) } + takes(p, k) ≤ hard(k)
//! ```
//! Not a filter of kube-scheduler: the API server's admission refuses to create the pod. It looks only at what the new pod takes
//! something of, so a namespace that is over its quota may still create pods that take nothing of it.
//! Kubernetes: `apiserver/pkg/admission/plugin/resourcequota/controller.go`, `CheckRequest`.

use super::Refusal;
use crate::id::{PodId, QuotaId};
use crate::model::Model;
use crate::resource::Amount;
use crate::running::Running;

/// Refuses one more pod where the namespace has no room for it.
pub fn refusal(m: &Model, s: &impl Running, pod: PodId) -> Option<Refusal> {
    m.pod(pod).quota.iter().find_map(|(&quota, &asked)| {
        let used = used(m, s, quota);
        let over = used.saturating_add(asked) > m.cluster().quotas[quota].hard;
        over.then_some(Refusal::QuotaExceeded { quota, asked, used })
    })
}

/// How much of a quota one instance takes.
pub fn weight(m: &Model, pod: PodId, quota: QuotaId) -> Amount {
    m.pod(pod).quota.get(&quota).copied().unwrap_or(0)
}

fn used(m: &Model, s: &impl Running, quota: QuotaId) -> Amount {
    let users = m.every_pod().filter(|&q| weight(m, q, quota) > 0);
    let taken = users.flat_map(|q| s.of(q).map(move |(_, count)| weight(m, q, quota).saturating_mul(count.into())));
    taken.fold(0, Amount::saturating_add)
}
