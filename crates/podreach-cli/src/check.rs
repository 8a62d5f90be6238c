//! `podreach check`: can this ever be?

use podreach::encode::{self, Decoded, Source};
use podreach::report::{self, Detail, Document, Documents};
use podreach_core::{Verdict, cancel};
use serde_json::Value;

use crate::args::{Check, Format, Output};
use crate::ask::{self, Answer};
use crate::budget::Clock;
use crate::file;
use crate::print;
use crate::session::{Exit, Session, Told, refuse};
use crate::walk;

/// The most steps that are drawn or walked: each shows a whole configuration, and nobody looks at so many.
pub(crate) const LONGEST: usize = 20_000;

/// Runs the command.
pub(crate) fn run(args: &Check, clock: &Clock) -> Result<Exit, Told> {
    let mut session = Session::read(&args.input, |own| args.reading.options(own), (&args.output).into())?;
    let answers = ask::answers(&args.asking, &args.reading, clock, &mut session)?;
    if args.step {
        // Whoever walks takes their time.
        clock.hand_over();
    }
    cancel::exempt(|| write(args, &session, &answers))?;
    Ok(answers.iter().map(Answer::exit).max().unwrap_or(Exit::Yes))
}

/// Writes the answers, in every form that was asked for.
fn write(args: &Check, session: &Session, answers: &[Answer]) -> Result<(), Told> {
    let documents = || Documents(answers.iter().map(|answer| document(session, answer)).collect());
    if let Some(path) = &args.proof_out {
        file::write_json_told(path, &documents())?;
    }
    match args.output.format {
        _ if args.step => walk::walk(session, answers),
        Format::Json => print::json(&documents()),
        Format::Yaml => print::data(&report::yaml(&documents().value())),
        Format::Mermaid | Format::Svg | Format::Itf => print::data(&drawing(args.output.format, session, answers)?),
        Format::Text | Format::Wide => print::report(&text(session, answers, &args.output)),
    }
    Ok(())
}

/// The run of the one answer there is, in a format for runs; empty, with a word about it, when there is none or it is too long.
fn drawing(format: Format, session: &Session, answers: &[Answer]) -> Result<String, Told> {
    let [answer] = answers else {
        return Err(refuse(
            "a run is drawn for one question and one semantics at a time",
            Some("name a POD and a NODE"),
        ));
    };
    let trace = match answer.decision.checked.verdict() {
        Verdict::Deployable(trace) if trace.len() <= LONGEST => trace,
        verdict => {
            let why = match verdict {
                Verdict::Deployable(trace) => format!("a run of {} steps is too long to draw", trace.len()),
                _ => "there is no run to draw".to_owned(),
            };
            let headline = report::headline(&answer.answered(session));
            print::error(&format!("{why}: {}\n", print::harmless(&headline)));
            return Ok(String::new());
        }
    };
    Ok(match format {
        Format::Mermaid => report::mermaid(answer.problem(), trace),
        Format::Svg => report::svg(answer.problem(), trace),
        _ => pretty(&report::itf(answer.problem(), trace)),
    })
}

impl Answer {
    /// The answer in the words of what the input is an encoding of, if it is one and this is its question.
    fn decoded<'a>(&self, session: &'a Session) -> Option<(&'a Source, Result<Decoded, String>)> {
        let source = session.source.as_ref()?;
        Some((source, encode::decode(source, &self.decision.checked)?))
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
}

/// The document of an answer: its certificate.
pub(crate) fn document<'a>(session: &'a Session, answer: &'a Answer) -> Document<'a> {
    let diagnostics = report::diagnostics(&session.sources, &session.lowered.diagnostics);
    let mut document = report::verdict(&answer.answered(session), &diagnostics, answer.seconds);
    if let Some((source, Ok(decoded))) = answer.decoded(session) {
        document.insert("source", report::source_json(source, &decoded));
    }
    document
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
    let (left, right) = (a.problem().model.semantics(), b.problem().model.semantics());
    if left == right || a.problem().goal != b.problem().goal {
        return None;
    }
    Some(match a.word() == b.word() {
        true => format!("Both semantics agree: {}.\n", a.word()),
        false => format!("They differ: {} says {}, {} says {}.\n", left.name(), a.word(), right.name(), b.word()),
    })
}

/// A document as text.
pub(crate) fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(document).expect("a value is always written") + "\n"
}
