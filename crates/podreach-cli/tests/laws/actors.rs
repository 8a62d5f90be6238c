//! Laws about actors: what holds against one holds as it is, and after whatever it does.

use serde_json::{Value, json};

use crate::agreement::unproved;
use crate::clusters::{self, DEVICE, ZONE};
use crate::options::Options;
use crate::program::{Program, Rule};
use crate::random::Rng;
use crate::survey::Tally;
use crate::world::{World, namespace};
use crate::{Asked, Difference, failure, word};

type Cell = (String, String);

/// One pod of a cell.
fn once((pod, node): &Cell) -> Asked {
    vec![(pod.clone(), node.clone(), 1)]
}

/// Who acts: a tenant in a namespace, or the kubelet of a node.
enum Actor<'c> {
    Tenant(&'c str),
    Kubelet(&'c str),
}

impl Actor<'_> {
    fn argument(&self) -> String {
        match self {
            Self::Tenant(namespace) => format!("tenant={namespace}"),
            Self::Kubelet(node) => format!("node-compromise={node}"),
        }
    }

    /// What is counted where a rule holds.
    fn held(&self) -> &'static str {
        match self {
            Self::Tenant(_) => "held against a tenant",
            Self::Kubelet(_) => "held against a kubelet",
        }
    }

    /// The cluster after something that the actor may do at any time.
    fn act(&self, objects: &[Value], options: &Options, rng: &mut Rng) -> Vec<Value> {
        let mut after = objects.to_vec();
        match self {
            Self::Tenant(own) => {
                let kept =
                    |pod: &Value| options.keep.as_deref().is_some_and(|app| pod["metadata"]["labels"]["app"] == app);
                let may = |pod: &Value| {
                    pod["kind"] == "Pod" && namespace(pod) == *own && !pod["spec"]["nodeName"].is_null() && !kept(pod)
                };
                for pod in after.iter_mut().filter(|pod| may(pod)) {
                    if rng.percent(50) {
                        relabel(pod, options, rng);
                    }
                }
                if rng.percent(60) {
                    after.push(intruder(own, clusters::shape(rng, zone_key(objects))));
                }
            }
            Self::Kubelet(name) => {
                for node in after.iter_mut().filter(|node| node["kind"] == "Node" && node["metadata"]["name"] == *name)
                {
                    change(node, zone_key(objects), rng);
                }
                if rng.percent(50) {
                    after.push(witness(name, clusters::shape(rng, zone_key(objects))));
                }
            }
        }
        after
    }
}

/// A Deployment that nobody expected in a namespace.
fn intruder(namespace: &str, (labels, spec): (Value, Value)) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "intruder", "namespace": namespace, "uid": "u-intruder"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})
}

/// A mirror pod that nobody expected on a node. It asks for nothing, so it is in nobody's way.
fn witness(node: &str, (labels, _): (Value, Value)) -> Value {
    let metadata = json!({"name": format!("witness-{node}"), "namespace": "default", "uid": "p-witness",
        "creationTimestamp": "2026-11-01T08:00:00Z", "labels": labels});
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"containers": [{"name": "main", "image": "a"}]}});
    clusters::mirror(&mut pod, node);
    pod
}

/// The label by which the nodes of a cluster are in zones.
fn zone_key(objects: &[Value]) -> &'static str {
    let carried = |object: &Value| object["kind"] == "Node" && !object["metadata"]["labels"][ZONE].is_null();
    if objects.iter().any(carried) { ZONE } else { "zone" }
}

/// Other labels for a running pod. Pods that are kept are what the question says, so none becomes one.
fn relabel(pod: &mut Value, options: &Options, rng: &mut Rng) {
    let labels = &mut pod["metadata"]["labels"];
    let app = *rng.pick(&["a", "b", "c", "d"]);
    if options.keep.as_deref() != Some(app) {
        labels["app"] = json!(app);
    }
    if rng.percent(70) {
        labels["grp"] = json!(*rng.pick(&["g", "h"]));
    }
}

