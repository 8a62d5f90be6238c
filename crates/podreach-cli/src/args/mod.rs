//! The command line: commands and flags, as `podreach help` shows them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::output::print::Color;

mod audit;
mod choice;
mod encode;
mod error;
mod live;
mod page;
mod shared;
mod units;

pub(crate) use audit::{Audit, AuditFormat, Auditing, FailOn};
pub(crate) use choice::{Change, FirstOf, Format, HowMany, SemanticsChoice};
pub(crate) use encode::{Aapp, Encode, Encoding, Notation, Order, Otherwise, Pebbling, Petri, ToNet};
pub(crate) use error::ArgumentError;
pub(crate) use live::Flags;
#[cfg(feature = "serve")]
pub(crate) use page::Serve;
pub(crate) use page::{PageFile, Report, ReportAudit, ReportOf};
use shared::some_of;
pub(crate) use shared::{Cluster, Input, Limits, Output, Reading, Remarks};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    version,
    about = "Can this pod ever land on that node? Decided, with evidence.",
    after_help = "Start with `podreach demo`.",
    max_term_width = 100
)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Can POD ever run on NODE? The answer comes with a run or a proof
    Check(Check),
    /// Right now, which scheduler rule accepts or refuses POD on each node?
    Why(Why),
    /// Every pod type against every node
    Matrix(Matrix),
    /// A page in one file: a verdict with its run or proof, the matrix, or an audit
    Report(Report),
    /// A local page to ask by clicking, and a sandbox to change things in
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// Do the placement policies hold, and what is wrong with this cluster by itself?
    Audit(Box<Audit>),
    /// Does a certificate prove what it says about this input?
    Verify(Verify),
    /// Petri nets, pebble games and aAPP policies as clusters, and clusters as Petri nets
    Encode(Box<Encode>),
    /// What placement depends on in a cluster, in a file, to be analysed elsewhere
    Snapshot(Box<Snapshot>),
    /// The pod types and nodes as the rules see them, with defaults and admission applied
    Lower(Lower),
    /// Run the steps of a verdict on a test cluster, and see whether its scheduler agrees
    #[cfg(feature = "live")]
    Replay(Box<Replay>),
    /// A bundled example: nothing to install, nothing to know
    Demo,
    /// Manual pages, one for each command
    Man {
        /// The folder they are written to.
        folder: PathBuf,
    },
    /// What the last word could become, as kubectl asks its plugins
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words so far, without the name of the program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Completion for a shell
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// What the command may take; those without limits read nothing that could be large.
    pub(crate) fn limits(&self) -> Option<&Limits> {
        match self {
            Self::Check(args) => Some(&args.cluster.limits),
            Self::Why(args) => Some(&args.cluster.limits),
            Self::Matrix(args) => Some(&args.cluster.limits),
            Self::Report(args) => Some(args.limits()),
            #[cfg(feature = "serve")]
            Self::Serve(args) => Some(&args.cluster.limits),
            Self::Audit(args) => Some(&args.auditing.cluster.limits),
            Self::Verify(args) => Some(&args.limits),
            Self::Encode(args) => Some(args.limits()),
            Self::Snapshot(args) => Some(&args.limits),
            Self::Lower(args) => Some(&args.cluster.limits),
            #[cfg(feature = "live")]
            Self::Replay(args) => Some(&args.limits),
            Self::Demo | Self::Man { .. } | Self::Complete { .. } | Self::Completion { .. } => None,
        }
    }
}

impl CommandLine {
    /// With names of pods as they are looked up: those without a namespace are of the one that `-n` gives.
    pub(crate) fn qualified(mut self) -> Self {
        match &mut self.command {
            Command::Check(args) => args.asking.qualify(&args.cluster.input.live),
            Command::Report(Report { what: ReportOf::Check(args) }) => args.asking.qualify(&args.cluster.input.live),
            Command::Why(args) => args.pod = args.cluster.input.live.qualified(&args.pod),
            Command::Encode(args) => {
                args.goal = args.goal.iter().map(|goal| qualified_entry(&args.cluster.input.live, goal)).collect();
            }
            _ => {}
        }
        self
    }
}

impl Asking {
    fn qualify(&mut self, flags: &Flags) {
        self.pod = self.pod.as_deref().map(|pod| flags.qualified(pod));
        self.with = self.with.iter().map(|with| qualified_entry(flags, with)).collect();
    }
}

/// `POD@NODE` with the pod's name in full.
fn qualified_entry(flags: &Flags, entry: &str) -> String {
    match entry.split_once('@') {
        Some((pod, rest)) => format!("{}@{rest}", flags.qualified(pod)),
        None => entry.to_owned(),
    }
}

/// `podreach check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 deployable, 1 never, 2 bad input or usage, 3 unknown.\n\
    Without POD and NODE, the Question documents of the input are answered.",
    mut_arg("format", |arg| arg.value_parser(some_of(&[
        Format::Text, Format::Json, Format::Yaml, Format::Mermaid, Format::Svg, Format::Itf,
    ])))
)]
pub(crate) struct Check {
    /// What is asked.
    #[command(flatten)]
    pub(crate) asking: Asking,
    /// Show the steps of a run one by one, with keys
    #[arg(long, conflicts_with_all = ["format", "quiet"])]
    pub(crate) step: bool,
    /// Write the verdict with its evidence to this file, for `podreach verify`
    #[arg(long, value_name = "FILE")]
    pub(crate) proof_out: Option<PathBuf>,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// What is written.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A question on the command line.
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// A pod type: kind/namespace/name, or namespace/name or name where only one has it
    pub(crate) pod: Option<String>,
    /// A node
    pub(crate) node: Option<String>,
    /// Any node with these labels instead of NODE
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with_all = ["node", "any_node"])]
    pub(crate) selector: Option<String>,
    /// Any node at all instead of NODE
    #[arg(long, conflicts_with = "node")]
    pub(crate) any_node: bool,
    /// Require this pod to run at the same time; naming POD on NODE sets how many instances are wanted (repeatable)
    #[arg(long, value_name = "POD@NODE[=COUNT]", requires = "pod")]
    pub(crate) with: Vec<String>,
    /// A whole configuration instead of POD and NODE: a file with a list of {pod, node, count}
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pod", "node", "selector", "any_node", "with"])]
    pub(crate) exact: Option<PathBuf>,
}

