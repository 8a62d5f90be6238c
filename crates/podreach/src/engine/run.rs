//! Runs of a system, made into traces of the whole problem.
//!
//! A run says which deployments to make and what each needs. The trace keeps everything else for as long as it can: before a
//! deployment it deletes just what a rule says is in the way, and nothing that the rest of the run needs.

use podreach_core::id::MatcherId;
use podreach_core::resource::Amount;
use podreach_core::rule::{Refusal, first_refusal, fit, port, quota, volume_limits, volume_restrictions};
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

impl Run {
    /// The run from a goal that the start meets, back along its parents: each is reached from its child by a rule.
    pub fn from_start<'g>(mut at: usize, goal: impl Fn(usize) -> (&'g Group, Option<(usize, usize)>)) -> Self {
        let mut steps = Vec::new();
        loop {
            let (group, parent) = goal(at);
            let Some((parent, rule)) = parent else { return Self { steps, reaches: group.clone() } };
            steps.push(Step { rule, needs: group.clone() });
            at = parent;
        }
    }
}

/// Makes traces for one cluster and start, for any number of goals.
#[derive(Clone, Debug)]
pub struct Tracing {
    problem: Problem,
    s: Configuration,
}

/// How far ahead a run is searched for a step whose needs are met already, unless it is so long that nobody will read it.
const LOOK_AHEAD: usize = 64;
const LONG: usize = 10_000;

/// What a deployment needs of what is there besides the kept pods.
#[derive(Clone, Copy)]
enum Needs<'a> {
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
        self.sequence(&[atom])
    }

    /// The trace that deploys these atoms one after the other and keeps them all.
    pub fn sequence(&mut self, atoms: &[Atom]) -> Trace {
        let (mut before, mut actions) = (Configuration::new(), Vec::new());
        for &atom in atoms {
            self.deploy(atom, Needs::Pods(&before), &mut actions);
            before.add(atom);
        }
        self.finish(actions)
    }

    /// The trace of a run. What is there already need not be deployed: the trace goes on at the latest step whose needs are met.
    pub fn of_run(&mut self, system: &System, run: &Run) -> Trace {
        let (mut actions, mut at) = (Vec::new(), 0);
        let look_ahead = if run.steps.len() <= LONG { LOOK_AHEAD } else { 1 };
        while !self.has(system, &run.reaches) {
            let ahead = run.steps.len().min(at + look_ahead);
            at = (at..ahead).rev().find(|&step| self.has(system, &run.steps[step].needs)).unwrap_or(at);
            let Some(Step { rule, needs }) = run.steps.get(at) else { break };
            self.deploy(system.rules[*rule].deploys, Needs::Classes(system, needs), &mut actions);
            at += 1;
        }
        self.finish(actions)
    }

    /// Whether there is enough of each class besides the kept pods.
    fn has(&self, system: &System, group: &Group) -> bool {
        group.iter().all(|&(class, needed)| {
            let there = system.classes[class as usize].iter().map(|&member| self.free(member));
            there.fold(0, u64::saturating_add) >= needed
        })
    }

    fn free(&self, atom: Atom) -> u64 {
        self.s.count(atom) - self.problem.kept.count(atom)
    }

    /// Deletes what is in the way of an atom, and deploys it.
    fn deploy(&mut self, (pod, node): Atom, needs: Needs<'_>, actions: &mut Vec<Action>) {
        while let Some(obstacle) = self.obstacle(pod, node, needs) {
            self.s.remove(obstacle);
            actions.push(Action::Delete(obstacle.0, obstacle.1));
        }
        self.s.add((pod, node));
        actions.push(Action::Deploy(pod, node));
    }

    /// Goes back to the start.
    fn finish(&mut self, actions: Vec<Action>) -> Trace {
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
        let needed = match needs {
            Needs::Pods(pods) => pods.count(atom),
            Needs::Classes(system, group) => {
                let Some(class) = system.class(atom) else { return self.free(atom) > 0 };
                let members = system.classes[class as usize].iter().filter(|&&member| member != atom);
                let others = members.map(|&member| self.free(member)).fold(0, u64::saturating_add);
                count(group, class).saturating_sub(others)
            }
        };
        self.free(atom) > needed
    }
}

