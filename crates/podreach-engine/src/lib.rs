//! Engines: the ways to decide a problem, and the order in which they are tried.
//!
//! An engine may be clever and wrong; the checker says so. Each works on a compiled [`System`] and knows nothing of Kubernetes.

mod ahead;
mod aim;
mod alike;
mod automorphism;
mod backward;
mod bits;
mod canonical;
mod climb;
mod decider;
mod fold;
mod form;
mod forward;
mod frontier;
mod gates;
mod greedy;
mod group;
mod hill;
mod inductive;
mod known;
mod ledger;
mod lemmas;
mod mask;
mod obligation;
mod opening;
mod pairs;
mod portfolio;
mod predecessor;
mod progress;
mod recall;
mod reduce;
mod relax;
mod relaxation;
mod rows;
mod run;
mod shorten;
mod slice;
mod strips;
pub mod symmetry;
mod system;
mod trail;
mod tree;
mod trials;
mod walk;
mod witness;

pub use podreach_core::cancel::Stop;
use podreach_core::rule::{hard, volume_limits};
use podreach_core::{
    Atom, Checked, Checker, Configuration, Flaw, Goal, Learned, Problem, Proof, Reason, Trace, Verdict,
};

use ahead::Ahead;
pub use decider::Decider;
use forward::Forward;
use greedy::Greedy;
use group::Group;
use pairs::Pairs;
pub use portfolio::Effort;
use portfolio::{Outcome, Pursuit};
pub use progress::{Progress, Seen};
pub use recall::{Forgetful, Memory, number};
use run::{Run, Tracing};
pub use system::System;
use witness::{Ended, Witnesses};

/// What limits a search.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Asked often; says when to stop.
    pub interrupt: &'a (dyn Fn() -> Option<Stop> + Sync),
    /// How many bytes a search may hold.
    pub memory: usize,
    /// How many threads it may use; answers and evidence do not depend on it.
    pub threads: usize,
    /// Where it tells how far it is, if someone watches.
    pub progress: Option<&'a Progress>,
    /// What earlier searches found, if someone remembers.
    pub known: Option<&'a dyn Memory>,
}

impl Budget<'_> {
    /// As long and as much as it takes.
    pub fn unlimited() -> Self {
        Self { interrupt: &|| None, memory: usize::MAX, threads: 1, progress: None, known: None }
    }

    fn stop(&self, bytes: usize) -> Option<Stop> {
        if bytes > self.memory { Some(Stop::Memory) } else { (self.interrupt)() }
    }
}

/// What an engine found out about a system.
#[derive(Clone, Debug)]
pub enum Found {
    /// A run to a goal.
    Reached(Run),
    /// Groups that are never present together, a goal among them.
    Never(Vec<Group>),
    /// The same, and all of them matter.
    Reduced(Vec<Group>),
    /// Everything was looked at without meeting a goal, which is no proof that others could check.
    Spent,
    /// Nothing yet.
    Stopped {
        /// Why it stopped.
        stop: Stop,
        /// What was ruled out.
        learned: Learned,
    },
}

/// A decision procedure; each is complete for what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Goal regression with least goals only.
    Backward,
    /// Frames of forbidden groups.
    Inductive,
    /// Search over maximal configurations.
    Forward,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Backward, Self::Inductive, Self::Forward];

    /// The engines that decide together, unless told otherwise.
    pub const PORTFOLIO: &'static [Self] = &[Self::Inductive, Self::Forward];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backward => "backward",
            Self::Inductive => "inductive",
            Self::Forward => "forward",
        }
    }

    /// Just this engine.
    pub fn alone(self) -> &'static [Self] {
        match self {
            Self::Backward => &[Self::Backward],
            Self::Inductive => &[Self::Inductive],
            Self::Forward => &[Self::Forward],
        }
    }

    fn pursuit<'a>(self, system: &'a System, pairs: &'a Pairs) -> Box<dyn Pursuit + Send + 'a> {
        match self {
            Self::Backward => Box::new(backward::Backward::new(system, pairs)),
            Self::Inductive => Box::new(inductive::Inductive::new(system, pairs)),
            Self::Forward => Box::new(Ahead::new(system)),
        }
    }
}

/// A checked verdict and how it came about.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The verdict.
    pub checked: Checked,
    /// The engine that gave it.
    pub engine: &'static str,
    /// What each part of the search did; nothing where none was needed. The same on any number of threads.
    pub efforts: Vec<Effort>,
}

impl Decision {
    /// That a question was given up.
    pub fn stopped(problem: Problem, stop: Stop) -> Self {
        let checked = Checked::unknown(problem, reason(stop, Learned::default()));
        Self { checked, engine: "none", efforts: Vec::new() }
    }
}

