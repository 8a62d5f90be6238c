//! What is kept of an object from a live cluster: what placement can depend on, and nothing else.
//!
//! The field tables of the library decide (`podreach::lower::fields`): what no filter looks at is dropped, environment variables,
//! commands and images among it. A field in no table keeps its name and loses its content, so that reading still reports it. What is
//! kept is what is analysed, what a snapshot holds, and all that `replay` knows of a pod.

use podreach::lower::fields::{self, Table};
use serde_json::{Map, Value};

/// What annotations start with that are meant for podreach itself.
const OUR_ANNOTATION: &str = "podreach.dev/ignore-";

/// Annotations that change what an object means for placement; all others are dropped.
const ANNOTATIONS: &[&str] = &[
    "deployment.kubernetes.io/revision",
    "kubernetes.io/config.mirror",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/migrated-to",
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/node-selector",
    "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "storageclass.beta.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
];

/// What annotations start with that set what a container may do.
const PROFILES: [&str; 3] = [
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "seccomp.security.alpha.kubernetes.io/pod",
];

/// Kinds of volumes that no filter looks at and that a pod security level may forbid: that there is one is kept.
pub(crate) const BARE_VOLUMES: &[&str] = &[
    "cephfs",
    "fc",
    "flexVolume",
    "flocker",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "nfs",
    "photonPersistentDisk",
    "quobyte",
    "scaleIO",
    "storageos",
];

/// Keys that are dropped wherever they stand in objects that have no table: secrets, credentials, free text.
const NEVER: &[&str] = &[
    "chapAuthDiscovery",
    "chapAuthSession",
    "conditions",
    "config",
    "controllerExpandSecretRef",
    "controllerPublishSecretRef",
    "data",
    "description",
    "fsType",
    "initiatorName",
    "keyring",
    "managedFields",
    "message",
    "mountOptions",
    "nodeExpandSecretRef",
    "nodePublishSecretRef",
    "nodeStageSecretRef",
    "parameters",
    "secretRef",
    "user",
    "volumeAttributes",
];

