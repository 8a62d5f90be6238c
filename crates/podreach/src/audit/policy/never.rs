//! `never`: none of these pods can ever run on any of these nodes.
//!
//! All pairs of a pod and a node are one question, since what holds for none of them holds for each; only if one is reachable they
//! are asked one pod at a time, so that every pod that escapes is named.

use podreach_core::{Configuration, Goal, Model, NodeId, PodId, Verdict};

use super::ruling::{ALTERNATIVES, Asking, Ruling, listed, pod_names, reason};
use crate::answer::Sure;
use crate::audit::item::Status;
use crate::words;

/// The question of the rule: any of the pods on any of the nodes.
pub(crate) fn goal(pods: &[PodId], nodes: &[NodeId]) -> Goal {
    let atoms = pods.iter().flat_map(|&pod| nodes.iter().map(move |&node| (pod, node)));
    Goal { any: atoms.map(|atom| [(atom, 1)].into_iter().collect()).collect() }
}

/// Decides the rule.
pub(crate) fn ruling(asking: &mut Asking<'_>, pods: &[PodId], nodes: &[NodeId]) -> Ruling {
    let (mut proofs, mut open) = (Vec::new(), Vec::new());
    for chunk in pods.chunks((ALTERNATIVES / nodes.len().max(1)).max(1)) {
        let goal = goal(chunk, nodes);
        let decision = asking.answer(&goal);
        match decision.checked.answer() {
            Some(true) => return escaping(asking, pods, nodes),
            Some(false) => proofs.push((chunk, decision)),
            None => open.push((chunk, decision)),
        }
    }
    let m = asking.world.model();
    let what = format!("{} and {}", words::number(pods.len(), "pod type"), words::number(nodes.len(), "node"));
    let mut ruling = match open.first() {
        None => Ruling::new(Status::Holds, format!("no pod selected can ever run on a node selected ({what})")),
        Some((_, decision)) => {
            let mut ruling = Ruling::new(Status::Undecided, format!("not decided for {what}"));
            ruling.explanation.push(sentence(&reason(decision)));
            ruling
        }
    };
    let asked = if open.is_empty() { proofs } else { open };
    for (chunk, decision) in asked {
        let verb = if decision.checked.answer() == Some(false) { "can never run" } else { "might run" };
        let shows = format!("{} {verb} on {}", pod_names(m, chunk), node_names(asking, nodes));
        ruling.evidence.push(asking.evidence(shows, decision));
    }
    ruling
}

/// Names every pod that can get to one of the nodes.
fn escaping(asking: &mut Asking<'_>, pods: &[PodId], nodes: &[NodeId]) -> Ruling {
    let m = asking.world.model();
    let (mut escaped, mut open, mut evidence) = (Vec::new(), Vec::new(), Vec::new());
    for &pod in pods {
        let goal = goal(&[pod], nodes);
        let decision = asking.answer(&goal);
        match decision.checked.answer() {
            Some(true) => {
                let node = reached(asking, &goal, &decision);
                let shows = format!("{} can run on {}", m.pod_name(pod), m.node_name(node));
                escaped.push((pod, node));
                evidence.push(asking.evidence(shows, decision));
            }
            Some(false) => {}
            None => open.push(m.pod_name(pod).to_owned()),
        }
    }
    let more = match escaped.len() {
        0 | 1 => String::new(),
        all => format!(", and so can {} on selected nodes", words::number(all - 1, "other pod type")),
    };
    // Together something was reachable, but one by one nothing was decided in time.
    let Some(message) = escaped.first().map(|one| can_run(m, one)) else {
        let mut ruling = Ruling::new(Status::Undecided, "not decided in time".to_owned());
        ruling.explanation.push(format!("open is {}.", listed(&open)));
        return ruling;
    };
    let mut ruling = Ruling::new(Status::Violated, message + &more);
    ruling.subject = escaped.iter().map(|&(pod, _)| m.pod_name(pod).to_owned()).collect();
    if !open.is_empty() {
        ruling.explanation.push(format!("Not decided for {}.", listed(&open)));
    }
    ruling.fix = Some(fix(asking, escaped[0].1));
    ruling.evidence = evidence;
    ruling
}

fn can_run(m: &Model, &(pod, node): &(PodId, NodeId)) -> String {
    format!("{} can run on {}", m.pod_name(pod), m.node_name(node))
}

/// The node on which a trace ends up, in the goal that it meets.
fn reached(asking: &Asking<'_>, goal: &Goal, decision: &Sure) -> NodeId {
    let met = met(asking, goal, decision);
    let first = met.iter().next().or_else(|| goal.any[0].iter().next());
    first.map(|((_, node), _)| node).expect("a goal of this rule names a node")
}

/// The alternative of a goal that a trace reaches.
pub(crate) fn met(asking: &Asking<'_>, goal: &Goal, decision: &Sure) -> Configuration {
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return Configuration::new() };
    let problem = &asking.world.problem;
    let s = trace.after(trace.len(), &problem.model, &problem.start);
    let mut alternatives = goal.any.iter().cloned();
    alternatives.find(|alternative| problem.is_met(&Goal::all(alternative.clone()), &s)).unwrap_or_default()
}

fn fix(asking: &Asking<'_>, node: NodeId) -> String {
    let m = asking.world.model();
    let name = m.node_name(node);
    if m.node(node).taints.is_empty() {
        format!("taint {name} and the nodes like it, and let only pods that belong there tolerate the taint")
    } else {
        format!("the taints of {name} are tolerated: remove the toleration, or require other nodes by node affinity")
    }
}

fn node_names(asking: &Asking<'_>, nodes: &[NodeId]) -> String {
    let m = asking.world.model();
    listed(&nodes.iter().map(|&node| m.node_name(node).to_owned()).collect::<Vec<_>>())
}

/// A reason as a sentence of its own.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str().trim_end_matches('.'))
}
