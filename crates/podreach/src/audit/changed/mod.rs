//! Clusters that differ from the input, as lists of changes by name.
//!
//! Audits ask about clusters that someone could make of the input: an actor, an edit, a drain. Each world carries how it was made, evidence
//! about it says so in its document, and whoever has the input and the document makes the same cluster again, by the same code:
//!
//! ```text
//! actor, edit, finding ─> Step ─ made ─> World ─ list ─> document ─ read ─> Step ─ made ─> the problem that `verify` checks
//! ```
//! What is left to trust is which changes an audit looks at; what they do is what `core/src/facts/change.rs` says.

mod error;
mod name;
mod say;

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::{Action, Atom, Configuration, Model, NodeId, PodId, Problem, Semantics, Trace, Verdict};
use serde_json::Value;

use super::policy::world::{Draft, World};
use crate::lower::{Lowered, Scheduling};
use crate::words;

pub use error::ChangeError;
pub(crate) use say::{condition, tolerated};

/// What makes one cluster of another.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A fact changes.
    Change(Change),
    /// A node is drained: cordoned for good, and its pods gone, but for those that are kept.
    Drain(NodeId),
    /// There is no such node.
    LoseNode(NodeId),
    /// There are no pods of a type.
    LosePod(PodId),
    /// Everything else was deleted at first: what runs is of these types and on these nodes, or on any.
    Only {
        /// The types.
        pods: BTreeSet<PodId>,
        /// The nodes; `None` for all.
        nodes: Option<BTreeSet<NodeId>>,
    },
}

impl Step {
    /// The step by name, as documents write it.
    pub(crate) fn by_name(&self, m: &Model) -> Value {
        name::named(m.cluster(), self, &[])
    }
}

/// A change by name, as documents write it.
pub(crate) fn by_name(m: &Model, change: &Change) -> Value {
    Step::Change(change.clone()).by_name(m)
}

/// How a world differs from the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    list: Vec<Value>,
    /// Whether it is a part of that, and has not even all nodes.
    part: Option<bool>,
}

impl Changes {
    /// These pods are added, which go through profiles of the scheduler, and ask for these nodes that are yet to come.
    pub(crate) fn of_added(draft: &Draft, first: usize, profiles: &[Scheduling], asked: &[NodeId]) -> Self {
        let added = draft.cluster.pods.values().skip(first).cloned().map(|pod| Change::Add(Box::new(pod)));
        let steps = added.chain(asked.iter().map(|&node| Change::Ask(node))).map(Step::Change);
        Self { list: steps.map(|step| name::named(&draft.cluster, &step, profiles)).collect(), part: None }
    }

    /// Adds a step, which is about a world with this model.
    pub(crate) fn push(&mut self, m: &Model, step: &Step) {
        self.list.push(step.by_name(m));
    }

    /// The same of a part, which has all nodes or not.
    pub(crate) fn in_part(&self, all_nodes: bool) -> Self {
        Self { list: self.list.clone(), part: Some(self.part.unwrap_or(true) && all_nodes) }
    }
}

impl World {
    /// How it differs from the input, by name. A run in a part of a cluster is one of the whole where all else was deleted.
    pub(crate) fn changes(&self) -> Vec<Value> {
        let mut all = self.changes.list.clone();
        if let Some(all_nodes) = self.changes.part {
            let m = self.model();
            let nodes = (!all_nodes).then(|| m.nodes().collect());
            let only = Step::Only { pods: m.pods().filter(|&pod| self.is_there(pod)).collect(), nodes };
            all.push(only.by_name(m));
        }
        all
    }

    /// Whether pods of a type run, are being deleted, or wait.
    fn is_there(&self, pod: PodId) -> bool {
        let m = self.model();
        let shadow = m.shadow(pod).is_some_and(|shadow| self.problem.start.of(shadow).next().is_some());
        shadow || self.problem.start.of(pod).next().is_some() || m.cluster().waiting.contains_key(&pod)
    }

    /// The world that changes of facts make of this one.
    #[must_use]
    pub(crate) fn changed(&self, changes: &[Change]) -> Self {
        let mut cluster = self.model().facts();
        changes.iter().for_each(|change| change.apply(&mut cluster));
        let mut changed = self.with_cluster(cluster);
        changes.iter().for_each(|change| changed.changes.push(self.model(), &Step::Change(change.clone())));
        changed
    }

    /// The world that a step makes of this one.
    #[must_use]
    pub(crate) fn made(&self, step: &Step) -> Self {
        let mut made = match step {
            Step::Change(change) => return self.changed(std::slice::from_ref(change)),
            Step::Drain(node) => Self { problem: drained(&self.problem, *node), ..self.clone() },
            Step::LoseNode(lost) => self.part_of(self.model().facts(), |_| true, |node| node != *lost).0,
            Step::LosePod(lost) => self.part_of(self.model().facts(), |pod| pod != *lost, |_| true).0,
            Step::Only { .. } => self.clone(),
        };
        made.changes = self.changes.clone();
        made.changes.push(self.model(), step);
        made
    }
}

/// The cluster with a node drained.
pub(crate) fn drained(problem: &Problem, node: NodeId) -> Problem {
    let mut cluster = problem.model.facts();
    Change::Cordon(node).apply(&mut cluster);
    let problem = problem.with_model(Arc::new(Model::new(cluster, problem.model.semantics())));
    let mut start = (*problem.start).clone();
    problem.start.on(node).for_each(|(pod, _)| start.set((pod, node), problem.kept.count((pod, node))));
    start.settle(node);
    Problem { start: Arc::new(start), ..problem }
}

