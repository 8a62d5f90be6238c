//! The entity table of a page: the pod types and nodes that the page mentions, each once and by number.
//!
//! Evidence of an audit may be about a cluster that differs from the one shown, so everything is looked up by name, and what is missing
//! is added. Nodes that differ only in their name share a description, which keeps pages of large clusters small.
//!
//! A pod type of the cluster has the number that it has in the model, whether or not the page describes it. Types are described in order
//! while the budget for names lasts, and after that only if something on the page refers to them. Running pods of all other types are
//! summed up by node. So a page grows with the nodes and with what it shows, and not with the pods.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use podreach_core::cancel::polled;
use podreach_core::id::ResourceId;
use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::{Atom, Configuration, Id, Model, NodeId, PodId, Problem};
use serde_json::{Value, json};

use super::describe;
use crate::words;

/// The pods and nodes of a page.
pub(super) struct Entities {
    /// The cluster shown, and what runs in it.
    model: Arc<Model>,
    running: Arc<Configuration>,
    /// The pod types that are described, by number, and which of them were met first.
    described: BTreeMap<usize, Value>,
    met: Vec<usize>,
    /// How many bytes the descriptions take.
    bytes: usize,
    /// The numbers of pod types by name: of the cluster shown, where a name is looked for, and of those that joined.
    known: OnceCell<HashMap<String, usize>>,
    joined: HashMap<String, usize>,
    /// The nodes that are described: those of the cluster shown, if any, and those that joined.
    nodes: Vec<Value>,
    node: OnceCell<HashMap<String, usize>>,
    joined_nodes: HashMap<String, usize>,
    forms: Vec<Value>,
    form: BTreeMap<String, usize>,
    resources: Vec<Value>,
    resource: BTreeMap<String, usize>,
    /// What runs at first elsewhere, and which questions begin there.
    starts: Vec<(Arc<Configuration>, Arc<Model>)>,
    start: Vec<(Arc<Configuration>, Arc<Model>, Option<usize>)>,
}

/// How far a table had come.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    met: usize,
    bytes: usize,
    starts: usize,
    start: usize,
}

impl Entities {
    /// Everyone in the cluster of a problem; pod types are described in as many bytes.
    pub(super) fn new(problem: &Problem, names: usize) -> Self {
        let mut entities = Self::numbers(problem);
        let m = Arc::clone(&entities.model);
        for pod in polled(m.pods().take_while(|_| names > 0)) {
            let mark = entities.mark();
            entities.pod(&m, pod);
            if entities.bytes > names {
                entities.forget(mark);
                break;
            }
        }
        for node in polled(m.nodes()) {
            entities.describe_node(&m, node);
        }
        entities
    }

    /// The same where nobody is described until something refers to them.
    pub(super) fn numbers(problem: &Problem) -> Self {
        Self {
            model: Arc::clone(&problem.model),
            running: Arc::clone(&problem.start),
            described: BTreeMap::new(),
            met: Vec::new(),
            bytes: 0,
            known: OnceCell::new(),
            joined: HashMap::new(),
            nodes: Vec::new(),
            node: OnceCell::new(),
            joined_nodes: HashMap::new(),
            forms: Vec::new(),
            form: BTreeMap::new(),
            resources: Vec::new(),
            resource: BTreeMap::new(),
            starts: Vec::new(),
            start: Vec::new(),
        }
    }

    /// How far this is, to go back to.
    pub(super) fn mark(&self) -> Mark {
        Mark { met: self.met.len(), bytes: self.bytes, starts: self.starts.len(), start: self.start.len() }
    }

    /// How many bytes of descriptions were added.
    pub(super) fn since(&self, mark: Mark) -> usize {
        self.bytes - mark.bytes
    }

    /// Takes back what was described for something that is not shown after all. Numbers stay as they are.
    pub(super) fn forget(&mut self, mark: Mark) {
        for pod in self.met.drain(mark.met..) {
            self.described.remove(&pod);
        }
        self.bytes = mark.bytes;
        self.starts.truncate(mark.starts);
        self.start.truncate(mark.start);
    }