/// How a part is reduced.
#[derive(Clone, Copy)]
enum Shape {
    /// All of it but for [`NEVER`].
    Most,
    /// All of it.
    All,
    /// A mapping with a table, and how its parts are reduced: all of them, where it is not said.
    Fields(&'static Table, &'static [(&'static str, Shape)]),
    /// A list of such parts.
    Each(&'static Shape),
    /// The annotations.
    Annotations,
    /// A mapping with these keys only.
    Only(&'static [&'static str]),
    /// A mapping with these parts only, each reduced.
    Parts(&'static [(&'static str, Shape)]),
    /// That it is there, and nothing of it.
    Bare,
    /// Whether a text is empty.
    Filled,
    /// A volume: its table, but its contents as [`Shape::Most`].
    Volume,
}

const METADATA: Shape = Shape::Fields(&fields::OBJECT_META, &[("annotations", Shape::Annotations)]);
const ACTIONS: &[(&str, Shape)] = &[
    ("httpGet", Shape::Fields(&fields::HTTP_GET_ACTION, &[])),
    ("tcpSocket", Shape::Fields(&fields::TCP_SOCKET_ACTION, &[])),
];
const PROBE: Shape = Shape::Fields(&fields::PROBE, ACTIONS);
const HANDLER: Shape = Shape::Fields(&fields::LIFECYCLE_HANDLER, ACTIONS);
const PROFILE: (&str, Shape) = ("seccompProfile", Shape::Fields(&fields::SECCOMP_PROFILE, &[]));
const ARMOR: (&str, Shape) = ("appArmorProfile", Shape::Fields(&fields::APP_ARMOR_PROFILE, &[]));
const LABELLED: (&str, Shape) =
    ("seLinuxOptions", Shape::Fields(&fields::SE_LINUX_OPTIONS, &[("role", Shape::Filled), ("user", Shape::Filled)]));
const WINDOWS: (&str, Shape) = ("windowsOptions", Shape::Fields(&fields::WINDOWS_OPTIONS, &[]));
const SYSCTLS: (&str, Shape) = ("sysctls", Shape::Each(&Shape::Fields(&fields::SYSCTL, &[])));
const CONTAINER: Shape = Shape::Fields(
    &fields::CONTAINER,
    &[
        ("lifecycle", Shape::Fields(&fields::LIFECYCLE, &[("postStart", HANDLER), ("preStop", HANDLER)])),
        ("livenessProbe", PROBE),
        ("readinessProbe", PROBE),
        ("securityContext", Shape::Fields(&fields::SECURITY_CONTEXT, &[PROFILE, ARMOR, LABELLED, WINDOWS])),
        ("startupProbe", PROBE),
        ("volumeMounts", Shape::Each(&Shape::Fields(&fields::VOLUME_MOUNT, &[]))),
    ],
);
const WEBHOOKS: Shape = Shape::Each(&Shape::Only(&["name", "namespaceSelector", "objectSelector", "rules"]));
/// What a rule of a policy engine is about, and what kind of thing it does: never what it writes into pods or compares them with.
const ENGINE: Shape = Shape::Parts(&[
    ("applyTo", Shape::Each(&Shape::Only(&["groups", "kinds", "versions"]))),
    ("enforcementAction", Shape::All),
    ("match", MATCH),
    ("matchConstraints", Shape::All),
    ("rules", Shape::Each(&ENGINE_RULE)),
    ("validationActions", Shape::All),
    ("validationFailureAction", Shape::All),
    ("validationFailureActionOverrides", Shape::Bare),
]);
const ENGINE_RULE: Shape = Shape::Parts(&[
    ("generate", Shape::Only(&["kind"])),
    ("match", MATCH),
    ("mutate", Shape::Bare),
    ("validate", Shape::Only(&["failureAction"])),
    ("verifyImages", Shape::Bare),
]);
const MATCH: Shape = Shape::Parts(&[
    ("all", Shape::Each(&FILTER)),
    ("any", Shape::Each(&FILTER)),
    ("kinds", Shape::Each(&Shape::Only(&["apiGroups", "kinds"]))),
    ("resources", Shape::Only(&["kinds"])),
]);
const FILTER: Shape = Shape::Parts(&[("resources", Shape::Only(&["kinds"]))]);
const STATUSES: Shape = Shape::Each(&Shape::Fields(&fields::CONTAINER_STATUS, &[]));
const AFFINITY: Shape = Shape::Fields(
    &fields::AFFINITY,
    &[
        ("nodeAffinity", Shape::Fields(&fields::NODE_AFFINITY, &[])),
        ("podAffinity", Shape::Fields(&fields::POD_AFFINITY, &[])),
        ("podAntiAffinity", Shape::Fields(&fields::POD_AFFINITY, &[])),
    ],
);
const POD_SPEC: Shape = Shape::Fields(
    &fields::POD_SPEC,
    &[
        ("affinity", AFFINITY),
        ("containers", Shape::Each(&CONTAINER)),
        ("initContainers", Shape::Each(&CONTAINER)),
        (
            "securityContext",
            Shape::Fields(&fields::POD_SECURITY_CONTEXT, &[PROFILE, ARMOR, LABELLED, WINDOWS, SYSCTLS]),
        ),
        ("volumes", Shape::Each(&Shape::Volume)),
    ],
);
const TEMPLATE: Shape = Shape::Fields(&fields::POD_TEMPLATE_SPEC, &[("metadata", METADATA), ("spec", POD_SPEC)]);
const TEMPLATED: &[(&str, Shape)] = &[("template", TEMPLATE), ("volumeClaimTemplates", Shape::Each(&CLAIM_TEMPLATE))];
const CLAIM_TEMPLATE: Shape = Shape::Fields(&fields::OBJECT, &[("metadata", METADATA), ("spec", Shape::Most)]);
const JOB: Shape = Shape::Fields(&fields::JOB_SPEC, TEMPLATED);
const POD_STATUS: Shape =
    Shape::Fields(&fields::POD_STATUS, &[("containerStatuses", STATUSES), ("initContainerStatuses", STATUSES)]);

/// How the spec and the status of a kind are reduced; a status that is not said is dropped.
fn shapes(kind: &str) -> (Shape, Option<Shape>) {
    let templated = |table| Shape::Fields(table, TEMPLATED);
    match kind {
        "Pod" => (POD_SPEC, Some(POD_STATUS)),
        "Node" => (Shape::Fields(&fields::NODE_SPEC, &[]), Some(Shape::Fields(&fields::NODE_STATUS, &[]))),
        "Deployment" => (templated(&fields::DEPLOYMENT_SPEC), None),
        "ReplicaSet" | "ReplicationController" => (templated(&fields::REPLICA_SET_SPEC), None),
        "StatefulSet" => (templated(&fields::STATEFUL_SET_SPEC), None),
        "DaemonSet" => (templated(&fields::DAEMON_SET_SPEC), None),
        "Job" => (JOB, None),
        "CronJob" => {
            const TEMPLATE: Shape = Shape::Fields(&fields::JOB_TEMPLATE_SPEC, &[("spec", JOB)]);
            (Shape::Fields(&fields::CRON_JOB_SPEC, &[("jobTemplate", TEMPLATE)]), None)
        }
        "HorizontalPodAutoscaler" => (Shape::Fields(&fields::AUTOSCALER_SPEC, &[]), None),
        "Namespace" | "PriorityClass" => (Shape::Only(&[]), None),
        "MutatingAdmissionPolicy" | "ValidatingAdmissionPolicy" => (Shape::Only(&["matchConstraints"]), None),
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
            (Shape::Only(&["matchResources", "policyName", "validationActions"]), None)
        }
        _ => (Shape::Most, Some(Shape::Most)),
    }
}

