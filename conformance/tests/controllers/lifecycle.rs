//! The health of nodes: which taints the node lifecycle controller and the API server put on nodes, and take off again.
//!
//! Kubernetes: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`, `nodeConditionToTaintKeyStatusMap` and `doNoScheduleTaintingPass`;
//! `plugin/pkg/admission/nodetaint`.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use crate::api::Api;

const PATH: &str = "/api/v1/nodes/lifecycle";

/// Nodes on which all is well: where most of a zone is down, the controller takes it for an outage of its own and does not evict.
const OTHERS: [&str; 3] = ["lifecycle-1", "lifecycle-2", "lifecycle-3"];

/// A condition, a status of it, and the taints that go with it.
const CONDITIONS: [(&str, &str, &[&str]); 7] = [
    ("Ready", "False", &["node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"]),
    ("Ready", "Unknown", &["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]),
    ("MemoryPressure", "True", &["node.kubernetes.io/memory-pressure:NoSchedule"]),
    ("DiskPressure", "True", &["node.kubernetes.io/disk-pressure:NoSchedule"]),
    ("PIDPressure", "True", &["node.kubernetes.io/pid-pressure:NoSchedule"]),
    ("NetworkUnavailable", "True", &["node.kubernetes.io/network-unavailable:NoSchedule"]),
    ("MemoryPressure", "Unknown", &[]),
];

/// A taint that somebody chose, which no controller takes off.
const CHOSEN: &str = "dedicated:NoSchedule";

/// Puts a node through every condition and a cordon, each coming and going.
pub fn taints(api: &Api) {
    let healthy = json!({"conditions": [{"type": "Ready", "status": "True", "reason": "Test"}]});
    let other = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": healthy});
    api.create(&OTHERS.map(other));
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lifecycle"},
        "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}});
    api.send(Method::POST, "/api/v1/nodes", node).expect("the node is taken");
    assert!(taints_of(api).contains("node.kubernetes.io/not-ready:NoSchedule"), "a new node is not ready");
    let mut seen = 0;
    for (condition, status, taints) in CONDITIONS {
        become_healthy(api);
        set(api, &[(condition, status)]);
        // What is pressed stays ready; what is not ready says so.
        expect(api, taints, &format!("{condition} is {status}"));
        seen += taints.len();
    }
    become_healthy(api);
    set(api, &[("Ready", "False"), ("DiskPressure", "True")]);
    expect(api, &[CONDITIONS[0].2, CONDITIONS[3].2].concat(), "two conditions at a time");
    become_healthy(api);
    for (cordoned, taints) in [(true, &["node.kubernetes.io/unschedulable:NoSchedule"][..]), (false, &[])] {
        let spec = json!({"spec": {"unschedulable": cordoned}});
        api.send(Method::PATCH, PATH, spec).expect("a cordon is taken");
        expect(api, taints, &format!("cordoned: {cordoned}"));
        seen += taints.len();
    }
    for name in ["lifecycle"].iter().chain(&OTHERS) {
        api.send(Method::DELETE, &format!("/api/v1/nodes/{name}"), Value::Null).expect("a node goes");
    }
    assert_eq!(seen, 9, "every taint was seen to come, and to go");
}

/// Everything is well, and all taints but the chosen one go.
fn become_healthy(api: &Api) {
    set(api, &[]);
    expect(api, &[], "all is well");
}

/// Reports conditions as a kubelet would: those given, and that all else is well.
fn set(api: &Api, special: &[(&str, &str)]) {
    let well = [
        ("Ready", "True"),
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
        ("NetworkUnavailable", "False"),
    ];
    let condition = |(kind, usual): (&str, &str)| {
        let status = special.iter().find(|(of, _)| *of == kind).map_or(usual, |(_, status)| status);
        json!({"type": kind, "status": status, "reason": "Test"})
    };
    let status = json!({"status": {"conditions": well.map(condition)}});
    api.send(Method::PATCH, &format!("{PATH}/status"), status).expect("a status is taken");
}

fn taints_of(api: &Api) -> BTreeSet<String> {
    let node = api.get(PATH);
    let text = |taint: &Value, field: &str| taint[field].as_str().unwrap_or_default().to_owned();
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    taints.map(|taint| format!("{}:{}", text(taint, "key"), text(taint, "effect"))).collect()
}

/// Waits until the node has exactly these taints, besides the one that was chosen.
fn expect(api: &Api, taints: &[&str], when: &str) {
    let wanted: BTreeSet<String> = taints.iter().chain(&[CHOSEN]).map(ToString::to_string).collect();
    api.until(&format!("{wanted:?} when {when}"), 60, || (taints_of(api) == wanted).then_some(()));
}
