//! What the reference reads of Kubernetes objects: nothing but `serde_json`, and no code of podreach.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Labels of a node or a pod.
pub type Labels = BTreeMap<String, String>;

/// A node.
#[derive(Debug)]
pub struct Node {
    pub name: String,
    pub labels: Labels,
    pub taints: Vec<Taint>,
    pub cordoned: bool,
    pub cpu: u64,
    pub devices: u64,
    pub pods: u64,
}

/// A taint that keeps pods away.
#[derive(Debug)]
pub struct Taint {
    pub key: String,
    pub value: String,
    pub effect: String,
}

/// Taints that the node lifecycle, cloud providers and autoscalers put on and take off.
const PASSING: [&str; 9] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "karpenter.sh/unregistered",
    CORDON,
];
/// An extended resource.
const DEVICE: &str = "example.com/device";
const CORDON: &str = "node.kubernetes.io/unschedulable";

impl Taint {
    /// Whether the taint goes by itself.
    pub fn passes(&self) -> bool {
        PASSING.contains(&self.key.as_str())
    }
}

/// What a pod asks of the scheduler.
#[derive(Debug)]
pub struct Spec {
    pub namespace: String,
    pub labels: Labels,
    selector: Labels,
    affinity: Vec<Vec<Requirement>>,
    tolerations: Vec<Value>,
    pub cpu: u64,
    pub cpu_limit: u64,
    pub devices: u64,
    pub ports: BTreeSet<u64>,
    pub near: Vec<Term>,
    pub apart: Vec<Term>,
    pub spread: Vec<Spread>,
}

/// A term of pod affinity or anti-affinity.
#[derive(Debug)]
pub struct Term {
    pub key: String,
    namespaces: Vec<String>,
    selector: Vec<Requirement>,
}

/// A hard topology spread constraint.
#[derive(Debug)]
pub struct Spread {
    pub key: String,
    selector: Vec<Requirement>,
    pub skew: u64,
    pub domains: u64,
    pub honors_affinity: bool,
    pub honors_taints: bool,
}

/// A requirement on labels.
#[derive(Debug)]
struct Requirement {
    key: String,
    operator: String,
    values: Vec<String>,
}

impl Requirement {
    fn of(expression: &Value) -> Self {
        let values = expression["values"].as_array().into_iter().flatten();
        Self {
            key: text(&expression["key"]),
            operator: text(&expression["operator"]),
            values: values.map(text).collect(),
        }
    }

    fn holds(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match self.operator.as_str() {
            "In" => value.is_some_and(|value| self.values.contains(value)),
            "NotIn" => value.is_none_or(|value| !self.values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            operator => panic!("the reference does not know the operator {operator:?}"),
        }
    }
}

fn hold(requirements: &[Requirement], labels: &Labels) -> bool {
    requirements.iter().all(|requirement| requirement.holds(labels))
}

impl Term {
    fn of(term: &Value, namespace: &str) -> Self {
        let listed: Vec<String> = term["namespaces"].as_array().into_iter().flatten().map(text).collect();
        let namespaces = if listed.is_empty() { vec![namespace.to_owned()] } else { listed };
        Self { key: text(&term["topologyKey"]), namespaces, selector: selector(&term["labelSelector"]) }
    }

    /// Whether the term speaks of a pod in a namespace, with labels.
    pub fn matches(&self, namespace: &String, labels: &Labels) -> bool {
        self.namespaces.contains(namespace) && hold(&self.selector, labels)
    }
}

impl Spread {
    fn of(constraint: &Value) -> Self {
        Self {
            key: text(&constraint["topologyKey"]),
            selector: selector(&constraint["labelSelector"]),
            skew: constraint["maxSkew"].as_u64().unwrap_or(1),
            domains: constraint["minDomains"].as_u64().unwrap_or(1),
            honors_affinity: constraint["nodeAffinityPolicy"] != "Ignore",
            honors_taints: constraint["nodeTaintsPolicy"] == "Honor",
        }
    }

