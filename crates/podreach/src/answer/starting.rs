//! What nodes that are still starting leave in doubt.

use std::collections::BTreeSet;

use podreach_core::cluster::PodSpec;
use podreach_core::starting::StartingNodes;
use podreach_core::{Model, NodeId, PodId, Semantics};

use super::doubt::{Doubt, Place, Residents};
use crate::words;

/// What nodes that are still starting leave in doubt.
pub(super) struct Started {
    /// That pods may be refused for labels which such nodes get.
    pub(super) refused: Vec<Doubt>,
    /// That pods may be let in for what such nodes get, if any may.
    pub(super) let_in: Option<Doubt>,
    /// The nodes.
    pub(super) nodes: Vec<NodeId>,
}

impl Started {
    /// `None` where no node is still starting, or none of them may get what decides about a pod.
    pub(super) fn new(m: &Model) -> Option<Self> {
        let cluster = m.cluster();
        let starting = StartingNodes::new(cluster).filter(|_| m.semantics() == Semantics::KubeScheduler)?;
        let nodes: Vec<NodeId> = starting.classes().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
        let message = words::still_starting(&nodes.iter().map(|&node| m.node_name(node)).collect::<Vec<_>>());
        let doubt = |is_in: &dyn Fn(&PodSpec) -> bool, on: Place, after: BTreeSet<NodeId>| {
            let pods: BTreeSet<PodId> = m.pods().filter(|&pod| is_in(m.pod(pod))).collect();
            let message = message.clone();
            (!pods.is_empty()).then_some(Doubt { pods, on, after, residents: Residents::AsSeen, message })
        };
        let each = starting.classes().filter_map(|(open, of)| {
            doubt(&|spec| starting.is_refused(cluster, spec, open), Place::On(of.clone()), of.clone())
        });
        let mut refused: Vec<Doubt> = each.collect();
        let all: BTreeSet<NodeId> = nodes.iter().copied().collect();
        refused.extend(doubt(&|spec| starting.is_unsettled(cluster, spec), Place::Anywhere, all.clone()));
        let let_in = doubt(&|spec| starting.is_let_in(cluster, spec), Place::Anywhere, all);
        (let_in.is_some() || !refused.is_empty()).then_some(Self { refused, let_in, nodes })
    }
}
