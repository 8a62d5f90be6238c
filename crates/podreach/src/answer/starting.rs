//! What nodes that are still starting leave in doubt.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cancel::polled;
use podreach_core::cluster::PodSpec;
use podreach_core::starting::StartingNodes;
use podreach_core::{Model, NodeId, PodId, Semantics};

use super::doubt::{Doubt, Place, Residents};
use crate::lower::what_is_starting;

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
        let message = what_is_starting(&nodes.iter().map(|&node| m.node_name(node)).collect::<Vec<_>>());
        let doubt = |is_in: &dyn Fn(&PodSpec) -> bool, on: Place, after: BTreeSet<NodeId>| {
            let pods: BTreeSet<PodId> = m.pods().filter(|&pod| is_in(m.pod(pod))).collect();
            let message = message.clone();
            let doubt = Doubt { pods, on, after, beside: None, residents: Residents::AsSeen, message };
            (!doubt.pods.is_empty()).then_some(doubt)
        };
        let each = starting.classes().filter_map(|(open, of)| {
            doubt(&|spec| starting.is_refused(cluster, spec, open), Place::On(of.clone()), of.clone())
        });
        let mut refused: Vec<Doubt> = each.collect();
        let all: BTreeSet<NodeId> = nodes.iter().copied().collect();
        refused.extend(doubt(&|spec| starting.is_unsettled(cluster, spec), Place::Anywhere, all.clone()));
        refused.extend(repelled(m, &starting).into_iter().map(|(pods, beside)| Doubt {
            pods,
            on: Place::Anywhere,
            after: all.clone(),
            beside: Some(beside),
            residents: Residents::AsSeen,
            message: message.clone(),
        }));
        let let_in = doubt(&|spec| starting.is_let_in(cluster, spec), Place::Anywhere, all);
        (let_in.is_some() || !refused.is_empty()).then_some(Self { refused, let_in, nodes })
    }
}

/// The types that others may repel for a label which may come, with these others; none of the sets of types twice.
fn repelled(m: &Model, starting: &StartingNodes) -> BTreeMap<BTreeSet<PodId>, BTreeSet<PodId>> {
    let mut by = BTreeMap::<PodId, BTreeSet<PodId>>::new();
    for pod in polled(m.pods()) {
        starting.repelling(m, pod).for_each(|other| {
            by.entry(m.base(other)).or_default().insert(pod);
        });
    }
    let mut all = BTreeMap::<BTreeSet<PodId>, BTreeSet<PodId>>::new();
    by.into_iter().for_each(|(other, pods)| {
        all.entry(pods).or_default().insert(other);
    });
    all
}
