//! Answers for whole orbits of nodes: nodes that exchanges carry to each other share an answer.

use std::collections::BTreeSet;

use podreach_core::{Action, Atom, Everywhere, Goal, NodeId, PodId, Trace};

use super::doubt::{Doubt, Residents};
use super::strict::Strict;
use super::{Oracle, deletions};
use crate::engine::{Budget, Uniform};
use crate::{arriving, history};

/// What answers for whole orbits of nodes, each made when it is first needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    pub(super) uniform: Option<Uniform>,
    pub(super) strict: Option<Uniform>,
    pub(super) weak: Option<Uniform>,
}

impl Oracle {
    /// The orbits of nodes for which [`Oracle::everywhere`] answers.
    pub fn orbits(&mut self) -> &[Vec<NodeId>] {
        self.uniform().orbits()
    }

    fn uniform(&mut self) -> &mut Uniform {
        self.survey.uniform.get_or_insert_with(|| Uniform::new(self.checker.quotient(&[]).single()))
    }

    /// Whether a pod can run on every node of an orbit where it does not run already, or on none of them; `None` if that depends on
    /// the node, is in doubt, or was not found out.
    pub fn everywhere(&mut self, pod: PodId, orbit: &[NodeId], budget: &Budget<'_>) -> Option<bool> {
        let atom = self.checker.quotient(&[]).yet_to_come((pod, *orbit.first()?));
        let found = self.uniform().answer(atom, budget)?;
        if found.everywhere.is_deployable() {
            let guesses = arriving::asks_for_guesses(&self.problem.model, &Goal::atom(atom));
            (!guesses && (self.holds(&found.trace) || self.holds_strictly(atom, budget))).then_some(true)
        } else {
            (self.weakenings.is_empty() || self.is_never_anywhere(pod, orbit, budget)).then_some(false)
        }
    }

    /// The same for each orbit, as far as the pod, its nodes and the kept pods settle it and nothing is in doubt; `None` for the others.
    pub(crate) fn everywhere_at_once(&mut self, pod: PodId) -> Vec<Option<bool>> {
        let orbits = self.orbits().len();
        let Some(&node) = self.orbits().first().and_then(|orbit| orbit.first()) else { return Vec::new() };
        if self.problem.model.is_elastic() {
            return vec![None; orbits];
        }
        let lasting = self.never_at_the_weakest(pod);
        let (pod, _) = self.checker.quotient(&[]).yet_to_come((pod, node));
        let (sure, sure_before) = (self.deploys_for_sure(pod, true), self.deploys_for_sure(pod, false));
        let starting: BTreeSet<NodeId> = self.starting.iter().copied().collect();
        let uniform = self.uniform();
        let settled = uniform.settled(pod, uniform.orbits().iter().map(|orbit| orbit[0]));
        let each = uniform.orbits().iter().zip(settled).zip(lasting);
        each.map(|((orbit, found), lasts)| {
            let starts = !starting.is_empty() && orbit.iter().any(|node| starting.contains(node));
            let deployable = sure || (sure_before && !starts);
            let holds = |everywhere: &Everywhere| if everywhere.is_deployable() { deployable } else { lasts };
            found.filter(holds).map(Everywhere::is_deployable)
        })
        .collect()
    }

    /// Whether no doubt spoils a run that deletes what it may and then deploys one pod of a type, after nodes have settled that were
    /// starting, or before.
    fn deploys_for_sure(&self, pod: PodId, after: bool) -> bool {
        let m = &self.problem.model;
        let binds = self.binds && history::waits(m, pod);
        let matters = |doubt: &Doubt| {
            doubt.residents != Residents::AsSeen
                || (doubt.is_about(pod) && (after || doubt.is_about_now(&self.problem)))
        };
        !binds && !self.over_approximating.iter().any(matters)
    }

    /// For each orbit, whether the weakest model has the pod on none of its nodes either, which needs no search.
    fn never_at_the_weakest(&mut self, pod: PodId) -> Vec<bool> {
        let orbits = self.uniform().orbits().len();
        if self.weakenings.is_empty() {
            return vec![true; orbits];
        }
        let quotient = self.checker.quotient(&self.weakenings);
        let weak = self.survey.weak.get_or_insert_with(|| Uniform::new(quotient.single()));
        let Some(orbits) = self.survey.uniform.as_ref().map(Uniform::orbits) else { return Vec::new() };
        let Some(first) = orbits.first() else { return Vec::new() };
        let (pod, _) = quotient.yet_to_come((pod, first[0]));
        let settled = weak.settled(pod, orbits.iter().map(|orbit| orbit[0]));
        let is_never = |found: Option<Everywhere>| found.is_some_and(|found| !found.is_deployable());
        orbits.iter().zip(settled).map(|(orbit, found)| is_never(found) && weak.is_uniform(orbit)).collect()
    }

    /// Whether a pod would run on every node of an orbit, if it were known what such nodes are like: they are new, and guesses.
    pub(crate) fn is_a_guess(&mut self, pod: PodId, orbit: &[NodeId], budget: &Budget<'_>) -> bool {
        let Some(&node) = orbit.first() else { return false };
        if !arriving::asks_for_guesses(&self.problem.model, &Goal::atom((pod, node))) {
            return false;
        }
        let atom = self.checker.quotient(&[]).yet_to_come((pod, node));
        self.uniform().answer(atom, budget).is_some_and(|found| found.everywhere.is_deployable())
    }

    /// Whether no doubt spoils a trace from the start that the orbits have in common. What it binds depends on the start itself.
    fn holds(&mut self, trace: &Trace) -> bool {
        let m = &self.problem.model;
        let binds = |action: Action| {
            let Action::Deploy(pod, _) = action else { return false };
            history::waits(m, pod)
        };
        if self.binds && trace.iter().any(binds) {
            return false;
        }
        self.uniform();
        let below = self.survey.uniform.as_ref().map(Uniform::below);
        arriving::objection(&self.problem, trace).is_none()
            && below.is_some_and(|below| !self.over_approximating.iter().any(|doubt| doubt.spoils(below, trace)))
    }

    /// Whether a trace for a whole orbit can do without the pod types in doubt.
    fn holds_strictly(&mut self, atom: Atom, budget: &Budget<'_>) -> bool {
        if self.binds || !self.can_be_stricter() {
            return false;
        }
        let single = self.checker.quotient(&[]).single();
        let doubts = &self.over_approximating;
        let strict = self.survey.strict.get_or_insert_with(|| Uniform::new(&Strict::problem(single, doubts, None).0));
        let Some(found) = strict.answer(atom, budget).filter(|found| found.everywhere.is_deployable()) else {
            return false;
        };
        let start = strict.below().start.clone();
        let surplus = self.uniform().below().start.minus(&start);
        let m = self.problem.model.clone();
        let trace = deletions(&m, &surplus).chain(found.trace.iter()).collect();
        self.uniform().deployable(atom, trace).is_some_and(|found| self.holds(&found.trace))
    }

    /// Whether the weakest model also has the pod on no node of an orbit.
    fn is_never_anywhere(&mut self, pod: PodId, orbit: &[NodeId], budget: &Budget<'_>) -> bool {
        let quotient = self.checker.quotient(&self.weakenings);
        let atom = quotient.yet_to_come((pod, orbit[0]));
        let weak = self.survey.weak.get_or_insert_with(|| Uniform::new(quotient.single()));
        weak.is_uniform(orbit) && weak.answer(atom, budget).is_some_and(|found| !found.everywhere.is_deployable())
    }
}
