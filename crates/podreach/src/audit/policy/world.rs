//! The cluster in a rule's terms: which pod types its selections select.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::{Pod, Waiting};
use podreach_core::id::IdVec;
use podreach_core::{Cluster, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Semantics};

use super::PodSelection;
use crate::audit::changed::Changes;
use crate::diagnostic::Diagnostic;
use crate::lower::{self, Lowered};

/// A cluster, and which of its pod types are selected.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The cluster, its start and what is kept; without a goal.
    pub(crate) problem: Problem,
    /// What was said about the input.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// For each pod type, which of the rule's selections (by their index) select it.
    pub(crate) selected: IdVec<PodId, Vec<usize>>,
    /// How it differs from the input.
    pub(crate) changes: Changes,
}

/// A world in the making: everything but the tables of its model.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) cluster: Cluster,
    pub(crate) start: Configuration,
    pub(crate) kept: Configuration,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) selected: IdVec<PodId, Vec<usize>>,
    pub(crate) changes: Changes,
}

impl Draft {
    /// The cluster, with what these selections select of it. What a running pod carries takes it out of no selection.
    pub(crate) fn new(lowered: &Lowered, semantics: Semantics, selections: &[&PodSelection]) -> Self {
        let (cluster, start, kept) = lower::under(lowered, semantics);
        let mut selected: IdVec<PodId, Vec<usize>> =
            cluster.pods.values().map(|pod| selecting(lowered, selections, &pod.name)).collect();
        for (&of, replicas) in &cluster.replicas {
            for &pod in &replicas.carried {
                let more: Vec<usize> = selected[of].iter().copied().filter(|at| !selected[pod].contains(at)).collect();
                selected[pod].extend(more);
                selected[pod].sort_unstable();
            }
        }
        let diagnostics = lowered.diagnostics.clone();
        Self { cluster, start, kept, diagnostics, selected, changes: Changes::default() }
    }

    /// Adds a pod type, under a name that no other has.
    pub(crate) fn add(&mut self, mut pod: Pod, selected: Vec<usize>) -> PodId {
        self.selected.push(selected);
        while self.cluster.pods.values().any(|other| other.name == pod.name) {
            pod.name.push('+');
        }
        self.cluster.pods.push(pod)
    }

    /// The world under a semantics.
    pub(crate) fn finish(self, semantics: Semantics) -> World {
        let model = Arc::new(Model::new(self.cluster, semantics));
        let problem = Problem { kept: Arc::new(self.kept), ..Problem::new(model, self.start, Goal::default()) };
        World { problem, diagnostics: self.diagnostics, selected: self.selected, changes: self.changes }
    }
}

/// Which selections select what the input calls so.
fn selecting(lowered: &Lowered, selections: &[&PodSelection], name: &str) -> Vec<usize> {
    let Some(origin) = lowered.origins.pods.get(name) else { return Vec::new() };
    (0..selections.len()).filter(|&at| selections[at].selects(name, origin)).collect()
}

impl World {
    /// The input, with nothing selected.
    pub(crate) fn of_input(lowered: &Lowered, semantics: Semantics) -> Self {
        let problem = crate::lower::problem(lowered, semantics);
        let (diagnostics, changes) = (lowered.diagnostics.clone(), Changes::default());
        Self { problem, diagnostics, selected: IdVec::new(), changes }.selecting_nothing_new()
    }

    /// The same, where pod types that were added are not selected.
    pub(crate) fn selecting_nothing_new(mut self) -> Self {
        while self.selected.len() < self.model().pods().len() {
            self.selected.push(Vec::new());
        }
        self
    }

    /// The model.
    pub(crate) fn model(&self) -> &Model {
        &self.problem.model
    }

    /// The pod types that the rule's selection of this index selects.
    pub(crate) fn pods(&self, selection: usize) -> Vec<PodId> {
        self.model().pods().filter(|&pod| self.selected[pod].contains(&selection)).collect()
    }

