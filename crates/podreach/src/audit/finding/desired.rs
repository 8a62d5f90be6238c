//! F0104: can everything that is declared be up at the same time, and if not, how much of it?

use podreach_core::Problem;
use podreach_core::resource::Amount;
use podreach_core::rule::fit;

use super::Finding;
use super::scene::Scene;
use crate::audit::item::{Evidence, Item, Severity, Status};
use crate::audit::memory::Means;
use crate::audit::policy::packing::{Want, most, packed};
use crate::audit::policy::placement::{Placement, placement};
use crate::audit::policy::possible::{Outcome, outcome};
use crate::audit::policy::recoverable::{two_alone, wants};
use crate::audit::policy::ruling::Asking;
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
    let world = scene.world.clone().emptied();
    let wants = wants(scene.lowered, &world);
    let asked = wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count));
    let budget = scene.budget();
    let mut asking = Asking::new(&world, Means { budget: &budget, memory: scene.memory });
    let alone: Vec<Alone> = wants.iter().map(|want| alone(&mut asking, want)).collect();
    let each = alone.iter().fold(0, |sum: u64, alone| sum.saturating_add(alone.most));
    // What cannot be up by itself only stands in the way of packing the rest.
    let feasible = wants.iter().zip(&alone).map(|(want, alone)| Want { count: alone.most, ..want.clone() });
    let feasible: Vec<Want> = feasible.filter(|want| want.count > 0).collect();
    let packed = most(&world.problem, &feasible, &|| scene.is_stopped());
    let least = packed.as_ref().map_or(0, |(met, ..)| *met);
    if least == asked {
        return Vec::new();
    }
    let failed = alone.into_iter().find_map(|alone| alone.never);
    let by_itself = failed.is_some();
    match failed.unwrap_or_else(|| all_together(&mut asking, &wants)) {
        Outcome::Can(_) => Vec::new(),
        Outcome::Never(why, evidence) => {
            let bound = at_most(&world.problem, &wants).min(each).min(asked - 1);
            let mut item = scene.item(&DESIRED, &[], message(asked, least, bound));
            if by_itself {
                // Each workload that cannot be up by itself has a finding of its own.
                item.severity = Severity::Note;
            }
            item.explanation.push(why);
            item.evidence = evidence;
            item.evidence.extend(packed.map(|(met, goal, decision)| Evidence {
                shows: format!("{met} of them can be up at the same time"),
                problem: world.problem.with_goal(goal),
                decision,
                short: None,
            }));
            vec![item]
        }
        Outcome::Open(why) if scene.is_worth_saying(&why) => {
            let message =
                format!("whether all {asked} pods that are declared can be up at the same time is not decided");
            let mut item = scene.item(&DESIRED, &[], message);
            item.explanation.push(why);
            vec![Item { status: Status::Undecided, ..item }]
        }
        Outcome::Open(_) => Vec::new(),
    }
}

fn message(asked: u64, least: u64, bound: u64) -> String {
    match (least, bound) {
        (_, 0) => format!("none of the {asked} pods that are declared can ever be up"),
        (least, bound) if least == bound => {
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
        Placement::Found(goal, decision) => Outcome::Can(asking.evidence("all can be up", goal, decision)),
        Placement::Never(why, evidence) => Outcome::Never(why, vec![evidence]),
        Placement::Open(why) => Outcome::Open(why),
    }
}

/// What is known of one want with everything else out of the way.
struct Alone {
    /// A bound on how many of it can be up.
    most: u64,
    /// That not all of it can be, if so.
    never: Option<Outcome>,
}

fn alone(asking: &mut Asking<'_>, want: &Want) -> Alone {
    let problem = asking.world.problem.clone();
    let stop = || false;
    // What packs in the model can never be ruled out, whatever is in doubt about it.
    if packed(&problem, std::slice::from_ref(want), &stop).is_some() {
        return Alone { most: want.count, never: None };
    }
    let Outcome::Never(why, evidence) = outcome(asking, want) else {
        return Alone { most: want.count, never: None };
    };
    let pod = &problem.model.cluster().pods[want.pod];
    let like = if pod.aliases.is_empty() { String::new() } else { format!(" (with {} like it)", pod.aliases.len()) };
    let why = format!("Even by itself {}{like} cannot be up as declared. {why}", pod.name);
    let least = most(&problem, std::slice::from_ref(want), &stop).map_or(0, |(met, ..)| met);
    let one_more = Want { count: least + 1, ..want.clone() };
    let exact = one_more.count == want.count || matches!(outcome(asking, &one_more), Outcome::Never(..));
    Alone { most: if exact { least } else { want.count - 1 }, never: Some(Outcome::Never(why, evidence)) }
}

/// A bound on how many wanted pods all nodes together have room for: by each resource, the smallest requests first. Kept pods are there
/// whether or not there is room for them.
fn at_most(problem: &Problem, wants: &[Want]) -> u64 {
    let m = &problem.model;
    let places = |want: &Want| want.nodes.iter().filter(|&&node| m.placeable(want.pod, node)).count();
    let possible: Vec<&Want> = wants.iter().filter(|want| places(want) > 0).collect();
    let kept = |want: &Want| want.nodes.iter().map(|&node| problem.kept.count((want.pod, node))).sum::<u64>();
    let there = wants.iter().map(|want| kept(want).min(want.count)).fold(0, u64::saturating_add);
    let by_resource = m.cluster().resources.entries().ids().map(|resource| {
        let room = m.nodes().map(|node| m.node(node).allocatable.amount(resource)).fold(0, Amount::saturating_add);
        let request = |want: &Want| match fit::checked(m, want.pod).contains(&resource) {
            true => fit::weight(m, want.pod, resource),
            false => 0,
        };
        let mut requests: Vec<(Amount, u64)> = possible.iter().map(|want| (request(want), want.count)).collect();
        requests.sort_unstable();
        fill(room, &requests)
    });
    by_resource.min().map_or(u64::MAX, |room| room.saturating_add(there))
}

/// How many requests fit into a room, the smallest first.
fn fill(mut room: Amount, requests: &[(Amount, u64)]) -> u64 {
    let mut count = 0_u64;
    for &(request, wanted) in requests {
        let most = room.checked_div(request).map_or(u64::MAX, |most| u64::try_from(most).unwrap_or(u64::MAX));
        let fits = most.min(wanted);
        count = count.saturating_add(fits);
        room = room.saturating_sub(request.saturating_mul(fits.into()));
        if fits < wanted {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn the_smallest_requests_fill_a_room_best() {
        assert_eq!([fill(10, &[(0, 2), (3, 2), (4, 5)]), fill(10, &[(3, 9)]), fill(0, &[(1, 1)])], [5, 3, 0]);
    }
}
