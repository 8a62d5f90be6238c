//! The command line of the comparison; the scripts beside it build the real side and call this.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser};
use podreach::lower::Release;
use podreach_conformance::fuzz::{Fuzz, Outcome, Question, save};
use podreach_conformance::generate::{self, Shape};
use podreach_conformance::{karpenter, record};
use podreach_core::random::Rng;

/// podreach beside the real filters of kube-scheduler.
#[derive(Debug, Parser)]
enum Command {
    /// Random clusters through both sides, until they differ
    Fuzz(FuzzArgs),
    /// Prints random documents, one a line
    Generate(GenerateArgs),
    /// Records the answers of every release
    Record(RecordArgs),
    /// Random pools and pods through podreach and Karpenter's own code, until they differ
    Pools(PoolsArgs),
}

#[derive(Debug, Args)]
struct PoolsArgs {
    /// The program that runs Karpenter's code
    #[arg(long)]
    real: PathBuf,
    /// Stop after this many pairs of a pool and a pod
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct FuzzArgs {
    /// The program that runs the real filters
    #[arg(long)]
    real: PathBuf,
    /// The Kubernetes release it was built from
    #[arg(long)]
    release: Release,
    /// Stop after this many (pod, node, cluster) triples, or clusters with --reach or --phases
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop after this many seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Compare whole deployability matrices with exhaustive search
    #[arg(long)]
    reach: bool,
    /// The same where deletion has two phases, from pods that run, wait, are static or are being deleted
    #[arg(long, conflicts_with = "reach")]
    phases: bool,
    /// Leave out volumes
    #[arg(long)]
    no_volumes: bool,
    /// Stop after this many clusters on which the sides differ; the first is made small
    #[arg(long, default_value_t = 1)]
    differences: usize,
    /// Where the first difference is written
    #[arg(long, default_value = "difference.json")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct GenerateArgs {
    /// The Kubernetes release they are for
    #[arg(long)]
    release: Release,
    /// How many
    #[arg(long, default_value_t = 10)]
    count: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Documents for exhaustive search
    #[arg(long)]
    reach: bool,
    /// Documents for exhaustive search in which deletion has two phases
    #[arg(long, conflicts_with = "reach")]
    phases: bool,
    /// The namespaces of one seed, each with its policies and workloads for real controllers
    #[arg(long, conflicts_with_all = ["reach", "phases"])]
    workloads: bool,
}

#[derive(Debug, Args)]
struct RecordArgs {
    /// The folder of the recorded vectors
    #[arg(long)]
    data: PathBuf,
    /// A release and the program that runs its filters, as 1.37=path; once for each
    #[arg(long, value_parser = named)]
    real: Vec<record::Release>,
    /// The lines that upstream tests left, to record their tables anew
    #[arg(long)]
    tables: Option<PathBuf>,
}

fn named(text: &str) -> Result<record::Release, String> {
    let (name, path) = text.split_once('=').ok_or("a release and a path, as 1.37=path")?;
    Ok((name.to_owned(), PathBuf::from(path)))
}

fn main() -> ExitCode {
    let ended = match Command::parse() {
        Command::Fuzz(args) => fuzz(&args),
        Command::Generate(args) => {
            generate(&args);
            Ok(ExitCode::SUCCESS)
        }
        Command::Record(args) => {
            record::record(&args.data, &args.real, args.tables.as_deref()).map(|()| ExitCode::SUCCESS)
        }
        Command::Pools(args) => pools(&args),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("conformance: {error}");
        ExitCode::from(2)
    })
}

fn generate(args: &GenerateArgs) {
    let shape = Shape { minor: args.release.minor, volumes: true };
    if args.workloads {
        let rng = &mut Rng::new(args.seed);
        for at in 0..args.count {
            let (policies, workloads) = generate::workloads(rng, shape, &format!("w{}-{at}", args.seed), 10);
            println!("{}", serde_json::json!({"policies": policies, "workloads": workloads}));
        }
        return;
    }
    let make = match (args.reach, args.phases) {
        (true, _) => generate::types,
        (_, true) => generate::phases,
        _ => generate::cluster,
    };
    (args.seed..args.seed + args.count).for_each(|seed| println!("{}", make(&mut Rng::new(seed), shape)));
}

fn fuzz(args: &FuzzArgs) -> std::io::Result<ExitCode> {
    let fuzz = Fuzz {
        program: args.real.clone(),
        release: args.release,
        question: match (args.reach, args.phases) {
            (true, _) => Question::Reach,
            (_, true) => Question::Phases,
            _ => Question::Filters,
        },
        seed: args.seed,
        count: args.count,
        limit: args.seconds.map(Duration::from_secs),
        volumes: !args.no_volumes,
        differences: args.differences,
    };
    let outcome = fuzz.run()?;
    print(&outcome);
    Ok(finish(&outcome, &args.out))
}

fn pools(args: &PoolsArgs) -> std::io::Result<ExitCode> {
    let (tally, difference) = karpenter::run(&args.real, args.seed, args.count)?;
    println!("{} pairs of a pool and a pod, {} values, {} nodes made", tally.pairs, tally.values, tally.nodes);
    println!("{:22} {:>12} {:>12}", "", "yes", "no");
    for (what, (yes, no)) in &tally.answers {
        println!("{what:22} {yes:12} {no:12}");
    }
    let Some(difference) = difference else {
        println!("no difference");
        return Ok(ExitCode::SUCCESS);
    };
    println!("DIFFERENCE: {difference}");
    Ok(ExitCode::FAILURE)
}

fn print(outcome: &Outcome) {
    let Outcome { tally, documents, skipped, .. } = outcome;
    println!("{documents} clusters ({skipped} skipped), {} triples, {} verdicts", tally.triples, tally.compared());
    println!("{:22} {:>12} {:>12}", "", "accepted", "refused");
    for (plugin, (accepted, refused)) in &tally.plugins {
        println!("{plugin:22} {accepted:12} {refused:12}");
    }
    for ((code, of), times) in &tally.doubted {
        println!("{code}: {times} times podreach says that it does not know, and would have been wrong ({of})");
    }
    if tally.beyond > 0 {
        println!("{} verdicts not compared as a whole: a plugin that is not modelled refuses", tally.beyond);
    }
}

fn finish(outcome: &Outcome, out: &Path) -> ExitCode {
    let Some(found) = &outcome.found else {
        println!("no difference");
        return ExitCode::SUCCESS;
    };
    println!("DIFFERENCE, seed {}:", found.seed);
    found.differences.iter().for_each(|difference| println!("  {difference}"));
    println!("{}", found.doc);
    outcome.others.iter().for_each(|(seed, difference)| println!("seed {seed}: {difference}"));
    match save(found, out) {
        Ok(()) => println!("written to {}", out.display()),
        Err(error) => eprintln!("conformance: {}: {error}", out.display()),
    }
    ExitCode::FAILURE
}
