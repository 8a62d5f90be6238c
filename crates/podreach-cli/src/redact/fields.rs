//! What is kept of an object: what placement can depend on, and nothing else.
//!
//! The library's shapes say what that is (`podreach::lower::shape`); what they do not name is dropped. What is kept is what is
//! analysed of a live cluster, what a snapshot holds, and all that `replay` knows of a pod.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use podreach::lower::shape::{self, Role, Shape};
use serde_json::{Map, Value, json};

/// The redacted of an object.
pub(crate) fn redacted(object: Value) -> Value {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    match text("apiVersion").zip(text("kind")) {
        Some((version, kind)) => {
            let shape = shape::shape(version, kind);
            reduced(object, shape)
        }
        // What does not say what it is is not an object: that it is there remains.
        None => match object {
            Value::Object(fields) if fields.is_empty() => Map::new().into(),
            Value::Object(_) => json!({"kind": null, "spec": null}),
            other => reduced(other, Shape::Parts(&[])),
        },
    }
}

/// The spec of a pod with what placement can depend on.
pub(crate) fn pod_spec(spec: Value) -> Value {
    reduced(spec, shape::POD_SPEC)
}

/// What a shape keeps of a value. What is not as it should be stays so, without its content.
fn reduced(value: Value, shape: Shape) -> Value {
    match (shape, value) {
        (_, Value::Null) => Value::Null,
        (Shape::Fields(..) | Shape::Parts(_), Value::Object(fields)) => parts(fields, shape),
        (Shape::Each(shape), Value::Array(items)) => items.into_iter().map(|item| reduced(item, *shape)).collect(),
        (Shape::Bare, value) => bare(value),
        (Shape::Leaf(Role::Annotations), Value::Object(fields)) => annotations(fields),
        (Shape::Leaf(Role::KubeletArguments), Value::Object(fields)) => {
            let kept = fields.into_iter().filter(|(name, _)| shape::kubelet_argument(name).is_some());
            kept.map(|(name, value)| (name, scalar(value))).collect::<Map<_, _>>().into()
        }
        (Shape::Leaf(Role::KubeletArguments), Value::Array(items)) => items.into_iter().filter_map(argument).collect(),
        (Shape::Leaf(Role::Labels | Role::Amounts | Role::Hard), Value::Object(fields)) => {
            fields.into_iter().map(|(key, value)| (key, scalar(value))).collect::<Map<_, _>>().into()
        }
        (Shape::Leaf(Role::Labels | Role::Amounts | Role::Hard | Role::Annotations), _) => Value::Bool(false),
        (Shape::Leaf(_), value) => scalar(value),
        _ => Value::Bool(false),
    }
}

/// An argument of a kubelet that is looked at.
fn argument(item: Value) -> Option<Value> {
    let name = item["name"].as_str()?;
    shape::kubelet_argument(name)?;
    Some(json!({"name": name, "value": scalar(item["value"].clone())}))
}

/// A value that is neither a mapping nor a list, or that it is one.
fn scalar(value: Value) -> Value {
    match value {
        Value::Object(_) => Map::new().into(),
        Value::Array(_) => Vec::<Value>::new().into(),
        other => other,
    }
}

/// That a value is there, how many items it has, and whether a text is empty.
fn bare(value: Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Array(items) => items.into_iter().map(|item| if item.is_null() { item } else { json!({}) }).collect(),
        Value::String(text) => if text.is_empty() { "" } else { "set" }.into(),
        _ => json!({}),
    }
}

fn parts(fields: Map<String, Value>, shape: Shape) -> Value {
    fields.into_iter().filter_map(|one| kept_part(shape, one)).collect::<Map<_, _>>().into()
}

fn kept_part(shape: Shape, (key, value): (String, Value)) -> Option<(String, Value)> {
    match (shape.part(&key), shape) {
        (Some(part), _) => Some((key, reduced(value, part))),
        // A field that no table lists is an error, which must not be lost.
        (None, Shape::Fields(table, _)) if !table.open && !table.knows(&key) => Some((key, Value::Null)),
        _ => None,
    }
}

