//! Relevance analysis: the atoms that can help the goal, a cone of influence.
//!
//! An atom can help only as a witness or a counterweight of an atom that helps. Every other atom can be deleted first or never deployed,
//! so it is left out. An atom that is being deleted is helped by what it was before. After Nebel, Dimopoulos and Koehler, *Ignoring
//! Irrelevant Facts and Operators in Plan Generation* (ECP 1997); here nothing relevant is lost (`proofs/theories/Slice.v`).
//!
//! Cost: one guard for each atom of the slice. A goal without witnesses and balances slices to itself.

use std::collections::BTreeSet;

use podreach_core::cancel;
use podreach_core::guard::{Guards, Universe};
use podreach_core::{Atom, Problem};

/// The atoms that can take part in reaching the goal.
pub fn slice(problem: &Problem) -> BTreeSet<Atom> {
    let besides =
        problem.goal.any.iter().flat_map(|alternative| alternative.minus(&problem.kept).iter().collect::<Vec<_>>());
    let mut todo: Vec<Atom> = besides.map(|(atom, _)| atom).collect();
    let mut slice: BTreeSet<Atom> = todo.iter().copied().collect();
    let guards = Guards::new(problem, Universe::Possible);
    while let Some(atom) = todo.pop() {
        cancel::poll();
        let before = problem.model.shadowed(atom.0).map(|base| (base, atom.1));
        let helpers = guards.helpers(atom).into_iter().flatten().chain(before);
        todo.extend(helpers.filter(|&helper| slice.insert(helper)));
    }
    slice
}
