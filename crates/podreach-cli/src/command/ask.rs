//! Questions from the command line or from the input, and their answers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use podreach::engine::{Budget, Progress, Seen};
use podreach::question;
use podreach::read;
use podreach::{Answer, Question};
use podreach_core::{Goal, NodeId, Semantics};

use crate::args::{Asking, Reading};
use crate::budget::Clock;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::print;
use crate::output::remark;

/// An answered question.
pub(crate) struct NamedAnswer<'s> {
    /// The name of the Question document it answers, if it has one.
    pub(crate) name: Option<String>,
    /// The answer, with its question.
    pub(crate) answer: Answer<'s>,
}

/// Asks what the command line or the input asks, and answers it.
pub(crate) fn answers<'s>(
    args: &Asking,
    reading: &Reading,
    clock: &Clock,
    session: &'s Session,
) -> Result<Vec<NamedAnswer<'s>>, Reported> {
    let asked = asked(args, reading, session)?;
    let answers = asked.into_iter().map(|(name, question)| {
        let question = if args.exact.is_some() { question.exactly() } else { question };
        NamedAnswer { name, answer: answer(question, clock) }
    });
    Ok(answers.collect())
}

/// The questions of the command line or of the input, once per semantics, each with its name if it has one.
fn asked<'s>(
    args: &Asking,
    reading: &Reading,
    session: &'s Session,
) -> Result<Vec<(Option<String>, Question<'s>)>, Reported> {
    let mut questions: Vec<(Option<String>, Option<Semantics>, Goal)> = Vec::new();
    if let Some(path) = &args.exact {
        questions.push((None, None, exact(session, path)?));
    } else if args.pod.is_some() {
        questions.push((None, None, goal(args, session)?));
    } else if session.lowered().questions.is_empty() {
        let help = "podreach check -f FILE POD NODE, or add a Question document to the input";
        return Err(refuse("nothing is asked: name a POD and a NODE", Some(help)));
    }
    if questions.is_empty() {
        for question in &session.lowered().questions {
            let goal = question.goal(session.cluster()).map_err(|diagnostics| {
                remark::print(session.sources(), &diagnostics, false, false);
                Reported
            })?;
            let name = (!question.name.is_empty()).then(|| question.name.clone());
            questions.push((name, question.semantics, goal));
        }
    }
    let mut asked = Vec::new();
    for (name, own, goal) in questions {
        for semantics in reading.semantics(own) {
            let question = session.ask_goal(semantics, goal.clone());
            asked.push((name.clone(), question.map_err(|error| refuse(&error.to_string(), None))?));
        }
    }
    Ok(asked)
}

/// The goal of the command line.
fn goal(args: &Asking, session: &Session) -> Result<Goal, Reported> {
    let cluster = session.cluster();
    let pod = named_pod(session, args.pod.as_deref().unwrap_or_default())?;
    let nodes = nodes(args, session)?;
    let beside = args.with.iter().map(|given| question::with(cluster, given));
    let beside = beside.collect::<Result<Vec<_>, _>>().map_err(|error| refuse(&format!("--with: {error}"), None))?;
    Ok(question::goal(&pod, &nodes, &beside))
}

fn nodes(args: &Asking, session: &Session) -> Result<Vec<NodeId>, Reported> {
    let cluster = session.cluster();
    match (&args.node, &args.selector) {
        (Some(node), _) => named_node(session, node).map(|node| vec![node]),
        (None, Some(selector)) => selected(session, selector),
        (None, None) if args.any_node => Ok(cluster.nodes.ids().collect()),
        (None, None) => {
            Err(refuse("where? name a NODE, or use -l SELECTOR or --any-node", Some(&known_nodes(session))))
        }
    }
}

/// The node of a name.
pub(crate) fn named_node(session: &Session, node: &str) -> Result<NodeId, Reported> {
    let found = question::node(session.cluster(), node);
    found.map_err(|error| refuse(&error.to_string(), Some(&known_nodes(session))))
}

/// The nodes of a selector; there must be some.
pub(crate) fn selected(session: &Session, selector: &str) -> Result<Vec<NodeId>, Reported> {
    let listing = session.lowered().listing.as_ref();
    if listing.is_some_and(|listing| !listing.looked_at.iter().any(|other| other == selector)) {
        return Err(refuse("new nodes were listed without this selector: say --nodes settled", None));
    }
    let nodes = question::nodes(session.cluster(), selector);
    let nodes = nodes.map_err(|why| refuse(&format!("-l {}: {why}", read::shown(selector)), None))?;
    if nodes.is_empty() {
        let message = format!("no node has the labels {}", read::shown(selector));
        return Err(refuse(&message, Some(&known_labels(session, selector))));
    }
    Ok(nodes)
}

