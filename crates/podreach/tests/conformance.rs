//! The recorded kube-scheduler: our reading of Kubernetes differs from it nowhere.
//!
//! Every recorded cluster is lowered as a user's would be, and every rule is asked about every node.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use podreach::diagnostic::Effect;
use podreach::engine::{Budget, Decider};
use podreach::lower::{self, Lowered, Options, Release};
use podreach::question;
use podreach::read::{SourceId, documents_of_json};
use podreach_core::rule::{self, Rule};
use podreach_core::{Action, Configuration, Goal, Model, Problem, Semantics};
use serde_json::{Value, json};

/// The filters of kube-scheduler: every rule that is not ours alone.
fn filters() -> impl Iterator<Item = Rule> {
    Rule::ALL.into_iter().filter(|rule| !matches!(rule, Rule::ResourceQuota | Rule::InstanceLimit))
}

/// What the API server would refuse and the recording has all the same: two spread constraints on one key, `minDomains` on a soft
/// one, label keys without a selector, tolerations without a key that are not `Exists`.
const BEYOND_THE_API: [&str; 3] = ["E0217", "E0220", "E0221"];

fn rows(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/conformance").join(file);
    let mut text = String::new();
    let packed = std::fs::File::open(path).expect("the recording is there");
    GzDecoder::new(packed).read_to_string(&mut text).expect("the recording is gzip");
    text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}

/// What a recording may hold, with the kind and the apiVersion of each.
const PARTS: [(&str, &str, &str); 8] = [
    ("nodes", "Node", "v1"),
    ("namespaces", "Namespace", "v1"),
    ("pods", "Pod", "v1"),
    ("pvcs", "PersistentVolumeClaim", "v1"),
    ("pvs", "PersistentVolume", "v1"),
    ("storageClasses", "StorageClass", "storage.k8s.io/v1"),
    ("csiNodes", "CSINode", "storage.k8s.io/v1"),
    ("csiDrivers", "CSIDriver", "storage.k8s.io/v1"),
];

/// The objects of one kind as a list, which says that there are no others.
fn list(doc: &Value, (field, kind, version): (&str, &str, &str)) -> Value {
    let items = doc[field].as_array().cloned().unwrap_or_default();
    json!({"apiVersion": version, "kind": format!("{kind}List"), "items": items})
}

/// A pod that is yet to be placed, as a template: the node it may name is a wish and not where it runs.
fn template(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    json!({
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "template": {"metadata": {"labels": metadata["labels"]}, "spec": pod["spec"]},
    })
}

/// A recorded cluster as documents: pods were placed without admission, so they carry no labels of their nodes.
fn lowered(doc: &Value, templates: Vec<Value>) -> Lowered {
    let items: Vec<Value> = PARTS.iter().map(|&part| list(doc, part)).chain(templates).collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let (documents, problems) = documents_of_json(SourceId(0), &text);
    assert_eq!(problems, []);
    let admission = doc["admit"] == json!(true);
    let options = Options { release: Release { minor: 34 }, admission, ..Options::default() };
    let lowered = lower::cluster(&documents, &options);
    let refused =
        |d: &&podreach::diagnostic::Diagnostic| d.effect == Effect::Stops && !BEYOND_THE_API.contains(&d.code);
    assert_eq!(lowered.diagnostics.iter().find(refused), None, "{text}");
    lowered
}

fn passes(answer: &Value) -> bool {
    answer == &json!(true) || answer == &json!("ok")
}

/// Compares every rule on every node; returns how many verdicts were compared and the differences.
fn differences(row: &Value) -> (usize, Vec<String>) {
    let lowered = lowered(&row["doc"], vec![template(&row["doc"]["incoming"])]);
    let namespace = row["doc"]["incoming"]["metadata"]["namespace"].as_str().expect("a namespace");
    let pod = question::pod(&lowered.cluster, &format!("podtemplate/{namespace}/x")).expect("the incoming pod");
    let model = Model::new(lowered.cluster, Semantics::KubeScheduler);
    let mut differences = Vec::new();
    let mut compared = 0;
    for node in model.nodes() {
        let real = &row["real"][model.node_name(node)];
        for rule in filters() {
            let ours = rule.refusal(&model, &lowered.start, pod, node);
            compared += 1;
            if ours.is_none() != passes(&real[rule.name()]) {
                let name = (rule.name(), model.node_name(node));
                differences.push(format!("{name:?}: {ours:?}, but {}", real[rule.name()]));
            }
        }
        let known = |plugin: &String| plugin == "_verdict" || filters().any(|rule| rule.name() == plugin);
        assert!(real.as_object().expect("answers by plugin").keys().all(known), "a filter is not modelled: {real}");
        compared += 1;
        if rule::hard(&model, &lowered.start, pod, node) != passes(&real["_verdict"]) {
            differences.push(format!("{}: {}", model.node_name(node), real["_verdict"]));
        }
    }
    (compared, differences)
}

