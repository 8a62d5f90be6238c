//! Random pools of Karpenter's, each with a pod that asks for something.

use podreach_core::random::Rng;
use serde_json::{Map, Value, json};

/// Keys that pools and pods speak of: custom ones, well-known ones, and old names of those.
const KEYS: [&str; 8] = [
    "team",
    "size",
    "example.com/tier",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "beta.kubernetes.io/arch",
    "karpenter.sh/capacity-type",
];

/// Values that requirements list and that are asked about: words, integers in several spellings, and the greatest.
pub const VALUES: [&str; 11] =
    ["", "a", "b", "0", "4", "5", "6", "7", "007", "9223372036854775807", "9223372036854775808"];

/// Integers that are compared with. A negative one is not a label value: a pool may not have it, and for kube-scheduler the whole term of a
/// pod that has one matches no node, so that it tells nothing here.
const BOUNDS: [&str; 7] = ["0", "3", "4", "5", "6", "1000", "9223372036854775807"];

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A pool and a pod.
pub fn document(rng: &mut Rng) -> Value {
    let requirements: Vec<Value> = (0..rng.below(4)).map(|_| requirement(rng, 8)).collect();
    let taints = taints(rng);
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": {
            "metadata": {"labels": labels(rng, 2)},
            "spec": {
                "requirements": requirements, "taints": taints,
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            },
        }},
    });
    json!({"pool": pool, "pod": pod(rng), "values": VALUES})
}

fn labels(rng: &mut Rng, most: usize) -> Map<String, Value> {
    (0..rng.below(most + 1)).map(|_| (rng.pick(&KEYS).to_owned(), rng.pick(&VALUES).into())).collect()
}

/// A requirement with one of the first `operators` operators; pods have no `Gte` and `Lte`.
fn requirement(rng: &mut Rng, operators: usize) -> Value {
    let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"];
    let operator = rng.pick(&known[..operators]);
    let values: Vec<&str> = match operator {
        "In" | "NotIn" => (0..=rng.below(3)).map(|_| rng.pick(&VALUES)).collect(),
        "Exists" | "DoesNotExist" => Vec::new(),
        _ => vec![rng.pick(&BOUNDS)],
    };
    json!({"key": rng.pick(&KEYS), "operator": operator, "values": values})
}

fn taints(rng: &mut Rng) -> Vec<Value> {
    let mut taints = Vec::new();
    for key in ["dedicated", "gpu"] {
        if rng.below(3) == 0 {
            taints.push(json!({"key": key, "value": rng.pick(&["", "x", "y"]), "effect": rng.pick(&EFFECTS)}));
        }
    }
    taints
}

fn pod(rng: &mut Rng) -> Value {
    let mut spec = json!({"containers": [{"name": "c", "image": "i"}], "nodeSelector": labels(rng, 1)});
    let tolerations: Vec<Value> = (0..rng.below(3)).map(|_| toleration(rng)).collect();
    spec["tolerations"] = tolerations.into();
    if rng.below(4) > 0 {
        let expressions: Vec<Value> = (0..=rng.below(3)).map(|_| requirement(rng, 6)).collect();
        let terms = json!({"nodeSelectorTerms": [{"matchExpressions": expressions}]});
        spec["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
}

fn toleration(rng: &mut Rng) -> Value {
    let key = rng.pick(&["dedicated", "gpu", "dedicated", "gpu", ""]);
    let mut toleration = json!({"key": key, "operator": "Exists"});
    if !key.is_empty() && rng.below(2) == 0 {
        toleration = json!({"key": key, "operator": "Equal", "value": rng.pick(&["", "x", "y"])});
    }
    if rng.below(2) == 0 {
        toleration["effect"] = rng.pick(&EFFECTS).into();
    }
    toleration
}
