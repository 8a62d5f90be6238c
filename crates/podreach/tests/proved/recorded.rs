//! Every recorded verdict of the real scheduler: the extracted rules say the same, plugin by plugin and node by node.
//!
//! What the static filters say is in the tables of a document, so those are asked of the rules that make the tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach::engine::{Budget, Decider};
use podreach::lower::Release;
use podreach_conformance::compare::{self, Judge, Tally};
use podreach_conformance::document;
use podreach_core::rule::Rule;
use podreach_core::{Configuration, Goal, Model, NodeId, PodId, Problem, Semantics};
use serde_json::Value;

use crate::comparison::Comparison;
use crate::export;
use crate::program::Proved;
use crate::recordings::{FIRST, by_release, rows};

/// What the extracted rules say of a pod on every node, each rule alone and all together.
fn judged<'a>(proved: &mut Proved, model: &'a Arc<Model>, start: &Configuration, pod: PodId) -> Judge<'a> {
    let problem = Problem::new(model.clone(), start.clone(), Goal::default());
    let nodes: Vec<NodeId> = model.nodes().collect();
    let asked: Vec<Option<Rule>> = Rule::DYNAMIC.iter().copied().map(Some).chain([None]).collect();
    let atoms = || nodes.iter().map(|&node| (pod, node)).collect::<Vec<_>>();
    let answers = proved.ask(&export::rules(&problem, asked.iter().map(|&rule| (rule, atoms())))).concat();
    assert_eq!(answers.len(), asked.len() * nodes.len(), "{answers}");
    let about = asked.iter().flat_map(|&rule| nodes.iter().map(move |&node| (rule, node)));
    let answers: BTreeMap<_, _> = about.zip(answers.chars().map(|answer| answer == '1')).collect();
    Box::new(move |rule, node| match (answers.get(&(rule, node)), rule) {
        (Some(true), _) => None,
        (Some(false), _) => Some("refused".to_owned()),
        (None, Some(fixed)) => fixed.refusal(model, &problem.start, pod, node).map(|refusal| format!("{refusal:?}")),
        (None, None) => Some("not asked".to_owned()),
    })
}

fn check(proved: &mut Proved, rows: &[(&Value, Value)], release: Release, tally: &mut Tally) {
    for (row, real) in rows {
        let lowered = document::lowered(&row["doc"], release);
        let pod = document::incoming_name(&row["doc"]);
        let differences =
            compare::of_judged(lowered, &pod, real, tally, &mut |model, start, pod| judged(proved, model, start, pod));
        assert_eq!(differences, [], "{release} {}: {}", row["name"], row["doc"]);
    }
}

#[test]
fn the_extracted_rules_are_those_of_the_real_scheduler() {
    let Some(mut proved) = Proved::start() else { return };
    let mut tally = Tally::default();
    for file in ["table.jsonl.gz", "oneshot.jsonl.gz"] {
        let rows = rows(file);
        let rows: Vec<_> = rows.iter().map(|row| (row, row["real"].clone())).collect();
        check(&mut proved, &rows, FIRST, &mut tally);
    }
    for file in ["cases.jsonl.gz", "random.jsonl.gz", "upstream.jsonl.gz"] {
        let rows = rows(file);
        by_release(&rows).iter().for_each(|(release, rows)| check(&mut proved, rows, *release, &mut tally));
    }
    println!("{} recorded verdicts, 0 differences, {} in doubt", tally.compared(), tally.excused());
    assert!(tally.compared() > 300_000, "{}", tally.compared());
    for rule in Rule::DYNAMIC.iter().filter(|rule| **rule != Rule::InstanceLimit) {
        let (accepted, refused) = tally.plugins[rule.name()];
        assert!(accepted > 20 && refused > 5, "{}: {accepted} accepted, {refused} refused", rule.name());
    }
}

#[test]
fn evidence_about_recorded_clusters() {
    let Some(mut both) = Comparison::start() else { return };
    // The others begin with a header.
    for row in rows("reach.jsonl.gz").into_iter().chain(rows("search.jsonl.gz").split_off(1)) {
        let lowered = document::lowered(&row["doc"], FIRST);
        let model = Arc::new(Model::new(lowered.cluster, Semantics::KubeScheduler));
        let problem = Problem::new(model.clone(), lowered.start, Goal::default());
        let mut decider = Decider::new(&problem);
        for (pod, node) in model.pods().flat_map(|pod| model.nodes().map(move |node| (pod, node))) {
            let goal = Goal::atom((pod, node));
            let decision = decider.decide(&goal, &Budget::unlimited());
            both.verdict(&problem, &goal, decision.checked.verdict());
            assert_eq!(both.tally.refused, 0, "{}", row["doc"]);
        }
    }
    println!("recorded clusters: {:?}", both.tally);
    assert!(both.tally.accepted > 2_000);
}
