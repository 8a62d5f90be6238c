//! Random documents: small clusters in which every rule takes part, and every way to say it.
//!
//! Few names and few values, so that what is said meets: a selector matches some pods, a request fits on some nodes. Every document is
//! one that an API server would take.

mod admission;
mod affinity;
mod container;
mod device;
mod node;
mod pod;
mod profile;
mod selector;
mod spread;
mod storage;
mod workload;

use podreach_core::random::Rng;
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
    traits: Traits,
}

/// What the document at hand has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traits {
    /// Whether the API server's defaults and admission are still to come.
    admit: bool,
    /// Whether there is storage.
    stored: bool,
    /// Whether there are devices.
    devices: bool,
    /// Whether nothing about claims is left open: each is bound, has its devices, or is not there.
    settled: bool,
    /// Whether admission has limits, quotas and classes to go by.
    governed: bool,
    /// Whether the scheduler has a second profile.
    profiles: bool,
}

const NAMESPACES: [&str; 3] = ["default", "o1", "o2"];
const KEYS: [&str; 5] =
    ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "rack", "absent"];

/// A cluster with an incoming pod.
pub fn cluster(rng: &mut Rng, shape: Shape) -> Value {
    let traits = Traits {
        admit: rng.one_in(2),
        stored: shape.volumes && rng.one_in(3),
        devices: rng.one_in(6),
        ..Traits::default()
    };
    let mut make = Make { rng, shape, traits };
    make.traits.governed = traits.admit && make.one_in(3);
    let configuration = if make.one_in(8) { Some(make.configuration()) } else { None };
    make.traits.profiles = configuration.as_ref().is_some_and(|(_, two)| *two);
    // Now and then a larger one.
    let factor = if make.one_in(6) { 4 } else { 1 };
    let count = 1 + make.rng.below(6 * factor);
    let nodes: Vec<Value> = (0..count).map(|index| make.node(index)).collect();
    let most = make.rng.pick(&[0, 2, 4, 8, 12]) * factor;
    let pods: Vec<Value> = (0..make.rng.below(most + 1)).map(|index| make.resident(index, count)).collect();
    let mut incoming = make.pod("x");
    // What a controller makes, the API server admits.
    let daemon = traits.admit && make.one_in(6);
    if !daemon && make.one_in(15) {
        incoming["spec"]["nodeName"] = make.node_name(count);
    }
    let mut doc = json!({
        "admit": traits.admit,
        "validate": true,
        "nodes": nodes,
        "namespaces": make.namespaces(),
        "pods": pods,
        "incoming": incoming,
    });
    if daemon {
        doc["daemon"] = json!(true);
    }
    if let Some((configuration, _)) = configuration {
        doc["schedulerConfig"] = configuration;
    }
    make.surroundings(&mut doc, count);
    doc
}

/// A cluster with pod types, small enough to visit every configuration.
///
/// Deploying a pod must leave nothing behind that the search does not see, so claims are settled from the start.
pub fn types(rng: &mut Rng, shape: Shape) -> Value {
    let traits = Traits {
        admit: !rng.one_in(4),
        stored: shape.volumes && rng.one_in(4),
        devices: rng.one_in(8),
        settled: true,
        ..Traits::default()
    };
    let mut make = Make { rng, shape, traits };
    make.traits.governed = traits.admit && make.one_in(4);
    let count = 1 + make.rng.below(3);
    let nodes: Vec<Value> = (0..count).map(|index| make.small_node(index)).collect();
    let kinds = 1 + make.rng.below(3);
    let types: Map<String, Value> = (0..kinds).map(|index| make.kind(index)).collect();
    let mut doc = json!({
        "admit": traits.admit,
        "validate": true,
        "nodes": nodes,
        "namespaces": make.namespaces(),
        "pods": [],
        "types": types,
        "reach": {"maxStates": 3000},
    });
    make.surroundings(&mut doc, count);
    doc
}

