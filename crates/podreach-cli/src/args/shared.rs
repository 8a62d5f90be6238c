//! The flags that commands have in common: the input, how it is read, the limits, the output.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use podreach::lower::{Instances, Keep, Kind, Nodes, Options, Release, ReleaseBy, Start};
use podreach_core::Semantics;

use super::{ArgumentError, Asking, Change, FirstOf, Flags, Format, HowMany, SemanticsChoice, units};

/// A cluster to ask about: where it comes from, how it is read, and what the answers may cost.
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// Where it comes from.
    #[command(flatten)]
    pub(crate) input: Input,
    /// How it is read.
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// How long and how much.
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// What is said while the input is read.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Remarks {
    /// No remarks about the input
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// All remarks about the input
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl From<&Output> for Remarks {
    fn from(output: &Output) -> Self {
        Self { quiet: output.quiet, verbose: output.verbose }
    }
}

/// Where the cluster comes from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// A file, a folder, or - for standard input (repeatable): manifests and dumps, YAML or JSON, also gzip'd
    #[arg(short, long = "filename", value_name = "PATH")]
    pub(crate) filename: Vec<PathBuf>,
    /// Also read folders within folders
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
    /// The scheduler's configuration (KubeSchedulerConfiguration): its profiles change which filters run
    #[arg(long, value_name = "FILE")]
    pub(crate) scheduler_config: Option<PathBuf>,
    /// The instance types that nodes of Karpenter's pools can be of: a list as `instance_types.json` of its simulator, or an InstanceTypes
    /// document
    #[arg(long, value_name = "FILE")]
    pub(crate) instance_types: Option<PathBuf>,
    /// The cluster, when there are no files.
    #[command(flatten)]
    pub(crate) live: Flags,
}

/// How the cluster is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Question")]
pub(crate) struct Reading {
    /// Whose rules: those of kube-scheduler, those of the paper, or both; without it the Question's own, else kube-scheduler
    #[arg(long, value_enum, value_name = "SEMANTICS")]
    pub(crate) semantics: Option<SemanticsChoice>,
    /// What runs at first
    #[arg(long, value_enum, default_value_t = FirstOf::Current, value_name = "WHAT")]
    pub(crate) start: FirstOf,
    /// Pods that are never deleted: a label selector, or `daemonsets` (repeatable)
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) keep: Vec<String>,
    /// Pods of this namespace are never deleted (repeatable)
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) keep_namespace: Vec<String>,
    /// How many instances of a workload there may be: any number, or what it declares
    #[arg(long, value_enum, default_value_t = HowMany::Unlimited, value_name = "HOW-MANY")]
    pub(crate) instances: HowMany,
    /// What becomes of nodes: those of pools come and go, and others settle (cordons are lifted, taints of nodes that are not ready go);
    /// all settle; or they stay as they are
    #[arg(long, value_enum, default_value_t = Change::Elastic, value_name = "CHANGE")]
    pub(crate) nodes: Change,
    /// Take a pool to have no more nodes at a time than it declares (maxNodes, limits of nodes, and a limit of zero); autoscalers overrun that
    #[arg(long)]
    pub(crate) trust_pool_limits: bool,
    /// Take pools that are seen only by labels of their nodes to bring nodes like those that they have, and no others: managed pools of
    /// clouds, and groups that these labels name
    #[arg(long, value_name = "LABELS", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub(crate) infer_pools: Option<Vec<String>>,
    /// The input has all objects of these kinds: `pods` (no custom resource makes pods besides those that are there), or any of
    /// pvc, pv, sc, csinodes, csidrivers and resourceclaims (what is not there does not exist)
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = complete)]
    pub(crate) complete: Vec<Kind>,
    /// The Kubernetes release whose behaviour counts; without it the cluster's own, or its newest kubelet's
    #[arg(long, value_name = "RELEASE")]
    pub(crate) kubernetes_version: Option<Release>,
    /// Take webhooks, admission policies and policy engines to change nothing that placement depends on, and to refuse no pod
    #[arg(long)]
    pub(crate) assume_admission_keeps_pods: bool,
}

