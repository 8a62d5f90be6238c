//! A greedy chain of witnesses: deploy a witness, then the pod.
//!
//! In most clusters a pod that waits for another can be deployed once that other is there. Looking for such an order needs no compiled
//! system. Depth and tries are bounded; where it fails, nothing is concluded.

use std::collections::HashMap;

use podreach_core::cancel;
use podreach_core::helper::{nodes_near, witnesses_of};
use podreach_core::obstacle::{Obstacle, obstacle};
use podreach_core::{Atom, Configuration, PodId, Problem};

/// How long a chain of witnesses may be.
const DEPTH: usize = 4;

/// How many deployments are tried for one goal.
const TRIES: usize = 256;

/// Looks for orders on top of the kept pods, for any number of goals.
#[derive(Clone, Debug)]
pub struct WitnessChain {
    s: Configuration,
    order: Vec<Atom>,
    tries: usize,
    /// The pod types that can be witnesses, for each pod and condition.
    witnesses: HashMap<(PodId, usize), Vec<PodId>>,
}

impl WitnessChain {
    /// For this cluster and these kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self { s: (*problem.kept).clone(), order: Vec::new(), tries: 0, witnesses: HashMap::new() }
    }

    /// Deployments, one after the other, that end with `goal`.
    pub fn order(&mut self, problem: &Problem, goal: Atom) -> Option<Vec<Atom>> {
        self.tries = TRIES;
        let found = self.place(problem, goal, DEPTH);
        let order = self.order.clone();
        self.undo(0);
        found.then_some(order)
    }

    fn undo(&mut self, length: usize) {
        while self.order.len() > length {
            let atom = self.order.pop().expect("it is longer than that");
            self.s.remove(atom);
        }
    }

    /// Deploys an atom, after witnesses that it needs; leaves nothing behind if that fails.
    fn place(&mut self, problem: &Problem, atom @ (pod, node): Atom, depth: usize) -> bool {
        cancel::poll();
        let m = &*problem.model;
        // A pod that waits is charged until it is bound, which may be in the way of its witnesses: a search has to say.
        if self.tries == 0 || !m.placeable(pod, node) || m.consumed(pod).is_some() {
            return false;
        }
        self.tries -= 1;
        let condition = match obstacle(m, &self.s, atom) {
            None => {
                self.s.add(atom);
                self.order.push(atom);
                return true;
            }
            Some(Obstacle::NoWitness(condition)) if depth > 0 => condition,
            Some(_) => return false,
        };
        let mark = self.order.len();
        for witness in self.witnesses(problem, pod, condition) {
            for &at in nodes_near(m, atom, condition) {
                if self.tries == 0 {
                    return false;
                }
                if self.place(problem, (witness, at), depth - 1) && self.place(problem, atom, depth - 1) {
                    return true;
                }
                self.undo(mark);
            }
        }
        false
    }

    /// The pod types that can be witnesses of a condition.
    fn witnesses(&mut self, problem: &Problem, pod: PodId, condition: usize) -> Vec<PodId> {
        let can_be_made = |witness: &PodId| problem.model.pod(*witness).barred.is_none();
        let witnesses = || witnesses_of(problem, pod, condition).into_iter().filter(can_be_made).collect();
        self.witnesses.entry((pod, condition)).or_insert_with(witnesses).clone()
    }
}
