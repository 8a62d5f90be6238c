//! The tests of the library as one program: each file is a module, and the library is linked once.
//!
//! `cargo test -p podreach --test all engines::` runs one file. What is compared with the proved checker is a program of its own
//! (`proved/`), since scripts call it by its name.

mod aapp;
#[path = "made/accepted.rs"]
mod accepted;
mod actor_laws;
mod admission;
mod assumptions;
mod at_most_one;
mod conformance;
mod controllers;
mod corpus;
mod corpus_audit;
mod damage;
mod diagnostics;
mod doubts;
mod elastic;
mod encode;
mod engines;
mod examples;
mod findings;
mod gates;
mod history;
mod hostile;
mod hostile_text;
mod input;
mod karpenter_pools;
mod laws;
mod losses;
mod lowering;
mod machines;
mod page;
mod page_size;
mod pieces;
mod pod_security;
mod policies;
mod policy_laws;
mod policy_schema;
mod pools;
mod puzzle;
mod recovery;
mod remembered;
mod sandbox;
mod schema;
mod stateful_sets;
mod symmetry;
mod tenants;
mod threads;
mod to_come;
mod trace;
mod volumes;
mod work;
mod workloads;

/// A file that nobody lists would be a test that nobody runs.
#[test]
fn every_file_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let entries = std::fs::read_dir(folder).expect("the tests are here").map(|entry| entry.expect("an entry").path());
    let files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    assert!(files.len() > 40, "only {} files", files.len());
    for path in files.iter().filter(|path| !path.ends_with("main.rs")) {
        let module = format!("\nmod {};\n", path.file_stem().expect("a name").to_string_lossy());
        assert!(include_str!("main.rs").contains(&module), "main.rs does not list {}", path.display());
    }
}
