//! Deployability beside exhaustive search with the real filters: every pod type on every node.

use std::sync::Arc;

use podreach::engine::{Budget, Decider};
use podreach::lower::Release;
use podreach::question;
use podreach_core::cluster::Barred;
use podreach_core::{Goal, Model, Problem, Semantics};
use serde_json::Value;

use crate::compare::{Difference, Tally};
use crate::document;

/// Compares the deployability matrix of a document with what the search found, which must have been complete.
pub fn differences(doc: &Value, real: &Value, release: Release, tally: &mut Tally) -> Vec<Difference> {
    let lowered = document::lowered(doc, release);
    // Without phases, the pods of a document stay.
    let moves = doc["reach"]["phases"] == true;
    let (start, kept) = (lowered.start.clone(), if moves { lowered.kept } else { lowered.start });
    let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
    // The real side admits pods and does not ask whether they are valid after that.
    if model.pods().any(|pod| matches!(model.pod(pod).barred, Some(Barred::Invalid(_)))) {
        return Vec::new();
    }
    let problem = Problem { kept: Arc::new(kept), ..Problem::new(Arc::clone(&model), start, Goal::default()) };
    let mut decider = Decider::new(&problem);
    let mut differences = Vec::new();
    for (name, pod) in types(doc, real) {
        let differ = |node: &str, said: String| Difference { plugin: name.clone(), node: node.to_owned(), said };
        let id = match question::pod(model.cluster(), &name_of(doc, pod)) {
            Ok(id) => id,
            Err(error) => {
                differences.push(differ("", error.to_string()));
                continue;
            }
        };
        let listed = real["deployable"][name].as_array().map_or(&[][..], Vec::as_slice);
        for node in model.nodes() {
            let decision = decider.decide(&Goal::atom((id, node)), &Budget::unlimited());
            let (ours, node) = (decision.checked.answer(), model.node_name(node));
            let reached = listed.iter().any(|listed| listed == node);
            tally.triples += 1;
            tally.count("_deployable", reached);
            if ours != Some(reached) {
                differences.push(differ(node, format!("podreach {ours:?}, real {reached}")));
            }
        }
    }
    differences
}

/// The pods that the search was about: the types of the document, and its pods that may be made again.
fn types<'d>(doc: &'d Value, real: &'d Value) -> impl Iterator<Item = (&'d String, &'d Value)> {
    let asked = real["deployable"].as_object().into_iter().flatten().map(|(name, _)| name);
    let pods = doc["pods"].as_array().map_or(&[][..], Vec::as_slice);
    let found = |name: &'d String| {
        let resident = || pods.iter().find(|pod| pod["metadata"]["name"] == name.as_str());
        Some((name, doc["types"].get(name).or_else(resident)?))
    };
    asked.filter_map(found)
}

/// The name that podreach has for a pod of the document.
fn name_of(doc: &Value, pod: &Value) -> String {
    let runs = doc["pods"].as_array().is_some_and(|pods| pods.contains(pod));
    if !runs {
        return document::full_name(pod);
    }
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or("default");
    format!("pod/{}/{}", text("namespace"), text("name"))
}
