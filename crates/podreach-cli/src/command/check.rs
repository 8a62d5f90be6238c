//! `podreach check`: can this ever be?

use podreach::Answer;
use podreach::report::{self, Detail, Documents};
use podreach_core::{Verdict, cancel};
use serde_json::Value;

use crate::args::{Check, Format, Output};
use crate::budget::Clock;
use crate::command::ask::{self, NamedAnswer};
use crate::command::walk;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::file;
use crate::output::print;

/// The most steps that are drawn or walked: each shows a whole configuration, and nobody looks at so many.
pub(crate) const LONGEST: usize = 20_000;

/// Runs the command.
pub(crate) fn run(args: &Check, clock: &Clock) -> Result<Exit, Reported> {
    let options = |own| args.cluster.reading.options_for(&args.asking, own);
    let session = Session::read(&args.cluster.input, options, (&args.output).into())?;
    let answers = ask::answers(&args.asking, &args.cluster.reading, clock, &session)?;
    if args.step {
        // Whoever walks takes their time.
        clock.hand_over();
    }
    cancel::exempt(|| write(args, &answers))?;
    Ok(ask::worst(&answers))
}

/// Writes the answers, in every form that was asked for.
fn write(args: &Check, answers: &[NamedAnswer<'_>]) -> Result<(), Reported> {
    let documents = || Documents(answers.iter().map(|named| named.answer.document()).collect());
    if let Some(path) = &args.proof_out {
        file::write_json(path, &documents())?;
    }
    match args.output.format {
        _ if args.step => walk::walk(answers),
        Format::Json => print::json(&documents()),
        Format::Yaml => print::data(&report::yaml(&documents().value())),
        Format::Mermaid | Format::Svg | Format::Itf => print::data(&drawing(args.output.format, answers)?),
        Format::Text | Format::Wide => print::report(&text(answers, &args.output)),
    }
    Ok(())
}

/// The run of the one answer there is, in a format for runs; empty, with a word about it, when there is none or it is too long.
fn drawing(format: Format, answers: &[NamedAnswer<'_>]) -> Result<String, Reported> {
    let [NamedAnswer { answer, .. }] = answers else {
        return Err(refuse(
            "a run is drawn for one question and one semantics at a time",
            Some("name a POD and a NODE"),
        ));
    };
    let trace = match answer.verdict() {
        Verdict::Deployable(trace) if trace.len() <= LONGEST => trace,
        verdict => {
            let why = match verdict {
                Verdict::Deployable(trace) => format!("a run of {} steps is too long to draw", trace.len()),
                _ => "there is no run to draw".to_owned(),
            };
            let headline = answer.headline();
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

fn text(answers: &[NamedAnswer<'_>], output: &Output) -> String {
    let detail = match output {
        Output { quiet: true, .. } => Detail::Quiet,
        Output { verbose: true, .. } => Detail::Verbose,
        _ => Detail::Normal,
    };
    let mut parts = Vec::new();
    for (at, NamedAnswer { name, answer }) in answers.iter().enumerate() {
        let mut part = answer.text(detail);
        if let Some(name) = name.as_ref().filter(|_| answers.len() > 1 && detail > Detail::Quiet) {
            let end = part.find('\n').unwrap_or(part.len());
            part.insert_str(end, &format!("\n  asked by the question {name}"));
        }
        parts.push(part);
        if let Some(verdicts) = at.checked_sub(1).and_then(|before| compared(&answers[before].answer, answer)) {
            parts.push(verdicts);
        }
    }
    parts.join(if detail == Detail::Quiet { "" } else { "\n" })
}

/// Whether two answers to one question, each under its semantics, agree.
fn compared(a: &Answer<'_>, b: &Answer<'_>) -> Option<String> {
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
