//! Problems and steps: the whole meaning of a cluster in motion.
//!
//! ```text
//!      Hard(p, n, s)                     s(p, n) > kept(p, n)
//!  ─────────────────────  Deploy        ──────────────────────  Delete
//!   s ──→ s + (p, n)                      s ──→ s − (p, n)
//!
//!     s(p, n) > kept(p, n)                  n is unsettled in s
//!  ───────────────────────────  Terminate   ─────────────────────────────  Settle
//!   s ──→ s − (p, n) + (p†, n)               s ──→ s with n settled
//! ```
//! Deletion takes time: `p†` is `p` while it is being deleted. It still serves affinity, takes room and repels, and topology spread,
//! quotas and ReplicaSets no longer count it. Only pods that something counts in this way have a `p†`; see [`crate::shadow`].
//! A pod that waits for a node is `p°` until it is bound, which consumes it, or deleted (*Withdraw*); see [`crate::unbound`].
//! What passes on a node (a taint of a node that is not ready, a cordon) goes in one step, and does not come back.
//! Nodes of pools come and go while they are empty (*Add*, *Remove*); these steps change nothing, see [`crate::elastic`].
//! Paper: section 2, "Scheduling as a Transition System", has the first two, and `kept` is empty there.

use std::sync::Arc;

use crate::cancel;
use crate::cluster::{Barred, Lifetime};
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{NodeId, PodId};
use crate::model::Model;
use crate::roster::Roster;
use crate::rule::{self, Refusal, Rule};
use crate::running::{Changing, Running};

/// A question: the unit every engine, encoder, test and benchmark speaks.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What no step changes.
    pub model: Arc<Model>,
    /// What runs at first; it need not satisfy its own constraints.
    pub start: Arc<Configuration>,
    /// What is never deleted; within the start.
    pub kept: Arc<Configuration>,
    /// What is asked for.
    pub goal: Goal,
    /// The goal in the words it was asked in, where those are others.
    pub asked: Option<Arc<Asked>>,
    /// The pod types that take part; all of them, unless some stand for others.
    pub roster: Roster,
    /// Whether a goal asks for pods that are not being deleted, as demands do.
    pub standing: bool,
}

/// A goal in the words it was asked in: workloads by their names, where the goal itself has the types of their pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What was asked for.
    pub goal: Goal,
    /// Which alternative of it each alternative of the goal itself stands for.
    pub of: Vec<usize>,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A new instance is bound to the node.
    Deploy(PodId, NodeId),
    /// An instance disappears, for whatever reason.
    Delete(PodId, NodeId),
    /// The deletion of an instance begins.
    Terminate(PodId, NodeId),
    /// The node loses what passes on it: it gets ready, and is uncordoned.
    Settle(NodeId),
    /// A pod that waits for a node is deleted; of this type it would have been on one.
    Withdraw(PodId),
    /// The node comes, empty. It changes nothing: a node that comes and goes is there while pods are on it.
    Add(NodeId),
    /// The node goes, empty. It changes nothing either.
    Remove(NodeId),
}

impl Action {
    /// The pod type and the node that it is about; `None` when it is about the node alone.
    pub fn atom(self) -> Option<Atom> {
        match self {
            Self::Deploy(pod, node) | Self::Delete(pod, node) | Self::Terminate(pod, node) => Some((pod, node)),
            Self::Settle(_) | Self::Withdraw(_) | Self::Add(_) | Self::Remove(_) => None,
        }
    }

    /// The pod type that it is about, if it is about one.
    pub fn pod(self) -> Option<PodId> {
        match self {
            Self::Deploy(pod, _) | Self::Delete(pod, _) | Self::Terminate(pod, _) | Self::Withdraw(pod) => Some(pod),
            Self::Settle(_) | Self::Add(_) | Self::Remove(_) => None,
        }
    }

    /// The node that it is about, if it is about one.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Self::Deploy(_, node) | Self::Delete(_, node) | Self::Terminate(_, node) => Some(node),
            Self::Settle(node) | Self::Add(node) | Self::Remove(node) => Some(node),
            Self::Withdraw(_) => None,
        }
    }
}

/// Why a step is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// The pod type or the node does not exist.
    Unknown,
    /// The pod type is never deployed.
    Barred,
    /// A rule refuses the deployment.
    Refused(Rule, Refusal),
    /// No instance is there to delete, or those that are must stay.
    NothingToDelete,
    /// No pod of the type waits for a node any more.
    NoneWaits,
    /// Whether the pod is being deleted makes no difference, so that this is not a step of its own.
    NoShadow,
    /// Nothing passes on the node.
    NothingPasses,
    /// The node does not come and go, or not while pods are on it.
    NodeStays,
}

