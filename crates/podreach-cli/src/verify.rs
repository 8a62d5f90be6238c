//! `podreach verify`: does a certificate prove what it says about this input?

use std::io::Read;
use std::path::Path;

use podreach::answer::Oracle;
use podreach::diagnostic::Diagnostic;
use podreach::engine::{Budget, Decision};
use podreach::lower::Options;
use podreach::read::{Source, Sources, shown};
use podreach::report::{self, Answered, Certificate};
use podreach_core::{Checker, Flaw, Problem};

use crate::args::Verify;
use crate::budget::Clock;
use crate::session::{Exit, Saying, Session, Told, refuse};
use crate::{print, remark};

/// Runs the command.
pub(crate) fn run(args: &Verify) -> Result<Exit, Told> {
    let certificates = certificates(&args.certificate)?;
    let saying = Saying { quiet: args.quiet || !args.verbose, verbose: args.verbose };
    let clock = Clock::start(&args.limits);
    let mut worst = Exit::Yes;
    for certificate in &certificates {
        let session = Session::read(&args.input, |_| certificate.options.clone(), saying)?;
        let (exit, line) = verified(&session, certificate, &clock);
        if !args.quiet {
            print::report(&(line + "\n"));
        }
        worst = worst.max(exit);
    }
    Ok(worst)
}

/// The certificates of a file or of standard input; what is wrong with them is told.
pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate>, Told> {
    let name = path.to_string_lossy();
    let mut bytes = Vec::new();
    let read = match name.as_ref() {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        _ => std::fs::read(path),
    };
    let bytes = read.map_err(|error| refuse(&format!("{} cannot be read: {error}", shown(&name)), None))?;
    let mut sources = Sources::default();
    let found = Source::from_bytes(name, bytes).map_err(|diagnostic| vec![diagnostic]).and_then(|source| {
        let id = sources.add(source);
        let (documents, diagnostics) = sources.documents(id);
        let read = documents.iter().map(Certificate::read).collect::<Result<Vec<_>, Diagnostic>>();
        if diagnostics.is_empty() { read.map_err(|refused| vec![refused]) } else { Err(diagnostics) }
    });
    let found = found.map(|documents| documents.concat()).map_err(|diagnostics| {
        remark::print(&sources, &diagnostics, false, true);
        Told
    })?;
    if found.is_empty() { Err(refuse("the certificate is empty", None)) } else { Ok(found) }
}

/// Whether a certificate proves what it says, in a line.
fn verified(session: &Session, certificate: &Certificate, clock: &Clock) -> (Exit, String) {
    let problem = podreach::problem(&session.lowered, certificate.semantics);
    let (goal, verdict) = match certificate.resolve(&problem.model) {
        Ok(resolved) => resolved,
        Err(why) => return (Exit::No, format!("NOT PROVED  {why}")),
    };
    let problem = problem.with_goal(goal.clone());
    let stop = || clock.stop().is_some();
    match Checker::new(&problem).check(&goal, verdict.clone(), &stop) {
        Ok(checked) => stands(
            session,
            &problem,
            &session.options,
            Decision { checked, engine: "certificate", efforts: Vec::new() },
            clock,
        ),
        Err(Flaw::Stopped) => (Exit::Unknown, "UNKNOWN  the check ran out of time".to_owned()),
        Err(flaw) => (Exit::No, format!("NOT PROVED  {}", report::flaw(&problem, &verdict, &flaw))),
    }
}

/// Whether a checked verdict is free of doubts about the input.
fn stands(
    session: &Session,
    problem: &Problem,
    options: &Options,
    decision: Decision,
    clock: &Clock,
) -> (Exit, String) {
    let budget = Budget { interrupt: &|| clock.stop(), memory: clock.memory, threads: clock.threads, progress: None };
    let mut oracle = Oracle::new(problem, &session.lowered.diagnostics);
    match oracle.doubt(&problem.goal, &decision.checked, &budget) {
        Ok(None) => {
            let answered = Answered { problem, options, decision: &decision };
            (Exit::Yes, format!("PROVED  {}", report::headline(&answered)))
        }
        Ok(Some(_)) => {
            let why = "its run leans on something that is not modelled, though another run does not";
            (Exit::No, format!("NOT PROVED  {why}"))
        }
        Err(reason) => (Exit::No, format!("NOT PROVED  {reason}")),
    }
}