/// What a kubelet may change about its node: labels, room, devices, and the cordon.
fn change(node: &mut Value, zone: &str, rng: &mut Rng) {
    let labels = node["metadata"]["labels"].as_object_mut().expect("nodes have labels");
    for (key, values) in [(zone, ["x", "y"]), ("pool", ["red", "blue"])] {
        match rng.below(4) {
            0 => drop(labels.remove(key)),
            1 | 2 => drop(labels.insert(key.to_owned(), json!(*rng.pick(&values)))),
            _ => {}
        }
    }
    if rng.percent(60) {
        let room = json!({"cpu": "9", "pods": "9", DEVICE: "1"});
        node["status"] = json!({"allocatable": room, "capacity": room});
    }
    if rng.percent(60) {
        node["spec"]["unschedulable"] = json!(false);
        if let Some(taints) = node["spec"]["taints"].as_array_mut() {
            taints.retain(|taint| taint["key"] != "node.kubernetes.io/unschedulable");
        }
    }
}

/// What holds against an actor is never so, before and after what it does; and `verify` proves all that the audit says of clusters
/// that it changed.
pub fn differences(
    objects: &[Value],
    options: &Options,
    seed: u64,
    folder: &str,
    tally: &mut Tally,
) -> Vec<Difference> {
    let world = World::read(objects, options);
    let program = Program::new(folder, objects, options);
    let named = world.types.iter().filter(|of| of.is_named);
    let cells: Vec<Cell> =
        named.flat_map(|of| world.nodes.iter().map(move |node| (of.name.clone(), node.name.clone()))).collect();
    let asked: Vec<Asked> = cells.iter().map(once).collect();
    let words: Vec<String> = match program.check(&asked) {
        Ok(verdicts) => verdicts.iter().map(word).collect(),
        Err(why) => return vec![failure("refused", why)],
    };
    let Some((pod, node)) = cells.get((seed / 2) as usize % cells.len().max(1)) else { return Vec::new() };
    let own = pod.split('/').nth(1).unwrap_or("default");
    let actor = if seed.is_multiple_of(2) { Actor::Tenant(own) } else { Actor::Kubelet(node) };
    let rules: Vec<Rule<'_>> = cells.iter().map(|cell| ("never", cell)).collect();
    let judged = match program.audit_by(&actor.argument(), &rules) {
        Ok(judged) => judged,
        Err(why) => return vec![failure("audit by", why)],
    };
    let mut found: Vec<Difference> = unproved(&program).collect();
    let mut held: Vec<&Cell> = Vec::new();
    for ((cell, word), (status, message)) in cells.iter().zip(&words).zip(judged) {
        if status != "holds" {
            continue;
        }
        if word == "deployable" {
            found.push(("audit by", format!("{cell:?} can be, and never can against {}", actor.argument())));
        }
        if !message.contains("but for pods that are relabelled") {
            held.push(cell);
        }
    }
    let mut rng = Rng::new(seed ^ 0xAC7);
    let after = actor.act(objects, options, &mut rng);
    let there = World::read(&after, options);
    let asked: Vec<Asked> = held
        .iter()
        .filter(|(pod, _)| there.named(pod).is_some_and(|of| there.types[of].is_named))
        .map(|cell| once(cell))
        .collect();
    if asked.is_empty() {
        return found;
    }
    match Program::new(&format!("{folder}-acted"), &after, options).check(&asked) {
        Err(why) => found.push(failure("acted", why)),
        Ok(verdicts) => {
            for (asked, verdict) in asked.iter().zip(&verdicts) {
                tally.count(actor.held());
                if word(verdict) == "deployable" {
                    let said = format!("{asked:?} holds against {}, which makes it so:", actor.argument());
                    found.push(("acted", format!("{said} {}", verdict["trace"])));
                }
            }
        }
    }
    found
}
