//! Runs of a system, made into traces of the whole problem.
//!
//! A run says which deployments to make and what each needs. The trace keeps everything else for as long as it can: before a
//! deployment it deletes just what a rule says is in the way, and nothing that the rest of the run needs.

use podreach_core::cancel;
use podreach_core::id::MatcherId;
use podreach_core::resource::Amount;
use podreach_core::rule::{Refusal, first_refusal, fit, port, quota, volume_limits, volume_restrictions};
use podreach_core::{
    Action, Atom, Changing, Configuration, Goal, Model, NodeId, PodId, Problem, Register, Running, Semantics, Trace,
};

use super::group::{self, Class, Group, count, without};
use super::ledger;
use super::shorten::shortened;
use super::system::{Rule, System};

/// Deployments that lead from the start to a goal, with what each needs.
///
/// Runs can be very long, and what one step needs differs little from what the next one does; so only the difference is kept.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Each deployment: its rule, doubled, and then what it needs and no later one does: for each pod its class, doubled, and one more.
    tape: Vec<u32>,
    /// What is needed before the first: with just that (and the kept pods) its guard holds.
    needs: Group,
    /// What is there after the last, at least.
    reaches: Group,
}

/// A run as lists of numbers.
pub type Parts = (Vec<u32>, Group, Group);

impl Run {
    /// How many deployments it makes.
    pub fn len(&self) -> usize {
        self.tape.iter().filter(|&&entry| entry & 1 == 0).count()
    }

    /// How many bytes it takes together with its trace, about: most deployments go with a deletion.
    pub fn bytes(&self) -> usize {
        self.len().saturating_mul(2).saturating_add(self.tape.len()).saturating_mul(size_of::<u32>())
    }

    /// A run that ends here, to be made from its end: for each deployment first what is not needed after it, then its rule.
    pub fn to(goal: Group) -> Self {
        Self { reaches: goal, ..Self::default() }
    }

    /// The deployment that is now made needs a pod of this class, and nothing later does.
    pub fn drop_after(&mut self, class: Class) {
        self.tape.push(class << 1 | 1);
    }

    /// One more deployment, before all others so far.
    pub fn push(&mut self, rule: usize) {
        self.tape.push((rule as u32) << 1);
    }

    /// Turns a run that was made from its end around, where these pods are needed at first.
    pub fn reverse(&mut self, needs: Group) {
        self.tape.reverse();
        self.needs = needs;
    }

    /// The run from a goal that the start meets, back along its parents: each is reached from its child by a rule.
    pub fn from_start<'g>(
        system: &System,
        mut at: usize,
        goal: impl Fn(usize) -> (&'g Group, Option<(usize, usize)>),
    ) -> Self {
        let mut run = Self { needs: goal(at).0.clone(), ..Self::default() };
        loop {
            let (group, parent) = goal(at);
            let Some((parent, rule)) = parent else { return Self { reaches: group.clone(), ..run } };
            run.push(rule);
            let later = without(goal(parent).0, system.rules[rule].head);
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

    /// A run that was written down; it may be of anything.
    pub fn from_parts((tape, needs, reaches): Parts) -> Self {
        Self { tape, needs, reaches }
    }

    /// What is there after the last deployment, at least.
    pub fn reaches(&self) -> &Group {
        &self.reaches
    }

    /// Whether its numbers are rules and classes of a system, a rule first.
    pub fn is_whole(&self, system: &System) -> bool {
        let bound = |entry: u32| if entry & 1 == 0 { system.rules.len() } else { system.classes.len() };
        let begins = self.tape.first().is_none_or(|&entry| entry & 1 == 0);
        begins && self.tape.iter().all(|&entry| ((entry >> 1) as usize) < bound(entry))
    }

    /// The rule of each deployment, and what it needs that no later one does.
    pub fn deployments(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = Class>)> {
        let deployments = self.tape.chunk_by(|_, next| next & 1 == 1);
        deployments.map(|entries| ((entries[0] >> 1) as usize, entries[1..].iter().map(|&entry| entry >> 1)))
    }

    /// The rule of each of the deployments, and all that it needs.
    fn with_needs(&self, system: &System) -> Vec<(usize, Group)> {
        let mut needs = self.needs.clone();
        let whole = self.deployments().map(|(rule, drops)| {
            let here = needs.clone();
            drops.for_each(|class| group::remove(&mut needs, class));
            group::add(&mut needs, system.rules[rule].head);
            (rule, here)
        });
        whole.collect()
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
const LONG: usize = 1_000;

/// So many steps are worth a register of what runs.
const MANY: usize = 64;

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
        let (mut before, mut stage) = (Configuration::new(), Stage::new(&self.problem, &mut self.s));
        for &atom in atoms {
            stage.deploy(atom, Needs::Pods(&before));
            before.add(atom);
        }
        stage.cleared()
    }

    /// The trace that deploys these atoms one after the other, each where the one before it is; the first may run already.
    pub fn relay(&mut self, atoms: &[Atom]) -> Trace {
        let (mut before, mut stage) = (Configuration::new(), Stage::new(&self.problem, &mut self.s));
        for (at, &atom) in atoms.iter().enumerate() {
            if at > 0 || stage.free(atom) == 0 {
                stage.deploy(atom, Needs::Pods(&before));
            }
            before = [(atom, 1)].into_iter().collect();
        }
        stage.cleared()
    }

    /// The trace of a run.
    pub fn of_run(&mut self, system: &System, run: &Run) -> Trace {
        match run.len() {
            0..MANY => Stage::new(&self.problem, &mut self.s).of_run(system, run),
            MANY..LONG => {
                let mut register = Register::new(&self.problem.model, &self.problem.start);
                Stage::new(&self.problem, &mut register).of_run(system, run)
            }
            _ => ledger::trace(&self.problem, system, run),
        }
    }

    /// The trace without steps that the goal does not need.
    pub fn shortened(&mut self, goal: &Goal, trace: Trace) -> Trace {
        if trace.len() < MANY {
            return shortened(&self.problem, goal, trace, &mut self.s);
        }
        shortened(&self.problem, goal, trace, &mut Register::new(&self.problem.model, &self.problem.start))
    }
}

/// Where a trace is made: what runs, and the steps so far.
struct Stage<'a, S> {
    problem: &'a Problem,
    s: &'a mut S,
    actions: Vec<Action>,
}

impl<'a, S: Changing> Stage<'a, S> {
    /// At the start, which `s` holds.
    fn new(problem: &'a Problem, s: &'a mut S) -> Self {
        Self { problem, s, actions: Vec::new() }
    }

