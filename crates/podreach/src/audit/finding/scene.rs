//! What every search for findings looks at: the cluster now, the same cluster from nothing, and whom a finding concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use podreach_core::rule::hard;
use podreach_core::verdict::Reason;
use podreach_core::{Cluster, Goal, Model, NodeId, PodId, Problem, Semantics, Verdict, cancel};

use super::Finding;
use crate::answer::{Oracle, Sure};
use crate::audit::changed::Changes;
use crate::audit::item::{Evidence, Item, Origin, Status};
use crate::audit::memory::{self, Cache, Means};
use crate::audit::policy::never::sentence;
use crate::audit::policy::recoverable::has_daemon;
use crate::audit::policy::world::World;
use crate::diagnostic::Effect;
use crate::engine::{Budget, Stop};
use crate::lower::{Declared, Kind, Lowered};
use crate::read::Span;

/// Why what rests on the absence of pods is not decided.
pub(super) const UNSEEN: &str = "there may be pods that the input does not show";

/// How often one question may ask whether to stop. A measure of work and not of time, so that the same input gives the same findings.
const WORK: u64 = 200_000;

/// The cluster, ready to be asked.
pub(super) struct Scene<'a> {
    /// The input.
    pub(super) lowered: &'a Lowered,
    /// The cluster from what runs now.
    pub(super) now: Problem,
    /// The cluster from what is kept and nothing else.
    pub(super) fresh: Problem,
    /// Whom findings can be about, one for each pod type.
    pub(super) subjects: Vec<Subject>,
    /// The same as rules see it.
    pub(super) world: World,
    oracles: [Oracle; 2],
    budget: Budget<'a>,
    pub(super) memory: &'a dyn Cache,
}

/// A pod type that someone would want to know about.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The type.
    pub(super) pod: PodId,
    /// The workloads of that type, or else its pods.
    pub(super) names: Vec<String>,
    /// What kind of object the first of them is.
    pub(super) kind: Kind,
}

/// What the cluster starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// What runs now.
    Now,
    /// What is kept and nothing else.
    Fresh,
}

impl From {
    fn index(self) -> usize {
        usize::from(self == Self::Fresh)
    }
}

impl<'a> Scene<'a> {
    /// The scene of an input.
    pub(super) fn new(lowered: &'a Lowered, semantics: Semantics, budget: Budget<'a>, memory: &'a dyn Cache) -> Self {
        let now = crate::lower::problem(lowered, semantics);
        let unsettled: Vec<NodeId> = now.start.unsettled().iter().copied().collect();
        let start = Arc::new((*now.kept).clone().with_unsettled(unsettled));
        let fresh = Problem { start, ..now.without_waiting() };
        let oracles = [&now, &fresh].map(|problem| Oracle::new(problem, &lowered.diagnostics));
        let selected = now.model.pods().map(|_| vec![0]).collect();
        let (diagnostics, changes) = (lowered.diagnostics.clone(), Changes::default());
        let world = World { problem: now.clone(), diagnostics, selected, changes };
        Self { subjects: subjects(lowered), lowered, now, fresh, world, oracles, budget, memory }
    }

    /// The cluster's tables.
    pub(super) fn model(&self) -> Arc<Model> {
        self.now.model.clone()
    }

    /// Answers a question about the cluster as it is.
    pub(super) fn ask(&mut self, from: From, goal: &Goal) -> Sure {
        let goal = self.asked(from, goal);
        let (budget, oracle) = (self.budget, &mut self.oracles[from.index()]);
        within(&budget, |budget| memory::answer(Means { budget, memory: self.memory }, oracle, &goal))
    }

