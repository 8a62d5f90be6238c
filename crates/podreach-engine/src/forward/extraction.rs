//! Plan extraction: from a goal state back to the deployments that it needs.
//!
//! The search deploys everything it can. Going back from the goal, a deployment is needed only if something after it needs its pod; it
//! needs what is needed later, and witnesses for its guard. Cost: linear in the length of the way.

use super::{Forward, NONE};
use crate::compile::State;
use crate::group::{self, Class};
use crate::plan::{Plan, require};

impl Forward<'_> {
    /// The deployments that lead to a configuration, each with what must be there before it.
    pub(super) fn extract_plan(&self, id: u32) -> Plan {
        let reached = self.unpack(id);
        let goal = self.system.goals.iter().find(|goal| group::is_within(goal, &reached));
        let goal = goal.expect("the extract_plan ends in a goal");
        let mut plan = Plan::to(goal.clone());
        let needs = if self.masks.others.is_empty() {
            let mut needs = vec![0; self.packed(id).len()];
            goal.iter().for_each(|&(class, _)| needs[class as usize / 64] |= 1 << (class % 64));
            self.back_by_masks(id, &mut needs, &mut plan);
            let ones = (0..self.system.classes.len() as Class).map(|class| (class, self.count(&needs, class)));
            ones.filter(|&(_, count)| count > 0).collect()
        } else {
            let mut needs = State::of_group(&self.system.sums, goal);
            self.back(id, &mut needs, &mut plan);
            needs.group()
        };
        plan.reverse(needs);
        plan
    }

    /// What is there after each transition on the way to a configuration, one after the other; returns where the way begins.
    fn after_each(&self, id: u32, after_each: &mut Vec<u64>) -> (u32, &[u32]) {
        let (parent, transitions) = self.way_to(id);
        after_each.clear();
        if parent == NONE {
            return (parent, transitions);
        }
        let (mut here, mut next) = (self.packed(parent).to_vec(), Vec::new());
        for &transition in transitions {
            if self.masks.is_mask(transition as usize) {
                self.masks.apply_alone(transition, &here, &mut next);
                std::mem::swap(&mut here, &mut next);
            } else {
                // The last of its way.
                here = self.packed(id).to_vec();
            }
            after_each.extend_from_slice(&here);
        }
        (parent, transitions)
    }

    /// Goes back to the start where every transition is a mask, and so what is needed is a set.
    fn back_by_masks(&self, mut at: u32, needs: &mut [u64], plan: &mut Plan) {
        let mut after_each = Vec::new();
        while let (parent, transitions) = self.after_each(at, &mut after_each)
            && parent != NONE
        {
            self.back_over(transitions, &after_each, needs, plan);
            at = parent;
        }
    }

    /// Goes back over some transitions, with what is there after each.
    pub(super) fn back_over(&self, transitions: &[u32], after_each: &[u64], needs: &mut [u64], plan: &mut Plan) {
        for (&transition, after) in transitions.iter().zip(after_each.chunks(needs.len())).rev() {
            let head = self.system.transitions[transition as usize].head as usize;
            let (word, bit) = (head / 64, 1 << (head % 64));
            if needs[word] & bit == 0 {
                continue;
            }
            needs[word] &= !bit;
            self.masks.require(transition, needs, after, |class| plan.drop_after(class as Class));
            plan.push(transition as usize);
        }
    }

    /// Goes back to the start.
    fn back(&self, mut at: u32, needs: &mut State, plan: &mut Plan) {
        let mut after_each = Vec::new();
        while let (parent, transitions) = self.after_each(at, &mut after_each)
            && parent != NONE
        {
            for (&transition, after) in transitions.iter().zip(after_each.chunks(self.packed(at).len())).rev() {
                let head = self.system.transitions[transition as usize].head;
                require(self.system, transition as usize, needs, plan, |class| {
                    self.count(after, class) - u64::from(class == head)
                });
            }
            at = parent;
        }
    }
}
