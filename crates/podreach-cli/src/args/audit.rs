//! The command `audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ArgumentError, Cluster};

/// `podreach audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all hold, 1 a rule is violated or something was found, 2 bad input or usage, 3 undecided."
)]
pub(crate) struct Audit {
    /// What is looked at.
    #[command(flatten)]
    pub(crate) auditing: Auditing,
    /// The format
    #[arg(short = 'o', long = "output", value_enum, default_value_t = AuditFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: AuditFormat,
    /// Also write this format to this file (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also, help_heading = "Output")]
    pub(crate) also: Vec<(AuditFormat, PathBuf)>,
    /// Only the first line, and no remarks about the input
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Evidence in full and all remarks
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// What an audit looks at, and what makes it fail.
#[derive(Debug, Args)]
pub(crate) struct Auditing {
    /// Files with PlacementPolicy documents; without any, only findings are looked for
    #[arg(value_name = "POLICY")]
    pub(crate) policies: Vec<PathBuf>,
    /// The least severe finding that makes the run fail
    #[arg(long, value_enum, default_value_t = FailOn::Warning, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// Do not fail because something is undecided
    #[arg(long)]
    pub(crate) allow_unknown: bool,
    /// Who may act: as-is (nobody in particular), tenant=NAMESPACE, tenant-no-tolerations=NAMESPACE (each with ,no-node-name where pods may not name nodes) or node-compromise=NODE
    #[arg(long, value_name = "WHO", default_value = "as-is", value_parser = podreach::audit::Actor::parse)]
    pub(crate) actor: podreach::audit::Actor,
    /// Decide the policies only, and look for no findings
    #[arg(long)]
    pub(crate) no_findings: bool,
    /// Count only what this file, from --write-baseline, does not have
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write everything that is wrong now to this file, for --baseline
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Also say what became possible or impossible since this earlier input: files and folders as for -f (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) since: Vec<PathBuf>,
    /// Answer every question anew, and remember nothing
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// The cluster that is asked about.
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// The least severe finding that makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// What is broken.
    Error,
    /// What is likely a mistake.
    Warning,
    /// Everything.
    Note,
    /// Violated rules only.
    Never,
}

/// A form of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
    /// For job summaries and comments.
    Markdown,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// For test reports: JUnit XML.
    Junit,
    /// For pull requests: commands of GitHub Actions.
    Github,
}

/// Reads `FORMAT=FILE`.
fn also(text: &str) -> Result<(AuditFormat, PathBuf), ArgumentError> {
    let parts = text.split_once('=').filter(|(_, file)| !file.is_empty());
    let known = parts.and_then(|(format, file)| Some((AuditFormat::from_str(format, true).ok()?, PathBuf::from(file))));
    known.ok_or(ArgumentError::Also)
}