    /// What a search may take that is made of many questions.
    pub(super) fn budget(&self) -> Budget<'a> {
        Budget { threads: 1, ..self.budget }
    }

    /// Whether there is no time left.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop().is_some()
    }

    /// Why the search is to end, if it is.
    pub(super) fn stop(&self) -> Option<Stop> {
        (self.budget.interrupt)()
    }

    /// Looks at one thing after the other as long as there is time, and keeps what was found until then.
    pub(super) fn each<T, I: IntoIterator<Item = Item>>(
        &mut self,
        things: impl IntoIterator<Item = T>,
        mut look: impl FnMut(&mut Self, T) -> I,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        for thing in things {
            // Nothing is asked of a scene any more in which something was cut off.
            let Ok(found) = cancel::attempt(|| look(self, thing).into_iter().collect::<Vec<Item>>()) else { break };
            items.extend(found);
            if self.is_stopped() {
                break;
            }
        }
        items
    }

    /// Whether there may be pods that the input does not show.
    pub(super) fn may_have_unseen_pods(&self) -> bool {
        self.lowered.diagnostics.iter().any(|d| {
            let unseen = d.pods.is_empty() && matches!(d.effect, Effect::UnderApproximates | Effect::Both);
            unseen || matches!(d.code, "S0422" | "S0461")
        })
    }

    /// A finding that is neither made nor ruled out: `what` is the open question as a clause, `why` the reason. That time ran out is said
    /// once for all.
    pub(super) fn undecided(&self, finding: &Finding, names: &[String], what: &str, why: &str) -> Option<Item> {
        (!self.is_stopped()).then(|| Item {
            status: Status::Undecided,
            explanation: vec![sentence(why)],
            fix: None,
            ..self.item(finding, names, format!("{what} is not decided"))
        })
    }

    /// Answers a question about another cluster, to which the same remarks apply.
    pub(super) fn ask_of(&self, problem: &Problem, goal: &Goal) -> Sure {
        let mut oracle = Oracle::new(problem, &self.lowered.diagnostics);
        within(&self.budget, |budget| memory::answer(Means { budget, memory: self.memory }, &mut oracle, goal))
    }

    /// The cluster from nothing with a change.
    pub(super) fn changed(&self, change: impl FnOnce(&mut Cluster)) -> Problem {
        let mut cluster = self.fresh.model.facts();
        change(&mut cluster);
        self.fresh.with_model(Arc::new(Model::new(cluster, self.fresh.model.semantics())))
    }

    /// Some instance of a pod on any node.
    pub(super) fn anywhere(&self, pod: PodId) -> Goal {
        let m = &self.now.model;
        let waiting = m.cluster().replicas.get(&pod).and_then(|replicas| replicas.waiting);
        let types = std::iter::once(pod).chain(waiting);
        let atoms = types.flat_map(|pod| m.nodes().map(move |node| (pod, node)));
        Goal { any: atoms.map(|atom| [(atom, 1)].into_iter().collect()).collect() }
    }

    /// A goal from a start: from nothing, no pod waits for a node.
    pub(super) fn asked(&self, from: From, goal: &Goal) -> Goal {
        let cluster = self.now.model.cluster();
        let there = goal
            .any
            .iter()
            .filter(|alternative| from == From::Now || !alternative.iter().any(|((pod, _), _)| cluster.is_twin(pod)));
        Goal { any: there.cloned().collect() }
    }

    /// A node where a pod can be deployed right after everything that is not kept was deleted: in the cluster too, if nothing is in doubt
    /// about the pod.
    pub(super) fn easy_place(&self, pod: PodId) -> Option<NodeId> {
        let m = &self.fresh.model;
        let place = m.nodes().find(|&node| hard(m, &self.fresh.start, pod, node))?;
        self.oracles[From::Fresh.index()].can_step(pod, place).then_some(place)
    }

    /// The pod types of which the model may allow more than the cluster does, with what is kept and nothing else.
    pub(super) fn doubtful(&self) -> BTreeSet<PodId> {
        self.oracles[From::Fresh.index()].doubtful()
    }

    /// What a workload asks for, and its type.
    pub(super) fn declared(&self) -> Vec<(&'a str, PodId, Declared)> {
        let types = types(&self.lowered.cluster);
        let origins = self.lowered.origins.pods.iter();
        origins
            .filter_map(|(name, origin)| Some((name.as_str(), *types.get(name.as_str())?, origin.declared?)))
            .collect()
    }

    /// Whether there is to be a pod of a workload anywhere: not of one that asks for none or makes none as it is, nor of a DaemonSet that selects no
    /// node.
    pub(super) fn wants_pods(&self, subject: &Subject) -> bool {
        let m = &self.now.model;
        subject.names.iter().any(|name| {
            let Some(origin) = self.lowered.origins.pods.get(name) else { return true };
            match origin.declared {
                _ if origin.idle => false,
                Some(declared) if declared.per_node => m.nodes().any(|node| has_daemon(m, subject.pod, node)),
                Some(declared) => declared.replicas > 0,
                None => true,
            }
        })
    }

    /// Whether someone sees to it that pods of a type run.
    pub(super) fn is_lasting(&self, pod: PodId) -> bool {
        self.declared().iter().any(|&(_, id, declared)| id == pod && declared.replicas > 0)
    }

    /// The evidence of an answer about another cluster.
    pub(super) fn evidence_of(
        &self,
        world: &World,
        shows: String,
        decision: Sure,
        changed: Option<String>,
    ) -> Evidence {
        Evidence { shows, decision, short: None, changed, changes: world.changes() }
    }

    /// An item about names, to be completed.
    pub(super) fn item(&self, finding: &Finding, names: &[String], message: impl Into<String>) -> Item {
        let span = names.iter().find_map(|name| self.lowered.origins.pods.get(name)).map(|origin| origin.span);
        item(finding, span, names, message)
    }
}

