//! Looks at many clusters, and says what differs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::options::Options;
use crate::{Difference, shrink};

/// What looks at one cluster.
pub type Law = fn(&[Value], &Options, u64, &str, &mut Tally) -> Vec<Difference>;

/// What makes one.
pub type Made = fn(u64) -> (Vec<Value>, Options);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What was looked at, so that a test that looks at nothing fails.
#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
    /// By kind: the clusters, and what differs about the first.
    differences: BTreeMap<&'static str, (BTreeSet<u64>, String)>,
}

impl Tally {
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn add(&mut self, seed: u64, found: Vec<Difference>) {
        let mut counted = Vec::new();
        for (class, text) in found {
            if !counted.contains(&class) {
                counted.push(class);
                self.differences.entry(class).or_insert((BTreeSet::new(), text)).0.insert(seed);
            }
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        for (class, (seeds, text)) in other.differences {
            let known = self.differences.entry(class).or_default();
            if known.0.first().is_none_or(|first| seeds.first() < Some(first)) {
                known.1 = text;
            }
            known.0.extend(seeds);
        }
        self
    }
}

/// Looks at every cluster of a range, with as many threads as there are cores.
pub fn survey(name: &str, made: Made, law: Law) -> Tally {
    let (first, cases) = (setting("PODREACH_SEED", 0), setting("PODREACH_CASES", 40));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let threads = setting("PODREACH_THREADS", cores).max(1);
    let work = |thread: u64| {
        let mut tally = Tally::default();
        for seed in (first + thread..first + cases).step_by(threads as usize) {
            let (objects, options) = made(seed);
            let found = law(&objects, &options, seed, &format!("{name}-{thread}"), &mut tally);
            tally.add(seed, found);
        }
        tally
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let tallies = workers.into_iter().map(|worker| worker.join().expect("no law panics"));
        tallies.fold(Tally::default(), Tally::merge)
    })
}

/// Says what differs, with smaller clusters if that is wanted, and fails if something does.
pub fn judge(Tally { counts, differences }: Tally, made: Made, law: Law, wanted: &[&str]) {
    println!("looked at: {counts:?}");
    for (class, (seeds, text)) in &differences {
        let first: Vec<&u64> = seeds.iter().take(20).collect();
        println!("{class}: {} clusters, with seeds {first:?}; the first: {text}", seeds.len());
    }
    if let Ok(wanted) = std::env::var("PODREACH_SHRINK") {
        for (class, (seeds, _)) in differences.iter().filter(|(class, _)| class.contains(&wanted)) {
            let seed = *seeds.first().expect("a kind has clusters");
            let (objects, options) = made(seed);
            let (objects, options, text) = shrink::shrink(objects, options, seed, class, law);
            println!("\n## {class}, seed {seed}: {text}\n{}\n{}", options.arguments().join(" "), stream(&objects));
        }
    }
    let kinds: Vec<&&str> = differences.keys().collect();
    assert!(kinds.is_empty(), "kinds of differences: {kinds:?}");
    let missing: Vec<&&str> = wanted.iter().filter(|what| counts.get(**what).is_none_or(|count| *count == 0)).collect();
    assert!(missing.is_empty() || setting("PODREACH_CASES", 40) < 40, "no cluster had {missing:?}: {counts:?}");
}

/// Objects as a stream of YAML documents, which JSON is.
fn stream(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n---\n")).collect()
}
