//! Audits of the marked cluster against whoever could do more than its workloads, their evidence verified, and evidence exported.

use serde_json::Value;

use super::cluster::Marked;
use super::run::{podreach, read, scratch};

/// Rules of each kind: some hold, some are broken as the cluster is, some only by an actor.
const RULES: &str = "apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: boundary}
spec:
  rules:
  - {name: far, never: {pods: {names: [far]}, nodes: {names: [n1]}}}
  - {name: web, never: {pods: {names: [web]}, nodes: {names: [n2]}}}
  - {name: apart, neverTogether: {pods: [{matchLabels: {app: web}}, {matchLabels: {app: far}}], topologyKey: zone}}
  - {name: both, possible: {pods: {names: [web]}, count: 2}}
  - {name: again, recoverable: {pods: {names: [web]}}}
";

const ACTORS: [&str; 4] = ["as-is", "tenant=shop", "tenant-no-tolerations=shop", "node-compromise=n1"];

/// The options by which the cluster is read.
fn input(marked: &Marked) -> [&str; 5] {
    ["-f", marked.file.as_str(), "--complete", "pods", "--assume-admission-keeps-pods"]
}

/// Everything that is printed and written about rules against actors.
pub(crate) fn outputs(marked: &Marked) -> Vec<(String, String)> {
    let (rules, page) = (scratch("rules.yaml"), scratch("actors.html"));
    std::fs::write(&rules, RULES).expect("it can be written");
    let (mut outputs, mut changes) = (Vec::new(), 0);
    for actor in ACTORS {
        let asked = ["audit", rules.as_str(), "-v", "--actor", actor];
        for format in ["text", "json", "yaml", "markdown", "sarif", "junit", "github"] {
            let ran = podreach(&[&asked[..], &input(marked), &["-o", format]].concat());
            assert_ne!(ran.exit, 2, "{actor} {format}: {}", ran.err);
            if format == "json" {
                let document: Value = serde_json::from_str(&ran.out).expect("JSON");
                changes += count(&document, "changes");
                outputs.extend(verified(marked, actor, &ran.out));
            }
            outputs.push((format!("audit {actor} {format}"), ran.out + &ran.err));
        }
        let ran = podreach(&[&["report"], &asked[..2], &asked[3..], &input(marked), &["--output", &page]].concat());
        assert_ne!(ran.exit, 2, "report {actor}: {}", ran.err);
        outputs.push((format!("report audit {actor}"), read(&page) + &ran.out + &ran.err));
    }
    assert!(changes > 3, "{changes} pieces of evidence are about changed clusters");
    outputs
}

/// How many fields of a document have a name, wherever they are, and something in them.
fn count(value: &Value, name: &str) -> usize {
    let is_there = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| usize::from(key == name && is_there(value)) + count(value, name)).sum()
        }
        Value::Array(items) => items.iter().map(|item| count(item, name)).sum(),
        _ => 0,
    }
}

/// What `verify` says of the evidence of an audit, and the evidence as numbers.
fn verified(marked: &Marked, actor: &str, audit: &str) -> Vec<(String, String)> {
    let (document, numbers) = (scratch("actors.json"), scratch("actors.txt"));
    std::fs::write(&document, audit).expect("it can be written");
    let ran = podreach(&["verify", &document, "--export", &numbers, "-f", &marked.file]);
    assert_eq!(ran.exit, 0, "{actor}: {}{}", ran.out, ran.err);
    let exported = read(&numbers);
    assert!(exported.lines().count() > 10, "{actor}: {exported}");
    vec![(format!("verify audit {actor}"), ran.out + &ran.err), (format!("export audit {actor}"), exported)]
}
