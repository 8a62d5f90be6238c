//! Forbidden groups are re-proved: whichever pod of a group came last, there was no way to deploy it.
//!
//! For a group `b` and a last pod `(p, n) ∈ b`, any configuration before the deployment contains `b − (p, n)`. If the guard of
//! `(p, n)` does not hold there, a bound is exceeded, and then no larger configuration helps; or an affinity group (or one that would
//! share what the pod brings) is empty or a spread domain too far behind, and then every configuration that helps contains one more
//! pod of that group or domain. So the search branches on that one pod, and each branch must come to a configuration that contains a
//! forbidden group or exceeds a bound.
//!
//! With two or more spread constraints over crossing domains, pods that help one may hurt another for ever. What is needed can still
//! not be arbitrarily large: the least solutions of `m` linear inequalities `A·x ≥ c` over the naturals sum to at most
//! `(2 + ‖A‖ + ‖c‖)^m` (Pottier, 1991), so the search stops there.

use std::collections::{HashMap, HashSet};

use super::Flaw;
use super::classes::{Class, Classes};
use crate::configuration::Configuration;
use crate::goal::Goal;
use crate::guard::Guard;
use crate::step::Problem;
use crate::verdict::{Group, Proof};

/// Checks the three conditions of a proof.
pub(super) fn check(problem: &Problem, goal: &Goal, proof: &Proof, stop: &dyn Fn() -> bool) -> Result<(), Flaw> {
    let mut classes = Classes::new(problem, proof)?;
    let known = |group: &Group| group.keys().all(|&class| class < proof.classes.len());
    none(proof.forbidden.iter().position(|group| !known(group)), Flaw::UnknownClass)?;
    let contained =
        |group: &Group, s: &Configuration| group.iter().all(|(&class, &count)| classes.count(class, s) >= count);
    none(proof.forbidden.iter().position(|group| contained(group, &problem.start)), Flaw::StartForbidden)?;

    let groups: Vec<Group> = proof.forbidden.iter().map(|group| besides_kept(problem, &classes, group)).collect();
    let index = Index::new(&groups);
    let ruled_out = |alternative: &Configuration| {
        let besides = alternative.minus(&problem.kept);
        let counts = (0..proof.classes.len()).map(|class| (class, classes.count(class, &besides)));
        index.finds_in(&counts.filter(|&(_, count)| count > 0).collect())
    };
    none(goal.any.iter().position(|alternative| !ruled_out(alternative)), Flaw::GoalNotForbidden)?;

    for (number, group) in groups.iter().enumerate() {
        for &class in group.keys() {
            let before = without_one(group, class);
            for last in classes.members(class).to_vec() {
                let Some(guard) = classes.guard(last)? else { continue };
                if escapes(&before, &guard, &index, stop)? {
                    return Err(Flaw::Escapes { group: number, last });
                }
            }
        }
    }
    Ok(())
}

fn none(found: Option<usize>, flaw: impl Fn(usize) -> Flaw) -> Result<(), Flaw> {
    found.map_or(Ok(()), |index| Err(flaw(index)))
}

/// The group as what must be there besides the kept pods.
fn besides_kept(problem: &Problem, classes: &Classes<'_>, group: &Group) -> Group {
    let besides = |(&class, &count): (&Class, &u64)| (class, count.saturating_sub(classes.count(class, &problem.kept)));
    group.iter().map(besides).filter(|&(_, count)| count > 0).collect()
}

fn without_one(group: &Group, class: Class) -> Group {
    let mut rest = group.clone();
    match rest.get_mut(&class) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(rest.remove(&class)),
    }
    rest
}

/// Whether there is a configuration above `base` where the guard holds and no group is present.
fn escapes(base: &Group, guard: &Guard<Class>, index: &Index<'_>, stop: &dyn Fn() -> bool) -> Result<bool, Flaw> {
    let most = most_needed(base, guard);
    let (mut stack, mut seen) = (vec![base.clone()], HashSet::new());
    while let Some(group) = stack.pop() {
        if seen.len() % 256 == 255 && stop() {
            return Err(Flaw::Stopped);
        }
        let count = |class: Class| group.get(&class).copied().unwrap_or(0);
        if index.finds_in(&group)
            || size(&group) > most
            || !guard.at_most.iter().all(|condition| condition.holds(count))
            || guard.distinct.iter().any(|condition| condition.is_hopeless(count))
        {
            continue;
        }
        let Some(needed) = needed(guard, count) else { return Ok(true) };
        for &class in needed {
            let mut larger = group.clone();
            *larger.entry(class).or_default() += 1;
            if seen.insert(larger.clone()) {
                stack.push(larger);
            }
        }
    }
    Ok(false)
}

/// Classes of which one more pod must be there for the guard to hold; `None` when it holds, as far as it asks for more.
fn needed(guard: &Guard<Class>, count: impl Fn(Class) -> u64 + Copy) -> Option<&[Class]> {
    let lonely = guard.affinity.iter().find_map(|condition| condition.lonely(count));
    let lonely = lonely.or_else(|| guard.distinct.iter().find_map(|condition| condition.lacking(count)));
    lonely.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(count)).map(|domain| &domain.atoms[..]))
}

/// A size that no least configuration above `base` exceeds.
fn most_needed(base: &Group, guard: &Guard<Class>) -> u128 {
    let witnesses = guard.affinity.iter().map(|condition| condition.near.len());
    let sharing = guard.distinct.iter().map(|condition| condition.unless.len());
    let witnesses: u128 = witnesses.chain(sharing).map(|groups| groups as u128).sum();
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

/// The groups, each filed under the class that the fewest groups have.
struct Index<'a>(HashMap<Class, Vec<&'a Group>>);

impl<'a> Index<'a> {
    fn new(groups: &'a [Group]) -> Self {
        let mut uses: HashMap<Class, usize> = HashMap::new();
        groups.iter().flat_map(Group::keys).for_each(|&class| *uses.entry(class).or_default() += 1);
        let mut filed: HashMap<Class, Vec<&Group>> = HashMap::new();
        for group in groups {
            let rarest =
                group.keys().min_by_key(|&class| (uses[class], *class)).expect("the start contains the empty group");
            filed.entry(*rarest).or_default().push(group);
        }
        Self(filed)
    }

    /// Whether `group` contains one of the groups.
    fn finds_in(&self, group: &Group) -> bool {
        let within =
            |small: &Group| small.iter().all(|(class, count)| group.get(class).is_some_and(|have| have >= count));
        group.keys().filter_map(|class| self.0.get(class)).flatten().any(|small| within(small))
    }
}