/// A verdict that is not checked yet.
struct Claim {
    verdict: Verdict,
    engine: &'static str,
    efforts: Vec<Effort>,
}

impl Claim {
    fn at_once(verdict: Verdict, engine: &'static str) -> Self {
        Self { verdict, engine, efforts: Vec::new() }
    }

    /// The decision, once a check accepts the claim; *unknown* if it does not.
    fn decision(
        self,
        problem: &Problem,
        goal: &Goal,
        budget: &Budget<'_>,
        check: impl FnOnce(Verdict, &dyn Fn() -> bool) -> Result<Checked, Flaw>,
    ) -> Decision {
        let Self { verdict, engine, efforts } = self;
        let refused = |flaw: Flaw| match flaw {
            Flaw::Stopped => reason((budget.interrupt)().unwrap_or(Stop::Timeout), Learned::default()),
            flaw => Reason::Rejected { engine: engine.into(), flaw: flaw.to_string() },
        };
        let checked = check(verdict, &|| (budget.interrupt)().is_some());
        let checked = checked.unwrap_or_else(|flaw| Checked::unknown(problem.asking(goal), refused(flaw)));
        Decision { checked, engine, efforts }
    }
}

/// Decides any number of goals about one cluster and start, every type and every node as it is there.
#[derive(Clone, Debug)]
pub struct Search {
    problem: Problem,
    tracing: Tracing,
    greedy: Greedy,
    witnesses: Witnesses,
    checker: Checker,
    engines: &'static [Engine],
}

impl Search {
    /// For this cluster, start and kept pods; the problem's own goal plays no part.
    pub fn new(problem: &Problem) -> Self {
        Self {
            problem: problem.clone(),
            tracing: Tracing::new(problem),
            greedy: Greedy::new(problem),
            witnesses: Witnesses::new(problem),
            checker: Checker::new(problem),
            engines: Engine::PORTFOLIO,
        }
    }

    /// The same, with these engines only.
    #[must_use]
    pub fn with_engines(mut self, engines: &'static [Engine]) -> Self {
        self.engines = engines;
        self
    }

    /// Decides a goal and checks the evidence.
    pub fn decide(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        let decision = self.decide_as_known(goal, budget);
        match decision.checked.verdict() {
            // Whoever remembers may be wrong.
            Verdict::Unknown(Reason::Rejected { .. }) if budget.known.is_some() => {
                self.decide_as_known(goal, &Budget { known: None, ..*budget })
            }
            _ => decision,
        }
    }

    fn decide_as_known(&mut self, asked: &Goal, budget: &Budget<'_>) -> Decision {
        let meant = &self.problem.meant(asked);
        if let Some(decision) = self.decide_one_of_each(meant, budget) {
            return decision;
        }
        let mut claim = self.claim(meant, budget);
        // What is asked for may terminate, but need not.
        if let Verdict::Deployable(trace) = claim.verdict {
            claim.verdict = Verdict::Deployable(self.tracing.shortened(asked, trace));
        }
        self.checked(asked, claim, budget)
    }

    fn claim(&mut self, goal: &Goal, budget: &Budget<'_>) -> Claim {
        let mut claim = self.claim_without_search(goal, budget).unwrap_or_else(|| self.search(goal, budget));
        if let Verdict::Deployable(trace) = claim.verdict {
            claim.verdict = Verdict::Deployable(self.tracing.shortened(goal, trace));
        }
        claim
    }

