//! TaintToleration: every taint that keeps pods away must be tolerated.
//!
//! ```text
//! tolerated(p, n)  ≡  ∀ τ ∈ taints(n) with effect NoSchedule or NoExecute:  ∃ t ∈ tolerations(p):  t ⊨ τ
//! ```
//! Kubernetes: `tainttoleration/taint_toleration.go`, `Filter`; `api/core/v1/toleration.go`, `ToleratesTaint`.

use super::Refusal;
use crate::cluster::{Taint, Toleration, TolerationOperator};
use crate::id::{NodeId, PodId};
use crate::model::Model;

/// Refuses a node with a taint that the pod does not tolerate.
pub fn refusal(m: &Model, pod: PodId, node: NodeId) -> Option<Refusal> {
    let mut taints = m.node(node).taints.iter().filter(|taint| taint.keeps_pods_away());
    taints.find(|taint| !is_tolerated(&m.pod(pod).tolerations, taint)).copied().map(Refusal::Untolerated)
}

/// Whether one of these tolerations tolerates a taint.
pub fn is_tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

/// Whether a toleration tolerates a taint.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.is_none_or(|effect| effect == taint.effect);
    let key = toleration.key.is_none_or(|key| key == taint.key);
    let value = match toleration.operator {
        TolerationOperator::Exists => true,
        TolerationOperator::Equal(value) => value == taint.value,
        TolerationOperator::Comparison => false,
    };
    effect && key && value
}
