//! The recorded kube-scheduler: our reading of Kubernetes differs from it nowhere.
//!
//! Every recorded cluster is lowered as a user's would be, and every rule is asked about every node. `conformance/` records, and compares
//! on random clusters; this needs no Go.

#[path = "made/recordings.rs"]
mod recordings;

use std::sync::Arc;

use podreach::lower::Release;
use podreach::question;
use podreach_conformance::compare::{self, Tally, passes};
use podreach_conformance::{document, reach};
use podreach_core::rule::Rule;
use podreach_core::{Action, Configuration, Goal, Model, Problem, Semantics};
use serde_json::{Value, json};

use recordings::{FIRST, by_release, rows};

/// What the API server would refuse and the first recording has all the same: two spread constraints on one key, `minDomains` on a soft
/// one, label keys without a selector, tolerations without a key that are not `Exists`.
const BEYOND_THE_API: [&str; 3] = ["E0217", "E0220", "E0221"];

/// Compares every rule on every node of every row; returns what was seen.
fn check(rows: &[(&Value, Value)], release: Release) -> Tally {
    let mut tally = Tally::default();
    for (row, real) in rows {
        let lowered = document::lowered(&row["doc"], release);
        assert_eq!(document::refusal(&lowered, &BEYOND_THE_API), None, "{}", row["doc"]);
        let pod = document::incoming_name(&row["doc"]);
        let differences = compare::of_lowered(lowered, &pod, real, &mut tally);
        assert_eq!(differences, [], "{release} {}: {}", row["name"], row["doc"]);
    }
    tally
}

fn check_first(file: &str) -> (usize, Tally) {
    let rows = rows(file);
    let with_answers: Vec<_> = rows.iter().map(|row| (row, row["real"].clone())).collect();
    (rows.len(), check(&with_answers, FIRST))
}

/// Checks a file with answers by release; returns its rows and what was seen in all releases.
fn check_releases(file: &str) -> (usize, Vec<Tally>) {
    let rows = rows(file);
    let tallies = by_release(&rows).into_iter().map(|(release, rows)| check(&rows, release));
    (rows.len() - 1, tallies.collect())
}

#[test]
fn hand_made_cases_agree() {
    let (rows, tally) = check_first("table.jsonl.gz");
    assert_eq!(rows, 108);
    assert!(tally.compared() > 1000);
}

#[test]
fn hand_made_cases_agree_in_every_release() {
    let (rows, tallies) = check_releases("cases.jsonl.gz");
    assert!(rows >= 108 && tallies.len() >= 3);
}

#[test]
fn random_clusters_agree() {
    let (rows, tally) = check_first("oneshot.jsonl.gz");
    assert_eq!(rows, 4500);
    assert!(tally.compared() > 140_000);
}

#[test]
fn random_clusters_agree_in_every_release() {
    let (rows, tallies) = check_releases("random.jsonl.gz");
    assert!(rows > 2000 && tallies.len() >= 3);
    for (at, tally) in tallies.iter().enumerate() {
        // The oldest of the releases has no declared features yet; and how many instances there may be is no plugin's business.
        let is_asked = |rule: &&Rule| **rule != Rule::InstanceLimit && (at > 0 || **rule != Rule::NodeDeclaredFeatures);
        let names = Rule::ALL.iter().filter(is_asked).map(|rule| rule.name());
        for name in names.chain([compare::ADMISSION]) {
            let (accepted, refused) = tally.plugins[name];
            assert!(accepted > 20 && refused > 5, "{name}: {accepted} accepted, {refused} refused");
        }
    }
}

#[test]
fn upstream_tables_agree_in_every_release() {
    let (rows, tallies) = check_releases("upstream.jsonl.gz");
    assert!(rows > 100 && tallies.len() >= 3, "{rows} rows");
}

#[test]
fn recorded_runs_are_runs() {
    let mut steps = 0;
    for row in rows("reach.jsonl.gz") {
        let lowered = document::lowered(&row["doc"], FIRST);
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
    let id = |pod: &str| question::pod(model.cluster(), &format!("pod/default/{pod}")).expect("a type");
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
    assert!(problem.is_met(&goal, &s), "{run:?}");
    run.len()
}

#[test]
fn decisions_equal_exhaustive_search_with_the_real_filters() {
    let mut tally = Tally::default();
    let rows = rows("reach.jsonl.gz");
    assert_eq!(rows.len(), 600);
    for row in rows {
        let differences = reach::differences(&row["doc"], &row["real"], FIRST, &mut tally);
        assert_eq!(differences, [], "{}", row["doc"]);
    }
    let (deployable, never) = tally.plugins["_deployable"];
    assert!(deployable > 1000 && never > 100, "both answers occur: {deployable} deployable, {never} never");
}

#[test]
fn decisions_equal_exhaustive_search_in_every_release() {
    let rows = rows("search.jsonl.gz");
    let (header, rows) = rows.split_first().expect("a header");
    for name in header["plugins"].as_object().expect("plugins by release").keys() {
        let mut tally = Tally::default();
        for row in rows {
            let Some(reached) = row["real"].get(name) else { continue };
            let (real, release) = (json!({"deployable": reached}), name.parse().expect("a release"));
            if document::is_doubtful(&document::lowered(&row["doc"], release)) {
                continue;
            }
            let differences = reach::differences(&row["doc"], &real, release, &mut tally);
            assert_eq!(differences, [], "{name}: {}", row["doc"]);
        }
        let (deployable, never) = tally.plugins["_deployable"];
        assert!(deployable > 300 && never > 300, "{name}: {deployable} deployable, {never} never");
    }
}

#[test]
fn a_recording_that_says_otherwise_is_noticed() {
    let row = &rows("oneshot.jsonl.gz")[0];
    let mut real = row["real"].clone();
    let answer = &mut real["n0"]["NodePorts"];
    *answer = json!(!passes(answer));
    let differences = compare::differences(&row["doc"], &real, FIRST, &mut Tally::default());
    assert_eq!(differences.iter().map(|d| (&*d.plugin, &*d.node)).collect::<Vec<_>>(), [("NodePorts", "n0")]);
}
