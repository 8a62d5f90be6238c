//! Names that say nothing: every name, label and value of a snapshot replaced, everywhere by the same.
//!
//! One function renames a text wherever it stands as a name or a value, so whatever was equal stays equal and whatever differed still
//! differs: a node's name and its hostname label, a namespace and its label, a selector and what it selects. What Kubernetes gives a
//! meaning of its own is left alone: numbers (`Gt` and `Lt` compare them), well-known keys and values, drivers, resources.

use std::collections::{BTreeMap, BTreeSet};

use podreach::lower::Does;
use serde_json::{Map, Value, json};

/// Texts with a meaning of their own.
const KNOWN: &[&str] = &[
    "",
    "*",
    "amd64",
    "arm",
    "arm64",
    "default",
    "default-scheduler",
    "false",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "linux",
    "ppc64le",
    "s390x",
    "system-cluster-critical",
    "system-node-critical",
    "true",
    "windows",
];

/// Label keys without a domain that controllers give a meaning.
const KNOWN_KEYS: &[&str] = &[
    "controller-revision-hash",
    "controller-uid",
    "job-name",
    "metadata.name",
    "pod-template-generation",
    "pod-template-hash",
];

/// Fields that hold a name or a value.
const TEXTS: &[&str] = &[
    "claimName",
    "deviceClassName",
    "diskName",
    "diskURI",
    "generateName",
    "host",
    "image",
    "iqn",
    "name",
    "namespace",
    "node",
    "nodeID",
    "nodeName",
    "pdName",
    "persistentVolumeName",
    "policyName",
    "pool",
    "priorityClassName",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "runtimeClassName",
    "schedulerName",
    "serviceAccount",
    "serviceAccountName",
    "storageClassName",
    "targetPortal",
    "uid",
    "value",
    "volumeAttributesClassName",
    "volumeHandle",
    "volumeID",
    "volumeName",
];

/// What labels start with that say which pod security level a namespace enforces.
const SECURITY: &str = "pod-security.kubernetes.io/";

/// What annotations start with, or are, that set a profile: their values have a meaning of their own.
const PROFILES: [&str; 3] = [
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "seccomp.security.alpha.kubernetes.io/pod",
];

/// Fields that hold a list of names or values.
const TEXT_LISTS: &[&str] = &["monitors", "names", "namespaces", "values"];

/// Fields that hold the key of a label or taint, or a list of them.
const KEYS: &[&str] = &["key", "matchLabelKeys", "mismatchLabelKeys", "topologyKey", "topologyKeys"];

/// Fields that hold labels.
const LABELS: &[&str] = &["labels", "matchLabels", "nodeSelector"];

/// Fields that hold the name of a driver, which stays as it is.
const DRIVERS: &[&str] = &["attacher", "driver", "provisioner"];

/// Who is called what.
#[derive(Debug, Default)]
pub(crate) struct Pseudonyms {
    names: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
    drivers: BTreeSet<String>,
    hashes: BTreeSet<String>,
    /// What stands before the number in the names of a StatefulSet's pods and claims, in its parts.
    numbered: BTreeMap<String, Vec<String>>,
    /// The claims of ephemeral volumes: the pod and the volume they are named after.
    joined: BTreeMap<String, [String; 2]>,
}

