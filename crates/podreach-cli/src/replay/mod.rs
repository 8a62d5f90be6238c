//! `podreach replay`: a run, step by step, on a real cluster with the real scheduler.
//!
//! How a pod is offered one node and nothing else is changed: it is created with a scheduling gate, its status is made to nominate the
//! trace's node, and the gate is lifted. The scheduler runs all filters for a nominated node first, over the whole cluster as it is, and
//! takes it if they pass; only if they refuse does it look at other nodes, and then model and cluster disagree whatever it finds. Node
//! affinity would instead change which nodes a spread constraint counts, and cordoning which taints it honours.

mod cluster;
mod inert;
mod outcome;
mod plan;

use std::collections::BTreeMap;
use std::fmt;

use podreach::report::{Assertion, Certificate};
use podreach_core::{Checker, Semantics, Verdict};
use serde_json::Value;

use crate::args::{Format, Remarks, Replay};
use crate::budget::Clock;
use crate::command::snapshot;
use crate::command::verify;
use crate::gather::{self, Gathered};
use crate::input::session::Session;
use crate::live;
use crate::live::connection::Connection;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::print;
use cluster::Cluster;
use outcome::{Outcome, Report};
use plan::Plan;

/// The label of everything that a replay creates; its value is the run's name.
pub(crate) const LABEL: &str = "podreach.dev/replay";

/// Runs the command.
pub(crate) fn run(args: &Replay, clock: &Clock) -> Result<Exit, Reported> {
    let connection = Connection::open(&args.input.live).map_err(|why| {
        refuse(&format!("there is no cluster to replay on: {why}"), Some("name one with --kubeconfig and --context"))
    })?;
    let cluster = Cluster::new(&connection, args, clock);
    if args.clean {
        return clean(&cluster, args.quiet);
    }
    let certificate = certificate(args)?;
    let session = session(&connection, args, &certificate)?;
    let plan = planned(&session, &certificate)?;
    let mut report = Report::new(&connection.server, cluster.run.clone(), plan.steps.len());
    if args.execute {
        allowed(&cluster, args)?;
        execute(&cluster, &plan, &mut report, args);
    } else {
        plan.steps.iter().for_each(|step| report.add(step, Outcome::Planned, |line| said(args, line)));
    }
    match args.format {
        Format::Json => print::json(&report.document()),
        Format::Yaml => print::data(&podreach::report::yaml(&report.document())),
        _ => print::report(&report.conclusion(args.execute)),
    }
    Ok(report.exit())
}

fn said(args: &Replay, line: &str) {
    if !matches!(args.format, Format::Json | Format::Yaml) && !args.quiet {
        print::report(line);
    }
}

/// The verdict to replay: one that comes with a run of the real scheduler's rules.
fn certificate(args: &Replay) -> Result<Certificate, Reported> {
    let Some(path) = &args.verdict else {
        return Err(refuse("which run? give a verdict as `podreach check -o json` writes it", None));
    };
    let found: Result<[Certificate; 1], _> = verify::certificates(path)?.try_into();
    let [certificate] = found.map_err(|other: Vec<_>| {
        let count = if other.is_empty() { "no verdict" } else { "several verdicts" };
        refuse(&format!("the file holds {count}; give one"), None)
    })?;
    if !matches!(certificate.assertion, Assertion::Deployable(_)) {
        return Err(refuse("this verdict comes without a run: only *deployable* can be replayed", None));
    }
    if certificate.semantics != Semantics::KubeScheduler {
        return Err(refuse("the run obeys the rules of the paper, and the cluster those of kube-scheduler", None));
    }
    Ok(certificate)
}

/// The cluster as it is now, together with the files that were named.
fn session(connection: &Connection, args: &Replay, certificate: &Certificate) -> Result<Session, Reported> {
    let live = live::read(connection, &args.input.live, args.quiet)?;
    let Gathered { sources, diagnostics, .. } = live.with(gather::gather(&args.input));
    let remarks = Remarks { quiet: args.quiet, verbose: args.verbose };
    Session::of_sources(sources, diagnostics, certificate.options.clone(), remarks)
}

/// The steps on this cluster; refused where the run does not fit it as it is now.
fn planned(session: &Session, certificate: &Certificate) -> Result<Plan, Reported> {
    if session.cluster().symbols.symbol(LABEL).is_some() {
        let help = "if they are left from an earlier replay: podreach replay --clean";
        return Err(refuse(&format!("labels or selectors of this cluster mention {LABEL}"), Some(help)));
    }
    let problem = podreach::problem(session.lowered(), certificate.semantics);
    let (problem, verdict) = certificate.resolve(&problem, &[]).map_err(|error| unfit(&error))?;
    let flaw = Checker::new(&problem).check(&problem.goal, verdict.clone(), &|| false).err();
    if let Some(flaw) = flaw {
        return Err(unfit(&podreach::report::flaw(&problem, &verdict, &flaw)));
    }
    let Verdict::Deployable(trace) = &verdict else { return Err(unfit(&"it has no steps")) };
    let lists = snapshot::lists(session.sources())?;
    let objects: Vec<Value> = lists.into_iter().flat_map(|list| list.objects).collect();
    plan::plan(session, &problem, trace, &objects).map_err(|error| unfit(&error))
}

/// That a run does not fit the cluster.
fn unfit(why: &dyn fmt::Display) -> Reported {
    refuse(&format!("the run does not fit this cluster as it is now: {why}"), None)
}

/// Refuses clusters that nobody said are for tests.
fn allowed(cluster: &Cluster<'_>, args: &Replay) -> Result<(), Reported> {
    let marked = cluster.is_for_tests();
    let marked = marked.map_err(|failure| refuse(&format!("namespace kube-system cannot be read: {failure}"), None))?;
    if marked || args.force >= 2 {
        return Ok(());
    }
    let message =
        format!("{} is not marked as a test cluster, and a replay creates and deletes pods", cluster.server());
    let help = "if it is one: kubectl label namespace kube-system podreach.dev/test-cluster=true; if you mean it anyway, give --force twice";
    Err(refuse(&message, Some(help)))
}

/// Runs the steps and cleans up, whatever happens in between.
fn execute(cluster: &Cluster<'_>, plan: &Plan, report: &mut Report, args: &Replay) {
    // From here on steps end in order: whatever was created is removed again.
    cluster.clock.hand_over();
    let mut created = BTreeMap::new();
    for step in &plan.steps {
        let outcome = if cluster.is_stopped() { Outcome::Interrupted } else { cluster.step(step, &mut created) };
        let goes_on = outcome == Outcome::Agreed;
        report.add(step, outcome, |line| said(args, line));
        if !goes_on {
            break;
        }
    }
    if args.keep_pods {
        return;
    }
    report.cleaned = Some(cluster.clean(Some(&cluster.run)));
}

/// Removes everything that replays left.
fn clean(cluster: &Cluster<'_>, quiet: bool) -> Result<Exit, Reported> {
    let removed = cluster.clean(None);
    let removed = removed.map_err(|failure| {
        refuse(&format!("{} cannot be cleaned: {failure}", cluster.server()), Some("try again when it answers"))
    })?;
    if !quiet {
        let pods = if removed == 1 { "1 pod".to_owned() } else { format!("{removed} pods") };
        print::report(&format!("CLEAN  {pods} of earlier replays removed from {}\n", cluster.server()));
    }
    Ok(Exit::Yes)
}
