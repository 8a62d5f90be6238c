//! Nodes that come and go: what a run relies on about them, and the steps that bring them.
//!
//! The nodes that a cluster lists over-approximate those that may come (`lower/pool/listing.rs`): a proof covers them all, and a run holds if
//! it relies on nothing that is a guess.
//!
//! ```text
//! a pod is bound to a new node     a node of that shape can come for certain, and the pod needs no volumes, devices or features of it
//! a static pod is deleted          not by itself: it goes with its node
//! a node that went comes back      another one may come; the same one may not
//! ```
//! The model has no steps for nodes, since a node that comes and goes is there while pods are on it (`core/src/tables/elastic.rs`). A run for people
//! says when each comes: before the first pod is bound to it; and when it goes: once it is empty, before a pod is bound whose spread
//! constraint would count its domain for nothing but that node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::{Barred, Cluster, Lifetime, NodeShape};
use podreach_core::id::{PoolId, Symbol};
use podreach_core::resource::Amount;
use podreach_core::rule::Rule;
use podreach_core::rule::spread::balance;
use podreach_core::{Action, Configuration, Goal, Model, NodeId, PodId, Problem, Trace};

use crate::words;

/// The most nodes of a shape that are looked at.
const MOST: usize = 8;

/// Why a run that the rules allow relies on a guess; `None` when it does not.
pub(crate) fn objection(problem: &Problem, trace: &Trace) -> Option<String> {
    let m = &*problem.model;
    if !m.is_elastic() {
        return None;
    }
    if let Some(pool) = exceeded(problem, trace) {
        return Some(format!("{} has fewer nodes at a time", m.cluster().pools[pool].name));
    }
    if let Some(node) = brought_back(problem, trace) {
        return Some(format!(
            "whether {} brings {} back once it is gone is not known",
            words::pool(m, node),
            m.node_name(node)
        ));
    }
    trace.iter().find_map(|action| match action {
        Action::Deploy(pod, node) => guess(m, pod, node),
        Action::Delete(pod, node) | Action::Terminate(pod, node) if is_static(m, pod) => Some(format!(
            "{} is a static pod, which goes only with its node: whether {} can do without both is not looked at",
            m.pod_name(pod),
            m.node_name(node)
        )),
        _ => None,
    })
}

/// Whether every way to meet a goal has a pod on a new node that is a guess: no run to it holds.
pub(crate) fn asks_for_guesses(m: &Model, goal: &Goal) -> bool {
    let is_guess = |node: NodeId| match m.node(node).lifetime {
        Lifetime::New(shape) => !m.cluster().shapes[shape].is_certain,
        _ => false,
    };
    let guesses =
        |alternative: &Configuration| alternative.iter().any(|((_, node), count)| count > 0 && is_guess(node));
    m.is_elastic() && goal.any.iter().all(guesses)
}

/// A node of the start, or one on its way, that a run has to remove, and needs again. Only nodes that the run binds pods to can be one.
fn brought_back(problem: &Problem, trace: &Trace) -> Option<NodeId> {
    let m = &*problem.model;
    // Whoever has a name comes once: another node of its pool has another one.
    let comes_once = |node: NodeId| words::pool_of(m, node).is_some_and(|pool| m.cluster().pools[pool].once);
    let is_one = |node: NodeId| matches!(m.node(node).lifetime, Lifetime::Existing(_)) || comes_once(node);
    let may_go = |action: Action| matches!(action, Action::Remove(_)) || deploys_spread(m, action);
    if !trace.iter().any(may_go) {
        return None;
    }
    let mut nodes = Nodes::at_start(problem);
    let with_nodes: Vec<Action> = trace.iter().flat_map(|action| nodes.steps_for(action)).collect();
    let mut gone = BTreeSet::new();
    with_nodes.into_iter().find_map(|action| match action {
        Action::Add(node) => Some(node).filter(|&node| is_one(node) && gone.contains(&node)),
        Action::Remove(node) => {
            gone.insert(node);
            None
        }
        _ => None,
    })
}

/// A pool of which a run has more nodes at a time than there may be.
fn exceeded(problem: &Problem, trace: &Trace) -> Option<PoolId> {
    let m = &*problem.model;
    if m.cluster().pools.values().all(|pool| pool.most.is_none()) {
        return None;
    }
    let with_nodes = with_node_steps(problem, trace);
    let trace = with_nodes.as_ref().unwrap_or(trace);
    let mut there = BTreeMap::<PoolId, u64>::new();
    for node in m.nodes() {
        if let Lifetime::Existing(pool) = m.node(node).lifetime {
            *there.entry(pool).or_default() += 1;
        }
    }
    trace.iter().find_map(|action| {
        let (Action::Add(node) | Action::Remove(node)) = action else { return None };
        let pool = words::pool_of(m, node)?;
        let count = there.entry(pool).or_default();
        *count = if matches!(action, Action::Add(_)) { *count + 1 } else { count.saturating_sub(1) };
        m.cluster().pools[pool].most.filter(|most| matches!(action, Action::Add(_)) && *count > *most).map(|_| pool)
    })
}

