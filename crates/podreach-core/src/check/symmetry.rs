//! Nodes that can be exchanged: what is decided for one of them holds for all.
//!
//! An exchange `π` of nodes is a *symmetry* if the nodes it moves look alike, it maps the domains of every topology key to domains,
//! and it changes nothing about the kept pods. Then `s –a→ s'` iff `π s –π a→ π s'`. The nodes that some symmetries lead to from `n`
//! are the *orbit* of `n`. The start need not be symmetric, so an answer is found for one that is, on the safe side:
//!
//! ```text
//! below  =  of each pod type, what all nodes of an orbit have          below ≤ start
//! above  =  of each pod type that can matter to p, what some node      start ≤ above, as far as it can matter to p and but for
//!           of an orbit has; nothing of p on n                         nodes where p runs
//!
//! (p, n) can be reached from below     ⟹  from start, on every node of the orbit of n
//! (p, n) cannot be reached from above  ⟹  nor from start, on any node of the orbit of n where p does not run
//! ```
//! Types that cannot matter to `p` are those that no affinity or spread of `p`, or of a type that matters, sees, and that attach no
//! volume for it: whatever they do, they can only be in the way, and a run to `p` is still one without them.
//!
//! A proof with exchanges says this of a whole goal at once; see [`Orbits`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use super::orbits::{Orbits, helping};
use super::{Checker, Flaw};
use crate::cancel;
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{KeyId, NodeId, PodId};
use crate::model::Model;
use crate::rule::first_refusal;
use crate::step::Problem;
use crate::trace::Trace;
pub use crate::verdict::Exchange;
use crate::verdict::{Proof, Verdict};

/// Symmetries of a problem that were verified, and what follows from them.
#[derive(Clone, Debug)]
pub struct Symmetry {
    problem: Problem,
    orbits: Orbits,
    below: Problem,
    checker: Checker,
}

/// An answer that holds for a pod type on every node of an orbit where it does not run already. Only the checker makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Everywhere {
    deployable: bool,
}

impl Everywhere {
    /// Whether the pod can be deployed there.
    pub fn is_deployable(self) -> bool {
        self.deployable
    }
}

impl Symmetry {
    /// What follows from those of the proposed exchanges that are symmetries of the problem.
    pub fn new(problem: &Problem, proposed: impl IntoIterator<Item = Exchange>) -> Self {
        let exchanges: Vec<Exchange> = proposed.into_iter().filter(|exchange| is_symmetry(problem, exchange)).collect();
        let orbits = Orbits::verified(problem, &exchanges);
        let start = Arc::new(common(problem, &orbits));
        let below = Problem { start, ..problem.with_goal(Goal::default()) };
        Self { checker: Checker::new(&below), problem: problem.clone(), orbits, below }
    }

    /// The orbits, each in the order of its nodes.
    pub fn orbits(&self) -> &[Vec<NodeId>] {
        self.orbits.all()
    }

    /// The orbit of a node, by its number.
    pub fn orbit(&self, node: NodeId) -> usize {
        self.orbits.of(node)
    }

    /// The problem with a symmetric start below the real one.
    pub fn below(&self) -> &Problem {
        &self.below
    }

    /// The problem with a symmetric start that is above the real one as far as it can matter to an atom.
    pub fn above(&self, (pod, node): Atom) -> Problem {
        let mut start = self.orbits.most(&self.problem, [pod]);
        start.set((pod, node), self.problem.kept.count((pod, node)));
        Problem { start: Arc::new(start), ..self.problem.with_goal(Goal::atom((pod, node))) }
    }

