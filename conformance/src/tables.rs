//! The tables of the upstream unit tests, as documents.
//!
//! `tables/export` notes every question that the tests of the plugins ask a filter. A question becomes a document if it can be said as
//! objects: names are filled in where a test left them out, and the real filters must give the document the answer that the test saw.
//! What depends on feature gates, plugin arguments or a state that no objects describe does not, and is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::Path;

use podreach::lower::Release;
use serde_json::{Map, Value, json};

use crate::compare::passes;
use crate::document;
use crate::real::Real;

/// What became of the questions to one plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Distinct questions.
    pub asked: usize,
    /// Of these, answered otherwise when asked with the defaults of a release, or not at all.
    pub other: usize,
    /// Of these, refused by podreach as no valid objects, by the code of the refusal.
    pub refused: BTreeMap<&'static str, usize>,
    /// The questions that are recorded; several may be about one document.
    pub kept: usize,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, other, refused, kept } = self;
        write!(f, "{asked} asked, {kept} recorded, {other} answered otherwise by default")?;
        refused.iter().try_for_each(|(code, times)| write!(f, ", {times} refused ({code})"))
    }
}

/// The rows for recording, from the lines that the tests left, and what became of the questions by plugin.
pub fn rows(lines: &Path, program: &Path, release: Release) -> io::Result<(Vec<Value>, BTreeMap<String, Fate>)> {
    let text = std::fs::read_to_string(lines)?;
    let mut seen = BTreeSet::new();
    let mut questions = Vec::new();
    for line in text.lines() {
        let question: Value = serde_json::from_str(line).map_err(io::Error::other)?;
        let normal = renamed(normal(question));
        if seen.insert(normal.to_string()) {
            questions.push(normal);
        }
    }
    let docs: Vec<Value> = questions.iter().map(|question| question["doc"].clone()).collect();
    let answers = Real::start(program)?.ask(&docs)?;
    let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
    let (mut rows, mut kept) = (Vec::new(), BTreeSet::new());
    for (question, answer) in questions.iter().zip(&answers) {
        let fate = fates.entry(question["plugin"].as_str().unwrap_or_default().to_owned()).or_default();
        fate.asked += 1;
        if !agrees(question, answer) {
            fate.other += 1;
            continue;
        }
        if let Some(refusal) = document::refusal(&document::lowered(&question["doc"], release), &[]) {
            *fate.refused.entry(refusal.code).or_default() += 1;
            continue;
        }
        fate.kept += 1;
        if kept.insert(question["doc"].to_string()) {
            rows.push(json!({"name": question["plugin"], "doc": question["doc"]}));
        }
    }
    Ok((rows, fates))
}

/// Whether the real filters, asked about the document, say what the test saw.
fn agrees(question: &Value, answer: &Value) -> bool {
    let plugin = question["plugin"].as_str().unwrap_or_default();
    let Some(nodes) = answer.as_object().filter(|answer| !answer.contains_key("error")) else { return false };
    let same = |node: &Value| node.get(plugin).is_some_and(|answer| question["ok"] == passes(answer));
    match question["node"].as_str() {
        Some(node) => nodes.get(node).is_some_and(same),
        None => nodes.values().all(same),
    }
}

