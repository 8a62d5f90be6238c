//! Running families: every solver on every size, up to the first that it does not solve.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::anchor::{self, Anchor};
use crate::family::{FAMILIES, Family};
use crate::measure::{self, Limits, Usage};
use crate::table::{self, Cell, Measured, SELF};

/// Runs that take less are repeated, and the best is kept: other programs only ever make a run slower.
const SHORT: f64 = 1.0;

/// How to run families.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only the family of this name; without one, those whose name starts with this.
    #[arg(long, default_value = "")]
    family: String,
    /// Only sizes from this.
    #[arg(long, default_value_t = 0)]
    min_size: usize,
    /// Only sizes up to this.
    #[arg(long)]
    max_size: Option<usize>,
    /// Processor seconds for one solver on one instance.
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// Memory for one solver, in GiB.
    #[arg(long, default_value_t = 8)]
    memory: u64,
    /// How often short runs are repeated.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Leave a solver out of larger sizes once it took this many times as long as the best of the others, and two seconds or more.
    #[arg(long)]
    behind: Option<f64>,
    /// Only these solvers, by name, separated by commas; podreach always runs.
    #[arg(long, value_delimiter = ',')]
    solvers: Vec<String>,
    /// The folder for tables and plots.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

/// How to measure clusters.
#[derive(Args, Debug)]
pub(crate) struct Scale {
    /// The numbers of nodes.
    #[arg(long, value_delimiter = ',', default_values_t = [500, 1000, 2000, 5000, 10_000, 20_000])]
    sizes: Vec<usize>,
    /// Processor seconds for one run.
    #[arg(long, default_value_t = 600)]
    timeout: u64,
    /// How often each run is repeated.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// The folder for tables and plots.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

/// The solvers that are there and wanted, and those that are missing.
fn solvers(options: &Options) -> (Vec<Anchor>, Vec<&'static str>) {
    let (mut found, missing) = anchor::installed();
    found.retain(|anchor| options.solvers.is_empty() || options.solvers.iter().any(|name| name == anchor.name));
    (found, missing)
}

/// Runs the families and writes what was measured.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let (anchors, missing) = solvers(options);
    for anchor in &anchors {
        println!("{}: {}", anchor.name, anchor.version);
    }
    missing.iter().for_each(|name| println!("{name}: not installed, left out"));
    let mut wrong = Vec::new();
    let exact = FAMILIES.iter().any(|family| family.name == options.family);
    let is_wanted = |name: &str| if exact { name == options.family } else { name.starts_with(&options.family) };
    for family in FAMILIES.iter().filter(|family| is_wanted(family.name)) {
        let measured = climb(family, &anchors, options).map_err(|error| format!("{}: {error}", family.name))?;
        wrong.extend(table::disagreements(family, &measured));
        table::write(&options.results, family, &measured).map_err(|error| error.to_string())?;
    }
    table::write_summary(&options.results, options.timeout).map_err(|error| error.to_string())?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// All sizes of a family; a solver that fails on one size is not asked about larger ones.
fn climb(family: &Family, anchors: &[Anchor], options: &Options) -> std::io::Result<Vec<Measured>> {
    let scratch = scratch(family.name)?;
    let limits = Limits { seconds: options.timeout, gibibytes: options.memory };
    let me = env::current_exe()?.to_string_lossy().into_owned();
    let mut measured: Vec<Measured> = Vec::new();
    let wanted = |size: usize| size >= options.min_size && options.max_size.is_none_or(|most| size <= most);
    for &size in family.sizes.iter().filter(|&&size| wanted(size)) {
        let making = [&me, "write", family.name, &size.to_string(), "."].map(str::to_owned);
        let made = measure::run(&making, &scratch, None, Limits { seconds: 600, ..limits })?;
        if !scratch.join("question.json").is_file() {
            return Err(std::io::Error::other(made.output));
        }
        let failed = |solver: &str| {
            measured.iter().any(|m| m.solver == solver && (m.cell.answer.is_none() || is_behind(m, &measured, options)))
        };
        let mut new = Vec::new();
        if !failed(SELF) {
            let deciding = [&me, "decide", "question.json"].map(str::to_owned);
            let usage = best(options.repeat, || measure::run(&deciding, &scratch, None, limits))?;
            new.push(Measured { solver: SELF.into(), size, cell: own_cell(&usage) });
        }
        for anchor in anchors.iter().filter(|anchor| !failed(anchor.name)) {
            let usage = best(options.repeat, || ask(anchor, &scratch, limits))?;
            let cell = Cell::new(anchor.answer(&usage.output), &usage, String::new());
            new.push(Measured { solver: anchor.name.into(), size, cell });
        }
        new.iter().for_each(|m| println!("{:24} {size:4} {:10} {}", family.name, m.solver, m.cell.shown()));
        measured.extend(new);
    }
    fs::remove_dir_all(scratch)?;
    Ok(measured)
}

/// Whether a solver was so slow on a size, beside the others, that it has no chance on larger ones.
fn is_behind(measured: &Measured, all: &[Measured], options: &Options) -> bool {
    let rivals = all.iter().filter(|m| m.solver != SELF && m.size == measured.size && m.cell.answer.is_some());
    let best = rivals.map(|m| m.cell.seconds).min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    measured.solver != SELF
        && options.behind.is_some_and(|times| measured.cell.seconds >= 2.0 && measured.cell.seconds > times * best)
}

fn ask(anchor: &Anchor, folder: &Path, limits: Limits) -> std::io::Result<Usage> {
    let last = anchor.commands.len() - 1;
    let mut used = Usage::default();
    for (index, command) in anchor.commands.iter().enumerate() {
        let input = anchor.input.filter(|_| index == last);
        if input.is_some_and(|input| !folder.join(input).is_file()) {
            return Ok(used);
        }
        used = used.then(measure::run(command, folder, input, limits)?);
    }
    Ok(used)
}

/// The fastest of some runs; long ones are not repeated.
fn best(repeat: usize, mut run: impl FnMut() -> std::io::Result<Usage>) -> std::io::Result<Usage> {
    let mut best = run()?;
    for _ in 1..repeat {
        if best.seconds > SHORT {
            break;
        }
        let next = run()?;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    Ok(best)
}

fn own_cell(usage: &Usage) -> Cell {
    let mut words = usage.output.trim().split('\t');
    let answer = match words.next() {
        Some("deployable") => Some(true),
        Some("never") => Some(false),
        _ => None,
    };
    Cell::new(answer, usage, words.take(2).collect::<Vec<_>>().join(", "))
}

fn scratch(name: &str) -> std::io::Result<PathBuf> {
    let folder = env::temp_dir().join(format!("podreach-bench-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Measures reading, the matrix and the audit of generated clusters, beside `jq length` on the same text.
pub(crate) fn scale(options: &Scale) -> Result<(), String> {
    let rows = scale_rows(options).map_err(|error| error.to_string())?;
    table::write_scale(&options.results, &rows).map_err(|error| error.to_string())
}

/// One size of a generated cluster.
pub(crate) struct Scaled {
    pub(crate) nodes: usize,
    pub(crate) mebibytes: f64,
    pub(crate) jq: Option<Usage>,
    pub(crate) read: Usage,
    pub(crate) matrix: Usage,
    pub(crate) audit: Usage,
    /// Reading the same cluster in YAML, and how large that is.
    pub(crate) yaml: Usage,
    pub(crate) yaml_mebibytes: f64,
}

fn scale_rows(options: &Scale) -> std::io::Result<Vec<Scaled>> {
    let scratch = scratch("scale")?;
    let limits = Limits { seconds: options.timeout, gibibytes: 16 };
    let me = env::current_exe()?.to_string_lossy().into_owned();
    let mut rows = Vec::new();
    for &nodes in &options.sizes {
        let run = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            measure::run(&command, &scratch, None, limits)
        };
        let made = |file: &str| {
            run(&[&me, "cluster", &nodes.to_string(), file])?;
            std::io::Result::Ok(fs::metadata(scratch.join(file))?.len() as f64 / f64::from(1 << 20))
        };
        let (mebibytes, yaml_mebibytes) = (made("cluster.json")?, made("cluster.yaml")?);
        let repeated = |command: &[&str]| {
            let runs: std::io::Result<Vec<Usage>> = (0..options.repeat).map(|_| run(command)).collect();
            runs.map(|runs| runs.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap_or_default())
        };
        let jq = repeated(&["jq", "length", "cluster.json"])?;
        let row = Scaled {
            nodes,
            mebibytes,
            jq: Some(jq).filter(|usage| usage.output.trim().parse::<usize>().is_ok()),
            read: repeated(&[&me, "read", "cluster.json"])?,
            matrix: repeated(&[&me, "matrix", "cluster.json"])?,
            audit: repeated(&[&me, "audit", "cluster.json"])?,
            yaml: repeated(&[&me, "read", "cluster.yaml"])?,
            yaml_mebibytes,
        };
        println!("{}", table::scale_line(&row));
        println!("  {}  {}  {}", row.read.output.trim(), row.matrix.output.trim(), row.audit.output.trim());
        rows.push(row);
    }
    fs::remove_dir_all(scratch)?;
    Ok(rows)
}
