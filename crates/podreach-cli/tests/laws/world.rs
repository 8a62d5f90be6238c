//! The reference: a cluster as a set of counts, and what Kubernetes lets happen in it.
//!
//! An interpreter that is as plain as possible: it reads objects, applies rules one after the other, and looks at every configuration.

mod filters;
mod reading;
pub mod starting;

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde_json::Value;

use crate::objects::{Node, Spec, text};
use crate::options::Options;
use crate::shapes::Life;

/// What can run: a workload, or a pod that is nobody's.
#[derive(Debug)]
pub struct Type {
    pub name: String,
    pub spec: Spec,
    /// Whether new instances are made of it.
    made: bool,
    /// At most so many at a time, with or without those that terminate.
    limit: Option<(u64, Per, bool)>,
    /// The workload that made it in a former revision, and counts it until it is gone.
    former_of: Option<String>,
    /// Whether a kubelet runs it from a file.
    fixed: bool,
    /// Whether its labels stay as they are, whatever its node has.
    is_final: bool,
    /// The type of what would be made in its place, which differs by the zone that it carries alone: its pods are pods of that, too.
    pub part_of: Option<usize>,
    /// Whether its name is that of a row.
    pub is_named: bool,
}

/// What a limit of instances is for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Per {
    Cluster,
    Node,
}

/// A quota: its namespace, and how many pods, with and without those that are being deleted, and how much cpu it allows.
#[derive(Debug)]
struct Quota {
    namespace: String,
    objects: Option<u64>,
    pods: Option<u64>,
    cpu: Option<u64>,
}

/// A cluster with the rules of one question.
#[derive(Debug)]
pub struct World {
    pub types: Vec<Type>,
    pub nodes: Vec<Node>,
    settled: Vec<Node>,
    /// Which nodes come and go.
    lives: Vec<Life>,
    /// How many nodes pools have at most.
    limits: BTreeMap<String, u64>,
    quotas: Vec<Quota>,
    options: Options,
    kept: Vec<u8>,
    /// The start.
    pub start: State,
    tables: Tables,
}

/// Who matches whose terms, by type and node, since pods get the zone of their node; the last node stands for none.
#[derive(Debug, Default)]
struct Tables {
    near: Vec<Vec<Matches>>,
    apart: Vec<Vec<Matches>>,
    spread: Vec<Vec<Matches>>,
    ports: Vec<Vec<bool>>,
    /// Whether it makes a difference that a pod of the type terminates.
    shadows: Vec<bool>,
}

/// Which pods a term matches: by type, on each node and on none.
type Matches = Vec<Vec<bool>>;

/// Counts of running and terminating pods by type and node, of pods that wait by type, and which nodes have settled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    running: Vec<u8>,
    leaving: Vec<u8>,
    waiting: Vec<u8>,
    settled: Vec<bool>,
    /// Which nodes are there.
    there: Vec<bool>,
}

/// Pods on nodes, by index, with how many of each.
pub type Goal = Vec<(usize, usize, u8)>;

impl World {
    fn at(&self, of: usize, node: usize) -> usize {
        of * self.nodes.len() + node
    }

    /// Whether the rules are those of the paper.
    pub fn is_of_paper(&self) -> bool {
        self.options.paper
    }

