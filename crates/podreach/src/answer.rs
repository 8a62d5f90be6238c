//! Answers: verdicts about the model, held back where the model may differ from the cluster.
//!
//! A diagnostic says how the model may differ, and a verdict is kept if it does not depend on that. Both ways are asked of the engines
//! in the same manner, by a second model that errs on the other side:
//!
//! ```text
//! OverApproximates   The model allows too much. A trace holds if it deploys no pod type in doubt. If it does, the goal must be
//!                    reachable in the strict model, in which those types are never deployed. Never always holds.
//! UnderApproximates  The model allows too little. A proof holds if it is about the weakest model, in which all that is in doubt
//!                    is possible (`core/src/weakenings/weakening.rs`). Deployable always holds.
//! Both               Both of these, and what the type's running pods do to others is also in doubt: the strict model starts
//!                    without them.
//! ```
//! A type that another scheduler places (S0415), or that admission may change (S0461, S0463, S0467), has running pods like any other; if
//! its labels may also be changed, unseen pods may be among its own. Volumes and devices have a history, which no
//! diagnostic is needed to know of (`history.rs`): a trace holds if each of its steps is possible with what the earlier ones bound,
//! and claims that are not bound yet are among the weakenings. So are spread constraints that nodes which settle may change. A trace on nodes
//! that are yet to come holds if nothing about them is a guess (`arriving.rs`); a proof that speaks for too few of them is searched for
//! again where more are listed.

mod doubt;
mod orbits;
mod right_now;
mod starting;
mod strict;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use podreach_core::cancel::polled;
use podreach_core::{
    Action, Checked, Checker, Configuration, Goal, Model, NodeId, PodId, Problem, Reason, Trace, Verdict, Weakening,
    check,
};

use self::doubt::{Doubt, messages, names, weakenings};
use self::orbits::Survey;
use self::starting::Started;
use self::strict::Strict;
use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::{Budget, Decider, Decision, Stop};
use crate::{arriving, history};

pub(crate) use self::doubt::STARTING;
pub use self::right_now::RightNow;

/// Answers any number of questions about one cluster and start.
#[derive(Clone, Debug)]
pub struct Oracle {
    problem: Problem,
    checker: Checker,
    whole: Option<Decider>,
    over_approximating: Vec<Doubt>,
    under_approximating: Vec<Doubt>,
    /// What makes the model weak enough for all doubts; in order, none twice.
    weakenings: Vec<Weakening>,
    /// The nodes that are still starting, where that matters.
    starting: Vec<NodeId>,
    strict: Option<Strict>,
    weak: Option<Decider>,
    survey: Survey,
    /// Whether deployments bind claims.
    binds: bool,
    /// The remarks, where nodes come and go; to make an oracle of a cluster that lists more nodes.
    remarks: Vec<Diagnostic>,
    /// The same with more new nodes, once these were not enough.
    larger: Option<Box<Self>>,
}

/// A checked decision that was held against every doubt about the input. Only an [`Oracle`] makes one of an input, and reports take
/// nothing else: a verdict that is true of the model alone is never reported as one about the cluster.
#[derive(Clone, Debug)]
pub struct Sure(Decision);

impl Sure {
    /// That a question was given up.
    pub fn stopped(problem: Problem, stop: Stop) -> Self {
        Self(Decision::stopped(problem, stop))
    }

    /// The same in the words of the problem that asked.
    fn in_words_of(self, asked: &Problem) -> Self {
        let Self(decision) = self;
        Self(Decision { checked: decision.checked.in_words_of(asked), ..decision })
    }

    /// A decision about a model that has no input behind it, such as an encoding: there is nothing to doubt.
    pub fn of_model(decision: Decision) -> Self {
        Self(decision)
    }
}

impl Deref for Sure {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.0
    }
}

/// How many nodes are tried one by one that may stay as they are.
const STAYING: usize = 4;

