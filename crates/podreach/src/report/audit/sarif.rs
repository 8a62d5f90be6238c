//! The outcome as SARIF 2.1.0, for code scanning.
//!
//! What holds is left out: code scanning shows what is wrong. Paths are as they were given, so that they are relative to the
//! repository when the command runs in it.

use std::collections::BTreeMap;

use podreach_core::{Action, Model, Verdict};
use serde_json::{Map, Value, json};

use super::{AuditReport, shown};
use crate::audit::{Entry, Item, Origin, Severity, Standing, Status, finding};
use crate::read::Place;
use crate::report::explain::assumption;
use crate::words;

/// The most steps of a run that a code flow shows, and the most results: more is refused by those who read it.
const STEPS: usize = 1_000;
const RESULTS: usize = 25_000;

/// The SARIF log of audits, a run for each.
pub fn sarif(audits: &[AuditReport<'_>]) -> Value {
    let runs = audits.iter().map(|audit| {
        let mut run = run(audit);
        if audits.len() > 1 {
            // Code scanning keeps the results of runs apart by this.
            run["automationDetails"] = json!({"id": format!("podreach/{}/", audit.semantics.name())});
        }
        run
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs.collect::<Vec<_>>(),
    })
}

fn run(audit: &AuditReport<'_>) -> Value {
    let wrong: Vec<&Entry> =
        audit.outcome.entries.iter().filter(|entry| entry.item.status != Status::Holds).take(RESULTS).collect();
    let mut rules = BTreeMap::<String, &Item>::new();
    for entry in &wrong {
        rules.entry(entry.item.origin.id()).or_insert(&entry.item);
    }
    let results = wrong.iter().map(|entry| {
        let id = entry.item.origin.id();
        result(audit, entry, rules.keys().position(|other| *other == id).unwrap_or(0))
    });
    let results: Vec<Value> = results.collect();
    json!({
        "tool": {"driver": {
            "name": "podreach",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(|(id, item)| rule(id, item)).collect::<Vec<_>>(),
        }},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"assumptions": assumption::json(audit.assumptions.iter())},
    })
}

fn rule(id: &str, item: &Item) -> Value {
    let known = match item.origin {
        Origin::Finding(code) => finding::find(code),
        Origin::Rule { .. } => None,
    };
    let (title, why, fix, usual) = match known {
        Some(finding) => (finding.title, finding.explanation, finding.fix, finding.severity),
        None => {
            ("placement policy", "A rule of a placement policy of this repository.", "See the result.", item.severity)
        }
    };
    json!({
        "id": id,
        "name": id.replace(['/', '-', '.'], "_"),
        "shortDescription": {"text": title},
        "fullDescription": {"text": why},
        "help": {"text": format!("{why}\n\nFix: {fix}")},
        "defaultConfiguration": {"level": level(usual)},
        "properties": {"tags": ["kubernetes", "scheduling"]},
    })
}

fn level(severity: Severity) -> &'static str {
    super::severity(severity)
}

fn result(audit: &AuditReport<'_>, Entry { item, standing }: &Entry, index: usize) -> Value {
    let mut result = Map::new();
    let mut add = |key: &str, value: Value| drop(result.insert(key.into(), value));
    add("ruleId", item.origin.id().into());
    add("ruleIndex", index.into());
    let undecided = item.status == Status::Undecided;
    add("kind", if undecided { "open" } else { "fail" }.into());
    add("level", if undecided { "none" } else { level(item.severity) }.into());
    let mut text = vec![item.message.clone()];
    text.extend(item.explanation.iter().cloned());
    text.extend(item.fix.iter().map(|fix| format!("Fix: {fix}")));
    text.extend(item.evidence.iter().map(|evidence| format!("Evidence: {}.", shown(evidence))));
    add("message", json!({"text": text.join("\n")}));
    add("locations", locations(audit, item).into());
    add("partialFingerprints", json!({"podreach/v1": item.fingerprint()}));
    let flows = flows(audit, item);
    if !flows.is_empty() {
        add("codeFlows", flows.into());
    }
    match standing {
        Standing::Excepted(reason) => {
            add("suppressions", json!([{"kind": "inSource", "justification": reason}]));
        }
        Standing::Known => add("baselineState", "unchanged".into()),
        Standing::Counts if audit.outcome.compared => add("baselineState", "new".into()),
        Standing::Counts => {}
    }
    result.into()
}

/// Where an item is shown; one that is about the whole input is shown where that begins.
fn locations(audit: &AuditReport<'_>, item: &Item) -> Vec<Value> {
    let first =
        || audit.sources.ids().next().and_then(|id| audit.sources.source(id)).map(|source| source.name.as_str());
    let place = audit.place(item.span);
    let physical = match place {
        Some(place) => physical(&place),
        None => first()
            .filter(|name| is_file(name))
            .map(|name| json!({"artifactLocation": {"uri": uri(name)}, "region": {"startLine": 1}})),
    };
    let logical: Vec<Value> = item.subject.iter().map(|name| json!({"fullyQualifiedName": name})).collect();
    let mut location = Map::new();
    location.extend(physical.map(|physical| ("physicalLocation".to_owned(), physical)));
    if !logical.is_empty() {
        location.insert("logicalLocations".into(), logical.into());
    }
    if location.is_empty() { Vec::new() } else { vec![location.into()] }
}

fn physical(place: &Place<'_>) -> Option<Value> {
    is_file(place.name).then(|| {
        json!({
            "artifactLocation": {"uri": uri(place.name)},
            "region": {"startLine": place.line, "startColumn": place.column},
        })
    })
}

fn is_file(name: &str) -> bool {
    !name.starts_with('<')
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.strip_prefix("./").unwrap_or(path).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The runs among the evidence, step by step.
fn flows(audit: &AuditReport<'_>, item: &Item) -> Vec<Value> {
    let physical = audit.place(item.span).and_then(|place| physical(&place));
    let mut flows = Vec::new();
    for evidence in &item.evidence {
        let Verdict::Deployable(trace) = evidence.decision.checked.verdict() else { continue };
        let m = &evidence.problem().model;
        let steps: Vec<Value> = trace.iter().take(STEPS).map(|action| step(m, &physical, action)).collect();
        if !steps.is_empty() {
            flows.push(json!({"message": {"text": evidence.shows}, "threadFlows": [{"locations": steps}]}));
        }
    }
    flows
}

/// A step of a run, at the place that the finding is about.
fn step(m: &Model, physical: &Option<Value>, action: Action) -> Value {
    let text = words::step(m, action);
    let mut location = Map::new();
    location.insert("message".into(), json!({"text": text}));
    location.extend(physical.iter().map(|physical| ("physicalLocation".to_owned(), physical.clone())));
    json!({"location": location})
}