    /// What a pod, nodes that stand for their orbits and the kept pods settle by themselves: a refusal that more pods do not lift; or no
    /// refusal, since everything else can be deleted and every node can settle. `None` where other pods matter, or how many wait.
    pub fn settled(
        &self,
        pod: PodId,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> impl Iterator<Item = Option<Everywhere>> {
        let (m, kept) = (&*self.problem.model, &self.problem.kept);
        let by_itself = kept.is_empty() && is_by_itself(m, pod);
        // A pod that waits is bound only as often as it waits.
        let unlimited = m.consumed(pod).is_none();
        cancel::polled(nodes).map(move |node| {
            let deployable = match by_itself {
                _ if !m.placeable(pod, node) => false,
                true => m.is_roomy(pod, node),
                false => match first_refusal(m, kept, pod, node) {
                    None => true,
                    Some((_, refusal)) if refusal.is_final() => false,
                    Some(_) => return None,
                },
            };
            (!deployable || unlimited).then_some(Everywhere { deployable })
        })
    }

    /// Accepts a trace from [`Symmetry::below`] to an atom for the orbit of its node.
    pub fn deployable(&mut self, atom: Atom, trace: Trace) -> Result<Everywhere, Flaw> {
        self.checker.check_plainly(&Goal::atom(atom), Verdict::Deployable(trace), &|| false)?;
        Ok(Everywhere { deployable: true })
    }

    /// Accepts a proof about [`Symmetry::above`] of an atom for the orbit of its node.
    pub fn never(&self, atom: Atom, proof: Proof, stop: &dyn Fn() -> bool) -> Result<Everywhere, Flaw> {
        let above = self.above(atom);
        Checker::new(&above).check_plainly(&above.goal, Verdict::Never(proof), stop)?;
        Ok(Everywhere { deployable: false })
    }
}

/// Whether a node that passes the static filters refuses a pod, while nothing runs anywhere, for want of room and nothing else: the pod
/// needs no other one, and is counted nowhere.
fn is_by_itself(m: &Model, pod: PodId) -> bool {
    let spec = m.pod(pod);
    spec.affinity.is_empty()
        && spec.spread.is_empty()
        && spec.mounts.claims.is_empty()
        && spec.mounts.disks.is_empty()
        && spec.quota.is_empty()
        && !m.cluster().limits.iter().any(|limit| limit.pods.contains(&pod))
}

/// Whether an exchange is a symmetry of a problem.
pub fn is_symmetry(problem: &Problem, exchange: &Exchange) -> bool {
    cancel::poll();
    let m = &problem.model;
    let mut nodes = exchange.iter().flat_map(|&(from, to)| [from, to]);
    let moved: BTreeMap<NodeId, NodeId> = exchange.iter().copied().collect();
    let images: BTreeSet<NodeId> = moved.values().copied().collect();
    nodes.all(|node| m.cluster().nodes.get(node).is_some())
        && moved.len() == exchange.len()
        && moved.keys().eq(&images)
        && moved.iter().all(|(&from, &to)| m.look_alike(from, to) && problem.kept.on(from).eq(problem.kept.on(to)))
        && m.cluster().keys.entries().ids().all(|key| keeps_domains(m, key, &moved))
}

/// Whether every domain is mapped to a domain: what moves of it goes to one of the same size, and if some of it stays, to itself.
fn keeps_domains(m: &Model, key: KeyId, moved: &BTreeMap<NodeId, NodeId>) -> bool {
    let mut targets = BTreeMap::new();
    for (&from, &to) in moved {
        match (m.domain(key, from), m.domain(key, to)) {
            (None, None) => {}
            (Some(domain), Some(target)) => {
                let (one, members) = targets.entry(domain).or_insert((target, 0));
                *members += 1;
                if *one != target {
                    return false;
                }
            }
            _ => return false,
        }
    }
    targets.into_iter().all(|(domain, (target, moved))| {
        let size = m.members(domain).len();
        size == m.members(target).len() && (moved == size || target == domain)
    })
}

/// What all nodes of an orbit have of each pod type; the kept pods are.
fn common(problem: &Problem, orbits: &Orbits) -> Configuration {
    let mut least = BTreeMap::<(PodId, usize), (usize, u64)>::new();
    let (waiting, running): (Vec<_>, Vec<_>) =
        problem.start.iter().partition(|&((_, node), _)| node == NodeId::NOWHERE);
    for ((pod, node), count) in running {
        let (nodes, fewest) = least.entry((pod, orbits.of(node))).or_insert((0, u64::MAX));
        *nodes += 1;
        *fewest = count.min(*fewest);
    }
    let orbits = orbits.all();
    let whole = least.into_iter().filter(|&((_, orbit), (nodes, _))| nodes == orbits[orbit].len());
    let whole =
        whole.flat_map(|((pod, orbit), (_, count))| orbits[orbit].iter().map(move |&node| ((pod, node), count)));
    whole.chain(waiting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Semantics;
    use crate::testing::{Rng, Shape, cases, problem, reachable};

    /// With every node in an orbit of its own, so that each answer is about one pair.
    #[test]
    fn what_is_settled_is_what_can_be_reached() {
        let (mut rng, mut said) = (Rng::new(79), [0; 3]);
        for case in 0..cases(1_500) {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = Shape::small(semantics);
            let mut problem = problem(&mut rng, if case % 3 == 0 { shape.with_volumes() } else { shape });
            if case % 2 == 0 {
                problem.kept = Arc::default();
            }
            let symmetry = Symmetry::new(&problem, []);
            let Some(all) = reachable(&problem, 50_000) else { continue };
            for pod in problem.model.pods() {
                let settled = symmetry.settled(pod, problem.model.nodes());
                for (node, found) in problem.model.nodes().zip(settled) {
                    let Some(found) = found.filter(|_| problem.start.count((pod, node)) == 0) else {
                        said[2] += 1;
                        continue;
                    };
                    let there = all.iter().any(|s| s.count((pod, node)) > 0);
                    assert_eq!(found.is_deployable(), there, "case {case}: {problem:#?}");
                    said[usize::from(there)] += 1;
                }
            }
        }
        assert!(said.iter().all(|&count| count > 100), "{said:?}");
    }
}
