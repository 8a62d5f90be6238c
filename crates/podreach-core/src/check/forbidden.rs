//! Forbidden groups are re-proved: whichever pod of a group came last, there was no way to deploy it.
//!
//! For a group `b` and a last pod `(p, n) ∈ b`, any configuration before the deployment contains `b − (p, n)`. If the guard of
//! `(p, n)` does not hold there, a bound is exceeded, and then no larger configuration helps; or an affinity group is empty or a
//! spread domain too far behind, and then every configuration that helps contains one more pod of that group or domain. So the
//! search branches on that one pod, and each branch must come to a configuration that contains a forbidden group or exceeds a bound.
//!
//! With two or more spread constraints over crossing domains, pods that help one may hurt another for ever. What is needed can still
//! not be arbitrarily large: the least solutions of `m` linear inequalities `A·x ≥ c` over the naturals sum to at most
//! `(2 + ‖A‖ + ‖c‖)^m` (Pottier, 1991), so the search stops there.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Flaw;
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::guard::{Guard, Universe, guard};
use crate::step::Problem;
use crate::verdict::Proof;

/// Pods that are there besides the kept ones.
type Group = BTreeMap<Atom, u64>;

/// Checks the three conditions of a proof.
pub(super) fn check(problem: &Problem, goal: &Goal, proof: &Proof, stop: &dyn Fn() -> bool) -> Result<(), Flaw> {
    let cluster = problem.model.cluster();
    let exists = |(pod, node): Atom| cluster.pods.get(pod).is_some() && cluster.nodes.get(node).is_some();
    let unknown = proof.forbidden.iter().position(|group| !group.iter().all(|(atom, _)| exists(atom)));
    unknown.map_or(Ok(()), |index| Err(Flaw::UnknownAtom(index)))?;

    let started = proof.forbidden.iter().position(|group| group.is_within(&problem.start));
    started.map_or(Ok(()), |index| Err(Flaw::StartForbidden(index)))?;

    let groups: Vec<Group> = proof.forbidden.iter().map(|group| besides_kept(problem, group)).collect();
    let index = Index::new(&groups);
    let allowed = goal.any.iter().position(|alternative| !index.finds_in(&besides_kept(problem, alternative)));
    allowed.map_or(Ok(()), |alternative| Err(Flaw::GoalNotForbidden(alternative)))?;

    let mut guards = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        for &last in group.keys() {
            let guard = guards.entry(last).or_insert_with(|| guard(problem, last, &Universe::Possible));
            let Some(guard) = guard else { continue };
            let mut before = group.clone();
            less(&mut before, last);
            if let Some(escape) = escape(&before, guard, &index, stop)? {
                return Err(Flaw::Escapes { group: number, before: escape.into_iter().collect(), last });
            }
        }
    }
    Ok(())
}

fn besides_kept(problem: &Problem, group: &Configuration) -> Group {
    group.minus(&problem.kept).iter().collect()
}

fn less(group: &mut Group, atom: Atom) {
    match group.get_mut(&atom) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(group.remove(&atom)),
    }
}

/// A configuration above `base` where the guard holds and no group is present, if there is one.
fn escape(base: &Group, guard: &Guard, index: &Index, stop: &dyn Fn() -> bool) -> Result<Option<Group>, Flaw> {
    let most = most_needed(base, guard);
    let (mut stack, mut seen) = (vec![base.clone()], HashSet::new());
    while let Some(group) = stack.pop() {
        if seen.len() % 64 == 0 && stop() {
            return Err(Flaw::Stopped);
        }
        let count = |atom: Atom| group.get(&atom).copied().unwrap_or(0);
        if index.finds_in(&group)
            || size(&group) > most
            || !guard.at_most.iter().all(|condition| condition.holds(count))
        {
            continue;
        }
        let Some(needed) = needed(guard, count) else { return Ok(Some(group)) };
        for &atom in needed {
            let mut larger = group.clone();
            *larger.entry(atom).or_default() += 1;
            if seen.insert(larger.clone()) {
                stack.push(larger);
            }
        }
    }
    Ok(None)
}

/// Atoms of which one more must be there for the guard to hold; `None` when it holds (as far as it asks for more).
fn needed(guard: &Guard, count: impl Fn(Atom) -> u64 + Copy) -> Option<&[Atom]> {
    let lonely = guard.affinity.iter().find_map(|condition| condition.lonely(count));
    lonely.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(count)).map(|domain| &domain.atoms[..]))
}

/// A size that no least configuration above `base` exceeds.
fn most_needed(base: &Group, guard: &Guard) -> u128 {
    let witnesses: u128 = guard.affinity.iter().map(|condition| condition.near.len() as u128).sum();
    let here = size(base).saturating_add(witnesses);
    let domains = || guard.spread.iter().flat_map(|condition| &condition.domains);
    let atoms: u128 = domains().map(|domain| domain.atoms.len() as u128).sum();
    let constants = guard.spread.iter().map(|condition| u128::from(condition.max_skew).saturating_add(1));
    let largest = constants.chain(domains().map(|domain| domain.base.into())).max().unwrap_or(0);
    let factor = atoms.saturating_add(largest.saturating_mul(2)).saturating_add(here).saturating_add(3);
    let inequalities = u32::try_from(domains().count()).unwrap_or(u32::MAX);
    here.saturating_add(factor.saturating_pow(inequalities))
}

fn size(group: &Group) -> u128 {
    group.values().map(|&count| u128::from(count)).sum()
}

/// The groups, each filed under the atom that the fewest groups have.
struct Index<'a>(HashMap<Atom, Vec<&'a Group>>);

impl<'a> Index<'a> {
    fn new(groups: &'a [Group]) -> Self {
        let mut uses: HashMap<Atom, usize> = HashMap::new();
        groups.iter().flat_map(Group::keys).for_each(|&atom| *uses.entry(atom).or_default() += 1);
        let mut filed: HashMap<Atom, Vec<&Group>> = HashMap::new();
        for group in groups {
            let rarest =
                group.keys().min_by_key(|&atom| (uses[atom], *atom)).expect("the start contains the empty group");
            filed.entry(*rarest).or_default().push(group);
        }
        Self(filed)
    }

    /// Whether `group` contains one of the groups.
    fn finds_in(&self, group: &Group) -> bool {
        let within =
            |small: &Group| small.iter().all(|(atom, count)| group.get(atom).is_some_and(|have| have >= count));
        group.keys().filter_map(|atom| self.0.get(atom)).flatten().any(|small| within(small))
    }
}
