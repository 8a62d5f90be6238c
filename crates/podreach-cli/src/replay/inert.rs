//! A pod that takes the place of another and does nothing: the same to every filter, harmless to everything else.
//!
//! It keeps what placement depends on (`redacted.rs`). It runs the pause image as nobody, without a service account token, and its
//! priority class never preempts. A controller of our own keeps ReplicaSets from adopting it for its labels. The label that marks it is
//! one that no selector of the cluster mentions, which is checked before; so no filter can see it.

use podreach::lower::Kind;
use podreach::lower::fields::VOLUME;
use serde_json::{Map, Value, json};

use crate::redact::fields::pod_spec;

/// What a pod may do, and which names it goes by, that is nothing to filters.
const ARMS: [&str; 5] = ["hostIPC", "hostPID", "os", "serviceAccount", "serviceAccountName"];

/// An image that does nothing.
const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// The gate that holds a pod back until its node is nominated.
pub(crate) const GATE: &str = "podreach.dev/replay";

/// The class of replayed pods, which also owns them.
pub(crate) const CLASS: &str = "podreach-replay";

/// An inert pod with these labels, made from the spec of another.
pub(crate) fn pod(kind: Kind, namespace: &str, labels: Map<String, Value>, spec: &Value) -> Value {
    let mut spec = match pod_spec(spec.clone()) {
        Value::Object(spec) => spec,
        _ => Map::new(),
    };
    let queue = ["nodeName", "schedulingGates", "schedulingGroup", "workloadRef"];
    queue.iter().chain(&ARMS).for_each(|key| drop(spec.remove(*key)));
    items(&mut spec, "volumes").for_each(keep_source);
    items(&mut spec, "resourceClaims").enumerate().for_each(|(at, claim)| claim["name"] = format!("claim-{at}").into());
    spec.retain(|_, value| !value.is_null());
    ["containers", "initContainers"].iter().for_each(|list| items(&mut spec, list).for_each(disarm));
    terms(&mut spec).for_each(unmerge);
    if kind == Kind::DaemonSet {
        let host_network = spec.get("hostNetwork") == Some(&Value::Bool(true));
        let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
        tolerations.as_array_mut().into_iter().for_each(|list| list.extend(daemon_tolerations(host_network)));
    }
    spec.insert("automountServiceAccountToken".into(), false.into());
    spec.insert("enableServiceLinks".into(), false.into());
    spec.insert("priorityClassName".into(), CLASS.into());
    spec.insert("schedulingGates".into(), json!([{"name": GATE}]));
    spec.insert("terminationGracePeriodSeconds".into(), 0.into());
    let nobody = json!({"runAsNonRoot": true, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}});
    spec.insert("securityContext".into(), nobody);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "labels": labels},
        "spec": spec,
    })
}

/// The mappings in a list of a spec.
fn items<'s>(spec: &'s mut Map<String, Value>, list: &str) -> impl Iterator<Item = &'s mut Value> {
    spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().filter(|item| item.is_object())
}

/// Keeps the source of a volume that a filter looks at, and gives it what only the API server asks for.
fn keep_source(volume: &mut Value) {
    let Value::Object(fields) = volume else { return };
    fields.retain(|key, _| VOLUME.modelled.contains(&key.as_str()));
    if let Some(Value::Object(disk)) = fields.get_mut("iscsi") {
        disk.insert("targetPortal".into(), "192.0.2.1:3260".into());
        disk.insert("lun".into(), 0.into());
    }
}

/// All terms of a spec that select pods by labels.
fn terms(spec: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let (mut affinity, mut spread) = (None, None);
    for (key, value) in spec {
        match key.as_str() {
            "affinity" => affinity = value.as_object_mut(),
            "topologySpreadConstraints" => spread = value.as_array_mut(),
            _ => {}
        }
    }
    let kinds = affinity.into_iter().flat_map(Map::values_mut);
    let affinity = kinds.filter_map(|kind| kind.get_mut(REQUIRED)?.as_array_mut()).flatten();
    affinity.chain(spread.into_iter().flatten())
}

/// Takes back the label keys that the API server has merged into a selector already; it would not take both again.
///
/// Kubernetes: `pkg/registry/core/pod/strategy.go`, `applyMatchLabelKeysAndMismatchLabelKeys`.
fn unmerge(term: &mut Value) {
    let expressions = term.pointer("/labelSelector/matchExpressions").and_then(Value::as_array).cloned();
    let merged: Vec<Value> = expressions.into_iter().flatten().map(|expression| expression["key"].clone()).collect();
    for list in ["matchLabelKeys", "mismatchLabelKeys"] {
        if let Some(keys) = term.get_mut(list).and_then(Value::as_array_mut) {
            keys.retain(|key| !merged.contains(key));
        }
    }
}

