//! The reference: a cluster as a set of counts, and what Kubernetes lets happen in it.
//!
//! An interpreter that is as plain as possible: it reads objects, applies rules one after the other, and looks at every configuration.

mod filters;
pub mod starting;

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use crate::clusters::{Options, ZONE};
use crate::objects::{Labels, Node, Spec, Spread, Term, labels, quantity, text};
use crate::owners;

/// How many ways in which nodes may come up are looked at.
const FUTURES: usize = 24;

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
}

/// Pods on nodes, by index, with how many of each.
pub type Goal = Vec<(usize, usize, u8)>;

impl World {
    /// The cluster as it may go on, for each way in which nodes that are still starting may come up; `None` if there are too many.
    pub fn futures(objects: &[Value], options: &Options) -> Option<Vec<Self>> {
        let nodes: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "Node").collect();
        if options.paper || options.fixed {
            return Some(vec![Self::read(objects, options)]);
        }
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for node in nodes {
            let ways = starting::ways(node, objects);
            if all.len() * ways.len() > FUTURES {
                return None;
            }
            let mut more = Vec::new();
            for way in ways {
                more.extend(all.iter().map(|others| [others.clone(), vec![way.clone()]].concat()));
            }
            all = more;
        }
        Some(all.iter().map(|settled| Self::read_with(objects, settled.iter(), options)).collect())
    }

    /// Reads objects, of which no node gets more than it has.
    pub fn read(objects: &[Value], options: &Options) -> Self {
        Self::read_with(objects, objects.iter().filter(|object| object["kind"] == "Node"), options)
    }

    /// Reads objects; the other nodes are those of the cluster once they have settled.
    fn read_with<'v>(objects: &[Value], settled: impl Iterator<Item = &'v Value>, options: &Options) -> Self {
        let of_kind = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
        let mut types = Vec::new();
        for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"] {
            let own = of_kind(kind).filter(|object| owners::maker(object, objects).is_none());
            types.extend(own.map(|object| workload(kind, object)));
        }
        let nodes: Vec<Node> = of_kind("Node").map(|node| Node::of(node, false)).collect();
        let instances: Vec<(&Value, usize)> =
            of_kind("Pod").map(|pod| (pod, instance_of(pod, objects, options, &mut types))).collect();
        let size = types.len() * nodes.len();
        let start = State {
            running: vec![0; size],
            leaving: vec![0; size],
            waiting: vec![0; types.len()],
            settled: vec![false; nodes.len()],
        };
        let ranges: Vec<(String, u64)> = of_kind("LimitRange")
            .map(|range| (namespace(range), quantity(&range["spec"]["limits"][0]["max"]["cpu"])))
            .collect();
        // Pod security at the level `baseline` forbids ports of the host.
        let is_guarded = |space: &&Value| !space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"].is_null();
        let guarded: Vec<String> =
            of_kind("Namespace").filter(is_guarded).map(|space| text(&space["metadata"]["name"])).collect();
        for of in &mut types {
            let refused = ranges.iter().any(|(space, most)| *space == of.spec.namespace && of.spec.cpu_limit > *most);
            let exposed = guarded.contains(&of.spec.namespace) && !of.spec.ports.is_empty();
            of.made &= !refused && !exposed;
        }
        let quotas = of_kind("ResourceQuota").map(|quota| Quota {
            namespace: namespace(quota),
            objects: hard(quota, "count/pods").map(|pods| pods / 1000),
            pods: hard(quota, "pods").map(|pods| pods / 1000),
            cpu: hard(quota, "requests.cpu"),
        });
        let mut world = Self {
            settled: settled.map(|node| Node::of(node, true)).collect(),
            quotas: quotas.collect(),
            options: options.clone(),
            kept: start.running.clone(),
            tables: Tables::default(),
            start,
            nodes,
            types,
        };
        instances.into_iter().for_each(|(pod, of)| world.put(pod, of));
        world.tables = world.tables();
        world
    }

    /// Puts a pod of the input where it is.
    fn put(&mut self, pod: &Value, of: usize) {
        if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
            return;
        }
        let kept = self.options.keep.as_ref().is_some_and(|keep| labels(&pod["metadata"]).get("app") == Some(keep));
        let stays = kept || self.types[of].fixed;
        let there = self.options.current || stays;
        let Some(node) = self.nodes.iter().position(|node| pod["spec"]["nodeName"] == node.name.as_str()) else {
            let waits =
                pod["spec"]["nodeName"].is_null() && pod["status"]["phase"] == "Pending" && self.options.current;
            self.start.waiting[of] += u8::from(waits && pod["metadata"]["deletionTimestamp"].is_null());
            return;
        };
        let at = self.at(of, node);
        if !there {
            return;
        }
        if pod["metadata"]["deletionTimestamp"].is_null() || self.types[of].fixed {
            self.start.running[at] += 1;
            self.kept[at] += u8::from(stays);
        } else {
            self.start.leaving[at] += 1;
        }
    }

    fn at(&self, of: usize, node: usize) -> usize {
        of * self.nodes.len() + node
    }

    fn tables(&self) -> Tables {
        let bound: Vec<Vec<Labels>> = (0..self.types.len()).map(|of| self.labels_by_node(of)).collect();
        let among = |test: &dyn Fn(&Type, &Labels) -> bool| -> Matches {
            let row = |(of, labels): (&Type, &Vec<Labels>)| labels.iter().map(|labels| test(of, labels)).collect();
            self.types.iter().zip(&bound).map(row).collect()
        };
        let of_terms = |terms: &[Term]| -> Vec<Matches> {
            terms.iter().map(|term| among(&|of, labels| term.matches(&of.spec.namespace, labels))).collect()
        };
        let mut tables = Tables::default();
        for Type { spec, .. } in &self.types {
            tables.near.push(of_terms(&spec.near));
            tables.apart.push(of_terms(&spec.apart));
            let counts =
                |spread: &Spread| among(&|of, labels| of.spec.namespace == spec.namespace && spread.counts(labels));
            tables.spread.push(spec.spread.iter().map(counts).collect());
            let shares = |of: &Type| !spec.ports.is_disjoint(&of.spec.ports);
            tables.ports.push(self.types.iter().map(shares).collect());
        }
        let spread = |of: usize| tables.spread.iter().flatten().any(|counted| counted[of].contains(&true));
        let quota = |of: &Type| self.quotas.iter().any(|quota| quota.namespace == of.spec.namespace);
        let limited = |of: &Type| {
            self.options.declared && (of.limit.is_some_and(|(.., leaving)| !leaving) || of.former_of.is_some())
        };
        tables.shadows = self.types.iter().enumerate().map(|(at, of)| spread(at) || quota(of) || limited(of)).collect();
        tables
    }

    /// The labels of a type's pods on each node, and on none. The paper knows no labels that nodes give.
    fn labels_by_node(&self, of: usize) -> Vec<Labels> {
        let own = &self.types[of].spec.labels;
        let on = |node: &Node| {
            let zone = node.labels.get(ZONE).filter(|_| !self.options.paper && !self.types[of].is_final);
            own.clone().into_iter().chain(zone.map(|zone| (ZONE.to_owned(), zone.clone()))).collect()
        };
        self.nodes.iter().map(on).chain([own.clone()]).collect()
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

    fn changes(&self, node: usize) -> bool {
        let (now, then) = (&self.nodes[node], &self.settled[node]);
        now.cordoned || now.taints.len() != then.taints.len() || now.devices != then.devices
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
    pub fn reachable(&self, goals: &[Goal], most: u8, limit: usize) -> Option<Vec<bool>> {
        let mut found = vec![false; goals.len()];
        let mut seen: HashSet<State> = HashSet::from([self.start.clone()]);
        let mut queue = VecDeque::from([self.start.clone()]);
        while let Some(state) = queue.pop_front() {
            for (goal, found) in goals.iter().zip(&mut found) {
                *found |= self.meets(&state, goal);
            }
            if found.iter().all(|found| *found) {
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

    fn successors(&self, state: &State, most: u8) -> Vec<State> {
        let mut all: Vec<State> = (0..self.types.len()).filter_map(|of| self.withdrawn(state, of)).collect();
        for node in 0..self.nodes.len() {
            all.extend(self.settled(state, node));
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

fn hard(quota: &Value, what: &str) -> Option<u64> {
    let hard = &quota["spec"]["hard"][what];
    (!hard.is_null()).then(|| quantity(hard))
}

/// The name of an object among pod types.
pub fn name_of(object: &Value) -> String {
    let kind = text(&object["kind"]).to_lowercase();
    format!("{kind}/{}/{}", namespace(object), text(&object["metadata"]["name"]))
}

fn workload(kind: &str, object: &Value) -> Type {
    let template = &object["spec"]["template"];
    let spec = Spec::of(&template["metadata"], &template["spec"], &namespace(object));
    let replicas = object["spec"]["replicas"].as_u64().or(object["spec"]["parallelism"].as_u64()).unwrap_or(1);
    let (spec, limit) = match kind {
        "DaemonSet" => (spec.of_daemon(), (1, Per::Node, true)),
        "StatefulSet" => (spec, (replicas, Per::Cluster, true)),
        _ => (spec, (replicas, Per::Cluster, false)),
    };
    Type { limit: Some(limit), ..Type::new(name_of(object), spec) }
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

/// The zone of the node that a pod is bound to.
fn zone_given(pod: &Value, objects: &[Value]) -> Option<String> {
    let is_there = |node: &&Value| node["kind"] == "Node" && pod["spec"]["nodeName"] == node["metadata"]["name"];
    let node = objects.iter().filter(|_| !pod["spec"]["nodeName"].is_null()).find(is_there)?;
    labels(&node["metadata"]).remove(ZONE)
}

/// The type of a pod: its owner's, if the owner makes such pods today, else its own.
fn instance_of(pod: &Value, objects: &[Value], options: &Options, types: &mut Vec<Type>) -> usize {
    let given = zone_given(pod, objects);
    let carried = labels(&pod["metadata"]).remove(ZONE);
    let mut made = pod.clone();
    if let Some(labels) = made["metadata"]["labels"].as_object_mut().filter(|_| given.is_some()) {
        labels.remove(ZONE);
    }
    let is_looked_at = owners::looked_at(objects).contains(ZONE) && given.is_some();
    let maker = owners::maker(&made, objects)
        .map(|maker| types.iter().position(|of| of.name == name_of(maker)).expect("workloads are read first"));
    let mirror = !pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_null();
    let spec_of = |object: &Value| Spec::of(&object["metadata"], &object["spec"], &namespace(pod));
    let own = |name: String, object: &Value| Type { fixed: mirror, ..Type::new(name, spec_of(object)) };
    let leaves = !pod["metadata"]["deletionTimestamp"].is_null();
    let is_lone = owners::owner(pod, objects).is_none() && !mirror;
    let former_of = owners::topmost(pod, objects).map(name_of);
    let added = match (is_looked_at && given != carried, maker) {
        (false, Some(maker)) if is_looked_at && options.paper => {
            let name = format!("{} (as it is in {})", types[maker].name, carried.unwrap_or_default());
            if let Some(known) = types.iter().position(|of| of.name == name) {
                return known;
            }
            let former_of = Some(types[maker].name.clone());
            Type { made: false, is_final: true, part_of: Some(maker), is_named: false, former_of, ..own(name, pod) }
        }
        (false, Some(maker)) => return maker,
        (false, None) => {
            // By the paper a pod is what its manifest says.
            let object = if options.paper { pod } else { &made };
            Type { made: is_lone && !leaves, former_of, ..own(name_of(pod), object) }
        }
        (true, _) if is_lone => {
            types.push(Type { made: !leaves, ..own(name_of(pod), &made) });
            let (name, part_of) = (format!("{} (as it is)", name_of(pod)), Some(types.len() - 1));
            Type { made: false, is_final: true, part_of, former_of: Some(name_of(pod)), ..own(name, pod) }
        }
        (true, part_of) => Type { made: false, is_final: true, part_of, former_of, ..own(name_of(pod), pod) },
    };
    types.push(added);
    types.len() - 1
}