/// Pods whose deletion works towards lifting a refusal, the best choice first.
fn culprits(m: &Model, s: &Configuration, pod: PodId, node: NodeId, refusal: &Refusal) -> Vec<Atom> {
    match *refusal {
        Refusal::PortTaken { .. } => {
            s.on(node).map(|(q, _)| (q, node)).filter(|&(q, _)| port::conflict(m, pod, q)).collect()
        }
        Refusal::Insufficient { resource, requested, used, allocatable } => {
            let excess = used.saturating_add(requested).saturating_sub(allocatable);
            smallest_enough(s.on(node).map(|(q, _)| (q, node)).collect(), excess, |q| fit::weight(m, q, resource))
        }
        Refusal::Skew { constraint, .. } => {
            let spread = m.pod(pod).spread[constraint];
            let matchers = [spread.matcher];
            let matching = matching(m, s, &matchers);
            matching.filter(|&(_, at)| m.share(spread.key, at, node)).collect()
        }
        Refusal::NoWitness(term) => {
            let terms = &m.pod(pod).affinity;
            let terms = if m.semantics() == Semantics::Paper { &terms[term..=term] } else { terms };
            let matchers: Vec<MatcherId> = terms.iter().map(|term| term.matcher).collect();
            matching(m, s, &matchers).collect()
        }
        Refusal::Repels { resident, at, .. } | Refusal::RepelledBy { resident, at, .. } => vec![(resident, at)],
        Refusal::DiskTaken { .. } => {
            let users = s.on(node).map(|(q, _)| (q, node));
            users.filter(|&(q, _)| volume_restrictions::disks_conflict(m, pod, q)).collect()
        }
        Refusal::ClaimTaken { holder, at, .. } => vec![(holder, at)],
        Refusal::VolumeLimit { driver, .. } => {
            let own = volume_limits::shared(m, pod, driver);
            let fills = |q: PodId| {
                volume_limits::private(m, q, driver) > 0 || !volume_limits::shared(m, q, driver).is_subset(&own)
            };
            s.on(node).map(|(q, _)| (q, node)).filter(|&(q, _)| fills(q)).collect()
        }
        Refusal::QuotaExceeded { quota, asked, used } => {
            let excess = used.saturating_add(asked).saturating_sub(m.cluster().quotas[quota].hard);
            let users = m.pods().filter(|&q| quota::weight(m, q, quota) > 0);
            let running = users.flat_map(|q| s.of(q).map(move |(at, _)| (q, at))).collect();
            smallest_enough(running, excess, |q| quota::weight(m, q, quota))
        }
        Refusal::LimitReached(limit) => {
            let limit = &m.cluster().limits[limit];
            let running = limit.pods.iter().flat_map(|&q| s.of(q).map(move |(at, _)| (q, at)));
            running.filter(|&(_, at)| !limit.per_node || at == node).collect()
        }
        _ => Vec::new(),
    }
}

/// Those of the pods that weigh something: the lightest that is heavy enough first; if there is none, the heaviest.
fn smallest_enough(mut users: Vec<Atom>, excess: Amount, weight: impl Fn(PodId) -> Amount) -> Vec<Atom> {
    users.retain(|&(q, _)| weight(q) > 0);
    users.sort_by_key(|&(q, _)| {
        let weight = weight(q);
        if weight >= excess { (false, weight) } else { (true, Amount::MAX - weight) }
    });
    users
}

/// The running pods that all `matchers` see, found through the pod types: there are far fewer of those.
fn matching<'a>(m: &'a Model, s: &'a Configuration, matchers: &'a [MatcherId]) -> impl Iterator<Item = Atom> + 'a {
    let may_match =
        |q: &PodId| matchers.iter().all(|&matcher| m.depends_on_node(matcher) || m.sees_unbound(matcher, *q));
    let running = m.pods().filter(may_match).flat_map(|q| s.of(q).map(move |(at, _)| (q, at)));
    running.filter(|&(q, at)| matchers.iter().all(|&matcher| m.sees(matcher, q, at)))
}
