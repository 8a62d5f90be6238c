//! Random small problems, and the truth about them by exhaustive search.
//!
//! Small enough that every configuration can be visited, and odd enough that every rule takes part: nodes without the keys that
//! terms ask for, starts that violate their own constraints, pods that must stay, goals of several pods.

mod at_most_one;
mod mixed;
mod pools;
mod starting;
mod storage;
mod switches;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use crate::cluster::{
    Barred, Cluster, HostPort, Lifetime, Limit, Matcher, Node, NodeRequirement, NodeTerm, Passing, Pod, PodSpec, Quota,
    Scope, Spread, Taint, TaintEffect, Term, Toleration, TolerationOperator, Waiting,
};
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{Id, NamespaceId, NodeId, PodId};
use crate::model::{Model, Semantics};
use crate::rule::Rule;
use crate::selector::{Allowed, Selector};
use crate::step::{Action, Problem};

pub use crate::random::Rng;
pub use at_most_one::{constraint, said_as_at_most_one};
pub use mixed::{atoms, mixed, mixed_or_unbounded, mixed_waiting};
pub use pools::{explicit, only, with_pools};
pub use starting::some_starting;
pub use switches::Switches;

/// What random problems may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The rules that deployments obey.
    pub semantics: Semantics,
    /// At most this many nodes.
    pub nodes: usize,
    /// At most this many pod types.
    pub pods: usize,
    /// At most this many pods on a node; `None` leaves counts unbounded.
    pub room: Option<u64>,
    /// Whether spread constraints appear.
    pub spread: bool,
    /// Whether volumes, devices and declared features appear.
    pub volumes: bool,
}

impl Shape {
    /// Problems that exhaustive search finishes quickly.
    pub fn small(semantics: Semantics) -> Self {
        Self { semantics, nodes: 3, pods: 3, room: Some(2), spread: true, volumes: false }
    }

    /// The same with volumes, devices and declared features.
    #[must_use]
    pub fn with_volumes(self) -> Self {
        Self { volumes: true, ..self }
    }