/// The question with a name for everything that needs one.
fn normal(mut question: Value) -> Value {
    let doc = &mut question["doc"];
    if let Some(fields) = doc.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let lists = document::LISTS.map(|(field, _, _)| field);
    for field in lists {
        let objects = doc.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        let mut names = BTreeSet::new();
        for (at, object) in objects.enumerate() {
            let spaced = ["pods", "pvcs", "csiStorageCapacities", "resourceClaims"].contains(&field);
            name(object, &format!("{}{at}", &field[..1]), spaced);
            let full = format!("{}/{}", object["metadata"]["namespace"], object["metadata"]["name"]);
            if !names.insert(full) {
                object["metadata"]["name"] = json!(format!("{}{at}", &field[..1]));
            }
            if field == "pods" {
                fill(object);
            }
            // A class without a provisioner makes no volumes, and says so by this name.
            if field == "storageClasses" && object["provisioner"].as_str().is_none_or(str::is_empty) {
                object["provisioner"] = json!("kubernetes.io/no-provisioner");
            }
            let status = &object["status"];
            if field == "nodes" && status.get("allocatable").is_none() && status.get("capacity").is_none() {
                object["status"]["allocatable"] = json!({"pods": "110"});
            }
        }
    }
    name(&mut doc["incoming"], "x", true);
    fill(&mut doc["incoming"]);
    let clash =
        |pod: &Value| ["name", "namespace"].iter().all(|f| pod["metadata"][f] == doc["incoming"]["metadata"][f]);
    if doc["pods"].as_array().is_some_and(|pods| pods.iter().any(clash)) {
        doc["incoming"]["metadata"]["name"] = json!("incoming");
    }
    if let Some(question) = question.as_object_mut() {
        question.sort_keys();
    }
    question
}

/// The question with names as the API server takes them, wherever they stand.
fn renamed(mut question: Value) -> Value {
    let mut names = BTreeMap::new();
    for (field, _, _) in document::LISTS {
        for object in question["doc"][field].as_array().into_iter().flatten() {
            note(object, field == "namespaces", &mut names);
        }
    }
    note(&question["doc"]["incoming"], false, &mut names);
    rename(&mut question, &names);
    question
}

/// Notes the names of an object that must be others; those of namespaces have no dots.
fn note(object: &Value, is_namespace: bool, names: &mut BTreeMap<String, String>) {
    for (field, dots) in [("name", is_namespace), ("namespace", true)] {
        let name = object["metadata"][field].as_str().unwrap_or_default();
        let mut valid = name.to_lowercase().replace(['_', '/'], "-");
        if dots {
            valid = valid.replace('.', "-");
        }
        if valid != name {
            names.insert(name.to_owned(), valid);
        }
    }
}

fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(valid) = names.get(text) {
                text.clone_from(valid);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Value::Object(map) => map.values_mut().for_each(|value| rename(value, names)),
        _ => {}
    }
}

fn name(object: &mut Value, fallback: &str, spaced: bool) {
    if !object["metadata"].is_object() {
        object["metadata"] = Map::new().into();
    }
    let metadata = &mut object["metadata"];
    let is_empty = |value: &Value| value.as_str().is_none_or(str::is_empty);
    if is_empty(&metadata["name"]) {
        metadata["name"] = json!(fallback);
    }
    if spaced && is_empty(&metadata["namespace"]) {
        metadata["namespace"] = json!("default");
    }
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.retain(|_, value| !value.is_null());
    }
}

/// A pod needs a container, and containers and volumes need names.
fn fill(pod: &mut Value) {
    let volumes = pod["spec"].get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten();
    for (at, volume) in volumes.enumerate() {
        if volume["name"].as_str().is_none_or(str::is_empty) {
            volume["name"] = json!(format!("v{at}"));
        }
    }
    for field in ["containers", "initContainers"] {
        let containers = pod["spec"].get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        for (at, container) in containers.enumerate() {
            if container["name"].as_str().is_none_or(str::is_empty) {
                container["name"] = json!(format!("{}{at}", &field[..1]));
            }
            // A request for pods is nothing that a container can make, and no filter looks at it.
            for amounts in ["requests", "limits"] {
                if let Some(amounts) = container["resources"].get_mut(amounts).and_then(Value::as_object_mut) {
                    amounts.remove("pods");
                }
            }
            for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                if port["containerPort"].as_u64().is_none_or(|number| number == 0) {
                    port["containerPort"] = if port["hostPort"].is_u64() { port["hostPort"].clone() } else { json!(1) };
                }
            }
        }
    }
    if pod["spec"]["containers"].as_array().is_none_or(Vec::is_empty) {
        pod["spec"]["containers"] = json!([{"name": "c", "image": "i"}]);
    }
}
