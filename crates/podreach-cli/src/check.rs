//! `podreach check`: can this ever be?

use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use podreach::answer::{self, Oracle};
use podreach::encode::{self, Decoded, Source};
use podreach::engine::{Budget, Decision};
use podreach::question::{self, Named, Question};
use podreach::read;
use podreach::report::{self, Answered, Detail};
use podreach_core::{Atom, Goal, NodeId, Problem, Semantics, Verdict};
use serde_json::Value;

use crate::args::{Check, Format, Output};
use crate::budget::Clock;
use crate::session::{Exit, Session, Told, refuse};
use crate::{print, remark};

/// A question with everything it needs.
struct Asked {
    /// The name of the Question document it comes from, if it has one.
    name: Option<String>,
    problem: Problem,
}

/// An answered question.
struct Answer {
    name: Option<String>,
    problem: Problem,
    decision: Decision,
    seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: &Check) -> Result<Exit, Told> {
    if args.output.format == Format::Wide {
        return Err(refuse("-o wide is for `matrix`; check writes text, json or yaml", None));
    }
    let mut session = Session::read(&args.input, args.reading.options(), (&args.output).into())?;
    session.speak_of(names(args, &session.lowered.questions).iter().map(String::as_str));
    let asked = asked(args, &session)?;
    let clock = Clock::start(&args.limits);
    let mut answers: Vec<Answer> = asked.into_iter().map(|asked| answer(&session, asked, &clock)).collect();
    if args.exact.is_some() {
        answers = answers.into_iter().map(Answer::exactly).collect();
    }
    // The document of a long run is much larger than the run itself, so it is made only where it is wanted.
    let documents = || documents(&session, &answers);
    if let Some(path) = &args.proof_out {
        write_atomically(path, &pretty(&documents())).map_err(|error| {
            refuse(&format!("{} cannot be written: {error}", read::shown(&path.to_string_lossy())), None)
        })?;
    }
    match args.output.format {
        Format::Json => print::data(&pretty(&documents())),
        Format::Yaml => print::data(&report::yaml(&documents())),
        Format::Text | Format::Wide => print::report(&text(&session, &answers, &args.output)),
    }
    Ok(answers.iter().map(Answer::exit).max().unwrap_or(Exit::Yes))
}

/// The names of pods that are asked about.
fn names(args: &Check, questions: &[Question]) -> Vec<String> {
    let beside = args.with.iter().filter_map(|given| given.split_once('@')).map(|(pod, _)| pod.to_owned());
    let documents = questions.iter().flat_map(|question| question.goal.iter().map(|wanted| wanted.pod.clone()));
    args.pod.iter().cloned().chain(beside).chain(documents).collect()
}

/// The questions of the command line or of the input, once per semantics.
fn asked(args: &Check, session: &Session) -> Result<Vec<Asked>, Told> {
    let cluster = &session.lowered.cluster;
    let mut questions: Vec<(Option<String>, Option<Semantics>, Goal)> = Vec::new();
    if let Some(path) = &args.exact {
        questions.push((None, None, exact(session, path)?));
    } else if args.pod.is_some() {
        questions.push((None, None, goal(args, session)?));
    } else if session.lowered.questions.is_empty() {
        let help = "podreach check -f FILE POD NODE, or add a Question document to the input";
        return Err(refuse("nothing is asked: name a POD and a NODE", Some(help)));
    }
    if questions.is_empty() {
        for question in &session.lowered.questions {
            let goal = question.goal(cluster).map_err(|diagnostics| {
                remark::print(&session.sources, &diagnostics, false, false);
                Told
            })?;
            let name = (!question.name.is_empty()).then(|| question.name.clone());
            questions.push((name, question.semantics, goal));
        }
    }
    let under = |semantics| podreach::problem(&session.lowered, semantics);
    let asked = questions.into_iter().flat_map(|(name, own, goal)| {
        let problems = args.reading.semantics(own).into_iter().map(under);
        problems.map(move |problem| Asked { name: name.clone(), problem: problem.with_goal(goal.clone()) })
    });
    Ok(asked.collect())
}

