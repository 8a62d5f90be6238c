//! End to end: the program against a real API server and a real scheduler, with fake nodes.
//!
//! `conformance/control-plane/e2e` makes and starts them and runs this; without them it says that it is skipped. Words after `--` choose
//! parts; `PODREACH_WITNESSES` says how many runs are replayed (300 by default).

mod api;
mod chance;
mod generate;
mod net;
mod outage;
#[path = "../../../../conformance/tests/controllers/paths.rs"]
mod paths;
mod program;
mod reading;
mod relay;
mod replays;
mod rights;
mod scale;

use std::time::Instant;

use api::Api;

/// A part of the suite.
type Part = (&'static str, fn(&Api));

const PARTS: &[Part] = &[
    ("a live cluster, its snapshot and its pseudonyms give the same answers", reading::same_answers),
    ("missing rights are named and spoil only what they can change", rights::denied),
    ("witnesses bind as predicted, and nevers withstand random runs", replays::witnesses),
    ("a Petri net runs to its goal on the real scheduler", net::runs),
    ("a large cluster is read in seconds", scale::thousand_nodes),
    ("a server that dies leaves a clear error and nothing behind", outage::server_dies),
];

fn main() {
    let Ok(folder) = std::env::var("PODREACH_CONTROL_PLANE") else {
        println!("skipped: no control plane; conformance/control-plane/e2e starts one and runs this");
        return;
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let api = Api::connect(folder.into());
    for (name, part) in PARTS {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let began = Instant::now();
        api.clear();
        part(&api);
        println!("ok: {name} ({:.1} s)", began.elapsed().as_secs_f64());
    }
    api.clear();
}
