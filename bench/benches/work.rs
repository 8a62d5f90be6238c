//! What podreach does on growing questions, in numbers that a busy machine does not change.
//!
//! `cargo bench -p podreach-bench -- pyramid` decides the sizes of the families whose name has that in it, each until one takes more
//! than a second, and prints a table. A size that is not decided within five ends its family, too, and says so. Everything but the time is the same on every machine and every run: a change that makes an
//! engine do more work shows, however noisy the clock is.

#![cfg_attr(test, allow(dead_code, unused_imports, reason = "the tests of these files run elsewhere"))]

#[path = "../src/family.rs"]
mod family;
#[path = "../src/graphs.rs"]
mod graphs;
#[path = "../src/nets.rs"]
mod nets;
#[path = "../src/policies.rs"]
mod policies;

use std::fs;
use std::time::{Duration, Instant};

use podreach::engine::{Budget, Stop, decide};
use podreach_core::Verdict;

use family::{FAMILIES, Family};

/// A family ends with the first size that takes longer.
const LONG: Duration = Duration::from_secs(1);

/// No size is worked on for longer.
const TOO_LONG: Duration = Duration::from_secs(5);

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
    let spent = || processor_time().zip(processor).map_or_else(|| begun.elapsed(), |(after, before)| after - before);
    let interrupt = || (begun.elapsed() > TOO_LONG).then_some(Stop::Timeout);
    let decision = decide(&problem, &Budget { interrupt: &interrupt, ..Budget::unlimited() });
    let took = spent();
    let (answer, evidence) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", format!("{} steps", trace.len())),
        Verdict::Never(proof) => ("never", family::size(proof)),
        Verdict::Unknown(reason) => ("unknown", reason.to_string()),
    };
    let right = decision.checked.answer().is_none_or(|answer| answer == family.deployable);
    assert!(right && (answer != "unknown" || begun.elapsed() > TOO_LONG), "{} {size}: {evidence}", family.name);
    let (name, engine, work) = (family.name, decision.engine, family::work(&decision));
    println!("| {name} | {size} | {answer} | {engine} | {evidence} | {work} | {:.3} |", took.as_secs_f64());
    if answer == "unknown" { TOO_LONG } else { took }
}

/// How long this thread ran on a processor, where the system says so.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
