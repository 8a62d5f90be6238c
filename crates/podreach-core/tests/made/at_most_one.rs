//! Proofs with at-most-one constraints: from what no configuration has, none that starts with less, or none that lacks some pods; and some
//! from nothing.

use std::collections::HashSet;
use std::sync::Arc;

use podreach_core::testing::{Rng, said_as_at_most_one, successors};
use podreach_core::verdict::Group;
use podreach_core::{Action, Atom, Checker, Configuration, Goal, Problem, Proof, Quotient, Verdict};

use crate::groups::{absent, some_classes};

/// A problem, a goal that a constraint may rule out, and a proof with constraints.
pub(crate) struct Case {
    pub(crate) problem: Problem,
    pub(crate) goal: Goal,
    pub(crate) proof: Proof,
}

pub(crate) fn case(rng: &mut Rng, problem: Problem) -> Option<Case> {
    let problem = if rng.one_in(2) { problem.with_standing_goals() } else { problem };
    let asked = Quotient::new(&problem).named(&problem.goal);
    let proof = proof(rng, &asked)?;
    let goal = two_parts(rng, &problem, &proof).filter(|_| !rng.one_in(5)).unwrap_or_else(|| problem.goal.clone());
    Some(Case { problem, goal, proof })
}

fn proof(rng: &mut Rng, problem: &Problem) -> Option<Proof> {
    let classes = some_classes(rng, problem);
    let count = |s: &Configuration| {
        let count = |class: &Vec<Atom>| class.iter().map(|&atom| s.count(atom)).sum::<u64>();
        classes.iter().map(count).collect::<Vec<u64>>()
    };
    let (start, kept) = (count(&problem.start), count(&problem.kept));
    let left_out = rng.one_in(3).then(|| rng.below(classes.len()));
    let is_left_out = |atom: &Atom| left_out.is_some_and(|class| classes[class].contains(atom));
    let origin = if rng.one_in(3) { with_less(rng, problem) } else { problem.clone() };
    let mut forbidden = absent(&classes, &reachable_without(&origin, &is_left_out, 1_500)?);
    // A class that is in no group, or in constraints alone, is one that the search need not choose.
    let is_spare = |group: &Group| group.len() == 1 && group.values().any(|&count| count > 1);
    let spares = rng.one_in(2);
    forbidden.retain(|group| !left_out.is_some_and(|class| group.contains_key(&class)) && (spares || !is_spare(group)));
    let mut proof = said_as_at_most_one(rng, &Proof { classes, forbidden, ..Proof::default() }, &kept);
    let is_at_first = |group: &Group| group.iter().all(|(&class, &count)| start[class] >= count);
    proof.forbidden.retain(|group| !is_at_first(group) || rng.one_in(20));
    if rng.one_in(8) {
        forge(rng, &mut proof);
    }
    Some(proof)
}

/// What can be reached without deploying some atoms; `None` when that is more than `most`.
fn reachable_without(problem: &Problem, left_out: &dyn Fn(&Atom) -> bool, most: usize) -> Option<Vec<Configuration>> {
    let is_allowed = |action: &Action| !matches!(*action, Action::Deploy(pod, node) if left_out(&(pod, node)));
    let mut found = vec![(*problem.start).clone()];
    let mut seen: HashSet<Configuration> = found.iter().cloned().collect();
    for at in 0.. {
        let Some(s) = found.get(at).cloned() else { break };
        let next = successors(problem, &s).filter(|(action, _)| is_allowed(action)).map(|(_, next)| next);
        found.extend(next.filter(|next| seen.insert(next.clone())));
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

/// The same problem with a part of its start, in which at least what is kept is.
fn with_less(rng: &mut Rng, problem: &Problem) -> Problem {
    let less: Configuration = problem.start.minus(&problem.kept).iter().filter(|_| rng.one_in(2)).collect();
    Problem { start: Arc::new(problem.kept.plus(&less)), ..problem.clone() }
}

/// A constraint of any classes, perhaps one that does not exist, or twice the same.
fn forge(rng: &mut Rng, proof: &mut Proof) {
    let part = |rng: &mut Rng| (0..1 + rng.below(2)).map(|_| rng.below(proof.classes.len() + 1)).collect();
    let constraint = (0..1 + rng.below(3)).map(|_| part(rng)).collect();
    proof.at_most_one.push(constraint);
}

/// One pod each of two parts of a constraint, which may come each by itself; nobody asks for pods that are being deleted.
fn two_parts(rng: &mut Rng, problem: &Problem, proof: &Proof) -> Option<Goal> {
    let may_come = |class: &usize| !proof.forbidden.contains(&Group::from([(*class, 1)]));
    let atoms = |part: &Vec<usize>| {
        let atoms = part.iter().filter(|class| may_come(class)).filter_map(|&class| proof.classes.get(class)).flatten();
        atoms.filter(|(pod, _)| problem.model.shadowed(*pod).is_none()).copied().collect::<Vec<Atom>>()
    };
    let constraint = &proof.at_most_one[rng.below(proof.at_most_one.len())];
    let parts: Vec<Vec<Atom>> = constraint.iter().map(atoms).filter(|atoms| !atoms.is_empty()).collect();
    let [one, other] = parts.first_chunk::<2>()?;
    Some(Goal { any: vec![[(rng.pick(one), 1), (rng.pick(other), 1)].into_iter().collect()] })
}

/// Whether a proof is accepted, and whether it would be without its constraints.
pub(crate) fn accepted(case: &Case) -> [bool; 2] {
    let accepts = |proof: &Proof| {
        let verdict = Verdict::Never(proof.clone());
        Checker::new(&case.problem).check(&case.goal, verdict, &|| false).is_ok()
    };
    [accepts(&case.proof), accepts(&Proof { at_most_one: Vec::new(), ..case.proof.clone() })]
}