/// A cluster with pod types and pods of every standing: running, waiting, static and being deleted; small enough to visit every
/// configuration in which deletion has two phases.
///
/// A pod that is there was admitted by rules that may have changed; so that what is made again is the same, none but quotas are there.
pub fn phases(rng: &mut Rng, shape: Shape) -> Value {
    let traits = Traits { admit: !rng.one_in(4), settled: true, ..Traits::default() };
    let mut make = Make { rng, shape, traits };
    let count = 1 + make.rng.below(3);
    let settles = make.one_in(2);
    let mut nodes: Vec<Value> = (0..count).map(|index| make.small_node(index)).collect();
    if settles && make.one_in(2) {
        make.make_unwell(&mut nodes[0]);
    }
    let kinds = 1 + make.rng.below(2);
    let mut types: Map<String, Value> = (0..kinds).map(|index| make.kind(index)).collect();
    if make.one_in(5) {
        // Another workload of the same kind of pods.
        let mut twin = types["t0"].clone();
        (twin["metadata"]["name"], twin["metadata"]["uid"]) = (json!("twin"), json!("twin"));
        types.insert("twin".into(), twin);
    }
    let pods: Vec<Value> = (0..1 + make.rng.below(2)).map(|index| make.standing(index, count)).collect();
    let mut doc = json!({
        "admit": traits.admit,
        "validate": true,
        "nodes": nodes,
        "namespaces": make.namespaces(),
        "pods": pods,
        "types": types,
        "reach": {"maxStates": 4000, "phases": true, "settles": settles},
    });
    if make.one_in(3) {
        make.declare(&mut doc);
    }
    if traits.admit && make.one_in(3) {
        doc["resourceQuotas"] = json!([make.quota(0)]);
    }
    doc
}

/// What a cluster has besides namespaces: classes, and this many nodes on which all is well.
pub fn cluster_wide(rng: &mut Rng, shape: Shape, nodes: usize) -> Vec<Value> {
    let mut make = Make { rng, shape, traits: Traits { admit: true, governed: true, ..Traits::default() } };
    let mut objects = make.cluster_wide();
    objects.extend((0..nodes).map(|index| make.healthy_node(index)));
    objects
}

/// A namespace: what admission looks at there, and so many workloads, with names that begin with the namespace's.
pub fn workloads(rng: &mut Rng, shape: Shape, namespace: &str, count: usize) -> (Vec<Value>, Vec<Value>) {
    let traits = Traits { admit: true, governed: true, ..Traits::default() };
    let mut make = Make { rng, shape, traits };
    let policies = make.policies(namespace);
    let workload = |index: usize| {
        make.traits.stored = shape.volumes && make.one_in(4);
        make.workload(namespace, &format!("{namespace}-{index}"))
    };
    (policies, (0..count).map(workload).collect())
}

impl Make<'_> {
    fn pick(&mut self, texts: &[&'static str]) -> &'static str {
        self.rng.pick(texts)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.rng.one_in(n)
    }

    /// Bounds how many pods there are at a time: some types are made by workloads, the others are pods by themselves.
    fn declare(&mut self, doc: &mut Value) {
        doc["reach"]["declared"] = json!(true);
        let names: Vec<String> = doc["types"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let admit = self.traits.admit;
        for name in names.iter().filter(|_| admit) {
            let kind = self.pick(&["ReplicaSet", "ReplicaSet", "StatefulSet", ""]);
            if !kind.is_empty() {
                let waits = kind == "StatefulSet";
                doc["workloads"][name] = json!({"kind": kind, "replicas": 1 + self.rng.below(3), "waits": waits});
            }
        }
    }

    /// What there is besides nodes and pods.
    fn surroundings(&mut self, doc: &mut Value, nodes: usize) {
        let Traits { stored, devices, settled, governed, .. } = self.traits;
        if stored {
            self.storage(doc, nodes, settled);
        }
        if devices {
            self.devices(doc, nodes, settled);
        }
        if governed {
            self.admission(doc);
        }
    }

    /// The namespaces, with labels. Objects that never met an API server may lack their Namespace, but for those with pods to admit:
    /// there the API server has one.
    fn namespaces(&mut self) -> Vec<Value> {
        let mut objects = Vec::new();
        for name in NAMESPACES {
            if !self.traits.admit && self.one_in(4) {
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
