//! Answers: verdicts about the model, held back where the model may differ from the cluster.
//!
//! A diagnostic says how the model may differ, and a verdict stands if it does not depend on that. Both ways are asked of the engines
//! in the same manner, by a second model that errs on the other side:
//!
//! ```text
//! Widens   the model allows too much.   A trace stands if it deploys no pod type in doubt. If it does, the goal must be reachable
//!                                       in the strict model, in which those types are never deployed. Never always stands.
//! Narrows  the model allows too little. A proof stands if the goal is out of reach in the loose model, too, in which the pod
//!                                       types in doubt can be deployed anywhere. Deployable always stands.
//! Blurs    both, and what the type's running pods do to others is in doubt, too: the strict model starts without them.
//! ```
//! Two doubts have a reach of their own. A type that another scheduler places (S0415) has running pods like any other. A type whose
//! labels differ from instance to instance (S0422) can be a friend of anyone, as unseen pods can.
//!
//! Volumes and devices have a history, which no diagnostic is needed to know of (`history.rs`): a trace stands if each of its steps is
//! possible with what the earlier ones bound, and a proof if it also holds once every open claim can be used anywhere.
//!
//! A doubt about no pod type in particular is about all of them. When it narrows, there may be pods that we cannot see, with any
//! labels and anywhere. They can serve any affinity and even out any spread, so the loose model has neither; they cannot make a node
//! larger, remove a taint or make a pod tolerate another, so what the other rules refuse stays refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::cluster::{Barred, PodSpec, Toleration, TolerationOperator};
use podreach_core::{
    Action, Atom, Checked, Checker, Cluster, Configuration, Goal, Model, NodeId, PodId, Problem, Reason, Trace,
    Verdict, check,
};

use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::{Budget, Decider, Decision};
use crate::history;
use crate::symmetry::Uniform;

/// Answers any number of questions about one cluster and start.
#[derive(Clone, Debug)]
pub struct Oracle {
    problem: Problem,
    decider: Option<Decider>,
    widening: Vec<Doubt>,
    narrowing: Vec<Doubt>,
    strict: Option<Strict>,
    loose: Option<Decider>,
    survey: Survey,
    /// Whether deployments bind claims.
    binds: bool,
    /// The cluster once everything about volumes and devices has changed for the better, if it can.
    settled: Option<Cluster>,
}

/// What answers for whole orbits of nodes, each made when it is first needed.
#[derive(Clone, Debug, Default)]
struct Survey {
    uniform: Option<Uniform>,
    strict: Option<Uniform>,
    loose: Option<Uniform>,
}

/// A way in which the model may differ from the cluster.
#[derive(Clone, Debug)]
struct Doubt {
    /// The pod type it is about; `None` for all of them.
    pod: Option<PodId>,
    /// Whether it extends to the running pods of the type.
    residents: bool,
    message: String,
}

/// The strict model: what is deleted at first, and who decides and checks the rest.
#[derive(Clone, Debug)]
struct Strict {
    deleted: Vec<Action>,
    decider: Decider,
    checker: Checker,
}

const OTHER_SCHEDULER: &str = "S0415";
const INSTANCE_LABELS: &str = "S0422";

impl Oracle {
    /// For this cluster, start and kept pods, read with these remarks; the problem's own goal plays no part.
    pub fn new(problem: &Problem, diagnostics: &[Diagnostic]) -> Self {
        let names = names(problem.model.cluster());
        let doubts = |effect: Effect| {
            let about = diagnostics.iter().filter(|d| d.effect == effect || d.effect == Effect::Blurs);
            about.map(|diagnostic| Doubt::new(diagnostic, &names)).collect::<Vec<_>>()
        };
        let mut narrowing = doubts(Effect::Narrows);
        let unseen = diagnostics.iter().filter(|d| d.code == INSTANCE_LABELS);
        narrowing.extend(unseen.map(|d| Doubt { pod: None, ..Doubt::new(d, &names) }));
        Self {
            problem: problem.clone(),
            decider: None,
            widening: doubts(Effect::Widens),
            narrowing,
            strict: None,
            loose: None,
            survey: Survey::default(),
            binds: history::matters(&problem.model),
            settled: history::settled(&problem.model),
        }
    }

