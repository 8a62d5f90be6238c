//! A cluster that is as it should be, with a mark in every field that placement does not depend on, and everything that can be asked of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::run::{Ran, command, podreach, read, scratch};
use super::schema::{Marks, release};

/// The cluster in a file, and the marks in it.
pub(crate) struct Marked {
    pub(crate) file: String,
    /// The same without any mark.
    plain: String,
    objects: Vec<Value>,
    pub(crate) marks: Marks,
}

/// Fields whose mere presence spoils or changes an answer.
const TELLING: [&str; 10] = [
    "bindMountOptions",
    "deletionTimestamp",
    "resourceClaims",
    "resourceNames",
    "scheduling",
    "schedulingGates",
    "schedulingGroup",
    "volumeDevices",
    "webhooks",
    "workloadRef",
];

fn template(labels: &Value, more: &Value) -> Value {
    let mut spec = json!({
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}},
            "env": [{"name": "A"}], "envFrom": [{}], "livenessProbe": {"httpGet": {}, "exec": {}}, "lifecycle": {"preStop": {"exec": {}}},
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]}},
            "ports": [{"containerPort": 80}], "volumeMounts": [{}]}],
        "initContainers": [{"name": "i", "resources": {"limits": {"cpu": "1"}}}],
        "securityContext": {"seLinuxOptions": {"type": "container_t"}},
        "volumes": [{"name": "v"}, {"name": "w", "rbd": {"image": "i", "monitors": ["m"]}}, {"name": "x", "iscsi": {"iqn": "q"}}],
        "tolerations": [{"key": "pool", "operator": "Exists"}],
        "topologySpreadConstraints": [{"maxSkew": 5, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}},
    });
    if let (Value::Object(spec), Value::Object(more)) = (&mut spec, more) {
        spec.extend(more.clone());
    }
    json!({"metadata": {"labels": labels}, "spec": spec})
}