impl Model {
    /// The step that takes one pod away, whether it runs or waits.
    pub fn deletion(&self, (pod, node): Atom) -> Action {
        self.bound(pod).map_or(Action::Delete(pod, node), Action::Withdraw)
    }
}

impl Problem {
    /// A problem in which everything may be deleted.
    pub fn new(model: Arc<Model>, start: Configuration, goal: Goal) -> Self {
        // Where nothing passes, a node has settled.
        let unsettled: Vec<NodeId> = start.unsettled().iter().copied().collect();
        let unsettled = unsettled.into_iter().filter(|&node| !model.node(node).passing.is_nothing());
        let start = start.with_unsettled(unsettled.collect::<Vec<_>>());
        let mut start = start.resolved(|pod| model.shadow(pod).unwrap_or(pod));
        for (&pod, waiting) in &model.cluster().waiting {
            model.consumed(pod).into_iter().for_each(|unbound| start.set(unbound, waiting.count));
        }
        Self {
            model,
            start: Arc::new(start),
            kept: Arc::default(),
            goal,
            asked: None,
            roster: Roster::default(),
            standing: false,
        }
    }

    /// The same question about other facts of the same pods and nodes. What is being deleted is known by its type in between, and so
    /// is what waits for a node.
    #[must_use]
    pub fn with_model(&self, model: Arc<Model>) -> Self {
        let (mut start, mut dying) = (Configuration::new(), Vec::new());
        for (atom @ (pod, node), count) in self.start.iter().filter(|((pod, _), _)| self.model.bound(*pod).is_none()) {
            match self.model.shadowed(pod) {
                Some(base) => dying.extend((0..count).map(|_| (base, node))),
                None => start.set(atom, count),
            }
        }
        let start = start.with_unsettled(self.start.unsettled().iter().copied()).with_terminating(dying);
        let mut fresh = Self::new(model, start, self.goal.clone());
        for &pod in self.model.cluster().waiting.keys() {
            if let (Some(old), Some(new)) = (self.model.consumed(pod), fresh.model.consumed(pod)) {
                let left = self.start.count(old).min(fresh.start.count(new));
                Arc::make_mut(&mut fresh.start).set(new, left);
            }
        }
        Self { kept: self.kept.clone(), standing: self.standing, ..fresh }
    }

    /// The problem in which nothing waits for a node: whatever did was deleted.
    #[must_use]
    pub fn without_waiting(&self) -> Self {
        let mut cluster = self.model.facts();
        if cluster.waiting.is_empty() {
            return self.clone();
        }
        for (&pod, waiting) in &mut cluster.waiting {
            waiting.count = 0;
            Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some(Barred::LeftOut("it waits for a node no longer"));
        }
        self.with_model(Arc::new(Model::new(cluster, self.model.semantics())))
    }

    /// The same cluster and start, asked for something else.
    #[must_use]
    pub fn with_goal(&self, goal: Goal) -> Self {
        Self { goal, asked: None, ..self.clone() }
    }

    /// The same cluster and start, asked for this; in the words it was asked in, where it is the problem's own goal.
    #[must_use]
    pub fn asking(&self, goal: &Goal) -> Self {
        if *goal == self.goal { self.clone() } else { self.with_goal(goal.clone()) }
    }

    /// The goal in the words it was asked in.
    pub fn asked(&self) -> &Goal {
        self.asked.as_ref().map_or(&self.goal, |asked| &asked.goal)
    }

    /// The same problem, whose goals ask for pods that are not being deleted.
    #[must_use]
    pub fn with_standing_goals(&self) -> Self {
        Self { standing: true, ..self.clone() }
    }