/// `podreach why`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 feasible somewhere, 1 nowhere, 2 bad input or usage, 3 unknown.",
    mut_arg("format", |arg| arg.value_parser(some_of(&[Format::Text, Format::Json, Format::Yaml])))
)]
pub(crate) struct Why {
    /// A pod type: kind/namespace/name, or namespace/name or name where only one has it
    pub(crate) pod: String,
    /// A node; without it, all of them
    pub(crate) node: Option<String>,
    /// Only nodes with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "node")]
    pub(crate) selector: Option<String>,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// What is written.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `podreach matrix`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 decided, 2 bad input or usage, 3 a cell is unknown.",
    mut_arg("format", |arg| arg.value_parser(some_of(&[Format::Text, Format::Wide, Format::Json, Format::Yaml])))
)]
pub(crate) struct Matrix {
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
    /// What is written.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `podreach verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all proved, 1 something not proved, 2 bad input or usage, 3 something not looked at: an unknown, out \
    of time, or nothing to verify."
)]
pub(crate) struct Verify {
    /// A verdict as `check -o json`, `-o yaml` or `--proof-out` writes it; - for standard input
    pub(crate) certificate: PathBuf,
    /// The question that must have been answered: a verdict, or its `question` alone
    #[arg(long, value_name = "FILE")]
    pub(crate) question: Option<PathBuf>,
    /// The answer that must have been given
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub(crate) expect: Option<Expected>,
    /// Write question, cluster and certificate as numbers, for the checker that was extracted from its proof
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// The input.
    #[command(flatten)]
    pub(crate) input: Input,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Say nothing: the exit status is the answer
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Say everything
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// The verdicts that say something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Expected {
    /// It can be.
    Deployable,
    /// It can never be.
    Never,
}

impl Expected {
    /// As verdicts are written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deployable => "deployable",
            Self::Never => "never",
        }
    }
}

/// `podreach snapshot`.
#[derive(Debug, Args)]
#[command(
    after_help = "The file holds no Secrets, ConfigMaps, environment variables, commands, images or other fields that placement \
    does not depend on.\nExit status: 0 written, 2 bad input or usage, 3 stopped before it was written."
)]
pub(crate) struct Snapshot {
    /// Where to write it; - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace whatever names something, each everywhere by the same
    #[arg(long, visible_alias = "pseudonymize")]
    pub(crate) pseudonymise: bool,
    /// Where to write who is called what
    #[arg(long, value_name = "FILE", requires = "pseudonymise")]
    pub(crate) mapping: Option<PathBuf>,
    /// Say nothing
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// All remarks about the input
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The input.
    #[command(flatten)]
    pub(crate) input: Input,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// `podreach lower`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 written, 2 bad input or usage, 3 stopped before it was written.")]
pub(crate) struct Lower {
    /// The format
    #[arg(short = 'o', long = "output", value_parser = some_of(&[Format::Json, Format::Yaml]))]
    #[arg(default_value = "yaml", value_name = "FORMAT")]
    pub(crate) format: Format,
    /// What is said about the input.
    #[command(flatten)]
    pub(crate) remarks: Remarks,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// `podreach replay`.
#[cfg(feature = "live")]
#[derive(Debug, Args)]
#[command(
    after_help = "Without --execute nothing is changed. A cluster is marked as a test cluster by the label or annotation \
    podreach.dev/test-cluster=true\nof its namespace kube-system.\nExit status: 0 all steps agreed, 1 the cluster disagreed, \
    2 bad input or usage, 3 not finished.",
    mut_arg("timeout", |arg| arg.default_value("1h"))
)]
pub(crate) struct Replay {
    /// A verdict with a run, as `check -o json` or `--proof-out` writes it; - for standard input
    #[arg(required_unless_present = "clean", conflicts_with = "clean")]
    pub(crate) verdict: Option<PathBuf>,
    /// Make the steps: create pods, let the scheduler bind them, delete pods
    #[arg(long, conflicts_with_all = ["clean", "dry_run"])]
    pub(crate) execute: bool,
    /// Only say what would be done, which is the default
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove what earlier replays left behind
    #[arg(long)]
    pub(crate) clean: bool,
    /// Given twice: also on a cluster that is not marked as a test cluster
    #[arg(long, action = clap::ArgAction::Count)]
    pub(crate) force: u8,
    /// Leave the pods of the run in the cluster at the end
    #[arg(long)]
    pub(crate) keep_pods: bool,
    /// How long to wait for each step
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = units::duration)]
    pub(crate) step_timeout: std::time::Duration,
    /// How many seconds pods that were there before have to end, instead of what they say themselves
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace_period: Option<u64>,
    /// The format
    #[arg(short = 'o', long = "output", value_parser = some_of(&[Format::Text, Format::Json, Format::Yaml]))]
    #[arg(default_value = "text", value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Only the conclusion
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// All remarks about the input
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The cluster; files are read besides it.
    #[command(flatten)]
    pub(crate) input: Input,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}