    /// Whether the constraint counts a pod of its namespace with labels.
    pub fn counts(&self, labels: &Labels) -> bool {
        hold(&self.selector, labels)
    }
}

impl Spec {
    /// What a pod, or the template of one, asks for.
    pub fn of(metadata: &Value, spec: &Value, namespace: &str) -> Self {
        let container = &spec["containers"][0];
        let affinity = &spec["affinity"];
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let terms = |of: &Value| array(&of[required]).map(|term| Term::of(term, namespace)).collect();
        let node_terms = array(&affinity["nodeAffinity"][required]["nodeSelectorTerms"]);
        let limit = quantity(&container["resources"]["limits"]["cpu"]);
        let request = &container["resources"]["requests"]["cpu"];
        Self {
            namespace: namespace.to_owned(),
            labels: labels(metadata),
            selector: map(&spec["nodeSelector"]),
            affinity: node_terms.map(|term| array(&term["matchExpressions"]).map(Requirement::of).collect()).collect(),
            tolerations: array(&spec["tolerations"]).cloned().collect(),
            cpu: if request.is_null() { limit } else { quantity(request) },
            cpu_limit: limit,
            devices: quantity(&container["resources"]["limits"][DEVICE]),
            ports: array(&container["ports"]).filter_map(|port| port["hostPort"].as_u64()).collect(),
            near: terms(&affinity["podAffinity"]),
            apart: terms(&affinity["podAntiAffinity"]),
            spread: array(&spec["topologySpreadConstraints"])
                .filter(|constraint| constraint["whenUnsatisfiable"] == "DoNotSchedule")
                .map(Spread::of)
                .collect(),
        }
    }

    /// The tolerations that the controller of DaemonSets adds.
    pub fn of_daemon(mut self) -> Self {
        for key in ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"] {
            let key = format!("node.kubernetes.io/{key}");
            self.tolerations.push(serde_json::json!({"key": key, "operator": "Exists", "effect": "NoSchedule"}));
        }
        self
    }

    /// Whether the node selector and the node affinity accept a node.
    pub fn selects(&self, node: &Node) -> bool {
        self.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && (self.affinity.is_empty() || self.affinity.iter().any(|term| hold(term, &node.labels)))
    }

    /// Whether the pod tolerates a taint. The API server adds tolerations of two taints for a while.
    pub fn tolerates(&self, key: &str, value: &str, effect: &str) -> bool {
        let added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        if effect == "NoExecute" && added.contains(&key) {
            return true;
        }
        self.tolerations.iter().any(|toleration| {
            let of = |field: &str| toleration[field].as_str().unwrap_or_default();
            (of("key").is_empty() || of("key") == key)
                && (of("effect").is_empty() || of("effect") == effect)
                && (of("operator") == "Exists" || of("value") == value)
        })
    }
}

impl Node {
    /// A node as the input has it; `settled` is the same once everything that passes has passed.
    pub fn of(object: &Value, settled: bool) -> Self {
        let taints = array(&object["spec"]["taints"]).map(|taint| Taint {
            key: text(&taint["key"]),
            value: text(&taint["value"]),
            effect: text(&taint["effect"]),
        });
        let hard = taints.filter(|taint| taint.effect != "PreferNoSchedule" && !(settled && taint.passes()));
        Self {
            name: text(&object["metadata"]["name"]),
            labels: labels(&object["metadata"]),
            taints: hard.collect(),
            cordoned: !settled && object["spec"]["unschedulable"] == true,
            cpu: quantity(&object["status"]["allocatable"]["cpu"]),
            devices: quantity(&object["status"][if settled { "capacity" } else { "allocatable" }][DEVICE]),
            pods: quantity(&object["status"]["allocatable"]["pods"]) / 1000,
        }
    }

    /// Whether cordon and taints let a pod in.
    pub fn admits(&self, pod: &Spec) -> bool {
        let cordon = self.cordoned && !pod.tolerates(CORDON, "", "NoSchedule");
        !cordon && self.tolerated_by(pod)
    }

    /// Whether a pod tolerates every taint.
    pub fn tolerated_by(&self, pod: &Spec) -> bool {
        self.taints.iter().all(|taint| pod.tolerates(&taint.key, &taint.value, &taint.effect))
    }
}

fn selector(selector: &Value) -> Vec<Requirement> {
    let pairs = map(&selector["matchLabels"]).into_iter();
    let equal = pairs.map(|(key, value)| Requirement { key, operator: "In".to_owned(), values: vec![value] });
    equal.chain(array(&selector["matchExpressions"]).map(Requirement::of)).collect()
}

/// The items of a list; none if there is no list.
pub fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A string; empty if there is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The labels of an object, without those that controllers give.
pub fn labels(metadata: &Value) -> Labels {
    let given = [
        "pod-template-hash",
        "controller-revision-hash",
        "apps.kubernetes.io/pod-index",
        "statefulset.kubernetes.io/pod-name",
        "pod-template-generation",
    ];
    map(&metadata["labels"]).into_iter().filter(|(key, _)| !given.contains(&key.as_str())).collect()
}

fn map(value: &Value) -> Labels {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect()
}

/// A quantity in thousandths; the clusters have whole numbers only.
pub fn quantity(value: &Value) -> u64 {
    let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    number.unwrap_or_default() * 1000
}