/// The goal of the command line.
fn goal(args: &Check, session: &Session) -> Result<Goal, Told> {
    let cluster = &session.lowered.cluster;
    let pod = named_pod(session, args.pod.as_deref().unwrap_or_default())?;
    let nodes = nodes(args, session)?;
    let beside = args.with.iter().map(|given| question::with(cluster, given));
    let beside = beside.collect::<Result<Vec<_>, _>>().map_err(|error| refuse(&format!("--with: {error}"), None))?;
    Ok(question::goal(&pod, &nodes, &beside))
}

fn nodes(args: &Check, session: &Session) -> Result<Vec<NodeId>, Told> {
    let cluster = &session.lowered.cluster;
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
pub(crate) fn named_node(session: &Session, node: &str) -> Result<NodeId, Told> {
    let found = question::node(&session.lowered.cluster, node);
    found.map_err(|error| refuse(&error.to_string(), Some(&known_nodes(session))))
}

/// The nodes of a selector; there must be some.
pub(crate) fn selected(session: &Session, selector: &str) -> Result<Vec<NodeId>, Told> {
    let nodes = question::nodes(&session.lowered.cluster, selector);
    let nodes = nodes.map_err(|why| refuse(&format!("-l {}: {why}", read::shown(selector)), None))?;
    if nodes.is_empty() {
        let message = format!("no node has the labels {}", read::shown(selector));
        return Err(refuse(&message, Some(&known_nodes(session))));
    }
    Ok(nodes)
}

/// The pod type of a name.
pub(crate) fn named_pod(session: &Session, given: &str) -> Result<Named, Told> {
    let found = question::named(&session.lowered.cluster, given);
    found.map_err(|error| refuse(&error.to_string(), Some(&known_pods(session, given))))
}

/// Some of the pod types there are; those whose name contains what was given, if there are some.
fn known_pods(session: &Session, given: &str) -> String {
    let names: Vec<String> = session.lowered.cluster.pods.values().map(|pod| pod.name.clone()).collect();
    let like: Vec<String> = names.iter().filter(|name| name.contains(given)).cloned().collect();
    if like.is_empty() { some_of("pod types", names) } else { some_of("pod types with that in their name", like) }
}

fn known_nodes(session: &Session) -> String {
    let cluster = &session.lowered.cluster;
    some_of("nodes", cluster.nodes.values().map(|node| cluster.symbols.str(node.name).to_owned()).collect())
}

fn some_of(what: &str, names: Vec<String>) -> String {
    let more = names.len().saturating_sub(6);
    let shown = names.into_iter().take(6).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("the {what} are {shown} and {more} more") } else { format!("the {what} are {shown}") }
}

/// The goal of `--exact`: all entries of a file.
fn exact(session: &Session, path: &Path) -> Result<Goal, Told> {
    let cluster = &session.lowered.cluster;
    let given = crate::entries::read(path)?;
    let resolve = |(pod, node, count): &(String, String, u64)| -> Result<(Atom, u64), question::NameError> {
        Ok(((question::pod(cluster, pod)?, question::node(cluster, node)?), *count))
    };
    let entries = given.iter().map(resolve).collect::<Result<Vec<_>, _>>();
    let entries = entries.map_err(|error| refuse(&format!("--exact: {error}"), None))?;
    question::exact(cluster, &session.lowered.kept, &entries)
        .map_err(|error| refuse(&format!("--exact: {error}"), None))
}