    /// Whether every pod type of the cluster is described.
    pub(super) fn is_whole(&self) -> bool {
        let all = self.model.pods().len();
        self.described.len() >= all && self.described.range(..all).count() == all
    }

    /// The pod types of the cluster that are described.
    pub(super) fn described(&self) -> Vec<PodId> {
        self.described.range(..self.model.pods().len()).map(|(&number, _)| PodId::from_index(number)).collect()
    }

    /// The number of a pod type, which the page describes from now on.
    pub(super) fn pod(&mut self, m: &Model, pod: PodId) -> usize {
        let number = self.number(m, pod);
        if !self.described.contains_key(&number) {
            let weights: Vec<Value> = weights(m, pod).into_iter().map(|(r, w)| self.amount(m, r, w)).collect();
            let says = describe::pod(m, pod);
            self.describe(number, json!({"name": words::pod(m, pod), "weights": weights, "says": says}));
        }
        number
    }

    fn describe(&mut self, number: usize, description: Value) {
        self.bytes += description.to_string().len() + 1;
        self.described.insert(number, description);
        self.met.push(number);
    }

    /// The number of a pod type: that in the cluster shown, or the next.
    fn number(&mut self, m: &Model, pod: PodId) -> usize {
        let all = self.model.pods().len();
        if std::ptr::eq(m, &*self.model) && pod.index() < all {
            return pod.index();
        }
        let name = words::pod(m, pod);
        let of = &self.model;
        let known = self.known.get_or_init(|| of.pods().map(|pod| (words::pod(of, pod), pod.index())).collect());
        if let Some(&known) = known.get(&name) {
            return known;
        }
        let next = all + self.joined.len();
        *self.joined.entry(name).or_insert(next)
    }

    /// The number of a node: that in the cluster shown, or the next.
    pub(super) fn node(&mut self, m: &Model, node: NodeId) -> usize {
        let of = Arc::clone(&self.model);
        // A page has no node of that number: it says so of pods that wait for one.
        if std::ptr::eq(m, &*of) || node == NodeId::NOWHERE {
            return node.index();
        }
        let name = m.node_name(node);
        let known =
            self.node.get_or_init(|| of.nodes().map(|node| (of.node_name(node).into(), node.index())).collect());
        if let Some(&known) = known.get(name).or_else(|| self.joined_nodes.get(name)) {
            return known;
        }
        let next = of.nodes().len() + self.joined_nodes.len();
        self.joined_nodes.insert(name.to_owned(), next);
        self.describe_node(m, node);
        next
    }

    fn describe_node(&mut self, m: &Model, node: NodeId) {
        let form = self.form(m, node);
        self.nodes.push(json!([m.node_name(node), form]));
    }

    /// What the node shares with others.
    fn form(&mut self, m: &Model, id: NodeId) -> usize {
        let node = m.node(id);
        let is_new = words::is_new(m, id);
        let own = |key, value| m.str(key) == "kubernetes.io/hostname" || (value == node.name && !is_new);
        let shown = node.labels.iter().filter(|&(key, value)| !own(key, value));
        let mut labels: Vec<(&str, String)> =
            shown.map(|(key, _)| (m.str(key), words::node_label(m, id, key))).collect();
        labels.sort_unstable();
        let capacity: Vec<Value> = node.allocatable.iter().map(|(r, a)| self.capacity(m, r, a)).collect();
        let taints: Vec<String> = node.taints.iter().map(|taint| words::taint(m, taint)).collect();
        let mut form =
            json!({"labels": labels, "taints": taints, "cordoned": node.unschedulable, "capacity": capacity});
        if is_new {
            form["comesFrom"] = words::pool(m, id).into();
        }
        let next = self.forms.len();
        let index = *self.form.entry(form.to_string()).or_insert(next);
        if index == next {
            self.forms.push(form);
        }
        index
    }

