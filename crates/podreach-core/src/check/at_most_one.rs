//! At-most-one constraints: of several sets of classes, its parts, at most one has pods at a time.
//!
//! A constraint stands for groups: one pod each of two classes of different parts. A proof with constraints holds exactly if the proof
//! holds that lists these groups instead, and is checked in the same way:
//!
//! * the start has pods of at most one of the parts, and none of them is kept;
//! * whichever of two pods came last, the table of pairs (`pairs.rs`), or else the search of `forbidden.rs`, shows that it could not.
//!
//! Such sums are the place invariants of safe nets (Lautenbach, 1973; Colom and Silva, *Convex Geometry and Semiflows in P/T Nets*, 1990),
//! but for what is in transit. Cost: a row of bits for each entry of a constraint, and a search for each pair that the table leaves open.

use std::collections::{BTreeMap, BTreeSet};

use super::Flaw;
use super::classes::{Class, Classes};
use super::copies::Copies;
use super::forbidden::{Escape, escape_of_last};
use super::index::Index;
use crate::step::Problem;
use crate::verdict::AtMostOne;

/// Whether a constraint names classes that exist, each once, of which none is kept, and the start has pods of at most one part.
pub(super) fn is_at_most_one(constraint: &AtMostOne, start: &[u64], kept: &[u64]) -> bool {
    let mut seen = BTreeSet::new();
    constraint.iter().flatten().all(|&class| class < start.len() && kept[class] == 0 && seen.insert(class))
        && constraint.iter().filter(|part| part.iter().any(|&class| start[class] > 0)).count() <= 1
}

/// Whichever of two pods of a constraint came last, there was no way to deploy it.
pub(super) fn hold(
    (problem, classes): (&Problem, &mut Classes<'_>),
    at_most_one: &[AtMostOne],
    index: &mut Index,
    stop: &dyn Fn() -> bool,
) -> Result<(), Flaw> {
    let copies = Copies::new(problem)?;
    // A class is looked at with all that any constraint says of it.
    let numbers = at_most_one
        .iter()
        .zip(0..)
        .flat_map(|(constraint, number)| constraint.iter().flatten().map(move |&class| (class, number)));
    for (last, number) in numbers.collect::<BTreeMap<Class, usize>>() {
        if stop() {
            return Err(Flaw::Stopped);
        }
        // Where nodes may come, a group must leave one of them free.
        let Some(pairs) = index.pairs.as_mut().filter(|_| copies.is_empty()) else {
            return Err(Flaw::NotAtMostOne(number));
        };
        for other in pairs.left_open(classes, last)? {
            let pair = vec![(last.min(other), 1), (last.max(other), 1)];
            let at = usize::from(last > other);
            if !matches!(escape_of_last(classes, &copies, index, (&pair, at), stop)?, (_, Escape::None)) {
                return Err(Flaw::NotAtMostOne(number));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checker;
    use crate::configuration::{Atom, Configuration};
    use crate::goal::Goal;
    use crate::testing::{Rng, atoms, cases, constraint, mixed, reachable};
    use crate::verdict::{Group, Proof, Verdict};

    /// A few at-most-one constraints, and all other pairs and single classes that are never there as groups, of which one may be missing.
    fn proof(rng: &mut Rng, problem: &Problem, atoms: &[Atom]) -> Proof {
        let all = reachable(problem, 20_000).unwrap_or_default();
        let is_never = |group: &[usize]| !all.iter().any(|s| group.iter().all(|&class| s.count(atoms[class]) > 0));
        let every: Vec<usize> = (0..atoms.len()).collect();
        let at_most_one =
            (0..1 + rng.below(3)).map(|_| constraint(rng, &every, &|a, b| is_never(&[a, b]))).collect::<Vec<_>>();
        let pairs =
            (0..atoms.len()).flat_map(|a| (a..atoms.len()).map(move |b| if a == b { vec![a] } else { vec![a, b] }));
        let groups = pairs.filter(|pair| is_never(pair) && !rng.one_in(40));
        let forbidden = groups.map(|group| group.into_iter().map(|class| (class, 1)).collect::<Group>()).collect();
        Proof { classes: atoms.iter().map(|&atom| vec![atom]).collect(), forbidden, at_most_one, ..Proof::default() }
    }

    #[test]
    fn constraints_hold_if_the_groups_they_stand_for_do() {
        let (mut rng, mut verdicts, mut refused) = (Rng::new(109), [0; 2], 0);
        for case in 0..cases(2_000) {
            let problem = mixed(&mut rng, case);
            let mut atoms = atoms(&problem);
            atoms.retain(|&atom| problem.kept.count(atom) == 0);
            let proof = proof(&mut rng, &problem, &atoms);
            let Some([one, other]) = proof.at_most_one.iter().find_map(|constraint| constraint.first_chunk::<2>())
            else {
                continue;
            };
            let wanted: Configuration = [(atoms[one[0]], 1), (atoms[other[0]], 1)].into_iter().collect();
            let goal = Goal { any: vec![wanted] };
            let mut checker = Checker::new(&problem.with_standing_goals());
            let mut check =
                |proof: &Proof| checker.check_plainly(&goal, Verdict::Never(proof.clone()), &|| false).map(drop);
            let (by_constraints, by_groups) = (check(&proof), check(&proof.in_groups()));
            assert_eq!(
                by_constraints.is_ok(),
                by_groups.is_ok(),
                "case {case}: {by_constraints:?} {by_groups:?} {proof:?} of {problem:#?}"
            );
            let all = reachable(&problem, 20_000).unwrap_or_default();
            let is_met = all.iter().any(|s| goal.any[0].is_within(s));
            assert!(by_constraints.is_err() || !is_met, "case {case}: {proof:?} of {problem:#?}");
            verdicts[usize::from(by_groups.is_ok())] += 1;
            refused += usize::from(matches!(by_constraints, Err(Flaw::NotAtMostOne(_))));
        }
        assert!(verdicts.iter().all(|&count| count > cases(2_000) / 20) && refused > 10, "{verdicts:?} {refused}");
    }
}
