//! F0104: can everything that is declared be up at the same time, and if not, how much of it?

use podreach_core::cancel::polled;
use podreach_core::demand::{Inequality, Want as Wanted};
use podreach_core::id::ResourceId;
use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::{Demand, Model, PodId};

use super::Finding;
use super::scene::Scene;
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::memory::Means;
use crate::audit::policy::packing::{Want, most, packed};
use crate::audit::policy::placement::{Placement, placement};
use crate::audit::policy::possible::{Outcome, outcome};
use crate::audit::policy::recoverable::{two_alone, wants};
use crate::audit::policy::ruling::Asking;
use crate::audit::policy::shortage::demand;
use crate::audit::policy::sums::too_much;

/// A desired state that can never be.
pub(super) const DESIRED: Finding = Finding {
    code: "F0104",
    title: "the desired state can never all be up at once",
    severity: Severity::Warning,
    explanation: "All Deployments, StatefulSets, ReplicaSets, DaemonSets and single Pods together ask for more than can ever run at the \
        same time, in whatever order they start: something always stays Pending.",
    fix: "Add nodes of the kind that is short, or ask for less; what F0101 to F0105 say of single workloads comes first.",
};

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let world = scene.world.clone().emptied().standing();
    let wants = wants(scene.lowered, &world);
    let asked = wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count));
    let budget = scene.budget();
    let mut asking = Asking::new(&world, Means { budget: &budget, memory: scene.memory });
    let alone: Vec<Alone> = polled(&wants).map(|want| alone(&mut asking, want)).collect();
    let each = alone.iter().fold(0, |sum: u64, alone| sum.saturating_add(alone.most));
    // What cannot be up by itself only stands in the way of packing the rest.
    let feasible = wants.iter().zip(&alone).map(|(want, alone)| Want { count: alone.most, ..want.clone() });
    let feasible: Vec<Want> = feasible.filter(|want| want.count > 0).collect();
    let packed = most(&world.problem, &feasible, &|| scene.is_stopped());
    // What packs in the model can never be ruled out, whatever is in doubt about it.
    if packed.as_ref().is_some_and(|(met, ..)| *met == asked) {
        return Vec::new();
    }
    let packed = packed.map(|(met, decision)| (met, asking.held(decision)));
    let packed = packed.filter(|(_, decision)| decision.checked.answer() == Some(true));
    let least = packed.as_ref().map_or(0, |(met, ..)| *met);
    let (mut failed, mut counted) = (None, Vec::new());
    for one in alone {
        failed = failed.or(one.never);
        counted.extend(one.counted);
    }
    let by_itself = failed.is_some();
    match failed.unwrap_or_else(|| all_together(&mut asking, &wants)) {
        Outcome::Can(_) => Vec::new(),
        Outcome::Never(why, evidence) => {
            let limit = each.min(asked - 1);
            let by_resource = at_most(&asking, &wants).filter(|(bound, _)| *bound < limit);
            let bound = by_resource.as_ref().map_or(limit, |(bound, _)| *bound);
            let mut item = scene.item(&DESIRED, &[], message(asked, least, bound));
            if by_itself {
                // Each workload that cannot be up by itself has a finding of its own.
                item.severity = Severity::Note;
            }
            item.explanation.push(why.to_string());
            item.evidence = evidence;
            match by_resource {
                Some((_, evidence)) => item.evidence.push(evidence),
                None if bound == each && !counted.is_empty() => {
                    item.evidence = counted.into_iter().take(SHOWN).collect();
                }
                None => {}
            }
            item.evidence.extend(
                packed.filter(|(met, ..)| *met > 0).map(|(met, decision)| {
                    asking.evidence(format!("{met} of them can be up at the same time"), decision)
                }),
            );
            vec![item]
        }
        Outcome::Open(why) => {
            let what = match asked {
                1 => "whether the one pod that is declared can be up".to_owned(),
                _ => format!("whether all {asked} pods that are declared can be up at the same time"),
            };
            scene.undecided(&DESIRED, &[], &what, &why).into_iter().collect()
        }
    }
}

/// The most workloads whose own bounds are shown.
const SHOWN: usize = 8;

fn message(asked: u64, least: u64, bound: u64) -> String {
    match (least, bound) {
        (_, 0) if asked == 1 => "the one pod that is declared can never be up".to_owned(),
        (_, 0) => format!("none of the {asked} pods that are declared can ever be up"),
        (least, bound) if least == 0 || least == bound => {
            format!("of the {asked} pods that are declared, at most {bound} can be up at the same time")
        }
        _ => format!(
            "of the {asked} pods that are declared, at least {least} and at most {bound} can be up at the same time"
        ),
    }
}

/// Whether all can be up at the same time, if each can by itself and packing did not work.
fn all_together(asking: &mut Asking<'_>, wants: &[Want]) -> Outcome {
    if let Some(never) = too_much(asking, wants).or_else(|| two_alone(asking, wants)) {
        return never;
    }
    match placement(asking, wants) {
        Placement::Found(decision) => Outcome::Can(Box::new(asking.evidence("all can be up", decision))),
        Placement::Never(why, evidence) => Outcome::Never(why.into(), vec![evidence]),
        Placement::Open(why) => Outcome::Open(why),
    }
}

