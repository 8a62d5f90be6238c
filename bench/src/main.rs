//! Families of growing questions, and podreach beside other people's solvers on them.
//!
//! `podreach-bench run` measures; the other commands are what its children do, and are useful to look at one instance.

mod aiger;
mod anchor;
mod cluster;
mod contest;
mod decide;
mod family;
mod graphs;
mod horn;
mod measure;
mod nets;
mod planning;
mod plot;
mod policies;
mod promela;
mod questions;
mod rules;
mod run;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use aiger::Stepping;

/// Families of growing questions, and podreach beside other people's solvers on them.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measure podreach and every solver that is installed; writes tables and plots.
    Run(run::Options),
    /// Measure reading a generated cluster, its matrix and its audit.
    Scale(run::Scale),
    /// Ask about the places of nets from files, and hold the answers against a search of the nets; or a folder of questions with known answers.
    Nets(contest::Options),
    /// Draw the plots and write the tables again, from the CSV files of an earlier run.
    Redraw {
        /// The folder with the results.
        folder: PathBuf,
        /// The processor seconds that each solver had.
        #[arg(long, default_value_t = 120)]
        timeout: u64,
    },
    /// Write one instance in every form.
    Write {
        /// The family.
        family: String,
        /// Its size.
        size: usize,
        /// The folder to write to.
        folder: PathBuf,
    },
    /// Write a generated cluster as one list, in YAML if the name of the file ends in `.yaml`, else in JSON.
    Cluster {
        /// How many nodes.
        nodes: usize,
        /// The file to write.
        file: PathBuf,
    },
    /// Decide the question of a file.
    Decide {
        /// The file.
        file: PathBuf,
    },
    /// Read a cluster and do nothing with it.
    Read {
        /// The file.
        file: PathBuf,
    },
    /// Decide every pod type on every node of a cluster.
    Matrix {
        /// The file.
        file: PathBuf,
    },
    /// Look for every finding in a cluster.
    Audit {
        /// The file.
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Task::Run(options) => run::run(&options),
        Task::Scale(options) => run::scale(&options),
        Task::Nets(options) => contest::run(&options),
        Task::Redraw { folder, timeout } => table::redraw(&folder, timeout).map_err(|error| error.to_string()),
        Task::Write { family, size, folder } => write(&family, size, &folder),
        Task::Cluster { nodes, file } => cluster::write(nodes, &file).map_err(|error| error.to_string()),
        Task::Decide { file } => decide::question(&file).map(|line| println!("{line}")),
        Task::Read { file } => decide::reading(&file).map(|line| println!("{line}")),
        Task::Matrix { file } => decide::matrix(&file).map(|line| println!("{line}")),
        Task::Audit { file } => decide::audit(&file).map(|line| println!("{line}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one instance; a form that cannot hold it is left out.
fn write(family: &str, size: usize, folder: &Path) -> Result<(), String> {
    let family = family::named(family).ok_or_else(|| format!("there is no family {family}"))?;
    let encoded = (family.encoded)(size);
    let rules = rules::Rules::new(&family::problem(&encoded)?)?;
    println!("{} bits, {} rules, {} capacities", rules.bits(), rules.rules.len(), rules.capacities.len());
    let mut files = vec![
        ("question.json", encoded.json().to_string().into_bytes()),
        ("together.aig", aiger::circuit(&rules, Stepping::Together)?),
        ("process.pml", promela::process(&rules).into_bytes()),
        ("clauses.smt2", horn::clauses(&rules).into_bytes()),
    ];
    match aiger::circuit(&rules, Stepping::InTurn) {
        Ok(circuit) => files.push(("in-turn.aig", circuit)),
        Err(why) => println!("no circuit in turn: {why}"),
    }
    match planning::task(&rules) {
        Ok(task) => files.push(("task.sas", task.into_bytes())),
        Err(why) => println!("no planning task: {why}"),
    }
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    files.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes)).map_err(|error| error.to_string())
}