    /// The pod types that can take part in anything the seeds do: those that are kept, and whoever may be a witness or a
    /// counterweight of one of them. All others can be deleted at first and never deployed.
    pub(crate) fn relevant(&self, seeds: impl IntoIterator<Item = PodId>) -> BTreeSet<PodId> {
        let m = self.model();
        // A volume that another pod has attached already counts for nothing in a driver's limit.
        let attached: Vec<PodId> = m.pods().filter(|&pod| !m.pod(pod).mounts.claims.is_empty()).collect();
        let mut todo: Vec<PodId> = seeds.into_iter().collect();
        let mut relevant: BTreeSet<PodId> = todo.iter().copied().collect();
        while let Some(pod) = todo.pop() {
            let spec = m.pod(pod);
            let affinity = spec.affinity.iter().map(|term| term.matcher);
            let matchers: BTreeSet<_> = affinity.chain(spec.spread.iter().map(|spread| spread.matcher)).collect();
            if !spec.mounts.claims.is_empty() {
                todo.extend(attached.iter().copied().filter(|&q| relevant.insert(q)));
            }
            for matcher in matchers {
                let helpers = m.pods().filter(|&q| m.depends_on_node(matcher) || m.sees_unbound(matcher, q));
                todo.extend(helpers.filter(|&q| relevant.insert(q)).collect::<Vec<_>>());
            }
        }
        relevant.extend(self.problem.kept.iter().map(|((pod, _), _)| pod));
        relevant
    }

    /// The same world, started with nothing but what is kept.
    pub(crate) fn emptied(mut self) -> Self {
        let unsettled: Vec<NodeId> = self.problem.start.unsettled().iter().copied().collect();
        self.problem = self.problem.without_waiting();
        self.problem.start = Arc::new((*self.problem.kept).clone().with_unsettled(unsettled));
        self
    }

    /// The same world, asked about pods that are not being deleted, as what wants pods does.
    pub(crate) fn standing(mut self) -> Self {
        self.problem.standing = true;
        self
    }

    /// The part of the world with these pod types and nodes alone; names stay, ids do not.
    pub(crate) fn part(&self, pods: impl Fn(PodId) -> bool, nodes: impl Fn(NodeId) -> bool) -> (Self, Part) {
        // What would be made in their place distinguishes pods that wait from others of their name.
        let waiting = &self.model().cluster().waiting;
        let of_waiting: BTreeSet<PodId> =
            waiting.iter().filter(|(pod, _)| pods(**pod)).map(|(_, waiting)| waiting.of).collect();
        let pods = |pod: PodId| pods(pod) || of_waiting.contains(&pod);
        let (mut world, part) = self.part_of(self.model().facts(), pods, nodes);
        world.changes = self.changes.in_part(part.nodes.values().all(Option::is_some));
        (world, part)
    }

    /// The same part, with other facts about the same pods and nodes.
    pub(crate) fn part_of(
        &self,
        old: Cluster,
        pods: impl Fn(PodId) -> bool,
        nodes: impl Fn(NodeId) -> bool,
    ) -> (Self, Part) {
        let mut part = Part { pods: IdVec::new(), nodes: IdVec::new() };
        let (mut new_pods, mut new_nodes) = (IdVec::new(), IdVec::new());
        let mut selected = IdVec::new();
        for (id, pod) in old.pods.iter() {
            part.pods.push(pods(id).then(|| {
                selected.push(self.selected[id].clone());
                new_pods.push(pod.clone())
            }));
        }
        for (id, node) in old.nodes.iter() {
            part.nodes.push(nodes(id).then(|| new_nodes.push(node.clone())));
        }
        let waiting = part.waiting(&old);
        let mut cluster = Cluster { pods: new_pods, nodes: new_nodes, replicas: BTreeMap::new(), waiting, ..old };
        for shape in cluster.shapes.ids() {
            let nodes = cluster.shapes[shape].nodes.iter().filter_map(|&node| part.nodes[node]).collect();
            cluster.shapes[shape].nodes = nodes;
        }
        for limit in &mut cluster.limits {
            limit.pods = limit.pods.iter().filter_map(|&pod| part.pods[pod]).collect();
        }
        let draft = Draft {
            cluster,
            start: part.start(self.model(), &self.problem.start),
            kept: part.configuration(&self.problem.kept),
            diagnostics: self.diagnostics.clone(),
            selected,
            changes: self.changes.clone(),
        };
        let mut world = draft.finish(self.model().semantics());
        world.problem.standing = self.problem.standing;
        (world, part)
    }