    /// The same for a goal that needs no search; `None` for others.
    pub fn decide_without_search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let goal = &self.problem.meant(goal);
        let claim = self.claim_without_search(goal, budget)?;
        Some(self.checked(goal, claim, budget))
    }

    fn checked(&mut self, goal: &Goal, claim: Claim, budget: &Budget<'_>) -> Decision {
        claim.decision(&self.problem, goal, budget, |verdict, stop| self.checker.check_plainly(goal, verdict, stop))
    }

    /// A claim that takes no search, if there is one.
    fn claim_without_search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Claim> {
        if self.problem.is_met(goal, &self.problem.start) {
            return Some(Claim::at_once(Verdict::Deployable(Trace::default()), "start"));
        }
        if let Some(verdict) = goal.any.iter().find_map(|alternative| self.in_one_step(alternative)) {
            return Some(Claim::at_once(verdict, "one-step"));
        }
        if goal.any.iter().all(|alternative| self.is_hopeless(alternative)) {
            return Some(Claim::at_once(Verdict::Never(Proof::of_configurations(&goal.any)), "affinity-free"));
        }
        if let Some(verdict) = self.by_one_witness(goal, budget) {
            return Some(Claim::at_once(verdict, "one-witness"));
        }
        let verdict = goal.any.iter().find_map(|alternative| self.greedily(alternative))?;
        Some(Claim::at_once(verdict, "greedy"))
    }

    /// A goal of one pod, where each pod needs at most one other.
    fn by_one_witness(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Verdict> {
        let single = |alternative: &Configuration| single(&alternative.minus(&self.problem.kept));
        let goals = goal.any.iter().map(single).collect::<Option<Vec<Atom>>>()?;
        let stop = || (budget.interrupt)().is_some();
        Some(match self.witnesses.decide(&self.problem, &goals, &stop)? {
            Ended::Reached(way) => Verdict::Deployable(self.tracing.relay(&way)),
            Ended::Never(proof) => Verdict::Never(proof),
        })
    }

    /// A goal of one pod whose witnesses can be deployed one after the other.
    fn greedily(&mut self, alternative: &Configuration) -> Option<Verdict> {
        let atom = single(&alternative.minus(&self.problem.kept))?;
        let order = self.greedy.order(&self.problem, atom)?;
        Some(Verdict::Deployable(self.tracing.sequence(&order)))
    }

    /// A goal of one pod that the kept pods alone allow.
    fn in_one_step(&mut self, alternative: &Configuration) -> Option<Verdict> {
        let (pod, node) = single(&alternative.minus(&self.problem.kept))?;
        hard(&self.problem.model, &self.problem.kept, pod, node)
            .then(|| Verdict::Deployable(self.tracing.single((pod, node))))
    }

    /// A goal of one pod, without affinity or spread, that the kept pods alone do not allow: nothing can help it. The paper's
    /// polynomial fragment.
    fn is_hopeless(&self, alternative: &Configuration) -> bool {
        let Some((pod, node)) = single(&alternative.minus(&self.problem.kept)) else { return false };
        let spec = self.problem.model.pod(pod);
        let alone = spec.affinity.is_empty() && !volume_limits::can_be_helped(&self.problem.model, pod, node);
        alone && (spec.spread.is_empty() || self.problem.kept.is_empty())
    }

    fn search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Claim {
        let problem = self.problem.with_goal(goal.clone());
        let system = System::new(&problem, slice::slice(&problem));
        if system.goals.is_empty() {
            return Claim::at_once(Verdict::Never(system.proof(&problem, &[])), "relax");
        }
        let Outcome { found, engine, mut efforts } = recall::portfolio(&system, self.engines, budget);
        efforts.insert(0, system.effort());
        let found = match found {
            Found::Reached(run) if run.bytes() > budget.memory => {
                Found::Stopped { stop: Stop::Memory, learned: Learned::default() }
            }
            Found::Reached(run) => Found::Reached(shorter(&system, &run, budget).unwrap_or(run)),
            other => other,
        };
        Claim { verdict: self.verdict(&problem, &system, found), engine, efforts }
    }

    fn verdict(&mut self, problem: &Problem, system: &System, found: Found) -> Verdict {
        match found {
            Found::Reached(run) => Verdict::Deployable(self.tracing.of_run(system, &run)),
            Found::Never(groups) | Found::Reduced(groups) => Verdict::Never(system.proof(problem, &groups)),
            Found::Spent => Verdict::Unknown(Reason::Unsupported("a proof by visiting every configuration".into())),
            Found::Stopped { stop, learned } => Verdict::Unknown(reason(stop, learned)),
        }
    }
}

/// A shorter run, if a little more work finds one for a run that people may read.
fn shorter(system: &System, run: &Run, budget: &Budget<'_>) -> Option<Run> {
    const READABLE: usize = 128;
    const WORK: u64 = 1 << 14;
    let quiet = Budget { progress: None, ..*budget };
    let found = (run.len() <= READABLE).then(|| Forward::step_by_step(system).pursue(WORK, &quiet)).flatten();
    match found {
        Some(Found::Reached(other)) => Some(other).filter(|other| other.len() < run.len()),
        _ => None,
    }
}

fn reason(stop: Stop, learned: Learned) -> Reason {
    match stop {
        Stop::Timeout => Reason::Timeout(learned),
        Stop::Memory => Reason::Memory(learned),
        Stop::Interrupted => Reason::Interrupted(learned),
    }
}

/// The one instance a configuration has, if it has just one.
fn single(configuration: &Configuration) -> Option<Atom> {
    let mut atoms = configuration.iter();
    let (atom, count) = atoms.next()?;
    (count == 1 && atoms.next().is_none()).then_some(atom)
}

/// Decides a problem and checks the evidence.
pub fn decide(problem: &Problem, budget: &Budget<'_>) -> Decision {
    Decider::new(problem).decide(&problem.goal, budget)
}
