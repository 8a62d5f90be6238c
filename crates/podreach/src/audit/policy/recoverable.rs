//! `recoverable`: from an empty cluster, everything that is selected can be up at the same time, as many as declared.
//!
//! Kept pods stay. Whatever else the input has may be deployed on the way and deleted again. A DaemonSet wants one pod on each node
//! that its own node selection and tolerations admit.

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::cancel::polled;
use podreach_core::rule::Rule;
use podreach_core::{Configuration, Model, NodeId, PodId};

use super::never::sentence;
use super::packing::{Want, packed};
use super::placement::{Placement, placement};
use super::possible::{Outcome, outcome};
use super::ruling::{Asking, Ruling, listed};
use super::sums::too_much;
use super::world::World;
use crate::audit::item::Status;
use crate::lower::{Declared, Lowered};
use crate::words;

/// What the selected workloads declare, one want per pod type and, for DaemonSets, one per node.
pub(crate) fn wants(lowered: &Lowered, world: &World) -> Vec<Want> {
    let m = world.model();
    let all: Arc<[NodeId]> = m.nodes().collect();
    let mut wants = Vec::new();
    for pod in polled(world.pods(0)).filter(|pod| is_wanted(m, *pod) && !m.cluster().waiting.contains_key(pod)) {
        let declared = lowered.origins.pods.get(m.pod_name(pod)).and_then(|origin| origin.declared);
        let (count, on_each) = match declared {
            Some(Declared { per_node: true, replicas, .. }) => (0, replicas),
            Some(Declared { replicas, .. }) => (replicas, 0),
            None => (0, 0),
        };
        if count > 0 {
            wants.push(Want { pod, count, nodes: Arc::clone(&all), apart: None });
        }
        if on_each > 0 {
            let nodes = all.iter().copied().filter(|&node| has_daemon(m, pod, node));
            wants.extend(nodes.map(|node| Want { pod, count: on_each, nodes: Arc::new([node]), apart: None }));
        }
    }
    wants
}

/// Whether someone wants pods of a type to run, be they refused or not.
pub(crate) fn is_wanted(m: &Model, pod: PodId) -> bool {
    m.pod(pod).barred.as_ref().is_none_or(|why| !why.is_unwanted())
}

/// Whether a DaemonSet has a pod for a node: its controller looks at what the pod selects and tolerates, and at nothing else.
///
/// Kubernetes: `pkg/controller/daemon/daemon_controller.go`, `predicates`.
pub(crate) fn has_daemon(m: &Model, pod: PodId, node: NodeId) -> bool {
    let looked_at = [Rule::NodeName, Rule::NodeUnschedulable, Rule::TaintToleration, Rule::NodeAffinity];
    looked_at.into_iter().all(|rule| rule.refusal(m, &Configuration::new(), pod, node).is_none())
}

/// Decides the rule, in a world that starts empty.
pub(crate) fn ruling(asking: &mut Asking<'_>, wants: &[Want]) -> Ruling {
    let m = asking.world.model();
    let pods: u64 = wants.iter().fold(0, |sum, want| sum.saturating_add(want.count));
    let what = format!("all {} selected", words::number(usize::try_from(pods).unwrap_or(usize::MAX), "pod"));
    match together(asking, wants) {
        Outcome::Can(evidence) => {
            let message = format!("{what} can be up at the same time, from an empty cluster");
            let mut ruling = Ruling::new(Status::Holds, message);
            ruling.evidence.push(*evidence);
            ruling
        }
        Outcome::Never(why, evidence) => {
            let message = format!("{what} can never be up at the same time again from an empty cluster");
            let mut ruling = Ruling::new(Status::Violated, message);
            let named = evidence.iter().flat_map(|shown| shown.problem().goal.any.iter().flat_map(Configuration::iter));
            let wanted =
                evidence.iter().filter_map(|shown| shown.short.as_ref()).flat_map(|short| &short.demand().wants);
            let wanted = wanted.flat_map(|want| want.places.iter().flat_map(|place| &place.atoms)).map(|atom| atom.0);
            let pods: BTreeSet<PodId> = named.map(|((pod, _), _)| pod).chain(wanted).collect();
            ruling.subject = pods.into_iter().map(|pod| m.pod_name(pod).to_owned()).collect();
            ruling.subject.sort();
            ruling.subject.dedup();
            ruling.explanation.push(why.to_string());
            ruling.fix = Some("break the circle of what waits for what, or add room".to_owned());
            ruling.evidence = evidence;
            ruling
        }
        Outcome::Open(why) => {
            let mut ruling = Ruling::new(Status::Undecided, format!("not decided whether {what} can be up together"));
            ruling.explanation.push(sentence(&why));
            ruling
        }
    }
}

/// Whether all wants can be met at the same time.
pub(crate) fn together(asking: &mut Asking<'_>, wants: &[Want]) -> Outcome {
    if let Some(sums) = too_much(asking, wants) {
        // A proof about one workload says more than a sum.
        let small: Vec<Want> = wants.iter().filter(|want| want.count <= 64).cloned().collect();
        return one_alone(asking, &small).unwrap_or(sums);
    }
    if let Some(decision) = asking.packed(wants) {
        let shows = "everything can be deployed one after the other";
        return Outcome::Can(Box::new(asking.evidence(shows, decision)));
    }
    if let Some(never) = one_alone(asking, wants).or_else(|| two_alone(asking, wants)) {
        return never;
    }
    match placement(asking, wants) {
        Placement::Found(decision) => {
            Outcome::Can(Box::new(asking.evidence("everything can be there at the same time", decision)))
        }
        Placement::Never(why, evidence) => Outcome::Never(why.into(), vec![evidence]),
        Placement::Open(why) => Outcome::Open(why),
    }
}

/// One workload that cannot be up even by itself.
fn one_alone(asking: &mut Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    for want in wants {
        if let Outcome::Never(why, evidence) = outcome(asking, want) {
            let name = asking.world.model().pod_name(want.pod);
            let why = format!("Even by itself {name} cannot be up as declared. {why}");
            return Some(Outcome::Never(why.into(), evidence));
        }
    }
    None
}

/// Two workloads that cannot be up together, looked for among few.
pub(crate) fn two_alone(asking: &mut Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    let small: Vec<&Want> = wants.iter().filter(|want| want.count <= 4).take(24).collect();
    for (at, &a) in small.iter().enumerate() {
        for &b in &small[at + 1..] {
            let both = [a.clone(), b.clone()];
            if asking.is_stopped() || packed(&asking.world.problem, &both, &|| false).is_some() {
                continue;
            }
            if let Placement::Never(_, evidence) = placement(asking, &both) {
                let m = asking.world.model();
                let names = listed(&both.each_ref().map(|want| m.pod_name(want.pod).to_owned()));
                let why = format!("{names} can never be up together as declared.");
                return Some(Outcome::Never(why.into(), vec![evidence]));
            }
        }
    }
    None
}
