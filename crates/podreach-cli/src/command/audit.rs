//! `podreach audit`: do the placement policies hold, and what is wrong with this cluster by itself?

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use podreach::audit::memory::{Means, NoCache};
use podreach::audit::policy::{self, Policy};
use podreach::audit::{Actor, Outcome, Severity, Status};
use podreach::diagnostic::Effect;
use podreach::read::shown_path;
use podreach::report::{self, Detail, audit as writers};
use podreach_core::{Semantics, cancel};

use crate::args::Flags;
use crate::args::{Audit, AuditFormat, Auditing, FailOn, Input, Remarks};
use crate::budget::Clock;
use crate::cache::Cache;
use crate::command::check::pretty;
use crate::gather;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::file::write_text;
use crate::output::print;
use crate::output::remark;
use crate::unfreed;

/// Runs the command.
pub(crate) fn run(args: &Audit, clock: &Clock) -> Result<Exit, Reported> {
    let audited = audited(&args.auditing, Remarks { quiet: args.quiet, verbose: args.verbose }, clock, None)?;
    let exit = cancel::exempt(|| write(args, &audited));
    // Evidence has clusters of its own, which are not freed either.
    unfreed::leave(audited);
    exit
}

/// An audit that is done.
pub(crate) struct Audited {
    /// The input, with the files of the policies.
    pub(crate) session: Session,
    /// Whose rules counted, and what came out under them.
    pub(crate) outcomes: Vec<(Semantics, Outcome)>,
}

/// How long findings take to write, in hundredths of the time to read the input.
const FINDINGS: u32 = 25;

/// Audits what the command line asks for; whoever also shows the cluster says how long that takes.
pub(crate) fn audited(
    args: &Auditing,
    remarks: Remarks,
    clock: &Clock,
    page: Option<u32>,
) -> Result<Audited, Reported> {
    let mut session = session(args, remarks)?;
    clock.reserve(page.unwrap_or(FINDINGS));
    let policies = policies(args, remarks, &mut session)?;
    session.look_at(podreach::lower::pool::looked_at(&policies));
    let earlier = earlier(args)?;
    let cache = if args.no_cache { None } else { Cache::open() };
    let audit = podreach::Audit {
        policies: &policies,
        actor: args.actor.clone(),
        findings: !args.no_findings,
        earlier: earlier.as_deref(),
    };
    // Whoever shows the cluster needs its model: it is made before there is no more time for it.
    page.map(|_| session.problem(args.cluster.reading.semantics(None)[0]));
    let mut outcomes = Vec::new();
    for semantics in args.cluster.reading.semantics(None) {
        let memory = cache.as_ref().map_or(&NoCache as &dyn podreach::engine::Cache, |cache| cache);
        let budget = clock.lasting_budget();
        let bar = bar(audit.parts(&session));
        let mut outcome = session.audit(&audit, semantics, Means { budget: &budget, memory }, &|| bar.inc(1));
        bar.finish_and_clear();
        if let Some(path) = &args.baseline {
            let text = std::fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
            outcome.compare(&writers::read_baseline(&text).map_err(|why| unusable(path, &why))?);
        }
        outcomes.push((semantics, outcome));
    }
    if let Some(note) = cache.and_then(|cache| cache.damage()).filter(|_| !remarks.quiet) {
        print::error(&format!("note: {note}\n"));
    }
    Ok(Audited { session, outcomes })
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Reported {
    refuse(&format!("{} cannot be used: {why}", shown_path(path)), None)
}

/// The input; manifests without nodes will do.
fn session(args: &Auditing, remarks: Remarks) -> Result<Session, Reported> {
    let session = Session::open_anything(&args.cluster, remarks)?;
    if session.cluster().nodes.is_empty() && !remarks.quiet {
        print::error("note: the input has no nodes, so only findings that need none are looked for\n");
    }
    Ok(session)
}

/// The policies of the command line and of the input itself; their files are added to the sources, to show places in them.
fn policies(args: &Auditing, remarks: Remarks, session: &mut Session) -> Result<Vec<Policy>, Reported> {
    let gathered = gather::gather(&Input {
        filename: args.policies.clone(),
        recursive: args.cluster.input.recursive,
        scheduler_config: None,
        instance_types: None,
        live: Flags::default(),
    });
    let ids: Vec<_> = gathered.sources.ids().filter_map(|id| gathered.sources.source(id).cloned()).collect();
    let ids: Vec<_> = ids.into_iter().map(|source| session.add_source(source)).collect();
    let (read, diagnosed) = policy::read(session.sources(), ids);
    let policies: Vec<Policy> = session.lowered().policies.iter().cloned().chain(read).collect();
    let mut diagnostics = gathered.diagnostics;
    diagnostics.extend(diagnosed);
    if diagnostics.iter().all(|diagnostic| diagnostic.effect != Effect::Stops) {
        diagnostics.extend(policy::duplicates(&policies));
    }
    remark::print(session.sources(), &diagnostics, remarks.quiet, remarks.verbose);
    if diagnostics.iter().any(|diagnostic| diagnostic.effect == Effect::Stops) {
        return Err(Reported);
    }
    if policies.is_empty() && args.no_findings {
        return Err(refuse("there is no policy to decide, and --no-findings leaves nothing else", None));
    }
    if policies.is_empty() && args.actor != Actor::AsIs {
        let help = "give a policy, or leave out --actor";
        return Err(refuse("--actor is about who could break a rule, and there is no rule", Some(help)));
    }
    if !policies.is_empty() && session.cluster().nodes.is_empty() {
        return Err(refuse(
            "the input has no nodes, so no policy can be decided",
            Some("add the output of kubectl get nodes -o yaml"),
        ));
    }
    Ok(policies)
}

/// The earlier input to compare with.
fn earlier(args: &Auditing) -> Result<Option<Session>, Reported> {
    if args.since.is_empty() {
        return Ok(None);
    }
    let input = Input {
        filename: args.since.clone(),
        recursive: args.cluster.input.recursive,
        scheduler_config: args.cluster.input.scheduler_config.clone(),
        instance_types: args.cluster.input.instance_types.clone(),
        live: Flags::default(),
    };
    Session::read(&input, |own| args.cluster.reading.options(own), Remarks { quiet: true, verbose: false }).map(Some)
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

impl Audited {
    /// As writers take it.
    pub(crate) fn audits(&self, args: &Auditing) -> Vec<writers::AuditReport<'_>> {
        self.outcomes.iter().map(|(semantics, outcome)| self.report(args, (*semantics, outcome))).collect()
    }

    fn report<'s>(
        &'s self,
        args: &Auditing,
        (semantics, outcome): (Semantics, &'s Outcome),
    ) -> writers::AuditReport<'s> {
        writers::AuditReport {
            outcome,
            sources: self.session.sources(),
            options: self.session.options(),
            semantics,
            assumptions: self.session.assumptions(semantics),
            diagnostics: self.session.remarks(),
            fail_on: match args.fail_on {
                FailOn::Error => Some(Severity::Error),
                FailOn::Warning => Some(Severity::Warning),
                FailOn::Note => Some(Severity::Note),
                FailOn::Never => None,
            },
        }
    }
}

