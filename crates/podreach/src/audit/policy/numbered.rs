//! So many pods of a StatefulSet whose pods have claims of their own: some of its numbers, each a type of its own.
//!
//! ```text
//! yes     each goes to a place of its own, where all of them pack
//! never   some of them together have fewer places than they are (Hall's theorem: else there is a choice)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::Replicas;
use podreach_core::demand::{Argument, Demand, Inequality, Place, Want as Wanted};
use podreach_core::{Atom, Configuration, Goal, NodeId, PodId, Problem};

use super::packing::Want;
use super::possible::Outcome;
use super::recoverable::together;
use super::ruling::{Asking, pod_names};
use super::world::World;
use crate::audit::item::Evidence;
use crate::lower::{Lowered, Origin};
use crate::question;

/// What a rule wants of one workload.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The ways to have it, of which one suffices: so many of a pod type, or of several that are the pods of one StatefulSet.
    pub(crate) ways: Vec<Vec<Want>>,
    /// Whether there are no other ways.
    pub(crate) complete: bool,
}

/// The most ways that are tried.
const WAYS: usize = 64;

/// The workloads that a rule wants so many instances of: not their former revisions, and StatefulSets by the numbers of their pods.
pub(crate) fn groups(lowered: &Lowered, world: &World, want: impl Fn(PodId, u64) -> Want, count: u64) -> Vec<Group> {
    let m = world.model();
    let numbered = lowered.origins.numbered();
    let numbered: BTreeMap<&str, (&str, u64)> =
        numbered.iter().flat_map(|(&of, types)| types.iter().map(move |&name| (name, of))).collect();
    let mut sets: BTreeMap<&str, BTreeMap<u64, Vec<PodId>>> = BTreeMap::new();
    let mut groups = Vec::new();
    let pods = || world.pods(0).into_iter().filter(|&pod| !m.cluster().is_twin(pod));
    let waiting = |pod: PodId| m.cluster().replicas.get(&pod).and_then(|replicas| replicas.waiting);
    let carried: BTreeSet<PodId> =
        m.cluster().replicas.values().flat_map(|replicas| &replicas.carried).copied().collect();
    for pod in pods() {
        let name = m.pod_name(pod);
        match (numbered.get(name), lowered.origins.pods.get(name)) {
            (Some(&(set, number)), _) => {
                let types = sets.entry(set).or_default().entry(number).or_default();
                let carried = m.cluster().replicas.get(&pod).map_or(&[][..], |replicas| &replicas.carried);
                types.extend(std::iter::once(pod).chain(waiting(pod)).chain(carried.iter().copied()));
            }
            (None, Some(origin)) if is_another(origin) => {}
            (None, None) if carried.contains(&pod) => {}
            _ => groups.push(Group::plain(&world.problem, pod, &want, count)),
        }
    }
    for (set, numbers) in sets {
        let others = groups.iter().any(|group| group.name == set);
        groups.retain(|group| group.name != set);
        let own = m.pods().find(|&pod| m.pod_name(pod) == set);
        let waiting = own.and_then(waiting);
        let numbered = numbers.into_values().collect();
        let replicas = Replicas { numbered, others, waiting, carried: Vec::new() };
        groups.push(Group::of(&world.problem, (set, own), &replicas, &want, count));
    }
    if groups.is_empty() {
        // Who selects nothing but former revisions means them, and by a ReplicaSet its pods, not each of them.
        let selected: BTreeSet<&str> = pods().map(|pod| m.pod_name(pod)).collect();
        let former = pods().filter(|&pod| {
            let origin = lowered.origins.pods.get(m.pod_name(pod));
            !origin.is_some_and(|origin| origin.owners.iter().any(|(_, owner)| selected.contains(owner.as_str())))
        });
        let former: Vec<PodId> = former.collect();
        // Those that carry labels of their own are pods of the type that has them.
        let replicas = former.iter().filter_map(|pod| m.cluster().replicas.get(pod));
        let carried: BTreeSet<PodId> = replicas.flat_map(|replicas| &replicas.carried).copied().collect();
        let former = former.into_iter().filter(|pod| !carried.contains(pod));
        groups.extend(former.map(|pod| Group::plain(&world.problem, pod, &want, count)));
    }
    groups
}

