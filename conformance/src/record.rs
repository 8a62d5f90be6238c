//! Recording: the same documents to the real filters of every release, and their answers to files.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use podreach_core::testing::Rng;
use serde_json::{Map, Value, json};

use crate::generate::{self, Shape};
use crate::real::Real;
use crate::tables;
use crate::vector::{self, shortened};

/// The real filters of one release: what it is called, and the program.
pub type Release = (String, PathBuf);

/// How many random clusters are recorded.
const CLUSTERS: u64 = 3000;
/// How many searches are recorded.
const SEARCHES: u64 = 600;

/// Records everything anew: hand-made cases, upstream tables (from the lines that their tests left, or else those recorded before),
/// random clusters and searches.
pub fn record(data: &Path, releases: &[Release], tables: Option<&Path>) -> io::Result<()> {
    let hand_made = vector::rows(&data.join("table.jsonl.gz"))?;
    verdicts(data, "cases.jsonl.gz", releases, hand_made)?;
    verdicts(data, "upstream.jsonl.gz", releases, upstream(data, releases, tables)?)?;
    let shape = Shape { minor: 35, volumes: true };
    let clusters = (0..CLUSTERS).map(|seed| json!({"doc": generate::cluster(&mut Rng::new(seed), shape)}));
    verdicts(data, "random.jsonl.gz", releases, clusters.collect())?;
    let searches = (0..SEARCHES).map(|seed| json!({"doc": generate::types(&mut Rng::new(seed), shape)}));
    self::searches(data, "search.jsonl.gz", releases, searches.collect())
}

fn upstream(data: &Path, releases: &[Release], tables: Option<&Path>) -> io::Result<Vec<Value>> {
    let (Some(tables), Some((name, program))) = (tables, releases.last()) else {
        return Ok(vector::rows(&data.join("upstream.jsonl.gz"))?.split_off(1));
    };
    let (rows, fates) = tables::rows(tables, program, name.parse().map_err(io::Error::other)?)?;
    for (plugin, fate) in fates {
        println!("{plugin}: {fate:?}");
    }
    Ok(rows)
}

/// Records verdicts by release and node; documents that some release would not take are left out.
pub fn verdicts(data: &Path, file: &str, releases: &[Release], rows: Vec<Value>) -> io::Result<()> {
    let answers = asked(releases, &rows)?;
    let refused = |answer: &Value| answer.get("invalid").is_some() || answer.get("error").is_some();
    let mut kept = vec![header(releases)?];
    for (at, mut row) in rows.into_iter().enumerate() {
        if answers.iter().any(|answers| refused(&answers[at])) {
            continue;
        }
        let by_release =
            releases.iter().zip(&answers).map(|((name, _), answers)| (name.clone(), shortened(&answers[at])));
        row["real"] = by_release.collect::<Map<_, _>>().into();
        kept.push(row);
    }
    vector::write(&data.join(file), &kept)
}

/// Records which pod types can reach which nodes, where the search was complete.
fn searches(data: &Path, file: &str, releases: &[Release], rows: Vec<Value>) -> io::Result<()> {
    let answers = asked(releases, &rows)?;
    let mut kept = vec![header(releases)?];
    for (at, mut row) in rows.into_iter().enumerate() {
        if answers.iter().any(|answers| answers[at]["complete"] != json!(true)) {
            continue;
        }
        let by_release =
            releases.iter().zip(&answers).map(|((name, _), answers)| (name.clone(), answers[at]["deployable"].clone()));
        row["real"] = by_release.collect::<Map<_, _>>().into();
        kept.push(row);
    }
    vector::write(&data.join(file), &kept)
}

fn asked(releases: &[Release], rows: &[Value]) -> io::Result<Vec<Vec<Value>>> {
    let docs: Vec<Value> = rows.iter().map(|row| row["doc"].clone()).collect();
    releases.iter().map(|(_, program)| Real::start(program)?.ask(&docs)).collect()
}

/// The first row: which plugins each release asked, in its order.
fn header(releases: &[Release]) -> io::Result<Value> {
    let mut plugins = Map::new();
    for (name, program) in releases {
        let output = Command::new(program).arg("-plugins").output()?;
        plugins.insert(name.clone(), serde_json::from_slice(&output.stdout).map_err(io::Error::other)?);
    }
    Ok(json!({"plugins": plugins}))
}