    /// Problems without any bound on counts (and therefore without spread, which counts).
    pub fn unbounded(semantics: Semantics) -> Self {
        Self { semantics, nodes: 2, pods: 4, room: None, spread: false, volumes: false }
    }
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// A random problem.
pub fn problem(rng: &mut Rng, shape: Shape) -> Problem {
    let mut make = Make { rng, shape, cluster: Cluster::default(), namespaces: Vec::new() };
    make.cluster();
    let cluster = std::mem::take(&mut make.cluster);
    let model = Arc::new(Model::new(cluster, shape.semantics));
    let start = random_configuration(rng, &model, 3).with_unsettled(model.nodes());
    let kept = kept(rng, &start);
    let goal = goal(rng, &model);
    Problem { kept: Arc::new(kept), ..Problem::new(model, start, goal) }
}

/// The same problem, in which some pods are being deleted at first that need not stay.
pub fn some_terminating(rng: &mut Rng, problem: Problem) -> Problem {
    let mut start = (*problem.start).clone();
    for ((pod, node), _) in problem.start.minus(&problem.kept).iter() {
        if let Some(shadow) = problem.model.shadow(pod).filter(|_| rng.one_in(2)) {
            start.remove((pod, node));
            start.add((shadow, node));
        }
    }
    Problem { start: Arc::new(start), ..problem }
}

/// A problem like this in which some pods wait for a node, a quota charges them, and a goal may ask for them.
pub fn some_waiting(rng: &mut Rng, problem: &Problem) -> Problem {
    let mut cluster = problem.model.facts();
    if rng.one_in(2) {
        let hard = rng.below(5) as u128;
        let until_gone = rng.one_in(3);
        let quota = Quota { name: "default/waiting".into(), resource: "requests.cpu".into(), hard, until_gone };
        let quota = cluster.quotas.push(quota);
        for pod in cluster.pods.ids().filter(|_| !rng.one_in(4)).collect::<Vec<_>>() {
            Arc::make_mut(&mut cluster.pods[pod].spec).quota.insert(quota, 1 + rng.below(2) as u128);
        }
    }
    let types = cluster.pods.len();
    for index in 0..1 + rng.below(2) {
        let of = PodId::from_index(rng.below(types));
        let spec = cluster.pods[of].spec.clone();
        let pod = cluster.pods.push(Pod { name: format!("pod/default/w{index}"), spec });
        cluster.limits.iter_mut().filter(|limit| limit.pods.contains(&of)).for_each(|limit| _ = limit.pods.insert(pod));
        cluster.waiting.insert(pod, Waiting { of, count: rng.below(3) as u64 });
    }
    let model = Arc::new(Model::new(cluster, problem.model.semantics()));
    let goal = goal(rng, &model);
    problem.with_model(model).with_goal(goal)
}

/// The same problem on nodes that have settled.
pub fn settled(problem: &Problem) -> Problem {
    Problem { start: Arc::new(problem.start.iter().collect()), ..problem.clone() }
}

/// A random configuration with up to `size` pods, legal or not.
pub fn random_configuration(rng: &mut Rng, model: &Model, size: usize) -> Configuration {
    let mut configuration = Configuration::new();
    for _ in 0..rng.below(size + 1) {
        configuration.add(atom(rng, model));
    }
    configuration
}

fn kept(rng: &mut Rng, start: &Configuration) -> Configuration {
    if !rng.one_in(3) {
        return Configuration::new();
    }
    start.iter().filter(|_| rng.one_in(2)).collect()
}

fn goal(rng: &mut Rng, model: &Model) -> Goal {
    let alternatives = if rng.one_in(6) { 2 } else { 1 };
    let any = (0..alternatives).map(|_| {
        let atoms = [1, 1, 1, 2, 2, 3][rng.below(6)];
        (0..atoms).map(|_| (atom(rng, model), 1)).collect()
    });
    Goal { any: any.collect() }
}

fn atom(rng: &mut Rng, model: &Model) -> Atom {
    (PodId::from_index(rng.below(model.pods().len())), NodeId::from_index(rng.below(model.nodes().len())))
}

struct Make<'r> {
    rng: &'r mut Rng,
    shape: Shape,
    cluster: Cluster,
    namespaces: Vec<NamespaceId>,
}