    /// Decides a goal, checks the evidence, and holds the verdict back if it is in doubt.
    pub fn answer(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        let decision = self.decider().decide(goal, budget);
        self.sure(goal, decision, budget)
    }

    /// The same for a goal that can be decided without a search; `None` for others.
    pub fn quick_answer(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let decision = self.decider().decide_without_search(goal, budget)?;
        Some(self.sure(goal, decision, budget))
    }

    fn decider(&mut self) -> &mut Decider {
        self.decider.get_or_insert_with(|| Decider::new(&self.problem))
    }

    /// The problem, without a goal.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The orbits of nodes for which [`Oracle::everywhere`] answers.
    pub fn orbits(&mut self) -> &[Vec<NodeId>] {
        self.uniform().orbits()
    }

    fn uniform(&mut self) -> &mut Uniform {
        self.survey.uniform.get_or_insert_with(|| Uniform::new(&self.problem))
    }

    /// Whether a pod can run on every node of an orbit where it does not run already, or on none of them; `None` if that depends on
    /// the node, is in doubt, or was not found out.
    pub fn everywhere(&mut self, pod: PodId, orbit: &[NodeId], budget: &Budget<'_>) -> Option<bool> {
        let atom = (pod, *orbit.first()?);
        let found = self.uniform().answer(atom, budget)?;
        if found.everywhere.is_deployable() {
            (self.stands(&found.trace) || self.stands_strictly(atom, budget)).then_some(true)
        } else {
            let stands = self.narrowing.is_empty() && self.settled.is_none();
            (stands || self.is_never_anywhere(pod, orbit, budget)).then_some(false)
        }
    }

    /// Whether no doubt spoils a trace from the start that the orbits have in common. What it binds depends on the start itself.
    fn stands(&mut self, trace: &Trace) -> bool {
        let binds =
            |action: Action| matches!(action, Action::Deploy(pod, _) if history::waits(&self.problem.model, pod));
        if self.binds && trace.iter().any(binds) {
            return false;
        }
        let widening = std::mem::take(&mut self.widening);
        let below = self.uniform().below();
        let stands = !widening.iter().any(|doubt| doubt.spoils(below, trace));
        self.widening = widening;
        stands
    }

    /// Whether a trace for a whole orbit can do without the pod types in doubt.
    fn stands_strictly(&mut self, atom: Atom, budget: &Budget<'_>) -> bool {
        if self.binds {
            return false;
        }
        let (problem, doubts) = (&self.problem, &self.widening);
        let strict = self.survey.strict.get_or_insert_with(|| Uniform::new(&Strict::problem(problem, doubts, None).0));
        let Some(found) = strict.answer(atom, budget).filter(|found| found.everywhere.is_deployable()) else {
            return false;
        };
        let start = strict.below().start.clone();
        let surplus = self.uniform().below().start.minus(&start);
        let trace = deletions(&surplus).chain(found.trace.iter()).collect();
        self.uniform().deployable(atom, trace).is_some_and(|found| self.stands(&found.trace))
    }

    /// Whether the loose model, too, has the pod on no node of an orbit.
    fn is_never_anywhere(&mut self, pod: PodId, orbit: &[NodeId], budget: &Budget<'_>) -> bool {
        let (problem, doubts) = (&self.problem, &self.narrowing);
        let settled = &self.settled;
        let loose = self.survey.loose.get_or_insert_with(|| {
            let cluster = loose(settled.as_ref().unwrap_or(problem.model.cluster()), doubts);
            Uniform::new(&with_cluster(problem, cluster))
        });
        loose.is_uniform(orbit)
            && loose.answer((pod, orbit[0]), budget).is_some_and(|found| !found.everywhere.is_deployable())
    }

    fn sure(&mut self, goal: &Goal, decision: Decision, budget: &Budget<'_>) -> Decision {
        match self.doubt(goal, &decision.checked, budget) {
            Ok(None) => decision,
            Ok(Some(sure)) => sure,
            Err(reason) => Decision { checked: Checked::unknown(reason), ..decision },
        }
    }

