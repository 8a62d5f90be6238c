//! The obvious way: deploy a witness, then the pod.
//!
//! In most clusters a pod that waits for another can be deployed once that other is there, and nothing gets in the way. Looking for
//! such an order takes no compiled system and no search to speak of, so it comes first; where it fails, nothing is concluded.

use std::collections::HashMap;

use podreach_core::cancel;
use podreach_core::cluster::Term;
use podreach_core::rule::{Refusal, first_refusal};
use podreach_core::{Atom, Configuration, PodId, Problem, Semantics};

/// How long a chain of witnesses may be.
const DEPTH: usize = 4;

/// How many deployments are tried for one goal.
const TRIES: usize = 256;

/// Looks for orders on top of the kept pods, for any number of goals.
#[derive(Clone, Debug)]
pub struct Greedy {
    s: Configuration,
    order: Vec<Atom>,
    tries: usize,
    /// The pod types that may be friends by their labels, for each pod and, under the paper, each term.
    friends: HashMap<(PodId, usize), Vec<PodId>>,
}

impl Greedy {
    /// For this cluster and these kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self { s: (*problem.kept).clone(), order: Vec::new(), tries: 0, friends: HashMap::new() }
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
    fn place(&mut self, problem: &Problem, (pod, node): Atom, depth: usize) -> bool {
        cancel::poll();
        let m = &*problem.model;
        if self.tries == 0 || !m.placeable(pod, node) {
            return false;
        }
        self.tries -= 1;
        let term = match first_refusal(m, &self.s, pod, node) {
            None => {
                self.s.add((pod, node));
                self.order.push((pod, node));
                return true;
            }
            Some((_, Refusal::NoWitness(term))) if depth > 0 => term,
            Some(_) => return false,
        };
        let mark = self.order.len();
        for friend in self.friends(problem, pod, term) {
            for &at in m.neighbours(m.pod(pod).affinity[term].key, node) {
                if self.tries == 0 {
                    return false;
                }
                if self.place(problem, (friend, at), depth - 1) && self.place(problem, (pod, node), depth - 1) {
                    return true;
                }
                self.undo(mark);
            }
        }
        false
    }

    /// The pod types that a term's friends can be of, by their labels.
    fn friends(&mut self, problem: &Problem, pod: PodId, term: usize) -> Vec<PodId> {
        let m = &*problem.model;
        let terms: &[Term] = match m.semantics() {
            Semantics::Paper => &m.pod(pod).affinity[term..=term],
            Semantics::KubeScheduler => &m.pod(pod).affinity,
        };
        let matches = |q: PodId| terms.iter().all(|t| m.depends_on_node(t.matcher) || m.sees_unbound(t.matcher, q));
        self.friends
            .entry((pod, term))
            .or_insert_with(|| problem.pods().filter(|&q| q != pod && matches(q)).collect())
            .clone()
    }
}