/// The essence of an object of a kind.
pub(crate) fn essence(kind: &str, object: Value) -> Value {
    let Value::Object(fields) = object else { return object };
    let version = fields.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (spec, status) = if is_engine(version) { (ENGINE, None) } else { shapes(kind) };
    // Among several usual classes the newest counts.
    let made = fields.get("metadata").and_then(|metadata| metadata.get("creationTimestamp")).cloned();
    let made = made.filter(|_| kind == "StorageClass");
    let keep = |(key, value): (String, Value)| {
        let shape = match key.as_str() {
            "apiVersion" | "kind" => Shape::All,
            "metadata" => METADATA,
            "spec" => spec,
            "status" => status?,
            "template" if kind == "PodTemplate" => TEMPLATE,
            "webhooks" => WEBHOOKS,
            key if NEVER.contains(&key) => return None,
            _ => Shape::Most,
        };
        Some((key, reduced(value, shape)))
    };
    let mut kept: Map<String, Value> = fields.into_iter().filter_map(keep).collect();
    if let (Some(made), Some(Value::Object(metadata))) = (made, kept.get_mut("metadata")) {
        metadata.insert("creationTimestamp".into(), made);
    }
    kept.into()
}

/// Whether an object of this version is a rule of a policy engine.
fn is_engine(version: &str) -> bool {
    let group = version.split('/').next().unwrap_or_default();
    group == "kyverno.io" || group.ends_with(".kyverno.io") || group.ends_with(".gatekeeper.sh")
}

/// The spec of a pod with what placement can depend on.
pub(crate) fn pod_spec(spec: Value) -> Value {
    reduced(spec, POD_SPEC)
}