/// Replaces what a container would do by nothing.
fn disarm(container: &mut Value) {
    let Value::Object(fields) = container else { return };
    let acts = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "volumeMounts"];
    fields.retain(|key, value| !acts.contains(&key.as_str()) && !value.is_null());
    fields.insert("image".into(), IMAGE.into());
    // What a rule is about is nothing to filters, and the API server wants to know it.
    for rule in items(fields, "restartPolicyRules") {
        rule["exitCodes"] = json!({"operator": "NotIn", "values": [0]});
    }
    fields.insert(
        "securityContext".into(),
        json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}),
    );
}

/// What the DaemonSet controller gives its pods.
///
/// Kubernetes: `pkg/controller/daemon/util/daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`.
fn daemon_tolerations(host_network: bool) -> Vec<Value> {
    let lost = ["not-ready", "unreachable"].map(|name| (name, "NoExecute"));
    let pressed =
        ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map(|name| (name, "NoSchedule"));
    let network = host_network.then_some(("network-unavailable", "NoSchedule"));
    let all = lost.into_iter().chain(pressed).chain(network);
    all.map(
        |(name, effect)| json!({"key": format!("node.kubernetes.io/{name}"), "operator": "Exists", "effect": effect}),
    )
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placement_stays_and_everything_else_goes() {
        let spec = json!({"nodeName": "n1", "nodeSelector": {"a": "b"}, "serviceAccountName": "powerful", "hostPID": true,
            "containers": [{"name": "c", "image": "evil", "command": ["evil"], "env": [{"name": "EVIL", "value": "evil"}],
                "securityContext": {"privileged": true}, "ports": [{"containerPort": 1, "hostPort": 2}],
                "resources": {"requests": {"cpu": "1"}}, "volumeMounts": [{"name": "evil", "mountPath": "/"}]}],
            "volumes": [{"name": "x", "hostPath": {"path": "evil"}}]});
        let pod = pod(Kind::Pod, "shop", Map::new(), &spec);
        let text = pod.to_string();
        assert!(!text.contains("evil") && !text.contains("powerful") && !text.contains("nodeName"), "{text}");
        assert!(!text.contains("hostPID") && !text.contains("privileged"), "{text}");
        assert_eq!(pod["spec"]["nodeSelector"], json!({"a": "b"}));
        let container = &pod["spec"]["containers"][0];
        assert_eq!(
            (&container["ports"][0]["hostPort"], &container["resources"]["requests"]["cpu"]),
            (&json!(2), &json!("1"))
        );
        assert_eq!((&container["image"], &pod["spec"]["automountServiceAccountToken"]), (&json!(IMAGE), &json!(false)));
    }

    #[test]
    fn label_keys_are_merged_once() {
        let merged = json!([{"key": "tier", "operator": "In", "values": ["x"]}]);
        assert_eq!(keys(&merged), [Some(json!([])), Some(json!([]))]);
        assert_eq!(keys(&json!([])), [Some(json!(["tier"])), Some(json!(["tier"]))]);
    }

    fn keys(expressions: &Value) -> [Option<Value>; 2] {
        let pod = pod(Kind::Pod, "shop", Map::new(), &spec(expressions));
        let affinity = "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/matchLabelKeys";
        ["/spec/topologySpreadConstraints/0/matchLabelKeys", affinity].map(|path| pod.pointer(path).cloned())
    }

    fn spec(expressions: &Value) -> Value {
        json!({"containers": [], "topologySpreadConstraints": [term(expressions)], "affinity": {"podAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": [term(expressions)]}}})
    }

    fn term(expressions: &Value) -> Value {
        json!({"matchLabelKeys": ["tier"], "labelSelector": {"matchExpressions": expressions}})
    }

    #[test]
    fn a_daemon_tolerates_what_its_controller_lets_it() {
        assert_eq!((tolerations(false), tolerations(true)), (6, 7));
    }

    fn tolerations(network: bool) -> usize {
        let pod = pod(Kind::DaemonSet, "shop", Map::new(), &json!({"containers": [], "hostNetwork": network}));
        pod["spec"]["tolerations"].as_array().map_or(0, Vec::len)
    }
}