    /// How much of a resource a node has; null where that is not known.
    fn capacity(&mut self, m: &Model, resource: ResourceId, amount: Amount) -> Value {
        let mut known = self.amount(m, resource, amount);
        if amount == Amount::MAX {
            known[1] = Value::Null;
        }
        known
    }

    fn amount(&mut self, m: &Model, resource: ResourceId, amount: Amount) -> Value {
        let name = m.str(m.cluster().resources[resource]);
        let next = self.resources.len();
        let index = *self.resource.entry(name.to_owned()).or_insert(next);
        if index == next {
            self.resources.push(json!({"name": name, "unit": describe::unit(name)}));
        }
        json!([index, exact(amount)])
    }

    /// A pod on a node, by their numbers.
    pub(super) fn atom(&mut self, m: &Model, (pod, node): Atom) -> Value {
        json!([self.pod(m, pod), self.node(m, node)])
    }

    /// A configuration as one list of numbers: pod, node, count, pod, node, count and so on.
    pub(super) fn configuration(&mut self, m: &Model, s: &Configuration) -> Value {
        let mut flat = Vec::new();
        for ((pod, node), count) in polled(running(m, s)) {
            flat.extend([json!(self.pod(m, pod)), json!(self.node(m, node)), exact(count.into())]);
        }
        flat.into()
    }

    /// The same for what runs all over the cluster: types that are not described are summed up, node by node, in types of their own.
    fn excerpt(&mut self, m: &Model, s: &Configuration, sums: &mut Sums) -> Value {
        let (mut flat, mut rest) = (Vec::new(), BTreeMap::<NodeId, Rest>::new());
        for ((pod, node), count) in polled(running(m, s)) {
            let number = self.number(m, pod);
            if self.described.contains_key(&number) {
                flat.extend([json!(number), json!(self.node(m, node)), exact(count.into())]);
            } else {
                rest.entry(node).or_default().add(m, pod, count);
            }
        }
        for (node, rest) in rest {
            flat.extend([json!(self.summed(m, rest, sums)), json!(self.node(m, node)), 1.into()]);
        }
        flat.into()
    }

    /// The number of what stands for some pods that are not described.
    fn summed(&mut self, m: &Model, rest: Rest, sums: &mut Sums) -> usize {
        if let Some(&known) = sums.get(&rest) {
            return known;
        }
        let number = self.model.pods().len() + self.joined.len() + sums.len();
        let weights: Vec<Value> = rest.weights.iter().map(|(&r, &w)| self.amount(m, r, w)).collect();
        let name = if rest.count == 1 { "1 other pod".to_owned() } else { format!("{} other pods", rest.count) };
        self.describe(number, json!({"name": name, "weights": weights, "says": ["is summed up here"]}));
        sums.insert(rest, number);
        number
    }

    /// What runs at first in a question, by its number; null where that is what runs in the cluster shown. Also about how many bytes that
    /// adds to the page.
    pub(super) fn start(&mut self, problem: &Problem) -> (Value, usize) {
        let is_it = |(start, model, _): &&(Arc<Configuration>, Arc<Model>, _)| {
            Arc::ptr_eq(start, &problem.start) && Arc::ptr_eq(model, &problem.model)
        };
        if let Some((_, _, known)) = self.start.iter().find(is_it) {
            return ((*known).into(), 0);
        }
        let alike = |start: &Configuration, m: &Model| *start == *problem.start && names_alike(m, &problem.model);
        let mut bytes = 0;
        let number = if alike(&self.running, &self.model) {
            None
        } else {
            let known = self.starts.iter().position(|(start, m)| alike(start, m));
            Some(known.unwrap_or_else(|| {
                bytes = ENTRY * problem.start.support().min(self.described.len() + problem.model.nodes().len());
                self.starts.push((Arc::clone(&problem.start), Arc::clone(&problem.model)));
                self.starts.len() - 1
            }))
        };
        self.start.push((problem.start.clone(), problem.model.clone(), number));
        (number.into(), bytes)
    }

