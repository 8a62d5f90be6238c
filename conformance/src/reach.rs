//! Deployability beside exhaustive search with the real filters: every pod type on every node.

use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::engine::{Budget, Decider, Decision};
use podreach::lower::Release;
use podreach::question;
use podreach_core::{Goal, Model, Problem, Reason, Semantics, Verdict};
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
    let problem = Problem { kept: Arc::new(kept), ..Problem::new(Arc::clone(&model), start, Goal::default()) };
    let (mut decider, mut oracle) = (Decider::new(&problem), Oracle::new(&problem, &lowered.diagnostics));
    let mut differences = Vec::new();
    for (name, pod) in types(doc, real) {
        let differ = |node: &str, said: String| Difference { plugin: name.clone(), node: node.to_owned(), said };
        let id = match question::pod(model.cluster(), &name_of(doc, name, pod)) {
            Ok(id) => id,
            Err(error) => {
                differences.push(differ("", error.to_string()));
                continue;
            }
        };
        let listed = real["deployable"][name].as_array().map_or(&[][..], Vec::as_slice);
        for node in model.nodes() {
            // Pods that wait for a node are a type of their own under the name that is asked for.
            let asked = question::asking(&problem, Goal::atom((id, node)));
            let goal = asked.map_or_else(|_| Goal::atom((id, node)), |asked| asked.goal);
            let ours = decider.decide(&goal, &Budget::unlimited()).checked.answer();
            let node = model.node_name(node);
            let reached = listed.iter().any(|listed| listed == node);
            tally.triples += 1;
            if ours == Some(reached) {
                tally.count("_deployable", reached);
            } else if ours == Some(true)
                && is_let_in_once(&oracle.answer(&oracle.problem().asking(&goal), &Budget::unlimited()))
            {
                tally.excuse("let in once", "_deployable accepts");
            } else {
                differences.push(differ(node, format!("podreach {ours:?}, real {reached}")));
            }
        }
    }
    differences
}

/// Whether a run was not believed because of pods that wait: each is bound once, and quotas charge it until then.
fn is_let_in_once(decision: &Decision) -> bool {
    let Verdict::Unknown(Reason::Spoiled { by, .. }) = decision.checked.verdict() else { return false };
    matches!(by.as_slice(), [only] if only.contains("wait for a node"))
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
fn name_of(doc: &Value, name: &str, pod: &Value) -> String {
    let runs = doc["pods"].as_array().is_some_and(|pods| pods.contains(pod));
    if !runs {
        return document::type_name(doc, name, pod);
    }
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or("default");
    format!("pod/{}/{}", text("namespace"), text("name"))
}
