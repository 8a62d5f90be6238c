//! Remarks about the input: errors, warnings, and the effect of each on verdicts.
//!
//! Nothing is dropped in silence. An input that cannot be read stops the run; a part that cannot be modelled says which verdicts it spoils,
//! so that every other verdict is kept.

pub(crate) mod labels;
mod span;
mod topic;

pub use labels::GivenLabels;
pub use span::{SourceId, Span};
pub use topic::Topic;

/// A remark about the input, with the place that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable code, such as `E0101`; `docs/diagnostics.md` explains each.
    pub code: &'static str,
    /// Where in the input; `None` when it is about the input as a whole.
    pub span: Option<Span>,
    /// Where the first of two stands, when it is about the second; few are, so it takes little room.
    pub before: Option<Box<Span>>,
    /// One sentence in the user's words.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
    /// What it does to verdicts.
    pub effect: Effect,
    /// The pod types it is about (by their full names), when it is about some: it then spoils only verdicts in which these take part.
    pub pods: Vec<String>,
    /// The label keys whose values are in doubt, when it is about labels: it then spoils only what selectors with one of them decide.
    pub keys: GivenLabels,
    /// The label that nodes lack, when it is about what is deployed on those that lack it and on no other.
    pub lacking: Option<Lacked>,
}

/// A label in whose absence from a node a doubt lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacked {
    /// The operating system.
    OperatingSystem,
}

impl Lacked {
    /// Its key.
    pub fn label(self) -> &'static str {
        match self {
            Self::OperatingSystem => "kubernetes.io/os",
        }
    }
}

/// What a diagnostic does to verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing: worth knowing, no more.
    Notes,
    /// Verdicts take it for granted, and list it.
    Assumes(Topic),
    /// The model allows more than the cluster does: only *never* survives.
    OverApproximates,
    /// The model allows less than the cluster may: only *deployable* survives.
    UnderApproximates,
    /// Both at once: neither verdict survives.
    Both,
    /// The input cannot be used.
    Stops,
}

impl Diagnostic {
    /// An error that stops the run.
    pub fn stops(code: &'static str, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        let (span, message) = (span.into(), message.into());
        Self {
            code,
            span,
            before: None,
            message,
            help: None,
            effect: Effect::Stops,
            pods: Vec::new(),
            keys: GivenLabels::default(),
            lacking: None,
        }
    }

    /// A remark with another effect.
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Adds what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says which label keys are in doubt.
    pub(crate) fn with_keys(mut self, keys: GivenLabels) -> Self {
        self.keys = keys;
        self
    }

    /// Says which pod type it is about.
    pub fn about(mut self, pod: impl Into<String>) -> Self {
        self.pods.push(pod.into());
        self
    }
}