/// A cluster that a document makes of the input.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The cluster, its start and what is kept.
    pub problem: Problem,
    /// Whether the document is about a part of it.
    part: bool,
    /// The steps that delete what the document leaves out.
    deleted: Vec<Action>,
    /// What was changed, as the end of a sentence; nothing if nothing was.
    pub says: String,
}

impl Changed {
    /// The input with the changes of a document; or what is wrong with them.
    pub fn new(lowered: &Lowered, semantics: Semantics, changes: &[Value]) -> Result<Self, ChangeError> {
        let mut world = World::of_input(lowered, semantics);
        let (mut added, mut says, mut deleted, mut part) = (Vec::new(), Vec::new(), Vec::new(), false);
        let mut changes = changes.iter().peekable();
        while let Some(change) = changes.next() {
            let mut cluster = world.model().facts();
            match name::resolved(&mut cluster, change, &lowered.profiles)? {
                Step::Change(new @ Change::Add(_)) => {
                    new.apply(&mut cluster);
                    // One model for all that come after each other.
                    while let Some(next) = changes.next_if(|next| next["change"] == "add") {
                        if let Step::Change(new) = name::resolved(&mut cluster, next, &lowered.profiles)? {
                            new.apply(&mut cluster);
                        }
                    }
                    let first = world.model().pods().len();
                    added.extend(cluster.pods.values().skip(first).map(|pod| pod.name.clone()));
                    world = world.with_cluster(cluster).selecting_nothing_new();
                }
                Step::Only { pods, nodes } => {
                    (deleted, part) = (others(&world.problem, &pods, nodes.as_ref()), true);
                }
                step => {
                    // The words of the change are known from here on.
                    world = world.with_cluster(cluster);
                    says.push(clause(world.model(), &step));
                    world = world.made(&step);
                }
            }
            if !deleted.is_empty() && changes.peek().is_some() {
                return Err(ChangeError::AfterDeletion);
            }
        }
        if !added.is_empty() {
            says.insert(0, format!("with {}", words::all(&words::first(added.into_iter(), 4))));
        }
        let says = if says.is_empty() { String::new() } else { format!(", {}", words::all(&says)) };
        Ok(Self { problem: world.problem, part, deleted, says })
    }

    /// A verdict about this cluster: a run begins with the deletion of what the document leaves out.
    pub(crate) fn of_whole(&self, verdict: Verdict) -> Result<Verdict, ChangeError> {
        match verdict {
            Verdict::Deployable(run) if self.part => Ok(Verdict::Deployable(self.whole_run(&run))),
            verdict if self.deleted.is_empty() => Ok(verdict),
            _ => Err(ChangeError::Part),
        }
    }

    /// A run of a part as one of the whole. Nothing in the part may tell a pod that is being deleted from what it was, and then the
    /// part has no type of its own for it.
    fn whole_run(&self, run: &Trace) -> Trace {
        let mut s = (*self.problem.start).clone();
        let all = self.deleted.iter().copied().chain(run.iter());
        all.map(|action| self.of_what_is_there(&mut s, action)).collect()
    }

    fn of_what_is_there(&self, s: &mut Configuration, action: Action) -> Action {
        match action {
            Action::Deploy(pod, node) => s.add((pod, node)),
            Action::Delete(pod, node) if self.is_free(s, (pod, node)) => s.remove((pod, node)),
            Action::Delete(pod, node) => {
                let shadow = self.problem.model.shadow(pod).filter(|&shadow| self.is_free(s, (shadow, node)));
                if let Some(shadow) = shadow {
                    s.remove((shadow, node));
                    return Action::Delete(shadow, node);
                }
            }
            Action::Terminate(pod, node) if self.is_free(s, (pod, node)) => {
                s.remove((pod, node));
                self.problem.model.shadow(pod).into_iter().for_each(|shadow| s.add((shadow, node)));
            }
            Action::Terminate(..) | Action::Settle(_) | Action::Withdraw(_) => {}
            Action::Add(_) | Action::Remove(_) => {}
        }
        action
    }

    fn is_free(&self, s: &Configuration, atom: Atom) -> bool {
        s.count(atom) > self.problem.kept.count(atom)
    }
}

/// The deletions of all that runs or waits and is of no such type, or on no such node.
fn others(problem: &Problem, pods: &BTreeSet<PodId>, nodes: Option<&BTreeSet<NodeId>>) -> Vec<Action> {
    let m = &problem.model;
    let there = problem.start.minus(&problem.kept);
    let gone = there.iter().filter(|(atom, _)| !stays(m, pods, nodes, *atom));
    gone.flat_map(|(atom, count)| (0..count).map(move |_| m.deletion(atom))).collect()
}

/// Whether an atom is of these types, and on these nodes. What waits is on none.
fn stays(m: &Model, pods: &BTreeSet<PodId>, nodes: Option<&BTreeSet<NodeId>>, (pod, node): Atom) -> bool {
    if let Some(bound) = m.bound(pod) {
        return pods.contains(&bound);
    }
    pods.contains(&m.base(pod)) && nodes.is_none_or(|nodes| nodes.contains(&node))
}

/// A step as the end of a sentence.
fn clause(m: &Model, step: &Step) -> String {
    match step {
        Step::Change(change) => format!("if {}", condition(change, m)),
        Step::Drain(node) => format!("with {} drained", m.node_name(*node)),
        Step::LoseNode(node) => format!("if node {} were lost", m.node_name(*node)),
        Step::LosePod(pod) => format!("if there were no {}", m.pod_name(*pod)),
        Step::Only { .. } => String::new(),
    }
}
