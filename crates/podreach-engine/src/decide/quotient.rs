//! Decides goals on a quotient: types that only their names tell apart are merged, and the evidence is translated back.

use podreach_core::{Checked, Checker, Goal, Problem, Quotient, Reason, Settling, Trace, Verdict, View};

use super::{Candidate, Decision, Search};
use crate::budget::Budget;
use crate::pursuit::Engine;

/// Decides any number of goals about one cluster and start, in which types may be alike.
#[derive(Clone, Debug)]
pub struct Decider {
    quotient: Quotient,
    single: Option<Search>,
    checker: Checker,
    engines: &'static [Engine],
}

impl Decider {
    /// For this cluster, start and kept pods; the problem's own goal plays no part.
    pub fn new(problem: &Problem) -> Self {
        let mut checker = Checker::new(problem);
        Self { quotient: checker.quotient(&[]).clone(), single: None, checker, engines: Engine::PORTFOLIO }
    }

    /// The same for a quotient that is known already.
    pub fn of(quotient: &Quotient) -> Self {
        Self {
            quotient: quotient.clone(),
            single: None,
            checker: Checker::new(quotient.full()),
            engines: Engine::PORTFOLIO,
        }
    }

    /// The quotient.
    pub fn quotient(&self) -> &Quotient {
        &self.quotient
    }

    /// The same, with these engines only.
    #[must_use]
    pub fn with_engines(self, engines: &'static [Engine]) -> Self {
        Self { engines, single: None, ..self }
    }

    fn single(&mut self) -> &mut Search {
        self.single.get_or_insert_with(|| Search::new(self.quotient.single()).with_engines(self.engines))
    }

    /// Decides a goal and checks the evidence.
    pub fn decide(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        let decision = self.decide_with(goal, budget);
        match decision.checked.verdict() {
            // A cache may be wrong.
            Verdict::Unknown(Reason::Rejected { .. }) if budget.cache.is_some() => {
                self.decide_with(goal, &Budget { cache: None, ..*budget })
            }
            _ => decision,
        }
    }

    fn decide_with(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        self.decide_by(goal, budget, Means::Search).unwrap_or_else(|| Decision {
            checked: Checked::unknown(self.quotient.full().asking(goal), Reason::Unsupported("this goal".into())),
            engine: "none",
            efforts: Vec::new(),
        })
    }

    /// The same for a goal that needs no search; `None` for others.
    pub fn decide_without_search(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        self.decide_by(goal, budget, Means::NoSearch)
    }

    fn decide_by(&mut self, goal: &Goal, budget: &Budget<'_>, means: Means) -> Option<Decision> {
        let full = self.quotient.full().clone();
        if full.is_met(goal, &full.start) {
            let candidate = Candidate::at_once(Verdict::Deployable(Trace::default()), "start");
            return Some(self.checked(goal, candidate, budget));
        }
        let view = self.quotient.view(goal);
        let mut own = (!view.is_single()).then(|| Search::new(&view.problem).with_engines(self.engines));
        let search = own.as_mut().unwrap_or_else(|| self.single());
        if view.is_plain(&full) {
            let Decision { checked, engine, efforts } = means.decision(search, &view.goal, budget)?;
            return Some(Decision { checked: checked.of_whole(&full, goal, &view)?, engine, efforts });
        }
        let Candidate { verdict, engine, efforts } = means.proposal(search, &view.goal, budget)?;
        let verdict = match verdict {
            Verdict::Deployable(trace) => Verdict::Deployable(self.lifted(goal, &view, &trace)),
            Verdict::Never(proof) => Verdict::Never(view.renamed(&proof)),
            unknown @ Verdict::Unknown(_) => unknown,
        };
        Some(self.checked(goal, Candidate { verdict, engine, efforts }, budget))
    }

    /// A trace of a quotient as one of the whole problem, in which nodes settle only as needed.
    fn lifted(&mut self, goal: &Goal, view: &View, trace: &Trace) -> Trace {
        let full = self.quotient.full();
        let run = view.lifted(full, trace, Settling::AsNeeded);
        let asks = full.model.settling_matters() && !full.start.unsettled().is_empty();
        if !asks || self.checker.check(goal, Verdict::Deployable(run.clone()), &|| false).is_ok() {
            run
        } else {
            view.lifted(self.quotient.full(), trace, Settling::AtFirst)
        }
    }

    /// What is claimed about the goal as asked, once the checker accepts it.
    fn checked(&mut self, goal: &Goal, candidate: Candidate, budget: &Budget<'_>) -> Decision {
        let full = self.quotient.full();
        candidate.decision(full, goal, budget, |verdict, stop| self.checker.check(goal, verdict, stop))
    }
}

/// What may be used to decide a goal.
#[derive(Clone, Copy)]
enum Means {
    Search,
    NoSearch,
}

impl Means {
    /// A decision about the problem of a search.
    fn decision(self, search: &mut Search, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        match self {
            Self::Search => Some(search.decide(goal, budget)),
            Self::NoSearch => search.decide_without_search(goal, budget),
        }
    }

    /// What is claimed about it, where evidence is checked about the whole problem afterwards.
    fn proposal(self, search: &mut Search, goal: &Goal, budget: &Budget<'_>) -> Option<Candidate> {
        match self {
            Self::Search => Some(search.proposal(goal, budget)),
            Self::NoSearch => search.decide_without_search(goal, budget).map(Candidate::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, cases, exhaustive, mixed_or_unbounded};

    use super::*;

    #[test]
    fn decisions_equal_exhaustive_search_on_quotients_and_without() {
        let (mut rng, mut answers) = (Rng::new(107), [[0; 2]; 2]);
        for case in 0..cases(2_000) {
            let problem = mixed_or_unbounded(&mut rng, case);
            let truth = exhaustive(&problem, 100_000).expect("small problems have few configurations");
            let mut decider = Decider::new(&problem);
            let is_plain = decider.quotient().view(&problem.goal).is_plain(&problem);
            let decision = decider.decide(&problem.goal, &Budget::unlimited());
            assert_eq!(decision.checked.answer(), Some(truth), "case {case} by {}: {problem:#?}", decision.engine);
            answers[usize::from(is_plain)][usize::from(truth)] += 1;
        }
        assert!(answers.iter().flatten().all(|&count| count > 0), "{answers:?}");
    }
}
