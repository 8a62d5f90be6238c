//! Facts that let pods run, and may be in the way of pods as well.
//!
//! ```text
//! a node                          its kept pods are avoided, or have to be joined, or take part of a quota, a limit, a volume or a device
//! a label of a node               by which pods keep apart, or keep off nodes
//! a label of a pod, a namespace   by which pods are avoided, or have to be joined where the first of a kind need not join anyone
//! ```
//! All other facts only help: a run without them is still a run where they are there. A core may suffice only because some fact that was in
//! the way is gone, and then it says nothing of the losses of others.

use std::collections::BTreeSet;

use podreach_core::PodId;
use podreach_core::storage::Mounts;

use super::edit::is_social;
use super::support::{Ground, Support};
use crate::audit::policy::Property;

/// Whether nodes matter that no pod uses: a spread constraint counts their domains, and a DaemonSet wants a pod on each node it admits.
pub(super) fn unused_nodes_matter(ground: &Ground<'_>, pods: &BTreeSet<PodId>) -> bool {
    let m = ground.world.model();
    pods.iter().any(|&pod| !m.pod(pod).spread.is_empty())
        || matches!(ground.property, Property::Recoverable { .. })
            && ground.world.pods(0).into_iter().any(|pod| {
                let origin = ground.lowered().origins.pods.get(m.pod_name(pod));
                origin.and_then(|origin| origin.declared).is_some_and(|declared| declared.per_node)
            })
}

/// Whether, of all facts, one that is not in the core may be in the way, where nodes that no pod uses do not matter.
pub(super) fn is_outside(core: &[Support], all: &[Support], ground: &Ground<'_>) -> bool {
    let m = ground.world.model();
    let social = is_social(m, &m.pods().collect());
    let felt_elsewhere = |pod: PodId| {
        let spec = m.pod(pod);
        let limited = m.cluster().limits.iter().any(|limit| limit.pods.contains(&pod));
        social || limited || !spec.quota.is_empty() || !spec.devices.is_empty() || spec.mounts != Mounts::default()
    };
    let gone = |fact: &Support| all.contains(fact) && !core.contains(fact);
    all.iter().filter(|fact| !core.contains(fact)).any(|fact| match *fact {
        Support::Node(node) => ground.world.problem.kept.on(node).any(|(pod, _)| felt_elsewhere(pod)),
        Support::Label(node, _) => !gone(&Support::Node(node)),
        Support::PodLabel(pod, _) => !gone(&Support::Other(pod)),
        Support::NamespaceLabel(..) => true,
        Support::Room(..) | Support::Toleration(..) | Support::Other(_) => false,
    })
}
