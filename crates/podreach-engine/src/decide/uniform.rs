//! Answers for whole orbits of nodes: the same engines, on starts that are symmetric.
//!
//! A *deployable* from a start below the real one, and a *never* from a start above it, hold on every node of the orbit.

use podreach_core::{Atom, Everywhere, Goal, NodeId, PodId, Problem, Symmetry, Trace, Verdict};

use super::Search;
use crate::budget::Budget;
use crate::symmetry::symmetry;

/// Decides what holds on every node of an orbit.
#[derive(Clone, Debug)]
pub struct Uniform {
    symmetry: Symmetry,
    below: Search,
}

/// An answer for an orbit, and a trace from the symmetric start if there is one.
#[derive(Clone, Debug)]
pub struct UniformAnswer {
    /// The answer.
    pub everywhere: Everywhere,
    /// How to get there on the node that was asked about.
    pub trace: Trace,
}

impl Uniform {
    /// For this cluster, start and kept pods.
    pub fn new(problem: &Problem) -> Self {
        let symmetry = symmetry(problem);
        Self { below: Search::new(symmetry.below()), symmetry }
    }

    /// The orbits of the nodes.
    pub fn orbits(&self) -> &[Vec<NodeId>] {
        self.symmetry.orbits()
    }

    /// Whether all these nodes are in one orbit.
    pub fn is_uniform(&self, nodes: &[NodeId]) -> bool {
        nodes.windows(2).all(|pair| self.symmetry.orbit(pair[0]) == self.symmetry.orbit(pair[1]))
    }

    /// What needs no search, on each of these nodes and those that can be exchanged with it; see [`Symmetry::settled`].
    pub fn settled(&self, pod: PodId, nodes: impl Iterator<Item = NodeId>) -> impl Iterator<Item = Option<Everywhere>> {
        self.symmetry.settled(pod, nodes)
    }

    /// The problem that traces of this start from.
    pub fn below(&self) -> &Problem {
        self.symmetry.below()
    }

    /// Accepts a trace of [`Uniform::below`].
    pub fn deployable(&mut self, atom: Atom, trace: Trace) -> Option<UniformAnswer> {
        let everywhere = self.symmetry.deployable(atom, trace.clone()).ok()?;
        Some(UniformAnswer { everywhere, trace })
    }

    /// The answer for an atom on every node of its orbit where the pod does not run; `None` if that depends on the node, or was not
    /// found out.
    pub fn answer(&mut self, atom: Atom, budget: &Budget<'_>) -> Option<UniformAnswer> {
        let settled = self.symmetry.settled(atom.0, [atom.1]).next().flatten();
        // What is deployable is shown by a trace.
        if let Some(everywhere) = settled.filter(|settled| !settled.is_deployable()) {
            return Some(UniformAnswer { everywhere, trace: Trace::default() });
        }
        let goal = Goal::atom(atom);
        let quick = self.below.decide_without_search(&goal, budget);
        if let Some(Verdict::Deployable(trace)) = quick.map(|decision| decision.checked.verdict().clone()) {
            return self.deployable(atom, trace);
        }
        let above = self.symmetry.above(atom);
        match Search::new(&above).decide(&goal, budget).checked.verdict() {
            Verdict::Never(proof) => {
                let everywhere = self.symmetry.never(atom, proof.clone(), &|| (budget.interrupt)().is_some()).ok()?;
                return Some(UniformAnswer { everywhere, trace: Trace::default() });
            }
            Verdict::Deployable(_) => {}
            Verdict::Unknown(_) => return None,
        }
        match self.below.decide(&goal, budget).checked.verdict() {
            Verdict::Deployable(trace) => self.deployable(atom, trace.clone()),
            _ => None,
        }
    }
}
