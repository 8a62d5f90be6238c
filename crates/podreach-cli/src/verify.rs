//! `podreach verify`: does a certificate, or each piece of evidence of an audit, prove what it says about this input?

use std::io::Read;
use std::path::Path;

use podreach::answer::Oracle;
use podreach::assumption::Assumption;
use podreach::audit::Changed;
use podreach::engine::{Decision, Stop};
use podreach::read::{Source, Sources, shown};
use podreach::report::{self, Answered, Asked, Certificate, Claim, Shortfall};
use podreach_core::cancel;
use podreach_core::demand::Shortage;
use podreach_core::{Checker, Flaw, Problem, Short, Verdict};

use crate::args::{Expected, Verify};
use crate::budget::Clock;
use crate::session::{Exit, Saying, Session, Told, refuse};
use crate::{file, input, print, remark};

/// Runs the command.
pub(crate) fn run(args: &Verify, clock: &Clock) -> Result<Exit, Told> {
    let stdin = Path::new("-");
    if args.certificate == stdin && args.input.filename.iter().any(|path| path == stdin) {
        let help = "give one of them as a file";
        return Err(refuse("standard input cannot be both the input and the certificate", Some(help)));
    }
    let certificates = certificates(&args.certificate)?;
    let asked = args.question.as_deref().map(question).transpose()?;
    if certificates.is_empty() && !args.quiet {
        print::report("NOTHING TO VERIFY  there is no evidence in this document\n");
    }
    let saying = Saying { quiet: args.quiet || !args.verbose, verbose: args.verbose };
    let (mut exits, mut exported, mut number) = (Vec::new(), String::new(), 0);
    let mut last: Option<Session> = None;
    let mut under: Vec<Vec<Assumption>> = Vec::new();
    for certificate in &certificates {
        if let Some(line) = unasked(args, asked.as_ref(), certificate) {
            tell(args, line);
            exits.push(Exit::No);
            continue;
        }
        let known = last.take().filter(|session| session.options == certificate.options);
        let read = || Session::read(&args.input, |_| certificate.options.clone(), saying);
        // What was refused before stays refused, also where the input cannot be read again in time.
        let session = match known.map_or_else(|| cancel::attempt(read), |session| Ok(Ok(session))) {
            Ok(session) => session?,
            Err(stop) => {
                let (exit, line) = given_up(stop);
                tell(args, line);
                exits.push(exit);
                break;
            }
        };
        let (exit, line) = cancel::attempt(|| verified(&session, certificate, clock)).unwrap_or_else(given_up);
        tell(args, line);
        if args.export.is_some() {
            let written =
                cancel::attempt(|| export(&session, certificate)).unwrap_or_else(|stop| Err(stop.to_string()));
            match written {
                Ok(documents) => {
                    number += 1;
                    exported += &format!("# certificate {number}\n{documents}");
                }
                Err(why) => {
                    tell(args, format!("NOT EXPORTED  {why}"));
                    exits.push(Exit::Unknown);
                }
            }
        }
        let assumptions = session.assumptions(certificate.semantics).to_vec();
        if exit == Exit::Yes && !under.contains(&assumptions) {
            under.push(assumptions);
        }
        last = Some(session);
        exits.push(exit);
    }
    // What is proved is proved under these, whichever of them a single piece of evidence needs.
    under.iter().for_each(|assumptions| tell(args, report::assumed(assumptions, args.verbose)));
    if let Some(path) = &args.export {
        file::write_told(path, &exported)?;
    }
    Ok(together(&exits))
}

/// What is not proved counts more than what is not known; nothing is proved where nothing was looked at.
fn together(exits: &[Exit]) -> Exit {
    match exits {
        [] => Exit::Unknown,
        exits if exits.contains(&Exit::No) => Exit::No,
        exits => exits.iter().copied().max().unwrap_or(Exit::Unknown),
    }
}

fn tell(args: &Verify, line: String) {
    if !args.quiet {
        print::report(&(line + "\n"));
    }
}

