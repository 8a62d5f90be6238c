//! Recording: the same documents to the real filters of every release, and their answers to files.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use podreach_core::random::Rng;
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
const SEARCHES: u64 = 900;

/// Records everything anew: hand-made cases, upstream tables (from the lines that their tests left, or else those recorded before),
/// random clusters and searches.
pub fn record(data: &Path, releases: &[Release], tables: Option<&Path>) -> io::Result<()> {
    let hand_made = vector::rows(&data.join("table.jsonl.gz"))?;
    verdicts(data, "cases.jsonl.gz", releases, hand_made)?;
    verdicts(data, "upstream.jsonl.gz", releases, upstream(data, releases, tables)?)?;
    // For each release in turn: what is new in one is no field of the API in those before, and left out there.
    let shape = |seed: u64| Shape { minor: if seed.is_multiple_of(2) { 37 } else { 35 }, volumes: true };
    let clusters = (0..CLUSTERS).map(|seed| json!({"doc": generate::cluster(&mut Rng::new(seed), shape(seed))}));
    verdicts(data, "random.jsonl.gz", releases, clusters.collect())?;
    let searches = (0..SEARCHES).map(|seed| json!({"doc": generate::types(&mut Rng::new(seed), shape(seed))}));
    self::searches(data, "search.jsonl.gz", releases, searches.collect())
}

fn upstream(data: &Path, releases: &[Release], tables: Option<&Path>) -> io::Result<Vec<Value>> {
    let (Some(tables), Some((name, program))) = (tables, releases.last()) else {
        return Ok(vector::rows(&data.join("upstream.jsonl.gz"))?.split_off(1));
    };
    let (rows, fates) = tables::rows(tables, program, name.parse().map_err(io::Error::other)?)?;
    for (plugin, fate) in fates {
        println!("{plugin}: {fate}");
    }
    Ok(rows)
}

/// Records verdicts by release and node; a release that would not take a document has none.
pub fn verdicts(data: &Path, file: &str, releases: &[Release], rows: Vec<Value>) -> io::Result<()> {
    let refused = |answer: &Value| answer.get("invalid").is_some() || answer.get("error").is_some();
    let short = |answer: &Value, plugins: &[Value]| (!refused(answer)).then(|| shortened(answer, plugins));
    write(data, file, releases, rows, short)
}

/// Records which pod types can reach which nodes, where the search was complete.
fn searches(data: &Path, file: &str, releases: &[Release], rows: Vec<Value>) -> io::Result<()> {
    let reached = |answer: &Value, _: &[Value]| (answer["complete"] == true).then(|| answer["deployable"].clone());
    write(data, file, releases, rows, reached)
}

fn write(
    data: &Path,
    file: &str,
    releases: &[Release],
    rows: Vec<Value>,
    kept: impl Fn(&Value, &[Value]) -> Option<Value>,
) -> io::Result<()> {
    let answers = asked(releases, &rows)?;
    let header = header(releases)?;
    let mut lines = Vec::new();
    for (at, mut row) in rows.into_iter().enumerate() {
        let by_release = releases.iter().zip(&answers).filter_map(|((name, _), answers)| {
            let plugins = header["plugins"][name].as_array().map_or(&[][..], Vec::as_slice);
            Some((name.clone(), kept(&answers[at], plugins)?))
        });
        let by_release: Map<String, Value> = by_release.collect();
        if !by_release.is_empty() {
            row["real"] = by_release.into();
            lines.push(row);
        }
    }
    lines.insert(0, header);
    vector::write(&data.join(file), &lines)
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
