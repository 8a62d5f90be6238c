//! F0115: can any workload use a pool?

use podreach_core::cluster::Lifetime;
use podreach_core::id::PoolId;
use podreach_core::rule::hard;
use podreach_core::{Configuration, Goal, NodeId, PodId};

use super::Finding;
use super::scene::{From, Scene, item, ruled_out};
use crate::audit::item::{Item, Severity};
use crate::lower::Kind;

/// A pool that nothing of the input can use.
pub(super) const UNUSED: Finding = Finding {
    code: "F0115",
    title: "no workload can use a pool",
    severity: Severity::Warning,
    explanation: "No pod of a workload can ever run on a node of this pool, whichever it brings: its taints, its labels or the size of its \
        nodes keep all of them off. An autoscaler never has a reason to bring one, and nodes that are there stay without use.",
    fix: "Let a workload tolerate and select the pool, correct its requirements, or remove it.",
};

/// The most alternatives of one question.
const ALTERNATIVES: usize = 4_096;

/// Looks for it. Pods of DaemonSets are on nodes that others need, so that they are no reason for a pool.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let wanted = scene.subjects.iter().filter(|subject| subject.kind != Kind::DaemonSet);
    let pods: Vec<PodId> = wanted.map(|subject| subject.pod).collect();
    let m = scene.model();
    let pools = m.cluster().pools.iter().filter(|(_, pool)| !pool.once && pool.most != Some(0));
    let pools: Vec<PoolId> = pools.map(|(pool, _)| pool).collect();
    if pods.is_empty() {
        return Vec::new();
    }
    scene.each(pools, |scene, pool| unused(scene, pool, &pods))
}

fn unused(scene: &mut Scene<'_>, pool: PoolId, pods: &[PodId]) -> Option<Item> {
    let m = scene.model();
    let is_of_pool = |node: &NodeId| match m.node(*node).lifetime {
        Lifetime::New(shape) => m.cluster().shapes[shape].pool == pool,
        Lifetime::Existing(of) => of == pool,
        Lifetime::Permanent | Lifetime::Absent => false,
    };
    let nodes: Vec<NodeId> = m.nodes().filter(is_of_pool).collect();
    // A pool whose nodes are left out brings none that are looked at.
    let brings = nodes.iter().any(|&node| matches!(m.node(node).lifetime, Lifetime::New(_)));
    let start = &scene.fresh.start;
    if !brings || pods.iter().any(|&pod| nodes.iter().any(|&node| hard(&m, start, pod, node))) {
        return None;
    }
    let name = m.cluster().pools[pool].name.clone();
    let names = [name.clone()];
    let what = format!("whether some workload can use {name}");
    if pods.len() * nodes.len() > ALTERNATIVES {
        return scene.undecided(&UNUSED, &names, &what, "there are too many pods and nodes to look at");
    }
    let atoms = pods.iter().flat_map(|&pod| nodes.iter().map(move |&node| (pod, node)));
    let goal = Goal { any: atoms.map(|atom| [(atom, 1)].into_iter().collect::<Configuration>()).collect() };
    let decision = scene.ask(From::Now, &goal);
    match ruled_out(format!("no workload can ever run on a node of {name}"), decision) {
        Ok(None) => None,
        Ok(Some(evidence)) => {
            let span = scene.lowered.pools.iter().find(|pool| pool.name == name).map(|pool| pool.span);
            let message = format!("no pod of any workload can ever run on a node of {name}");
            Some(Item { evidence: vec![evidence], ..item(&UNUSED, span, &names, message) })
        }
        Err(why) => scene.undecided(&UNUSED, &names, &what, &why.to_string()),
    }
}