/// Why a certificate is not what was asked for, if so: it answers another question, or claims something else.
fn unasked(args: &Verify, asked: Option<&Asked>, certificate: &Certificate) -> Option<String> {
    if asked.is_some() && (certificate.changed.is_some() || certificate.changes.is_some()) {
        return Some("ANOTHER QUESTION  it is about a cluster that differs from the input".to_owned());
    }
    let answers = certificate.asked();
    if let Some(asked) = asked.filter(|&asked| *asked != answers) {
        return Some(format!("ANOTHER QUESTION  it answers  {answers}\n                  asked was   {asked}"));
    }
    let claims = match certificate.claim {
        Claim::Deployable(_) => Some(Expected::Deployable),
        Claim::Never { .. } => Some(Expected::Never),
        Claim::Unknown(_) => None,
    };
    let (expected, claims) = args.expect.zip(claims).filter(|(expected, claims)| expected != claims)?;
    Some(format!("ANOTHER ANSWER  it says {}, and {} was expected", claims.name(), expected.name()))
}

/// The question of a file.
fn question(path: &Path) -> Result<Asked, Told> {
    let mut sources = Sources::default();
    let bytes = std::fs::read(path).map_err(|error| refuse(&input::unreadable(path, &error), None))?;
    let found = Source::from_bytes(path.to_string_lossy(), bytes).map_err(|diagnostic| vec![diagnostic]);
    let found = found.and_then(|source| {
        let id = sources.add(source);
        Asked::read(&sources, id)
    });
    found.map_err(|diagnostics| {
        remark::print(&sources, &diagnostics, false, true);
        Told
    })
}

/// The certificates of a file or of standard input, none if an audit there has nothing to prove; what is wrong with them is told.
pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate>, Told> {
    let name = path.to_string_lossy();
    let mut bytes = Vec::new();
    let read = match name.as_ref() {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        _ => std::fs::read(path),
    };
    let bytes = read.map_err(|error| refuse(&input::unreadable(path, &error), None))?;
    let mut sources = Sources::default();
    let found = Source::from_bytes(name, bytes).map_err(|diagnostic| vec![diagnostic]).and_then(|source| {
        let id = sources.add(source);
        Certificate::all(&sources, id)
    });
    let found = found.map_err(|diagnostics| {
        remark::print(&sources, &diagnostics, false, true);
        Told
    })?;
    if found.is_empty() { Err(refuse("the certificate is empty", None)) } else { Ok(found.concat()) }
}

/// Whether a certificate proves what it says, in a line.
fn verified(session: &Session, certificate: &Certificate, clock: &Clock) -> (Exit, String) {
    if let Claim::Unknown(reason) = &certificate.claim {
        return (Exit::Unknown, format!("UNKNOWN  it claims nothing: {}", shown(reason)));
    }
    if let (Some(changed), None) = (&certificate.changed, &certificate.changes) {
        return (Exit::Unknown, format!("NOT LOOKED AT  it does not say how its cluster is made: {}", shown(changed)));
    }
    let resolved = match Resolved::new(session, certificate) {
        Ok(resolved) => resolved,
        Err(why) => return (Exit::No, format!("NOT PROVED  {why}")),
    };
    let (exit, line) = checked(session, certificate, &resolved, clock);
    let says = if exit == Exit::Yes { &resolved.says } else { "" };
    (exit, line + says)
}

/// A certificate whose names are those of the input, or of the cluster that its changes make of it.
struct Resolved {
    oracle: Oracle,
    problem: Problem,
    verdict: Verdict,
    /// How the cluster differs from the input, if it does.
    says: String,
}

impl Resolved {
    fn new(session: &Session, certificate: &Certificate) -> Result<Self, String> {
        let changes = certificate.changes.as_deref().unwrap_or_default();
        let changed = Changed::new(&session.lowered, certificate.semantics, changes)?;
        let oracle = Oracle::new(&changed.problem, &session.lowered.diagnostics);
        let (problem, verdict) = certificate.resolve(&changed.problem, oracle.weakenings())?;
        let verdict = changed.told(verdict)?;
        Ok(Self { oracle, problem, verdict, says: changed.says })
    }
}