/// Objects of every kind that is read, as they should be.
fn objects() -> Vec<Value> {
    let object = |version: &str, kind: &str, name: &str, rest: Value| {
        let mut object = rest;
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        let metadata = json!({"name": name, "namespace": "shop", "managedFields": [{}], "annotations": {"note": "n"}});
        object["metadata"] = object.get("metadata").cloned().unwrap_or(metadata);
        object
    };
    let node = |name: &str| {
        let metadata = json!({"name": name, "labels": {"kubernetes.io/hostname": name, "zone": name}});
        object(
            "v1",
            "Node",
            name,
            json!({"metadata": metadata, "spec": {"taints": [{"key": "pool", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "conditions": [{}], "addresses": [{}], "images": [{}]}}),
        )
    };
    let plain = template(&json!({"app": "web"}), &json!({}));
    // Which node of a DaemonSet's spread counts is not modelled.
    let daemon = template(&json!({"app": "log"}), &json!({"topologySpreadConstraints": []}));
    let far = template(&json!({"app": "far"}), &json!({"nodeSelector": {"zone": "moon"}}));
    let (job, claim) = (
        json!({"template": plain}),
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}),
    );
    let mut pod = template(&json!({"app": "one"}), &json!({"nodeName": "n1"}));
    pod["metadata"]["name"] = "one".into();
    pod["metadata"]["namespace"] = "shop".into();
    pod["status"] = json!({"phase": "Running", "containerStatuses": [{"name": "c"}], "conditions": [{}]});
    vec![
        node("n1"),
        node("n2"),
        object("v1", "Namespace", "shop", json!({"metadata": {"name": "shop"}})),
        object("apps/v1", "Deployment", "web", json!({"spec": {"replicas": 2, "template": plain}})),
        object("apps/v1", "Deployment", "far", json!({"spec": {"template": far}})),
        object("apps/v1", "ReplicaSet", "set", json!({"spec": {"template": plain}})),
        object("v1", "ReplicationController", "old", json!({"spec": {"template": plain}})),
        object(
            "apps/v1",
            "StatefulSet",
            "db",
            json!({"spec": {"template": plain,
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}}),
        ),
        object("apps/v1", "DaemonSet", "log", json!({"spec": {"template": daemon}})),
        object("batch/v1", "Job", "once", json!({"spec": job})),
        object("batch/v1", "CronJob", "nightly", json!({"spec": {"jobTemplate": {"spec": job}}})),
        object("v1", "PodTemplate", "base", json!({"template": plain})),
        object("v1", "Pod", "one", pod),
        object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "web",
            json!({"spec": {"maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "web"}}}),
        ),
        object("v1", "ServiceAccount", "robot", json!({})),
        object("scheduling.k8s.io/v1", "PriorityClass", "high", json!({"metadata": {"name": "high"}})),
        object("v1", "LimitRange", "limits", json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "3"}}]}})),
        object("v1", "ResourceQuota", "quota", json!({"spec": {"hard": {"pods": "50"}}})),
        object("node.k8s.io/v1", "RuntimeClass", "safe", json!({"metadata": {"name": "safe"}})),
        object("v1", "PersistentVolumeClaim", "claim", json!({"spec": claim, "status": {}})),
        object(
            "v1",
            "PersistentVolume",
            "volume",
            json!({"metadata": {"name": "volume"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"}, "csi": {"driver": "d.example.com", "volumeHandle": "h"}}}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            "fast",
            json!({"metadata": {"name": "fast",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "d.example.com",
            "volumeBindingMode": "WaitForFirstConsumer"}),
        ),
        object(
            "storage.k8s.io/v1",
            "CSINode",
            "n1",
            json!({"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": "d.example.com"}]}}),
        ),
        object(
            "storage.k8s.io/v1",
            "CSIDriver",
            "d.example.com",
            json!({"metadata": {"name": "d.example.com"}, "spec": {}}),
        ),
        object(
            "storage.k8s.io/v1",
            "VolumeAttachment",
            "a",
            json!({"metadata": {"name": "a"}, "spec": {"attacher": "d.example.com",
            "nodeName": "n1", "source": {"persistentVolumeName": "volume"}}}),
        ),
        object(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "hook",
            json!({"metadata": {"name": "hook"},
            "webhooks": [{"name": "a.example.com", "clientConfig": {}, "matchConditions": [{}]}]}),
        ),
    ]
}

/// The cluster, with marks in everything but what is kept; kinds that are not read are there with all they have.
pub(crate) fn marked(kept: &BTreeMap<String, bool>) -> Marked {
    let (release, mut marks) = (release('7'), Marks::default());
    let is_kept = |path: &str| {
        kept.range(path.to_owned()..)
            .next()
            .is_some_and(|(next, _)| next == path || next.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    };
    let skip = |path: &str, form: &str| {
        let last = path.rsplit('.').next().unwrap_or_default();
        form == "b" || is_kept(path) || TELLING.contains(&last)
    };
    let plain = objects();
    let mut objects = Vec::new();
    for object in &plain {
        let (version, kind) =
            (object["apiVersion"].as_str().unwrap_or_default(), object["kind"].as_str().unwrap_or_default());
        let of = release.kinds.iter().find(|(own, name, _)| *own == version && *name == kind).expect("it is published");
        objects.push(release.object(*of, object.clone(), &skip, &mut marks));
    }
    let known: Vec<&str> = plain.iter().filter_map(|object| object["kind"].as_str()).collect();
    let is_read = |kind: &str| {
        kept.keys().any(|path| {
            path.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.') && !rest.starts_with(".metadata."))
        })
    };
    for of in release.kinds.iter().filter(|(_, kind, _)| !known.contains(kind) && !is_read(kind)) {
        let given = json!({"metadata": {"name": "other", "namespace": "shop"}});
        objects.push(release.object(*of, given, &skip, &mut marks));
    }
    objects.push(super::custom(&mut marks));
    let [file, bare] = ["cluster.json", "plain.json"].map(scratch);
    std::fs::write(&file, super::listed(&objects)).expect("it can be written");
    std::fs::write(&bare, super::listed(&plain)).expect("it can be written");
    Marked { file, plain: bare, objects, marks }
}

/// What is asked of every cluster.
const ASKED: [&[&str]; 9] = [
    &["check", "web", "n1"],
    &["check", "far", "n2"],
    &["check", "db", "n2", "-v"],
    &["why", "web"],
    &["why", "far", "-v"],
    &["matrix", "-v"],
    &["lower", "-v"],
    &["audit", "-v"],
    &["audit", "--fail-on", "never"],
];

fn formats(command: &str) -> &'static [&'static str] {
    match command {
        "check" => &["text", "json", "yaml", "mermaid", "svg", "itf"],
        "audit" => &["text", "json", "yaml", "markdown", "sarif", "junit", "github"],
        "matrix" => &["text", "wide", "json", "yaml"],
        "lower" => &["json", "yaml"],
        _ => &["text", "json", "yaml"],
    }
}