impl Oracle {
    /// For this cluster, start and kept pods, read with these remarks; the problem's own goal plays no part.
    pub fn new(problem: &Problem, diagnostics: &[Diagnostic]) -> Self {
        let names = names(&problem.model);
        let doubts = |effect: Effect| {
            let about = polled(diagnostics).filter(|d| d.effect == effect || d.effect == Effect::Both);
            about.filter_map(|diagnostic| Doubt::new(diagnostic, &problem.model, &names)).collect::<Vec<_>>()
        };
        let mut over_approximating = doubts(Effect::OverApproximates);
        let mut under_approximating = doubts(Effect::UnderApproximates);
        let mut weakenings = weakenings(problem, diagnostics, &names);
        let mut starting = Vec::new();
        if let Some(started) = Started::new(&problem.model) {
            over_approximating.extend(started.refused);
            if let Some(let_in) = started.let_in {
                under_approximating.push(let_in);
                weakenings.push(Weakening::Starting);
            }
            starting = started.nodes;
        }
        Self {
            problem: problem.clone(),
            checker: Checker::new(problem),
            whole: None,
            over_approximating,
            under_approximating,
            weakenings,
            starting,
            strict: None,
            weak: None,
            survey: Survey::default(),
            binds: history::matters(&problem.model),
            remarks: if problem.model.is_elastic() { diagnostics.to_vec() } else { Vec::new() },
            larger: None,
        }
    }

    /// Decides what a problem about this cluster and start asks, checks the evidence, and holds the verdict back if it is in doubt. The
    /// answer is in the words of the problem.
    pub fn answer(&mut self, asked: &Problem, budget: &Budget<'_>) -> Sure {
        let decision = self.whole().decide(&asked.goal, budget);
        let answer = self.sure(decision, budget).in_words_of(asked);
        if !needs_more_nodes(&answer) {
            return answer;
        }
        self.with_more_nodes(asked, budget).unwrap_or(answer)
    }

    /// The answer where more nodes are listed that may come: a proof about few of them may not speak for all.
    fn with_more_nodes(&mut self, asked: &Problem, budget: &Budget<'_>) -> Option<Sure> {
        if self.larger.is_none() {
            let more = arriving::with_more_nodes(&self.problem)?;
            self.larger = Some(Box::new(Self::new(&more, &self.remarks)));
        }
        let larger = self.larger.as_mut()?;
        let goal = larger.problem.asking(&asked.goal);
        Some(larger.answer(&Problem { asked: asked.asked.clone(), ..goal }, budget))
    }

    /// The same for a problem that can be decided without a search; `None` for others.
    pub(crate) fn quick_answer(&mut self, asked: &Problem, budget: &Budget<'_>) -> Option<Sure> {
        let decision = self.whole().decide_without_search(&asked.goal, budget)?;
        Some(self.sure(decision, budget).in_words_of(asked)).filter(|answer| !needs_more_nodes(answer))
    }

    fn whole(&mut self) -> &mut Decider {
        self.whole.get_or_insert_with(|| Decider::of(self.checker.quotient(&[])))
    }

    /// The problem, without a goal.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What a proof must be about to hold: the cluster with these weakenings.
    pub fn weakenings(&self) -> &[Weakening] {
        &self.weakenings
    }

    /// The pod types that no rule tells apart, together.
    pub fn kinds(&mut self) -> &[Vec<PodId>] {
        self.checker.quotient(&[]).kinds()
    }

    /// Whether the strict model is another one.
    fn can_be_stricter(&self) -> bool {
        !self.over_approximating.is_empty() || arriving::has_guesses(&self.problem)
    }

    /// A decision with evidence that no doubt spoils: its own, or other evidence that is searched for.
    pub fn sure(&mut self, decision: Decision, budget: &Budget<'_>) -> Sure {
        let Some(reason) = self.spoiled(&decision.checked) else {
            return Sure(with_node_steps(&self.problem, Some(&mut self.checker), decision));
        };
        let goal = &decision.checked.problem().goal;
        let other = match decision.checked.verdict() {
            Verdict::Deployable(_) => self.without_doubt(goal, budget).or_else(|| self.before_starting(goal, budget)),
            _ => {
                let weak = self.at_its_weakest(goal, budget);
                let is_short = matches!(weak.checked.verdict(), Verdict::Unknown(Reason::MoreNodes));
                let settled = weak.checked.answer() == Some(false) || is_short;
                if settled { Some(weak) } else { self.before_settling(goal, budget) }
            }
        };
        Sure(with_node_steps(
            &self.problem,
            Some(&mut self.checker),
            other.unwrap_or_else(|| unknown(decision, reason)),
        ))
    }

    /// A decision as far as its own evidence holds. Nothing is searched for.
    pub fn held(&self, decision: Decision) -> Sure {
        let decision = with_node_steps(&self.problem, None, decision);
        match self.spoiled(&decision.checked) {
            None => Sure(decision),
            Some(reason) => Sure(unknown(decision, reason)),
        }
    }

    /// The same for evidence that somebody else gives: nothing is added to it.
    pub fn accepted(&self, decision: Decision) -> Sure {
        match self.spoiled(&decision.checked).or_else(|| self.too_early(&decision.checked)) {
            None => Sure(decision),
            Some(reason) => Sure(unknown(decision, reason)),
        }
    }

