//! A run for the terminal: the nodes that take part, as they are after each step.

use std::collections::BTreeSet;

use podreach_core::resource::Amount;
use podreach_core::rule::fit;
use podreach_core::{Action, Configuration, Model, NodeId, Problem, Trace};

use crate::report::explain::run::{AnnotatedStep, annotate};
use crate::words::{self, amount};

/// How wide a bar is.
const BAR: u128 = 12;

/// The frames of a legal trace as text: the start, then one for each step.
pub fn frames(problem: &Problem, trace: &Trace) -> Vec<String> {
    let run = annotate(problem, trace);
    let nodes = nodes(problem, &run);
    let mut s = (*problem.start).clone();
    let opening = match run.len() {
        0 => "The start: the goal is there already\n".to_owned(),
        1 => "The start: 1 step leads to the goal\n".to_owned(),
        steps => format!("The start: {steps} steps lead to the goal\n"),
    };
    let mut frames = vec![opening + &stage(problem, &nodes, &s, None)];
    for (index, explained) in run.iter().enumerate() {
        problem.step(&mut s, explained.action).expect("a checked trace is legal");
        let caption = caption(&problem.model, index + 1, run.len(), explained);
        frames.push(caption + &stage(problem, &nodes, &s, Some(explained)));
    }
    frames
}

/// The nodes that take part.
fn nodes(problem: &Problem, run: &[AnnotatedStep]) -> BTreeSet<NodeId> {
    let acting = run.iter().filter_map(|explained| explained.action.node());
    let watching = run.iter().flat_map(|explained| explained.witnesses.iter().map(|&(_, node)| node));
    let goal =
        problem.goal.any.iter().filter(|_| run.is_empty()).flat_map(|goal| goal.iter().map(|((_, node), _)| node));
    acting.chain(watching).chain(goal).collect()
}

fn caption(m: &Model, number: usize, all: usize, explained: &AnnotatedStep) -> String {
    let mut lines = vec![format!("Step {number} of {all}: {}", words::step(m, explained.action))];
    lines.extend(explained.notes.iter().flat_map(|note| words::wrapped(note, 2)));
    if let (Action::Deploy(..), Some(obstacle)) = (explained.action, &explained.obstacle) {
        let text = format!("a step before, {} was in the way: {}", obstacle.rule.name(), obstacle.reason);
        lines.extend(words::wrapped(&text, 2));
    }
    lines.join("\n") + "\n"
}

fn stage(problem: &Problem, nodes: &BTreeSet<NodeId>, s: &Configuration, explained: Option<&AnnotatedStep>) -> String {
    nodes.iter().map(|&node| on(&problem.model, node, s, explained)).collect()
}

/// A node: its bars, and its pods with what happens to them.
fn on(m: &Model, node: NodeId, s: &Configuration, explained: Option<&AnnotatedStep>) -> String {
    let bars: Vec<String> = m
        .node(node)
        .allocatable
        .iter()
        .map(|(resource, all)| {
            let used = s.on(node).fold(0u128, |sum, (pod, count)| {
                sum.saturating_add(fit::weight(m, pod, resource).saturating_mul(count.into()))
            });
            if all == Amount::MAX {
                return format!(
                    "{} {}, of an unknown size",
                    m.str(m.cluster().resources[resource]),
                    amount(m, resource, used)
                );
            }
            let full = used.saturating_mul(BAR).checked_div(all).unwrap_or(BAR).min(BAR) as usize;
            let name = m.str(m.cluster().resources[resource]);
            format!(
                "{name} {}{} {}/{}",
                "█".repeat(full),
                "░".repeat(BAR as usize - full),
                amount(m, resource, used),
                amount(m, resource, all)
            )
        })
        .collect();
    let mut text = format!("\n  {}  {}\n", m.node_name(node), bars.join("  "));
    let deleted = explained
        .map(|explained| explained.action)
        .filter(|action| matches!(action, Action::Delete(_, at) if *at == node));
    if let Some(Action::Delete(pod, _)) = deleted {
        text += &format!("    - {}\n", words::pod(m, pod));
    }
    for (pod, count) in s.on(node) {
        let sign = match explained {
            Some(explained) if explained.action == Action::Deploy(pod, node) => '+',
            Some(explained) if explained.witnesses.contains(&(pod, node)) => '*',
            _ => ' ',
        };
        let times = if count == 1 { String::new() } else { format!(" × {count}") };
        text += &format!("    {sign} {}{times}\n", words::pod(m, pod));
    }
    text
}
