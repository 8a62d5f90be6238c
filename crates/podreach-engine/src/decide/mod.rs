//! Decides goals: what needs no search first, then the portfolio. Everything is checked before it is an answer.
//!
//! [`Decider`] merges types that only their names tell apart (`quotient.rs`) and asks [`Search`], which decides a problem as it is given;
//! a goal with many alternatives is asked once per orbit (`orbits.rs`). [`Uniform`] answers for all nodes of an orbit at once.

mod orbits;
mod quotient;
mod uniform;

use podreach_core::{Checked, Checker, Flaw, Goal, Learned, Problem, Reason, Verdict};

pub use quotient::Decider;
pub use uniform::{Uniform, UniformAnswer};

use crate::budget::{Budget, Stop};
use crate::cache;
use crate::compile::{System, slice};
use crate::direct::Direct;
use crate::evidence::{TraceBuilder, proof};
use crate::forward::Forward;
use crate::plan::Plan;
use crate::portfolio::Outcome;
use crate::pursuit::{Effort, Engine, Found, Pursuit};

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
struct Candidate {
    verdict: Verdict,
    engine: &'static str,
    efforts: Vec<Effort>,
}

impl From<Decision> for Candidate {
    fn from(Decision { checked, engine, efforts }: Decision) -> Self {
        Self { verdict: checked.verdict().clone(), engine, efforts }
    }
}

impl Candidate {
    fn at_once(verdict: Verdict, engine: &'static str) -> Self {
        Self { verdict, engine, efforts: Vec::new() }
    }

    /// The decision, once a check accepts the candidate; *unknown* if it does not.
    fn decision(
        self,
        problem: &Problem,
        goal: &Goal,
        budget: &Budget<'_>,
        check: impl FnOnce(Verdict, &dyn Fn() -> bool) -> Result<Checked, Flaw>,
    ) -> Decision {
        let Self { verdict, engine, efforts } = self;
        let checked = check(verdict, &|| (budget.interrupt)().is_some());
        let checked = checked
            .unwrap_or_else(|flaw| Checked::unknown(problem.asking(goal), refused(problem, engine, budget, flaw)));
        Decision { checked, engine, efforts }
    }
}

/// Why a verdict is refused.
fn refused(problem: &Problem, engine: &str, budget: &Budget<'_>, flaw: Flaw) -> Reason {
    match flaw {
        Flaw::Stopped => reason((budget.interrupt)().unwrap_or(Stop::Timeout), Learned::default()),
        Flaw::TooFewCopies(_) => Reason::MoreNodes,
        flaw @ Flaw::UnlikeCopies(_) => Reason::Unsupported(flaw.to_string()),
        // Guards take the least number of domains as given where nodes may bring more of them; transitions do not.
        Flaw::Step(..) if problem.model.is_elastic() => {
            Reason::Unsupported("a least number of topology domains where nodes come and go".into())
        }
        flaw => Reason::Rejected { engine: engine.into(), flaw: flaw.to_string() },
    }
}

/// Decides any number of goals about one cluster and start, every type and every node as it is there.
#[derive(Clone, Debug)]
pub struct Search {
    problem: Problem,
    traces: TraceBuilder,
    direct: Direct,
    checker: Checker,
    engines: &'static [Engine],
}