fn reduced(value: Value, shape: Shape) -> Value {
    match (shape, value) {
        (Shape::Each(shape), Value::Array(items)) => items.into_iter().map(|item| reduced(item, *shape)).collect(),
        (Shape::Most, Value::Array(items)) => items.into_iter().map(|item| reduced(item, shape)).collect(),
        (Shape::Fields(table, parts), Value::Object(fields)) => of_table(fields, table, parts),
        (Shape::Volume, Value::Object(fields)) => volume(fields),
        (Shape::Most, Value::Object(fields)) => most(fields),
        (Shape::Only(keys), Value::Object(fields)) => only(fields, keys),
        (Shape::Parts(parts), Value::Object(fields)) => of_parts(fields, parts),
        (Shape::Filled, Value::String(text)) => if text.is_empty() { text } else { "set".to_owned() }.into(),
        // What is not as it should be is not kept, either.
        (Shape::Only(_) | Shape::Parts(_) | Shape::Bare | Shape::Filled, value) if !value.is_null() => {
            Map::new().into()
        }
        (Shape::Annotations, Value::Object(fields)) => {
            let profile = |key: &str| PROFILES.iter().any(|profile| key.starts_with(profile));
            let keep = |key: &str| ANNOTATIONS.contains(&key) || key.starts_with(OUR_ANNOTATION) || profile(key);
            fields.into_iter().filter(|(key, _)| keep(key)).collect::<Map<_, _>>().into()
        }
        (_, value) => value,
    }
}

fn most(fields: Map<String, Value>) -> Value {
    let kept = fields.into_iter().filter(|(key, _)| !NEVER.contains(&key.as_str()));
    kept.map(|(key, value)| (key, reduced(value, Shape::Most))).collect::<Map<_, _>>().into()
}

fn only(fields: Map<String, Value>, keys: &[&str]) -> Value {
    fields.into_iter().filter(|(key, _)| keys.contains(&key.as_str())).collect::<Map<_, _>>().into()
}

fn of_parts(fields: Map<String, Value>, parts: &[(&str, Shape)]) -> Value {
    let keep = |(key, value): (String, Value)| {
        let shape = parts.iter().find(|(part, _)| *part == key).map(|(_, shape)| *shape)?;
        Some((key, reduced(value, shape)))
    };
    fields.into_iter().filter_map(keep).collect::<Map<_, _>>().into()
}

fn of_table(fields: Map<String, Value>, table: &Table, parts: &[(&str, Shape)]) -> Value {
    let keep = |(key, value): (String, Value)| {
        let name = key.as_str();
        if table.irrelevant.contains(&name) || (table.open && !table.knows(name)) {
            return None;
        }
        if !table.knows(name) {
            return Some((key, Value::Null));
        }
        let shape = parts.iter().find(|(part, _)| *part == name).map_or(Shape::All, |(_, shape)| *shape);
        Some((key, reduced(value, shape)))
    };
    fields.into_iter().filter_map(keep).collect::<Map<_, _>>().into()
}

