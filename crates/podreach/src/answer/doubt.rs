//! Doubts: how the model may differ from the cluster, by what remarks about the input say.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::id::Symbol;
use podreach_core::{Action, Configuration, Model, NodeId, PodId, Problem, Trace, Weakening};

use crate::diagnostic::{Diagnostic, Effect};
use crate::history;

const OTHER_SCHEDULER: &str = "S0415";
const INSTANCE_LABELS: &str = "S0422";
const BOUND_BY_NAME: &str = "S0425";
/// A running pod that takes another amount of its node than its spec says.
const RESIZED: &str = "S0428";
const POLICY_ENGINE: &str = "S0405";
/// New pods may be changed, labels and all, by webhooks and policies; by annotations of their namespace; by
/// something unseen. What runs is what it is.
const CHANGED: [&str; 3] = ["S0461", "S0463", "S0467"];
/// What nodes that are still starting leave in doubt is read off the model, node by node.
pub(crate) const STARTING: &str = "S0473";

/// A way in which the model may differ from the cluster.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    /// The pod types it is about; none for all of them.
    pub(super) pods: BTreeSet<PodId>,
    /// The nodes on which it is about deployments.
    pub(super) on: Place,
    /// The nodes of which one must have settled before it is about deployments; none if it is so at any time.
    pub(super) after: BTreeSet<NodeId>,
    /// The types of which a pod must be there when another is deployed for it to matter; none if it matters by itself.
    pub(super) beside: Option<BTreeSet<PodId>>,
    /// How far it extends to the running pods of the types.
    pub(super) residents: Residents,
    pub(super) message: String,
}

/// Some of the nodes.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// All of them.
    Anywhere,
    /// Those that lack a label, and these are they.
    Without(Symbol, BTreeSet<NodeId>),
    /// These.
    On(BTreeSet<NodeId>),
}

/// What a doubt about pod types says of their pods that run at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residents {
    /// Nothing: they are as they are seen.
    AsSeen,
    /// That it is not known what they take of their own node.
    RoomInDoubt,
    /// That what they do to others is not known.
    InDoubt,
}

impl Doubt {
    /// `None` for a doubt about types that are not there.
    pub(super) fn new(diagnostic: &Diagnostic, m: &Model, names: &BTreeMap<&str, Vec<PodId>>) -> Option<Self> {
        let pods: BTreeSet<PodId> =
            diagnostic.pods.iter().filter_map(|name| names.get(name.as_str())).flatten().copied().collect();
        let residents = match diagnostic.code {
            _ if diagnostic.effect != Effect::Both => Residents::AsSeen,
            OTHER_SCHEDULER => Residents::AsSeen,
            code if CHANGED.contains(&code) => Residents::AsSeen,
            // Quotas count what they take wherever they run.
            RESIZED if m.cluster().quotas.is_empty() => Residents::RoomInDoubt,
            _ => Residents::InDoubt,
        };
        let there = (diagnostic.pods.is_empty() || !pods.is_empty()) && diagnostic.code != STARTING;
        let lacked = diagnostic.lacking.and_then(|lacked| m.cluster().symbols.symbol(lacked.label()));
        let on = lacked.map_or(Place::Anywhere, |key| {
            let lacks = |node: &NodeId| m.node(*node).labels.value(key).is_none();
            Place::Without(key, m.nodes().filter(lacks).collect())
        });
        there.then(|| Self {
            pods,
            on,
            after: BTreeSet::new(),
            beside: None,
            residents,
            message: diagnostic.message.clone(),
        })
    }

    /// Whether it is about deploying on a node.
    pub(super) fn is_on(&self, node: NodeId) -> bool {
        match &self.on {
            Place::Anywhere => true,
            Place::Without(_, nodes) | Place::On(nodes) => nodes.contains(&node),
        }
    }

    pub(super) fn is_about(&self, pod: PodId) -> bool {
        self.pods.is_empty() || self.pods.contains(&pod)
    }

    /// Whether it is about deployments from a start in which nothing has settled yet.
    pub(super) fn is_about_now(&self, problem: &Problem) -> bool {
        self.after.is_empty() || !self.after.is_subset(problem.start.unsettled())
    }

    /// Whether a trace leans on it: a step deploys a pod in doubt, or deploys beside one.
    pub(super) fn spoils(&self, problem: &Problem, trace: &Trace) -> bool {
        let deploys =
            |action: Action| matches!(action, Action::Deploy(pod, node) if self.is_about(pod) && self.is_on(node));
        let mut steps = self.company(problem, trace).skip(self.since(problem, trace));
        steps.any(|(action, has_company)| has_company && deploys(action))
            || (self.residents != Residents::AsSeen && self.stays(problem, trace))
    }