impl Search {
    /// For this cluster, start and kept pods; the problem's own goal plays no part.
    pub fn new(problem: &Problem) -> Self {
        Self {
            problem: problem.clone(),
            traces: TraceBuilder::new(problem),
            direct: Direct::new(problem),
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
        let decision = self.decide_once(goal, budget);
        match decision.checked.verdict() {
            // A cache may be wrong.
            Verdict::Unknown(Reason::Rejected { .. }) if budget.cache.is_some() => {
                self.decide_once(goal, &Budget { cache: None, ..*budget })
            }
            _ => decision,
        }
    }

    fn decide_once(&mut self, asked: &Goal, budget: &Budget<'_>) -> Decision {
        let meant = &self.problem.meant(asked);
        if let Some(decision) = self.decide_one_of_each(meant, budget) {
            return decision;
        }
        let candidate = self.candidate_as_asked(asked, meant, budget);
        self.checked(asked, candidate, budget)
    }

    /// What is claimed about a goal. A proof is not checked yet: whoever asks has it checked about another problem.
    fn proposal(&mut self, asked: &Goal, budget: &Budget<'_>) -> Candidate {
        let meant = &self.problem.meant(asked);
        if let Some(decision) = self.decide_one_of_each(meant, budget) {
            return decision.into();
        }
        let candidate = self.candidate_as_asked(asked, meant, budget);
        match candidate.verdict {
            Verdict::Never(_) => candidate,
            _ => self.checked(asked, candidate, budget).into(),
        }
    }

    fn candidate_as_asked(&mut self, asked: &Goal, meant: &Goal, budget: &Budget<'_>) -> Candidate {
        let mut candidate = self.candidate(meant, budget);
        // What is asked for may terminate, but need not.
        if let Verdict::Deployable(trace) = candidate.verdict {
            candidate.verdict = Verdict::Deployable(self.traces.shortened(asked, trace));
        }
        candidate
    }

    fn candidate(&mut self, goal: &Goal, budget: &Budget<'_>) -> Candidate {
        let mut candidate = self.candidate_without_search(goal, budget).unwrap_or_else(|| self.search(goal, budget));
        if let Verdict::Deployable(trace) = candidate.verdict {
            candidate.verdict = Verdict::Deployable(self.traces.shortened(goal, trace));
        }
        candidate
    }

    /// The same for a goal that needs no search; `None` for others.
    pub fn decide_without_search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let goal = &self.problem.meant(goal);
        let candidate = self.candidate_without_search(goal, budget)?;
        Some(self.checked(goal, candidate, budget))
    }

    fn checked(&mut self, goal: &Goal, candidate: Candidate, budget: &Budget<'_>) -> Decision {
        candidate.decision(&self.problem, goal, budget, |verdict, stop| self.checker.check_plainly(goal, verdict, stop))
    }

    /// A candidate that takes no search, if there is one.
    fn candidate_without_search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Candidate> {
        let (verdict, engine) =
            self.direct.decide(&self.problem, goal, &mut self.traces, &|| (budget.interrupt)().is_some())?;
        Some(Candidate::at_once(verdict, engine))
    }

    fn search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Candidate {
        let problem = self.problem.with_goal(goal.clone());
        let system = System::new(&problem, slice(&problem));
        if system.goals.is_empty() {
            return Candidate::at_once(Verdict::Never(proof(&system, &problem, Vec::new())), "relax");
        }
        let Outcome { found, engine, mut efforts } = cache::portfolio(&system, self.engines, budget);
        efforts.insert(0, size(&system));
        let found = match found {
            Found::Reached(plan) if plan.bytes() > budget.memory => {
                Found::Stopped { stop: Stop::Memory, learned: Learned::default() }
            }
            Found::Reached(plan) => Found::Reached(shorter(&system, &plan, budget).unwrap_or(plan)),
            other => other,
        };
        Candidate { verdict: self.verdict(&problem, &system, found), engine, efforts }
    }

    fn verdict(&mut self, problem: &Problem, system: &System, found: Found) -> Verdict {
        match found {
            Found::Reached(plan) => Verdict::Deployable(self.traces.of_plan(system, &plan)),
            Found::Never(groups) | Found::Reduced(groups) => Verdict::Never(proof(system, problem, groups)),
            Found::Spent => Verdict::Unknown(Reason::Unsupported("a proof by visiting every configuration".into())),
            Found::Stopped { stop, learned } => Verdict::Unknown(reason(stop, learned)),
        }
    }
}

/// How large a compiled system is.
fn size(system: &System) -> Effort {
    let counts = vec![("classes", system.classes.len() as u64), ("rules", system.transitions.len() as u64)];
    Effort { part: "system", counts }
}

/// A shorter plan, if a little more work finds one for a plan that people may read.
fn shorter(system: &System, plan: &Plan, budget: &Budget<'_>) -> Option<Plan> {
    const READABLE: usize = 128;
    const WORK: u64 = 1 << 14;
    let quiet = Budget { progress: None, ..*budget };
    let found = (plan.len() <= READABLE).then(|| Forward::step_by_step(system).pursue(WORK, &quiet)).flatten();
    match found {
        Some(Found::Reached(other)) => Some(other).filter(|other| other.len() < plan.len()),
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

/// Decides a problem and checks the evidence.
pub fn decide(problem: &Problem, budget: &Budget<'_>) -> Decision {
    Decider::new(problem).decide(&problem.goal, budget)
}
