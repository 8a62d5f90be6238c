//! Random documents through both sides, until they differ.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use podreach::lower::Release;
use podreach_core::random::Rng;
use serde_json::Value;

use crate::compare::{self, Difference, Tally};
use crate::generate::{self, Shape};
use crate::minimise::minimise;
use crate::real::Real;
use crate::{document, reach};

/// What to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Every filter on every node, for one incoming pod.
    Filters,
    /// Deployability of every pod type on every node, by exhaustive search.
    Reach,
    /// The same where deletion has two phases, from pods of every standing.
    Phases,
}

/// A run of random documents.
#[derive(Clone, Debug)]
pub struct Fuzz {
    /// The program that runs the real filters.
    pub program: PathBuf,
    /// The release it was built from.
    pub release: Release,
    /// What to compare.
    pub question: Question,
    /// The first seed; document `i` has seed `seed + i`.
    pub seed: u64,
    /// Stop after this many triples, or clusters where a whole matrix is compared.
    pub count: u64,
    /// Stop after this long.
    pub limit: Option<Duration>,
    /// Whether volumes take part.
    pub volumes: bool,
    /// Stop after so many documents on which the sides differ; the first is made small.
    pub differences: usize,
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was compared.
    pub tally: Tally,
    /// Documents asked about.
    pub documents: u64,
    /// Documents that an API server would refuse, or that were too large to search; they are not compared.
    pub skipped: u64,
    /// The first difference, made small.
    pub found: Option<Found>,
    /// The differences after the first, with their seeds.
    pub others: Vec<(u64, Difference)>,
}

/// A document on which the two sides differ.
#[derive(Clone, Debug)]
pub struct Found {
    /// The seed it came from.
    pub seed: u64,
    /// The document, made small.
    pub doc: Value,
    /// What the real side says about it.
    pub real: Value,
    /// Where the sides differ.
    pub differences: Vec<Difference>,
}

const BATCH: u64 = 256;

impl Fuzz {
    /// Runs until the count, the time or a difference is reached.
    pub fn run(&self) -> io::Result<Outcome> {
        let mut real = Real::start(&self.program)?;
        let mut outcome = Outcome::default();
        let started = Instant::now();
        let mut seed = self.seed;
        while !self.is_done(&outcome) && self.limit.is_none_or(|limit| started.elapsed() < limit) {
            let docs: Vec<Value> = (seed..seed + BATCH).map(|seed| self.document(seed)).collect();
            let answers = real.ask(&docs)?;
            for (at, (doc, answer)) in (seed..).zip(docs.iter().zip(&answers)) {
                outcome.documents += 1;
                match self.differences(doc, answer, &mut outcome.tally) {
                    None => outcome.skipped += 1,
                    Some(differences) if differences.is_empty() => {}
                    Some(mut differences) if outcome.found.is_some() => {
                        outcome.others.push((at, differences.swap_remove(0)));
                    }
                    Some(differences) => outcome.found = Some(self.minimised(&mut real, at, doc, &differences)?),
                }
                if outcome.found.is_some() && outcome.others.len() + 1 >= self.differences {
                    return Ok(outcome);
                }
            }
            seed += BATCH;
        }
        Ok(outcome)
    }

    fn is_done(&self, outcome: &Outcome) -> bool {
        let done = match self.question {
            Question::Filters => outcome.tally.triples,
            Question::Reach | Question::Phases => outcome.documents - outcome.skipped,
        };
        done >= self.count
    }

    /// The document of a seed.
    pub fn document(&self, seed: u64) -> Value {
        let shape = Shape { minor: self.release.minor, volumes: self.volumes };
        let make = match self.question {
            Question::Filters => generate::cluster,
            Question::Reach => generate::types,
            Question::Phases => generate::phases,
        };
        make(&mut Rng::new(seed), shape)
    }

    /// Where the sides differ on a document; `None` when it is not compared.
    fn differences(&self, doc: &Value, answer: &Value, tally: &mut Tally) -> Option<Vec<Difference>> {
        let cut_short = answer.get("complete") == Some(&Value::Bool(false));
        let complete = document::is_settled(doc) && document::is_made(doc);
        if answer.get("invalid").is_some() || cut_short || !complete {
            return None;
        }
        let reading = |said: String| vec![Difference { plugin: "_reading".into(), node: String::new(), said }];
        if let Some(error) = answer.get("error") {
            return Some(reading(format!("the real side fails: {error}")));
        }
        let lowered = document::lowered(doc, self.release);
        if let Some(refusal) = document::refusal(&lowered, &[]) {
            return Some(reading(format!("podreach refuses what the API server takes: {refusal:?}")));
        }
        // A matrix is compared as a whole, and so only where no part of it is in doubt.
        if self.question != Question::Filters && document::is_doubtful(&lowered) {
            return None;
        }
        Some(match self.question {
            Question::Filters => compare::of_lowered(lowered, &document::incoming_name(doc), answer, tally),
            Question::Reach | Question::Phases => reach::differences(doc, answer, self.release, tally),
        })
    }

    /// The document made small, as long as the same plugin differs on some node.
    fn minimised(&self, real: &mut Real, seed: u64, doc: &Value, first: &[Difference]) -> io::Result<Found> {
        let plugin = &first[0].plugin;
        let mut failed = None;
        let doc = minimise(doc, |smaller| match real.ask_one(smaller) {
            // What an API server would not take tells nothing.
            Ok(_) if smaller["validate"] != doc["validate"] => false,
            Ok(answer) => {
                let differences = self.differences(smaller, &answer, &mut Tally::default());
                differences.is_some_and(|found| found.iter().any(|difference| difference.plugin == *plugin))
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let answer = real.ask_one(&doc)?;
        let differences = self.differences(&doc, &answer, &mut Tally::default()).unwrap_or_default();
        Ok(Found { seed, doc, real: answer, differences })
    }
}

/// Writes a difference to a file, as a row that can be replayed.
pub fn save(found: &Found, path: &Path) -> io::Result<()> {
    let said: Vec<String> = found.differences.iter().map(Difference::to_string).collect();
    let row = serde_json::json!({"seed": found.seed, "differences": said, "doc": found.doc, "real": found.real});
    std::fs::write(path, format!("{row:#}\n"))
}