/// An item about names, to be completed.
pub(super) fn item(finding: &Finding, span: Option<Span>, names: &[String], message: impl Into<String>) -> Item {
    Item {
        origin: Origin::Finding(finding.code),
        status: Status::Violated,
        severity: finding.severity,
        subject: names.to_vec(),
        span,
        message: message.into(),
        explanation: vec![finding.explanation.to_owned()],
        fix: Some(finding.fix.to_owned()),
        evidence: Vec::new(),
        boundary: None,
    }
}

/// Lets a question be answered with so much work and no more.
fn within(budget: &Budget<'_>, answer: impl FnOnce(&Budget<'_>) -> Sure) -> Sure {
    let asked = AtomicU64::new(0);
    let interrupt = || {
        let spent = asked.fetch_add(1, Ordering::Relaxed) >= WORK;
        (budget.interrupt)().or_else(|| spent.then_some(Stop::Timeout))
    };
    answer(&Budget { interrupt: &interrupt, threads: 1, ..*budget })
}

/// Why nothing came of a search for evidence.
#[derive(Clone, Debug)]
pub(super) enum Open {
    /// There is too much to look at.
    TooMany,
    /// The question was not decided.
    Undecided(Reason),
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "there are too many pods and nodes to look at"),
            Self::Undecided(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Open {}

/// The evidence that something is never so, if that was proved.
pub(super) fn ruled_out(shows: String, decision: Sure) -> Result<Option<Evidence>, Open> {
    match decision.checked.verdict() {
        Verdict::Deployable(_) => Ok(None),
        Verdict::Never(_) => Ok(Some(Evidence::new(shows, decision))),
        Verdict::Unknown(reason) => Err(Open::Undecided(reason.clone())),
    }
}

/// The type of every name.
pub(super) fn types(cluster: &Cluster) -> BTreeMap<&str, PodId> {
    let types = cluster.pods.iter().filter(|(id, _)| !cluster.is_twin(*id));
    types.map(|(id, pod)| (pod.name.as_str(), id)).collect()
}

/// The pod types that someone would want to know about: not those that nobody wants more of, nor pods that are over or out of date.
pub(super) fn subjects(lowered: &Lowered) -> Vec<Subject> {
    let origins = &lowered.origins.pods;
    let types = lowered.cluster.pods.iter().filter(|(id, _)| !lowered.cluster.is_twin(*id));
    let subjects = types.filter_map(|(pod, known)| {
        let origin = origins.get(&known.name)?;
        let current = !origin.outdated && !origin.beyond && (origin.kind != Kind::Pod || origin.declared.is_some());
        let names = Some(vec![known.name.clone()]).filter(|_| current)?;
        let kind = origin.kind;
        let wanted = known.spec.barred.as_ref().is_none_or(|why| !why.is_unwanted());
        wanted.then_some(Subject { pod, names, kind })
    });
    let mut subjects: Vec<Subject> = subjects.collect();
    subjects.sort_by(|a, b| a.names.cmp(&b.names));
    subjects
}