/// What is known of one want with everything else out of the way.
struct Alone {
    /// A bound on how many of it can be up.
    most: u64,
    /// That not all of it can be, if so.
    never: Option<Outcome>,
    /// That one more than the bound cannot be.
    counted: Vec<Evidence>,
}

fn alone(asking: &mut Asking<'_>, want: &Want) -> Alone {
    let problem = asking.world.problem.clone();
    let all = Alone { most: want.count, never: None, counted: Vec::new() };
    // What packs in the model can never be ruled out, whatever is in doubt about it.
    if packed(&problem, std::slice::from_ref(want), &|| false).is_some() {
        return all;
    }
    let Outcome::Never(why, evidence) = outcome(asking, want) else { return all };
    let why = format!("Even by itself {} cannot be up as declared. {why}", problem.model.pod_name(want.pod));
    let least = most(&problem, std::slice::from_ref(want), &|| false).map_or(0, |(met, ..)| met);
    let one_more = Want { count: least + 1, ..want.clone() };
    let (most, counted) = match outcome(asking, &one_more) {
        _ if one_more.count == want.count => (least, evidence.clone()),
        Outcome::Never(_, counted) => (least, counted),
        _ => (want.count - 1, evidence.clone()),
    };
    Alone { most, never: Some(Outcome::Never(why.into(), evidence)), counted }
}

/// The least bound by a resource on how many of all wanted pods the nodes have room for, with what shows it.
///
/// The smallest requests fill a room best, so the bound is where they end. In terms of inequalities: with `w` the request that no longer
/// fits, a pod counts `w`; what the nodes have counts once, and each pod of a smaller request `r` also counts `w − r`, as many as are wanted.
fn at_most(asking: &Asking<'_>, wants: &[Want]) -> Option<(u64, Evidence)> {
    let problem = &asking.world.problem;
    let m = &problem.model;
    let possible: Vec<Want> = wants
        .iter()
        .filter(|want| want.nodes.iter().any(|&node| problem.is_possible((want.pod, node))))
        .cloned()
        .collect();
    let there = possible.iter().map(|want| {
        let kept: u64 = want.nodes.iter().map(|&node| problem.kept.count((want.pod, node))).sum();
        kept.min(want.count)
    });
    let there = there.fold(0, u64::saturating_add);
    let bounds = m.cluster().resources.entries().ids().filter_map(|resource| {
        let room = m.nodes().map(|node| m.node(node).allocatable.amount(resource)).fold(0, Amount::saturating_add);
        let mut requests: Vec<(Amount, u64)> =
            possible.iter().map(|want| (checked_request(m, want.pod, resource), want.count)).collect();
        requests.sort_unstable();
        let (fits, first) = fill(room, &requests);
        Some((fits.saturating_add(there), first?, resource))
    });
    let (bound, first, resource) = bounds.min()?;
    let places = demand(&possible).wants.into_iter().flat_map(|want| want.places).collect();
    let any = Demand { wants: vec![Wanted { count: bound.saturating_add(1), places }] };
    let own = possible
        .iter()
        .enumerate()
        .map(|(at, want)| (Inequality::Place(0, at), first.saturating_sub(checked_request(m, want.pod, resource))));
    let of_nodes = m.nodes().map(|node| (Inequality::Capacity(node, resource), 1));
    let inequalities = of_nodes.chain(own.filter(|(_, times)| *times > 0)).collect();
    let shows = format!("the nodes have {} for no more than {bound} of them", m.str(m.cluster().resources[resource]));
    Some((bound, asking.sum(any, shows, vec![first], inequalities)?))
}

/// What a pod requests of a resource, if it is asked about that.
fn checked_request(m: &Model, pod: PodId, resource: ResourceId) -> Amount {
    match fit::checked(m, pod).any(|other| other == resource) {
        true => fit::weight(m, pod, resource),
        false => 0,
    }
}

/// How many requests fit into a room, the smallest first, and the first that does not.
fn fill(mut room: Amount, requests: &[(Amount, u64)]) -> (u64, Option<Amount>) {
    let mut count = 0_u64;
    for &(request, wanted) in requests {
        let most = room.checked_div(request).map_or(u64::MAX, |most| u64::try_from(most).unwrap_or(u64::MAX));
        let fits = most.min(wanted);
        count = count.saturating_add(fits);
        room = room.saturating_sub(request.saturating_mul(fits.into()));
        if fits < wanted {
            return (count, Some(request));
        }
    }
    (count, None)
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn the_smallest_requests_fill_a_room_best() {
        let filled = [fill(10, &[(0, 2), (3, 2), (4, 5)]), fill(10, &[(3, 9)]), fill(0, &[(1, 1)]), fill(9, &[(1, 2)])];
        assert_eq!(filled, [(5, Some(4)), (3, Some(3)), (0, Some(1)), (2, None)]);
    }
}
