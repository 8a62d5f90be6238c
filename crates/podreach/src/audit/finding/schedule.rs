//! F0101 to F0103: can a workload start at all, by itself, and from nothing?
//!
//! ```text
//! never from what runs now                        F0101
//! possible now, never from an empty cluster       F0103
//! possible from an empty cluster, but not alone   F0102
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::cluster::Barred;
use podreach_core::{Action, PodId, Problem, Verdict, cancel};

use super::scene::{From, Scene, Subject};
use super::{Finding, nearest};
use crate::answer::Sure;
use crate::audit::changed::Step;
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::policy::ruling::reason;
use crate::words;

/// A workload that can never be scheduled anywhere.
pub(super) const NEVER: Finding = Finding {
    code: "F0101",
    title: "can never be scheduled",
    severity: Severity::Error,
    explanation: "No sequence of deployments and deletions ever lets a pod of this workload run on any node: its pods stay Pending, \
        whatever else is deleted or deployed, until the workload or a node is changed.",
    fix: "Change what refuses it: the workload, the nodes, or what the API server asks of pods; `podreach why` has the rules of each node.",
};

/// A workload that depends on another one being there.
pub(super) const DEPENDENT: Finding = Finding {
    code: "F0102",
    title: "can be scheduled only while something else runs",
    severity: Severity::Warning,
    explanation: "By itself the workload cannot start on any node: some pod of another workload has to be there first. If that one is \
        gone when a pod of this one is replaced, the new pod stays Pending.",
    fix: "Make the affinity preferred instead of required, or make sure that what it needs is always there.",
};

/// A workload that runs, but could never start again.
pub(super) const NOT_RESTARTABLE: Finding = Finding {
    code: "F0103",
    title: "could never start again from an empty cluster",
    severity: Severity::Error,
    explanation: "What runs now is what lets it run. After a full restart, or once the last of these pods is gone, no order of \
        deployments ever brings it back: workloads wait for each other in a circle, or for a pod that nothing can start.",
    fix: "Break the circle: make one of the required affinities preferred, or let one of the workloads match its own affinity.",
};

/// Looks for all three.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let subjects = scene.subjects.clone();
    let doubtful = scene.doubtful();
    let wanted = cancel::polled(subjects).filter(|subject| scene.wants_pods(subject));
    let hard = wanted.filter(|&Subject { pod, .. }| doubtful.contains(&pod) || scene.easy_place(pod).is_none());
    let hard: Vec<Subject> = hard.collect();
    scene.each(&hard, item)
}

fn item(scene: &mut Scene<'_>, subject: &Subject) -> Option<Item> {
    let goal = scene.anywhere(subject.pod);
    let fresh = scene.ask(From::Fresh, &goal);
    match fresh.checked.verdict() {
        Verdict::Deployable(_) => dependent(scene, subject, fresh),
        Verdict::Never(_) => {
            let now = scene.ask(From::Now, &goal);
            never(scene, subject, fresh, now)
        }
        Verdict::Unknown(_) => open(scene, subject, fresh),
    }
}

/// A workload of which it is not known whether it can be scheduled.
fn open(scene: &Scene<'_>, subject: &Subject, decision: Sure) -> Option<Item> {
    let what = format!("whether {} can be scheduled", subject.shown());
    let item = scene.undecided(&NEVER, &subject.names, &what, &reason(&decision))?;
    let evidence = vec![Evidence::new("this was asked", decision)];
    Some(Item { evidence, ..item })
}

fn never(scene: &Scene<'_>, subject: &Subject, fresh: Sure, now: Sure) -> Option<Item> {
    let name = subject.shown();
    match now.checked.answer() {
        None => open(scene, subject, now),
        Some(false) => {
            let shows = "no node can ever run it";
            let evidence = vec![Evidence::new(shows, now)];
            let mut item = scene.item(&NEVER, &subject.names, format!("{name} can never be scheduled on any node"));
            item.explanation.extend(nearest::sentence(&scene.fresh, subject.pod));
            Some(Item { evidence, ..item })
        }
        Some(true) => {
            let runs = scene.now.start.of(subject.pod).next().is_some();
            let today = if runs { "runs today" } else { "can still be scheduled today" };
            let message = format!("{name} {today}, but could never start again from an empty cluster");
            let evidence = vec![
                Evidence::new("from an empty cluster no node can ever run it", fresh),
                Evidence::new("now it can", now),
            ];
            Some(Item { evidence, ..scene.item(&NOT_RESTARTABLE, &subject.names, message) })
        }
    }
}

fn dependent(scene: &Scene<'_>, subject: &Subject, fresh: Sure) -> Option<Item> {
    let goal = scene.anywhere(subject.pod);
    let goal = scene.asked(From::Fresh, &goal);
    let alone = scene.world.clone().emptied().made(&Step::Change(Change::Alone(subject.pod)));
    let decision = scene.ask_of(&alone.problem, &goal);
    match decision.checked.answer() {
        Some(false) => {}
        Some(true) => return None,
        None => {
            let what = format!("whether {} can be scheduled with nothing else running", subject.shown());
            return scene.undecided(&DEPENDENT, &subject.names, &what, &reason(&decision));
        }
    }
    let helpers = helpers(subject.pod, &fresh);
    let needed: Vec<PodId> = helpers.iter().copied().filter(|&pod| is_needed(scene, subject.pod, pod)).collect();
    let (needs, of) = if needed.is_empty() { (&helpers, "for example ") } else { (&needed, "") };
    let m = scene.model();
    let names = words::first(needs.iter().map(|&pod| m.pod_name(pod).to_owned()), 4);
    let plural = if needs.len() == 1 { "runs" } else { "run" };
    let message = format!("{} can be scheduled only while {of}{} {plural}", subject.shown(), words::all(&names));
    let severity = if needs.iter().all(|&pod| scene.is_lasting(pod)) { Severity::Note } else { Severity::Warning };
    let shows = "with nothing else deployed no node can ever run it".to_owned();
    let changed = Some("nothing else is ever deployed".to_owned());
    let evidence =
        vec![scene.evidence_of(&alone, shows, decision, changed), Evidence::new("with the others it can run", fresh)];
    Some(Item { severity, evidence, ..scene.item(&DEPENDENT, &subject.names, message) })
}

/// The other pod types that a run deploys.
fn helpers(pod: PodId, decision: &Sure) -> Vec<PodId> {
    let Verdict::Deployable(trace) = decision.checked.verdict() else { return Vec::new() };
    let deployed = trace.iter().filter_map(|action| match action {
        Action::Deploy(other, _) if other != pod => Some(other),
        _ => None,
    });
    deployed.collect::<BTreeSet<_>>().into_iter().collect()
}

fn is_needed(scene: &Scene<'_>, pod: PodId, helper: PodId) -> bool {
    let problem = without(scene, &BTreeSet::from([helper]));
    scene.ask_of(&problem, &scene.anywhere(pod)).checked.answer() == Some(false)
}

/// The cluster from nothing, in which these types are never deployed.
fn without(scene: &Scene<'_>, others: &BTreeSet<PodId>) -> Problem {
    scene.changed(|cluster| {
        for &pod in others {
            Arc::make_mut(&mut cluster.pods[pod].spec).barred = Some(Barred::LeftOut("it is not to take part"));
        }
    })
}

impl Subject {
    /// Its name in a sentence.
    pub(super) fn shown(&self) -> String {
        match self.names.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} (and {} like it)", rest.len()),
            [] => String::new(),
        }
    }
}
