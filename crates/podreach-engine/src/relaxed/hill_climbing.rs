//! Enforced hill climbing: breadth-first search for a state with a shorter relaxed plan, again and again.
//!
//! Only the steps that a relaxed plan can begin with are tried (helpful actions), so a plateau is crossed by looking at few states; the
//! way across it is never taken back. After Hoffmann and Nebel (JAIR 14, 2001). Incomplete: where no such step leads on, nothing is
//! concluded.
//!
//! Invariant: the actions of the follower are those from the start to the root, and on to the node that is looked at. Cost: one relaxed plan
//! for each state.

use std::hash::Hasher;

use rustc_hash::{FxHashSet, FxHasher};

use super::following::{ClassAction, PlanFollower};
use crate::compile::System;
use crate::group::is_covered;
use crate::plan::Plan;

/// A search that goes on from the best configuration so far.
pub struct HillClimbing<'a> {
    follower: PlanFollower<'a>,
    /// How many actions lead from the start to the root.
    root: usize,
    /// What was found from the root, in order; the first is the root itself.
    nodes: Vec<Node>,
    next: usize,
    /// Hashes of the states found from the root. Of two with the same hash one is not looked at.
    seen: FxHashSet<u64>,
    /// The length of the plan at the root.
    best: usize,
    over: bool,
    /// How many configurations a plan was made for.
    evaluated: u64,
}

struct Node {
    parent: usize,
    /// The actions from the parent.
    actions: Vec<ClassAction>,
    /// The transitions that its plan could begin with.
    transitions: Vec<u32>,
}

/// So many configurations without a shorter plan, and it is over.
const FRUITLESS: usize = 1 << 13;

impl<'a> HillClimbing<'a> {
    /// A search from the start.
    pub fn new(system: &'a System) -> Self {
        let mut search = Self {
            follower: PlanFollower::new(system),
            root: 0,
            nodes: Vec::new(),
            next: 0,
            seen: FxHashSet::default(),
            best: usize::MAX,
            over: false,
            evaluated: 0,
        };
        search.over = search.evaluate().is_none_or(|(length, transitions)| {
            search.move_root(length, transitions);
            false
        });
        search
    }

    /// Whether it leads no further.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// How many configurations a plan was made for.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// How many bytes it holds, roughly.
    pub fn bytes(&self) -> usize {
        self.follower.bytes() + self.nodes.len() * 256 + self.seen.capacity() * 16
    }

    /// Looks at one configuration, unless it is over; returns how much work that was, and the plan if the goal is there.
    pub fn go_on(&mut self) -> (u64, Option<Plan>) {
        let before = self.evaluated;
        self.over |= self.next >= self.nodes.len() || self.nodes.len() > FRUITLESS;
        let plan = if self.over { None } else { self.expand() };
        (1 + (self.evaluated - before) * self.follower.work_of_plan(), plan)
    }

    fn expand(&mut self) -> Option<Plan> {
        let node = self.next;
        self.next += 1;
        self.go_to(node);
        for transition in std::mem::take(&mut self.nodes[node].transitions) {
            let mark = self.follower.actions.len();
            if !self.follower.deploy(transition) {
                continue;
            }
            if self.is_at_goal() {
                return Some(self.follower.extract());
            }
            if self.seen.insert(self.number())
                && let Some((length, transitions)) = self.evaluate()
            {
                if length < self.best {
                    self.move_root(length, transitions);
                    return None;
                }
                self.nodes.push(Node { parent: node, actions: self.follower.actions[mark..].to_vec(), transitions });
            }
            self.follower.undo(mark);
        }
        None
    }

    /// Makes the present configuration the root.
    fn move_root(&mut self, length: usize, transitions: Vec<u32>) {
        (self.root, self.best, self.next) = (self.follower.actions.len(), length, 0);
        self.nodes.clear();
        self.seen.clear();
        self.seen.insert(self.number());
        self.nodes.push(Node { parent: 0, actions: Vec::new(), transitions });
    }

    /// Goes to a node, by way of the root.
    fn go_to(&mut self, node: usize) {
        let mut way = Vec::new();
        let mut at = node;
        while at != 0 {
            way.push(at);
            at = self.nodes[at].parent;
        }
        self.follower.undo(self.root);
        for node in way.into_iter().rev() {
            self.nodes[node].actions.iter().for_each(|&step| self.follower.make(step));
        }
    }

    /// The length of a plan from here, and the transitions that it could begin with.
    fn evaluate(&mut self) -> Option<(usize, Vec<u32>)> {
        self.evaluated += 1;
        let plan = self.follower.plan_from_here()?;
        let steps = plan.steps.clone();
        Some((
            steps.len(),
            steps.iter().copied().filter(|transition| self.follower.has_witnesses(*transition)).collect(),
        ))
    }

    /// Whether a goal is there, which then is the goal of the plan.
    fn is_at_goal(&mut self) -> bool {
        let goal = self.follower.system.goals.iter().find(|goal| is_covered(goal, &self.follower.state.counts));
        goal.inspect(|goal| self.follower.relaxed.goal.clone_from(goal)).is_some()
    }

    /// The hash of the present state.
    fn number(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for (class, &count) in self.follower.state.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            hasher.write_usize(class);
            hasher.write_u64(count);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, Shape, Switches, cases, problem, settled};
    use podreach_core::{Problem, Semantics, Verdict, check};

    use super::*;
    use crate::compile::slice;
    use crate::evidence::class_trace;

    /// Whether it ends in the goal; its plan then does as well.
    fn reaches(problem: &Problem) -> bool {
        let system = System::new(problem, slice(problem));
        let mut search = HillClimbing::new(&system);
        let mut plan = None;
        while plan.is_none() && !search.is_over() {
            plan = search.go_on().1;
        }
        if let Some(plan) = &plan {
            let verdict = Verdict::Deployable(class_trace(problem, &system, plan));
            assert!(check(problem, verdict).is_ok(), "{plan:?} of {problem:#?}");
        }
        plan.is_some()
    }

    #[test]
    fn where_it_ends_in_the_goal_its_run_does() {
        let (mut rng, mut reached) = (Rng::new(79), 0);
        for case in 0..cases(2_000) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            reached += usize::from(reaches(&settled(&problem(&mut rng, shape))));
        }
        assert!(reached > cases(2_000) / 16, "{reached}");
    }

    #[test]
    fn most_switches_that_can_be_turned_are() {
        let (mut rng, mut reached) = (Rng::new(89), 0);
        for _ in 0..cases(50) {
            let problem = Switches::random(&mut rng).problem();
            reached += usize::from(reaches(&problem));
        }
        assert!(reached > cases(50) / 8, "{reached}");
    }
}
