//! Flags with a few values to choose from, as help lists them.

use clap::ValueEnum;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For people with room: names in full.
    Wide,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
    /// A run as a Mermaid sequence diagram.
    Mermaid,
    /// A run as a drawing.
    Svg,
    /// A run in the trace format of Apalache.
    Itf,
}

/// Whose rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SemanticsChoice {
    /// What the real filters do.
    KubeScheduler,
    /// Section 2 of the paper.
    Paper,
    /// One after the other, and where they differ.
    Both,
}

/// What runs at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FirstOf {
    /// The running pods of the input.
    Current,
    /// Nothing, or just what is kept.
    Empty,
}

/// What becomes of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Change {
    /// They stay as they are for ever.
    Fixed,
    /// What passes goes: taints of nodes that are not ready, cordons, missing devices.
    Settled,
    /// The same, and nodes of pools come and go.
    Elastic,
}

/// How many instances there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowMany {
    /// Any number.
    Unlimited,
    /// What replicas, autoscalers and rollouts say.
    Declared,
}
