//! Forbidden groups are re-proved: whichever pod of a group came last, there was no way to deploy it.
//!
//! For a group `b` and a last pod `(p, n) ∈ b`, any configuration before the deployment contains `b − (p, n)`. If the guard of
//! `(p, n)` does not hold there, a bound is exceeded, and then no larger configuration helps; or an affinity group (or one that would
//! share what the pod brings) is empty or a spread domain too far behind, and then every configuration that helps contains one more
//! pod of that group or domain. So the search branches on that one pod, and each branch must come to a configuration that contains a
//! forbidden group or exceeds a bound.
//!
//! Where one of the pods to branch on is in no group and no bound of the guard counts it, it is the only branch: whatever escapes does
//! so also with one more of it.
//!
//! A pod that waited for a node was there before as one that waits, besides the rest of the group; its guard asks that there be one.
//!
//! A pod that is being deleted came last when its deletion began: before, it was there as what it had been until then.
//!
//! With two or more spread constraints over crossing domains, pods that help one may hurt another for ever. What is needed can still
//! not be arbitrarily large: the least solutions of `m` linear inequalities `A·x ≥ c` over the naturals sum to at most
//! `(2 + ‖A‖ + ‖c‖)^m` (Pottier, 1991), so the search stops there.

use std::collections::HashSet;

use super::Flaw;
use super::at_most_one;
use super::classes::{Class, Classes};
use super::copies::Copies;
use super::index::{Index, Present, add_one, count};
use super::orbits::Orbits;
use super::pairs::pair;
use crate::configuration::Atom;
use crate::goal::Goal;
use crate::guard::{Affinity, AtMost, Guard};
use crate::step::Problem;
use crate::verdict::{Group, Proof};

/// Checks the three conditions of a proof, and its exchanges.
pub(super) fn check(problem: &Problem, goal: &Goal, proof: &Proof, stop: &dyn Fn() -> bool) -> Result<(), Flaw> {
    if proof.exchanges.is_empty() {
        let each: Vec<Vec<usize>> = (0..goal.any.len()).map(|alternative| vec![alternative]).collect();
        return check_one_of_each(problem, goal, &each, proof, stop);
    }
    let orbits = Orbits::new(problem, &proof.exchanges)?;
    Classes::new(problem, proof)?;
    let above = orbits.above(problem, proof.classes.iter().flatten().map(|&(pod, _)| pod));
    check_one_of_each(&above, goal, &orbits.alike(goal), proof, stop)
}

/// Checks the three conditions, where one alternative of those that are alike must be ruled out.
fn check_one_of_each(
    problem: &Problem,
    goal: &Goal,
    alike: &[Vec<usize>],
    proof: &Proof,
    stop: &dyn Fn() -> bool,
) -> Result<(), Flaw> {
    let mut classes = Classes::new(problem, proof)?;
    let count = proof.classes.len();
    let unknown = proof.forbidden.iter().position(|group| group.keys().any(|&class| class >= count));
    none(unknown, Flaw::UnknownClass)?;
    let (start, kept) = (classes.counts(count, &problem.start), classes.counts(count, &problem.kept));
    let is_at_first = |group: &Group| group.iter().all(|(&class, &count)| start[class] >= count);
    none(proof.forbidden.iter().position(is_at_first), Flaw::StartForbidden)?;

    none(
        proof.at_most_one.iter().position(|constraint| !at_most_one::is_at_most_one(constraint, &start, &kept)),
        Flaw::NotAtMostOne,
    )?;

    let groups: Vec<Present> = proof.forbidden.iter().map(|group| besides_kept(&kept, group)).collect();
    let mut index = Index::new(proof.classes.len(), &groups, &proof.at_most_one).ok_or(Flaw::NotAtMostOne(0))?;
    let ruled_out =
        |&alternative: &usize| index.finds_in(&classes.present(&goal.any[alternative].minus(&problem.kept)));
    let open = alike.iter().find(|alternatives| !alternatives.iter().any(ruled_out));
    none(open.map(|alternatives| alternatives[0]), Flaw::GoalNotForbidden)?;

    none_escapes((problem, &mut classes), &groups, &mut index, stop)?;
    at_most_one::hold((problem, &mut classes), &proof.at_most_one, &mut index, stop)
}

