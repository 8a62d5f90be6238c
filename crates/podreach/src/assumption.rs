//! Assumptions: what verdicts take for granted, because the input cannot show it and no weakening covers it.
//!
//! What matters to placement is modelled, or it is assumed and listed here with every verdict, or it is in doubt and spoils the verdicts
//! that it could change (`answer.rs`). There is nothing else.

use podreach_core::{Cluster, Semantics, Verdict};

use crate::diagnostic::{Diagnostic, Effect};
use crate::lower::{Lowered, Nodes, Options, ReleaseBy};

pub use crate::diagnostic::Topic;

/// Something that verdicts take for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What it is about.
    pub topic: Topic,
    /// In a few words.
    pub brief: String,
    /// All of it, with what gives reason to doubt it.
    pub text: String,
}

impl Assumption {
    /// Whether a verdict needs it: who makes steps matters only where some are made.
    pub fn bears_on(&self, verdict: &Verdict) -> bool {
        match verdict {
            _ if self.topic != Topic::Steps => true,
            Verdict::Deployable(trace) => !trace.is_empty(),
            Verdict::Never(_) | Verdict::Unknown(_) => false,
        }
    }
}

/// What all verdicts about a cluster assume, in the order of their codes.
pub fn assumptions(lowered: &Lowered, options: &Options, semantics: Semantics) -> Vec<Assumption> {
    Topic::ALL.into_iter().filter_map(|topic| assumption(lowered, options, semantics, topic)).collect()
}

/// What is assumed about a topic, if anything is.
fn assumption(lowered: &Lowered, options: &Options, semantics: Semantics, topic: Topic) -> Option<Assumption> {
    let general = general(topic, &lowered.cluster, options, semantics);
    let of_input = lowered.assumed.iter().filter(|(about, _)| *about == topic).map(|(_, text)| text.clone());
    let remarks = said(topic, &lowered.diagnostics);
    let text: Vec<String> = general.into_iter().map(str::to_owned).chain(of_input).chain(remarks).collect();
    (!text.is_empty()).then(|| Assumption { topic, brief: brief(topic, options), text: text.join("; ") })
}

fn brief(topic: Topic, options: &Options) -> String {
    match topic {
        Topic::Release if options.release_by == ReleaseBy::Kubelets => {
            format!("Kubernetes {} by its kubelets", options.release)
        }
        Topic::Release => format!("Kubernetes {}", options.release),
        _ => topic.name().to_owned(),
    }
}

/// What is assumed whatever the input says; `None` where the input leaves nothing open.
fn general(topic: Topic, cluster: &Cluster, options: &Options, semantics: Semantics) -> Option<&'static str> {
    let scheduled = semantics == Semantics::KubeScheduler;
    match topic {
        Topic::Nodes if !cluster.pools.is_empty() => Some(
            "nodes of pools come and go, ready, under names of their own and in any shape that the pools describe, whatever their \
             autoscaler prefers; where the input leaves open which topology domain a new node is in, it is one that the input names, one \
             more, or one of its own; no other node is added, removed or changed, but that cordons and passing taints go",
        ),
        Topic::Nodes if scheduled && options.nodes != Nodes::Fixed => {
            Some("no node is added, removed or changed, but that cordons and passing taints go")
        }
        Topic::Nodes => Some("no node is added, removed or changed"),
        Topic::Scheduler => scheduled
            .then_some("kube-scheduler has its default feature gates, and the default profile unless another is given"),
        Topic::Admission => options.admission.then_some(
            "nothing changes or refuses new pods but the default plugins, without exemptions, and what the input shows",
        ),
        Topic::Pods => Some("pods come from the workloads and pods of the input as they are, and keep their labels"),
        Topic::Volumes => (scheduled && !cluster.claims.entries().is_empty()).then_some(
            "claims, volumes and drivers are those of the input, and new volumes are made where they may be",
        ),
        Topic::Steps => Some("somebody deletes the pods that a run deletes, and nothing else happens in between"),
        Topic::Release => None,
    }
}

/// What remarks assume about a topic: the first of each code, and how many more there are.
fn said(topic: Topic, diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut codes: Vec<(&Diagnostic, usize)> = Vec::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.effect == Effect::Assumes(topic)) {
        match codes.iter_mut().find(|(first, _)| first.code == diagnostic.code) {
            Some((_, more)) => *more += 1,
            None => codes.push((diagnostic, 0)),
        }
    }
    codes.into_iter().map(remark).collect()
}

/// A remark that is assumed, with how many more there are of its kind.
fn remark((first, more): (&Diagnostic, usize)) -> String {
    match more {
        0 => format!("{} ({})", first.message, first.code),
        more => format!("{} ({}, and {more} more)", first.message, first.code),
    }
}
