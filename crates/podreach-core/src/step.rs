//! Problems and steps: the whole meaning of a cluster in motion.
//!
//! ```text
//!      Hard(p, n, s)                     s(p, n) > kept(p, n)
//!  ─────────────────────  Deploy        ──────────────────────  Delete
//!   s ──→ s + (p, n)                      s ──→ s − (p, n)
//! ```
//! Paper: section 2, "Scheduling as a Transition System"; `kept` is empty there.

use std::sync::Arc;

use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{NodeId, PodId};
use crate::model::Model;
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
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A new instance is bound to the node.
    Deploy(PodId, NodeId),
    /// An instance disappears, for whatever reason.
    Delete(PodId, NodeId),
}

impl Action {
    /// What it deploys or deletes.
    pub fn atom(self) -> Atom {
        let (Self::Deploy(pod, node) | Self::Delete(pod, node)) = self;
        (pod, node)
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
}

impl Problem {
    /// A problem in which everything may be deleted.
    pub fn new(model: Arc<Model>, start: Configuration, goal: Goal) -> Self {
        Self { model, start: Arc::new(start), kept: Arc::default(), goal }
    }

    /// The same cluster and start, asked for something else.
    #[must_use]
    pub fn with_goal(&self, goal: Goal) -> Self {
        Self { goal, ..self.clone() }
    }

    /// Whether an atom can be present in some configuration, as far as the pod, the node and the start can tell.
    pub fn is_possible(&self, (pod, node): Atom) -> bool {
        self.model.placeable(pod, node) || self.start.count((pod, node)) > 0
    }

    /// Takes a step: changes `s`, or says why it is not legal and leaves `s` as it was.
    pub fn step(&self, s: &mut impl Changing, action: Action) -> Result<(), Illegal> {
        match action {
            Action::Deploy(pod, node) => {
                self.deployment(s, pod, node)?;
                s.add((pod, node));
            }
            Action::Delete(pod, node) => {
                if s.count((pod, node)) <= self.kept.count((pod, node)) {
                    return Err(Illegal::NothingToDelete);
                }
                s.remove((pod, node));
            }
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
        match rule::first_refusal(&self.model, s, pod, node) {
            Some((rule, refusal)) => Err(Illegal::Refused(rule, refusal)),
            None => Ok(()),
        }
    }
}