/// Everything that the program prints, writes or keeps about a cluster.
pub(crate) fn outputs(marked: &Marked) -> Vec<(String, String)> {
    let mut outputs = Vec::new();
    let input = ["-f", marked.file.as_str(), "--complete", "pods", "--assume-admission-keeps-pods"];
    for asked in ASKED {
        for format in formats(asked[0]) {
            let ran = podreach(&[asked, &input, &["-o", format]].concat());
            assert_eq!(ran.err.matches("error").count(), 0, "{asked:?} {format}: {}", ran.err);
            outputs.push((format!("{asked:?} {format}"), ran.out + &ran.err));
        }
    }
    let [proof, page, snapshot, numbers] = ["proof.json", "page.html", "snapshot.json", "proof.txt"].map(scratch);
    for (goal, what) in [("web", "run"), ("far", "proof")] {
        podreach(&[&["check", goal, "n1", "--proof-out", &proof], &input[..]].concat());
        let verified = podreach(&["verify", &proof, "--export", &numbers, "-f", &marked.file]);
        assert_eq!(verified.exit, 0, "{what}: {}", verified.err);
        outputs.push((format!("verify {what}"), verified.out + &verified.err));
        assert!(!read(&numbers).is_empty(), "the {what} is exported");
        outputs.push((format!("export {what}"), read(&numbers)));
        outputs.push((format!("certificate {what}"), read(&proof)));
    }
    for asked in [&["check", "web", "n1"][..], &["check", "far", "n2"], &["matrix"], &["audit"]] {
        let ran = podreach(&[&["report"], asked, &input[..], &["--output", &page]].concat());
        assert_ne!(ran.exit, 2, "{asked:?}: {}", ran.err);
        outputs.push((format!("report {asked:?}"), read(&page)));
    }
    let plain = encodable(marked);
    for goal in ["web@n1", "far@n1"] {
        let input = ["-f", plain.as_str(), "--complete", "pods", "--assume-admission-keeps-pods", "-v"];
        let ran = podreach(&[&["encode", "--to", "pnml", "--goal", goal], &input[..]].concat());
        assert_eq!(ran.exit, 0, "{goal}: {}", ran.err);
        outputs.push((format!("encode {goal}"), ran.out + &ran.err));
    }
    let ran = podreach(&["snapshot", "-f", &marked.file, "-o", &snapshot]);
    outputs.push(("snapshot".into(), read(&snapshot) + &ran.out + &ran.err));
    outputs.extend(super::actors::outputs(marked));
    outputs.extend(served(marked));
    outputs.extend(files(&scratch("home")).into_iter().map(|file| (format!("cache {file}"), read(&file))));
    outputs
}

