//! Pods that real controllers made, as far as they once differed from what lowering said; without the controllers.

use podreach::lower::Release;
use podreach_conformance::workload::{Difference, Made, Tally};
use serde_json::{Value, json};

const RELEASE: Release = Release { minor: 36 };

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}, "status": {"allocatable": {"cpu": "8", "pods": "110"}}})
}

fn replica_set(spec: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r", "namespace": "default", "uid": "u"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "r"}},
            "template": {"metadata": {"labels": {"app": "r"}}, "spec": spec}}})
}

/// A pod of the ReplicaSet, with the tolerations that admission gives every pod.
fn pod(mut spec: Value, tolerations: &[Value]) -> Value {
    let lost = ["not-ready", "unreachable"].map(|state| {
        json!({"key": format!("node.kubernetes.io/{state}"), "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    });
    spec["tolerations"] = tolerations.iter().chain(&lost).cloned().collect();
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": true});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "r-x", "namespace": "default", "labels": {"app": "r"},
        "ownerReferences": [owner]}, "spec": spec})
}

fn made(around: Vec<Value>, template: &Value, pods: Vec<Value>) -> Made {
    let surroundings = around.into_iter().chain([node()]).collect();
    let set = replica_set(template);
    Made { surroundings, written: vec![set.clone()], stored: vec![set], pods, ..Made::default() }
}

fn compared(made: &Made) -> (Vec<Difference>, Tally) {
    let mut tally = Tally::default();
    (made.differences(RELEASE, &mut tally), tally)
}

/// Two containers that request this much of cpu.
fn two(cpu: &str) -> Value {
    let container = |name: &str| json!({"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}});
    json!({"containers": [container("a"), container("b")]})
}

#[test]
fn amounts_are_rounded_up_before_they_are_added() {
    let (differences, tally) = compared(&made(Vec::new(), &two("100u"), vec![pod(two("1m"), &[])]));
    assert_eq!(differences, []);
    assert_eq!((tally.pods, tally.fields["requests"]), (1, 1));
    let (differences, _) = compared(&made(Vec::new(), &two("100u"), vec![pod(two("2m"), &[])]));
    assert!(differences.iter().any(|difference| difference.field == "requests"), "{differences:?}");
}

#[test]
fn tolerations_that_others_cover_are_dropped_by_a_runtime_class() {
    let all = json!({"key": "pool", "operator": "Exists"});
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "c"}, "handler": "c",
        "scheduling": {"tolerations": [all]}});
    let mut template = two("1m");
    template["runtimeClassName"] = json!("c");
    let mut written = template.clone();
    written["tolerations"] = json!([{"key": "pool", "operator": "Equal", "value": "x", "effect": "NoSchedule"}]);
    let (differences, tally) = compared(&made(vec![class], &written, vec![pod(template, &[all])]));
    assert_eq!(differences, []);
    assert_eq!(tally.fields["tolerations (text)"], 1);
}

#[test]
fn defaults_that_make_a_pod_invalid_refuse_it() {
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "500m"}}]}});
    let mut refused = made(vec![range.clone()], &two("1"), Vec::new());
    let why = "must be less than or equal to cpu limit of 500m".to_owned();
    refused.refused.insert("replicaset/default/r".to_owned(), why.clone());
    let (differences, tally) = compared(&refused);
    assert_eq!((differences, tally.refused), (Vec::new(), 1));
    // What is below the limit is not refused, and it is a difference if it is.
    let mut taken = made(vec![range], &two("500m"), Vec::new());
    taken.refused.insert("replicaset/default/r".to_owned(), why);
    assert_eq!(compared(&taken).0.len(), 1);
}
