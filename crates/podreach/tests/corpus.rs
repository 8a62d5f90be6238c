//! Files from public repositories: each is read, or refused with a reason, and `data/corpus.txt` says which.
//!
//! To accept a change, look at the difference, then run with `PODREACH_BLESS=1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use podreach::lower::{self, Lowered, Options};
use podreach::read::{SourceId, documents};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension != "md" && extension != "txt") {
            found.push(path);
        }
    }
}

fn summary(lowered: &Lowered) -> String {
    let mut codes = BTreeMap::new();
    lowered.diagnostics.iter().for_each(|diagnostic| *codes.entry(diagnostic.code).or_insert(0) += 1);
    let outcome = if lowered.is_stopped() { "refused" } else { "read" };
    let (nodes, types, running) = (lowered.cluster.nodes.len(), lowered.cluster.pods.len(), lowered.start.size());
    let mut line = format!("{outcome}, nodes {nodes}, types {types}, running {running}");
    codes.iter().for_each(|(code, count)| write!(line, ", {code} x{count}").expect("a string takes text"));
    line
}

fn outcomes() -> String {
    let root = data().join("corpus");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let content = std::fs::read_to_string(&path).expect("a file of the corpus is text");
        let (documents, problems) = documents(SourceId(0), &content);
        let mut lowered = lower::cluster(&documents, &Options::default());
        lowered.diagnostics.extend(problems);
        let name = path.strip_prefix(&root).expect("within the corpus").display();
        writeln!(text, "{name}\n  {}", summary(&lowered)).expect("a string takes text");
        if std::env::var_os("PODREACH_SHOW").is_some() {
            lowered.diagnostics.iter().for_each(|d| println!("{name}: {} {}", d.code, d.message));
        }
    }
    text
}

#[test]
fn every_file_is_read_or_refused_as_before() {
    let path = data().join("corpus.txt");
    let now = outcomes();
    if std::env::var_os("PODREACH_BLESS").is_some() {
        std::fs::write(&path, &now).expect("the outcomes can be written");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<_> = now.lines().zip(before.lines()).filter(|(now, before)| now != before).collect();
    assert!(now == before, "{changed:#?}");
}
