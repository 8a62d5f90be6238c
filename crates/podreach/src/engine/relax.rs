//! What can ever appear, if nothing is ever in the way.
//!
//! Dropping every upper bound leaves a least fixpoint: an atom can appear if it is there at first, or if each of its affinity groups
//! has a member that can appear and no spread domain is stuck behind. What is not in the fixpoint never appears, and the set of those
//! atoms is its own proof. Polynomial, and enough for most *never*s.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::guard::{Affinity, Guard, Spread};
use podreach_core::{Atom, Problem};

/// The atoms of the slice that can appear in the relaxation.
pub fn alive(problem: &Problem, guards: &BTreeMap<Atom, Guard>, slice: &BTreeSet<Atom>) -> BTreeSet<Atom> {
    let mut alive: BTreeSet<Atom> = slice.iter().copied().filter(|&atom| is_free(problem, atom)).collect();
    let mut waiting: Vec<(Atom, &Guard)> =
        guards.iter().filter(|(atom, _)| !alive.contains(atom)).map(|(&a, g)| (a, g)).collect();
    loop {
        let before = alive.len();
        waiting.retain(|&(atom, guard)| {
            let appears = may_hold(guard, &alive);
            if appears {
                alive.insert(atom);
            }
            !appears
        });
        if alive.len() == before {
            return alive;
        }
    }
}

fn is_free(problem: &Problem, atom: Atom) -> bool {
    problem.start.count(atom) > problem.kept.count(atom)
}

fn may_hold(guard: &Guard, alive: &BTreeSet<Atom>) -> bool {
    guard.affinity.iter().all(|condition| has_friends(condition, alive))
        && guard.spread.iter().all(|c| is_level(c, alive))
}

fn has_friends(condition: &Affinity, alive: &BTreeSet<Atom>) -> bool {
    condition.first_unless.is_some() || condition.near.iter().all(|group| group.iter().any(|atom| alive.contains(atom)))
}

/// Whether every domain that the kept pods alone leave behind can catch up.
fn is_level(condition: &Spread, alive: &BTreeSet<Atom>) -> bool {
    let here = condition.domains[condition.own].base.saturating_add(condition.joins);
    let behind = condition.domains.iter().filter(|domain| here.saturating_sub(domain.base) > condition.max_skew);
    behind.into_iter().all(|domain| domain.atoms.iter().any(|atom| alive.contains(atom)))
}
