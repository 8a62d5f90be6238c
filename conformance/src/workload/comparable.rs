//! Readings of one pod in a form in which they can be compared: without what each pod has of its own, and in an order.

use serde_json::{Map, Value, json};

/// Makes views comparable where each pod has its own: labels are compared apart, names of claims and values of own labels say nothing.
pub(super) fn normalise(view: &mut Map<String, Value>) {
    ["labels", "barred"].iter().for_each(|field| _ = view.remove(*field));
    for claim in view.get_mut("claims").and_then(Value::as_array_mut).into_iter().flatten() {
        for field in ["name", "ofEachPod"] {
            claim.as_object_mut().map(|claim| claim.remove(field));
        }
    }
    view.values_mut().for_each(mask);
    for list in ["claims", "podAffinity", "podAntiAffinity"] {
        if let Some(items) = view.get_mut(list).and_then(Value::as_array_mut) {
            items.sort_by_cached_key(Value::to_string);
        }
    }
}

/// Labels of which each pod, revision or job has its own value.
const OWN: [&str; 9] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "controller-uid",
    "job-name",
    "pod-template-generation",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
];

fn mask(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => {
            if fields.get("key").and_then(Value::as_str).is_some_and(|key| OWN.contains(&key)) {
                fields.insert("values".into(), json!(["its own"]));
            }
            fields.values_mut().for_each(mask);
        }
        _ => {}
    }
}

/// What a pod says in its own words, without lowering; beside each what lowering would leave out.
pub(super) fn own_words(pod: &Value) -> [(&'static str, (Value, Value)); 3] {
    let spec = &pod["spec"];
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut tolerations: Vec<Value> = items(&spec["tolerations"]).iter().map(toleration).collect();
    let lasting = items(&spec["initContainers"]).into_iter().filter(|init| init["restartPolicy"] == "Always");
    let containers = items(&spec["containers"]).into_iter().chain(lasting);
    let mut ports: Vec<Value> = containers.flat_map(|container| items(&container["ports"])).filter_map(port).collect();
    settle(&mut tolerations);
    ports.sort_by_cached_key(Value::to_string);
    ports.dedup();
    let selector = spec.get("nodeSelector").cloned().unwrap_or(json!({}));
    [
        ("tolerations", (tolerations.into(), json!([]))),
        ("hostPorts", (ports.into(), json!([]))),
        ("nodeSelector", (selector, json!({}))),
    ]
}

pub(super) fn toleration(said: &Value) -> Value {
    let mut toleration = Map::new();
    let text = |field: &str| said[field].as_str().filter(|text| !text.is_empty());
    toleration.extend(text("key").map(|key| ("key".to_owned(), json!(key))));
    let operator = text("operator").unwrap_or("Equal");
    toleration.insert("operator".into(), json!(operator));
    if operator == "Equal" {
        toleration.insert("value".into(), json!(said["value"].as_str().unwrap_or_default()));
    }
    toleration.extend(text("effect").map(|effect| ("effect".to_owned(), json!(effect))));
    toleration.into()
}

/// Puts tolerations in order and drops those that others cover.
pub(super) fn settle(tolerations: &mut Vec<Value>) {
    tolerations.sort_by_cached_key(Value::to_string);
    tolerations.dedup();
    let all = tolerations.clone();
    tolerations.retain(|one| !all.iter().any(|by| by != one && covers(by, one)));
}

/// Whether a toleration tolerates all that another one does.
fn covers(by: &Value, one: &Value) -> bool {
    let agree = |field: &str| by.get(field).is_none() || by.get(field) == one.get(field);
    let exists = by["operator"] == "Exists";
    agree("key") && agree("effect") && (exists || ["operator", "value"].iter().all(|field| by[field] == one[field]))
}

fn port(said: Value) -> Option<Value> {
    let number = said["hostPort"].as_u64().filter(|number| *number > 0)?;
    let address = said["hostIP"].as_str().filter(|address| !address.is_empty()).unwrap_or("0.0.0.0");
    Some(json!({"hostIP": address, "protocol": said["protocol"].as_str().unwrap_or("TCP"), "hostPort": number}))
}