    /// The pod types that take part, terminating ones included, in order.
    pub fn pods(&self) -> impl Iterator<Item = PodId> + Clone + '_ {
        self.model.every_pod().filter(|&pod| self.roster.contains(pod))
    }

    /// Whether an atom can be present in some configuration, as far as the pod, the node and the start can tell.
    pub fn is_possible(&self, (pod, node): Atom) -> bool {
        if !self.roster.contains(pod) {
            return false;
        }
        let possible = |pod| self.model.placeable(pod, node) || self.start.count((pod, node)) > 0;
        possible(pod) || self.model.shadowed(pod).is_some_and(possible)
    }

    /// Whether a configuration is enough for a goal: a pod that is being deleted still runs, which is enough unless it is to stay.
    pub fn is_met(&self, goal: &Goal, s: &impl Running) -> bool {
        goal.any.iter().any(|alternative| alternative.iter().all(|(atom, count)| count <= self.counted(atom, s)))
    }

    /// How many instances of an atom a goal counts: with those that are being deleted, unless goals are standing.
    fn counted(&self, (pod, node): Atom, s: &impl Running) -> u64 {
        let shadow = self.model.shadow(pod).filter(|_| !self.standing);
        let shadow = shadow.map_or(0, |shadow| s.count((shadow, node)));
        s.count((pod, node)).saturating_add(shadow)
    }

    /// A goal that is reached exactly if this one is met: of several pods at once, each may be terminating, and none need be more,
    /// but for those that must stay.
    pub fn meant(&self, goal: &Goal) -> Goal {
        Goal { any: goal.any.iter().map(|alternative| self.meant_by(alternative)).collect() }
    }

    fn meant_by(&self, alternative: &Configuration) -> Configuration {
        let several = !self.standing && alternative.minus(&self.kept).size() > 1;
        let mut meant = Configuration::new();
        for (atom @ (pod, node), count) in alternative.iter() {
            let shadow = self.model.shadow(pod).filter(|&shadow| several && self.roster.contains(shadow));
            let stay = shadow.map_or(count, |_| self.kept.count(atom).min(count));
            meant.set(atom, stay);
            shadow.into_iter().for_each(|shadow| meant.set((shadow, node), count - stay));
        }
        meant
    }

    /// Takes a step: changes `s`, or says why it is not legal and leaves `s` as it was.
    pub fn step(&self, s: &mut impl Changing, action: Action) -> Result<(), Illegal> {
        cancel::poll();
        match action {
            Action::Deploy(pod, node) => {
                self.deployment(s, pod, node)?;
                self.model.consumed(pod).into_iter().for_each(|unbound| s.remove(unbound));
                s.add((pod, node));
            }
            Action::Delete(pod, node) => {
                self.model.cluster().nodes.get(node).ok_or(Illegal::NothingToDelete)?;
                self.deletion(s, pod, node)?;
                s.remove((pod, node));
            }
            Action::Terminate(pod, node) => {
                self.deletion(s, pod, node)?;
                let shadow = self.model.shadow(pod).ok_or(Illegal::NoShadow)?;
                s.remove((pod, node));
                s.add((shadow, node));
            }
            Action::Settle(node) => {
                self.model.cluster().nodes.get(node).ok_or(Illegal::Unknown)?;
                if !s.settle(node) {
                    return Err(Illegal::NothingPasses);
                }
            }
            Action::Withdraw(pod) => {
                let unbound = self.model.consumed(pod).ok_or(Illegal::NothingToDelete)?;
                self.deletion(s, unbound.0, unbound.1)?;
                s.remove(unbound);
            }
            Action::Add(node) | Action::Remove(node) => self.comes_or_goes(s, node)?,
        }
        Ok(())
    }

    /// A node comes or goes while nothing is on it.
    fn comes_or_goes(&self, s: &impl Running, node: NodeId) -> Result<(), Illegal> {
        let known = self.model.cluster().nodes.get(node).ok_or(Illegal::Unknown)?;
        let moves = matches!(known.lifetime, Lifetime::Existing(_) | Lifetime::New(_));
        if moves && s.on(node).next().is_none() { Ok(()) } else { Err(Illegal::NodeStays) }
    }

    fn deletion(&self, s: &impl Running, pod: PodId, node: NodeId) -> Result<(), Illegal> {
        if s.count((pod, node)) <= self.kept.count((pod, node)) {
            return Err(Illegal::NothingToDelete);
        }
        Ok(())
    }

    fn deployment(&self, s: &impl Running, pod: PodId, node: NodeId) -> Result<(), Illegal> {
        let cluster = self.model.cluster();
        if cluster.pods.get(pod).is_none() || cluster.nodes.get(node).is_none() {
            return Err(Illegal::Unknown);
        }
        if self.model.pod(pod).barred.is_some() {
            return Err(Illegal::Barred);
        }
        if self.model.consumed(pod).is_some_and(|unbound| s.count(unbound) == 0) {
            return Err(Illegal::NoneWaits);
        }
        match rule::first_refusal(&self.model, s, pod, node) {
            Some((rule, refusal)) => Err(Illegal::Refused(rule, refusal)),
            None => Ok(()),
        }
    }
}