fn answer(session: &Session, asked: Asked, clock: &Clock) -> Answer {
    let Asked { name, problem } = asked;
    let started = Instant::now();
    let spinner = spinner("deciding");
    let mut oracle = Oracle::new(&problem, &session.lowered.diagnostics);
    let budget = Budget { interrupt: &|| clock.stop(), memory: clock.memory, threads: clock.threads };
    let decision = oracle.answer(&problem.goal, &budget);
    spinner.finish_and_clear();
    Answer { name, problem, decision, seconds: started.elapsed().as_secs_f64() }
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

impl Answer {
    fn exactly(self) -> Self {
        Self { decision: answer::exactly(&self.problem, self.decision), ..self }
    }

    fn exit(&self) -> Exit {
        match self.decision.checked.answer() {
            Some(true) => Exit::Yes,
            Some(false) => Exit::No,
            None => Exit::Unknown,
        }
    }

    fn word(&self) -> &'static str {
        match self.decision.checked.verdict() {
            Verdict::Deployable(_) => "deployable",
            Verdict::Never(_) => "never",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The answer in the words of what the input is an encoding of, if it is one and this is its question.
    fn decoded<'a>(&self, session: &'a Session) -> Option<(&'a Source, Result<Decoded, String>)> {
        let source = session.source.as_ref()?;
        Some((source, encode::decode(source, &self.problem, &self.decision.checked)?))
    }

    fn source_words(&self, session: &Session, detail: Detail) -> Option<String> {
        if detail == Detail::Quiet {
            return None;
        }
        match self.decoded(session)? {
            (source, Ok(decoded)) => Some(report::source_text(source, &decoded, detail)),
            (_, Err(why)) => {
                Some(format!("This makes no sense in the encoded source, which is a bug in podreach: {why}.\n"))
            }
        }
    }

    fn answered<'a>(&'a self, session: &'a Session) -> Answered<'a> {
        Answered { problem: &self.problem, options: &session.options, decision: &self.decision }
    }
}

fn documents(session: &Session, answers: &[Answer]) -> Value {
    let diagnostics = report::diagnostics(&session.sources, &session.lowered.diagnostics);
    let document = |answer: &Answer| {
        let mut document = report::verdict(&answer.answered(session), &diagnostics, answer.seconds);
        if let Some((source, Ok(decoded))) = answer.decoded(session) {
            document["source"] = report::source_json(source, &decoded);
        }
        document
    };
    match answers {
        [answer] => document(answer),
        answers => report::list("VerdictList", answers.iter().map(document).collect()),
    }
}

fn text(session: &Session, answers: &[Answer], output: &Output) -> String {
    let detail = match output {
        Output { quiet: true, .. } => Detail::Quiet,
        Output { verbose: true, .. } => Detail::Verbose,
        _ => Detail::Normal,
    };
    let mut parts = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        let mut part = report::verdict_text(&answer.answered(session), detail);
        if let Some(words) = answer.source_words(session, detail) {
            part.insert_str(part.find('\n').map_or(part.len(), |end| end + 1), &format!("\n{words}"));
        }
        if let Some(name) = answer.name.as_ref().filter(|_| answers.len() > 1 && detail > Detail::Quiet) {
            let end = part.find('\n').unwrap_or(part.len());
            part.insert_str(end, &format!("\n  asked by the question {name}"));
        }
        parts.push(part);
        if let Some(verdicts) = at.checked_sub(1).and_then(|before| compared(&answers[before], answer)) {
            parts.push(verdicts);
        }
    }
    parts.join(if detail == Detail::Quiet { "" } else { "\n" })
}

/// Whether two answers to one question, each under its semantics, agree.
fn compared(a: &Answer, b: &Answer) -> Option<String> {
    let (left, right) = (a.problem.model.semantics(), b.problem.model.semantics());
    if left == right || a.problem.goal != b.problem.goal {
        return None;
    }
    Some(match a.word() == b.word() {
        true => format!("Both semantics agree: {}.\n", a.word()),
        false => format!("They differ: {} says {}, {} says {}.\n", left.name(), a.word(), right.name(), b.word()),
    })
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).expect("a value is always written") + "\n"
}

/// Writes a file beside its place and moves it there, so that no one ever sees half of it.
fn write_atomically(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
