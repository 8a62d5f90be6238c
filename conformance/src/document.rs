//! A document as podreach reads it: one list of Kubernetes objects, lowered as a user's would be.

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{self, Instances, Kind, Lowered, Nodes, Options, Release};
use podreach::read::{SourceId, documents_of_json};
use serde_json::{Value, json};

/// The lists of a document, with the kind of what is in them.
pub const LISTS: [(&str, &str, &str); 17] = [
    ("nodes", "v1", "Node"),
    ("namespaces", "v1", "Namespace"),
    ("pods", "v1", "Pod"),
    ("pvcs", "v1", "PersistentVolumeClaim"),
    ("pvs", "v1", "PersistentVolume"),
    ("storageClasses", "storage.k8s.io/v1", "StorageClass"),
    ("csiNodes", "storage.k8s.io/v1", "CSINode"),
    ("csiDrivers", "storage.k8s.io/v1", "CSIDriver"),
    ("csiStorageCapacities", "storage.k8s.io/v1", "CSIStorageCapacity"),
    ("volumeAttachments", "storage.k8s.io/v1", "VolumeAttachment"),
    ("resourceClaims", "resource.k8s.io/v1", "ResourceClaim"),
    ("resourceSlices", "resource.k8s.io/v1", "ResourceSlice"),
    ("deviceClasses", "resource.k8s.io/v1", "DeviceClass"),
    ("limitRanges", "v1", "LimitRange"),
    ("resourceQuotas", "v1", "ResourceQuota"),
    ("runtimeClasses", "node.k8s.io/v1", "RuntimeClass"),
    ("priorityClasses", "scheduling.k8s.io/v1", "PriorityClass"),
];

/// The name under which the incoming pod of a document is asked for.
pub fn incoming_name(doc: &Value) -> String {
    let name = full_name(&doc["incoming"]);
    if is_daemon(doc) { format!("daemonset/{}", name.split_once('/').map_or("", |(_, rest)| rest)) } else { name }
}

/// Whether a DaemonSet makes the incoming pod.
fn is_daemon(doc: &Value) -> bool {
    doc["daemon"] == json!(true)
}

/// The name of a pod that is yet to be placed.
pub fn full_name(pod: &Value) -> String {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or("default").to_owned();
    let kind = if is_pinned(pod) { "podtemplate" } else { "pod" };
    format!("{kind}/{}/{}", text("namespace"), text("name"))
}

/// Whether a pod names its node itself.
fn is_pinned(pod: &Value) -> bool {
    pod["spec"]["nodeName"].as_str().is_some_and(|name| !name.is_empty())
}

/// A pod that is yet to be placed, as an object. One that names its node is a template: the name is a wish and not where it runs.
fn unplaced(pod: &Value) -> Value {
    if !is_pinned(pod) {
        return typed("v1", "Pod", pod);
    }
    let metadata = &pod["metadata"];
    json!({
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "template": template(pod),
    })
}

fn template(pod: &Value) -> Value {
    json!({"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]})
}

/// A type of pods, as the object that makes them.
fn made_by(doc: &Value, name: &str, pod: &Value) -> Value {
    let workload = &doc["workloads"][name];
    let (Some(kind), false) = (workload["kind"].as_str(), is_pinned(pod)) else { return unplaced(pod) };
    let metadata = &pod["metadata"];
    json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"replicas": workload["replicas"], "selector": {"matchLabels": metadata["labels"]}, "template": template(pod)},
    })
}

/// The name of a type of pods of a document.
pub fn type_name(doc: &Value, name: &str, pod: &Value) -> String {
    let full = full_name(pod);
    match (doc["workloads"][name]["kind"].as_str(), full.split_once('/')) {
        (Some(kind), Some((_, rest))) if !is_pinned(pod) => format!("{}/{rest}", kind.to_lowercase()),
        _ => full,
    }
}

/// The DaemonSet that makes a pod for every node.
fn daemon_set(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"selector": {"matchLabels": metadata["labels"]}, "template": template(pod)},
    })
}

fn typed(version: &str, kind: &str, object: &Value) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(version);
    object["kind"] = json!(kind);
    object
}

