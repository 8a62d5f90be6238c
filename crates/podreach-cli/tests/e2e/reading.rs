//! Live, from a snapshot and under pseudonyms: the same answers.

use std::path::Path;

use serde_json::Value;

use crate::api::Api;
use crate::generate;
use crate::program::{Ran, on_file, run, scratch};

/// The rows of a matrix as (pod, deployable nodes, never nodes), by name, in order.
fn rows(ran: &Ran, rename: &dyn Fn(&str) -> String) -> Vec<(String, Vec<String>, Vec<String>)> {
    let matrix = ran.json();
    let classes = matrix["nodeClasses"].as_array().cloned().unwrap_or_default();
    let nodes = |cell: &Value| {
        let classes = cell.as_array().into_iter().flatten().map(|class| &classes[class.as_u64().unwrap_or(0) as usize]);
        let names = classes.flat_map(|class| class["nodes"].as_array().cloned().unwrap_or_default());
        let mut names: Vec<String> = names.map(|name| rename(name.as_str().unwrap_or_default())).collect();
        names.sort();
        names
    };
    let mut rows = Vec::new();
    for row in matrix["rows"].as_array().into_iter().flatten() {
        let aliases = row["aliases"].as_array().cloned().unwrap_or_default();
        for name in std::iter::once(row["pod"].clone()).chain(aliases) {
            let name = name.as_str().unwrap_or_default().split('/').map(rename).collect::<Vec<_>>().join("/");
            rows.push((name, nodes(&row["deployable"]), nodes(&row["never"])));
        }
    }
    rows.sort();
    rows
}

fn snapshot(api: &Api, name: &str, more: &[&str]) -> std::path::PathBuf {
    let file = scratch(name);
    let ran = run(api, &[&["snapshot", "-q", "-o", &file.to_string_lossy()], more].concat());
    assert_eq!(ran.exit, 0, "{ran:?}");
    file
}

fn matrix(file: &Path) -> Ran {
    on_file(file, &["matrix", "-o", "json", "-q"])
}

pub fn same_answers(api: &Api) {
    let same = |text: &str| text.to_owned();
    for seed in 1001..1009 {
        api.clear();
        let generated = generate::cluster(seed);
        generated.objects.iter().chain(&generated.running).for_each(|object| api.apply(object));
        let live = run(api, &["matrix", "-o", "json", "-q"]);
        assert!([0, 3].contains(&live.exit), "seed {seed}: {live:?}");
        let read = snapshot(api, "snapshot.json", &[]);
        let text = std::fs::read_to_string(&read).expect("a snapshot");
        assert!(!text.contains("managedFields") && !text.contains("registry.k8s.io/pause"), "seed {seed}");
        assert_eq!(live.out, matrix(&read).out, "seed {seed}: live and snapshot differ");

        let mapping = scratch("mapping.json");
        let renamed = snapshot(api, "renamed.json", &["--pseudonymise", "--mapping", &mapping.to_string_lossy()]);
        let mapping: Value = serde_json::from_slice(&std::fs::read(&mapping).expect("a mapping")).expect("JSON");
        let original = |text: &str| mapping[text].as_str().unwrap_or(text).to_owned();
        assert_eq!(rows(&live, &same), rows(&matrix(&renamed), &original), "seed {seed}: pseudonyms change answers");
    }
    let version = api.get("/version")["gitVersion"].as_str().unwrap_or_default().to_owned();
    let text = std::fs::read_to_string(scratch("snapshot.json")).expect("a snapshot");
    assert!(text.contains(&format!("\"kubernetesVersion\":\"{version}\"")), "the release is kept");
}