    /// The cluster that the page shows.
    pub(super) fn into_json(mut self, problem: &Problem) -> Value {
        let m = &problem.model;
        let (starts, all, whole) = (std::mem::take(&mut self.starts), m.pods().len(), self.is_whole());
        let left_out = (!whole).then(|| left_out(self.described.range(..all).count(), all));
        // Whoever joins does so before the sums get their numbers.
        for (start, m) in std::iter::once((&problem.start, m)).chain(starts.iter().map(|(start, m)| (start, m))) {
            for ((pod, _), _) in polled(running(m, start)) {
                let _ = if whole { self.pod(m, pod) } else { self.number(m, pod) };
            }
        }
        let mut sums = Sums::new();
        let running = self.excerpt(m, &problem.start, &mut sums);
        let starts: Vec<Value> = starts.iter().map(|(start, m)| self.excerpt(m, start, &mut sums)).collect();
        let described = |((pod, node), count)| {
            let known = self.described.contains_key(&PodId::index(pod));
            known.then(|| [json!(pod.index()), json!(NodeId::index(node)), exact(u64::into(count))])
        };
        let kept: Vec<Value> = problem.kept.iter().filter_map(described).flatten().collect();
        let mut cluster = json!({
            "pods": with_gaps(self.described),
            "nodes": self.nodes,
            "forms": self.forms,
            "resources": self.resources,
            "levels": describe::levels(m),
            "running": running,
            "kept": kept,
            "starts": starts,
        });
        if let Some(left_out) = left_out {
            cluster["leftOut"] = left_out.into();
        }
        cluster
    }
}

/// About how many bytes one entry of a configuration takes.
const ENTRY: usize = 16;

/// Pods of a node that are not described: how many, and what they take together.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rest {
    count: u64,
    weights: BTreeMap<ResourceId, Amount>,
}

/// The numbers of what stands for such pods.
type Sums = BTreeMap<Rest, usize>;

impl Rest {
    fn add(&mut self, m: &Model, pod: PodId, count: u64) {
        self.count = self.count.saturating_add(count);
        for (resource, weight) in weights(m, pod) {
            let sum = self.weights.entry(resource).or_default();
            *sum = sum.saturating_add(weight.saturating_mul(count.into()));
        }
    }
}

/// What a pod takes of each resource.
fn weights(m: &Model, pod: PodId) -> Vec<(ResourceId, Amount)> {
    let all = m.cluster().resources.entries().ids().map(|resource| (resource, fit::weight(m, pod, resource)));
    all.filter(|(_, weight)| *weight > 0).collect()
}

/// Whether two models give everyone the same number.
fn names_alike(a: &Model, b: &Model) -> bool {
    std::ptr::eq(a, b)
        || a.pods().len() == b.pods().len()
            && a.nodes().len() == b.nodes().len()
            && a.pods().all(|pod| a.pod_name(pod) == b.pod_name(pod))
            && a.nodes().all(|node| a.node_name(node) == b.node_name(node))
}

fn left_out(described: usize, all: usize) -> String {
    format!(
        "{described} of {all} pod types have their names here; nothing on this page refers to the others, of which only sums are \
         shown. `podreach lower -o json` lists all."
    )
}

/// What runs; what waits for a node is nowhere on a page.
fn running<'s>(m: &'s Model, s: &'s Configuration) -> impl Iterator<Item = (Atom, u64)> + 's {
    s.iter().filter(|((pod, _), _)| m.bound(*pod).is_none())
}

/// A list with numbers for its gaps: so many are not described.
fn with_gaps(described: BTreeMap<usize, Value>) -> Vec<Value> {
    let (mut list, mut next) = (Vec::new(), 0);
    for (number, value) in described {
        list.extend((number > next).then(|| json!(number - next)));
        list.push(value);
        next = number + 1;
    }
    list
}

/// A number that a page reads exactly: text where its own numbers would round.
fn exact(amount: Amount) -> Value {
    const SAFE: Amount = (1 << 53) - 1;
    match u64::try_from(amount) {
        Ok(small) if amount <= SAFE => small.into(),
        _ => amount.to_string().into(),
    }
}
