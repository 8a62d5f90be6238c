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

use podreach_core::cluster::{PodSpec, Toleration, TolerationOperator};
use podreach_core::{Action, Checked, Checker, Cluster, Goal, Model, PodId, Problem, Reason, Trace, Verdict, check};

use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::{Budget, Decider, Decision};
use crate::history;

/// Answers any number of questions about one cluster and start.
#[derive(Clone, Debug)]
pub struct Oracle {
    problem: Problem,
    decider: Decider,
    widening: Vec<Doubt>,
    narrowing: Vec<Doubt>,
    strict: Option<Strict>,
    loose: Option<Decider>,
    /// Whether deployments bind claims.
    binds: bool,
    /// The cluster once everything about volumes and devices has changed for the better, if it can.
    settled: Option<Cluster>,
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
            decider: Decider::new(problem),
            widening: doubts(Effect::Widens),
            narrowing,
            strict: None,
            loose: None,
            binds: history::matters(&problem.model),
            settled: history::settled(&problem.model),
        }
    }

    /// Decides a goal, checks the evidence, and holds the verdict back if it is in doubt.
    pub fn answer(&mut self, goal: &Goal, budget: &Budget<'_>) -> Decision {
        let decision = self.decider.decide(goal, budget);
        self.sure(goal, decision, budget)
    }

    /// A claim that someone else makes, checked and held back like any other; `None` if it is refused.
    pub fn confirm(&mut self, goal: &Goal, claim: Verdict, budget: &Budget<'_>) -> Option<Decision> {
        let decision = self.decider.confirm(goal, claim, budget)?;
        let decision = self.sure(goal, decision, budget);
        decision.checked.answer().is_some().then_some(decision)
    }

    /// The same for a goal that can be decided without a search; `None` for others.
    pub fn quick_answer(&mut self, goal: &Goal, budget: &Budget<'_>) -> Option<Decision> {
        let decision = self.decider.decide_without_search(goal, budget)?;
        Some(self.sure(goal, decision, budget))
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
        let trace = Trace(strict.deleted.iter().chain(&trace.0).copied().collect());
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

    fn is_never_at_all(&mut self, goal: &Goal, budget: &Budget<'_>) -> bool {
        let (problem, doubts) = (&self.problem, &self.narrowing);
        if doubts.is_empty() && self.settled.is_none() {
            return true;
        }
        let settled = &self.settled;
        let decider = self.loose.get_or_insert_with(|| {
            let cluster = loose(settled.as_ref().unwrap_or(problem.model.cluster()), doubts);
            Decider::new(&with_cluster(problem, cluster))
        });
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
    let mut s = (*problem.start).clone();
    trace.0.iter().for_each(|&action| problem.step(&mut s, action).expect("a checked trace is legal"));
    let met = problem.goal.any.iter().find(|alternative| alternative.is_within(&s)).cloned().unwrap_or_default();
    let leftover = s
        .minus(&met)
        .iter()
        .flat_map(|((pod, node), count)| (0..count).map(move |_| Action::Delete(pod, node)))
        .collect::<Vec<_>>();
    let trace = Trace(trace.0.iter().copied().chain(leftover).collect());
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
        let deploys = |action: &Action| matches!(*action, Action::Deploy(pod, _) if self.is_about(pod));
        trace.0.iter().any(deploys) || (self.residents && self.stays(problem, trace))
    }

    /// Whether some running pod in doubt is there when something is deployed.
    fn stays(&self, problem: &Problem, trace: &Trace) -> bool {
        let Some(first) = trace.0.iter().position(|action| matches!(action, Action::Deploy(..))) else { return false };
        let mut s = (*problem.start).clone();
        trace.0[..first].iter().for_each(|&action| problem.step(&mut s, action).expect("a checked trace is legal"));
        s.iter().any(|((pod, _), _)| self.is_about(pod))
    }
}

impl Strict {
    fn new(problem: &Problem, doubts: &[Doubt], goal: Option<&Goal>) -> Self {
        let mut start = (*problem.start).clone();
        let mut deleted = Vec::new();
        for (atom, count) in problem.start.minus(&problem.kept).iter() {
            if doubts.iter().any(|doubt| doubt.residents && doubt.is_about(atom.0)) {
                start.set(atom, start.count(atom) - count);
                deleted.extend((0..count).map(|_| Action::Delete(atom.0, atom.1)));
            }
        }
        let mut cluster = strict(problem.model.cluster(), doubts);
        if let Some(goal) = goal {
            cluster = history::cautious(&cluster, &problem.model, goal);
        }
        let strict = Problem { start: Arc::new(start), ..with_cluster(problem, cluster) };
        Self { deleted, decider: Decider::new(&strict), checker: Checker::new(problem) }
    }
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
            Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some("it is in doubt".into());
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
