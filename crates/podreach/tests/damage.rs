//! Whatever a value is replaced by, lowering answers; and whatever the order of documents, it answers the same.

use std::path::{Path, PathBuf};

use podreach::lower::{self, Instances, Lowered, Options};
use podreach::read::{SourceId, Tree, Value, documents};

/// Files with nodes, workloads, spread constraints, affinities, volumes and running pods.
const FILES: [&str; 7] = [
    "alibaba__open-simulator/example__cluster__demo_1__nodes__master-1.yaml",
    "alibaba__open-simulator/example__cluster__demo_1__coredns.yaml",
    "alibaba__open-simulator/example__application__complicate__sts-database.yaml",
    "bingzheliu__Kivi/examples__c3__configs__yaml__deploy.yaml",
    "kubernetes__kubernetes/test__integration__scheduler_perf__starvation__templates__clogger-pod.yaml",
    "kubernetes__website/content__en__examples__application__zookeeper__zookeeper.yaml",
    "openshift__hypershift/lane__testdata__kube-apiserver__IBMCloud__zz_fixture_TestControlPlaneComponents_kube_apiserver_deployment.yaml",
];

const DUMPS: [&str; 2] = [
    "bingzheliu__Kivi/examples__c3__logs__setup__2023-07-01T20-04-09-getnode.log.json",
    "bingzheliu__Kivi/examples__c3__logs__setup__2023-07-01T20-04-09-getpod.log.json",
];

fn text(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus").join(file);
    std::fs::read_to_string(path).expect("a file of the corpus")
}

fn size(tree: &Tree<'_>) -> usize {
    let inner: usize = match &tree.value {
        Value::Seq(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries.iter().map(|entry| size(&entry.value)).sum(),
        _ => 0,
    };
    1 + inner
}

/// Replaces the value at a position, counted in the order of the text.
fn replace<'a>(tree: &mut Tree<'a>, at: &mut usize, value: &Value<'a>) {
    if *at == 0 {
        tree.value = value.clone();
    }
    *at = at.wrapping_sub(1);
    match &mut tree.value {
        Value::Seq(items) => items.iter_mut().for_each(|item| replace(item, at, value)),
        Value::Map(entries) => entries.iter_mut().for_each(|entry| replace(&mut entry.value, at, value)),
        _ => {}
    }
}

fn odd_values() -> Vec<Value<'static>> {
    vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(-1),
        Value::Int(i128::MAX),
        Value::Float("1e400".into()),
        Value::Float("2.0".into()),
        Value::String("".into()),
        Value::String("x/y/z \u{202e}".into()),
        Value::Seq(Vec::new()),
        Value::Map(Vec::new()),
    ]
}

#[test]
fn damaged_objects_are_answered() {
    let options = Options { instances: Instances::Declared, ..Options::default() };
    for file in FILES {
        let text = text(file);
        let (documents, problems) = documents(SourceId(0), &text);
        assert_eq!(problems, []);
        for (index, document) in documents.iter().enumerate() {
            for at in 0..size(document) {
                for value in odd_values() {
                    let mut damaged = documents.clone();
                    replace(&mut damaged[index], &mut at.clone(), &value);
                    lower::cluster(&damaged, &options);
                }
            }
        }
    }
}

/// Types, and what runs where, by name.
fn facts(lowered: &Lowered) -> (Vec<String>, Vec<String>) {
    let cluster = &lowered.cluster;
    let place = |((pod, node), count)| {
        let node: podreach_core::NodeId = node;
        let pod: podreach_core::PodId = pod;
        let count: u64 = count;
        format!("{} {} {count}", cluster.pods[pod].name, cluster.symbols.str(cluster.nodes[node].name))
    };
    let mut places: Vec<_> = lowered.start.iter().map(place).collect();
    places.sort();
    (cluster.pods.values().map(|pod| pod.name.clone()).collect(), places)
}

#[test]
fn the_order_of_documents_does_not_matter() {
    let texts = DUMPS.map(text);
    let mut items = Vec::new();
    for (source, text) in texts.iter().enumerate() {
        let (documents, _) = documents(SourceId(source as u32), text);
        for document in documents {
            items.extend(document.field("items").and_then(Tree::seq).expect("a list").iter().cloned());
        }
    }
    let forward = lower::cluster(&items, &Options::default());
    items.reverse();
    let backward = lower::cluster(&items, &Options::default());
    assert_eq!(facts(&forward), facts(&backward));
    assert_eq!((forward.cluster.nodes.len(), forward.start.size()), (4, 21));
}

#[test]
fn a_list_may_leave_the_kind_of_its_items_to_its_name() {
    let text = "apiVersion: v1\nkind: NodeList\nitems:\n- {metadata: {name: n1}, status: {capacity: {pods: 1}}}\n";
    let (documents, _) = documents(SourceId(0), text);
    let lowered = lower::cluster(&documents, &Options::default());
    assert_eq!((lowered.cluster.nodes.len(), lowered.diagnostics.len()), (1, 0));
}
