//! Files and clusters of others.

use std::path::{Path, PathBuf};

use podreach::lower::{Lowered, Options};
use podreach::read::{Source, Sources};

/// Where the files are.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension != "md") {
            found.push(path);
        }
    }
}

/// Some files as one cluster.
pub(crate) fn lowered(paths: &[PathBuf]) -> Lowered {
    let mut sources = Sources::default();
    for path in paths {
        let bytes = std::fs::read(path).expect("a file of the corpus");
        sources.add(Source::from_bytes(path.display().to_string(), bytes).expect("text"));
    }
    podreach::lowered(&sources, &Options::default())
}

/// The clusters: each file of the corpus by itself on nodes of ours, where it can be read so; the folders that are clusters; and the traces.
pub(crate) fn clusters() -> Vec<(String, Vec<PathBuf>)> {
    let mut paths = Vec::new();
    files(&Path::new(ROOT).join("corpus"), &mut paths);
    paths.sort();
    let nodes = Path::new(ROOT).join("audit/nodes.yaml");
    let name =
        |path: &PathBuf| path.strip_prefix(Path::new(ROOT).join("corpus")).expect("within").display().to_string();
    let mut clusters: Vec<_> = paths.iter().map(|path| (name(path), vec![path.clone(), nodes.clone()])).collect();
    for (cluster, parts) in [
        ("alibaba__open-simulator demo_1", &["demo_1", "example__application"][..]),
        ("bingzheliu__Kivi c3", &["getnode", "getpod"][..]),
    ] {
        let folder = cluster.split(' ').next().unwrap_or_default();
        let own =
            |path: &&PathBuf| parts.iter().any(|part| name(path).starts_with(folder) && name(path).contains(part));
        clusters.push((cluster.to_owned(), paths.iter().filter(own).cloned().collect()));
    }
    for trace in ["openb_default", "openb_gpuspec33"] {
        let mut paths = Vec::new();
        files(&Path::new(ROOT).join("trace").join(trace), &mut paths);
        paths.sort();
        clusters.push((format!("trace {trace}"), paths));
    }
    clusters
}