impl Pseudonyms {
    /// Looks at all objects first: some texts stand for more than a name.
    pub(crate) fn of<'o>(objects: impl Iterator<Item = &'o Value>) -> Self {
        let mut pseudonyms = Self::default();
        for object in objects {
            pseudonyms.look(object);
            pseudonyms.look_for_claims(object);
        }
        pseudonyms
    }

    /// Notes the names that controllers make of others: `web-0`, `data-web-0`, and for an ephemeral volume `pod-volume`.
    fn look_for_claims(&mut self, object: &Value) {
        let items = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let Some(name) = object.pointer("/metadata/name").and_then(Value::as_str) else { return };
        if object["kind"] == "StatefulSet" {
            self.numbered.insert(name.to_owned(), vec![name.to_owned()]);
            for template in items("/spec/volumeClaimTemplates").filter_map(|t| t.pointer("/metadata/name")?.as_str()) {
                self.numbered.insert(format!("{template}-{name}"), vec![template.to_owned(), name.to_owned()]);
            }
        }
        for volume in items("/spec/volumes").filter(|volume| volume.get("ephemeral").is_some()) {
            let volume = volume["name"].as_str().unwrap_or_default();
            self.joined.insert(format!("{name}-{volume}"), [name.to_owned(), volume.to_owned()]);
        }
    }

    /// The parts that a name is made of, where it is made of others.
    fn parts(&self, text: &str) -> Option<Vec<String>> {
        if let Some(parts) = self.joined.get(text) {
            return Some(parts.to_vec());
        }
        let (before, last) = text.rsplit_once('-')?;
        // A ReplicaSet is named after its Deployment and the hash of its template, and recognised by that.
        if self.hashes.contains(last) {
            return Some(vec![before.to_owned(), last.to_owned()]);
        }
        let is_number = last.parse::<u64>().is_ok();
        let parts = self.numbered.get(before).filter(|_| is_number)?;
        Some(parts.iter().cloned().chain([last.to_owned()]).collect())
    }

    fn look(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    let drivers = value.as_array().filter(|_| key == "drivers").into_iter().flatten();
                    self.drivers.extend(drivers.filter_map(|driver| Some(driver["name"].as_str()?.to_owned())));
                    match value.as_str() {
                        Some(text) if DRIVERS.contains(&key.as_str()) => _ = self.drivers.insert(text.to_owned()),
                        Some(text) if key == "pod-template-hash" => _ = self.hashes.insert(text.to_owned()),
                        _ => self.look(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// The real name of everything, by its pseudonym.
    pub(crate) fn mapping(&self) -> Value {
        self.names
            .iter()
            .map(|(name, pseudonym)| (pseudonym.clone(), name.as_str().into()))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Renames everything in an object.
    pub(crate) fn rename(&mut self, object: &mut Value) {
        let kind = match object.get("kind").and_then(Value::as_str) {
            Some("Node") => "node",
            Some("Namespace") => "namespace",
            Some("Snapshot") => return self.rename_header(object),
            _ => "name",
        };
        // Met here first, an object's own name and namespace are called after what they are.
        for (path, kind) in [("/metadata/namespace", "namespace"), ("/metadata/name", kind)] {
            if let Some(name) = object.pointer(path).and_then(Value::as_str) {
                self.text(name, kind);
            }
        }
        self.inside(object);
    }

    fn rename_header(&mut self, header: &mut Value) {
        for unseen in header.get_mut("unseen").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::String(namespace)) = unseen.get_mut("namespace") {
                *namespace = self.text(namespace, "namespace");
            }
        }
        // Kinds that everyone knows give nothing away; others may be named after their owners.
        for custom in header.get_mut("custom").and_then(Value::as_array_mut).into_iter().flatten() {
            let text = |key: &str| custom.get(key).and_then(Value::as_str).unwrap_or_default();
            if crate::live::custom::does(text("apiVersion"), text("kind")) == Does::Unknown {
                let (version, kind) = (self.text(text("apiVersion"), "name"), self.text(text("kind"), "name"));
                *custom = json!({"apiVersion": version, "kind": kind});
            }
        }
    }

    fn inside(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.inside(item)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.field(key, value);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) if TEXTS.contains(&name) => {
                *text = self.text(text, if name == "nodeName" { "node" } else { "name" });
            }
            Value::String(text) if KEYS.contains(&name) => *text = self.key(text),
            Value::String(text) if name == "pod" => *text = self.pod(text),
            Value::Array(items) if KEYS.contains(&name) || TEXT_LISTS.contains(&name) => {
                for item in items {
                    match item {
                        Value::String(text) if KEYS.contains(&name) => *text = self.key(text),
                        Value::String(text) if name == "names" => *text = self.pod(text),
                        Value::String(text) => *text = self.text(text, "value"),
                        other => self.inside(other),
                    }
                }
            }
            // The names of settings of the kernel have a meaning of their own.
            Value::Array(_) if name == "sysctls" => {}
            Value::Object(labels) if LABELS.contains(&name) => self.labels(labels),
            Value::Object(annotations) if name == "annotations" => self.annotations(annotations),
            other => self.inside(other),
        }
    }

    fn labels(&mut self, labels: &mut Map<String, Value>) {
        let renamed = std::mem::take(labels).into_iter().map(|(key, value)| match value {
            Value::String(text) if !key.starts_with(SECURITY) => (self.key(&key), self.text(&text, "value").into()),
            other => (self.key(&key), other),
        });
        *labels = renamed.collect();
    }

    /// The values of annotations: names, selectors as `kubectl -l` writes them, or JSON.
    fn annotations(&mut self, annotations: &mut Map<String, Value>) {
        let renamed = std::mem::take(annotations).into_iter().map(|(key, value)| (self.annotation(&key), value));
        *annotations = renamed.collect();
        let named = |key: &str| !PROFILES.iter().any(|profile| key.starts_with(profile));
        for (_, value) in annotations.iter_mut().filter(|(key, _)| named(key)) {
            let Value::String(text) = value else { continue };
            *text = match serde_json::from_str::<Value>(text) {
                Ok(mut json @ (Value::Array(_) | Value::Object(_))) => {
                    self.inside(&mut json);
                    json.to_string()
                }
                _ if text.contains('=') => {
                    let part = |part: &str| match part.split_once('=') {
                        Some((key, value)) => format!("{}={}", self.key(key.trim()), self.text(value.trim(), "value")),
                        None => part.to_owned(),
                    };
                    text.split(',').map(part).collect::<Vec<_>>().join(",")
                }
                _ => self.text(text, "value"),
            };
        }
    }

    /// The key of an annotation: one that sets a profile ends in the name of a container.
    fn annotation(&mut self, key: &str) -> String {
        let of = PROFILES[..2].iter().find_map(|profile| Some((profile, key.strip_prefix(profile)?)));
        of.map_or_else(|| key.to_owned(), |(profile, name)| format!("{profile}{}", self.text(name, "name")))
    }

    /// The pseudonym of a name or value; `kind` is what it is called after when it is met first.
    fn text(&mut self, text: &str, kind: &'static str) -> String {
        let plugin = text.starts_with("kubernetes.io/");
        if KNOWN.contains(&text) || plugin || text.parse::<i64>().is_ok() || self.drivers.contains(text) {
            return text.to_owned();
        }
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let pseudonym = match self.parts(text) {
            Some(parts) => parts.iter().map(|part| self.text(part, kind)).collect::<Vec<_>>().join("-"),
            None => self.fresh(kind),
        };
        self.names.insert(text.to_owned(), pseudonym.clone());
        pseudonym
    }

    /// The name of a pod type in a Question or policy: `kind/namespace/name`, or less of it.
    fn pod(&mut self, text: &str) -> String {
        let parts: Vec<&str> = text.split('/').collect();
        let kinds = parts.len().saturating_sub(2);
        let renamed =
            |(at, part): (usize, &&str)| if at < kinds { (*part).to_owned() } else { self.text(part, "name") };
        parts.iter().enumerate().map(renamed).collect::<Vec<_>>().join("/")
    }

    /// The pseudonym of a label's key; Kubernetes' own keep their name.
    fn key(&mut self, key: &str) -> String {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let own = |parent: &str| domain == parent || domain.ends_with(&format!(".{parent}"));
        if KNOWN_KEYS.contains(&key) || own("kubernetes.io") || own("k8s.io") || key.is_empty() {
            return key.to_owned();
        }
        if let Some(known) = self.names.get(key) {
            return known.clone();
        }
        let pseudonym = self.fresh("key");
        self.names.insert(key.to_owned(), pseudonym.clone());
        pseudonym
    }

    fn fresh(&mut self, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        format!("{kind}-{count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_controllers_make_of_others_stay_so() {
        let set = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
        let pod = json!({"kind": "Pod", "metadata": {"name": "db-0"}, "spec": {"volumes": [{"name": "tmp", "ephemeral": {}}]}});
        let mut names = Pseudonyms::of([&set, &pod].into_iter());
        let [db, data, tmp] = ["db", "data", "tmp"].map(|name| names.text(name, "name"));
        assert_eq!(names.text("data-db-3", "name"), format!("{data}-{db}-3"));
        assert_eq!(names.text("db-0-tmp", "name"), format!("{db}-0-{tmp}"));
        assert_ne!(names.text("data-other-3", "name"), format!("{data}-other-3"));
    }

    #[test]
    fn what_was_equal_stays_equal() {
        let mut objects = [
            json!({"kind": "Node", "metadata": {"name": "berlin-7", "labels": {"kubernetes.io/hostname": "berlin-7", "rack": "12"}}}),
            json!({"kind": "Namespace", "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}),
            json!({"kind": "Pod", "metadata": {"name": "web-5f-x", "namespace": "shop",
                "labels": {"app": "web", "pod-template-hash": "5f"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5f"}]},
                "spec": {"nodeName": "berlin-7", "nodeSelector": {"rack": "12"}, "affinity": {"nodeAffinity": {"terms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["berlin-7"]}],
                     "matchExpressions": [{"key": "rack", "operator": "Gt", "values": ["3"]}]}]}}}}),
            json!({"kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}),
        ];
        let mut pseudonyms = Pseudonyms::of(objects.iter());
        objects.iter_mut().for_each(|object| pseudonyms.rename(object));
        let text = Value::from(objects.to_vec()).to_string();
        assert!(!text.contains("berlin") && !text.contains("shop") && !text.contains("rack"), "{text}");
        let [node, namespace, pod, deployment] = &objects;
        let at = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        assert_eq!(at(node, "/metadata/name").as_deref(), Some("node-1"));
        assert_eq!(at(node, "/metadata/labels/kubernetes.io~1hostname").as_deref(), Some("node-1"));
        assert_eq!(at(pod, "/spec/affinity/nodeAffinity/terms/0/matchFields/0/values/0").as_deref(), Some("node-1"));
        assert_eq!(at(pod, "/spec/affinity/nodeAffinity/terms/0/matchExpressions/0/values/0").as_deref(), Some("3"));
        assert_eq!(at(pod, "/metadata/namespace"), at(namespace, "/metadata/name"));
        assert_eq!(at(node, "/metadata/labels/key-1").as_deref(), Some("12"));
        assert_eq!(at(pod, "/spec/nodeSelector/key-1").as_deref(), Some("12"));
        let hash = at(pod, "/metadata/labels/pod-template-hash").expect("a hash");
        let above = at(deployment, "/metadata/name").expect("a name");
        assert_eq!(at(pod, "/metadata/ownerReferences/0/name"), Some(format!("{above}-{hash}")));
        assert_eq!(pseudonyms.mapping()["node-1"], "berlin-7");
    }
}