/// How many groups are looked at between two questions whether to stop.
const STRETCH: usize = 1 << 12;

/// Whichever pod of a group came last, there was no way to deploy it.
fn none_escapes(
    (problem, classes): (&Problem, &mut Classes<'_>),
    groups: &[Present],
    index: &mut Index,
    stop: &dyn Fn() -> bool,
) -> Result<(), Flaw> {
    let copies = Copies::new(problem)?;
    for (number, group) in groups.iter().enumerate() {
        if number % STRETCH == STRETCH - 1 && stop() {
            return Err(Flaw::Stopped);
        }
        // The node that is free here is free for the table of pairs as well, which looks at no other pods than these two.
        if !copies.leave_one_free(classes, group, None) || copies.share_a_single_node(classes, group) {
            return Err(Flaw::TooFewCopies(number));
        }
        for at in 0..group.len() {
            if is_ruled_out_at_once(classes, index, group, at)? {
                continue;
            }
            match escape_of_last(classes, &copies, index, (group, at), stop)? {
                (_, Escape::None) => {}
                (last, Escape::Found) => return Err(Flaw::Escapes { group: number, last }),
                (_, Escape::Beyond) => return Err(Flaw::TooFewCopies(number)),
            }
        }
    }
    Ok(())
}

/// Whether the pod at an entry of a group can come last: a member of its class, and what its guard lets happen.
pub(super) fn escape_of_last(
    classes: &mut Classes<'_>,
    copies: &Copies<'_>,
    index: &Index,
    (group, at): (&Present, usize),
    stop: &dyn Fn() -> bool,
) -> Result<(Atom, Escape), Flaw> {
    let class = group[at].0;
    for (last, guard) in classes.guards(class)?.iter() {
        let is_enough = |present: &Present| copies.leave_one_free(classes, present, Some(last.1));
        let mut before = without_one(group, at);
        classes.consumed(last.0).into_iter().for_each(|class| add_one(&mut before, class));
        match escape(before, guard, index, &is_enough, stop)? {
            Escape::None => {}
            found => return Ok((*last, found)),
        }
    }
    for (last, source) in classes.sources(class) {
        let mut before = without_one(group, at);
        source.into_iter().for_each(|class| add_one(&mut before, class));
        if !index.finds_in(&before) {
            return Ok((last, Escape::Found));
        }
    }
    Ok((classes.members(class)[0], Escape::None))
}

fn none(found: Option<usize>, flaw: impl Fn(usize) -> Flaw) -> Result<(), Flaw> {
    found.map_or(Ok(()), |index| Err(flaw(index)))
}

/// Whether the pod at an entry of a pair cannot come last, which the table of pairs shows without a search.
fn is_ruled_out_at_once(
    classes: &mut Classes<'_>,
    index: &mut Index,
    group: &Present,
    at: usize,
) -> Result<bool, Flaw> {
    match (&mut index.pairs, pair(group)) {
        (Some(pairs), Some((a, b))) => {
            let (last, other) = if at == 0 { (a, b) } else { (b, a) };
            pairs.rule_out(classes, last, other)
        }
        _ => Ok(false),
    }
}

/// The group as what must be there besides the kept pods, of which there are so many of each class.
fn besides_kept(kept: &[u64], group: &Group) -> Present {
    let besides = group.iter().map(|(&class, &count)| (class, count.saturating_sub(kept[class])));
    besides.filter(|&(_, count)| count > 0).collect()
}

/// The group with one pod less of the class at an entry, and with room for some more.
fn without_one(group: &Present, at: usize) -> Present {
    let mut before = Present::with_capacity(group.len() + WITHOUT_CHOICE as usize);
    before.extend_from_slice(group);
    match before[at].1 {
        1 => drop(before.remove(at)),
        _ => before[at].1 -= 1,
    }
    before
}

/// How many pods without a choice are added before groups are looked for again.
const WITHOUT_CHOICE: u32 = 8;

/// What a search for an escape comes to.
pub(super) enum Escape {
    /// There is none.
    None,
    /// There is one.
    Found,
    /// There may be one on nodes that are not listed.
    Beyond,
}

/// Looks for a configuration above `base` where the guard holds and no group is present. Where more pods are needed, `is_enough` says
/// whether the nodes that are listed can stand for all.
fn escape(
    base: Present,
    guard: &Guard<Class>,
    index: &Index,
    is_enough: &dyn Fn(&Present) -> bool,
    stop: &dyn Fn() -> bool,
) -> Result<Escape, Flaw> {
    let most = most_needed(&base, guard);
    let (mut stack, mut seen, mut steps) = (vec![base], HashSet::new(), 0u64);
    while let Some(mut present) = stack.pop() {
        steps += 1;
        if steps.is_multiple_of(256) && stop() {
            return Err(Flaw::Stopped);
        }
        // Where there is no choice, a larger configuration has every group that the smaller one has.
        let mut added = 0;
        let needed = loop {
            if exceeds(guard, &present) || size(&present) > most {
                break None;
            }
            let needed = needed(guard, &present);
            if needed.is_some() && !is_enough(&present) && !index.finds_in(&present) {
                return Ok(Escape::Beyond);
            }
            match needed.map(|classes| (classes, idle(guard, classes, index))) {
                // No group has it, so none can be present that was not before.
                Some((_, Some(class))) => add_one(&mut present, class),
                Some((&[class], None)) if added < WITHOUT_CHOICE => {
                    add_one(&mut present, class);
                    added += 1;
                }
                _ => break Some(needed),
            }
        };
        let Some(needed) = needed else { continue };
        if index.finds_in(&present) {
            continue;
        }
        let Some(needed) = needed else { return Ok(Escape::Found) };
        for &class in needed {
            let mut larger = present.clone();
            add_one(&mut larger, class);
            // There is no second way to come to where there is no choice.
            if needed.len() == 1 || seen.insert(larger.clone()) {
                stack.push(larger);
            }
        }
    }
    Ok(Escape::None)
}

/// A class among these that is in no group, and that no bound of the guard counts.
fn idle(guard: &Guard<Class>, classes: &[Class], index: &Index) -> Option<Class> {
    if !guard.spread.is_empty() || !guard.distinct.is_empty() {
        return None;
    }
    classes.iter().copied().find(|&class| !index.mentions(class) && !is_limiting(guard, class))
}

/// Whether pods of a class count towards a bound, or keep another from being the first of its kind.
fn is_limiting(guard: &Guard<Class>, class: Class) -> bool {
    guard.at_most.iter().any(|condition| weight(condition, class) > 0)
        || guard.affinity.iter().filter_map(|c| c.first_unless.as_ref()).any(|kind| kind.contains(&class))
}

/// Whether a bound does not hold, whatever else there is.
fn exceeds(guard: &Guard<Class>, present: &Present) -> bool {
    !guard.at_most.iter().all(|condition| holds(condition, present))
        || guard.distinct.iter().any(|condition| condition.is_hopeless(|class| count(present, class)))
}

/// Whether a bound holds: `AtMost::holds`, but only what is present is looked at.
fn holds(condition: &AtMost<Class>, present: &Present) -> bool {
    let weighed = present.iter().map(|&(class, count)| weight(condition, class).saturating_mul(count.into()));
    weighed.fold(0u128, u128::saturating_add) <= condition.bound
}

/// How much a pod of a class counts.
pub(super) fn weight(condition: &AtMost<Class>, class: Class) -> u128 {
    let found = condition.weights.binary_search_by_key(&class, |entry| entry.0);
    found.map_or(0, |at| condition.weights[at].1)
}

/// Classes of which one more pod must be there for the guard to hold; `None` when it holds, as far as it asks for more.
fn needed<'g>(guard: &'g Guard<Class>, present: &Present) -> Option<&'g [Class]> {
    let count = |class: Class| count(present, class);
    let lonely = guard.affinity.iter().find_map(|condition| lonely(condition, present));
    let lonely = lonely.or_else(|| guard.distinct.iter().find_map(|condition| condition.lacking(count)));
    lonely.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(count)).map(|domain| &domain.atoms[..]))
}