/// The cluster with all its marks as far as a net can be written of it: without volumes and topology spread.
fn encodable(marked: &Marked) -> String {
    fn without(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter().filter(|(key, _)| *key != "topologySpreadConstraints");
                fields.map(|(key, value)| (key.clone(), without(value))).collect()
            }
            Value::Array(items) => items.iter().map(without).collect(),
            other => other.clone(),
        }
    }
    let objects: Vec<Value> =
        marked.objects.iter().filter(|object| object["kind"] != "StatefulSet").map(without).collect();
    let file = scratch("encodable.json");
    std::fs::write(&file, super::listed(&objects)).expect("it can be written");
    file
}

/// Every file below a folder.
fn files(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let inside = entries.flat_map(|entry| {
        let path = entry.path().to_string_lossy().into_owned();
        if entry.path().is_dir() { files(&path) } else { vec![path] }
    });
    inside.collect()
}

/// What the page is told.
#[cfg(not(feature = "serve"))]
fn served(_: &Marked) -> Vec<(String, String)> {
    Vec::new()
}

/// What the page is told.
#[cfg(feature = "serve")]
fn served(marked: &Marked) -> Vec<(String, String)> {
    let input = ["serve", "-f", &marked.file, "--complete", "pods", "--assume-admission-keeps-pods"];
    let server = super::server::Server::run(command().args(input).stderr(std::process::Stdio::null()));
    let mut outputs = Vec::new();
    for path in ["/", "/api/page"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        outputs.push((format!("serve {path}"), answer.head + &answer.body));
    }
    let goal = json!({"pod": "far", "node": "n1"});
    let edits = json!({"edits": [{"op": "taint", "node": "n1", "key": "k", "value": "v", "effect": "NoSchedule"}]});
    let file = |(pod, file): (&str, &str)| ("/api/file", json!({"pod": pod, "node": "n1", "file": file}));
    let files = [("far", "question.yaml"), ("far", "policy.yaml"), ("far", "report.html")];
    let runs = [("web", "run.mmd"), ("web", "run.svg"), ("web", "run.itf.json")];
    let asked = [
        ("/api/cluster", json!({})),
        ("/api/why", goal.clone()),
        ("/api/ask", goal),
        ("/api/matrix", json!({})),
        ("/api/cluster", edits.clone()),
        ("/api/flips", edits),
    ];
    for (path, body) in asked.into_iter().chain(files.map(file)).chain(runs.map(file)) {
        let mut answer = server.post(path, &body);
        assert!([200, 202].contains(&answer.status), "{path}: {}", answer.body);
        if answer.status == 202 {
            answer = server.ended(&answer);
            assert_eq!(answer.json()["state"], "done", "{path} {body}");
        }
        outputs.push((format!("serve {path} {body}"), answer.head + &answer.body));
    }
    outputs
}

/// Asks all of the cluster with marks, without them, and of its snapshots under whatever names.
pub(crate) fn same_answers(marked: &Marked) {
    let [kept, renamed, mapping] = ["kept.json", "renamed.json", "mapping.json"].map(scratch);
    assert_eq!(podreach(&["snapshot", "-q", "-f", &marked.file, "-o", &kept]).exit, 0);
    let args = ["snapshot", "-q", "-f", &marked.file, "-o", &renamed, "--pseudonymise", "--mapping", &mapping];
    assert_eq!(podreach(&args).exit, 0);
    let mapping: BTreeMap<String, String> = serde_json::from_str(&read(&mapping)).expect("a mapping");
    let cells = |file: &str| {
        let Ran { exit, out, err } = podreach(&[
            "matrix",
            "-q",
            "-o",
            "json",
            "-f",
            file,
            "--complete",
            "pods",
            "--assume-admission-keeps-pods",
        ]);
        assert_ne!(exit, 2, "{err}");
        serde_json::from_str::<Value>(&out).expect("JSON")
    };
    let original = verdicts(&cells(&marked.file), &BTreeMap::new());
    assert!(
        original.len() > 15
            && original.values().any(|v| v.contains("never"))
            && original.values().any(|v| v.contains("deployable"))
    );
    assert_eq!(original, verdicts(&cells(&kept), &BTreeMap::new()));
    assert_eq!(original, verdicts(&cells(&renamed), &mapping));
    let plain = verdicts(&cells(&marked.plain), &BTreeMap::new());
    assert_eq!(original, plain);
}