    /// The same world with other facts about the same pods and nodes.
    pub(crate) fn with_cluster(&self, cluster: Cluster) -> Self {
        let model = Arc::new(Model::new(cluster, self.model().semantics()));
        Self { problem: self.problem.with_model(model), ..self.clone() }
    }
}

/// What became of the pods and nodes of a world in a part of it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) pods: IdVec<PodId, Option<PodId>>,
    pub(crate) nodes: IdVec<NodeId, Option<NodeId>>,
}

impl Part {
    /// The pod of the whole that became this one.
    pub(crate) fn old_pod(&self, new: PodId) -> PodId {
        let at = self.pods.values().position(|pod| *pod == Some(new)).expect("the part has it from the whole");
        PodId::from_index(at)
    }

    /// The node of the whole that became this one.
    pub(crate) fn old_node(&self, new: NodeId) -> NodeId {
        let at = self.nodes.values().position(|node| *node == Some(new)).expect("the part has it from the whole");
        NodeId::from_index(at)
    }

    /// What waits for a node; what would be made in its place need not be part of it.
    fn waiting(&self, old: &Cluster) -> BTreeMap<PodId, Waiting> {
        old.waiting.iter().filter_map(|one| self.moved(one)).collect()
    }

    fn moved(&self, (&pod, waiting): (&PodId, &Waiting)) -> Option<(PodId, Waiting)> {
        let pod = self.pods[pod]?;
        Some((pod, Waiting { of: self.pods[waiting.of].unwrap_or(pod), ..*waiting }))
    }

    /// What runs at first, without what the part has not; what is being deleted is known by its type.
    fn start(&self, m: &Model, s: &Configuration) -> Configuration {
        let there = s.iter().filter(|&((pod, _), _)| m.bound(pod).is_none());
        let (dying, others): (Vec<_>, Vec<_>) = there.partition(|&((pod, _), _)| m.shadowed(pod).is_some());
        let unsettled: Vec<NodeId> = s.unsettled().iter().copied().collect();
        let others = self.configuration(&others.into_iter().collect::<Configuration>().with_unsettled(unsettled));
        let dying = dying.into_iter().filter_map(|((pod, node), count)| {
            let atom = (self.pods[m.shadowed(pod)?]?, self.nodes[node]?);
            Some(std::iter::repeat_n(atom, usize::try_from(count).unwrap_or(usize::MAX)))
        });
        others.with_terminating(dying.flatten())
    }

    /// A configuration without what the part has not.
    pub(crate) fn configuration(&self, s: &Configuration) -> Configuration {
        let kept = s.iter().filter_map(|((pod, node), count)| Some(((self.pods[pod]?, self.nodes[node]?), count)));
        let unsettled: Vec<NodeId> = s.unsettled().iter().filter_map(|&node| self.nodes[node]).collect();
        kept.collect::<Configuration>().with_unsettled(unsettled)
    }

    /// A goal without the alternatives that the part cannot name.
    pub(crate) fn goal(&self, goal: &Goal) -> Goal {
        Goal {
            any: goal
                .any
                .iter()
                .filter(|alternative| self.has(alternative))
                .map(|alternative| self.configuration(alternative))
                .collect(),
        }
    }

    /// Whether the part has all that an alternative names.
    fn has(&self, alternative: &Configuration) -> bool {
        alternative.iter().all(|((pod, node), _)| self.pods[pod].is_some() && self.nodes[node].is_some())
    }
}

/// The nodes of a model by name, for rules that speak of nodes as the input has them.
pub(crate) fn nodes_named(m: &Model) -> impl Iterator<Item = (NodeId, &str)> {
    (0..m.nodes().len()).map(NodeId::from_index).map(move |node| (node, m.node_name(node)))
}
