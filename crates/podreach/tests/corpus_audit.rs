//! What an audit finds in files and clusters of others, one by one: `data/audit/found.txt` has every finding, and each was read.
//!
//! Manifests without nodes are audited on `data/audit/nodes.yaml`. To accept a change, read what is new and ask whether it is true: a false
//! alarm is a bug. Then run with `PODREACH_BLESS=1`, and correct the counts in `docs/findings.md`.

#[path = "made/corpus.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use podreach::audit::memory::NoCache;
use podreach::audit::{Item, Origin, Status, finding};
use podreach::engine::Budget;
use podreach::lower::Lowered;
use podreach_core::{Semantics, Verdict, check, short};

use corpus::{ROOT, clusters, lowered};

fn found(lowered: &Lowered) -> Vec<Item> {
    let items = finding::items(lowered, Semantics::KubeScheduler, &Budget::unlimited(), &NoCache, &|| ());
    items.iter().for_each(checks);
    items
}

/// Everything that an item stands on is taken by the checker, as if it were new.
fn checks(item: &Item) {
    for evidence in &item.evidence {
        let verdict = evidence.decision.checked.verdict().clone();
        if !matches!(verdict, Verdict::Unknown(_)) {
            assert!(check(evidence.problem(), verdict).is_ok(), "{}", item.message);
        }
        if let Some(known) = &evidence.short {
            let again = short(evidence.problem(), known.demand().clone(), known.shortage().clone(), &|| false);
            assert!(again.is_ok(), "{}", item.message);
        }
    }
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
