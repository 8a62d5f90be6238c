//! Reachability under the delete relaxation: which atoms can appear if no upper bound holds anything back.
//!
//! A least fixpoint: an atom is reachable if it is there at first, or if each condition that needs a witness, and each domain that is
//! too far behind, has a member that is reachable. What is not in the fixpoint never appears, and the set of these atoms is its own
//! proof. After Bonet and Geffner, *Planning as Heuristic Search* (Artificial Intelligence 129, 2001). The *never*s of most questions
//! are found here.
//!
//! Cost: linear in the size of the guards; an atom waits for one unmet condition at a time.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::guard::Guard;
use podreach_core::{Atom, Problem};
use rustc_hash::{FxHashMap, FxHashSet};

/// An atom that waits for one of some others to appear, and then for one of the next.
struct Waiting<'g> {
    atom: Atom,
    needs: Vec<&'g [Atom]>,
    /// How many needs are met.
    met: usize,
}

/// The atoms of the slice that can appear in the relaxation.
pub fn reachable(problem: &Problem, guards: &BTreeMap<Atom, Guard>, slice: &BTreeSet<Atom>) -> FxHashSet<Atom> {
    let mut alive: FxHashSet<Atom> = slice.iter().copied().filter(|&atom| is_free(problem, atom)).collect();
    let others = guards.iter().filter(|(atom, _)| !alive.contains(atom));
    let mut waiting: Vec<Waiting<'_>> =
        others.map(|(&atom, guard)| Waiting { atom, needs: needs(guard).collect(), met: 0 }).collect();
    let shadows: Vec<(Atom, [Atom; 1])> =
        slice.iter().filter_map(|&(pod, node)| Some(((pod, node), [(problem.model.shadowed(pod)?, node)]))).collect();
    let dying = shadows.iter().filter(|(atom, _)| !alive.contains(atom));
    waiting.extend(dying.map(|(atom, before)| Waiting { atom: *atom, needs: vec![before.as_slice()], met: 0 }));
    let mut waiting_for = FxHashMap::<Atom, Vec<(usize, usize)>>::default();
    let mut todo: Vec<usize> = (0..waiting.len()).collect();
    while let Some(index) = todo.pop() {
        let Waiting { atom, needs, met } = &mut waiting[index];
        match needs[*met..].iter().position(|need| !need.iter().any(|atom| alive.contains(atom))) {
            Some(more) => {
                *met += more;
                needs[*met].iter().for_each(|&other| waiting_for.entry(other).or_default().push((index, *met)));
            }
            None if alive.insert(*atom) => {
                let moved = waiting_for.remove(atom).unwrap_or_default();
                todo.extend(
                    moved.into_iter().filter(|&(index, met)| waiting[index].met == met).map(|(index, _)| index),
                );
            }
            None => {}
        }
    }
    alive
}

fn is_free(problem: &Problem, atom: Atom) -> bool {
    problem.start.count(atom) > problem.kept.count(atom)
}

/// The groups of atoms of which one each must be there for a guard to hold: witnesses, and counterweights in every domain that the
/// kept pods alone leave behind.
pub fn needs(guard: &Guard) -> impl Iterator<Item = &[Atom]> {
    let required = guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
    let near = required.flat_map(|condition| condition.near.iter().map(Vec::as_slice));
    let domains = guard.spread.iter().flat_map(|condition| {
        let here = condition.domains[condition.own].base.saturating_add(condition.joins);
        let lasting = condition.domains.iter().filter(|domain| domain.while_any.is_none());
        let behind = lasting.filter(move |d| here.saturating_sub(d.base) > condition.max_skew);
        behind.map(|domain| domain.atoms.as_slice())
    });
    near.chain(domains)
}