    /// A type by its name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.types.iter().position(|of| of.name == name)
    }

    /// A node by its name.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Whether a node is there at the start.
    pub fn is_there(&self, node: usize) -> bool {
        self.start.there[node]
    }

    fn node_in(&self, state: &State, node: usize) -> &Node {
        if state.settled[node] { &self.settled[node] } else { &self.nodes[node] }
    }

    fn present(&self, state: &State, of: usize, node: usize) -> u64 {
        let at = self.at(of, node);
        u64::from(state.running[at]) + u64::from(state.leaving[at])
    }

    /// The states after a pod of a type has been bound to a node: one that waits, or a new one.
    pub fn deployed(&self, state: &State, of: usize, node: usize) -> Vec<State> {
        if !self.accepts(state, of, node) {
            return Vec::new();
        }
        let mut after = Vec::new();
        let bound = || {
            let mut next = state.clone();
            next.running[self.at(of, node)] += 1;
            next
        };
        if state.waiting[of] > 0 {
            let mut next = bound();
            next.waiting[of] -= 1;
            after.push(next);
        }
        if self.is_admitted(state, of, node) {
            after.push(bound());
        }
        after
    }

    /// The states after a pod has gone, whether it was terminating or not.
    pub fn deleted(&self, state: &State, of: usize, node: usize) -> Vec<State> {
        let at = self.at(of, node);
        let mut after = Vec::new();
        if state.running[at] > self.kept[at] {
            let mut next = state.clone();
            next.running[at] -= 1;
            after.push(next);
        }
        if state.leaving[at] > 0 {
            let mut next = state.clone();
            next.leaving[at] -= 1;
            after.push(next);
        }
        after
    }

    /// The state after the deletion of a pod has begun.
    pub fn terminated(&self, state: &State, of: usize, node: usize) -> Option<State> {
        let at = self.at(of, node);
        if self.options.paper || state.running[at] <= self.kept[at] {
            return None;
        }
        let mut next = state.clone();
        next.running[at] -= 1;
        next.leaving[at] += 1;
        Some(next)
    }

    /// The state after all that passes about a node has passed.
    pub fn settled(&self, state: &State, node: usize) -> Option<State> {
        if self.options.paper || self.options.fixed || state.settled[node] || !self.changes(node) {
            return None;
        }
        let mut next = state.clone();
        next.settled[node] = true;
        Some(next)
    }

    /// The state after a pool has brought a node; one that went does not come back, since another has another name.
    fn added(&self, state: &State, node: usize) -> Option<State> {
        let life = &self.lives[node];
        let pool = life.pool.as_ref()?;
        let there =
            (0..self.nodes.len()).filter(|node| state.there[*node] && self.lives[*node].pool.as_ref() == Some(pool));
        let is_full = self.limits.get(pool).is_some_and(|most| there.count() as u64 >= *most);
        if !life.comes || state.there[node] || is_full {
            return None;
        }
        let mut next = state.clone();
        next.there[node] = true;
        Some(next)
    }

    /// The state after a node has gone that has no pods.
    fn removed(&self, state: &State, node: usize) -> Option<State> {
        let is_empty = (0..self.types.len()).all(|of| self.present(state, of, node) == 0);
        if self.lives[node].pool.is_none() || !state.there[node] || !is_empty {
            return None;
        }
        let mut next = state.clone();
        next.there[node] = false;
        Some(next)
    }

    fn changes(&self, node: usize) -> bool {
        let (now, then) = (&self.nodes[node], &self.settled[node]);
        now.cordoned || now.taints.len() != then.taints.len() || now.devices != then.devices
    }

    /// Whether some nodes come and go.
    pub fn has_pools(&self) -> bool {
        self.lives.iter().any(|life| life.pool.is_some())
    }

    /// Whether a spread constraint may count other domains once nodes have settled.
    pub fn may_be_uneven(&self) -> bool {
        let honors = self.types.iter().any(|of| of.spec.spread.iter().any(|spread| spread.honors_taints));
        honors && (0..self.nodes.len()).any(|node| self.settled(&self.start, node).is_some())
    }

    /// The state after a pod that waits has been deleted.
    fn withdrawn(&self, state: &State, of: usize) -> Option<State> {
        let mut next = state.clone();
        next.waiting[of] = next.waiting[of].checked_sub(1)?;
        Some(next)
    }

    /// Whether a state has what a goal asks for.
    pub fn meets(&self, state: &State, goal: &Goal) -> bool {
        let parts =
            |of: usize| (0..self.types.len()).filter(move |at| *at == of || self.types[*at].part_of == Some(of));
        let there = |of: usize, node: usize| parts(of).map(|at| self.present(state, at, node)).sum::<u64>();
        goal.iter().all(|(of, node, count)| there(*of, *node) >= u64::from(*count))
    }

    /// Whether a pod can be bound to a node at the start.
    pub fn is_feasible(&self, of: usize, node: usize) -> bool {
        !self.deployed(&self.start, of, node).is_empty()
    }

    /// Whether a new pod can be created and bound to a node at the start.
    pub fn is_new_feasible(&self, of: usize, node: usize) -> bool {
        self.is_admitted(&self.start, of, node) && self.accepts(&self.start, of, node)
    }

    /// Which goals some run reaches, by looking at every state; `None` if there are too many. Counts above `most` are not looked at.
    pub fn reachable(&self, goals: &[Option<Goal>], most: u8, limit: usize) -> Option<Vec<bool>> {
        let mut found = vec![false; goals.len()];
        let mut start = self.start.clone();
        if self.ignores_empty_nodes() {
            start.there.fill(true);
        }
        let mut seen: HashSet<State> = HashSet::from([start.clone()]);
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front() {
            for (goal, found) in goals.iter().zip(&mut found) {
                *found |= goal.as_ref().is_some_and(|goal| self.meets(&state, goal));
            }
            if goals.iter().zip(&found).all(|(goal, found)| *found || goal.is_none()) {
                return Some(found);
            }
            for next in self.successors(&state, most) {
                if seen.len() > limit {
                    return None;
                }
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        Some(found)
    }

    /// Whether it makes no difference that a node without pods is there: only spread looks at such nodes, and limits of pools count them.
    fn ignores_empty_nodes(&self) -> bool {
        self.limits.is_empty() && self.types.iter().all(|of| of.spec.spread.is_empty())
    }

    fn successors(&self, state: &State, most: u8) -> Vec<State> {
        let mut all: Vec<State> = (0..self.types.len()).filter_map(|of| self.withdrawn(state, of)).collect();
        for node in 0..self.nodes.len() {
            all.extend(self.settled(state, node));
            if !self.ignores_empty_nodes() {
                all.extend(self.added(state, node));
                all.extend(self.removed(state, node));
            }
            for of in 0..self.types.len() {
                if self.present(state, of, node) < u64::from(most) {
                    all.extend(self.deployed(state, of, node));
                }
                all.extend(self.deleted(state, of, node));
                all.extend(self.terminated(state, of, node).filter(|_| self.tables.shadows[of]));
            }
        }
        all
    }

    /// Replays the steps of a document from the start; what is wrong with them, if something is.
    pub fn replay(&self, steps: &[Value], goal: &Goal) -> Result<(), String> {
        let mut states = HashSet::from([self.start.clone()]);
        for (at, step) in steps.iter().enumerate() {
            let times = step["times"].as_u64().or(step["count"].as_u64()).unwrap_or(1);
            for _ in 0..times {
                states = states.iter().flat_map(|state| self.after(state, step)).collect();
            }
            if states.is_empty() {
                return Err(format!("step {} is not legal: {step}", at + 1));
            }
        }
        match states.iter().any(|state| self.meets(state, goal)) {
            true => Ok(()),
            false => Err("the steps are legal and do not reach the goal".to_owned()),
        }
    }

    fn after(&self, state: &State, step: &Value) -> Vec<State> {
        let op = text(&step["op"]);
        if op == "delete" && step["node"].is_null() {
            return self.named(&text(&step["pod"])).and_then(|of| self.withdrawn(state, of)).into_iter().collect();
        }
        let Some(node) = self.node(&text(&step["node"])) else { return Vec::new() };
        if matches!(op.as_str(), "ready" | "uncordon" | "settle") {
            return self.settled(state, node).into_iter().collect();
        }
        if op == "add-node" {
            return self.added(state, node).filter(|_| self.lives[node].certain).into_iter().collect();
        }
        if op == "remove-node" {
            return self.removed(state, node).into_iter().collect();
        }
        let Some(of) = self.named(&text(&step["pod"])) else { return Vec::new() };
        match op.as_str() {
            "deploy" => self.deployed(state, of, node),
            "delete" => {
                let mut after = self.deleted(state, of, node);
                after.retain(|next| step["terminating"] != true || next.running == state.running);
                after
            }
            "terminate" => self.terminated(state, of, node).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// The namespace of an object.
pub fn namespace(object: &Value) -> String {
    object["metadata"]["namespace"].as_str().unwrap_or("default").to_owned()
}

/// The name of an object among pod types.
pub fn name_of(object: &Value) -> String {
    let kind = text(&object["kind"]).to_lowercase();
    format!("{kind}/{}/{}", namespace(object), text(&object["metadata"]["name"]))
}

impl Type {
    fn new(name: String, spec: Spec) -> Self {
        Self {
            name,
            spec,
            made: true,
            limit: Some((1, Per::Cluster, true)),
            former_of: None,
            fixed: false,
            is_final: false,
            part_of: None,
            is_named: true,
        }
    }

    /// Whether it is a pod that is nobody's.
    fn is_lone(&self) -> bool {
        self.name.starts_with("pod/")
    }
}