impl Make<'_> {
    fn cluster(&mut self) {
        self.cluster.behaviour.topology_labels = !self.rng.one_in(3);
        self.cluster.behaviour.empty_spread_selector_counts = self.rng.one_in(2);
        self.cluster.behaviour.namespaces_lack_labels = self.shape.semantics != Semantics::Paper && self.rng.one_in(4);
        self.namespaces();
        let nodes = 1 + self.rng.below(self.shape.nodes);
        (0..nodes).for_each(|index| self.node(index));
        if self.shape.volumes {
            self.equip_nodes();
        }
        let pods = 1 + self.rng.below(self.shape.pods);
        (0..pods).for_each(|index| self.pod(index));
        if self.rng.one_in(6) {
            self.limit();
        }
        if self.rng.one_in(8) {
            self.quota();
        }
        if self.rng.one_in(10) {
            self.profile();
        }
    }

    fn namespaces(&mut self) {
        self.namespaces = vec![self.cluster.namespace("default")];
        if self.rng.one_in(3) {
            let other = self.cluster.namespace("other");
            self.namespaces.push(other);
            if self.rng.one_in(2) {
                let labels = self.cluster.labels([("team", "x")]);
                self.cluster.namespace_labels.insert(other, labels);
            }
        }
    }

    fn node(&mut self, index: usize) {
        let name = format!("n{index}");
        let mut pairs = vec![(HOST, name.as_str())];
        if !self.rng.one_in(5) || self.shape.semantics == Semantics::Paper {
            pairs.push((ZONE, self.rng.pick(&["a", "b"])));
        }
        if self.rng.one_in(2) || self.shape.semantics == Semantics::Paper {
            pairs.push(("rack", self.rng.pick(&["1", "2"])));
        }
        let labels = self.cluster.labels(pairs);
        let mut allocatable = vec![];
        if let Some(room) = self.shape.room {
            let pods = 1 + self.rng.below(room as usize) as u128;
            allocatable.push((self.cluster.resource("pods"), pods));
            allocatable.push((self.cluster.resource("slot"), pods));
            allocatable.push((self.cluster.resource("cpu"), 1 + self.rng.below(3) as u128));
        } else {
            allocatable.push((self.cluster.resource("pods"), u128::MAX));
        }
        let taint = self.rng.one_in(8).then(|| self.taint());
        let node = Node {
            name: self.cluster.symbols.intern(&name),
            labels,
            taints: taint.into_iter().collect(),
            unschedulable: self.rng.one_in(12),
            allocatable: allocatable.into_iter().collect(),
            features: BTreeSet::new(),
            drivers: BTreeMap::new(),
            passing: self.passing(),
            lifetime: Lifetime::Permanent,
        };
        self.cluster.nodes.push(node);
    }

    /// What passes on a node; nothing, mostly.
    fn passing(&mut self) -> Passing {
        let taints = self.rng.one_in(8).then(|| self.taint()).into_iter().collect();
        Passing { taints, cordoned: self.rng.one_in(10), ..Passing::default() }
    }

    fn taint(&mut self) -> Taint {
        let effects = [TaintEffect::NoSchedule, TaintEffect::NoExecute, TaintEffect::PreferNoSchedule];
        Taint {
            key: self.cluster.symbols.intern("pool"),
            value: self.cluster.symbols.intern(self.rng.pick(&["x", ""])),
            effect: self.rng.pick(&effects),
        }
    }

    fn pod(&mut self, index: usize) {
        let name = format!("pod/default/p{index}");
        // Some types are told apart by nothing but their names.
        if index > 0 && self.rng.one_in(5) {
            let twin = PodId::from_index(self.rng.below(index));
            let spec = self.cluster.pods[twin].spec.clone();
            self.cluster.pods.push(Pod { name, spec });
            return;
        }
        let mut spec = PodSpec::plain(self.rng.pick(&self.namespaces));
        let mut pairs = vec![("app", self.rng.pick(&["a", "b", "c"]))];
        if self.rng.one_in(3) {
            pairs.push(("tier", self.rng.pick(&["a", "b"])));
        }
        spec.labels = self.cluster.labels(pairs);
        self.bound(&mut spec);
        self.statics(&mut spec);
        let terms = [0, 0, 1, 1, 2];
        spec.affinity = (0..self.rng.pick(&terms)).map(|_| self.term(spec.namespace)).collect();
        spec.anti_affinity = (0..self.rng.pick(&terms)).map(|_| self.term(spec.namespace)).collect();
        if self.shape.spread && self.rng.one_in(3) {
            spec.spread = self.spread(spec.namespace);
        }
        if self.shape.volumes {
            self.mounts(&mut spec);
        }
        self.cluster.pods.push(Pod { name, spec: Arc::new(spec) });
    }

    /// One slot each, where counts are bounded, so that the paper's semantics (which has no `pods`) is bounded too.
    fn bound(&mut self, spec: &mut PodSpec) {
        if self.shape.room.is_some() {
            spec.requests.set(self.cluster.resource("slot"), 1);
            spec.requests.set(self.cluster.resource("cpu"), self.rng.below(3) as u128);
        }
        if self.rng.one_in(5) {
            let address = self.rng.one_in(2).then(|| self.cluster.symbols.intern("127.0.0.1"));
            spec.ports.insert(HostPort { address, protocol: self.cluster.symbols.intern("TCP"), port: 80 });
        }
    }

    fn statics(&mut self, spec: &mut PodSpec) {
        if self.rng.one_in(10) {
            spec.terminating = self.rng.one_in(2);
            spec.labels_are_final = !spec.terminating;
            let refused = Barred::Refused("never deployed".into());
            spec.barred = Some(if spec.terminating { Barred::Terminating } else { refused });
        }
        if self.rng.one_in(3) {
            let value = self.cluster.symbols.intern("x");
            let operator = self.rng.pick(&[TolerationOperator::Exists, TolerationOperator::Equal(value)]);
            spec.tolerations.push(Toleration { key: None, operator, effect: None });
        }
        if self.rng.one_in(8) {
            spec.node_selector = self.cluster.labels([("rack", "1")]);
        }
        if self.rng.one_in(8) {
            let (key, value) = (self.cluster.symbols.intern(ZONE), self.cluster.symbols.intern("a"));
            let requirement = NodeRequirement::Label(Allowed::none_of([value]));
            spec.node_affinity = Some(vec![NodeTerm { expressions: vec![(key, requirement)], names: Vec::new() }]);
        }
    }

    fn term(&mut self, namespace: NamespaceId) -> Term {
        let scope = self.scope(namespace);
        let selector = self.selector();
        Term { matcher: self.cluster.matchers.intern(Matcher { scope, selector }), key: self.key() }
    }

    fn key(&mut self) -> crate::id::KeyId {
        let key = self.rng.pick(&[HOST, HOST, ZONE, "rack"]);
        self.cluster.key(key)
    }

    fn scope(&mut self, namespace: NamespaceId) -> Scope {
        let team = self.cluster.symbols.intern("team");
        match self.rng.below(8) {
            0 => Scope { listed: BTreeSet::new(), selector: Some(Selector::everything()) },
            1 => {
                Scope { listed: BTreeSet::new(), selector: Some(Selector::everything().and(team, Allowed::missing())) }
            }
            2 => Scope { listed: self.namespaces.iter().copied().collect(), selector: None },
            _ => Scope::only(namespace),
        }
    }

    fn selector(&mut self) -> Selector {
        let key = self.rng.pick(&["app", "app", "app", "tier", ZONE]);
        let key = self.cluster.symbols.intern(key);
        let value = self.cluster.symbols.intern(self.rng.pick(&["a", "b", "c"]));
        let allowed = match self.rng.below(7) {
            0 => Allowed::none_of([value]),
            1 => Allowed::present(),
            2 => Allowed::missing(),
            _ => Allowed::one_of([value]),
        };
        if self.rng.one_in(12) { Selector::everything() } else { Selector::everything().and(key, allowed) }
    }

    fn spread(&mut self, namespace: NamespaceId) -> Vec<Spread> {
        let constraints = if self.rng.one_in(4) { 2 } else { 1 };
        let mut spread: Vec<Spread> = (0..constraints).map(|_| self.constraint(namespace)).collect();
        spread.sort_unstable_by_key(|constraint| constraint.key);
        spread.dedup_by_key(|constraint| constraint.key);
        spread
    }

    fn constraint(&mut self, namespace: NamespaceId) -> Spread {
        let selector = self.selector();
        Spread {
            matcher: self.cluster.matchers.intern(Matcher { scope: Scope::only(namespace), selector }),
            key: self.key(),
            max_skew: 1 + self.rng.below(2) as u64,
            min_domains: 1 + self.rng.below(3) as u64,
            honor_affinity: self.rng.one_in(2),
            honor_taints: self.rng.one_in(2),
        }
    }

    fn limit(&mut self) {
        let pods = self.cluster.pods.ids().filter(|_| self.rng.one_in(2)).collect();
        let limit = Limit {
            name: "limit".into(),
            pods,
            per_node: self.rng.one_in(2),
            most: self.rng.below(3) as u64,
            waits: self.rng.one_in(2),
        };
        self.cluster.limits.push(limit);
    }

    /// A quota of which some pods take something.
    fn quota(&mut self) {
        let hard = self.rng.below(4) as u128;
        let (until_gone, resource) = if self.rng.one_in(3) { (true, "count/pods") } else { (false, "requests.cpu") };
        let quota = Quota { name: "default/quota".into(), resource: resource.into(), hard, until_gone };
        let quota = self.cluster.quotas.push(quota);
        for pod in self.cluster.pods.ids() {
            let takes = self.rng.below(3) as u128;
            if takes > 0 {
                Arc::make_mut(&mut self.cluster.pods[pod].spec).quota.insert(quota, takes);
            }
        }
    }

    /// A scheduler profile for one pod: without some rules, and with node affinity of its own.
    fn profile(&mut self) {
        let pod = PodId::from_index(self.rng.below(self.cluster.pods.len()));
        let (key, value) = (self.cluster.symbols.intern(ZONE), self.cluster.symbols.intern("a"));
        let spec = Arc::make_mut(&mut self.cluster.pods[pod].spec);
        if self.rng.one_in(2) {
            let requirement = NodeRequirement::Label(Allowed::one_of([value]));
            spec.added_affinity = Some(vec![NodeTerm { expressions: vec![(key, requirement)], names: Vec::new() }]);
        }
        // Without the rule that bounds the counts, exhaustive search would not end.
        let rules = Rule::ALL.into_iter().filter(|&rule| rule.is_filter() && rule != Rule::NodeResourcesFit);
        spec.exempt = rules.filter(|_| self.rng.one_in(3)).collect();
    }
}