fn check(rows: &[Value]) -> usize {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let (count, differences) = differences(row);
        compared += count;
        if !differences.is_empty() {
            wrong.push(format!("row {at} {}: {differences:#?}\n{}", row["name"], row["doc"]));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ, the first: {}", wrong.len(), wrong[0]);
    compared
}

#[test]
fn hand_made_cases_agree() {
    let rows = rows("table.jsonl.gz");
    assert_eq!(rows.len(), 108);
    assert!(check(&rows) > 1000);
}

#[test]
fn volume_plugins_refuse_something() {
    let volumes = [Rule::VolumeRestrictions, Rule::NodeVolumeLimits, Rule::VolumeBinding, Rule::VolumeZone];
    for rule in volumes {
        let refuses = |row: &Value| {
            let verdicts = row["real"].as_object().expect("answers by node").values();
            verdicts.into_iter().any(|real| !passes(&real[rule.name()]))
        };
        assert!(rows("table.jsonl.gz").iter().any(refuses), "{}", rule.name());
    }
}

#[test]
fn random_clusters_agree() {
    let rows = rows("oneshot.jsonl.gz");
    assert_eq!(rows.len(), 4500);
    assert!(check(&rows) > 140_000);
}

#[test]
fn recorded_runs_are_runs() {
    let mut steps = 0;
    for row in rows("reach.jsonl.gz") {
        let types = row["doc"]["types"].as_object().expect("pod types by name");
        let lowered = lowered(&row["doc"], types.values().map(template).collect());
        let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
        for (pod, runs) in row["real"]["witness"].as_object().into_iter().flatten() {
            for (node, run) in runs.as_object().into_iter().flatten() {
                steps += replay(&model, pod, node, run);
            }
        }
    }
    assert_eq!(steps, 2907);
}

fn replay(model: &Arc<Model>, pod: &str, node: &str, run: &Value) -> usize {
    let id = |pod: &str| question::pod(model.cluster(), &format!("podtemplate/default/{pod}")).expect("a type");
    let at = |node: &str| question::node(model.cluster(), node).expect("a node");
    let goal = Goal::atom((id(pod), at(node)));
    let problem = Problem::new(Arc::clone(model), Configuration::new(), goal.clone());
    let mut s = Configuration::new();
    let run = run.as_array().expect("a run is a list");
    for step in run {
        let node = at(step["node"].as_str().expect("a node"));
        let action = match (step["deploy"].as_str(), step["delete"].as_str()) {
            (Some(pod), _) => Action::Deploy(id(pod), node),
            (_, Some(pod)) => Action::Delete(id(pod), node),
            _ => panic!("a step deploys or deletes: {step}"),
        };
        assert_eq!(problem.step(&mut s, action), Ok(()), "{run:?}");
    }
    assert!(goal.is_met_by(&s), "{run:?}");
    run.len()
}

#[test]
fn decisions_equal_exhaustive_search_with_the_real_filters() {
    let (mut deployable, mut never) = (0, 0);
    for row in rows("reach.jsonl.gz") {
        let types = row["doc"]["types"].as_object().expect("pod types by name");
        let lowered = lowered(&row["doc"], types.values().map(template).collect());
        let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
        let mut decider = Decider::new(&Problem::new(Arc::clone(&model), Configuration::new(), Goal::default()));
        for name in types.keys() {
            let pod = question::pod(model.cluster(), &format!("podtemplate/default/{name}")).expect("a type");
            let listed = row["real"]["deployable"][name].as_array().expect("nodes");
            for node in model.nodes() {
                let decision = decider.decide(&Goal::atom((pod, node)), &Budget::unlimited());
                let real = listed.iter().any(|listed| listed == model.node_name(node));
                assert_eq!(
                    decision.checked.answer(),
                    Some(real),
                    "{name} on {}: {}",
                    model.node_name(node),
                    row["doc"]
                );
                *if real { &mut deployable } else { &mut never } += 1;
            }
        }
    }
    assert!(deployable > 1000 && never > 100, "both answers occur: {deployable} deployable, {never} never");
}
