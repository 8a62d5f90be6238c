//! Brings input from elsewhere: objects that a program makes, read as a source of their own, with options of its own.

use std::error::Error;

use podreach::Analysis;
use podreach::lower::{Options, Start};
use podreach::read::{Source, Sources};
use serde_json::json;

/// Asks about a cluster that exists nowhere: how many replicas of a database fit on three nodes, one on each?
pub fn main() -> Result<(), Box<dyn Error>> {
    let node = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}})
    };
    let apart = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}]}});
    let database = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"}, "spec": {"replicas": 3,
        "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}},
        "spec": {"affinity": apart, "containers": [{"name": "db", "image": "db"}]}}}});
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [node("a"), node("b"), node("c"), database]});

    let mut sources = Sources::default();
    sources.add(Source { name: "generated.json".to_owned(), text: objects.to_string() });
    let cluster = Analysis::load(sources, Options { start: Start::Empty, ..Options::default() })?;
    for node in ["a", "b", "c"] {
        println!("{}", cluster.ask("db", node)?.decide().headline());
    }
    Ok(())
}
