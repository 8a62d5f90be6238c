//! Plans of a compiled system: deployments from the start to a goal, with what each needs.
//!
//! Deletions are left open, since only presence is ever needed. Invariant: with just what a step needs (and the kept pods), its guard
//! holds. Plans can be very long, so a plan stores only what changes from step to step, four bytes for each entry.

use crate::compile::State;
use crate::compile::System;
use crate::group::{self, Class, Group, count, without};

/// Deployments that lead from the start to a goal, with what each needs.
///
/// Runs can be very long, and what one step needs differs little from what the next one does; so only the difference is kept.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Each deployment: its transition, doubled, and then what it needs and no later one does: for each pod its class, doubled, and one more.
    tape: Vec<u32>,
    /// What is needed before the first: with just that (and the kept pods) its guard holds.
    needs: Group,
    /// What is there after the last, at least.
    reaches: Group,
}

/// A plan as lists of numbers.
pub type Parts = (Vec<u32>, Group, Group);

impl Plan {
    /// How many deployments it makes.
    pub fn len(&self) -> usize {
        self.tape.iter().filter(|&&entry| entry & 1 == 0).count()
    }

    /// How many bytes it takes together with its trace, about: most deployments go with a deletion.
    pub fn bytes(&self) -> usize {
        self.len().saturating_mul(2).saturating_add(self.tape.len()).saturating_mul(size_of::<u32>())
    }

    /// A plan that ends here, to be made from its end: for each deployment first what is not needed after it, then its transition.
    pub fn to(goal: Group) -> Self {
        Self { reaches: goal, ..Self::default() }
    }

    /// The deployment that is now made needs a pod of this class, and nothing later does.
    pub fn drop_after(&mut self, class: Class) {
        self.tape.push(class << 1 | 1);
    }

    /// One more deployment, before all others so far.
    pub fn push(&mut self, transition: usize) {
        self.tape.push((transition as u32) << 1);
    }

    /// Reverses a plan that was made from its end; these pods are needed at first.
    pub fn reverse(&mut self, needs: Group) {
        self.tape.reverse();
        self.needs = needs;
    }

    /// The plan from a goal that the start meets, back along its parents: each is reached from its child by a transition.
    pub fn from_start<'g>(
        system: &System,
        mut at: usize,
        goal: impl Fn(usize) -> (&'g Group, Option<(usize, usize)>),
    ) -> Self {
        let mut run = Self { needs: goal(at).0.clone(), ..Self::default() };
        loop {
            let (group, parent) = goal(at);
            let Some((parent, transition)) = parent else { return Self { reaches: group.clone(), ..run } };
            run.push(transition);
            let later = without(goal(parent).0, system.transitions[transition].head);
            for &(class, needed) in group {
                (count(&later, class)..needed).for_each(|_| run.drop_after(class));
            }
            at = parent;
        }
    }

    /// What is needed before the first deployment.
    pub fn needs(&self) -> &Group {
        &self.needs
    }

    /// All of it, to be written down.
    pub fn parts(&self) -> Parts {
        (self.tape.clone(), self.needs.clone(), self.reaches.clone())
    }

    /// A plan that was stored; it may be wrong.
    pub fn from_parts((tape, needs, reaches): Parts) -> Self {
        Self { tape, needs, reaches }
    }

    /// What is there after the last deployment, at least.
    pub fn reaches(&self) -> &Group {
        &self.reaches
    }

    /// Whether its numbers are transitions and classes of a system, a transition first.
    pub fn is_whole(&self, system: &System) -> bool {
        let begins = self.tape.first().is_none_or(|&entry| entry & 1 == 0);
        let known = self.tape.iter().all(|&entry| {
            let bound = if entry & 1 == 0 { system.transitions.len() } else { system.classes.len() };
            ((entry >> 1) as usize) < bound
        });
        begins && known
    }

    /// The transition of each deployment, and what it needs that no later one does.
    pub fn deployments(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = Class>)> {
        let deployments = self.tape.chunk_by(|_, next| next & 1 == 1);
        deployments.map(|entries| ((entries[0] >> 1) as usize, entries[1..].iter().map(|&entry| entry >> 1)))
    }

    /// The transition of each of the deployments, and all that it needs.
    pub fn with_needs(&self, system: &System) -> Vec<(usize, Group)> {
        let mut needs = self.needs.clone();
        let whole = self.deployments().map(|(transition, drops)| {
            let here = needs.clone();
            drops.for_each(|class| group::remove(&mut needs, class));
            group::add(&mut needs, system.transitions[transition].head);
            (transition, here)
        });
        whole.collect()
    }
}

/// Changes what is needed after a deployment into what is needed before it, and notes the deployment if it is needed at all.
pub fn require(system: &System, transition: usize, needs: &mut State, plan: &mut Plan, opening: impl Fn(Class) -> u64) {
    let (sums, head) = (&system.sums, system.transitions[transition].head);
    if needs.counts[head as usize] == 0 {
        return;
    }
    needs.remove(sums, head, 1);
    let guard = &system.transitions[transition].guard;
    while let Some(sum) = guard.needed(needs) {
        let witness =
            sums.weights[sum as usize].iter().find(|&&(class, _)| needs.counts[class as usize] < opening(class));
        let (witness, _) = *witness.expect("the guard holds in the opening");
        needs.add(sums, witness, 1);
        plan.drop_after(witness);
    }
    plan.push(transition);
}