fn annotations(fields: Map<String, Value>) -> Value {
    fields.into_iter().filter_map(kept_annotation).collect::<Map<_, _>>().into()
}

fn kept_annotation((key, value): (String, Value)) -> Option<(String, Value)> {
    let (_, shape) = shape::annotation(&key)?;
    Some((key, reduced(value, shape)))
}

/// Tells templates apart that differ only in what is not kept: a Deployment names its pods after a hash of the whole.
///
/// Of a template only two keyed hashes are remembered, and none is written: those of one redacted are numbered as they come.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    keys: RandomState,
    seen: HashMap<u64, Vec<u64>>,
}

/// The annotation that has the number of a template.
const TEMPLATE: &str = "podreach.dev/template";

impl Templates {
    /// The redacted of an object, whose template differs from others wherever the whole does.
    pub(crate) fn redacted(&mut self, object: Value) -> Value {
        let is_deployment = object.get("kind").is_some_and(|kind| kind == "Deployment");
        let whole = object.pointer("/spec/template").filter(|_| is_deployment).map(|whole| self.hash(whole));
        let mut kept = redacted(object);
        let Some(template) = kept.pointer_mut("/spec/template") else { return kept };
        let Some(number) = whole.and_then(|whole| self.number(template, whole)) else { return kept };
        if let Value::Object(fields) = template {
            let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
            metadata["annotations"][TEMPLATE] = number.to_string().into();
        }
        kept
    }

    /// The number of a template among those of its redacted; none for the first.
    fn number(&mut self, kept: &Value, whole: u64) -> Option<usize> {
        let of = self.hash(kept);
        let seen = self.seen.entry(of).or_default();
        let at = seen.iter().position(|other| *other == whole).unwrap_or_else(|| {
            seen.push(whole);
            seen.len() - 1
        });
        (at > 0).then_some(at)
    }

