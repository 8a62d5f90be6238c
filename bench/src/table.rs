//! Results as CSV, Markdown and plots.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::family::{FAMILIES, Family};
use crate::measure::Usage;
use crate::plot::{self, Series};
use crate::run::Scaled;

/// Our own name among the solvers.
pub(crate) const SELF: &str = "podreach";

/// What one solver did on one instance.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The answer; `None` when it ran out of time or memory, or gave up.
    pub(crate) answer: Option<bool>,
    /// Whether a limit on time ended it.
    pub(crate) late: bool,
    pub(crate) seconds: f64,
    pub(crate) mebibytes: f64,
    /// Who decided and how long the evidence is, for podreach.
    pub(crate) note: String,
}

/// A cell and where it belongs.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) solver: String,
    pub(crate) size: usize,
    pub(crate) cell: Cell,
}

impl Cell {
    pub(crate) fn new(answer: Option<bool>, usage: &Usage, note: String) -> Self {
        Self { answer, late: usage.late, seconds: usage.seconds, mebibytes: usage.mebibytes, note }
    }

    fn word(&self) -> &'static str {
        match self.answer {
            Some(true) => "deployable",
            Some(false) => "never",
            None if self.late => "out of time",
            None => "none",
        }
    }

    pub(crate) fn shown(&self) -> String {
        format!("{:11} {:9.3} s {:7.0} MiB  {}", self.word(), self.seconds, self.mebibytes, self.note)
    }
}

/// Answers that are not the family's.
pub(crate) fn disagreements(family: &Family, measured: &[Measured]) -> Vec<String> {
    measured
        .iter()
        .filter(|m| m.cell.answer.is_some_and(|answer| answer != family.deployable))
        .map(|m| disagreement(family, m))
        .collect()
}

fn disagreement(family: &Family, m: &Measured) -> String {
    format!("{} {}: {} answers {}", family.name, m.size, m.solver, m.cell.word())
}

/// Writes the CSV and the plot of one family.
pub(crate) fn write(folder: &Path, family: &Family, measured: &[Measured]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut csv = String::from("family,size,solver,answer,cpu_seconds,peak_mib,note\n");
    for Measured { solver, size, cell } in measured {
        let Cell { seconds, mebibytes, note, .. } = cell;
        let note = note.replace(',', ";");
        writeln!(csv, "{},{size},{solver},{},{seconds:.4},{mebibytes:.1},{note}", family.name, cell.word())
            .expect("strings take all text");
    }
    fs::write(folder.join(format!("{}.csv", family.name)), csv)?;
    let mut lines: BTreeMap<&str, Series> = BTreeMap::new();
    for m in measured.iter().filter(|m| m.cell.answer.is_some()) {
        let series = lines.entry(&m.solver).or_insert_with(|| Series { name: m.solver.clone(), points: Vec::new() });
        series.points.push((m.size as f64, m.cell.seconds, m.cell.mebibytes));
    }
    let series: Vec<Series> = lines.into_values().collect();
    fs::write(folder.join(format!("{}.svg", family.name)), plot::svg(family.title, family.unit, &series))
}

/// The families that a folder has results of, read back, so that families can be measured one by one.
fn read(folder: &Path) -> Vec<(&'static Family, Vec<Measured>)> {
    FAMILIES.iter().filter_map(|family| results(folder, family)).collect()
}

fn results(folder: &Path, family: &'static Family) -> Option<(&'static Family, Vec<Measured>)> {
    let csv = fs::read_to_string(folder.join(format!("{}.csv", family.name))).ok()?;
    Some((family, csv.lines().skip(1).filter_map(parsed).collect()))
}

fn parsed(line: &str) -> Option<Measured> {
    let fields: Vec<&str> = line.splitn(7, ',').collect();
    let [_, size, solver, word, seconds, mebibytes, note] = fields[..] else { return None };
    let answer = match word {
        "deployable" => Some(true),
        "never" => Some(false),
        _ => None,
    };
    let late = word == "out of time";
    let cell =
        Cell { answer, late, seconds: seconds.parse().ok()?, mebibytes: mebibytes.parse().ok()?, note: note.into() };
    Some(Measured { solver: solver.into(), size: size.parse().ok()?, cell })
}

/// Draws the plots again and writes the tables again, from the CSV files of a folder.
pub(crate) fn redraw(folder: &Path, timeout: u64) -> io::Result<()> {
    read(folder).iter().try_for_each(|(family, measured)| write(folder, family, measured))?;
    write_summary(folder, timeout)
}

/// Writes the tables of all families that have results.
pub(crate) fn write_summary(folder: &Path, timeout: u64) -> io::Result<()> {
    let families = read(folder);
    let mut text = format!("# Results\n\nProcessor seconds, {timeout} at most; – is out of time or memory.\n\n");
    text += "| family | answer | largest size that another solves | best of the others | podreach | ratio | podreach solves up to |\n";
    text += "|---|---|---|---|---|---|---|\n";
    families.iter().for_each(|(family, measured)| text += &summary_row(family, measured));
    for (family, measured) in &families {
        write!(text, "\n## {}: {}\n\n{}", family.name, family.title, size_table(family, measured))
            .expect("strings take all text");
    }
    fs::write(folder.join("results.md"), text)
}

