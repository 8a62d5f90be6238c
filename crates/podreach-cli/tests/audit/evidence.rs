//! The evidence of an audit is proved, piece by piece, and none is once it is damaged.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{audit, folder, json, text};

/// The evidence of a document, what holds rules up included.
fn pieces(report: &Value) -> Vec<&Value> {
    let items = report["items"].as_array().expect("items").iter();
    items
        .flat_map(|item| {
            let escapes =
                item["boundary"]["escapes"].as_array().into_iter().flatten().map(|escape| &escape["evidence"]);
            item["evidence"].as_array().into_iter().flatten().chain(escapes)
        })
        .filter(|piece| !piece.is_null())
        .collect()
}

fn verify(folder: &Path, report: &Value) -> Output {
    fs::write(folder.join("report.json"), report.to_string()).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(folder).args(["verify", "-f", "broken-workloads.yaml", "report.json"]);
    command.output().expect("the command runs")
}

/// A report with one piece of evidence.
fn alone(piece: &Value) -> Value {
    serde_json::json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "AuditReport", "items": [{"evidence": [piece]}]})
}

#[test]
fn every_piece_of_evidence_is_proved_and_no_damaged_one_is() {
    let folder = folder("verify");
    let cluster = fs::read_to_string(folder.join("broken-workloads.yaml")).expect("the manifest");
    fs::write(folder.join("broken-workloads.yaml"), format!("{cluster}---\n{}---\n{}", crowd("one"), crowd("other")))
        .expect("a writable folder");
    fs::write(folder.join("crowd.yaml"), CROWD).expect("a writable folder");
    let args = ["policy.yaml", "crowd.yaml", "-f", "broken-workloads.yaml", "--semantics", "both", "-o", "json"];
    let both = json(&audit(&folder, &args));
    let verified = verify(&folder, &both);
    assert_eq!(verified.status.code(), Some(0), "{}{}", text(&verified), String::from_utf8_lossy(&verified.stderr));
    let report = &both["items"][0];
    let all = both["items"].as_array().expect("two reports").iter().flat_map(pieces).collect::<Vec<_>>();
    let count = |word: &str| text(&verified).lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(count("PROVED"), all.len());
    let elsewhere = all.iter().find(|piece| !piece["changed"].is_null()).expect("a single edit");
    let mut unsaid = alone(elsewhere);
    unsaid["items"][0]["evidence"][0].as_object_mut().expect("a piece").remove("changes");
    assert_eq!(verify(&folder, &unsaid).status.code(), Some(3), "nothing is proved where nothing is looked at");
    let mut nothing = alone(elsewhere);
    nothing["items"] = Value::Array(Vec::new());
    let nothing = verify(&folder, &nothing);
    assert_eq!((nothing.status.code(), text(&nothing).starts_with("NOTHING TO VERIFY")), (Some(3), true));
    let mut damaged = std::collections::BTreeMap::<&str, usize>::new();
    for piece in pieces(report) {
        for (kind, broken) in damages(piece) {
            let refused = verify(&folder, &alone(&broken));
            let said = text(&refused) + &String::from_utf8_lossy(&refused.stderr);
            assert!(matches!(refused.status.code(), Some(1 | 2)), "{kind}: {said}\n{broken:#}");
            *damaged.entry(kind).or_default() += 1;
        }
    }
    let kinds: Vec<&str> = damaged.keys().copied().collect();
    let all = ["cover", "demand", "facts", "laws", "more changes", "steps", "times", "unchanged", "worth"];
    assert_eq!(kinds, all, "{damaged:?}");
}

/// A workload that fits by itself, and not beside another like it.
fn crowd(name: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: crowd}}, spec: {{replicas: 4, selector: \
         {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: main, \
         image: main, resources: {{requests: {{cpu: 2}}}}}}]}}}}}}}}\n"
    )
}

const CROWD: &str = "
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: crowd}
spec:
  rules:
  - {name: together, recoverable: {pods: {namespaces: [crowd]}}}
";

/// The same evidence with something missing, as far as it has that.
fn damages(piece: &Value) -> Vec<(&'static str, Value)> {
    let changed = |kind, change: &dyn Fn(&mut Value)| {
        let mut other = piece.clone();
        change(&mut other);
        (kind, other)
    };
    let mut found = Vec::new();
    if piece["trace"].as_array().is_some_and(|steps| !steps.is_empty()) {
        found.push(changed("steps", &|other| drop(other["trace"].as_array_mut().map(Vec::pop))));
    }
    if piece["proof"]["forbidden"].as_array().is_some_and(|facts| !facts.is_empty()) {
        found.push(changed("facts", &|other| other["proof"]["forbidden"] = serde_json::json!([])));
    }
    if piece["changes"].as_array().is_some_and(|changes| !changes.is_empty()) {
        found.push(changed("unchanged", &|other| drop(other["changes"].as_array_mut().map(|all| all.remove(0)))));
        found.push(changed("more changes", &|other| other["changes"][0]["more"] = true.into()));
    }
    if piece["shortage"].is_null() {
        return found;
    }
    found.push(changed("demand", &|other| {
        let wants = other["shortage"]["demand"].as_array_mut().into_iter().flatten();
        wants.for_each(|want| want["count"] = 0.into());
    }));
    if piece["shortage"]["argument"] == "cover" {
        found.push(changed("cover", &|other| {
            other["question"] = serde_json::json!({"semantics": "kube-scheduler", "start": "empty", "anyOf": []});
        }));
        return found;
    }
    found.push(changed("worth", &|other| {
        let worth = other["shortage"]["worth"].as_array_mut().into_iter().flatten();
        worth.for_each(|worth| *worth = "0".into());
    }));
    // A pod that fits nowhere even by itself needs no other inequality.
    let laws = piece["shortage"]["laws"].as_array().expect("a sum has laws");
    if laws.iter().any(|law| law["law"] != "below") {
        found.push(changed("laws", &|other| other["shortage"]["laws"] = serde_json::json!([])));
        found.push(changed("times", &|other| {
            let laws = other["shortage"]["laws"].as_array_mut().into_iter().flatten();
            laws.for_each(|law| law["times"] = "0".into());
        }));
    }
    found
}
