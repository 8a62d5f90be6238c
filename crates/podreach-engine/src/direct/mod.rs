//! Fragments that are decided without a search over configurations.
//!
//! Tried in this order: the start meets the goal; the kept pods alone allow it (one step); no other pod can help it, so it is never
//! deployable (the affinity-free fragment, polynomial: `docs/spec/fragment.md`); every pod that can matter needs at most one other, so
//! graph search over atoms decides (`one_witness.rs`). All but the first are about goals of one pod besides the kept ones.

mod one_witness;

use podreach_core::helper::can_be_helped;
use podreach_core::obstacle::is_enabled;
use podreach_core::{Atom, Configuration, Goal, Problem, Proof, Trace, Verdict};

use crate::evidence::TraceBuilder;
use one_witness::{Ended, OneWitness};

/// Decides goals of the direct fragments about one cluster and start.
#[derive(Clone, Debug)]
pub struct Direct {
    one_witness: OneWitness,
}

impl Direct {
    /// For this cluster and these kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self { one_witness: OneWitness::new(problem) }
    }

    /// The verdict on a goal and the name of the fragment it is in; `None` if it is in none.
    pub fn decide(
        &mut self,
        problem: &Problem,
        goal: &Goal,
        traces: &mut TraceBuilder,
        stop: &dyn Fn() -> bool,
    ) -> Option<(Verdict, &'static str)> {
        if problem.is_met(goal, &problem.start) {
            return Some((Verdict::Deployable(Trace::default()), "start"));
        }
        if let Some(atom) = goal.any.iter().find_map(|alternative| enabled_at_once(problem, alternative)) {
            return Some((Verdict::Deployable(traces.single(atom)), "one-step"));
        }
        if goal.any.iter().all(|alternative| is_hopeless(problem, alternative)) {
            return Some((Verdict::Never(Proof::of_configurations(&goal.any)), "affinity-free"));
        }
        Some((self.by_one_witness(problem, goal, traces, stop)?, "one-witness"))
    }

    /// A goal of one pod, where each pod needs at most one other.
    fn by_one_witness(
        &mut self,
        problem: &Problem,
        goal: &Goal,
        traces: &mut TraceBuilder,
        stop: &dyn Fn() -> bool,
    ) -> Option<Verdict> {
        let goals = goal.any.iter().map(|alternative| single(problem, alternative)).collect::<Option<Vec<Atom>>>()?;
        Some(match self.one_witness.decide(problem, &goals, stop)? {
            Ended::Reached(way) => Verdict::Deployable(traces.relay(&way)),
            Ended::Never(proof) => Verdict::Never(proof),
        })
    }
}

/// The atom of an alternative of one pod that the kept pods alone allow, or with them one that waits for a node.
fn enabled_at_once(problem: &Problem, alternative: &Configuration) -> Option<Atom> {
    let atom = single(problem, alternative).filter(|&atom| is_enabled(&problem.model, &*problem.kept, atom))?;
    let waits = problem.model.consumed(atom.0).is_none_or(|unbound| problem.start.count(unbound) > 0);
    waits.then_some(atom)
}

/// Whether an alternative of one pod can be helped by no other pod. The kept pods alone do not allow it, so it is never deployable.
fn is_hopeless(problem: &Problem, alternative: &Configuration) -> bool {
    single(problem, alternative).is_some_and(|atom| !can_be_helped(&problem.model, &problem.kept, atom))
}

/// The one instance that an alternative asks for besides the kept pods, if it is just one.
fn single(problem: &Problem, alternative: &Configuration) -> Option<Atom> {
    let besides = alternative.minus(&problem.kept);
    let mut atoms = besides.iter();
    let (atom, count) = atoms.next()?;
    (count == 1 && atoms.next().is_none()).then_some(atom)
}
