//! Random clusters as Kubernetes objects, with everything in them that the scheduler's filters look at.

use serde_json::{Map, Value, json};

use crate::api::NAMESPACES;
use crate::chance::Rng;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const APPS: [&str; 3] = ["a", "b", "c"];

/// A random cluster.
pub struct Generated {
    /// The nodes, and the workloads or pods behind each type.
    pub objects: Vec<Value>,
    /// Pods that run at first.
    pub running: Vec<Value>,
    /// Each type: its name, and a pod of it.
    pub types: Vec<(String, Value)>,
}

/// The cluster of a seed.
pub fn cluster(seed: u64) -> Generated {
    let rng = &mut Rng::new(seed);
    let nodes: Vec<Value> = (0..2 + rng.below(3)).map(|at| node(rng, at)).collect();
    let names: Vec<String> = nodes.iter().map(|node| text(node, "/metadata/name")).collect();
    let mut generated = Generated { objects: nodes, running: Vec::new(), types: Vec::new() };
    for (namespace, _) in NAMESPACES {
        generated.objects.extend(claim(rng, namespace));
    }
    for at in 0..3 + rng.below(3) {
        let (namespace, name) = (NAMESPACES[rng.below(2)].0, format!("t{at}"));
        let (labels, spec) = (labels(rng), spec(rng, &names));
        let kind = rng.pick(&["Deployment", "Deployment", "StatefulSet", "Job", "DaemonSet", "ReplicaSet"]);
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "labels": labels}, "spec": spec});
        generated.objects.push(workload(kind, namespace, &name, &pod));
        let pod = if kind == "DaemonSet" { tolerant(pod) } else { pod };
        generated.types.push((format!("{}/{namespace}/{name}", kind.to_lowercase()), pod));
    }
    for at in 0..rng.below(5) {
        let mut pod = generated.types[rng.below(generated.types.len())].1.clone();
        if rng.one_in(3) {
            pod["metadata"]["labels"] = labels(rng);
        }
        pod["metadata"]["name"] = format!("running-{at}").into();
        pod["spec"]["nodeName"] = names[rng.below(names.len())].as_str().into();
        generated.running.push(pod);
    }
    generated
}

fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn node(rng: &mut Rng, at: usize) -> Value {
    let name = format!("n{at}");
    let mut labels = Map::new();
    if !rng.one_in(6) {
        labels.insert(HOST.into(), name.as_str().into());
    }
    if !rng.one_in(6) {
        labels.insert(ZONE.into(), rng.pick(&["z1", "z2"]).into());
    }
    if rng.one_in(2) {
        labels.insert("rack".into(), rng.below(4).to_string().into());
    }
    let mut spec = Map::new();
    if rng.one_in(4) {
        let effect = rng.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"]);
        spec.insert("taints".into(), json!([{"key": "dedicated", "value": rng.pick(&["x", "y"]), "effect": effect}]));
    }
    if rng.one_in(8) {
        spec.insert("unschedulable".into(), true.into());
    }
    let amounts = json!({"cpu": rng.pick(&["1", "2"]), "memory": "4Gi", "pods": (2 + rng.below(3)).to_string(),
        "example.com/widget": rng.below(3).to_string()});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A volume that can be used in one zone or anywhere, and the claim `data` of a namespace that is bound to it.
fn claim(rng: &mut Rng, namespace: &str) -> [Value; 2] {
    let (name, mode) = (format!("volume-{namespace}"), rng.pick(&["ReadWriteOnce", "ReadWriteOncePod"]));
    let mut spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": [mode], "storageClassName": "manual",
        "persistentVolumeReclaimPolicy": "Retain", "csi": {"driver": "example.com", "volumeHandle": name},
        "claimRef": {"namespace": namespace, "name": "data"}});
    if !rng.one_in(3) {
        let zone = json!({"key": ZONE, "operator": "In", "values": [rng.pick(&["z1", "z2"])]});
        spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}});
    }
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec,
        "status": {"phase": "Bound"}});
    let bound = json!({"pv.kubernetes.io/bind-completed": "yes"});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": namespace, "annotations": bound},
        "spec": {"accessModes": [mode], "storageClassName": "manual", "volumeName": name,
            "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"}});
    [volume, claim]
}

fn labels(rng: &mut Rng) -> Value {
    let mut labels = Map::new();
    labels.insert("app".into(), APPS[rng.below(3)].into());
    if rng.one_in(3) {
        labels.insert("tier".into(), rng.pick(&["front", "back"]).into());
    }
    labels.into()
}

fn spec(rng: &mut Rng, nodes: &[String]) -> Value {
    let mut spec = Map::new();
    spec.insert("terminationGracePeriodSeconds".into(), 0.into());
    spec.insert("containers".into(), json!([container(rng, "main")]));
    if rng.one_in(5) {
        let mut init = container(rng, "init");
        init.as_object_mut().expect("an object").remove("ports");
        if rng.one_in(2) {
            init["restartPolicy"] = "Always".into();
        }
        spec.insert("initContainers".into(), json!([init]));
    }
    if rng.one_in(4) {
        spec.insert("nodeSelector".into(), json!({ZONE: rng.pick(&["z1", "z2"])}));
    }
    if rng.one_in(2) {
        let toleration = match rng.below(4) {
            0 => json!({"operator": "Exists"}),
            1 => json!({"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}),
            2 => json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}),
            _ => json!({"key": "dedicated", "value": "x"}),
        };
        spec.insert("tolerations".into(), json!([toleration]));
    }
    if rng.one_in(5) {
        spec.insert("volumes".into(), json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]));
    }
    let mut affinity = Map::new();
    if rng.one_in(4) {
        let terms: Vec<Value> = (0..1 + rng.below(2)).map(|_| node_term(rng, nodes)).collect();
        affinity.insert("nodeAffinity".into(), required(json!({"nodeSelectorTerms": terms})));
    }
    if !rng.one_in(3) {
        let terms: Vec<Value> = (0..1 + rng.below(2)).map(|_| pod_term(rng)).collect();
        affinity.insert("podAffinity".into(), required(terms.into()));
    }
    if rng.one_in(2) {
        affinity.insert("podAntiAffinity".into(), required(json!([pod_term(rng)])));
    }
    spec.insert("affinity".into(), affinity.into());
    if rng.one_in(3) {
        spec.insert("topologySpreadConstraints".into(), json!([spread(rng)]));
    }
    spec.into()
}

