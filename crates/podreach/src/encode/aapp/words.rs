//! Questions and answers about policies in words: invocations that start and end on workers.

use podreach_core::{Problem, Verdict};
use serde_json::{Value, json};

use super::decode::{events, groups};
use super::invariant::Group;
use super::policy::{DEFAULT, Goal, Policy, Priorities, Query};
use super::schedule::Event;
use crate::diagnostic::Diagnostic;
use crate::encode::{DecodeError, Decoded, Evidence, counted, errors};

impl Goal {
    /// The goal of `f@w` or `f`, `f,g@w` or `f,g`.
    pub fn read(policy: &Policy, text: &str) -> Result<Self, Diagnostic> {
        let (functions, worker) = match text.rsplit_once('@') {
            Some((functions, worker)) => (functions, Some(worker)),
            None => (text, None),
        };
        Self::named(policy, &functions.split(',').map(str::trim).collect::<Vec<_>>(), worker)
    }

    /// The goal that has these functions on this worker, or on any.
    pub fn named(policy: &Policy, functions: &[&str], worker: Option<&str>) -> Result<Self, Diagnostic> {
        let mut functions = functions.iter().map(|name| function(policy, name)).collect::<Result<Vec<usize>, _>>()?;
        functions.sort_unstable();
        Ok(Self { functions, worker: worker.map(|name| self::worker(policy, name)).transpose()? })
    }
}

fn worker(policy: &Policy, name: &str) -> Result<usize, Diagnostic> {
    let found = workers(policy).position(|known| known == name);
    found.ok_or_else(|| errors::unknown_name(None, "worker", name, workers(policy)))
}

fn function(policy: &Policy, name: &str) -> Result<usize, Diagnostic> {
    let found = functions(policy).position(|known| known == name);
    found.ok_or_else(|| errors::unknown_name(None, "function", name, functions(policy)))
}

fn workers(policy: &Policy) -> impl Iterator<Item = &str> {
    policy.workers.iter().map(|worker| worker.name.as_str())
}

fn functions(policy: &Policy) -> impl Iterator<Item = &str> {
    policy.functions.iter().map(|function| function.name.as_str())
}

/// An answer in the words of the policy.
pub(in crate::encode) fn decoded(query: &Query, problem: &Problem, verdict: &Verdict) -> Result<Decoded, DecodeError> {
    match verdict {
        Verdict::Deployable(trace) => {
            let (played, is_outline) = played(query, &events(query, problem, trace)?)?;
            let answer = format!("{}, after {}.", can(query, "can"), counted(played.len(), "event"));
            let sentences = played.iter().map(|&(event, block)| sentence(&query.policy, event, block)).collect();
            let events = played.into_iter().map(|(event, _)| event).collect();
            let evidence = if is_outline { Evidence::Outline(events) } else { Evidence::Events(events) };
            Ok(Decoded { answer, sentences, evidence })
        }
        Verdict::Never(proof) => {
            let answer = format!("{}.", can(query, "can never"));
            Ok(match groups(query, problem, proof) {
                Some(groups) => {
                    let sentences = groups.iter().map(|group| never(&query.policy, group)).collect();
                    Decoded { answer, sentences, evidence: Evidence::Groups(groups) }
                }
                None => Decoded { answer, sentences: Vec::new(), evidence: Evidence::Encoding },
            })
        }
        Verdict::Unknown(reason) => Err(DecodeError::Undecided(reason.clone())),
    }
}

/// Events with the blocks by which they start.
type Played = Vec<(Event, Option<usize>)>;

/// The events as the policy plays them; and whether that is without priorities, since with them it takes too many.
fn played(query: &Query, events: &[Event]) -> Result<(Played, bool), DecodeError> {
    let plain = Query { priorities: Priorities::Ignore, ..query.clone() };
    let played = plain.play(events)?;
    if query.priorities == Priorities::Ignore {
        return Ok((played, false));
    }
    let events: Vec<Event> = played.iter().map(|&(event, _)| event).collect();
    match query.in_order(&events) {
        Some(ordered) => Ok((query.play(&ordered)?, false)),
        None => Ok((played, true)),
    }
}

/// What is asked, as a sentence: `f can start on w`.
fn can(query: &Query, can: &str) -> String {
    let Query { policy, goal, .. } = query;
    let names: Vec<&str> = goal.functions.iter().map(|&function| policy.functions[function].name.as_str()).collect();
    let worker = goal.worker.map_or("a worker", |worker| &policy.workers[worker].name);
    match &names[..] {
        [one] => format!("{one} {can} start on {worker}"),
        names => format!("{} {can} run on {worker} together", names.join(", ")),
    }
}

/// An event as a sentence, with the block by which it starts.
fn sentence(policy: &Policy, event: Event, block: Option<usize>) -> String {
    match event {
        Event::Start { function, worker } => {
            let tag = &policy.tags[policy.functions[function].tag];
            let by = match block {
                Some(block) if block < tag.blocks.len() => format!(" by block {} of {}", block + 1, tag.name),
                Some(block) => format!(" by block {} of {DEFAULT}", block - tag.blocks.len() + 1),
                None => String::new(),
            };
            format!("invocation of {} on {}{by}", policy.functions[function].name, policy.workers[worker].name)
        }
        Event::End { function, worker } => {
            format!("end of {} on {}", policy.functions[function].name, policy.workers[worker].name)
        }
    }
}

fn never(policy: &Policy, group: &Group) -> String {
    let members: Vec<String> = group.iter().map(|one| member(policy, one)).collect();
    let alone = group.values().sum::<u64>() == 1;
    format!("{}: never{}", members.join(", "), if alone { "" } else { " together" })
}

fn member(policy: &Policy, (&(function, worker), &count): (&(usize, usize), &u64)) -> String {
    let copies = if count == 1 { String::new() } else { format!("{count} × ") };
    format!("{copies}{} on {}", policy.functions[function].name, policy.workers[worker].name)
}

/// An event for programs.
pub(crate) fn event_json(policy: &Policy, event: Event) -> Value {
    let (op, function, worker) = match event {
        Event::Start { function, worker } => ("invocation", function, worker),
        Event::End { function, worker } => ("end", function, worker),
    };
    json!({"op": op, "function": policy.functions[function].name, "worker": policy.workers[worker].name})
}

/// A group for programs.
pub(crate) fn group_json(policy: &Policy, group: &Group) -> Value {
    group.iter().map(|one| member_json(policy, one)).collect()
}

fn member_json(policy: &Policy, (&(function, worker), &count): (&(usize, usize), &u64)) -> Value {
    json!({"function": policy.functions[function].name, "worker": policy.workers[worker].name, "count": count})
}
