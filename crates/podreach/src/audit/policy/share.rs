//! How large a pod is and how full a node: the largest share of any resource, in millionths.

use std::collections::BTreeMap;

use podreach_core::id::ResourceId;
use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::running::Running;
use podreach_core::{Model, NodeId, PodId};

const MILLION: Amount = 1_000_000;

/// What all nodes together have.
pub(crate) struct Shares(BTreeMap<ResourceId, Amount>);

impl Shares {
    /// Of the nodes of a model.
    pub(crate) fn new(m: &Model) -> Self {
        let mut totals = BTreeMap::<ResourceId, Amount>::new();
        for (resource, amount) in m.nodes().flat_map(|node| m.node(node).allocatable.iter()) {
            let total = totals.entry(resource).or_default();
            *total = total.saturating_add(amount);
        }
        Self(totals)
    }

    /// The largest share of anything that a pod requests.
    pub(crate) fn of(&self, m: &Model, pod: PodId) -> Amount {
        m.pod(pod).requests.iter().map(|one| self.share_of_all(one)).max().unwrap_or(0)
    }

    fn share_of_all(&self, (resource, amount): (ResourceId, Amount)) -> Amount {
        let total = self.0.get(&resource).copied().unwrap_or(0);
        amount.saturating_mul(MILLION).checked_div(total).unwrap_or(Amount::MAX)
    }
}

/// The largest share of anything on a node that is taken.
pub(crate) fn full(m: &Model, s: &impl Running, node: NodeId) -> Amount {
    m.node(node).allocatable.iter().map(|one| share_taken(m, s, node, one)).max().unwrap_or(0)
}

fn share_taken(m: &Model, s: &impl Running, node: NodeId, (resource, has): (ResourceId, Amount)) -> Amount {
    let taken = s.on(node).map(|(pod, count)| fit::weight(m, pod, resource).saturating_mul(count.into()));
    let taken = taken.fold(0, Amount::saturating_add);
    taken.saturating_mul(MILLION).checked_div(has).unwrap_or(0)
}