/// A volume keeps its name and, where a filter looks at its source, what identifies that.
fn volume(fields: Map<String, Value>) -> Value {
    let keep = |(key, value): (String, Value)| match key.as_str() {
        "name" => Some((key, value)),
        name if BARE_VOLUMES.contains(&name) && !value.is_null() => Some((key, Map::new().into())),
        name if fields::VOLUME.irrelevant.contains(&name) => None,
        name if fields::VOLUME.knows(name) => Some((key, reduced(value, Shape::Most))),
        _ => Some((key, Value::Null)),
    };
    fields.into_iter().filter_map(keep).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_secret_is_kept() {
        let container = json!({"name": "c", "image": "secret", "env": [{"name": "A", "value": "secret"}], "args": ["secret"],
            "command": ["secret"], "livenessProbe": {"exec": {"command": ["secret"]}}, "resources": {"requests": {"cpu": "1"}},
            "volumeMounts": [{"name": "v", "mountPath": "secret"}]});
        let volumes = json!([{"name": "v", "secret": {"secretName": "secret"}},
            {"name": "w", "rbd": {"image": "d", "keyring": "secret", "secretRef": {"name": "secret"}}}]);
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "managedFields": ["secret"], "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "secret", "kubernetes.io/config.mirror": "m"}},
            "spec": {"containers": [container], "volumes": volumes, "hostAliases": ["secret"], "invented": "secret"},
            "status": {"phase": "Running", "message": "secret", "containerStatuses": [{"name": "c", "image": "secret",
                "state": {"terminated": {"message": "secret"}}}]}});
        let kept = essence("Pod", pod);
        assert!(!kept.to_string().contains("secret"), "{kept}");
        assert_eq!(
            kept,
            json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "m"}},
                "spec": {"containers": [{"name": "c", "livenessProbe": {}, "resources": {"requests": {"cpu": "1"}},
                        "volumeMounts": [{}]}],
                    "volumes": [{"name": "v"}, {"name": "w", "rbd": {"image": "d"}}], "invented": null},
                "status": {"phase": "Running", "containerStatuses": [{"name": "c"}]}})
        );
    }

    #[test]
    fn what_pods_may_do_to_their_host_is_kept() {
        let context = json!({"privileged": true, "runAsGroup": 7, "seccompProfile": {"type": "Localhost", "localhostProfile": "x"}});
        let probe = json!({"httpGet": {"host": "h", "path": "/secret", "httpHeaders": ["secret"]}, "periodSeconds": 1});
        let pod = json!({"kind": "Pod", "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}},
            "spec": {"hostPID": true, "containers": [{"name": "c", "securityContext": context, "readinessProbe": probe}],
                "volumes": [{"name": "v", "hostPath": {"path": "/secret"}}, {"name": "w", "emptyDir": {}}]}});
        let kept = essence("Pod", pod);
        let container = json!({"name": "c", "readinessProbe": {"httpGet": {"host": "h"}},
            "securityContext": {"privileged": true, "seccompProfile": {"type": "Localhost"}}});
        assert_eq!(
            kept["spec"],
            json!({"hostPID": true, "containers": [container],
            "volumes": [{"name": "v", "hostPath": {}}, {"name": "w"}]})
        );
        assert_eq!(kept["metadata"]["annotations"].as_object().map(Map::len), Some(1));
        let webhooks = json!([{"name": "a", "rules": [], "clientConfig": {"url": "secret", "caBundle": "secret"}}]);
        let kept = essence("MutatingWebhookConfiguration", json!({"webhooks": webhooks}));
        assert_eq!(kept, json!({"webhooks": [{"name": "a", "rules": []}]}));
    }

    #[test]
    fn rules_of_policy_engines_keep_what_they_are_about() {
        let matched = json!({"any": [{"resources": {"kinds": ["Pod"], "names": ["secret"]}, "subjects": ["secret"]}]});
        let rules = json!([{"name": "secret", "match": matched, "mutate": {"patchStrategicMerge": {"kind": "secret"}},
            "validate": {"failureAction": "Enforce", "message": "secret"}, "verifyImages": ["secret"]}]);
        let policy = json!({"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"},
            "spec": {"rules": rules, "background": "secret"}, "status": {"secret": "secret"}});
        let kept = essence("ClusterPolicy", policy);
        assert!(!kept.to_string().contains("secret"), "{kept}");
        let rule = json!({"match": {"any": [{"resources": {"kinds": ["Pod"]}}]}, "mutate": {},
            "validate": {"failureAction": "Enforce"}, "verifyImages": {}});
        assert_eq!(kept["spec"], json!({"rules": [rule]}));
        let odd = json!({"apiVersion": "constraints.gatekeeper.sh/v1beta1", "spec": {"match": "secret", "parameters": "secret"}});
        assert_eq!(essence("K8sDeny", odd)["spec"], json!({"match": {}}));
        let labelled =
            json!({"spec": {"securityContext": {"seLinuxOptions": {"user": "secret", "type": "container_t"}}}});
        let kept = essence("Pod", labelled);
        assert_eq!(kept["spec"]["securityContext"]["seLinuxOptions"], json!({"user": "set", "type": "container_t"}));
    }

    #[test]
    fn templates_are_reduced_as_pods_are() {
        let template =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let kept = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}});
        let deployment = json!({"spec": {"replicas": 1, "template": template}});
        assert_eq!(essence("Deployment", deployment)["spec"]["template"], kept);
        let cron = json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}});
        assert_eq!(essence("CronJob", cron)["spec"]["jobTemplate"]["spec"]["template"], kept);
        assert_eq!(essence("PodTemplate", json!({"template": template}))["template"], kept);
    }
}