impl Reading {
    /// The same as options of the library; `own` is the release that the input says its cluster runs, and how it says so.
    pub(crate) fn options(&self, own: Option<(Release, ReleaseBy)>) -> Options {
        let selected = self.keep.iter().map(|keep| match keep.as_str() {
            "daemonsets" => Keep::DaemonSets,
            selector => Keep::Selector(selector.to_owned()),
        });
        let namespaces = self.keep_namespace.iter().map(|name| Keep::Namespace(name.clone()));
        let given = self.kubernetes_version.map(|release| (release, ReleaseBy::Given));
        let (release, release_by) = given.or(own).unwrap_or_default();
        Options {
            start: if self.start == FirstOf::Empty { Start::Empty } else { Start::Current },
            keep: selected.chain(namespaces).collect(),
            instances: if self.instances == HowMany::Declared { Instances::Declared } else { Instances::Unlimited },
            nodes: match self.nodes {
                Change::Fixed => Nodes::Fixed,
                Change::Settled => Nodes::Settled,
                Change::Elastic => Nodes::Elastic,
            },
            trust_pool_limits: self.trust_pool_limits,
            infer_pools: self.infer_pools.as_ref().map(|keys| keys.iter().cloned().collect()),
            release,
            release_by,
            complete: self.complete.iter().copied().collect(),
            keeps_pods: self.assume_admission_keeps_pods,
            ..Options::default()
        }
    }

    /// The same for a question. A selector tells kinds of new nodes apart, and where new nodes are named there is one more of each.
    pub(crate) fn options_for(&self, asking: &Asking, own: Option<(Release, ReleaseBy)>) -> Options {
        let places = asking.with.iter().filter_map(|with| with.split_once('@')).map(|(_, place)| place);
        let named = asking.node.iter().map(String::as_str).chain(places).filter_map(number).max().unwrap_or(0);
        let copies = Options::COPIES.max(named.saturating_add(1)).min(MOST_NAMED);
        Options { looked_at: asking.selector.iter().cloned().collect(), copies, ..self.options(own) }
    }

    /// The semantics to answer under; `own` is what a Question asks for.
    pub(crate) fn semantics(&self, own: Option<Semantics>) -> Vec<Semantics> {
        match self.semantics {
            None => vec![own.unwrap_or(Semantics::KubeScheduler)],
            Some(SemanticsChoice::KubeScheduler) => vec![Semantics::KubeScheduler],
            Some(SemanticsChoice::Paper) => vec![Semantics::Paper],
            Some(SemanticsChoice::Both) => vec![Semantics::KubeScheduler, Semantics::Paper],
        }
    }
}

/// The most new nodes of a shape that are listed to be named.
const MOST_NAMED: usize = 32;

/// The number of a new node: `nodepool/general/2.1`, also with a count after it.
fn number(node: &str) -> Option<usize> {
    let name = node.split_once('=').map_or(node, |(name, _)| name);
    name.rsplit_once('/')?.1.split_once('.')?.1.parse().ok()
}

/// A kind of which the input can be said to have everything.
fn complete(name: &str) -> Result<Kind, ArgumentError> {
    let kind = Kind::called(name).filter(|&kind| kind == Kind::Pod || kind.is_looked_up());
    kind.ok_or(ArgumentError::Complete)
}

/// How long and how much a command may take, from reading its input to writing what it found.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Stop after this time, with what is known by then: 30, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration)]
    pub(crate) timeout: std::time::Duration,
    /// Stop when this much memory is held, with what is known by then: 512Mi, 2Gi
    #[arg(long, value_name = "SIZE", default_value = "2Gi", value_parser = units::bytes)]
    pub(crate) memory: usize,
    /// How many threads may work; as many as there are cores by default
    #[arg(long, value_name = "COUNT", value_parser = units::count)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// What is written to standard output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// The format
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Only the first line, and no remarks about the input
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Long evidence and all remarks in full
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Some of the values of a flag: help shows these, and no others are taken.
pub(super) fn some_of<T: ValueEnum + Send + Sync>(values: &[T]) -> impl TypedValueParser<Value = T> + use<T> {
    let names = PossibleValuesParser::new(values.iter().filter_map(T::to_possible_value));
    names.map(|name| T::from_str(&name, false).expect("it is a name of one of them"))
}