    /// The trace of a run. What is there already need not be deployed: the trace goes on at the latest step whose needs are met.
    fn of_run(mut self, system: &System, run: &Run) -> Trace {
        let (steps, mut at) = (run.with_needs(system), 0);
        while !self.has(system, &run.reaches) {
            let ahead = steps.len().min(at + LOOK_AHEAD);
            at = (at..ahead).rev().find(|&step| self.has(system, &steps[step].1)).unwrap_or(at);
            let Some((rule, needs)) = steps.get(at) else { break };
            let Rule { deploys: atom @ (pod, node), consumes, .. } = system.rules[*rule];
            match self.problem.model.shadowed(pod).filter(|_| consumes.is_some()) {
                Some(base) => self.terminate((base, node)),
                None => self.deploy(atom, Needs::Classes(system, needs)),
            }
            at += 1;
        }
        self.cleared()
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

    /// Begins to delete a pod.
    fn terminate(&mut self, (pod, node): Atom) {
        let Some(shadow) = self.problem.model.shadow(pod).filter(|_| self.free((pod, node)) > 0) else { return };
        self.s.remove((pod, node));
        self.s.add((shadow, node));
        self.actions.push(Action::Terminate(pod, node));
    }

    /// Deletes what is in the way of an atom, and deploys it; what is being deleted is deployed as what it was before.
    fn deploy(&mut self, (pod, node): Atom, needs: Needs<'_>) {
        cancel::poll();
        if let Some(base) = self.problem.model.shadowed(pod) {
            self.deploy((base, node), needs);
            return self.terminate((base, node));
        }
        while let Some(obstacle) = self.obstacle(pod, node, needs) {
            self.s.remove(obstacle);
            self.actions.push(Action::Delete(obstacle.0, obstacle.1));
        }
        self.s.add((pod, node));
        self.actions.push(Action::Deploy(pod, node));
    }

    /// Goes back to the start; the steps are left.
    fn cleared(self) -> Trace {
        for &action in self.actions.iter().rev() {
            match action {
                Action::Deploy(pod, node) => self.s.remove((pod, node)),
                Action::Delete(pod, node) => self.s.add((pod, node)),
                Action::Terminate(pod, node) => {
                    self.s.add((pod, node));
                    self.problem.model.shadow(pod).into_iter().for_each(|shadow| self.s.remove((shadow, node)));
                }
                Action::Settle(node) => self.s.unsettle(node),
                Action::Withdraw(_) => {}
            }
        }
        self.actions.into_iter().collect()
    }

    /// A pod to delete before `pod` can be deployed on `node`; `None` when nothing is in the way (or nothing can be done).
    fn obstacle(&self, pod: PodId, node: NodeId, needs: Needs<'_>) -> Option<Atom> {
        let m = &self.problem.model;
        let (_, refusal) = first_refusal(m, &*self.s, pod, node)?;
        let culprits = culprits(m, &*self.s, pod, node, &refusal);
        let spare = |&atom: &Atom| self.is_spare(atom, needs);
        let anything = || self.s.seen(m, std::iter::empty()).map(|(q, at, _)| (q, at)).find(spare);
        culprits.into_iter().find(spare).or_else(anything)
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
fn culprits(m: &Model, s: &impl Running, pod: PodId, node: NodeId, refusal: &Refusal) -> Vec<Atom> {
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
            let users = m.every_pod().filter(|&q| quota::weight(m, q, quota) > 0);
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

/// The running pods that all `matchers` see.
fn matching<'a>(m: &'a Model, s: &'a impl Running, matchers: &'a [MatcherId]) -> impl Iterator<Item = Atom> + 'a {
    s.seen(m, matchers.iter().copied()).map(|(q, at, _)| (q, at))
}
