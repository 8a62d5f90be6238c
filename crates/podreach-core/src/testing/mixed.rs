//! Problems of many kinds: the number of a case says of which.

use super::{Rng, Shape, problem, some_terminating, some_waiting};
use crate::configuration::Atom;
use crate::model::Semantics;
use crate::step::Problem;

/// A small problem of either semantics. Some have volumes, some have pods that wait, and some have pods that are being deleted.
pub fn mixed(rng: &mut Rng, case: usize) -> Problem {
    let shape = Shape::small(either(case));
    let problem = problem(rng, if case.is_multiple_of(3) { shape.with_volumes() } else { shape });
    let problem = if case % 5 == 1 { some_waiting(rng, &problem) } else { problem };
    if case.is_multiple_of(4) { some_terminating(rng, problem) } else { problem }
}

/// A problem of either semantics. Some have no bound on counts, some have volumes, and some have pods that are being deleted.
pub fn mixed_or_unbounded(rng: &mut Rng, case: usize) -> Problem {
    let semantics = either(case);
    let shape = if case.is_multiple_of(5) { Shape::unbounded(semantics) } else { Shape::small(semantics) };
    let problem = problem(rng, if case.is_multiple_of(3) { shape.with_volumes() } else { shape });
    if case.is_multiple_of(4) { some_terminating(rng, problem) } else { problem }
}

/// A problem of two nodes in which pods wait, and in some of which pods are being deleted.
pub fn mixed_waiting(rng: &mut Rng, case: usize) -> Problem {
    let semantics = if case.is_multiple_of(3) { Semantics::Paper } else { Semantics::KubeScheduler };
    let problem = problem(rng, Shape { nodes: 2, ..Shape::small(semantics) });
    let problem = some_waiting(rng, &problem);
    if case.is_multiple_of(4) { some_terminating(rng, problem) } else { problem }
}

/// Every pod of a problem's roster on every node where it may be.
pub fn atoms(problem: &Problem) -> Vec<Atom> {
    let pods = problem.model.every_pod().filter(|&pod| problem.roster.contains(pod));
    pods.flat_map(|pod| problem.model.places(pod).map(move |node| (pod, node))).collect()
}

fn either(case: usize) -> Semantics {
    if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper }
}