/// How many instances of an atom are worth having: as many as the goal or the start has.
fn cap(problem: &Problem, (pod, node): Atom) -> u64 {
    let atom = (problem.model.base(pod), node);
    let asked = problem.goal.any.iter().map(|alternative| alternative.count(atom)).max().unwrap_or(0);
    asked.max(problem.start.count(atom)).max(problem.start.count((pod, node))).max(1)
}

/// Whether the goal can be reached, by visiting every configuration; `None` when there are more than `most`.
///
/// Where nothing bounds the counts, more instances of an atom than the goal or the start has are not visited: without spread or
/// capacity, guards ask only whether an atom is there.
pub fn exhaustive(problem: &Problem, most: usize) -> Option<bool> {
    let model = &problem.model;
    let bounded = model.cluster().symbols.symbol("slot").is_some();
    let fits = |s: &Configuration, atom| bounded || s.count(atom) < cap(problem, atom);
    let mut seen = HashSet::from([(*problem.start).clone()]);
    let mut todo = VecDeque::from([(*problem.start).clone()]);
    while let Some(s) = todo.pop_front() {
        if problem.is_met(&problem.goal, &s) {
            return Some(true);
        }
        if seen.len() > most {
            return None;
        }
        for next in successors(problem, &s).filter(|(action, _)| match *action {
            Action::Deploy(pod, node) => fits(&s, (pod, node)),
            Action::Terminate(pod, node) => model.shadow(pod).is_some_and(|shadow| fits(&s, (shadow, node))),
            Action::Delete(..) | Action::Settle(_) | Action::Withdraw(_) | Action::Add(_) | Action::Remove(_) => true,
        }) {
            if seen.insert(next.1.clone()) {
                todo.push_back(next.1);
            }
        }
    }
    Some(false)
}

