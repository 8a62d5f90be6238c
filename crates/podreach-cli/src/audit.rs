//! `podreach audit`: do the placement policies hold, and what is wrong with this cluster by itself?

use indicatif::{ProgressBar, ProgressStyle};
use podreach::audit::policy::{self, Policy};
use podreach::audit::{Item, Origin, Outcome, Severity, Status, finding};
use podreach::diagnostic::Effect;
use podreach::engine::Budget;
use podreach::report::{self, Detail, audit as writers};
use podreach_core::Semantics;

use crate::args::{Audit, AuditFormat, FailOn, Whose};
use crate::budget::Clock;
use crate::check::{pretty, write_atomically};
use crate::session::{Exit, Saying, Session, Told, refuse};
use crate::{input, print, remark};

/// Runs the command.
pub(crate) fn run(args: &Audit) -> Result<Exit, Told> {
    let semantics = match args.reading.semantics {
        Some(Whose::Both) => return Err(refuse("audit takes one semantics at a time: kube-scheduler or paper", None)),
        _ => args.reading.semantics(None)[0],
    };
    let mut session = session(args)?;
    let policies = policies(args, &mut session)?;
    let clock = Clock::start(&args.limits);
    let items = items(args, &session, &policies, semantics, &clock);
    let outcome = Outcome::new(items, &session.lowered.origins);
    write(args, &session, semantics, &outcome)?;
    Ok(exit(args, &outcome))
}

/// The input; manifests without nodes will do.
fn session(args: &Audit) -> Result<Session, Told> {
    if args.input.filename.is_empty() {
        return Session::read(&args.input, args.reading.options(), saying(args));
    }
    let gathered = input::gather(&args.input);
    Session::of_anything(gathered.sources, gathered.diagnostics, args.reading.options(), saying(args))
}

fn saying(args: &Audit) -> Saying {
    Saying { quiet: args.quiet, verbose: args.verbose }
}

/// The policies of the input and of the policy files; what is wrong with them is told.
fn policies(args: &Audit, session: &mut Session) -> Result<Vec<Policy>, Told> {
    let first = session.sources.ids().count();
    let gathered = input::gather_also(std::mem::take(&mut session.sources), &args.policies);
    session.sources = gathered.sources;
    let (read, remarks) = policy::read(&session.sources, session.sources.ids().skip(first));
    let mut policies = std::mem::take(&mut session.lowered.policies);
    policies.extend(read);
    let mut diagnostics: Vec<_> = gathered.diagnostics.into_iter().chain(remarks).collect();
    if diagnostics.is_empty() {
        diagnostics.extend(policy::duplicates(&policies));
    }
    remark::print(&session.sources, &diagnostics, args.quiet, args.verbose);
    if diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
        return Err(Told);
    }
    if !args.policies.is_empty() && policies.is_empty() {
        return Err(refuse("the policy files have no PlacementPolicy in them", None));
    }
    Ok(policies)
}

fn items(args: &Audit, session: &Session, policies: &[Policy], semantics: Semantics, clock: &Clock) -> Vec<Item> {
    let budget = Budget { interrupt: &|| clock.stop(), memory: clock.memory, threads: clock.threads };
    let bar_of_rules = bar(policies.iter().map(|policy| policy.rules.len()).sum());
    let done = || bar_of_rules.inc(1);
    let mut items = policy::items(&session.lowered, policies, semantics, &args.actor, &budget, &done);
    bar_of_rules.finish_and_clear();
    if !args.no_findings {
        let bar = bar(finding::parts());
        items.extend(finding::items(&session.lowered, semantics, &budget, &|| bar.inc(1)));
        bar.finish_and_clear();
    }
    items
}

fn bar(parts: usize) -> ProgressBar {
    if !print::is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(parts as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} parts of the audit {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar
}

/// Writes every form that was asked for.
fn write(args: &Audit, session: &Session, semantics: Semantics, outcome: &Outcome) -> Result<(), Told> {
    let audit = writers::Audit {
        outcome,
        sources: &session.sources,
        options: &session.options,
        semantics,
        diagnostics: &session.lowered.diagnostics,
    };
    for (format, path) in &args.also {
        write_atomically(path, &form(args, &audit, *format)).map_err(|error| {
            let path = podreach::read::shown(&path.to_string_lossy());
            refuse(&format!("{path} cannot be written: {error}"), None)
        })?;
    }
    let text = form(args, &audit, args.format);
    if args.format == AuditFormat::Text {
        print::report(&text)
    } else {
        print::data(&text)
    }
    Ok(())
}

fn form(args: &Audit, audit: &writers::Audit<'_>, format: AuditFormat) -> String {
    let detail = match (args.quiet, args.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    match format {
        AuditFormat::Text => writers::text(audit, detail),
        AuditFormat::Json => pretty(&writers::document(audit)),
        AuditFormat::Yaml => report::yaml(&writers::document(audit)),
    }
}

/// Violated comes before undecided: what is wrong is wrong, whatever else is not known.
fn exit(args: &Audit, outcome: &Outcome) -> Exit {
    let least = match args.fail_on {
        FailOn::Error => Some(Severity::Error),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Note => Some(Severity::Note),
        FailOn::Never => None,
    };
    let counts =
        |item: &&Item| matches!(item.origin, Origin::Rule { .. }) || least.is_some_and(|least| item.severity >= least);
    let any = |status: Status| outcome.counting(status, Severity::Note).any(|item| counts(&item));
    match (any(Status::Violated), any(Status::Undecided) && !args.allow_unknown) {
        (true, _) => Exit::No,
        (_, true) => Exit::Unknown,
        _ => Exit::Yes,
    }
}
