//! F0113: does a workload tolerate everything, and so reach every pool?

use std::collections::BTreeMap;

use podreach_core::cluster::{Taint, TaintEffect, TolerationOperator};
use podreach_core::{Goal, Model, NodeId, PodId};

use super::Finding;
use super::scene::{From, Scene, Subject};
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::policy::ruling::reason;
use crate::lower::Kind;
use crate::words;

/// A workload that no taint keeps out.
pub(super) const EVERYWHERE: Finding = Finding {
    code: "F0113",
    title: "tolerates every taint and reaches every pool",
    severity: Severity::Warning,
    explanation: "Taints keep a pool to those that tolerate them. A toleration without a key tolerates them all, those of tomorrow \
        included, so nothing keeps this workload off dedicated, private or control-plane nodes.",
    fix: "Tolerate the taints it needs by key, or restrict it with node affinity. For agents that belong on every node this is as it \
        should be: except it with an annotation.",
};

/// Taints of this prefix mark the condition of a node and not a pool.
const CONDITION: &str = "node.kubernetes.io/";

/// The most pools for which a run is shown.
const SHOWN: usize = 4;

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let m = scene.model();
    let pools = pools(&m);
    let tainted = pools.keys().filter(|taints| !taints.is_empty()).count();
    if tainted == 0 {
        return Vec::new();
    }
    let tolerant: Vec<Subject> =
        scene.subjects.iter().filter(|subject| tolerates_everything(&m, subject.pod)).cloned().collect();
    scene.each(&tolerant, |scene, subject| item(scene, subject, &pools))
}

/// The nodes that share their taints, by these.
fn pools(m: &Model) -> BTreeMap<Vec<Taint>, Vec<NodeId>> {
    let mut pools = BTreeMap::<Vec<Taint>, Vec<NodeId>>::new();
    for node in m.nodes() {
        let keeps_out =
            |taint: &&Taint| taint.effect != TaintEffect::PreferNoSchedule && !m.str(taint.key).starts_with(CONDITION);
        let mut taints: Vec<Taint> = m.node(node).taints.iter().filter(keeps_out).copied().collect();
        taints.sort_unstable();
        pools.entry(taints).or_default().push(node);
    }
    pools
}

/// Whether a pod tolerates whatever taint keeps new pods out; whether some pool has one that makes pods leave, the questions say.
fn tolerates_everything(m: &Model, pod: PodId) -> bool {
    m.pod(pod).tolerations.iter().any(|t| {
        let effect = t.effect.is_none_or(|effect| effect == TaintEffect::NoSchedule);
        t.key.is_none() && t.operator == TolerationOperator::Exists && effect
    })
}

fn item(scene: &mut Scene<'_>, subject: &Subject, pools: &BTreeMap<Vec<Taint>, Vec<NodeId>>) -> Option<Item> {
    let m = scene.model();
    let mut evidence = Vec::new();
    let mut taints = Vec::new();
    for (pool, nodes) in pools {
        let goal = Goal { any: nodes.iter().map(|&node| [((subject.pod, node), 1)].into_iter().collect()).collect() };
        let decision = scene.ask(From::Fresh, &goal);
        match decision.checked.answer() {
            Some(true) => {}
            Some(false) => return None,
            None => {
                let what = format!("whether {} can run in every pool", subject.shown());
                return scene.undecided(&EVERYWHERE, &subject.names, &what, &reason(&decision));
            }
        }
        if !pool.is_empty() {
            let name = words::all(&pool.iter().map(|taint| words::taint(&m, taint)).collect::<Vec<_>>());
            evidence.push(Evidence::new(format!("it can run where nodes have {name}"), decision));
            taints.push(name);
        }
    }
    evidence.truncate(SHOWN);
    let names = words::first(taints.into_iter(), 4);
    let message = format!(
        "{} tolerates every taint and can run in every pool: also behind {}",
        subject.shown(),
        words::all(&names)
    );
    let agent =
        subject.kind == Kind::DaemonSet || m.str(m.cluster().namespaces[m.pod(subject.pod).namespace]) == "kube-system";
    let severity = if agent { Severity::Note } else { EVERYWHERE.severity };
    Some(Item { severity, evidence, ..scene.item(&EVERYWHERE, &subject.names, message) })
}