    /// Why a run is not one: it binds a pod to a node that is not there.
    fn too_early(&self, checked: &Checked) -> Option<Reason> {
        let Verdict::Deployable(trace) = checked.verdict() else { return None };
        let step = arriving::too_early(&self.problem, trace)?;
        let node = trace.get(step).and_then(Action::node).map(|node| self.problem.model.node_name(node));
        Some(Reason::Impossible(format!("step {} is on {}, which is not there", step + 1, node.unwrap_or_default())))
    }

    /// What spoils the evidence of a checked verdict, if something does.
    fn spoiled(&self, checked: &Checked) -> Option<Reason> {
        match checked.verdict() {
            Verdict::Deployable(trace) => {
                let mut by =
                    messages(self.over_approximating.iter().filter(|doubt| doubt.spoils(&self.problem, trace)));
                by.extend(self.binding_objection(trace));
                by.extend(arriving::objection(&self.problem, trace));
                (!by.is_empty()).then_some(Reason::Spoiled { verdict: "deployable", by })
            }
            Verdict::Never(proof) => (proof.weakened != self.weakenings)
                .then(|| Reason::Spoiled { verdict: "never", by: self.doubts_about(&checked.problem().goal) }),
            Verdict::Unknown(_) => None,
        }
    }

    /// The decision about the weakest model; if that is *never*, with a proof about the problem itself.
    fn at_its_weakest(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        let Self { checker, weak, weakenings, problem, .. } = self;
        let whole = weak.get_or_insert_with(|| Decider::of(checker.quotient(weakenings)));
        let decision = whole.decide(goal, budget);
        let Verdict::Never(proof) = decision.checked.verdict() else { return decision };
        let mut proof = proof.clone();
        proof.weakened.clone_from(weakenings);
        let checked = match checker.check(goal, Verdict::Never(proof), &|| (budget.interrupt)().is_some()) {
            Ok(checked) => checked,
            Err(flaw) => {
                let reason = Reason::Rejected { engine: decision.engine.into(), flaw: flaw.to_string() };
                Checked::unknown(problem.asking(goal), reason)
            }
        };
        Decision { checked, ..decision }
    }

    /// A trace in which nodes stay as they are: spread constraints that honour taints may look at fewer domains then.
    fn before_settling(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let unsettled: Vec<NodeId> = self.problem.start.unsettled().iter().copied().collect();
        if !self.weakenings.contains(&Weakening::Uneven) {
            return None;
        }
        let all = std::iter::once(unsettled.clone());
        let each = unsettled.iter().map(|&node| vec![node]).filter(|_| unsettled.len() > 1).take(STAYING);
        all.chain(each).find_map(|staying| self.while_staying(&staying, goal, budget))
    }

    /// A trace in which the nodes that are still starting stay as they are.
    fn before_starting(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let starting = self.starting.clone();
        if starting.is_empty() { None } else { self.while_staying(&starting, goal, budget) }
    }

    /// A trace in which these nodes stay as they are, checked against the model itself.
    fn while_staying(&mut self, staying: &[NodeId], goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let mut cluster = self.problem.model.facts();
        staying.iter().for_each(|&node| cluster.nodes[node].keep_what_passes());
        let fixed = self.problem.with_model(Arc::new(Model::new(cluster, self.problem.model.semantics())));
        let decision = Decider::new(&fixed).decide(goal, budget);
        let Verdict::Deployable(trace) = decision.checked.verdict() else { return None };
        let checked = self.checker.check(goal, Verdict::Deployable(trace.clone()), &|| false).ok()?;
        let decision = Decision { checked, ..decision };
        self.spoiled(&decision.checked).is_none().then_some(decision)
    }

    /// A trace that deploys no pod type in doubt, checked against the model itself.
    fn without_doubt(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        if !(self.binds || self.can_be_stricter()) || arriving::asks_for_guesses(&self.problem.model, goal) {
            return None;
        }
        let (problem, doubts) = (&self.problem, &self.over_approximating);
        let bound = self.binds.then_some(goal);
        let mut cautious = self.binds.then(|| Strict::new(problem, doubts, bound));
        let strict = match &mut cautious {
            Some(strict) => strict,
            None => self.strict.get_or_insert_with(|| Strict::new(problem, doubts, None)),
        };
        let decision = strict.whole.decide(goal, budget);
        let Verdict::Deployable(trace) = decision.checked.verdict() else { return None };
        let trace: Trace = strict.deleted.iter().copied().chain(trace.iter()).collect();
        if self.objection(&trace).is_some() || doubts.iter().any(|doubt| doubt.spoils(problem, &trace)) {
            return None;
        }
        let checked = self.checker.check(goal, Verdict::Deployable(trace), &|| false).ok()?;
        Some(Decision { checked, ..decision })
    }

