//! What an audit finds in files and clusters of others, one by one: `data/audit/found.txt` has every finding, and each was read.
//!
//! Manifests without nodes are audited on `data/audit/nodes.yaml`. To accept a change, read what is new and ask whether it is true: a false
//! alarm is a bug. Then run with `PODREACH_BLESS=1`, and correct the counts in `docs/findings.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use podreach::audit::memory::Forgetful;
use podreach::audit::{Item, Origin, Status, finding};
use podreach::engine::Budget;
use podreach::lower::{Lowered, Options};
use podreach::read::{Source, Sources};
use podreach_core::{Semantics, Verdict, check, short};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

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

fn lowered(paths: &[PathBuf]) -> Lowered {
    let mut sources = Sources::default();
    for path in paths {
        let bytes = std::fs::read(path).expect("a file of the corpus");
        sources.add(Source::from_bytes(path.display().to_string(), bytes).expect("text"));
    }
    podreach::lowered(&sources, &Options::default())
}

fn found(lowered: &Lowered) -> Vec<Item> {
    let items = finding::items(lowered, Semantics::KubeScheduler, &Budget::unlimited(), &Forgetful, &|| ());
    items.iter().for_each(checks);
    items
}

/// Everything that an item stands on is taken by the checker, as if it were new.
fn checks(item: &Item) {
    for evidence in &item.evidence {
        let verdict = evidence.decision.checked.verdict().clone();
        if !matches!(verdict, Verdict::Unknown(_)) {
            assert!(check(&evidence.problem, verdict).is_ok(), "{}", item.message);
        }
        if let Some(known) = &evidence.short {
            let again = short(&evidence.problem, known.demand().clone(), known.shortage().clone(), &|| false);
            assert!(again.is_ok(), "{}", item.message);
        }
    }
}

/// The clusters: each file of the corpus by itself on nodes of ours, where it can be read so; the folders that are clusters; and the traces.
fn clusters() -> Vec<(String, Vec<PathBuf>)> {
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

#[test]
fn what_is_found_in_the_corpus_was_read_and_is_true() {
    let (mut text, mut counts) = (String::new(), BTreeMap::<&str, usize>::new());
    for (name, paths) in clusters() {
        let lowered = lowered(&paths);
        if lowered.is_stopped() {
            continue;
        }
        let items = found(&lowered);
        writeln!(text, "{name}: {} types, {} nodes", lowered.cluster.pods.len(), lowered.cluster.nodes.len())
            .expect("text");
        for item in items {
            let Origin::Finding(code) = item.origin else { continue };
            *counts.entry(code).or_default() += 1;
            let open = if item.status == Status::Undecided { " (not decided)" } else { "" };
            writeln!(text, "  {code} {:?}{open}: {}", item.severity, item.message).expect("text");
        }
    }
    let path = Path::new(ROOT).join("audit/found.txt");
    if std::env::var_os("PODREACH_BLESS").is_some() {
        std::fs::write(&path, &text).expect("a writable folder");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(before == text, "found.txt is not what is found now:\n{text}");
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md")).expect("the page");
    let rows: String =
        counts.iter().map(|(code, count)| format!("| [{code}](#{}) | {count} |\n", code.to_lowercase())).collect();
    assert!(page.contains(&rows), "docs/findings.md does not have these counts:\n{rows}");
}
