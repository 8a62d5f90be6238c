//! `podreach verify`: does a certificate, or each piece of evidence of an audit, prove what it says about this input?

use std::io::Read;
use std::path::Path;

use podreach::Verified;
use podreach::assumption::Assumption;
use podreach::lower::{Options, Release, ReleaseBy};
use podreach::read::{Source, Sources};
use podreach::report::{self, Asked, Assertion, Certificate};
use podreach_core::cancel;

use crate::args::{Expected, Remarks, Verify};
use crate::budget::Clock;
use crate::gather;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::file;
use crate::output::print;
use crate::output::remark;

/// Runs the command.
pub(crate) fn run(args: &Verify, clock: &Clock) -> Result<Exit, Reported> {
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
    let remarks = Remarks { quiet: args.quiet || !args.verbose, verbose: args.verbose };
    let (mut exits, mut exported, mut number) = (Vec::new(), String::new(), 0);
    let mut last: Option<Session> = None;
    let mut under: Vec<Vec<Assumption>> = Vec::new();
    for certificate in &certificates {
        if let Some(line) = unasked(args, asked.as_ref(), certificate) {
            tell(args, line);
            exits.push(Exit::No);
            continue;
        }
        let is_known =
            |session: &Session| read_by(session.options(), certificate.options.release_by) == certificate.options;
        let known = last.take().filter(is_known);
        let read = || Session::read(&args.input, |own| as_certified(&certificate.options, own), remarks);
        // What was refused before stays refused, also where the input cannot be read again in time.
        let session = match known.map_or_else(|| cancel::attempt(read), |session| Ok(Ok(session))) {
            Ok(session) => session?,
            Err(stop) => {
                let verified = Verified::Unfinished(stop);
                tell(args, verified.to_string());
                exits.push(exit(&verified));
                break;
            }
        };
        let nodes = certificate.options.nodes;
        if !session.lowered().pools.is_empty() && asked.as_ref().is_some_and(|asked| asked.nodes() != nodes) {
            tell(args, "ANOTHER QUESTION  it is about other nodes: the input has pools".to_owned());
            exits.push(Exit::No);
            last = Some(session);
            continue;
        }
        let verified = session.verify_certificate(certificate, &|| clock.stop());
        let exit = exit(&verified);
        tell(args, verified.to_string());
        if args.export.is_some() {
            let written = cancel::attempt(|| session.export(certificate).map_err(|error| error.to_string()));
            let written = written.unwrap_or_else(|stop| Err(stop.to_string()));
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
        file::write_text(path, &exported)?;
    }
    Ok(together(&exits))
}

/// The options of a certificate. It names the release, and the input may not: then that is assumed.
fn as_certified(options: &Options, own: Option<(Release, ReleaseBy)>) -> Options {
    let by = match own {
        Some((release, by)) if release == options.release => by,
        Some(_) => ReleaseBy::Given,
        None => ReleaseBy::Assumed,
    };
    read_by(options, by)
}

/// The same options, with a release that is known in such a way.
fn read_by(options: &Options, release_by: ReleaseBy) -> Options {
    Options { release_by, ..options.clone() }
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
    let claims = match certificate.assertion {
        Assertion::Deployable(_) => Some(Expected::Deployable),
        Assertion::Never { .. } => Some(Expected::Never),
        Assertion::Unknown(_) => None,
    };
    let (expected, claims) = args.expect.zip(claims).filter(|(expected, claims)| expected != claims)?;
    Some(format!("ANOTHER ANSWER  it says {}, and {} was expected", claims.name(), expected.name()))
}

/// The question of a file.
fn question(path: &Path) -> Result<Asked, Reported> {
    let mut sources = Sources::default();
    let bytes = std::fs::read(path).map_err(|error| refuse(&gather::unreadable(path, &error), None))?;
    let found = Source::from_bytes(path.to_string_lossy(), bytes).map_err(|diagnostic| vec![diagnostic]);
    let found = found.and_then(|source| {
        let id = sources.add(source);
        Asked::read(&sources, id)
    });
    found.map_err(|diagnostics| {
        remark::print(&sources, &diagnostics, false, true);
        Reported
    })
}

/// The certificates of a file or of standard input, none if an audit there has nothing to prove; what is wrong with them is reported.
pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate>, Reported> {
    let name = path.to_string_lossy();
    let mut bytes = Vec::new();
    let read = match name.as_ref() {
        "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        _ => std::fs::read(path),
    };
    let bytes = read.map_err(|error| refuse(&gather::unreadable(path, &error), None))?;
    let mut sources = Sources::default();
    let found = Source::from_bytes(name, bytes).map_err(|diagnostic| vec![diagnostic]).and_then(|source| {
        let id = sources.add(source);
        Certificate::all(&sources, id)
    });
    let found = found.map_err(|diagnostics| {
        remark::print(&sources, &diagnostics, false, true);
        Reported
    })?;
    if found.is_empty() { Err(refuse("the certificate is empty", None)) } else { Ok(found.concat()) }
}

/// How a command ends that found this out.
fn exit(verified: &Verified) -> Exit {
    match verified {
        Verified::Proved(_) => Exit::Yes,
        Verified::NotProved(_) => Exit::No,
        _ => Exit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use podreach::engine::Stop;

    use super::*;

    #[test]
    fn what_is_refused_counts_more_than_what_was_not_finished() {
        assert_eq!(together(&[Exit::Yes, Exit::No, exit(&Verified::Unfinished(Stop::Timeout))]), Exit::No);
        assert_eq!(together(&[Exit::Yes, exit(&Verified::Unfinished(Stop::Timeout))]), Exit::Unknown);
        assert_eq!((together(&[Exit::Yes]), together(&[])), (Exit::Yes, Exit::Unknown));
    }
}
