//! Deployability beside exhaustive search with the real filters: every pod type on every node.

use std::sync::Arc;

use podreach::engine::{Budget, Decider};
use podreach::lower::Release;
use podreach::question;
use podreach_core::{Configuration, Goal, Model, Problem, Semantics};
use serde_json::Value;

use crate::compare::{Difference, Tally};
use crate::document;

/// Compares the deployability matrix of a document with what the search found, which must have been complete.
pub fn differences(doc: &Value, real: &Value, release: Release, tally: &mut Tally) -> Vec<Difference> {
    let lowered = document::lowered(doc, release);
    let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
    let mut decider = Decider::new(&Problem::new(Arc::clone(&model), Configuration::new(), Goal::default()));
    let mut differences = Vec::new();
    for (name, pod) in doc["types"].as_object().into_iter().flatten() {
        let differ = |node: &str, said: String| Difference { plugin: name.clone(), node: node.to_owned(), said };
        let id = match question::pod(model.cluster(), &document::full_name(pod)) {
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
