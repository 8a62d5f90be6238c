//! The commands that make pages: `report` and `serve`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Asking, Auditing, Cluster, Limits, Remarks};

/// `podreach report`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: as the command that is reported on.")]
pub(crate) struct Report {
    /// What the report is about.
    #[command(subcommand)]
    pub(crate) what: ReportOf,
}

impl Report {
    /// How long and how much.
    pub(crate) fn limits(&self) -> &Limits {
        match &self.what {
            ReportOf::Check(args) => &args.cluster.limits,
            ReportOf::Matrix(args) => &args.cluster.limits,
            ReportOf::Audit(args) => &args.auditing.cluster.limits,
        }
    }
}

/// What a report is about.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportOf {
    /// A question, its answer, and the run or the proof
    Check(Box<ReportCheck>),
    /// Every pod type against every node, as a map
    Matrix(Box<ReportMatrix>),
    /// What an audit finds, with its evidence
    Audit(Box<ReportAudit>),
}

/// `podreach report check`.
#[derive(Debug, Args)]
pub(crate) struct ReportCheck {
    /// What is asked.
    #[command(flatten)]
    pub(crate) asking: Asking,
    /// Where the page goes.
    #[command(flatten)]
    pub(crate) page: PageFile,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// `podreach report matrix`.
#[derive(Debug, Args)]
pub(crate) struct ReportMatrix {
    /// The most cells whose evidence is part of the page
    #[arg(long, value_name = "COUNT", default_value_t = 5_000)]
    pub(crate) evidence: usize,
    /// Where the page goes.
    #[command(flatten)]
    pub(crate) page: PageFile,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// `podreach report audit`.
#[derive(Debug, Args)]
pub(crate) struct ReportAudit {
    /// What is looked at.
    #[command(flatten)]
    pub(crate) auditing: Auditing,
    /// Where the page goes.
    #[command(flatten)]
    pub(crate) page: PageFile,
}

/// Where a page goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageFile {
    /// The file to write; - for standard output
    #[arg(short = 'o', long = "output", value_name = "FILE", default_value = "report.html")]
    pub(crate) file: PathBuf,
    /// What the page calls its input; the names of the files by default
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// No remarks about the input, and not where the page is
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// All remarks about the input
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// `podreach serve`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
#[command(after_help = "The page is for this machine alone: it listens on the loopback address, and every\n\
    request for data needs the token in the address that is printed. Ctrl-C ends it.")]
pub(crate) struct Serve {
    /// The port on 127.0.0.1; a free one by default
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// What the page calls its input; the names of the files by default
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What is said about the input.
    #[command(flatten)]
    pub(crate) remarks: Remarks,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}
