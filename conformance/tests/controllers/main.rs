//! Real controllers: what they make of workloads and of the health of nodes, beside what podreach says that they make.
//!
//! `conformance/control-plane/controllers` makes and starts them and runs this; without them it says that it is skipped. Words after `--`
//! choose parts; `PODREACH_WORKLOADS` says how many workloads are made (200 by default), `PODREACH_SEED` which.

mod api;
mod lifecycle;
mod paths;
mod workloads;

use std::time::Instant;

use api::Api;

/// A part of the suite.
type Part = (&'static str, fn(&Api));

const PARTS: &[Part] = &[
    ("taints of nodes come and go with their conditions", lifecycle::taints),
    ("workloads make the pods that lowering says", workloads::made),
];

fn main() {
    let Ok(folder) = std::env::var("PODREACH_CONTROL_PLANE") else {
        println!("skipped: no control plane; conformance/control-plane/controllers starts one and runs this");
        return;
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let api = Api::connect(folder.as_ref());
    for (name, part) in PARTS {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let began = Instant::now();
        part(&api);
        println!("ok: {name} ({:.1} s)", began.elapsed().as_secs_f64());
    }
}

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