/// The pod type of a name.
pub(crate) fn named_pod(session: &Session, given: &str) -> Result<question::Named, Reported> {
    let found = question::named(session.cluster(), given);
    found.map_err(|error| refuse(&error.to_string(), Some(&known_pods(session, given))))
}

/// Some of the pod types there are; those whose name contains what was given, if there are some.
fn known_pods(session: &Session, given: &str) -> String {
    let mut names: Vec<String> = session.cluster().pods.values().map(|pod| pod.name.clone()).collect();
    names.dedup();
    let like: Vec<String> = names.iter().filter(|name| name.contains(given)).cloned().collect();
    if like.is_empty() { some_of("pod types", names) } else { some_of("pod types with that in their name", like) }
}

fn known_nodes(session: &Session) -> String {
    let cluster = session.cluster();
    some_of("nodes", cluster.nodes.values().map(|node| cluster.symbols.str(node.name).to_owned()).collect())
}

/// Some of the labels that nodes have; those whose key was asked for, if there are some.
fn known_labels(session: &Session, selector: &str) -> String {
    let cluster = session.cluster();
    let labels = cluster.nodes.values().flat_map(|node| node.labels.iter());
    let labels: BTreeSet<_> =
        labels.map(|label| (cluster.symbols.str(label.0), cluster.symbols.str(label.1))).collect();
    let (asked, other): (Vec<_>, Vec<_>) = labels.into_iter().partition(|(key, _)| selector.contains(key));
    let labels = if asked.is_empty() { other } else { asked };
    some_of("labels of nodes", labels.into_iter().map(|(key, value)| format!("{key}={value}")).collect())
}

fn some_of(what: &str, names: Vec<String>) -> String {
    let more = names.len().saturating_sub(6);
    let shown = names.into_iter().take(6).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("the {what} are {shown} and {more} more") } else { format!("the {what} are {shown}") }
}

/// The goal of `--exact`: all entries of a file.
fn exact(session: &Session, path: &Path) -> Result<Goal, Reported> {
    let cluster = session.cluster();
    let given = crate::input::entries::read(path)?;
    let entries = given
        .iter()
        .map(|(pod, node, count)| Ok(((question::pod(cluster, pod)?, question::node(cluster, node)?), *count)));
    let entries = entries.collect::<Result<Vec<_>, question::NameError>>();
    let entries = entries.map_err(|error| refuse(&format!("--exact: {error}"), None))?;
    question::exact(cluster, &session.lowered().kept, &entries)
        .map_err(|error| refuse(&format!("--exact: {error}"), None))
}

/// Answers a question within what the clock allows.
fn answer<'s>(question: Question<'s>, clock: &Clock) -> Answer<'s> {
    let progress = Arc::new(Progress::default());
    let spinner = watched_search(&progress);
    let answer = question.decide_with(&Budget { progress: Some(&*progress), ..clock.budget() });
    spinner.finish_and_clear();
    answer
}

/// A sign of life on standard error, where someone watches.
pub(crate) fn spinner(what: &'static str) -> ProgressBar {
    if !print::is_watched() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed} (Ctrl-C for what is known so far)") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(std::time::Duration::from_millis(120));
    spinner
}

/// The same for a search, with how far it is.
fn watched_search(progress: &Arc<Progress>) -> ProgressBar {
    let spinner = spinner("deciding");
    let progress = Arc::clone(progress);
    let counts = move |state: &ProgressState, line: &mut dyn std::fmt::Write| {
        let _ = write!(line, "{}", counts(progress.seen(), state.elapsed().as_secs_f64()));
    };
    let template = "{spinner} {msg} {elapsed}{counts} (Ctrl-C for what is known so far)";
    if let Ok(style) = ProgressStyle::with_template(template) {
        spinner.set_style(style.with_key("counts", counts));
    }
    spinner
}

/// What a search has counted so far, in words; nothing as long as there is nothing to count.
fn counts(seen: Seen, seconds: f64) -> String {
    let counted = [(seen.frames, "frames"), (seen.groups, "groups"), (seen.states, "states")];
    let mut parts: Vec<String> =
        counted.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if seen.states > 0 && seconds >= 1.0 {
        parts.push(format!("{:.0} states/s", seen.states as f64 / seconds));
    }
    parts.iter().map(|part| format!(", {part}")).collect()
}

/// How a command ends that found this out.
pub(crate) fn exit(found: Option<bool>) -> Exit {
    match found {
        Some(true) => Exit::Yes,
        Some(false) => Exit::No,
        None => Exit::Unknown,
    }
}

/// How a command with these answers ends.
pub(crate) fn worst(answers: &[NamedAnswer<'_>]) -> Exit {
    answers.iter().map(|named| exit(named.answer.is_deployable())).max().unwrap_or(Exit::Yes)
}