    /// The steps of a trace, each with whether a pod beside which it matters is there before.
    fn company(&self, problem: &Problem, trace: &Trace) -> impl Iterator<Item = (Action, bool)> {
        let m = &problem.model;
        // A pod that is being deleted is there until it is gone.
        let matters = |pod: PodId| self.beside.as_ref().is_some_and(|others| others.contains(&m.base(pod)));
        let running = problem.start.iter().filter(|((pod, node), _)| *node != NodeId::NOWHERE && matters(*pod));
        let mut there: u64 = running.map(|(_, count)| count).sum();
        trace.iter().map(move |action| {
            let has_company = there > 0 || self.beside.is_none();
            match action {
                Action::Deploy(pod, _) if matters(pod) => there += 1,
                Action::Delete(pod, _) if matters(pod) => there = there.saturating_sub(1),
                _ => {}
            }
            (action, has_company)
        })
    }

    /// The first step of a trace that it can be about.
    fn since(&self, problem: &Problem, trace: &Trace) -> usize {
        if self.is_about_now(problem) {
            return 0;
        }
        let settles = |action: Action| matches!(action, Action::Settle(node) if self.after.contains(&node));
        trace.iter().position(settles).unwrap_or(trace.len())
    }

    /// Whether some running pod in doubt is there when something is deployed that it may be in the way of.
    fn stays(&self, problem: &Problem, trace: &Trace) -> bool {
        let Some(first) = trace.iter().position(|action| matches!(action, Action::Deploy(..))) else { return false };
        let running = self.running(&trace.after(first, &problem.model, &problem.start)).collect();
        let mut deployed = trace.iter().filter(|action| matches!(action, Action::Deploy(..))).filter_map(Action::node);
        deployed.any(|node| self.reaches(&running, node))
    }

    /// The nodes where pods run at the start that it extends to.
    pub(super) fn running(&self, start: &Configuration) -> impl Iterator<Item = NodeId> {
        let extends = self.residents != Residents::AsSeen;
        let atoms = start.iter().filter(move |_| extends).map(|(atom, _)| atom);
        atoms.filter(|(pod, node)| *node != NodeId::NOWHERE && self.is_about(*pod)).map(|(_, node)| node)
    }

    /// Whether it extends to what a deployment on a node meets, if pods that it extends to run on these.
    pub(super) fn reaches(&self, running: &BTreeSet<NodeId>, node: NodeId) -> bool {
        match self.residents {
            Residents::AsSeen => false,
            Residents::RoomInDoubt => running.contains(&node),
            Residents::InDoubt => !running.is_empty(),
        }
    }
}

/// What makes a model weak enough for all doubts.
pub(super) fn weakenings(
    problem: &Problem,
    diagnostics: &[Diagnostic],
    names: &BTreeMap<&str, Vec<PodId>>,
) -> Vec<Weakening> {
    let mut all = BTreeSet::new();
    let narrows = |d: &&Diagnostic| matches!(d.effect, Effect::UnderApproximates | Effect::Both) && d.code != STARTING;
    for diagnostic in diagnostics.iter().filter(narrows) {
        let pods = diagnostic.pods.iter().filter_map(|name| names.get(name.as_str())).flatten().copied();
        let weakening = if diagnostic.code == BOUND_BY_NAME { Weakening::Unscheduled } else { Weakening::Unruled };
        all.extend(pods.map(weakening));
        let symbols = &problem.model.cluster().symbols;
        all.extend(diagnostic.keys.keys().filter_map(|key| symbols.symbol(key)).map(Weakening::Unlabelled));
        if diagnostic.pods.is_empty()
            || (diagnostic.code == INSTANCE_LABELS && diagnostic.keys.is_empty())
            || diagnostic.code == CHANGED[0]
        {
            all.insert(Weakening::Unseen);
        }
        if diagnostic.pods.is_empty() && diagnostic.code == POLICY_ENGINE {
            all.extend(problem.model.pods().map(Weakening::Unruled));
        }
    }
    all.extend(history::weakenings(&problem.model));
    if problem.model.settling_matters() && !problem.start.unsettled().is_empty() {
        all.insert(Weakening::Uneven);
    }
    all.into_iter().collect()
}

/// What these doubts say, in order, nothing twice.
pub(super) fn messages<'d>(doubts: impl Iterator<Item = &'d Doubt>) -> Vec<String> {
    let mut messages: Vec<String> = doubts.map(|doubt| doubt.message.clone()).collect();
    messages.sort();
    messages.dedup();
    messages
}

/// The types of each name: pods that wait for a node go under the name of what would be made in their place.
pub(super) fn names(m: &Model) -> BTreeMap<&str, Vec<PodId>> {
    let mut names = BTreeMap::<&str, Vec<PodId>>::new();
    m.pods().for_each(|pod| names.entry(m.pod_name(pod)).or_default().push(pod));
    names
}
