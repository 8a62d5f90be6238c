//! `recoverable`: from an empty cluster, everything that is selected can be up at the same time, as many as declared.
//!
//! Kept pods stay. Whatever else the input has may be deployed on the way and deleted again. A DaemonSet wants one pod on each node
//! that its own node selection and tolerations admit.

use std::collections::BTreeMap;

use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::{Configuration, Model, NodeId, PodId};

use super::never::sentence;
use super::packing::{Want, packed};
use super::placement::{Placement, placement};
use super::possible::{Outcome, outcome};
use super::ruling::{Asking, Ruling, listed};
use super::world::World;
use crate::audit::item::{Evidence, Status};
use crate::lower::Lowered;
use crate::report::words;

/// What the selected workloads declare, one want per pod type and, for DaemonSets, one per node.
pub(crate) fn wants(lowered: &Lowered, world: &World) -> Vec<Want> {
    let m = world.model();
    let all: Vec<NodeId> = m.nodes().collect();
    let mut wants = Vec::new();
    for pod in world.pods(0).into_iter().filter(|&pod| m.pod(pod).barred.is_none()) {
        let names = std::iter::once(&m.cluster().pods[pod].name).chain(&m.cluster().pods[pod].aliases);
        let declared = names.filter_map(|name| lowered.origins.pods.get(name)?.declared);
        let (mut count, mut on_each) = (0_u64, 0_u64);
        for declared in declared {
            let sum = if declared.per_node { &mut on_each } else { &mut count };
            *sum = sum.saturating_add(declared.replicas);
        }
        if count > 0 {
            wants.push(Want { pod, count, nodes: all.clone(), apart: None });
        }
        if on_each > 0 {
            let on = |&node: &NodeId| Want { pod, count: on_each, nodes: vec![node], apart: None };
            wants.extend(all.iter().filter(|&&node| m.static_ok(pod, node)).map(on));
        }
    }
    wants
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
            ruling.evidence.push(evidence);
            ruling
        }
        Outcome::Never(why, evidence) => {
            let message = format!("{what} can never be up at the same time again from an empty cluster");
            let mut ruling = Ruling::new(Status::Violated, message);
            let named = evidence.iter().flat_map(|shown| shown.problem.goal.any.iter().flat_map(Configuration::iter));
            ruling.subject = named.map(|((pod, _), _)| m.pod_name(pod).to_owned()).collect();
            ruling.subject.sort();
            ruling.subject.dedup();
            ruling.explanation.push(why);
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
fn together(asking: &mut Asking<'_>, wants: &[Want]) -> Outcome {
    if let Some(sums) = too_much(asking, wants) {
        // A proof about one workload says more than a sum.
        let small: Vec<Want> = wants.iter().filter(|want| want.count <= 64).cloned().collect();
        return one_alone(asking, &small).unwrap_or(sums);
    }
    let found = packed(&asking.world.problem, wants, &|| asking.is_stopped());
    if let Some((goal, decision)) = found {
        let decision = asking.stands(&goal, decision);
        if decision.checked.answer() == Some(true) {
            let shows = "everything can be deployed one after the other";
            return Outcome::Can(asking.evidence(shows, goal, decision));
        }
    }
    if let Some(never) = one_alone(asking, wants).or_else(|| two_alone(asking, wants)) {
        return never;
    }
    match placement(asking, wants) {
        Placement::Found(goal, decision) => {
            Outcome::Can(asking.evidence("everything can be there at the same time", goal, decision))
        }
        Placement::Never(goal, decision) => Outcome::Never(
            "No choice of nodes works: whichever are chosen, some of the pods can never be there together.".to_owned(),
            vec![asking.evidence("every way to place all has one of these in it", goal, decision)],
        ),
        Placement::Open(why) => Outcome::Open(why),
    }
}

/// One workload that cannot be up even by itself.
fn one_alone(asking: &mut Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    for want in wants {
        if let Outcome::Never(why, evidence) = outcome(asking, want) {
            let pod = &asking.world.model().cluster().pods[want.pod];
            let name = match pod.aliases.len() {
                0 => pod.name.clone(),
                more => format!("{} (with {more} like it)", pod.name),
            };
            let why = format!("Even by itself {name} cannot be up as declared. {why}");
            return Some(Outcome::Never(why, evidence));
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
            if let Placement::Never(goal, decision) = placement(asking, &both) {
                let m = asking.world.model();
                let names = listed(&both.each_ref().map(|want| m.pod_name(want.pod).to_owned()));
                let why = format!("{names} can never be up together as declared.");
                let shows = "every way to place the two has one of these in it";
                return Some(Outcome::Never(why, vec![asking.evidence(shows, goal, decision)]));
            }
        }
    }
    None
}

/// More of a resource is asked for than the nodes have that may give it: a sum, which needs no search.
pub(crate) fn too_much(asking: &Asking<'_>, wants: &[Want]) -> Option<Outcome> {
    let m = asking.world.model();
    let mut by_nodes = BTreeMap::<Vec<NodeId>, Vec<&Want>>::new();
    for want in wants.iter().filter(|want| !is_doubted(asking.world, want.pod)) {
        let nodes = want.nodes.iter().copied().filter(|&node| m.placeable(want.pod, node)).collect();
        by_nodes.entry(nodes).or_default().push(want);
    }
    for nodes in by_nodes.keys().filter(|nodes| !nodes.is_empty()) {
        let within = by_nodes.iter().filter(|(other, _)| other.iter().all(|node| nodes.binary_search(node).is_ok()));
        let wants: Vec<&Want> = within.flat_map(|(_, wants)| wants.iter().copied()).collect();
        if let Some(why) = excess(m, &asking.world.problem.kept, nodes, &wants) {
            return Some(Outcome::Never(why, Vec::<Evidence>::new()));
        }
    }
    None
}

fn excess(m: &Model, kept: &Configuration, nodes: &[NodeId], wants: &[&Want]) -> Option<String> {
    m.cluster().resources.entries().ids().find_map(|resource| {
        let taken = |(pod, count): (PodId, u64)| fit::weight(m, pod, resource).saturating_mul(count.into());
        let has = |&node: &NodeId| {
            let used = kept.on(node).map(taken).fold(0, Amount::saturating_add);
            m.node(node).allocatable.amount(resource).saturating_sub(used)
        };
        let room = nodes.iter().map(has).fold(0, Amount::saturating_add);
        let asked = |want: &&Want| {
            let there: u64 = want.nodes.iter().map(|&node| kept.count((want.pod, node))).sum();
            taken((want.pod, want.count.saturating_sub(there)))
        };
        let checked = |want: &&&Want| fit::checked(m, want.pod).contains(&resource);
        let sum = wants.iter().filter(checked).copied().map(|want| asked(&want)).fold(0, Amount::saturating_add);
        (sum > room).then(|| {
            let name = m.str(m.cluster().resources[resource]);
            let [sum, room] = [sum, room].map(|amount| crate::report::amount(m, resource, amount));
            let nodes = words::number(nodes.len(), "node");
            format!("The pods that can only run on {nodes} request {sum} {name} together, and the nodes have {room}.")
        })
    })
}

/// Whether what a pod requests and where it may run is in doubt.
fn is_doubted(world: &World, pod: PodId) -> bool {
    use crate::diagnostic::Effect;
    let name = world.model().pod_name(pod);
    let narrows = |effect: Effect| matches!(effect, Effect::Narrows | Effect::Blurs);
    world.diagnostics.iter().any(|d| narrows(d.effect) && d.pod.as_deref().is_some_and(|about| about == name))
}