    /// Whether a checked verdict stands: as it is (`None`), with other evidence, or not at all.
    pub fn doubt(&mut self, goal: &Goal, checked: &Checked, budget: &Budget<'_>) -> Result<Option<Decision>, Reason> {
        match checked.verdict() {
            Verdict::Deployable(trace) => {
                let mut by = messages(self.widening.iter().filter(|doubt| doubt.spoils(&self.problem, trace)));
                by.extend(self.objection(trace));
                if by.is_empty() {
                    return Ok(None);
                }
                self.without_doubt(goal, budget).map(Some).ok_or(Reason::Spoiled { verdict: "deployable", by })
            }
            Verdict::Never(_) if self.is_never_at_all(goal, budget) => Ok(None),
            Verdict::Never(_) => {
                let mut by = messages(self.doubts_about(goal).iter());
                if self.settled.is_some() {
                    by.extend(history::open_ends(&self.problem.model, goal));
                }
                Err(Reason::Spoiled { verdict: "never", by })
            }
            Verdict::Unknown(_) => Ok(None),
        }
    }

    /// A trace that deploys no pod type in doubt, checked against the model itself.
    fn without_doubt(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let (problem, doubts) = (&self.problem, &self.widening);
        let mut cautious = self.binds.then(|| Strict::new(problem, doubts, Some(goal)));
        let strict = match &mut cautious {
            Some(strict) => strict,
            None => self.strict.get_or_insert_with(|| Strict::new(problem, doubts, None)),
        };
        let decision = strict.decider.decide(goal, budget);
        let Verdict::Deployable(trace) = decision.checked.verdict() else { return None };
        let trace: Trace = strict.deleted.iter().copied().chain(trace.iter()).collect();
        let objection = self.binds.then(|| history::objection(problem, &trace)).flatten();
        if objection.is_some() || doubts.iter().any(|doubt| doubt.spoils(problem, &trace)) {
            return None;
        }
        let checked = strict.checker.check(goal, Verdict::Deployable(trace), &|| false).ok()?;
        Some(Decision { checked, ..decision })
    }

    /// Why what a trace binds may make one of its later steps impossible.
    fn objection(&self, trace: &Trace) -> Option<String> {
        self.binds.then(|| history::objection(&self.problem, trace)).flatten()
    }

    /// The problem with everything possible that doubts or the history of claims leave open; `None` if they leave nothing open.
    pub fn loosened(&self) -> Option<Problem> {
        if self.narrowing.is_empty() && self.settled.is_none() {
            return None;
        }
        let cluster = self.settled.as_ref().unwrap_or(self.problem.model.cluster());
        Some(with_cluster(&self.problem, loose(cluster, &self.narrowing)))
    }

    fn is_never_at_all(&mut self, goal: &Goal, budget: &Budget<'_>) -> bool {
        if self.loose.is_none() {
            self.loose = self.loosened().map(|problem| Decider::new(&problem));
        }
        let Some(decider) = &mut self.loose else { return true };
        decider.decide(goal, budget).checked.answer() == Some(false)
    }

    /// The narrowing doubts to name when a proof does not stand: those about the goal's own pods if there are some, or else all.
    fn doubts_about(&self, goal: &Goal) -> Vec<Doubt> {
        let asked = |pod: PodId| goal.any.iter().any(|alternative| alternative.of(pod).next().is_some());
        let own: Vec<Doubt> = self.narrowing.iter().filter(|doubt| doubt.pod.is_some_and(asked)).cloned().collect();
        if own.is_empty() { self.narrowing.clone() } else { own }
    }
}

/// The same decision with a trace that ends in the goal and nothing else: what is left over is deleted at the end.
pub fn exactly(problem: &Problem, decision: Decision) -> Decision {
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return decision };
    let s = trace.after(trace.len(), &problem.start);
    let met = problem.goal.any.iter().find(|alternative| alternative.is_within(&s)).cloned().unwrap_or_default();
    let trace = trace.iter().chain(deletions(&s.minus(&met))).collect();
    match check(problem, Verdict::Deployable(trace)) {
        Ok(checked) => Decision { checked, ..decision },
        Err(_) => decision,
    }
}

impl Doubt {
    fn new(diagnostic: &Diagnostic, names: &BTreeMap<&str, PodId>) -> Self {
        Self {
            pod: diagnostic.pod.as_deref().and_then(|name| names.get(name).copied()),
            residents: diagnostic.effect == Effect::Blurs && diagnostic.code != OTHER_SCHEDULER,
            message: diagnostic.message.clone(),
        }
    }