/// What a pod on a new node relies on that is not known.
fn guess(m: &Model, pod: PodId, node: NodeId) -> Option<String> {
    let Lifetime::New(shape) = m.node(node).lifetime else { return None };
    let name = m.node_name(node);
    if !m.cluster().shapes[shape].is_certain {
        return Some(uncertain(m, node));
    }
    let spec = m.pod(pod);
    let needs = !spec.mounts.claims.is_empty() || !spec.devices.is_empty() || !spec.features.is_empty();
    needs.then(|| {
        format!("which volumes, devices and features {name} serves is not known, and {} needs some", m.pod_name(pod))
    })
}

/// What is a guess about a new node.
fn uncertain(m: &Model, node: NodeId) -> String {
    let (name, pool) = (m.node_name(node), words::pool(m, node));
    let Lifetime::New(shape) = m.node(node).lifetime else { return String::new() };
    let guessed: Vec<String> = m.cluster().shapes[shape].guessed.iter().map(|&key| label(m, node, key)).collect();
    match (guessed.is_empty(), is_open(m, node)) {
        (true, true) => format!("what {name} has to give is not known: no node or catalogue says what {pool} brings"),
        (true, false) => format!("no pod of the input asks {pool} for a node such as {name}"),
        (false, false) => format!("whether {pool} brings a node with {} is not known", words::all(&guessed)),
        (false, true) => format!(
            "whether {pool} brings a node with {} is not known, nor what {name} has to give",
            words::all(&guessed)
        ),
    }
}

/// Whether it is not known what a new node has to give.
pub(crate) fn is_open(m: &Model, node: NodeId) -> bool {
    m.node(node).allocatable.iter().any(|(_, amount)| amount == Amount::MAX)
}

/// A label of a node, or that it has none.
fn label(m: &Model, node: NodeId, key: Symbol) -> String {
    match m.node(node).labels.value(key) {
        Some(_) => format!("{}={}", m.str(key), words::node_label(m, node, key)),
        None => format!("no {}", m.str(key)),
    }
}

fn is_static(m: &Model, pod: PodId) -> bool {
    m.pod(m.shadowed(pod).unwrap_or(pod)).barred == Some(Barred::Static)
}

/// Whether some run may rely on a guess that another run to the same goal can do without.
pub(crate) fn has_guesses(problem: &Problem) -> bool {
    let m = &*problem.model;
    let is_guess = |shape: &NodeShape| !shape.is_certain && !shape.nodes.is_empty();
    m.is_elastic()
        && (m.cluster().shapes.values().any(is_guess) || problem.start.iter().any(|((pod, _), _)| is_static(m, pod)))
}

/// Leaves out the new nodes that are guesses.
pub(crate) fn close(cluster: &mut Cluster) {
    for shape in cluster.shapes.ids().filter(|&shape| !cluster.shapes[shape].is_certain).collect::<Vec<_>>() {
        for node in std::mem::take(&mut cluster.shapes[shape].nodes) {
            cluster.nodes[node].lifetime = Lifetime::Absent;
        }
    }
}

/// The same problem, in which static pods stay.
pub(crate) fn keeping_static_pods(problem: Problem) -> Problem {
    let m = &problem.model;
    if !m.is_elastic() {
        return problem;
    }
    let mut kept = (*problem.kept).clone();
    for (atom @ (pod, _), count) in problem.start.iter().filter(|((pod, _), _)| is_static(m, *pod)) {
        if m.shadowed(pod).is_none() {
            kept.set(atom, count);
        }
    }
    Problem { kept: Arc::new(kept), ..problem }
}

/// The same problem, in which the nodes of pools that are there stay, also those without pods.
pub(crate) fn before_any_goes(problem: &Problem) -> Problem {
    if !problem.model.is_elastic() {
        return problem.clone();
    }
    let mut cluster = problem.model.facts();
    for node in problem.model.nodes() {
        if matches!(cluster.nodes[node].lifetime, Lifetime::Existing(_)) {
            cluster.nodes[node].lifetime = Lifetime::Permanent;
        }
    }
    problem.with_model(Arc::new(Model::new(cluster, problem.model.semantics())))
}

/// The same problem with twice as many new nodes; `None` if it has none, or has enough already.
pub(crate) fn with_more_nodes(problem: &Problem) -> Option<Problem> {
    let mut cluster = problem.model.facts();
    let endless = cluster.shapes.iter().filter(|(_, shape)| !shape.is_all && !shape.nodes.is_empty());
    let (shapes, listed): (Vec<_>, Vec<_>) = endless.map(|(id, shape)| (id, shape.nodes.len())).unzip();
    let listed = listed.into_iter().max().filter(|&listed| listed < MOST)?;
    for _ in listed..2 * listed {
        for &shape in &shapes {
            cluster.list_one_more(shape);
        }
    }
    let model = Arc::new(Model::new(cluster, problem.model.semantics()));
    Some(Problem { asked: problem.asked.clone(), ..problem.with_model(model) })
}