fn summary_row(family: &Family, measured: &[Measured]) -> String {
    let solved = |own: bool| measured.iter().filter(move |m| (m.solver == SELF) == own && m.cell.answer.is_some());
    let largest = |own: bool| solved(own).map(|m| m.size).max();
    let size = largest(false);
    let best = solved(false).filter(|m| Some(m.size) == size).min_by(|a, b| a.cell.seconds.total_cmp(&b.cell.seconds));
    let own = solved(true).find(|m| Some(m.size) == size);
    let answer = if family.deployable { "deployable" } else { "never" };
    let best_shown = best.map_or("–".into(), |m| format!("{} ({})", time(m.cell.seconds), m.solver));
    let ratio = best.zip(own).map_or("–".into(), |(best, own)| ratio(best.cell.seconds / own.cell.seconds));
    let [size, up_to] = [size, largest(true)].map(|size| size.map_or("–".into(), |size| size.to_string()));
    let own = own.map_or("–".into(), |m| time(m.cell.seconds));
    format!("| {} | {answer} | {size} | {best_shown} | {own} | {ratio} | {up_to} |\n", family.name)
}

fn ratio(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.1}") }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{seconds:.3}") } else { format!("{seconds:.1}") }
}

fn size_table(family: &Family, measured: &[Measured]) -> String {
    let mut solvers: Vec<&str> = Vec::new();
    measured.iter().for_each(|m| {
        if !solvers.contains(&m.solver.as_str()) {
            solvers.push(&m.solver);
        }
    });
    let sizes: BTreeSet<usize> = measured.iter().map(|m| m.size).collect();
    let mut text =
        format!("| {} | {} | evidence |\n|{}\n", family.unit, solvers.join(" | "), "---|".repeat(solvers.len() + 2));
    for size in sizes {
        let of = |solver: &str| measured.iter().find(|m| m.size == size && m.solver == solver).map(|m| &m.cell);
        let shown = |solver: &&str| match of(solver) {
            Some(cell) if cell.answer.is_some() => time(cell.seconds),
            Some(_) => "–".into(),
            None => String::new(),
        };
        let cells: Vec<String> = solvers.iter().map(shown).collect();
        let note = of(SELF).map_or("", |cell| &cell.note);
        writeln!(text, "| {size} | {} | {note} |", cells.join(" | ")).expect("strings take all text");
    }
    text
}

const SCALE_HEAD: &str = "\
| nodes | JSON MiB | `jq length` s | read s | jq / read | peak / input | matrix s | matrix / read | audit s | audit / read | YAML MiB | read s | YAML / JSON | peak / input |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// One row of the table of clusters, in processor seconds of the programs themselves; the matrix without reading.
pub(crate) fn scale_line(row: &Scaled) -> String {
    let Scaled { nodes, mebibytes, read, yaml, yaml_mebibytes, .. } = row;
    let besides = |usage: &Usage| (usage.user - read.user).max(0.0);
    let of_read = |seconds: f64| format!("{:.1}", seconds / read.user);
    let (matrix, audit) = (besides(&row.matrix), besides(&row.audit));
    let (jq, by_jq) = row.jq.as_ref().map_or_else(Default::default, |jq| (time(jq.user), of_read(jq.user)));
    let cells = [
        nodes.to_string(),
        format!("{mebibytes:.0}"),
        jq,
        time(read.user),
        by_jq,
        format!("{:.1}", read.mebibytes / mebibytes),
        time(matrix),
        of_read(matrix),
        time(audit),
        of_read(audit),
        format!("{yaml_mebibytes:.0}"),
        time(yaml.user),
        of_read(yaml.user),
        format!("{:.1}", yaml.mebibytes / yaml_mebibytes),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Writes the table and the plot of clusters.
pub(crate) fn write_scale(folder: &Path, rows: &[Scaled]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let lines: String = rows.iter().map(|row| scale_line(row) + "\n").collect();
    fs::write(folder.join("cluster.md"), format!("# Clusters\n\n{SCALE_HEAD}{lines}"))?;
    let all = [
        series(rows, "jq length", |row| row.jq.as_ref()),
        series(rows, "podreach: read", |row| Some(&row.read)),
        series(rows, "podreach: read and matrix", |row| Some(&row.matrix)),
        series(rows, "podreach: read and audit", |row| Some(&row.audit)),
        series(rows, "podreach: read YAML", |row| Some(&row.yaml)),
    ];
    fs::write(folder.join("cluster.svg"), plot::svg("a generated cluster", "nodes", &all))
}

fn series(rows: &[Scaled], name: &str, of: fn(&Scaled) -> Option<&Usage>) -> Series {
    Series {
        name: name.into(),
        points: rows.iter().filter_map(|r| of(r).map(|u| (r.nodes as f64, u.seconds, u.mebibytes))).collect(),
    }
}
