//! The part of a problem that can matter to its goal.
//!
//! An atom can help the goal only as a witness or a counterweight of something that helps it. Everything else can be deleted first or
//! never deployed, so it drops out, whatever it is. What a pod was before its deletion began helps it to be what it is. A goal without affinity and spread slices to itself.

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
