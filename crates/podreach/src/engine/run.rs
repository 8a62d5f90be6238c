//! Runs of a system, made into traces of the whole problem.
//!
//! A run says which deployments to make and what each needs. The trace keeps everything else for as long as it can: before a
//! deployment it deletes just what a rule says is in the way, and nothing that the rest of the run needs.

use podreach_core::rule::{Refusal, first_refusal, fit, port};
use podreach_core::{Action, Atom, Configuration, Model, NodeId, PodId, Problem, Semantics, Trace};

use super::group::{Group, count};
use super::system::System;

/// Deployments that lead from the start to a goal.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The deployments, in order.
    pub steps: Vec<Step>,
    /// What is there after the last, at least.
    pub reaches: Group,
}

/// One deployment of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule that makes it.
    pub rule: usize,
    /// What is there before it: with just that (and the kept pods) the guard holds.
    pub needs: Group,
}

/// Makes traces for one cluster and start, for any number of goals.
#[derive(Clone, Debug)]
pub struct Tracing {
    problem: Problem,
    s: Configuration,
}

/// What a deployment needs of what is there besides the kept pods.
#[derive(Clone, Copy)]
enum Needs<'a> {
    /// Nothing.
    Nothing,
    /// These pods.
    Pods(&'a Configuration),
    /// So many of each class.
    Classes(&'a System, &'a Group),
}

impl Tracing {
    /// For this cluster, start and kept pods.
    pub fn new(problem: &Problem) -> Self {
        Self { problem: problem.clone(), s: (*problem.start).clone() }
    }

    /// The trace that deploys one atom which the kept pods alone allow.
    pub fn single(&mut self, atom: Atom) -> Trace {
        self.trace([(atom, Needs::Nothing)].into_iter())
    }

    /// The trace that deploys these atoms one after the other and keeps them all.
    pub fn sequence(&mut self, atoms: &[Atom]) -> Trace {
        let before: Vec<Configuration> =
            (0..atoms.len()).map(|count| atoms[..count].iter().map(|&atom| (atom, 1)).collect()).collect();
        self.trace(atoms.iter().zip(&before).map(|(&atom, before)| (atom, Needs::Pods(before))))
    }

    /// The trace of a run.
    pub fn of_run(&mut self, system: &System, run: &Run) -> Trace {
        self.trace(run.steps.iter().map(|step| (system.rules[step.rule].deploys, Needs::Classes(system, &step.needs))))
    }

    fn trace<'a>(&mut self, deployments: impl Iterator<Item = (Atom, Needs<'a>)>) -> Trace {
        let mut actions = Vec::new();
        for ((pod, node), needs) in deployments {
            while let Some(obstacle) = self.obstacle(pod, node, needs) {
                self.s.remove(obstacle);
                actions.push(Action::Delete(obstacle.0, obstacle.1));
            }
            self.s.add((pod, node));
            actions.push(Action::Deploy(pod, node));
        }
        for &action in actions.iter().rev() {
            match action {
                Action::Deploy(pod, node) => self.s.remove((pod, node)),
                Action::Delete(pod, node) => self.s.add((pod, node)),
            }
        }
        Trace(actions)
    }

    /// A pod to delete before `pod` can be deployed on `node`; `None` when nothing is in the way (or nothing can be done).
    fn obstacle(&self, pod: PodId, node: NodeId, needs: Needs<'_>) -> Option<Atom> {
        let (_, refusal) = first_refusal(&self.problem.model, &self.s, pod, node)?;
        let culprits = culprits(&self.problem.model, &self.s, pod, node, &refusal);
        let spare = |&atom: &Atom| self.is_spare(atom, needs);
        culprits.into_iter().find(spare).or_else(|| self.s.iter().map(|(atom, _)| atom).find(spare))
    }

    /// Whether an instance may be deleted and the run does not need it.
    fn is_spare(&self, atom: Atom, needs: Needs<'_>) -> bool {
        let free = |atom| self.s.count(atom) - self.problem.kept.count(atom);
        let needed = match needs {
            Needs::Nothing => 0,
            Needs::Pods(pods) => pods.count(atom),
            Needs::Classes(system, group) => {
                let Some(class) = system.class(atom) else { return free(atom) > 0 };
                let members = system.classes[class as usize].iter().filter(|&&member| member != atom);
                let others = members.map(|&member| free(member)).fold(0, u64::saturating_add);
                count(group, class).saturating_sub(others)
            }
        };
        free(atom) > needed
    }
}

/// Pods whose deletion works towards lifting a refusal, the best choice first.
fn culprits(m: &Model, s: &Configuration, pod: PodId, node: NodeId, refusal: &Refusal) -> Vec<Atom> {
    let all = || s.iter().map(|(atom, _)| atom);
    match *refusal {
        Refusal::PortTaken { .. } => {
            s.on(node).map(|(q, _)| (q, node)).filter(|&(q, _)| port::conflict(m, pod, q)).collect()
        }
        Refusal::Insufficient { resource, requested, used, allocatable } => {
            let excess = used.saturating_add(requested).saturating_sub(allocatable);
            let mut users: Vec<Atom> = s.on(node).map(|(q, _)| (q, node)).collect();
            users.retain(|&(q, _)| fit::weight(m, q, resource) > 0);
            // The smallest pod that is large enough; if there is none, the largest.
            users.sort_by_key(|&(q, _)| {
                let weight = fit::weight(m, q, resource);
                if weight >= excess { (false, weight) } else { (true, u128::MAX - weight) }
            });
            users
        }
        Refusal::Skew { constraint, .. } => {
            let spread = m.pod(pod).spread[constraint];
            all().filter(|&(q, at)| m.share(spread.key, at, node) && m.sees(spread.matcher, q, at)).collect()
        }
        Refusal::NoWitness(term) => {
            let terms = &m.pod(pod).affinity;
            let terms = if m.semantics() == Semantics::Paper { &terms[term..=term] } else { terms };
            all().filter(|&(q, at)| terms.iter().all(|term| m.sees(term.matcher, q, at))).collect()
        }
        Refusal::Repels { resident, at, .. } | Refusal::RepelledBy { resident, at, .. } => vec![(resident, at)],
        Refusal::LimitReached(limit) => {
            let limit = &m.cluster().limits[limit];
            let counts = |&(q, at): &Atom| limit.pods.contains(&q) && (!limit.per_node || at == node);
            all().filter(counts).collect()
        }
        _ => Vec::new(),
    }
}