fn required(terms: Value) -> Value {
    json!({"requiredDuringSchedulingIgnoredDuringExecution": terms})
}

fn container(rng: &mut Rng, name: &str) -> Value {
    let mut requests = Map::new();
    if rng.one_in(2) {
        requests.insert("cpu".into(), rng.pick(&["200m", "600m", "1"]).into());
    }
    let mut resources = json!({});
    if rng.one_in(6) {
        requests.insert("example.com/widget".into(), "1".into());
        resources["limits"] = json!({"example.com/widget": "1"});
    }
    resources["requests"] = requests.into();
    let mut container = json!({"name": name, "image": "registry.k8s.io/pause:3.10", "resources": resources});
    if rng.one_in(5) {
        let port = 8000 + rng.below(2);
        let mut entry = json!({"containerPort": port, "hostPort": port, "protocol": rng.pick(&["TCP", "UDP"])});
        if rng.one_in(3) {
            entry["hostIP"] = rng.pick(&["127.0.0.1", "0.0.0.0"]).into();
        }
        container["ports"] = json!([entry]);
    }
    container
}

fn node_term(rng: &mut Rng, nodes: &[String]) -> Value {
    match rng.below(5) {
        0 => json!({"matchExpressions": [{"key": "rack", "operator": rng.pick(&["Gt", "Lt"]), "values": ["1"]}]}),
        1 => json!({"matchExpressions": [{"key": "rack", "operator": rng.pick(&["Exists", "DoesNotExist"])}]}),
        2 => {
            json!({"matchFields": [{"key": "metadata.name", "operator": rng.pick(&["In", "NotIn"]), "values": [nodes[rng.below(nodes.len())]]}]})
        }
        _ => json!({"matchExpressions": [{"key": ZONE, "operator": rng.pick(&["In", "NotIn"]), "values": ["z1"]}]}),
    }
}

fn selector(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [APPS[rng.below(3)]]}]}),
        1 => json!({"matchExpressions": [{"key": "tier", "operator": rng.pick(&["Exists", "DoesNotExist"])}]}),
        2 => json!({"matchLabels": {"tier": "back"}}),
        _ => json!({"matchLabels": {"app": APPS[rng.below(3)]}}),
    }
}

fn pod_term(rng: &mut Rng) -> Value {
    let mut term = json!({"topologyKey": rng.pick(&[ZONE, HOST]), "labelSelector": selector(rng)});
    match rng.below(5) {
        0 => term["namespaces"] = json!([NAMESPACES[rng.below(2)].0]),
        1 => term["namespaceSelector"] = json!({}),
        2 => term["namespaceSelector"] = json!({"matchLabels": {"team": NAMESPACES[rng.below(2)].1}}),
        _ => {}
    }
    if rng.one_in(6) {
        term[rng.pick(&["matchLabelKeys", "mismatchLabelKeys"])] = json!(["tier"]);
        term["labelSelector"] = json!({"matchLabels": {"app": APPS[rng.below(3)]}});
    }
    term
}

fn spread(rng: &mut Rng) -> Value {
    let mut constraint = json!({"maxSkew": 1 + rng.below(2), "topologyKey": rng.pick(&[ZONE, HOST]),
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector(rng)});
    if rng.one_in(4) {
        constraint["minDomains"] = 2.into();
    }
    for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        if rng.one_in(3) {
            constraint[policy] = rng.pick(&["Honor", "Ignore"]).into();
        }
    }
    constraint
}

/// A pod as the DaemonSet controller makes it, as far as nodes here can tell.
fn tolerant(mut pod: Value) -> Value {
    let cordon = json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"});
    match pod["spec"]["tolerations"].as_array_mut() {
        Some(list) => list.push(cordon),
        None => pod["spec"]["tolerations"] = json!([cordon]),
    }
    pod
}

/// An object that could make such pods.
fn workload(kind: &str, namespace: &str, name: &str, pod: &Value) -> Value {
    let mut labels = pod["metadata"]["labels"].clone();
    if kind != "Job" {
        // Selectors must be the workload's own; no other selector looks at this label.
        labels["workload"] = name.into();
    }
    let mut spec = pod["spec"].clone();
    let mut outer = json!({"selector": {"matchLabels": {"workload": name}}});
    match kind {
        "Job" => {
            spec["restartPolicy"] = "Never".into();
            outer = json!({});
        }
        "StatefulSet" => outer["serviceName"] = name.into(),
        _ => {}
    }
    outer["template"] = json!({"metadata": {"labels": labels}, "spec": spec});
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    json!({"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}, "spec": outer})
}
