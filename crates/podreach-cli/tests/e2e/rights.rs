//! Users without rights: what they may not see is named, and only what depends on it is unknown.

use std::time::{Duration, Instant};

use podreach::read::{SourceId, Tree, Value as Read, documents};
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::paths::path;
use crate::program::{Ran, live, scratch};

const ROLE: &str = include_str!("../../../../deploy/rbac.yaml");
const REPLAY: &str = include_str!("../../../../deploy/rbac-replay.yaml");

fn value(tree: &Tree<'_>) -> Value {
    match &tree.value {
        Read::String(text) => text.as_ref().into(),
        Read::Seq(items) => items.iter().map(value).collect(),
        Read::Map(entries) => {
            entries.iter().map(|entry| (entry.key.to_string(), value(&entry.value))).collect::<Map<_, _>>().into()
        }
        _ => Value::Null,
    }
}

/// Gives the user `reader` the shipped role, without these resources.
fn grant(api: &Api, without: &[&str]) {
    let shipped = value(&documents(SourceId(0), ROLE).0[0]);
    assert_eq!(shipped["kind"], "ClusterRole");
    let mut role = shipped.clone();
    for rule in role["rules"].as_array_mut().expect("rules") {
        let resources = rule["resources"].as_array_mut().expect("resources");
        resources.retain(|name| !without.contains(&name.as_str().unwrap_or_default()));
    }
    let rules = role["rules"].as_array_mut().expect("rules");
    rules.retain(|rule| rule["resources"].as_array().is_some_and(|names| !names.is_empty()));
    bind(api, &role, &shipped);
}

/// Gives the user `reader` a role, and of another role nothing else.
fn bind(api: &Api, role: &Value, of: &Value) {
    let name = role["metadata"]["name"].as_str().unwrap_or_default();
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("e2e-{name}")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}]});
    let (given, all) = (rights(role), rights(of));
    for object in [role, &binding] {
        api.delete(&path(object));
    }
    wait_for(api, &all, &[]);
    for object in [role, &binding] {
        api.apply(object);
    }
    wait_for(api, &all, &given);
}

/// What a role allows, each as a review asks for it.
fn rights(role: &Value) -> Vec<Value> {
    let all = |rule: &Value, field: &str| rule[field].as_array().cloned().unwrap_or_default();
    let mut rights = Vec::new();
    for rule in role["rules"].as_array().expect("rules") {
        let [group] = &all(rule, "apiGroups")[..] else { panic!("one group in each rule: {rule}") };
        for name in all(rule, "resources") {
            let name = name.as_str().unwrap_or_default();
            let (resource, part) = name.split_once('/').unwrap_or((name, ""));
            let right = |verb| json!({"group": group, "resource": resource, "subresource": part, "verb": verb});
            rights.extend(all(rule, "verbs").into_iter().map(right));
        }
    }
    rights
}

/// Waits until `reader` has the given rights and no others of these: the authorizer hears of a change a little later.
fn wait_for(api: &Api, all: &[Value], given: &[Value]) {
    let began = Instant::now();
    let reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let settled = |right: &Value| {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "reader", "resourceAttributes": right}});
        let answer = api.send(http::Method::POST, reviews, Some(&review)).expect("a review");
        answer["status"]["allowed"] == given.contains(right)
    };
    while !all.iter().all(settled) {
        assert!(began.elapsed() < Duration::from_secs(60), "the rights are not what was granted");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn as_user(api: &Api, user: &str, args: &[&str]) -> Ran {
    live(api, user, args).output().expect("the program runs").into()
}

fn deployment(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["containers"] = json!([{"name": "c", "image": "registry.k8s.io/pause:3.10"}]);
    let labels = json!({"app": name});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "east"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})
}

pub fn denied(api: &Api) {
    // An earlier run may have left it.
    api.delete("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/e2e-podreach-replay");
    let amounts = json!({"cpu": "4", "pods": "10"});
    api.apply(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
        "status": {"allocatable": amounts, "capacity": amounts}}));
    let near = |app: &str| {
        let term = json!([{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}]);
        json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}})
    };
    api.apply(&deployment("free", json!({})));
    api.apply(&deployment("lonely", near("nobody")));
    api.apply(&deployment("picky", json!({"nodeSelector": {"no": "node"}})));
    let check = |user: &str, pod: &str| as_user(api, user, &["check", pod, "n1"]);
    let exits = |user: &str| ["free", "lonely", "picky"].map(|pod| check(user, pod).exit);

    grant(api, &[]);
    assert_eq!(exits("reader"), [0, 1, 1], "the shipped role is enough");
    let whole = as_user(api, "reader", &["check", "free", "n1", "-v"]);
    assert!(!whole.err.contains("may not be listed"), "{whole:?}");

    let nobody = check("nobody", "free");
    assert_eq!(nobody.exit, 2, "{nobody:?}");
    assert!(nobody.err.contains("nodes may not be listed"), "{nobody:?}");

    // Without pods and jobs, someone unseen may keep the lonely company; nobody can give the node a label.
    grant(api, &["pods", "jobs"]);
    assert_eq!(exits("reader"), [0, 3, 1]);
    let unsure = check("reader", "lonely");
    assert!(
        unsure.err.contains("pods may not be listed") && unsure.err.contains("jobs.batch may not be listed"),
        "{unsure:?}"
    );

    // Admission can only refuse: what can never be stays so.
    grant(api, &["limitranges"]);
    assert_eq!(exits("reader"), [3, 1, 1]);
    // What no pod uses spoils nothing.
    grant(api, &["persistentvolumes", "csinodes", "runtimeclasses", "resourceslices", "namespaces", "priorityclasses"]);
    assert_eq!(exits("reader"), [0, 1, 1]);

    // Impersonation, as kubectl has it.
    grant(api, &[]);
    let other = as_user(api, "admin", &["check", "free", "n1", "--as", "nobody"]);
    assert_eq!(other.exit, 2, "{other:?}");
    assert_eq!(as_user(api, "admin", &["check", "free", "n1", "--as", "reader"]).exit, 0);

    // The reader may not replay; with the second role it may.
    let file = scratch("rights-verdict.json");
    std::fs::write(&file, as_user(api, "reader", &["check", "free", "n1", "-o", "json"]).out).expect("a verdict");
    let replay = || as_user(api, "reader", &["replay", "--execute", &file.to_string_lossy()]);
    assert_eq!(replay().exit, 2, "the mark of the cluster cannot be read");
    let second = value(&documents(SourceId(0), REPLAY).0[0]);
    bind(api, &second, &second);
    let ran = replay();
    assert_eq!(ran.exit, 0, "{ran:?}");
}
