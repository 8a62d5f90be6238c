//! A document as podreach reads it: one list of Kubernetes objects, lowered as a user's would be.

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{self, Lowered, Options, Release};
use podreach::read::{SourceId, documents_of_json};
use serde_json::{Value, json};

/// The lists of a document, with the kind of what is in them.
pub const LISTS: [(&str, &str, &str); 13] = [
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
];

/// The name under which the incoming pod of a document is asked for.
pub fn incoming_name(doc: &Value) -> String {
    full_name(&doc["incoming"])
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
        "template": {"metadata": {"labels": metadata["labels"]}, "spec": pod["spec"]},
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
    items.extend(doc.get("incoming").map(unplaced));
    items.extend(doc["types"].as_object().into_iter().flatten().map(|(_, pod)| unplaced(pod)));
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The cluster of a document under a release. Without `admit`, its objects never met an API server.
pub fn lowered(doc: &Value, release: Release) -> Lowered {
    let text = text(doc);
    let (documents, problems) = documents_of_json(SourceId(0), &text);
    let admission = doc["admit"] == json!(true);
    let mut lowered = lower::cluster(&documents, &Options { release, admission, ..Options::default() });
    lowered.diagnostics.extend(problems);
    lowered
}

/// Why podreach would not read a cluster, but for what these codes say.
pub fn refusal<'l>(lowered: &'l Lowered, except: &[&str]) -> Option<&'l Diagnostic> {
    lowered.diagnostics.iter().find(|d| d.effect == Effect::Stops && !except.contains(&d.code))
}