    /// The pod types whose deployment from the start, as the only step, a remark about the input leaves in doubt.
    pub(crate) fn doubtful(&self) -> BTreeSet<PodId> {
        let mut doubtful = BTreeSet::new();
        let resident = |doubt: &Doubt| doubt.running(&self.problem.start).next().is_some();
        for doubt in polled(&self.over_approximating).filter(|doubt| doubt.is_about_now(&self.problem)) {
            if doubt.pods.is_empty() || resident(doubt) {
                return self.problem.model.pods().collect();
            }
            doubtful.extend(&doubt.pods);
        }
        doubtful
    }

    /// Whether one step from the start is possible in the cluster as in the model, if the pod type is not in doubt.
    pub(crate) fn can_step(&self, pod: PodId, node: NodeId) -> bool {
        self.objection(&std::iter::once(Action::Deploy(pod, node)).collect()).is_none()
    }

    /// Why what a trace binds may make one of its later steps impossible.
    fn objection(&self, trace: &Trace) -> Option<String> {
        let guess = || arriving::objection(&self.problem, trace);
        self.binding_objection(trace).or_else(guess)
    }

    fn binding_objection(&self, trace: &Trace) -> Option<String> {
        self.binds.then(|| history::objection(&self.problem, trace)).flatten()
    }

    /// What to name when a proof does not hold: the doubts about the goal's own pods if there are some, or else all.
    fn doubts_about(&self, goal: &Goal) -> Vec<String> {
        let asked = |pod: &PodId| goal.any.iter().any(|alternative| alternative.of(*pod).next().is_some());
        let own: Vec<&Doubt> = self.under_approximating.iter().filter(|doubt| doubt.pods.iter().any(asked)).collect();
        let mut by = if own.is_empty() { messages(self.under_approximating.iter()) } else { messages(own.into_iter()) };
        if self.weakenings.iter().any(history::is_open_end) {
            by.extend(history::open_ends(&self.problem.model, goal));
        }
        if by.is_empty() {
            by.push("nodes that settle may change which domains a spread constraint counts".to_owned());
        }
        by
    }
}

/// The same decision; its run says when nodes come and go.
fn with_node_steps(problem: &Problem, checker: Option<&mut Checker>, decision: Decision) -> Decision {
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return decision };
    let Some(trace) = arriving::with_node_steps(problem, trace) else { return decision };
    let (goal, verdict) = (&decision.checked.problem().goal, Verdict::Deployable(trace));
    let checked = match checker {
        Some(checker) => checker.check(goal, verdict, &|| false),
        None => Checker::new(problem).check(goal, verdict, &|| false),
    };
    match checked {
        Ok(checked) => Decision { checked, ..decision },
        Err(_) => unknown(decision, Reason::Impossible("the nodes that it needs cannot come in time".to_owned())),
    }
}

/// Whether it was proved of the nodes that are listed, and more may come.
fn needs_more_nodes(answer: &Sure) -> bool {
    matches!(answer.checked.verdict(), Verdict::Unknown(Reason::MoreNodes))
}

/// The same question, not decided.
fn unknown(decision: Decision, reason: Reason) -> Decision {
    Decision { checked: Checked::unknown(decision.checked.problem().clone(), reason), ..decision }
}

/// The same decision with a trace that ends in the goal and nothing else: what is left over is deleted at the end.
pub fn exactly(Sure(decision): Sure) -> Sure {
    let problem = decision.checked.problem();
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return Sure(decision) };
    let s = trace.after(trace.len(), &problem.model, &problem.start);
    let met = problem.goal.any.iter().find(|alternative| alternative.is_within(&s)).cloned().unwrap_or_default();
    let left_over = s.minus(&met).iter().filter(|((_, node), _)| *node != NodeId::NOWHERE).collect();
    let trace = trace.iter().chain(deletions(&problem.model, &left_over)).collect();
    match check(problem, Verdict::Deployable(trace)) {
        Ok(checked) => Sure(Decision { checked, ..decision }),
        Err(_) => Sure(decision),
    }
}

/// The steps that delete everything in a configuration.
fn deletions<'a>(m: &'a Model, configuration: &'a Configuration) -> impl Iterator<Item = Action> + 'a {
    configuration.iter().flat_map(move |(atom, count)| (0..count).map(move |_| m.deletion(atom)))
}
