//! Kubernetes objects as JSON values: just the fields that the encodings use.

use podreach_core::Semantics;
use serde_json::{Map, Value, json};

/// The label that every node has for itself.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";

/// The apiVersion of podreach's own documents.
pub(super) const API_VERSION: &str = "podreach.dev/v1alpha1";

/// The namespace of every object.
pub(super) const NAMESPACE: &str = "default";

/// The label that tells the pods of one Deployment from all others; no constraint looks at it.
const POD: &str = "podreach.dev/pod";

/// A pod type to be written as a Deployment.
#[derive(Clone, Debug, Default)]
pub(super) struct PodType {
    /// Its name.
    pub(super) name: String,
    /// What it stands for, in the source's words: annotations.
    pub(super) meaning: Vec<(&'static str, String)>,
    /// Its labels.
    pub(super) labels: Vec<(&'static str, String)>,
    /// The nodes it is bound to by name; none if it may run on any.
    pub(super) pinned: Vec<String>,
    /// Its required affinity terms.
    pub(super) near: Vec<Term>,
    /// Its required anti-affinity terms.
    pub(super) apart: Vec<Term>,
    /// What it requests.
    pub(super) requests: Vec<(&'static str, u64)>,
}

/// An affinity or anti-affinity term.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// The label it looks at.
    pub(super) label: &'static str,
    /// The values it looks for; none for any value.
    pub(super) values: Vec<String>,
    /// The topology key.
    pub(super) key: String,
}

impl Term {
    /// A term that looks for one value of a label.
    pub(super) fn is(label: &'static str, value: &str, key: &str) -> Self {
        Self { label, values: vec![value.to_owned()], key: key.to_owned() }
    }

    /// A term that looks for a label, whatever its value.
    pub(super) fn exists(label: &'static str, key: &str) -> Self {
        Self { label, values: Vec::new(), key: key.to_owned() }
    }

    fn value(&self) -> Value {
        let selector = match &self.values[..] {
            [] => json!({"matchExpressions": [{"key": self.label, "operator": "Exists"}]}),
            [value] => json!({"matchLabels": {self.label: value}}),
            values => json!({"matchExpressions": [{"key": self.label, "operator": "In", "values": values}]}),
        };
        json!({"labelSelector": selector, "topologyKey": self.key})
    }
}

impl PodType {
    /// The full name by which questions and traces know it.
    pub(super) fn full_name(&self) -> String {
        format!("deployment/{NAMESPACE}/{}", self.name)
    }

    /// The Deployment.
    pub(super) fn deployment(&self) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": self.name, "namespace": NAMESPACE, "annotations": pairs(&self.meaning)},
            "spec": {
                "selector": {"matchLabels": {POD: self.name}},
                "template": {"metadata": {"labels": self.all_labels()}, "spec": self.spec()},
            },
        })
    }

    /// A pod of this type that runs on a node.
    pub(super) fn running(&self, node: &str) -> Value {
        let mut spec = self.spec();
        spec["nodeName"] = node.into();
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("{}-0", self.name), "namespace": NAMESPACE, "labels": self.all_labels()},
            "spec": spec,
            "status": {"phase": "Running"},
        })
    }

    fn all_labels(&self) -> Map<String, Value> {
        let mut labels = Map::from_iter([(POD.to_owned(), self.name.clone().into())]);
        labels.extend(pairs(&self.labels));
        labels
    }

    fn spec(&self) -> Value {
        let mut spec = Map::new();
        let mut affinity = Map::new();
        match &self.pinned[..] {
            [] => {}
            [node] => {
                spec.insert("nodeSelector".into(), json!({HOSTNAME: node}));
            }
            nodes => {
                let named = json!({"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": nodes}]});
                let required = json!({"nodeSelectorTerms": [named]});
                affinity
                    .insert("nodeAffinity".into(), json!({"requiredDuringSchedulingIgnoredDuringExecution": required}));
            }
        }
        for (kind, terms) in [("podAffinity", &self.near), ("podAntiAffinity", &self.apart)] {
            if !terms.is_empty() {
                let terms: Vec<Value> = terms.iter().map(Term::value).collect();
                affinity.insert(kind.into(), json!({"requiredDuringSchedulingIgnoredDuringExecution": terms}));
            }
        }
        if !affinity.is_empty() {
            spec.insert("affinity".into(), affinity.into());
        }
        spec.insert("containers".into(), json!([self.container()]));
        spec.into()
    }

    fn container(&self) -> Value {
        let mut container = json!({"name": "pause", "image": "registry.k8s.io/pause:3.10"});
        if !self.requests.is_empty() {
            let amounts: Map<String, Value> =
                self.requests.iter().map(|(name, amount)| ((*name).into(), amount.to_string().into())).collect();
            container["resources"] = json!({"requests": amounts, "limits": amounts});
        }
        container
    }
}

/// A node with labels and something to give.
pub(super) fn node(name: &str, labels: &[(String, String)], allocatable: &[(&str, u64)]) -> Value {
    let mut all = Map::from_iter([(HOSTNAME.to_owned(), name.into())]);
    all.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone().into())));
    let amounts: Map<String, Value> =
        allocatable.iter().map(|(resource, amount)| ((*resource).into(), amount.to_string().into())).collect();
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": all},
        "status": {"allocatable": amounts},
    })
}

/// The question whether a pod type can ever run on a node.
pub(super) fn question(name: &str, semantics: Semantics, pod: &str, node: &str) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "Question", "metadata": {"name": name},
        "spec": {"semantics": semantics.name(), "goal": [{"pod": pod, "node": node}]},
    })
}

fn pairs(pairs: &[(&'static str, String)]) -> Map<String, Value> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone().into())).collect()
}
