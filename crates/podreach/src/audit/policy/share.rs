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
        let share = |(resource, amount): (ResourceId, Amount)| {
            let total = self.0.get(&resource).copied().unwrap_or(0);
            amount.saturating_mul(MILLION).checked_div(total).unwrap_or(Amount::MAX)
        };
        m.pod(pod).requests.iter().map(share).max().unwrap_or(0)
    }
}

/// The largest share of anything on a node that is taken.
pub(crate) fn full(m: &Model, s: &impl Running, node: NodeId) -> Amount {
    let share = |(resource, has): (ResourceId, Amount)| {
        let taken = s.on(node).map(|(pod, count)| fit::weight(m, pod, resource).saturating_mul(count.into()));
        let taken = taken.fold(0, Amount::saturating_add);
        taken.saturating_mul(MILLION).checked_div(has).unwrap_or(0)
    };
    m.node(node).allocatable.iter().map(share).max().unwrap_or(0)
}
