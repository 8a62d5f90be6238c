//! Runs of random clusters on the real scheduler: what podreach says can be, is; what it says can never be, is not.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::chance::Rng;
use crate::generate::{self, Generated};
use crate::paths::{collection, path};
use crate::program::{Ran, on_file, run, scratch};

/// How many runs of one cluster are replayed at most, so that many clusters take part.
const PER_CLUSTER: usize = 8;

/// How many random steps each cluster's *never*s are attacked with.
const ATTACK: usize = 8;

/// What was counted.
#[derive(Debug, Default)]
struct Tally {
    clusters: usize,
    witnesses: usize,
    steps: usize,
    uncordoned: usize,
    nevers: usize,
    unknown: usize,
    attempts: usize,
}

pub fn witnesses(api: &Api) {
    let wanted = std::env::var("PODREACH_WITNESSES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let first = std::env::var("PODREACH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    let mut tally = Tally::default();
    for seed in first.. {
        if tally.witnesses >= wanted {
            break;
        }
        one_cluster(api, seed, wanted, &mut tally);
        println!("   seed {seed}: {tally:?}");
    }
    assert!(tally.nevers > 0, "no never was met");
    assert!(tally.uncordoned > 0 || wanted < 30, "no run uncordons a node");
}

fn one_cluster(api: &Api, seed: u64, wanted: usize, tally: &mut Tally) {
    api.clear();
    let generated = generate::cluster(seed);
    generated.objects.iter().chain(&generated.running).for_each(|object| api.apply(object));
    let file = scratch("cluster.json");
    let taken = run(api, &["snapshot", "-q", "-o", &file.to_string_lossy()]);
    assert_eq!(taken.exit, 0, "seed {seed}: {taken:?}");
    tally.clusters += 1;
    let mut nevers = Vec::new();
    let mut replayed = 0;
    let nodes: Vec<&Value> = generated.objects.iter().filter(|object| object["kind"] == "Node").collect();
    let rng = &mut Rng::new(seed);
    for (name, pod) in &generated.types {
        for node in &nodes {
            let node = name_of(node);
            let verdict = on_file(&file, &["check", name, node, "-o", "json", "-q"]);
            match verdict.exit {
                0 if replayed < PER_CLUSTER && tally.witnesses < wanted => {
                    let steps = verdict.json()["trace"].as_array().map_or(0, Vec::len);
                    // Runs of one step are many and say little: some are enough.
                    if steps == 0 || (steps == 1 && !rng.one_in(4)) {
                        continue;
                    }
                    let uncordoned = uncordon(api, &verdict);
                    let ready = if uncordoned.is_empty() { verdict } else { now(api, seed, &[name, node]) };
                    replay(api, seed, &ready.out, &generated);
                    uncordoned.iter().for_each(|node| cordon(api, node, &json!(true)));
                    tally.uncordoned += uncordoned.len();
                    replayed += 1;
                    tally.witnesses += 1;
                    tally.steps += steps;
                }
                0 => {}
                1 => nevers.push((pod, node)),
                3 => tally.unknown += 1,
                _ => panic!("seed {seed}: {verdict:?}"),
            }
        }
    }
    tally.nevers += nevers.len();
    tally.attempts += attack(api, seed, &generated, &nevers);
}

/// Lifts the cordons that a run lifts, which a replay leaves to others; says of which nodes.
fn uncordon(api: &Api, verdict: &Ran) -> Vec<String> {
    let document = verdict.json();
    let steps = document["trace"].as_array().into_iter().flatten().filter(|step| step["op"] == "uncordon");
    let nodes: Vec<String> = steps.map(|step| step["node"].as_str().unwrap_or_default().to_owned()).collect();
    nodes.iter().for_each(|node| cordon(api, node, &Value::Null));
    nodes
}

fn cordon(api: &Api, node: &str, is: &Value) {
    let change = json!({"spec": {"unschedulable": is}});
    api.send(Method::PATCH, &format!("/api/v1/nodes/{node}"), Some(&change)).expect("a node is changed");
}

/// The verdict about the cluster as it is now.
fn now(api: &Api, seed: u64, question: &[&str]) -> Ran {
    let file = scratch("uncordoned.json");
    let taken = run(api, &["snapshot", "-q", "-o", &file.to_string_lossy()]);
    assert_eq!(taken.exit, 0, "seed {seed}: {taken:?}");
    let verdict = on_file(&file, &[&["check"], question, &["-o", "json", "-q"]].concat());
    assert_eq!(verdict.exit, 0, "seed {seed}: uncordoned, and yet {verdict:?}");
    verdict
}

/// Replays a run, which must agree in every step, leave nothing behind, and end where it should.
fn replay(api: &Api, seed: u64, verdict: &str, generated: &Generated) {
    let file = scratch("verdict.json");
    std::fs::write(&file, verdict).expect("a verdict is written");
    let ran = run(api, &["replay", "--execute", "-o", "json", "-q", &file.to_string_lossy()]);
    assert_eq!(ran.exit, 0, "seed {seed}: {verdict}\n{ran:?}");
    let report = ran.json();
    assert_eq!((&report["agreed"], &report["cleaned"]), (&json!(true), &json!(true)), "seed {seed}: {report}");
    assert!(api.list("/api/v1/pods?labelSelector=podreach.dev/replay").is_empty(), "seed {seed}: pods are left");
    // Pods of the start that the run deleted come back for the next.
    generated.running.iter().for_each(|pod| api.apply(pod));
}

/// Lets the scheduler place and us delete at random, and tries every target in every state; returns how often.
fn attack(api: &Api, seed: u64, generated: &Generated, nevers: &[(&Value, &str)]) -> usize {
    if nevers.is_empty() {
        return 0;
    }
    let rng = &mut Rng::new(seed ^ 0x5eed);
    let mut present: Vec<Value> = generated.running.clone();
    let mut attempts = 0;
    for step in 0..ATTACK {
        for (at, (pod, node)) in nevers.iter().enumerate() {
            // All of them at first and at last, and one in three in between.
            if step != 0 && step + 1 != ATTACK && !rng.one_in(3) {
                continue;
            }
            let tried = named(pod, &format!("target-{step}-{at}"));
            let bound = offered(api, &tried, Some(node));
            assert_ne!(bound.as_deref(), Some(*node), "seed {seed}: {pod} runs on {node} after {present:?}");
            api.delete(&path(&tried));
            attempts += 1;
        }
        if !present.is_empty() && rng.one_in(3) {
            api.delete(&path(&present.swap_remove(rng.below(present.len()))));
        } else {
            let pod = named(&generated.types[rng.below(generated.types.len())].1, &format!("random-{step}"));
            match offered(api, &pod, None) {
                Some(_) => present.push(pod),
                None => api.delete(&path(&pod)),
            }
        }
    }
    attempts
}

fn named(pod: &Value, name: &str) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["name"] = name.into();
    pod
}

/// Creates a pod, offered one node first if one is given, and says where the scheduler bound it.
pub fn offered(api: &Api, pod: &Value, node: Option<&str>) -> Option<String> {
    let mut pod = pod.clone();
    pod["spec"]["schedulingGates"] = json!([{"name": "podreach.dev/test"}]);
    api.send(Method::POST, &collection(&pod), Some(&pod)).unwrap_or_else(|why| panic!("{why:?}: {pod}"));
    let path = path(&pod);
    if let Some(node) = node {
        let nominated = json!({"status": {"nominatedNodeName": node}});
        api.send(Method::PATCH, &format!("{path}/status"), Some(&nominated)).expect("a nomination");
    }
    let lifted = json!({"spec": {"schedulingGates": null}});
    api.send(Method::PATCH, &path, Some(&lifted)).expect("the gate is lifted");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let now = api.get(&path);
        if let Some(node) = now.pointer("/spec/nodeName").and_then(Value::as_str) {
            return Some(node.to_owned());
        }
        let conditions = now.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        if conditions.iter().any(|condition| condition["reason"] == "Unschedulable") {
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the scheduler does nothing about {pod}");
}

fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}
