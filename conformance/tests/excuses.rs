//! The comparison finds wrong answers: what remarks excuse is little, and never all of a filter.

use std::collections::BTreeMap;

use podreach::lower::Release;
use podreach::question;
use podreach_conformance::compare::{self, Tally};
use podreach_conformance::document;
use podreach_conformance::generate::{self, Shape};
use podreach_core::cluster::Barred;
use podreach_core::random::Rng;
use podreach_core::rule::{self, Rule};
use podreach_core::{Model, Semantics};
use serde_json::{Map, Value, json};

const DOCUMENTS: u64 = 600;

/// What podreach says itself, in the words of the real side; `None` where the pod is refused.
fn answers(doc: &Value, release: Release) -> Option<Value> {
    let lowered = document::lowered(doc, release);
    let pod = question::pod(&lowered.cluster, &document::incoming_name(doc)).ok()?;
    let model = Model::new(lowered.cluster, Semantics::KubeScheduler);
    if matches!(model.pod(pod).barred, Some(Barred::Refused(_) | Barred::Invalid(_))) {
        return None;
    }
    let mut nodes = Map::new();
    for node in model.nodes() {
        let refusal = |rule: Rule| rule.refusal(&model, &lowered.start, pod, node);
        let mut said: Map<String, Value> =
            Rule::ALL.into_iter().map(|rule| (rule.name().to_owned(), json!(refusal(rule).is_none()))).collect();
        said.insert(compare::ADMISSION.into(), json!(model.pod(pod).barred.is_none()));
        said.insert(compare::TOGETHER.into(), json!(rule::hard(&model, &lowered.start, pod, node)));
        nodes.insert(model.node_name(node).to_owned(), said.into());
    }
    Some(nodes.into())
}

#[test]
fn a_wrong_answer_is_found() {
    let release: Release = "1.37".parse().expect("a release");
    let shape = Shape { minor: 37, volumes: true };
    // How often a wrong answer of each plugin was found, and how often it was excused.
    let mut found = BTreeMap::<String, [u64; 2]>::new();
    for seed in 0..DOCUMENTS {
        let doc = generate::cluster(&mut Rng::new(seed), shape);
        if !document::is_settled(&doc) || !document::is_made(&doc) {
            continue;
        }
        let Some(right) = answers(&doc, release) else { continue };
        assert_eq!(compare::differences(&doc, &right, release, &mut Tally::default()), [], "seed {seed}");
        let Some((node, said)) = right.as_object().and_then(|nodes| nodes.iter().next()) else { continue };
        for (plugin, answer) in said.as_object().expect("answers by plugin") {
            let mut wrong = right.clone();
            wrong[node][plugin] = json!(answer != &json!(true));
            let mut tally = Tally::default();
            let differences = compare::differences(&doc, &wrong, release, &mut tally);
            assert_eq!(differences.len() as u64 + tally.excused(), 1, "seed {seed}, {plugin}: {differences:?}");
            found.entry(plugin.clone()).or_default()[usize::from(differences.is_empty())] += 1;
        }
    }
    assert_eq!(found.len(), Rule::ALL.len() + 2, "every plugin was asked: {found:?}");
    for (plugin, [caught, excused]) in found {
        // Profiles that run a part of a plugin are one document in some thirty, and volumes and devices are more often in doubt.
        assert!(caught > 5 * excused, "wrong answers of {plugin}: {caught} found, {excused} excused");
    }
}
