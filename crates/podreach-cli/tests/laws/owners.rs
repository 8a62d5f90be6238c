//! Whose a pod is: its owner's, and under its owner's name where the owner makes such pods today.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::objects::{Labels, array, labels, text};
use crate::world::{name_of, namespace};

/// The workload that owns an object; the ReplicaSets of Deployments need not be in the input.
pub fn owner<'a>(object: &Value, objects: &'a [Value]) -> Option<&'a Value> {
    let find = |kind: &str, name: &str| {
        let is = |other: &&Value| {
            other["kind"] == kind && other["metadata"]["name"] == name && namespace(other) == namespace(object)
        };
        objects.iter().find(is)
    };
    let of = |reference: &Value| {
        let (kind, name) = (text(&reference["kind"]), text(&reference["name"]));
        let of_set = || name.rsplit_once('-').and_then(|(name, _)| find("Deployment", name));
        find(&kind, &name).or_else(|| (kind == "ReplicaSet").then(of_set).flatten())
    };
    array(&object["metadata"]["ownerReferences"]).find_map(of)
}

/// The workload above all that own an object.
pub fn topmost<'a>(object: &Value, objects: &'a [Value]) -> Option<&'a Value> {
    let mut found = owner(object, objects);
    while let Some(above) = found.and_then(|workload| owner(workload, objects)) {
        found = Some(above);
    }
    found
}

/// The topmost owner that makes a pod, or the pods of a ReplicaSet, as they are; as far as any selector can tell.
pub fn maker<'a>(object: &Value, objects: &'a [Value]) -> Option<&'a Value> {
    let keys = looked_at(objects);
    let mut found = None;
    let mut above = owner(object, objects);
    while let Some(workload) = above {
        if makes(workload, object, &keys) {
            found = Some(workload);
        }
        above = owner(workload, objects);
    }
    found
}

/// The pods and ReplicaSets of former revisions, each with the workload above it.
pub fn former(objects: &[Value]) -> BTreeMap<String, String> {
    let is_former = |object: &&Value| maker(object, objects).is_none();
    let above = |object: &Value| Some((name_of(object), name_of(topmost(object, objects)?)));
    objects.iter().filter(is_former).filter_map(above).collect()
}

/// The keys of labels that some selector of affinity or spread looks at.
pub fn looked_at(objects: &[Value]) -> BTreeSet<String> {
    objects.iter().flat_map(mentioned).collect()
}

/// Whether a workload makes such pods today.
fn makes(workload: &Value, object: &Value, keys: &BTreeSet<String>) -> bool {
    let template = &workload["spec"]["template"];
    let pod = if object["kind"] == "Pod" { object } else { &object["spec"]["template"] };
    let daemon = workload["kind"] == "DaemonSet";
    let plain = |spec: &Value| {
        let mut spec = spec.clone();
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("nodeName");
            // Those of a DaemonSet's pods are the controller's and differ from node to node.
            fields.retain(|key, _| !daemon || (key != "tolerations" && key != "affinity"));
        }
        spec
    };
    let seen =
        |metadata: &Value| labels(metadata).into_iter().filter(|(key, _)| keys.contains(key)).collect::<Labels>();
    seen(&template["metadata"]) == seen(&pod["metadata"]) && plain(&template["spec"]) == plain(&pod["spec"])
}

/// The keys of labels that some selector of affinity or spread mentions.
fn mentioned(value: &Value) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys.extend(mentioned(item))),
        Value::Object(fields) => {
            let selector = &value["labelSelector"];
            keys.extend(selector["matchLabels"].as_object().into_iter().flatten().map(|(key, _)| key.clone()));
            keys.extend(array(&selector["matchExpressions"]).map(|expression| text(&expression["key"])));
            fields.values().for_each(|item| keys.extend(mentioned(item)));
        }
        _ => {}
    }
    keys
}

/// For each workload, the names of what it owns, directly or not: its revisions, and its replicas with claims of their own.
pub fn families(objects: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut families: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for object in objects {
        let mut above = owner(object, objects);
        while let Some(workload) = above {
            families.entry(name_of(workload)).or_default().insert(name_of(object));
            above = owner(workload, objects);
        }
    }
    families
}
