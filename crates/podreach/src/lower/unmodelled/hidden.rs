//! Remarks on custom resources: which may make pods later, and what the others do to pods and nodes.
//!
//! An object in a file and one of a live cluster get the same remark.

use crate::diagnostic::{Diagnostic, Effect, Topic};
use crate::lower::object::custom::Does;
use crate::lower::object::mapping::Log;
use crate::lower::{Kind, Options, Origins};
use crate::read::{Span, shown};

/// A custom resource, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub struct Custom<'t> {
    /// Its apiVersion.
    pub version: &'t str,
    /// Its kind.
    pub kind: &'t str,
    /// What is done with it.
    pub does: Does,
    /// Whether it was read from a cluster, where its controller has seen it.
    pub seen: bool,
    /// Where it is.
    pub span: Option<Span>,
}

/// The remarks about pods that something may make later; `--complete pods` says that nothing does.
pub(crate) const LATER: [&str; 4] = ["S0401", "S0402", "S0403", "S0404"];

/// What there is to say about a custom resource.
pub fn remark(custom: &Custom<'_>) -> Option<Diagnostic> {
    let Custom { version, kind, does, seen, span } = *custom;
    let name = format!("{} of {}", shown(kind), shown(version));
    match does {
        Does::Nothing => None,
        Does::Pods | Does::PodsWith(_) => {
            let made = say(
                span,
                "S0401",
                Effect::UnderApproximates,
                format!("{name} makes pods: those that it makes are not seen"),
            )?;
            Some(made.with_help("add what its controller makes, as `kubectl get -o yaml` shows it; if that is all there, say --complete pods"))
        }
        Does::Unknown => {
            let message = format!("{name} is a custom resource: pods that it makes are not seen");
            let made = say(span, "S0401", Effect::UnderApproximates, message)?;
            Some(made.with_help("add what its controller makes, as `kubectl get -o yaml` shows it; if it makes no pods, say --complete pods"))
        }
        Does::Manifests if seen => {
            let message = format!("{name} applies manifests: what it has applied is taken to be in the input");
            say(span, "W0312", Effect::Assumes(Topic::Pods), message)
        }
        Does::Manifests => {
            let message = format!("{name} applies manifests: pods in those are not seen");
            let made = say(span, "S0404", Effect::UnderApproximates, message)?;
            Some(made.with_help("add the manifests that it applies; if they are all there, say --complete pods"))
        }
        Does::Admission => {
            let message = format!("{name} may change or refuse pods when they are made; this is not modelled");
            say(span, "S0405", Effect::Both, message)
        }
        Does::Requests => {
            let message = format!("{name} changes what pods request when they are made; this is not modelled");
            say(span, "S0406", Effect::Both, message)
        }
        Does::Nodes => {
            let message = format!("{name} may add nodes or change their labels: the nodes are taken as they are");
            say(span, "W0313", Effect::Assumes(Topic::Nodes), message)
        }
    }
}

fn say(span: Option<Span>, code: &'static str, effect: Effect, message: String) -> Option<Diagnostic> {
    Some(Diagnostic::stops(code, span, message).with_effect(effect))
}

/// A remark as it is; or, where it is about pods that are not seen and the input is said to have all pods, one that assumes so.
pub fn unless_complete(remark: Diagnostic, options: &Options) -> Diagnostic {
    if !LATER.contains(&remark.code) || !options.complete.contains(&Kind::Pod) {
        return remark;
    }
    let message = format!("{}, and taken not to exist (--complete pods)", remark.message);
    Diagnostic { message, help: None, effect: Effect::Assumes(Topic::Pods), ..remark }
}

/// Leaves out what is said about one workload where that workload is not in the input.
pub(crate) fn settle(log: &mut Log, origins: &Origins) {
    log.retain(|remark| remark.code != "S0406" || remark.pods.iter().all(|pod| origins.pods.contains_key(pod)));
}
