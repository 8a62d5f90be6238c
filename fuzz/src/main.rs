//! Coverage-guided fuzzing: one program for all targets; `PODREACH_FUZZ` names the one that this run is about.
//!
//! A target fails by panicking. Besides what panics by itself, that is a disagreement between two ways to find the same thing out.
#![no_main]

mod asked;
mod read;
mod world;

// The page's own readers, as they are: they depend on nothing else of the command line.
#[path = "../../crates/podreach-cli/src/serve/http.rs"]
#[allow(dead_code)]
mod http;
#[path = "../../crates/podreach-cli/src/serve/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "../../crates/podreach-cli/src/serve/refused.rs"]
#[allow(dead_code)]
mod refused;

use std::sync::LazyLock;

/// What is tried with every input.
type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 10] = [
    ("yaml", read::yaml),
    ("json", read::json),
    ("lowering", world::lowering),
    ("certificates", asked::certificates),
    ("policies", asked::policies),
    ("questions", asked::questions),
    ("pnml", read::pnml),
    ("dot", read::dot),
    ("http", read::http),
    ("orders", asked::orders),
];

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("PODREACH_FUZZ").unwrap_or_default();
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    found.unwrap_or_else(|| panic!("PODREACH_FUZZ is one of {:?}", TARGETS.map(|(target, _)| target))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));