/// The document as the text of one list of lists, one for each kind: what is not in them does not exist.
pub fn text(doc: &Value) -> String {
    let list = |(field, version, kind): (&str, &str, &str)| {
        let items = doc[field].as_array().map_or(&[][..], Vec::as_slice);
        json!({"apiVersion": version, "kind": format!("{kind}List"), "items": items})
    };
    let mut items: Vec<Value> = LISTS.into_iter().map(list).collect();
    items.extend(doc.get("incoming").map(if is_daemon(doc) { daemon_set } else { unplaced }));
    items.extend(doc.get("schedulerConfig").cloned());
    items.extend(doc["types"].as_object().into_iter().flatten().map(|(name, pod)| made_by(doc, name, pod)));
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The document with the labels that its running pods were given when they were bound, as the real side gives them.
fn bound(doc: &Value) -> Value {
    let mut bound = doc.clone();
    let nodes = doc["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    for pod in bound["pods"].as_array_mut().into_iter().flatten() {
        let Some(name) = pod["spec"]["nodeName"].as_str() else { continue };
        let Some(node) = nodes.iter().find(|node| node["metadata"]["name"] == name) else { continue };
        for key in ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"] {
            if let Some(value) = node["metadata"]["labels"].get(key) {
                pod["metadata"]["labels"][key] = value.clone();
            }
        }
    }
    bound
}

/// The cluster of a document under a release. Without `admit`, its objects never met an API server.
pub fn lowered(doc: &Value, release: Release) -> Lowered {
    let admission = doc["admit"] == json!(true);
    let text = if admission && release.behaviour().topology_labels { text(&bound(doc)) } else { text(doc) };
    let (documents, problems) = documents_of_json(SourceId(0), &text);
    let complete = Kind::LOOKED_UP.into();
    let nodes = if doc["reach"]["settles"] == json!(true) { Nodes::Settled } else { Nodes::Fixed };
    let instances = if doc["reach"]["declared"] == json!(true) { Instances::Declared } else { Instances::Unlimited };
    let options = Options { release, admission, complete, nodes, instances, ..Options::default() };
    let mut lowered = lower::cluster(&documents, &options);
    lowered.diagnostics.extend(problems);
    lowered
}

/// Whether what a controller makes is to be admitted, as it always is.
pub fn is_made(doc: &Value) -> bool {
    !is_daemon(doc) || doc["admit"] == json!(true)
}

/// Whether the controllers have done their work: every ephemeral volume has the claim that is made for it.
pub fn is_settled(doc: &Value) -> bool {
    let claims = doc["pvcs"].as_array().map_or(&[][..], Vec::as_slice);
    let made = |pod: &Value, volume: &Value| {
        let name = format!(
            "{}-{}",
            pod["metadata"]["name"].as_str().unwrap_or_default(),
            volume["name"].as_str().unwrap_or_default()
        );
        let template = &volume["ephemeral"]["volumeClaimTemplate"]["spec"];
        let asks = ["accessModes", "resources", "storageClassName"];
        claims.iter().any(|claim| {
            let metadata = &claim["metadata"];
            let owned = metadata["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
                && metadata["ownerReferences"][0]["controller"] == true;
            metadata["name"] == name && owned && asks.iter().all(|field| claim["spec"][field] == template[field])
        })
    };
    let pods = doc["pods"].as_array().into_iter().flatten().chain([&doc["incoming"]]);
    let mut volumes =
        pods.flat_map(|pod| pod["spec"]["volumes"].as_array().into_iter().flatten().map(move |volume| (pod, volume)));
    volumes.all(|(pod, volume)| volume.get("ephemeral").is_none() || made(pod, volume))
}

/// Whether something about a cluster is not modelled.
pub fn is_doubtful(lowered: &Lowered) -> bool {
    lowered.diagnostics.iter().any(|diagnostic| !matches!(diagnostic.effect, Effect::Notes | Effect::Assumes(_)))
}

/// Why podreach would not read a cluster, but for what these codes say.
pub fn refusal<'l>(lowered: &'l Lowered, except: &[&str]) -> Option<&'l Diagnostic> {
    lowered.diagnostics.iter().find(|d| d.effect == Effect::Stops && !except.contains(&d.code))
}