/// Every configuration that can be reached, nearest first; `None` when there are more than `most`.
pub fn reachable(problem: &Problem, most: usize) -> Option<Vec<Configuration>> {
    let mut seen = HashSet::from([(*problem.start).clone()]);
    let mut found = vec![(*problem.start).clone()];
    for at in 0.. {
        let Some(s) = found.get(at).cloned() else { break };
        let new: Vec<Configuration> = successors(problem, &s).map(|(_, next)| next).collect();
        found.extend(new.into_iter().filter(|next| seen.insert(next.clone())));
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

/// How many cases a test looks at: `PODREACH_CASES`, or as many as it does without being asked.
pub fn cases(default: usize) -> usize {
    std::env::var("PODREACH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Every legal step from `s`, with where it leads.
pub fn successors<'a>(
    problem: &'a Problem,
    s: &'a Configuration,
) -> impl Iterator<Item = (Action, Configuration)> + 'a {
    let model = &problem.model;
    let atoms = model.every_pod().flat_map(|pod| model.nodes().map(move |node| (pod, node)));
    let of_atoms = atoms
        .flat_map(|(pod, node)| [Action::Deploy(pod, node), Action::Delete(pod, node), Action::Terminate(pod, node)]);
    let waiting = model.cluster().waiting.keys().map(|&pod| Action::Withdraw(pod));
    let actions = of_atoms.chain(model.nodes().map(Action::Settle)).chain(waiting);
    actions.filter_map(|action| {
        let mut next = s.clone();
        problem.step(&mut next, action).ok().map(|()| (action, next))
    })
}