/// Whether pods are none of those that their workload is to have: of a former revision, or of a number that is not declared.
fn is_another(origin: &Origin) -> bool {
    origin.outdated || origin.unseen || origin.ordinal.is_some() || !origin.owners.is_empty()
}

impl Group {
    /// So many pods of a type, those that wait for a node and those that carry labels of their own among them.
    fn plain(problem: &Problem, pod: PodId, want: &impl Fn(PodId, u64) -> Want, count: u64) -> Self {
        let Replicas { waiting, carried, .. } = problem.model.cluster().replicas.get(&pod).cloned().unwrap_or_default();
        let replicas = Replicas { others: true, waiting, carried, ..Replicas::default() };
        Self::of(problem, (problem.model.pod_name(pod), Some(pod)), &replicas, want, count)
    }

    /// So many pods of a StatefulSet: any of those with numbers, and pods without where there are such or not enough others.
    fn of(
        problem: &Problem,
        (name, own): (&str, Option<PodId>),
        replicas: &Replicas,
        want: &impl Fn(PodId, u64) -> Want,
        count: u64,
    ) -> Self {
        let choices = question::choices(problem, own, replicas, count);
        let complete = choices.as_ref().is_some_and(|choices| choices.len() <= WAYS);
        let choices = choices.unwrap_or_else(|| {
            let first = replicas.numbered.iter().filter_map(|types| types.first());
            let first = first.take(usize::try_from(count).unwrap_or(usize::MAX)).map(|&pod| (pod, 1));
            vec![first.collect()]
        });
        let ways = choices.into_iter().take(WAYS);
        let ways = ways.map(|way| way.into_iter().map(|(pod, count)| want(pod, count)).collect());
        Self { name: name.to_owned(), ways: ways.collect(), complete }
    }
}

/// Decides it for the pods of one StatefulSet.
pub(crate) fn outcome(asking: &mut Asking<'_>, wants: &[Want]) -> Outcome {
    if wants.iter().all(|want| want.apart.is_none()) {
        return together(asking, wants);
    }
    let slots: Vec<&Want> = wants.iter().flat_map(|want| (0..want.count).map(move |_| want)).collect();
    let open: Vec<BTreeSet<usize>> = slots.iter().map(|want| open_places(asking, want)).collect();
    match matching(&open) {
        Err(few) => {
            let few: Vec<&Want> = few.into_iter().map(|slot| slots[slot]).collect();
            match too_few(asking, &few) {
                Some((why, evidence)) => Outcome::Never(why.into(), vec![evidence]),
                None => Outcome::Open("the places of its pods could not be counted".to_owned()),
            }
        }
        Ok(places) => {
            let there =
                |want: &Want, place| want.nodes.iter().copied().filter(|&n| want.place(n) == Some(place)).collect();
            let placed = slots.iter().zip(places);
            let placed =
                placed.map(|(want, place)| Want { pod: want.pod, count: 1, nodes: there(want, place), apart: None });
            let placed: Vec<Want> = placed.collect();
            match asking.packed(&placed) {
                Some(decision) => {
                    Outcome::Can(Box::new(asking.evidence("each of its pods can be in a place of its own", decision)))
                }
                None => Outcome::Open("not every way to place its pods was tried".to_owned()),
            }
        }
    }
}

/// The places in which a pod may ever be.
fn open_places(asking: &mut Asking<'_>, want: &Want) -> BTreeSet<usize> {
    let places: BTreeSet<usize> = want.nodes.iter().filter_map(|&node| want.place(node)).collect();
    let at = |place: usize| want.nodes.iter().filter(move |&&node| want.place(node) == Some(place));
    places
        .into_iter()
        .filter(|&place| asking.answer(&anywhere(want.pod, at(place))).checked.answer() != Some(false))
        .collect()
}