/// Whether the evidence of a certificate proves what it says, once names are resolved.
fn checked(session: &Session, certificate: &Certificate, resolved: &Resolved, clock: &Clock) -> (Exit, String) {
    let Resolved { oracle, problem, verdict, .. } = resolved;
    let stop = || clock.stop().is_some();
    if let Some(shortage) = &certificate.shortage {
        return match short_of(problem, (verdict.clone(), shortage), clock) {
            Ok(short) => (Exit::Yes, format!("PROVED  {}", report::audit::demanded(&problem.model, short.demand()))),
            Err(_) if stop() => given_up(clock.stop().unwrap_or(Stop::Timeout)),
            Err(why) => (Exit::No, format!("NOT PROVED  {why}")),
        };
    }
    match Checker::new(problem).check(&problem.goal, verdict.clone(), &stop) {
        Ok(checked) => {
            let decision = Decision { checked, engine: "certificate", efforts: Vec::new() };
            stands(session, oracle, problem, decision)
        }
        Err(Flaw::Stopped) => given_up(clock.stop().unwrap_or(Stop::Timeout)),
        Err(flaw) => (Exit::No, format!("NOT PROVED  {}", report::flaw(problem, verdict, &flaw))),
    }
}

/// A certificate as numbers, with the names behind them, whatever the check says of it; or why it cannot be written so.
fn export(session: &Session, certificate: &Certificate) -> Result<String, String> {
    if certificate.changed.is_some() && certificate.changes.is_none() {
        return Err("it does not say how its cluster is made".to_owned());
    }
    let Resolved { problem, verdict, .. } = Resolved::new(session, certificate)?;
    let written = match (&certificate.shortage, &verdict) {
        (Some(shortage), Verdict::Never(proof)) => {
            let (demand, argument) = shortage.resolve(&problem.model)?;
            let shortage = Shortage { ruled_out: problem.goal.clone(), proof: proof.clone(), argument };
            report::export::shortage(&problem, &demand, &shortage)
        }
        _ => report::export::verdict(&problem, &problem.goal, &verdict),
    };
    written.map(|documents| report::legend(&problem.model) + &documents).map_err(|why| why.to_string())
}

/// That a check was not finished.
fn given_up(stop: Stop) -> (Exit, String) {
    (Exit::Unknown, format!("UNKNOWN  the check was not finished: {stop}"))
}

/// What follows from a proof for any choice of nodes; or what is wrong with it.
fn short_of(problem: &Problem, (verdict, written): (Verdict, &Shortfall), clock: &Clock) -> Result<Short, String> {
    let stop = || clock.stop().is_some();
    let told = |flaw: Flaw| report::flaw(problem, &verdict, &flaw);
    let (demand, argument) = written.resolve(&problem.model)?;
    let Verdict::Never(proof) = verdict.clone() else {
        return Err("a shortage follows from a proof, and there is none".to_owned());
    };
    let shortage = Shortage { ruled_out: problem.goal.clone(), proof, argument };
    podreach_core::short(problem, demand, shortage, &stop).map_err(told)
}

/// Whether a checked verdict is free of doubts about the input.
fn stands(session: &Session, oracle: &Oracle, problem: &Problem, decision: Decision) -> (Exit, String) {
    let decision = oracle.held(decision);
    match decision.checked.verdict() {
        Verdict::Unknown(reason) => (Exit::No, format!("NOT PROVED  {reason}")),
        _ => {
            let assumptions = session.assumptions(problem.model.semantics());
            let answered = Answered { options: &session.options, decision: &decision, assumptions };
            (Exit::Yes, format!("PROVED  {}", report::headline(&answered)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_counts_more_than_what_was_not_finished() {
        assert_eq!(together(&[Exit::Yes, Exit::No, given_up(Stop::Timeout).0]), Exit::No);
        assert_eq!(together(&[Exit::Yes, given_up(Stop::Timeout).0]), Exit::Unknown);
        assert_eq!((together(&[Exit::Yes]), together(&[])), (Exit::Yes, Exit::Unknown));
    }
}