/// A run with the steps of the nodes that it needs; `None` if it needs none.
pub(crate) fn with_node_steps(problem: &Problem, trace: &Trace) -> Option<Trace> {
    let m = &*problem.model;
    let is_about = |action: Action| matches!(action, Action::Deploy(_, node) if m.comes_and_goes(node));
    if !m.is_elastic() || !trace.iter().any(|action| is_about(action) || deploys_spread(m, action)) {
        return None;
    }
    let mut nodes = Nodes::at_start(problem);
    let steps: Vec<Action> = trace.iter().flat_map(|action| nodes.steps_for(action)).collect();
    (steps.len() > trace.len()).then(|| steps.into_iter().collect())
}

/// The first step that binds a pod to a node that is not there, counted from zero.
pub(crate) fn too_early(problem: &Problem, trace: &Trace) -> Option<usize> {
    if !problem.model.is_elastic() {
        return None;
    }
    let mut nodes = Nodes::at_start(problem);
    trace.iter().position(|action| {
        let missing = matches!(action, Action::Deploy(_, node) if !nodes.is_there(node));
        nodes.follow(action);
        missing
    })
}

fn is_spread(m: &Model, pod: PodId) -> bool {
    !m.pod(pod).spread.is_empty() && !m.pod(pod).exempt.contains(&Rule::PodTopologySpread)
}

fn deploys_spread(m: &Model, action: Action) -> bool {
    matches!(action, Action::Deploy(pod, _) if is_spread(m, pod))
}

/// Which nodes are there, and how many pods are on them, as far as steps have changed that.
struct Nodes<'p> {
    problem: &'p Problem,
    /// What runs, as spread constraints count it.
    running: Configuration,
    there: BTreeMap<NodeId, bool>,
    pods: BTreeMap<NodeId, u64>,
}

impl<'p> Nodes<'p> {
    fn at_start(problem: &'p Problem) -> Self {
        let running = (*problem.start).clone();
        Self { problem, running, there: BTreeMap::new(), pods: BTreeMap::new() }
    }

    fn is_there(&self, node: NodeId) -> bool {
        let at_start = || matches!(self.problem.model.node(node).lifetime, Lifetime::Permanent | Lifetime::Existing(_));
        self.there.get(&node).copied().unwrap_or_else(at_start)
    }

    fn is_empty(&self, node: NodeId) -> bool {
        let at_start = || self.problem.start.on(node).next().is_none();
        self.pods.get(&node).map_or_else(at_start, |&pods| pods == 0)
    }

    /// A step, with those of nodes that it needs before it.
    fn steps_for(&mut self, action: Action) -> Vec<Action> {
        let mut steps = Vec::new();
        if let Action::Deploy(pod, node) = action {
            steps.extend(self.in_the_way(pod, node).into_iter().map(Action::Remove));
            steps.extend((!self.is_there(node)).then_some(Action::Add(node)));
        }
        steps.push(action);
        steps.iter().for_each(|&step| self.follow(step));
        steps
    }

    /// The empty nodes by which spread constraints of a pod would count a domain more than they do without them. Others do no harm: their
    /// domain is counted in any case. Nor does a domain without pods where the pod may be bound although one is counted.
    fn in_the_way(&self, pod: PodId, target: NodeId) -> BTreeSet<NodeId> {
        let m = &*self.problem.model;
        let constraints = m.pod(pod).spread.iter().enumerate().filter(|_| is_spread(m, pod));
        let mut found = BTreeSet::new();
        for (index, constraint) in constraints {
            let (here, _) = balance(m, &self.running, pod, target, index);
            if here <= constraint.max_skew {
                continue;
            }
            for domain in m.domains(constraint.key) {
                let nodes = m.members(domain).iter().copied().filter(|&node| m.eligible(pod, index, node));
                let counts = |node: NodeId| node == target || !m.comes_and_goes(node) || !self.is_empty(node);
                if !nodes.clone().any(counts) {
                    found.extend(nodes.filter(|&node| self.is_there(node)));
                }
            }
        }
        found
    }

    fn follow(&mut self, action: Action) {
        if !matches!(action, Action::Add(_) | Action::Remove(_)) {
            let _ = self.problem.step(&mut self.running, action);
        }
        match action {
            Action::Add(node) => drop(self.there.insert(node, true)),
            Action::Remove(node) => drop(self.there.insert(node, false)),
            Action::Deploy(_, node) => self.change(node, |pods| pods.saturating_add(1)),
            Action::Delete(_, node) => self.change(node, |pods| pods.saturating_sub(1)),
            Action::Terminate(..) | Action::Settle(_) | Action::Withdraw(_) => {}
        }
    }

    fn change(&mut self, node: NodeId, change: impl Fn(u64) -> u64) {
        let at_start = || self.problem.start.on(node).map(|(_, count)| count).fold(0, u64::saturating_add);
        let pods = self.pods.get(&node).copied().unwrap_or_else(at_start);
        self.pods.insert(node, change(pods));
    }
}
