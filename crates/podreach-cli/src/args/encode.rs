//! The arguments of `podreach encode`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Cluster, Limits, Remarks, SemanticsChoice, some_of};

/// `podreach encode`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Exit status: 0 written, 2 bad input or usage, 3 stopped before it was written."
)]
pub(crate) struct Encode {
    /// What to encode.
    #[command(subcommand)]
    pub(crate) what: Option<Encoding>,
    /// Write the cluster of the input as a Petri net, whose place `goal` can be marked iff the goal can be reached
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: Option<ToNet>,
    /// What is to run, all at the same time (repeatable); without it, what the Question of the input asks
    #[arg(long, value_name = "POD@NODE")]
    pub(crate) goal: Vec<String>,
    /// What is said about the input.
    #[command(flatten)]
    pub(crate) remarks: Remarks,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

impl Encode {
    /// How long and how much.
    pub(crate) fn limits(&self) -> &Limits {
        match &self.what {
            Some(Encoding::Petri(args)) => &args.limits,
            Some(Encoding::Pebbling(args)) => &args.limits,
            Some(Encoding::Aapp(args)) => &args.limits,
            None => &self.cluster.limits,
        }
    }
}

/// What is encoded.
#[derive(Debug, Subcommand)]
pub(crate) enum Encoding {
    /// Can a 1-safe Petri net mark these places together?
    Petri(Petri),
    /// Can a vertex of a directed graph be pebbled?
    Pebbling(Pebbling),
    /// Can serverless functions start on a worker, or run there together, by an aAPP policy?
    Aapp(Aapp),
}

/// `podreach encode petri`.
#[derive(Debug, Args)]
pub(crate) struct Petri {
    /// A place/transition net in PNML; - for standard input
    pub(crate) net: PathBuf,
    /// A place that is to be marked, by its id or name (repeatable: all at the same time)
    #[arg(long, value_name = "PLACE", required = true, num_args = 1..)]
    pub(crate) goal: Vec<String>,
    /// Whose rules: one node under those of the paper, or an encoding that the real scheduler obeys
    #[arg(long, value_parser = some_of(&[SemanticsChoice::KubeScheduler, SemanticsChoice::Paper]), value_name = "SEMANTICS", default_value = "paper")]
    pub(crate) semantics: SemanticsChoice,
    /// The format
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Notation::Yaml, value_name = "FORMAT")]
    pub(crate) format: Notation,
    /// No remarks about the net
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// `podreach encode pebbling`.
#[derive(Debug, Args)]
pub(crate) struct Pebbling {
    /// A directed graph without cycles, as DOT or as lines `u v`; - for standard input
    pub(crate) graph: PathBuf,
    /// The vertex to be pebbled
    #[arg(long, value_name = "VERTEX")]
    pub(crate) target: String,
    /// How many pebbles there are; without it, the smallest number that is enough
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) pebbles: Option<u64>,
    /// Where to write the games with and without the last pebble, and their certificates for `podreach verify`
    #[arg(long, value_name = "FOLDER", conflicts_with = "pebbles")]
    pub(crate) proof_out: Option<PathBuf>,
    /// The format
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Notation::Yaml, value_name = "FORMAT")]
    pub(crate) format: Notation,
    /// No remarks about the graph
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// `podreach encode aapp`.
#[derive(Debug, Args)]
pub(crate) struct Aapp {
    /// An aAPP policy in YAML; - for standard input
    pub(crate) policy: PathBuf,
    /// The functions: a list of {name, tag, memory}
    #[arg(long, value_name = "FILE")]
    pub(crate) functions: PathBuf,
    /// The workers: a list of {name, capacity}
    #[arg(long, value_name = "FILE")]
    pub(crate) workers: PathBuf,
    /// Can this function ever start on this worker, or on any?
    #[arg(long, value_name = "FUNCTION[@WORKER]", required_unless_present = "together")]
    pub(crate) reach: Option<String>,
    /// Can these functions ever run together on this worker, or on any? One that is named twice stands for two invocations
    #[arg(long, value_name = "FUNCTION,FUNCTION[@WORKER]", conflicts_with = "reach")]
    pub(crate) together: Option<String>,
    /// Whether a worker is taken only while all candidates before it are invalid
    #[arg(long, value_enum, default_value_t = Order::Ignore)]
    pub(crate) priorities: Order,
    /// What a tag without a follow-up does when no worker is valid
    #[arg(long, value_enum, default_value_t = Otherwise::Fail)]
    pub(crate) followup: Otherwise,
    /// The format
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Notation::Yaml, value_name = "FORMAT")]
    pub(crate) format: Notation,
    /// No remarks about the policy
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Whether the order of blocks and workers counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Any valid worker of any block may be taken
    Ignore,
    /// Blocks in order, and workers as their strategy says
    Respect,
}

/// What happens when no worker is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Otherwise {
    /// The invocation fails, as in FunLess
    Fail,
    /// The blocks of the tag default are tried, as in forks of OpenWhisk
    Default,
}

/// A form in which clusters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToNet {
    /// A place/transition net.
    Pnml,
}

/// A notation of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Notation {
    /// A stream of documents.
    Yaml,
    /// One list.
    Json,
}