    fn is_about(&self, pod: PodId) -> bool {
        self.pod.is_none_or(|about| about == pod)
    }

    /// Whether a trace leans on it: a step deploys a pod in doubt, or deploys beside one.
    fn spoils(&self, problem: &Problem, trace: &Trace) -> bool {
        let deploys = |action: Action| matches!(action, Action::Deploy(pod, _) if self.is_about(pod));
        trace.iter().any(deploys) || (self.residents && self.stays(problem, trace))
    }

    /// Whether some running pod in doubt is there when something is deployed.
    fn stays(&self, problem: &Problem, trace: &Trace) -> bool {
        let Some(first) = trace.iter().position(|action| matches!(action, Action::Deploy(..))) else { return false };
        let s = trace.after(first, &problem.start);
        s.iter().any(|((pod, _), _)| self.is_about(pod))
    }
}

impl Strict {
    fn new(problem: &Problem, doubts: &[Doubt], goal: Option<&Goal>) -> Self {
        let (strict, deleted) = Self::problem(problem, doubts, goal);
        Self { deleted, decider: Decider::new(&strict), checker: Checker::new(problem) }
    }

    /// The problem in which nothing in doubt is deployed or stays, and what is deleted to get there.
    fn problem(problem: &Problem, doubts: &[Doubt], goal: Option<&Goal>) -> (Problem, Vec<Action>) {
        let doubtful = |&(atom, _): &(Atom, u64)| doubts.iter().any(|doubt| doubt.residents && doubt.is_about(atom.0));
        let deleted: Configuration = problem.start.minus(&problem.kept).iter().filter(doubtful).collect();
        let mut cluster = strict(problem.model.cluster(), doubts);
        if let Some(goal) = goal {
            cluster = history::cautious(&cluster, &problem.model, goal);
        }
        let start = Arc::new(problem.start.minus(&deleted));
        (Problem { start, ..with_cluster(problem, cluster) }, deletions(&deleted).collect())
    }
}

/// The steps that delete everything in a configuration.
fn deletions(configuration: &Configuration) -> impl Iterator<Item = Action> + '_ {
    let each = |((pod, node), count): (Atom, u64)| (0..count).map(move |_| Action::Delete(pod, node));
    configuration.iter().flat_map(each)
}

fn messages<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<String> {
    let mut messages: Vec<String> = doubts.map(|doubt| doubt.message.clone()).collect();
    messages.sort();
    messages.dedup();
    messages
}

fn names(cluster: &Cluster) -> BTreeMap<&str, PodId> {
    let mut names = BTreeMap::new();
    for (id, pod) in cluster.pods.iter() {
        names.extend(pod.aliases.iter().map(|alias| (alias.as_str(), id)));
        names.insert(pod.name.as_str(), id);
    }
    names
}

fn with_cluster(problem: &Problem, cluster: Cluster) -> Problem {
    Problem { model: Arc::new(Model::new(cluster, problem.model.semantics())), ..problem.clone() }
}

/// The cluster in which no pod type in doubt is ever deployed.
fn strict(cluster: &Cluster, doubts: &[Doubt]) -> Cluster {
    let mut cluster = cluster.clone();
    for pod in cluster.pods.ids() {
        if doubts.iter().any(|doubt| doubt.is_about(pod)) {
            Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some(Barred::Doubtful);
        }
    }
    cluster
}

/// The cluster in which the pod types in doubt can be deployed anywhere, and, if there may be unseen pods, no pod needs others.
fn loose(cluster: &Cluster, doubts: &[Doubt]) -> Cluster {
    let mut cluster = cluster.clone();
    let unseen = doubts.iter().any(|doubt| doubt.pod.is_none());
    for pod in cluster.pods.ids() {
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        if doubts.iter().any(|doubt| doubt.pod == Some(pod)) {
            let anything = Toleration { key: None, operator: TolerationOperator::Exists, effect: None };
            let labels = spec.labels.clone();
            *spec = PodSpec { labels, tolerations: vec![anything], ..PodSpec::plain(spec.namespace) };
        } else if unseen {
            spec.affinity.clear();
            spec.spread.clear();
        }
    }
    cluster
}
