//! F0104: can everything that is declared be up at the same time, and if not, how much of it?

use podreach_core::resource::Amount;
use podreach_core::rule::fit;

use super::Finding;
use super::scene::Scene;
use crate::audit::item::{Evidence, Item, Severity, Status};
use crate::audit::policy::packing::{Want, most};
use crate::audit::policy::possible::Outcome;
use crate::audit::policy::recoverable::{together, wants};
use crate::audit::policy::ruling::Asking;

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
    let asked: u64 = wants.iter().fold(0, |sum, want| sum.saturating_add(want.count));
    let budget = scene.budget();
    let mut asking = Asking::new(&world, &budget);
    match together(&mut asking, &wants) {
        Outcome::Can(_) => Vec::new(),
        Outcome::Never(why, evidence) => {
            let found = most(&world.problem, &wants, &|| scene.is_stopped());
            let least = found.as_ref().map_or(0, |(met, ..)| *met);
            let bound = at_most(scene, &wants).min(asked.saturating_sub(1));
            let can = if least == bound {
                format!("at most {least}")
            } else {
                format!("at least {least} and at most {bound}")
            };
            let message = format!("of the {asked} pods that are declared, {can} can be up at the same time");
            let mut item = scene.item(&DESIRED, &[], message);
            item.explanation.push(why);
            item.evidence = evidence;
            item.evidence.extend(found.map(|(met, goal, decision)| Evidence {
                shows: format!("{met} of them can be up at the same time"),
                problem: world.problem.with_goal(goal),
                decision,
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

/// A bound on how many wanted pods all nodes together have room for: by each resource, the smallest requests first.
fn at_most(scene: &Scene<'_>, wants: &[Want]) -> u64 {
    let m = &scene.now.model;
    let places = |want: &Want| want.nodes.iter().filter(|&&node| m.placeable(want.pod, node)).count();
    let possible: Vec<&Want> = wants.iter().filter(|want| places(want) > 0).collect();
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
    by_resource.min().unwrap_or(u64::MAX)
}

/// How many requests fit into a room, the smallest first.
fn fill(mut room: Amount, requests: &[(Amount, u64)]) -> u64 {
    let mut count = 0_u64;
    for &(request, wanted) in requests {
        let fits = if request == 0 { wanted } else { u64::try_from(room / request).unwrap_or(u64::MAX).min(wanted) };
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
