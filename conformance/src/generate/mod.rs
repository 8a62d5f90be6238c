//! Random documents: small clusters in which every rule takes part, and every way to say it.
//!
//! Few names and few values, so that what is said meets: a selector matches some pods, a request fits on some nodes. Every document is
//! one that an API server would take.

mod affinity;
mod container;
mod node;
mod pod;
mod selector;
mod spread;
mod storage;

use podreach_core::testing::Rng;
use serde_json::{Map, Value, json};

/// What random documents may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The Kubernetes release, 1.`minor`: what it does not know is left out.
    pub minor: u32,
    /// Whether volumes and their claims appear.
    pub volumes: bool,
}

/// A source of random documents.
pub(crate) struct Make<'r> {
    rng: &'r mut Rng,
    shape: Shape,
    /// Whether the API server's defaults and admission are still to come.
    admit: bool,
    /// Whether this document has storage.
    stored: bool,
}

const NAMESPACES: [&str; 3] = ["default", "o1", "o2"];
const KEYS: [&str; 5] =
    ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "rack", "absent"];

/// A cluster with an incoming pod.
pub fn cluster(rng: &mut Rng, shape: Shape) -> Value {
    let admit = rng.one_in(2);
    let stored = shape.volumes && rng.one_in(3);
    let mut make = Make { rng, shape, admit, stored };
    // Now and then a larger one.
    let factor = if make.one_in(6) { 4 } else { 1 };
    let count = 1 + make.rng.below(6 * factor);
    let nodes: Vec<Value> = (0..count).map(|index| make.node(index)).collect();
    let most = make.rng.pick(&[0, 2, 4, 8, 12]) * factor;
    let pods: Vec<Value> = (0..make.rng.below(most + 1)).map(|index| make.resident(index, count)).collect();
    let mut incoming = make.pod("x");
    if make.rng.one_in(15) {
        incoming["spec"]["nodeName"] = make.node_name(count);
    }
    let mut doc = json!({
        "admit": admit,
        "validate": true,
        "nodes": nodes,
        "namespaces": make.namespaces(),
        "pods": pods,
        "incoming": incoming,
    });
    if stored {
        make.storage(&mut doc, count);
    }
    doc
}

/// A cluster with pod types, small enough to visit every configuration.
pub fn types(rng: &mut Rng, shape: Shape) -> Value {
    let admit = !rng.one_in(4);
    let mut make = Make { rng, shape, admit, stored: false };
    let count = 1 + make.rng.below(3);
    let nodes: Vec<Value> = (0..count).map(|index| make.small_node(index)).collect();
    let kinds = 1 + make.rng.below(3);
    let types: Map<String, Value> = (0..kinds).map(|index| make.kind(index)).collect();
    json!({
        "admit": admit,
        "validate": true,
        "nodes": nodes,
        "namespaces": make.namespaces(),
        "pods": [],
        "types": types,
        "reach": {"maxStates": 3000},
    })
}

impl Make<'_> {
    fn pick(&mut self, texts: &[&'static str]) -> &'static str {
        self.rng.pick(texts)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.rng.one_in(n)
    }

    /// The namespaces, with labels. Objects that never met an API server may lack their Namespace, but for those with pods to admit:
    /// there the API server has one.
    fn namespaces(&mut self) -> Vec<Value> {
        let mut objects = Vec::new();
        for name in NAMESPACES {
            if !self.admit && self.one_in(4) {
                continue;
            }
            let mut labels = Map::new();
            if self.one_in(2) {
                labels.insert("team".into(), json!(self.pick(&["x", "y"])));
            }
            if self.one_in(4) {
                labels.insert("kubernetes.io/metadata.name".into(), json!(name));
            }
            objects.push(json!({"metadata": {"name": name, "labels": labels}}));
        }
        objects
    }

    /// A name of one of so many nodes, or of none.
    fn node_name(&mut self, count: usize) -> Value {
        let index = if self.one_in(25) { 99 } else { self.rng.below(count) };
        json!(format!("n{index}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_documents() {
        let shape = Shape { minor: 37, volumes: false };
        let two = |make: fn(&mut Rng, Shape) -> Value| (make(&mut Rng::new(7), shape), make(&mut Rng::new(7), shape));
        for (first, second) in [two(cluster), two(types)] {
            assert_eq!(first, second);
        }
    }
}
