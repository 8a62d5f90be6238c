//! Who plays: the pods and nodes that a page speaks of, each once and by number.
//!
//! Evidence of an audit may be about a cluster that differs from the one shown, so everything is looked up by name, and what is not
//! there yet joins. Nodes that differ in nothing but their name share a form, which keeps pages of large clusters small.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::id::ResourceId;
use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::{Atom, Configuration, Id, Model, NodeId, PodId, Problem};
use serde_json::{Value, json};

use super::super::words;
use super::describe;

/// The pods and nodes of a page.
pub(super) struct Cast {
    pods: Vec<Value>,
    pod: BTreeMap<String, usize>,
    nodes: Vec<Value>,
    node: BTreeMap<String, usize>,
    forms: Vec<Value>,
    form: BTreeMap<String, usize>,
    resources: Vec<Value>,
    resource: BTreeMap<String, usize>,
    /// What runs in the cluster shown.
    running: Arc<Configuration>,
    /// What runs at first elsewhere, and which questions begin there.
    starts: Vec<Value>,
    start: Vec<(Arc<Configuration>, Arc<Model>, Option<usize>)>,
}

impl Cast {
    /// Everyone in the cluster of a problem.
    pub(super) fn new(problem: &Problem) -> Self {
        let mut cast = Self {
            pods: Vec::new(),
            pod: BTreeMap::new(),
            nodes: Vec::new(),
            node: BTreeMap::new(),
            forms: Vec::new(),
            form: BTreeMap::new(),
            resources: Vec::new(),
            resource: BTreeMap::new(),
            running: Arc::clone(&problem.start),
            starts: Vec::new(),
            start: Vec::new(),
        };
        let m = &problem.model;
        for pod in m.pods() {
            cast.pod(m, pod);
        }
        for node in m.nodes() {
            cast.node(m, node);
        }
        cast
    }

    /// The number of a pod type.
    pub(super) fn pod(&mut self, m: &Model, pod: PodId) -> usize {
        let name = words::pod(m, pod);
        if let Some(&known) = self.pod.get(&name) {
            return known;
        }
        let weights = m.cluster().resources.entries().ids().map(|resource| (resource, fit::weight(m, pod, resource)));
        let weights: Vec<Value> = weights.filter(|(_, w)| *w > 0).map(|(r, w)| self.amount(m, r, w)).collect();
        self.pods.push(json!({
            "name": name,
            "weights": weights,
            "says": describe::pod(m, pod),
        }));
        self.pod.insert(name, self.pods.len() - 1);
        self.pods.len() - 1
    }

    /// The number of a node.
    pub(super) fn node(&mut self, m: &Model, node: NodeId) -> usize {
        let name = m.node_name(node);
        if let Some(&known) = self.node.get(name) {
            return known;
        }
        let form = self.form(m, node);
        self.nodes.push(json!([name, form]));
        self.node.insert(name.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// What the node shares with others.
    fn form(&mut self, m: &Model, id: NodeId) -> usize {
        let node = m.node(id);
        let own = |key, value| m.str(key) == "kubernetes.io/hostname" || value == node.name;
        let mut labels: Vec<(&str, &str)> =
            node.labels.iter().filter(|&(k, v)| !own(k, v)).map(|(k, v)| (m.str(k), m.str(v))).collect();
        labels.sort_unstable();
        let capacity: Vec<Value> = node.allocatable.iter().map(|(r, a)| self.amount(m, r, a)).collect();
        let taints: Vec<String> = node.taints.iter().map(|taint| words::taint(m, taint)).collect();
        let form = json!({"labels": labels, "taints": taints, "cordoned": node.unschedulable, "capacity": capacity});
        let next = self.forms.len();
        let index = *self.form.entry(form.to_string()).or_insert(next);
        if index == next {
            self.forms.push(form);
        }
        index
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
        for ((pod, node), count) in s.iter() {
            flat.extend([json!(self.pod(m, pod)), json!(self.node(m, node)), exact(count.into())]);
        }
        flat.into()
    }

    /// What runs at first in a question, by its number; null where that is what runs in the cluster shown. Also how many bytes that adds
    /// to the page.
    pub(super) fn start(&mut self, problem: &Problem) -> (Value, usize) {
        let is_it = |(start, model, _): &&(Arc<Configuration>, Arc<Model>, _)| {
            Arc::ptr_eq(start, &problem.start) && Arc::ptr_eq(model, &problem.model)
        };
        if let Some((_, _, known)) = self.start.iter().find(is_it) {
            return ((*known).into(), 0);
        }
        let mut bytes = 0;
        let number = if *problem.start == *self.running && self.numbers_as(&problem.model) {
            None
        } else {
            let start = self.configuration(&problem.model, &problem.start);
            let known = self.starts.iter().position(|known| *known == start);
            Some(known.unwrap_or_else(|| {
                bytes = start.to_string().len();
                self.starts.push(start);
                self.starts.len() - 1
            }))
        };
        self.start.push((problem.start.clone(), problem.model.clone(), number));
        (number.into(), bytes)
    }

    /// Whether a model gives everyone the number that the page gives.
    fn numbers_as(&self, m: &Model) -> bool {
        m.pods().all(|pod| self.pod.get(m.pod_name(pod)) == Some(&pod.index()))
            && m.nodes().all(|node| self.node.get(m.node_name(node)) == Some(&node.index()))
    }

    /// The cluster that the page shows.
    pub(super) fn into_json(mut self, problem: &Problem) -> Value {
        let m = &problem.model;
        let running = self.configuration(m, &problem.start);
        let kept = self.configuration(m, &problem.kept);
        json!({
            "pods": self.pods,
            "nodes": self.nodes,
            "forms": self.forms,
            "resources": self.resources,
            "levels": describe::levels(m),
            "running": running,
            "kept": kept,
            "starts": self.starts,
        })
    }
}

/// A number that a page reads exactly: text where its own numbers would round.
fn exact(amount: Amount) -> Value {
    const SAFE: Amount = (1 << 53) - 1;
    match u64::try_from(amount) {
        Ok(small) if amount <= SAFE => small.into(),
        _ => amount.to_string().into(),
    }
}