    fn hash(&self, value: &Value) -> u64 {
        self.keys.hash_one(value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            redacted(pod),
            json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "set"}},
                "spec": {"containers": [{"name": "c", "livenessProbe": {}, "resources": {"requests": {"cpu": "1"}},
                        "volumeMounts": [{}]}],
                    "volumes": [{"name": "v", "secret": {}}, {"name": "w", "rbd": {"image": "d"}}], "invented": null},
                "status": {"phase": "Running", "containerStatuses": [{"name": "c"}]}})
        );
    }

    #[test]
    fn of_kinds_that_are_not_read_only_who_they_are_is_kept() {
        let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"});
        let meta = json!({"name": "n", "namespace": "s", "ownerReferences": [owner], "labels": {"a": "secret"},
            "annotations": {"a": "secret"}});
        for (version, kind) in [
            ("bitnami.com/v1alpha1", "SealedSecret"),
            ("external-secrets.io/v1", "ExternalSecret"),
            ("example.com/v1", "Database"),
            ("v1", "Service"),
            ("apps/v1", "ControllerRevision"),
            ("apps/v9", "Deployment"),
        ] {
            let object = json!({"apiVersion": version, "kind": kind, "metadata": meta, "data": {"a": "secret"},
                "spec": {"password": "secret", "env": ["secret"], "image": "secret"}, "status": {"token": "secret"}});
            let named = json!({"name": "n", "namespace": "s", "ownerReferences": [owner]});
            assert_eq!(redacted(object), json!({"apiVersion": version, "kind": kind, "metadata": named}), "{kind}");
        }
        let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"},
            "spec": {"source": {"repoURL": "https://user:secret@git", "helm": {"values": "secret"}}},
            "status": {"sync": "secret"}});
        assert_eq!(
            redacted(application),
            json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}, "status": {}})
        );
        assert_eq!(redacted(json!({"password": "secret"})), json!({"kind": null, "spec": null}));
        assert_eq!(redacted(json!("secret")), json!(false));
    }

    #[test]
    fn what_pods_may_do_to_their_host_is_kept() {
        let context = json!({"privileged": true, "runAsGroup": 7, "seccompProfile": {"type": "Localhost", "localhostProfile": "x"}});
        let probe = json!({"httpGet": {"host": "h", "path": "/secret", "httpHeaders": ["secret"]}, "periodSeconds": 1});
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}},
            "spec": {"hostPID": true, "containers": [{"name": "c", "securityContext": context, "readinessProbe": probe}],
                "volumes": [{"name": "v", "hostPath": {"path": "/secret"}}, {"name": "w", "emptyDir": {}}]}});
        let kept = redacted(pod);
        let container = json!({"name": "c", "readinessProbe": {"httpGet": {"host": "set"}},
            "securityContext": {"privileged": true, "seccompProfile": {"type": "Localhost"}}});
        assert_eq!(
            kept["spec"],
            json!({"hostPID": true, "containers": [container],
            "volumes": [{"name": "v", "hostPath": {}}, {"name": "w", "emptyDir": {}}]})
        );
        assert_eq!(kept["metadata"]["annotations"].as_object().map(Map::len), Some(1));
        let head = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"});
        let mut whole = head.clone();
        whole["webhooks"] = json!([{"name": "a", "rules": [], "clientConfig": {"url": "secret", "caBundle": "secret"},
            "matchConditions": [{"name": "secret", "expression": "secret"}]}]);
        let mut kept = head;
        kept["webhooks"] = json!([{"name": "a", "rules": []}]);
        assert_eq!(redacted(whole), kept);
    }

    #[test]
    fn rules_of_policy_engines_keep_what_they_are_about() {
        let matched = json!({"any": [{"resources": {"kinds": ["Pod"], "names": ["secret"]}, "subjects": ["secret"]}]});
        let rules = json!([{"name": "secret", "match": matched, "mutate": {"patchStrategicMerge": {"kind": "secret"}},
            "validate": {"failureAction": "Enforce", "message": "secret"}, "verifyImages": ["secret"]}]);
        let policy = json!({"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"},
            "spec": {"rules": rules, "background": "secret"}, "status": {"secret": "secret"}});
        let rule = json!({"match": {"any": [{"resources": {"kinds": ["Pod"]}}]}, "mutate": {},
            "validate": {"failureAction": "Enforce"}, "verifyImages": [{}]});
        assert_eq!(redacted(policy)["spec"], json!({"rules": [rule]}));
        let odd = json!({"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": "K8sDeny",
            "spec": {"match": "secret", "parameters": "secret"}});
        assert_eq!(redacted(odd)["spec"], json!({"match": false}));
    }

    #[test]
    fn what_is_not_as_it_should_be_stays_so_without_its_content() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": {"a": "secret"}, "labels": "secret"},
            "spec": {"containers": "secret", "nodeName": ["secret"], "nodeSelector": {"a": {"b": "secret"}}}});
        assert_eq!(
            redacted(pod),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": {}, "labels": false},
                "spec": {"containers": false, "nodeName": [], "nodeSelector": {"a": {}}}})
        );
    }

    #[test]
    fn templates_are_reduced_as_pods_are_and_told_apart_where_they_differ() {
        let kept = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}});
        let deployment = |image: &str| of("apps/v1", "Deployment", json!({"replicas": 1, "template": template(image)}));
        let job = json!({"template": template("i")});
        let cron = of("batch/v1", "CronJob", json!({"schedule": "* * * * *", "jobTemplate": {"spec": job}}));
        assert_eq!(redacted(cron)["spec"]["jobTemplate"]["spec"]["template"], kept);
        let bare = json!({"apiVersion": "v1", "kind": "PodTemplate", "template": template("i")});
        assert_eq!(redacted(bare)["template"], kept);
        let mut templates = Templates::default();
        let mut number = |image: &str| {
            let kept = templates.redacted(deployment(image));
            kept["spec"]["template"]["metadata"]["annotations"][TEMPLATE].as_str().map(str::to_owned)
        };
        let numbers = ["i", "j", "i", "j", "k"].map(|image| number(image).unwrap_or_default());
        assert_eq!(numbers, ["", "1", "", "1", "2"]);
    }

    fn of(version: &str, kind: &str, spec: Value) -> Value {
        json!({"apiVersion": version, "kind": kind, "spec": spec})
    }

    fn template(image: &str) -> Value {
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}})
    }
}