/// Writes every form that was asked for, and says how the run ends.
fn write(args: &Audit, audited: &Audited) -> Result<Exit, Reported> {
    let audits = audited.audits(&args.auditing);
    for (format, path) in &args.also {
        write_text(path, &form(args, &audits, *format))?;
    }
    let text = form(args, &audits, args.format);
    if args.format == AuditFormat::Text {
        print::report(&text)
    } else {
        print::data(&text)
    }
    finish(&args.auditing, &audits)
}

/// Writes a baseline, if one is asked for, and says how the run ends.
pub(crate) fn finish(args: &Auditing, audits: &[writers::AuditReport<'_>]) -> Result<Exit, Reported> {
    if let Some(path) = &args.write_baseline {
        write_text(path, &pretty(&writers::baseline(audits)))?;
    }
    Ok(exit(args, audits))
}

fn form(args: &Audit, audits: &[writers::AuditReport<'_>], format: AuditFormat) -> String {
    let detail = match (args.quiet, args.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    match format {
        AuditFormat::Text => writers::text(audits, detail),
        AuditFormat::Json => pretty(&writers::document(audits)),
        AuditFormat::Yaml => report::yaml(&writers::document(audits)),
        AuditFormat::Markdown => writers::markdown(audits),
        AuditFormat::Sarif => pretty(&writers::sarif(audits)),
        AuditFormat::Junit => writers::junit(audits),
        AuditFormat::Github => writers::github(audits),
    }
}

/// Violated comes before undecided: what is wrong is wrong, whatever else is not known. Writing a baseline accepts what is wrong.
fn exit(args: &Auditing, audits: &[writers::AuditReport<'_>]) -> Exit {
    match (fails(audits, Status::Violated), fails(audits, Status::Undecided) && !args.allow_unknown) {
        _ if args.write_baseline.is_some() => Exit::Yes,
        (true, _) => Exit::No,
        (_, true) => Exit::Unknown,
        _ => Exit::Yes,
    }
}

/// Whether something with a status fails an audit.
fn fails(audits: &[writers::AuditReport<'_>], status: Status) -> bool {
    audits.iter().any(|audit| audit.outcome.counting(status, Severity::Note).any(|item| audit.fails(item)))
}