/// A local group without a member: `Affinity::lonely`, but only what is present is looked at.
fn lonely<'g>(condition: &'g Affinity<Class>, present: &Present) -> Option<&'g [Class]> {
    let group = condition.near.iter().find(|group| is_absent(present, group))?;
    let first = condition.first_unless.as_ref().is_some_and(|kind| is_absent(present, kind));
    (!first).then_some(group)
}

/// Whether no pod of a group of classes is there.
fn is_absent(present: &Present, group: &[Class]) -> bool {
    !present.iter().any(|(class, _)| group.binary_search(class).is_ok())
}

/// A size that no least configuration above `base` exceeds.
fn most_needed(base: &Present, guard: &Guard<Class>) -> u128 {
    let witnesses = guard.affinity.iter().map(|condition| condition.near.len());
    let sharing = guard.distinct.iter().map(|condition| condition.unless.len());
    let witnesses: u128 = witnesses.chain(sharing).map(|groups| groups as u128).sum();
    let here = size(base).saturating_add(witnesses);
    let domains = guard.spread.iter().flat_map(|condition| &condition.domains);
    let atoms: u128 = domains.clone().map(|domain| domain.atoms.len() as u128).sum();
    let constants = guard.spread.iter().map(|condition| u128::from(condition.max_skew).saturating_add(1));
    let largest = constants.chain(domains.clone().map(|domain| domain.base.into())).max().unwrap_or(0);
    let factor = atoms.saturating_add(largest.saturating_mul(2)).saturating_add(here).saturating_add(3);
    let inequalities = u32::try_from(domains.count()).unwrap_or(u32::MAX);
    here.saturating_add(factor.saturating_pow(inequalities))
}