fn anywhere<'n>(pod: PodId, nodes: impl Iterator<Item = &'n NodeId>) -> Goal {
    Goal { any: nodes.map(|&node| [((pod, node), 1)].into_iter().collect::<Configuration>()).collect() }
}

/// A place for each slot that no other has; or slots that have fewer places together than they are.
fn matching(open: &[BTreeSet<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    for slot in 0..open.len() {
        let mut seen = BTreeSet::new();
        if !augment(open, slot, &mut seen, &mut taken) {
            let rivals = seen.iter().filter_map(|place| taken.get(place).copied());
            return Err(rivals.chain([slot]).collect());
        }
    }
    let mut places = vec![0; open.len()];
    taken.into_iter().for_each(|(place, slot)| places[slot] = place);
    Ok(places)
}

fn augment(
    open: &[BTreeSet<usize>],
    slot: usize,
    seen: &mut BTreeSet<usize>,
    taken: &mut BTreeMap<usize, usize>,
) -> bool {
    for &place in &open[slot] {
        if !seen.insert(place) {
            continue;
        }
        let rival = taken.get(&place).copied();
        if rival.is_none_or(|rival| augment(open, rival, seen, taken)) {
            taken.insert(place, slot);
            return true;
        }
    }
    false
}

/// The argument that these pods have too few places.
fn too_few(asking: &mut Asking<'_>, wants: &[&Want]) -> Option<(String, Evidence)> {
    let pods: BTreeSet<PodId> = wants.iter().map(|want| want.pod).collect();
    let mut places: BTreeMap<Option<usize>, BTreeSet<Atom>> = BTreeMap::new();
    for want in wants {
        for &node in want.nodes.iter() {
            places.entry(want.place(node)).or_default().insert((want.pod, node));
        }
    }
    let places: Vec<Vec<Atom>> = places.into_values().map(|atoms| atoms.into_iter().collect()).collect();
    let (mut inequalities, mut dead, mut alive) = (Vec::new(), Vec::new(), 0_usize);
    for (at, atoms) in places.iter().enumerate() {
        let goal = Goal { any: atoms.iter().map(|&atom| [(atom, 1)].into_iter().collect()).collect() };
        if asking.answer(&goal).checked.answer() == Some(false) {
            inequalities.extend(atoms.iter().map(|&atom| (Inequality::Below(atom, 1), 1)));
            dead.extend(goal.any);
        } else {
            inequalities.push((Inequality::Place(0, at), 1));
            alive += 1;
        }
    }
    let goal = Goal { any: dead };
    let decision = asking.answer(&goal);
    let names = pod_names(asking.world.model(), &pods.into_iter().collect::<Vec<_>>());
    let why = match alive {
        0 => format!("No place can ever have {names}."),
        1 => format!("Only one place can ever have {names}."),
        more => format!("Only {more} places can ever have {names}."),
    };
    let shows = format!("{names} can never run in any of the other places");
    let wanted = Wanted {
        count: wants.len() as u64,
        places: places.into_iter().map(|atoms| Place { atoms, most: 1 }).collect(),
    };
    let argument = Argument::Sum { worth: vec![1], inequalities };
    let evidence = asking.short(Demand { wants: vec![wanted] }, shows, decision, argument)?;
    Some((why, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_get_places_of_their_own_or_are_too_many() {
        let open = |sets: &[&[usize]]| sets.iter().map(|set| set.iter().copied().collect()).collect::<Vec<_>>();
        assert_eq!(matching(&open(&[&[0, 1], &[0]])), Ok(vec![1, 0]));
        assert_eq!(matching(&open(&[&[0, 1, 2], &[0], &[1]])), Ok(vec![2, 0, 1]));
        let Err(mut few) = matching(&open(&[&[0, 1, 2], &[0], &[0]])) else { panic!("two want the same place") };
        few.sort_unstable();
        assert_eq!(few, [1, 2]);
        assert_eq!(matching(&open(&[&[]])), Err(vec![0]));
    }
}