/// The verdicts of a matrix by pod and node, under their real names. The kinds of pods are called as before.
fn verdicts(matrix: &Value, mapping: &BTreeMap<String, String>) -> BTreeMap<(String, String), String> {
    let real = |text: &str| {
        let part = |part: &str| mapping.get(part).cloned().unwrap_or_else(|| part.to_owned());
        text.split('/').map(part).collect::<Vec<_>>().join("/")
    };
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| Some(real(text.as_str()?))).collect()
    };
    let mut verdicts = BTreeMap::new();
    for row in matrix["rows"].as_array().into_iter().flatten() {
        let pods = row["pod"].as_str().map(real).into_iter().chain(texts(&row["aliases"]));
        let pods: Vec<String> = pods.collect();
        for verdict in ["deployable", "never", "unknown"] {
            let classes = row[verdict].as_array().into_iter().flatten().filter_map(Value::as_u64);
            let classes = classes.filter_map(|class| usize::try_from(class).ok());
            for node in classes.flat_map(|class| texts(&matrix["nodeClasses"][class]["nodes"])) {
                verdicts.extend(pods.iter().map(|pod| ((pod.clone(), node.clone()), verdict.to_owned())));
            }
        }
    }
    verdicts
}

/// What is printed of the cluster where it is read from a server.
#[cfg(feature = "live")]
pub(crate) fn live_outputs(marked: &Marked) -> Vec<(String, String)> {
    let address = super::live::serve(marked.objects.clone());
    let mut outputs = Vec::new();
    let input = ["--server", address.as_str(), "--complete", "pods", "--assume-admission-keeps-pods", "-v"];
    let proof = scratch("live-proof.json");
    for asked in [
        &["check", "shop/web", "n1", "--proof-out", &proof][..],
        &["check", "shop/far", "n1"],
        &["matrix"],
        &["audit"],
        &["lower"],
    ] {
        let ran = podreach(&[asked, &input].concat());
        assert_ne!(ran.exit, 2, "{asked:?}: {}", ran.err);
        outputs.push((format!("live {asked:?}"), ran.out + &ran.err));
    }
    let snapshot = podreach(&["snapshot", "--server", &address, "-o", "-"]);
    assert_eq!(snapshot.exit, 0, "{}", snapshot.err);
    outputs.push(("live snapshot".into(), snapshot.out + &snapshot.err));
    let replayed = podreach(&["replay", &proof, "--dry-run", "--server", &address]);
    outputs.push(("live replay".into(), replayed.out + &replayed.err));
    outputs
}

/// Whether a file, its snapshot and its snapshot under other names have as many cells of each verdict; `None` if it cannot be read.
pub(crate) fn answers_alike(file: &str) -> Option<bool> {
    let [kept, renamed] = ["alike.json", "alike-renamed.json"].map(scratch);
    let counts = |file: &str| {
        let ran = podreach(&["matrix", "-q", "-o", "json", "--timeout", "60s", "-f", file]);
        let matrix: Value = serde_json::from_str(&ran.out).ok()?;
        let mut counts = BTreeMap::<String, usize>::new();
        for (_, verdict) in verdicts(&matrix, &BTreeMap::new()) {
            *counts.entry(verdict).or_default() += 1;
        }
        Some(counts)
    };
    let original = counts(file)?;
    podreach(&["snapshot", "-q", "-f", file, "-o", &kept]);
    podreach(&["snapshot", "-q", "-f", file, "-o", &renamed, "--pseudonymise"]);
    Some(counts(&kept).as_ref() == Some(&original) && counts(&renamed) == Some(original))
}
