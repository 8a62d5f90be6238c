//! A trace as numbered steps: the witnesses of each deployment, and what each deletion makes way for.

use podreach_core::{Action, Model, Problem, Trace};

use crate::report::explain::run::{AnnotatedStep, annotate, excerpt};
use crate::words;

/// Some equal steps in a row.
struct Steps {
    /// The number of the first, from 1.
    first: usize,
    /// How many there are.
    count: usize,
    action: Action,
    /// Why they are possible or needed; empty when that goes without saying.
    notes: Vec<String>,
}

/// The most steps, each with its notes, that are shown unless all are asked for.
const MOST: usize = 24;

/// Of a trace of so many steps only what is shown is explained, since that takes far longer than to find it.
const LONG: usize = 5_000;

/// The lines of a trace.
pub(crate) fn lines(problem: &Problem, trace: &Trace, all: bool) -> Vec<String> {
    if trace.len() > LONG && !all {
        return ends(problem, trace);
    }
    let steps = steps(annotate(problem, trace), 0);
    let hidden = if all { 0..0 } else { MOST * 2 / 3..steps.len().saturating_sub(MOST / 3) };
    let mut lines = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if !hidden.contains(&index) {
            lines.extend(step.lines(&problem.model));
        } else if index == hidden.start {
            let more = steps[hidden.clone()].iter().map(|step| step.count).sum();
            lines.push(format!("     … {} (-v shows all)", words::number(more, "more step")));
        }
    }
    lines
}

/// The first and the last lines of a long trace.
fn ends(problem: &Problem, trace: &Trace) -> Vec<String> {
    let (length, few) = (trace.len(), MOST * 2);
    let mut first = steps(excerpt(problem, trace, 0..few), 0);
    first.truncate(MOST * 2 / 3);
    let last = steps(excerpt(problem, trace, length - few..length), length - few);
    let last = &last[last.len().saturating_sub(MOST / 3)..];
    let shown: usize = first.iter().chain(last).map(|step| step.count).sum();
    let mut lines: Vec<String> = first.iter().flat_map(|step| step.lines(&problem.model)).collect();
    lines.push(format!("     … {} (-v shows all)", words::number(length - shown, "more step")));
    lines.extend(last.iter().flat_map(|step| step.lines(&problem.model)));
    lines
}

impl Steps {
    fn lines(&self, m: &Model) -> Vec<String> {
        let number = match self.count {
            1 => format!("{}.", self.first),
            count => format!("{}-{}.", self.first, self.first + count - 1),
        };
        let times = if self.count == 1 { String::new() } else { format!("{} × ", self.count) };
        let step = words::step(m, self.action);
        // The number stands between what is done and what it is done to.
        let step = match self.action.atom().map(|atom| words::atom(m, atom)) {
            Some(atom) if self.count > 1 => step.replace(&atom, &format!("{times}{atom}")),
            _ => step,
        };
        let mut lines = vec![format!("{number:>5} {step}")];
        lines.extend(self.notes.iter().flat_map(|note| words::wrapped(note, 13)));
        lines
    }
}

/// The steps of a part of a run after so many others, equal ones in a row together; equal deletions share the note of the first.
fn steps(run: Vec<AnnotatedStep>, before: usize) -> Vec<Steps> {
    let mut steps: Vec<Steps> = Vec::new();
    for (index, AnnotatedStep { action, notes, .. }) in run.into_iter().enumerate() {
        let alike =
            |last: &&mut Steps| last.action == action && (matches!(action, Action::Delete(..)) || last.notes == notes);
        match steps.last_mut().filter(alike) {
            Some(last) => last.count += 1,
            None => steps.push(Steps { first: before + index + 1, count: 1, action, notes }),
        }
    }
    steps
}
