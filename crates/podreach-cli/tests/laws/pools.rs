//! Random clusters with pools: nodes that come and go beside those that stay.

use serde_json::{Map, Value, json};

use crate::clusters::{self, HOST, ZONE};
use crate::options::Options;
use crate::random::Rng;

/// The label that tells the nodes of pools from all others.
pub const TIER: &str = "tier";
/// The label that Karpenter gives the nodes of a pool.
pub const POOL: &str = "karpenter.sh/nodepool";

/// A random cluster with one pool or two, of which some have a node already.
pub fn cluster(seed: u64) -> (Vec<Value>, Options) {
    let (mut objects, mut options) = clusters::cluster(seed);
    let mut rng = Rng::new(seed ^ 0x9001);
    options.elastic = true;
    options.fixed = false;
    options.trusts = rng.percent(20);
    let zone = if mentions(&objects, ZONE) { ZONE } else { "zone" };
    for number in 1..=if rng.percent(30) { 2 } else { 1 } {
        let (pool, node) =
            if rng.percent(35) { of_karpenter(&mut rng, number, zone) } else { own(&mut rng, number, zone) };
        objects.push(pool);
        if let Some(node) = node {
            objects.insert(0, node);
        }
    }
    (objects, options)
}

/// Whether pods or their owners mention a word.
pub fn mentions(objects: &[Value], word: &str) -> bool {
    let word = format!("\"{word}\"");
    let others = objects.iter().filter(|object| object["kind"] != "Node" && object["kind"] != "NodePool");
    others.into_iter().any(|object| object.to_string().contains(&word))
}

fn room(rng: &mut Rng) -> Value {
    json!({"cpu": (1 + rng.below(3)).to_string(), "pods": (1 + rng.below(2)).to_string()})
}

fn taints(rng: &mut Rng) -> Value {
    if rng.percent(25) { json!([{"key": "dedicated", "value": "t", "effect": "NoSchedule"}]) } else { json!([]) }
}

/// What a pool says about a label besides those that are fixed.
fn choice(rng: &mut Rng, key: &str) -> Value {
    let (one, other) = if key == "pool" { ("red", "blue") } else { ("x", "y") };
    match rng.below(4) {
        0 => json!({"key": key, "operator": "In", "values": [one]}),
        1 => json!({"key": key, "operator": "In", "values": [one, other]}),
        2 => json!({"key": key, "operator": "Exists"}),
        _ => json!({"key": key, "operator": "NotIn", "values": [one]}),
    }
}

/// A value that a choice allows.
fn chosen(rng: &mut Rng, choice: &Value) -> Value {
    match choice["values"].as_array() {
        Some(values) if choice["operator"] == "In" => rng.pick(values).clone(),
        _ => json!("some"),
    }
}

fn node(number: usize, mut labels: Map<String, Value>, taints: &Value, room: &Value) -> Value {
    let name = format!("e{number}");
    labels.insert(HOST.to_owned(), json!(name));
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": taints},
        "status": {"allocatable": room, "capacity": room}})
}

/// A pool that nothing else describes, and a node of it.
fn own(rng: &mut Rng, number: usize, zone: &str) -> (Value, Option<Value>) {
    let (taints, room) = (taints(rng), room(rng));
    let mut labels = Map::from_iter([(TIER.to_owned(), json!(format!("t{number}")))]);
    let mut choices = Vec::new();
    match rng.below(10) {
        0 => {}
        1 | 2 => choices.push(choice(rng, zone)),
        _ => drop(labels.insert(zone.to_owned(), json!(*rng.pick(&["x", "y", "new"])))),
    }
    match rng.below(10) {
        0..3 => drop(labels.insert("pool".to_owned(), json!("red"))),
        3..5 => choices.push(choice(rng, "pool")),
        _ => {}
    }
    let mut spec = json!({"labels": labels, "choices": choices, "taints": taints});
    if rng.percent(85) {
        spec["allocatable"] = room.clone();
    }
    if rng.percent(25) {
        spec["maxNodes"] = json!(rng.below(3));
    }
    let pool = json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "NodePool", "metadata": {"name": format!("p{number}")}, "spec": spec});
    let has = |choice: &Value| (choice["key"].as_str().unwrap_or_default().to_owned(), choice.clone());
    for (key, choice) in choices.iter().map(has) {
        labels.insert(key, chosen(rng, &choice));
    }
    (pool, rng.percent(25).then(|| node(number, labels, &taints, &room)))
}

/// A pool of Karpenter's, and a node of it.
fn of_karpenter(rng: &mut Rng, number: usize, zone: &str) -> (Value, Option<Value>) {
    let (taints, room, name) = (taints(rng), room(rng), format!("p{number}"));
    let mut labels = Map::from_iter([(TIER.to_owned(), json!(format!("t{number}")))]);
    let mut requirements = Vec::new();
    if rng.percent(80) {
        let all = [json!(["x"]), json!(["x", "y"]), json!(["new"])];
        requirements.push(json!({"key": zone, "operator": "In", "values": rng.pick(&all)}));
    }
    match rng.below(10) {
        0..3 => drop(labels.insert("pool".to_owned(), json!("red"))),
        3..5 => requirements.push(json!({"key": "pool", "operator": "Exists"})),
        _ => {}
    }
    let class = json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"});
    let template = json!({"metadata": {"labels": labels},
        "spec": {"requirements": requirements, "taints": taints, "nodeClassRef": class}});
    let mut spec = json!({"template": template});
    match rng.below(8) {
        0 => spec["limits"] = json!({"nodes": rng.below(3).to_string()}),
        1 => spec["replicas"] = json!(rng.below(3)),
        _ => {}
    }
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec});
    labels.insert(POOL.to_owned(), json!(name));
    labels.insert(zone.to_owned(), json!("x"));
    for requirement in &requirements {
        let key = requirement["key"].as_str().unwrap_or_default();
        labels.insert(key.to_owned(), chosen(rng, requirement));
    }
    (pool, rng.percent(70).then(|| node(number, labels, &taints, &room)))
}
