//! What texts and pages say about nodes that are yet to come: nobody has seen them.

use podreach::Analysis;
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach::report::{self, html};
use podreach_core::Semantics;
use serde_json::Value;

const OPEN: &str = "
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: {spec: {requirements: [{key: team, operator: Exists}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: eu-1a}}, status: {allocatable: {cpu: 2, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {nodeSelector: {team: blue}, containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: red}, spec: {nodeSelector: {team: red}, containers: [{name: c, image: i}]}}
";

fn read(text: &str) -> Analysis {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    Analysis::load(sources, Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Every text and every number of a document.
fn leaves<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| leaves(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, found)),
        leaf => found.push(leaf),
    }
}

#[test]
fn pages_tell_nodes_that_may_come_from_those_that_are_there() {
    let analysis = read(OPEN);
    let problem = analysis.problem(Semantics::KubeScheduler);
    let page = html::data(problem, "a test", (&Value::Null, &[]), html::View::Cluster);
    let cluster = &page["cluster"];
    let forms: Vec<(&str, &Value)> = cluster["nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| {
            (node[0].as_str().expect("a name"), &cluster["forms"][node[1].as_u64().expect("a number") as usize])
        })
        .collect();
    let (mut new, mut values) = (0, std::collections::BTreeSet::new());
    for (name, form) in forms {
        let capacity = form["capacity"].as_array().expect("a list");
        assert!(!capacity.is_empty());
        if name == "n1" {
            assert!(form["comesFrom"].is_null() && capacity.iter().all(|amount| amount[1].is_number()), "{form}");
            continue;
        }
        new += 1;
        assert_eq!(form["comesFrom"], "nodepool/general");
        assert!(capacity.iter().all(|amount| amount[1].is_null()), "nobody knows: {form}");
        let labels = form["labels"].as_array().expect("a list").iter();
        values.extend(
            labels
                .map(|label| format!("{}={}", label[0].as_str().expect("a key"), label[1].as_str().expect("a value"))),
        );
    }
    assert!(new > 10, "{new}");
    let zone = "topology.kubernetes.io/zone";
    let expected = ["eu-1a", "(its own)", "(any other)"].map(|value| format!("{zone}={value}"));
    let teams = ["blue", "red", "(such as 0)"].map(|value| format!("team={value}"));
    let arch = ["kubernetes.io/arch=(any)".to_owned()];
    let zones: Vec<&String> = values.iter().filter(|label| label.starts_with(zone)).collect();
    assert_eq!(zones.len(), 3, "nobody invents a zone: {zones:?}");
    assert!(expected.iter().chain(&teams).chain(&arch).all(|label| values.contains(label)), "{values:?}");
    let mut found = Vec::new();
    leaves(&page, &mut found);
    assert!(found.iter().all(|leaf| !leaf.to_string().contains(&u128::MAX.to_string())), "no bound is no number");
}

#[test]
fn texts_say_what_is_a_guess_about_a_node() {
    let analysis = read(OPEN);
    let matrix = analysis.matrix(Semantics::KubeScheduler, &Budget::unlimited(), 1, &|| ());
    let text = report::matrix(&matrix, &[], report::Width::Wide);
    assert!(text.contains("2 pod types on 1 node and 18 that may come"), "{text}");
    assert!(text.contains("(its own)") && !text.contains("zone=other"), "{text}");
    assert_eq!(text.matches("     yet to come").count(), text.matches(", size not known").count(), "{text}");
    assert!(text.contains(", size not known"), "{text}");
    let said = |node: &str| analysis.ask("web", node).expect("they are there").decide().to_string();
    let on = |team: &str| {
        let other = "topology.kubernetes.io/zone=(any other)";
        let labels = text.lines().position(|line| line.contains(team) && line.contains(other)).expect("a line");
        text.lines().nth(labels - 1).and_then(|line| line.split_whitespace().nth(1)).expect("a name").trim_matches(',')
    };
    let other = said(on("team=blue"));
    let guess = "whether nodepool/general brings a node with topology.kubernetes.io/zone=(any other) is not known";
    assert!(other.contains(guess) && other.contains("nor what"), "{other}");
    let never = said(on("team=red"));
    assert!(never.contains("asks for team=blue, the node has red"), "{never}");
    let drawn = said(on("team=(such as 0)"));
    assert!(drawn.contains("asks for team=blue, the node has (such as 0)"), "{drawn}");
    let own = read("
{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: open}, spec: {labels: {tier: open}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeSelector: {tier: open}, containers: [{name: c, image: i}]}}
");
    let said = own.ask("web", "nodepool/open/1.1").expect("they are there").decide().to_string();
    assert!(said.contains("what nodepool/open/1.1 has to give is not known"), "{said}");
}