fn size(present: &Present) -> u128 {
    present.iter().fold(0, |sum: u128, &(_, count)| sum.saturating_add(count.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;
    use crate::testing::{Rng, atoms, cases, mixed, reachable};

    /// Whether a configuration has these pods besides those that are kept.
    fn has(problem: &Problem, atoms: &[Atom], s: &Configuration, group: &Present) -> bool {
        group.iter().all(|&(class, count)| s.count(atoms[class]) - problem.kept.count(atoms[class]) >= count)
    }

    /// Pairs of atoms that are never present together, of which some may be missing, and some that may well be.
    fn pairs(rng: &mut Rng, problem: &Problem, atoms: &[Atom]) -> Vec<Present> {
        let all = reachable(problem, 20_000).unwrap_or_default();
        let pairs = (0..atoms.len()).flat_map(|a| (a..atoms.len()).map(move |b| (a, b)));
        let pairs = pairs.map(|(a, b)| if a == b { vec![(a, 2)] } else { vec![(a, 1), (b, 1)] });
        let single = (0..atoms.len()).map(|class| vec![(class, 1)]);
        let never = pairs.chain(single).filter(|pair| !all.iter().any(|s| has(problem, atoms, s, pair)));
        let mut groups: Vec<Present> = never.collect();
        if rng.one_in(2) && !groups.is_empty() {
            groups.remove(rng.below(groups.len()));
        }
        if rng.one_in(4) {
            groups.push(vec![(rng.below(atoms.len()), 2)]);
        }
        groups
    }

    #[test]
    fn the_table_of_pairs_changes_no_verdict() {
        let (mut rng, mut verdicts, mut at_once) = (Rng::new(101), [0; 2], 0);
        for case in 0..cases(2_000) {
            let problem = mixed(&mut rng, case);
            let atoms = atoms(&problem);
            let groups = pairs(&mut rng, &problem, &atoms);
            let proof = Proof { classes: atoms.iter().map(|&atom| vec![atom]).collect(), ..Proof::default() };
            let check = |index: &mut Index| {
                let mut classes = Classes::new(&problem, &proof).expect("each atom is a class");
                none_escapes((&problem, &mut classes), &groups, index, &|| false)
            };
            let mut table = Index::new(atoms.len(), &groups, &[]).expect("there are no constraints");
            let mut tree = Index::without_table(atoms.len(), &groups);
            let expected = check(&mut tree);
            assert_eq!(check(&mut table), expected, "case {case}: {groups:?} of {problem:#?}");
            verdicts[usize::from(expected.is_ok())] += 1;
            let mut classes = Classes::new(&problem, &proof).expect("each atom is a class");
            for group in groups.iter().filter(|group| pair(group).is_some()) {
                at_once += usize::from(is_ruled_out_at_once(&mut classes, &mut table, group, 0) == Ok(true));
            }
        }
        assert!(verdicts.iter().all(|&count| count > cases(2_000) / 50) && at_once > 1_000, "{verdicts:?} {at_once}");
    }
}
