//! The verdict as a document: what scripts read, and what `verify` takes as a certificate.

use podreach_core::{Action, Atom, Configuration, Exchange, Goal, Model, NodeId, Problem, Proof, Trace, Verdict};
use serde_json::{Map, Value, json};

use super::proof::class_name;
use super::{Answered, alike};
use crate::diagnostic::{Diagnostic, Effect};
use crate::engine::{Decision, Effort};
use crate::lower::{Instances, Keep, Options, Release, Start};
use crate::read::Sources;

/// The version of all documents that podreach writes and reads.
pub const API_VERSION: &str = "podreach.dev/v1alpha1";

/// The document of a verdict; `diagnostics` as [`diagnostics`] makes it, `seconds` as someone with a clock measured it.
pub fn verdict(answered: &Answered<'_>, diagnostics: &Value, seconds: f64) -> Value {
    let Answered { problem, options, decision } = answered;
    let m = &problem.model;
    let (name, trace, proof, reason) = match decision.checked.verdict() {
        Verdict::Deployable(trace) => ("deployable", self::trace(m, trace), Value::Null, Value::Null),
        Verdict::Never(proof) => ("never", Value::Null, self::proof(problem, proof), Value::Null),
        Verdict::Unknown(reason) => ("unknown", Value::Null, Value::Null, reason.to_string().into()),
    };
    json!({
        "apiVersion": API_VERSION,
        "kind": "Verdict",
        "question": question(m, options, &problem.goal),
        "verdict": name,
        "trace": trace,
        "proof": proof,
        "reason": reason,
        "engine": decision.engine,
        "checked": decision.checked.answer().is_some(),
        "diagnostics": diagnostics,
        "stats": stats(decision, seconds),
    })
}

/// How long it took, and what the search did if there was one.
fn stats(decision: &Decision, seconds: f64) -> Value {
    let mut stats = Map::new();
    stats.insert("seconds".into(), ((seconds * 1000.0).round() / 1000.0).into());
    let counts = |effort: &Effort| effort.counts.iter().map(|&(what, count)| (what.into(), count.into())).collect();
    let work: Map<String, Value> =
        decision.efforts.iter().map(|effort| (effort.part.into(), Value::Object(counts(effort)))).collect();
    if !work.is_empty() {
        stats.insert("work".into(), work.into());
    }
    stats.into()
}

/// Several documents as one.
pub fn list(kind: &str, items: Vec<Value>) -> Value {
    json!({"apiVersion": API_VERSION, "kind": kind, "items": items})
}

/// The question; what has its default is left out, but for the semantics and the start.
pub(super) fn question(m: &Model, options: &Options, goal: &Goal) -> Value {
    let mut question = Map::new();
    question.insert("semantics".into(), m.semantics().name().into());
    question.insert("start".into(), if options.start == Start::Empty { "empty" } else { "current" }.into());
    let keep: Vec<Value> = options.keep.iter().map(keep).collect();
    if !keep.is_empty() {
        question.insert("keep".into(), keep.into());
    }
    if options.instances == Instances::Declared {
        question.insert("instances".into(), "declared".into());
    }
    if options.release != Release::default() {
        question.insert("kubernetesVersion".into(), options.release.to_string().into());
    }
    let alternatives: Vec<Value> = goal.any.iter().map(|alternative| configuration(m, alternative)).collect();
    match <[Value; 1]>::try_from(alternatives) {
        Ok([goal]) => question.insert("goal".into(), goal),
        Err(alternatives) => question.insert("anyOf".into(), alternatives.into()),
    };
    question.into()
}

fn keep(keep: &Keep) -> Value {
    match keep {
        Keep::Selector(selector) => json!({"selector": selector}),
        Keep::DaemonSets => json!({"daemonsets": true}),
        Keep::Namespace(namespace) => json!({"namespace": namespace}),
    }
}

fn configuration(m: &Model, configuration: &Configuration) -> Value {
    configuration.iter().map(|(atom, count)| counted(m, atom, count)).collect()
}

pub(super) fn trace(m: &Model, trace: &Trace) -> Value {
    let step = |action: &Action| {
        let (op, pod, node) = match *action {
            Action::Deploy(pod, node) => ("deploy", pod, node),
            Action::Delete(pod, node) => ("delete", pod, node),
        };
        json!({"op": op, "pod": m.pod_name(pod), "node": m.node_name(node)})
    };
    trace.0.iter().map(step).collect()
}

/// A proof: groups that name atoms, or classes where there is more than one atom, which are then listed; and exchanges of nodes, each
/// as the rounds in which they go.
pub(super) fn proof(problem: &Problem, proof: &Proof) -> Value {
    let m = &problem.model;
    let entry = |(&class, &count): (&usize, &u64)| match proof.classes[class].as_slice() {
        &[atom] => counted(m, atom, count),
        _ => json!({"class": class_name(class), "count": count}),
    };
    let groups: Vec<Value> = proof.forbidden.iter().map(|group| group.iter().map(entry).collect()).collect();
    let several = proof.classes.iter().enumerate().filter(|(_, members)| members.len() > 1);
    let member = |&(pod, node): &Atom| json!({"pod": m.pod_name(pod), "node": m.node_name(node)});
    let classes: Map<String, Value> =
        several.map(|(class, members)| (class_name(class), members.iter().map(member).collect())).collect();
    let mut document = Map::new();
    document.insert("forbidden".into(), groups.into());
    if !classes.is_empty() {
        document.insert("classes".into(), classes.into());
    }
    if !proof.exchanges.is_empty() {
        let exchange = |exchange: &Exchange| alike::rounds(exchange).iter().map(|round| names(m, round)).collect();
        let exchanges: Vec<Value> = proof.exchanges.iter().map(exchange).collect();
        document.insert("exchanges".into(), exchanges.into());
        let stands = |(node, nodes): (NodeId, usize)| json!({"node": m.node_name(node), "nodes": nodes});
        document.insert("standsFor".into(), alike::spoken_for(problem, proof).into_iter().map(stands).collect());
    }
    document.into()
}

fn names(m: &Model, nodes: &[NodeId]) -> Value {
    nodes.iter().map(|&node| m.node_name(node)).collect()
}

fn counted(m: &Model, (pod, node): Atom, count: u64) -> Value {
    json!({"pod": m.pod_name(pod), "node": m.node_name(node), "count": count})
}

/// The remarks about the input as documents carry them.
pub fn diagnostics(sources: &Sources, diagnostics: &[Diagnostic]) -> Value {
    diagnostics.iter().map(|diagnostic| remark(sources, diagnostic)).collect()
}

fn remark(sources: &Sources, diagnostic: &Diagnostic) -> Value {
    let mut document = Map::new();
    let mut add = |key: &str, value: Value| document.insert(key.into(), value);
    add("code", diagnostic.code.into());
    add("effect", effect(diagnostic.effect).into());
    add("message", diagnostic.message.as_str().into());
    if let Some(help) = &diagnostic.help {
        add("help", help.as_str().into());
    }
    if let Some(pod) = &diagnostic.pod {
        add("pod", pod.as_str().into());
    }
    if let Some(place) = diagnostic.span.and_then(|span| sources.place(span)) {
        add("file", place.name.into());
        add("line", place.line.into());
        add("column", place.column.into());
    }
    document.into()
}

/// What a remark does to verdicts, as documents name it.
fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Notes => "notes",
        Effect::Widens => "widens",
        Effect::Narrows => "narrows",
        Effect::Blurs => "blurs",
        Effect::Stops => "stops",
    }
}
