//! Goals with many alternatives, asked once for those that can be exchanged.
//!
//! "On any node of the pool" is one alternative for each node, but a thousand nodes that can be exchanged have one answer. Where the
//! start differs from node to node, *never* is looked for from a start above it that does not (see [`Orbits`]). The proof is about one
//! node of each orbit, and the checker says whether it holds for all. Where it does not, every alternative is asked.

use std::collections::BTreeSet;

use podreach_core::{Atom, Exchange, Goal, Id, NodeId, Orbits, PodId, Problem, Verdict};

use super::{Candidate, Decision, Search};
use crate::budget::Budget;
use crate::symmetry::exchanges;

/// A goal with one alternative for all that are alike.
struct Alike {
    each: Goal,
    exchanges: Vec<Exchange>,
    /// The problem with a symmetric start, if the real one is not above it.
    above: Option<Problem>,
}

impl Alike {
    /// For a goal that the start does not meet; `None` where no two alternatives are alike.
    fn new(problem: &Problem, goal: &Goal) -> Option<Self> {
        let pods: BTreeSet<PodId> = goal.any.iter().flat_map(|one| one.iter().map(|((pod, _), _)| pod)).collect();
        let fixed: BTreeSet<NodeId> = beside(goal).into_iter().map(|(_, node)| node).collect();
        // What runs of the pods in question must not be moved to where none runs, nor what is asked for beside them.
        let asked: BTreeSet<NodeId> = goal.any.iter().flat_map(|one| one.iter().map(|((_, node), _)| node)).collect();
        let mut exchanges = exchanges(problem, |node| {
            let own = fixed.contains(&node).then(|| node.index() as u64 + 1);
            pods.iter().map(|&pod| problem.start.count((pod, node))).chain(own).collect()
        });
        exchanges.retain(|exchange| {
            exchange.iter().any(|(from, _)| asked.contains(from)) && podreach_core::is_symmetry(problem, exchange)
        });
        let orbits = Orbits::new(problem, &exchanges).ok()?;
        let alike = orbits.alike(goal);
        if alike.len() == goal.any.len() {
            return None;
        }
        let each = Goal { any: alike.iter().map(|alternatives| goal.any[alternatives[0]].clone()).collect() };
        let above = orbits.above(problem, pods);
        let above = (!above.start.is_within(&problem.start)).then_some(above);
        Some(Self { each, exchanges, above })
    }

    /// The same candidate, for all that is alike.
    fn widened(&self, mut candidate: Candidate) -> Candidate {
        if let Verdict::Never(proof) = &mut candidate.verdict {
            proof.exchanges.clone_from(&self.exchanges);
        }
        candidate
    }
}

/// What every alternative of a goal asks for.
fn beside(goal: &Goal) -> BTreeSet<Atom> {
    let mut all = goal.any.iter().map(|one| one.iter().map(|(atom, _)| atom).collect::<BTreeSet<Atom>>());
    let first = all.next().unwrap_or_default();
    all.fold(first, |common, one| common.intersection(&one).copied().collect())
}

impl Search {
    /// Decides a goal by one alternative of those that are alike; `None` where that does not decide it.
    pub(super) fn decide_one_of_each(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        if goal.any.len() < 2 || self.problem.is_met(goal, &self.problem.start) {
            return None;
        }
        let alike = Alike::new(&self.problem, goal)?;
        if let Some(candidate) = self.candidate_without_search(&alike.each, budget)
            && let Some(decision) = self.accepted(goal, alike.widened(candidate), budget)
        {
            return Some(decision);
        }
        if let Some(above) = &alike.above {
            let candidate = Self { engines: self.engines, ..Self::new(above) }.candidate(&alike.each, budget);
            if matches!(candidate.verdict, Verdict::Never(_))
                && let Some(decision) = self.accepted(goal, alike.widened(candidate), budget)
            {
                return Some(decision);
            }
        }
        let candidate = self.candidate(&alike.each, budget);
        self.accepted(goal, alike.widened(candidate), budget)
    }

    /// A candidate about a goal, if it is an answer and the checker takes it.
    fn accepted(&mut self, goal: &Goal, candidate: Candidate, budget: &Budget<'_>) -> Option<Decision> {
        let decision = self.checked(goal, candidate, budget);
        decision.checked.answer().is_some().then_some(decision)
    }
}
