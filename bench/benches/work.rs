//! What podreach does on growing questions, in numbers that a busy machine does not change.
//!
//! `cargo bench -p podreach-bench -- pyramid` decides the sizes of the families whose name has that in it, each until one takes more
//! than a second, and prints a table. Everything but the time is the same on every machine and every run: a change that makes an
//! engine do more work shows, however noisy the clock is.

#![cfg_attr(test, allow(dead_code, unused_imports, reason = "the tests of these files run elsewhere"))]

#[path = "../src/family.rs"]
mod family;
#[path = "../src/graphs.rs"]
mod graphs;
#[path = "../src/nets.rs"]
mod nets;

use std::fs;
use std::time::{Duration, Instant};

use podreach::engine::{Budget, decide};
use podreach_core::Verdict;

use family::{FAMILIES, Family};

/// A family ends with the first size that takes longer.
const LONG: Duration = Duration::from_secs(1);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |family: &&Family| wanted.is_empty() || wanted.iter().any(|word| family.name.contains(word));
    println!("| family | size | answer | engine | evidence | work | processor s |\n|---|---|---|---|---|---|---|");
    for family in FAMILIES.iter().filter(is_wanted) {
        println!("| {}, in {}: {} | | | | | | |", family.name, family.unit, family.title);
        family.sizes.iter().find(|&&size| row(family, size) > LONG);
    }
}

/// Decides one size and prints its row; returns how long it took.
fn row(family: &Family, size: usize) -> Duration {
    let problem = family::problem(&(family.encoded)(size)).expect("families are well-formed");
    let (begun, processor) = (Instant::now(), processor_time());
    let decision = decide(&problem, &Budget::unlimited());
    let elapsed = begun.elapsed();
    let took = processor_time().zip(processor).map_or(elapsed, |(after, before)| after - before);
    let (answer, evidence) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", format!("{} steps", trace.0.len())),
        Verdict::Never(proof) => ("never", format!("{} groups", proof.forbidden.len())),
        Verdict::Unknown(reason) => ("unknown", reason.to_string()),
    };
    assert_eq!(decision.checked.answer(), Some(family.deployable), "{} {size}", family.name);
    let (name, engine, work) = (family.name, decision.engine, family::work(&decision));
    println!("| {name} | {size} | {answer} | {engine} | {evidence} | {work} | {:.3} |", took.as_secs_f64());
    took
}

/// How long this thread ran on a processor, where the system says so.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
