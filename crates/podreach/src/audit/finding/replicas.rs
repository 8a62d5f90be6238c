//! F0105 and F0106: do all replicas fit at the same time, and one more while an update rolls out?

use podreach_core::id::MatcherId;
use podreach_core::{Goal, Model, NodeId, PodId, Problem};

use super::Finding;
use super::scene::{From, Scene};
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::memory::Means;
use crate::audit::policy::packing::{Want, most, packed};
use crate::audit::policy::possible::{Outcome, Why, outcome};
use crate::audit::policy::ruling::{Asking, reason};
use crate::lower::Declared;

/// A workload whose replicas can never all run.
pub(super) const REPLICAS: Finding = Finding {
    code: "F0105",
    title: "declared replicas can never all run at the same time",
    severity: Severity::Error,
    explanation: "The workload asks for more pods than its own constraints and the nodes ever allow together, even with nothing else in \
        the cluster: the rest stay Pending, and rollouts that wait for them never finish.",
    fix: "Ask for fewer replicas, add nodes that it may use, or make what keeps its pods apart preferred instead of required.",
};

/// A rolling update that must get stuck.
pub(super) const ROLLOUT: Finding = Finding {
    code: "F0106",
    title: "a rolling update must get stuck",
    severity: Severity::Warning,
    explanation: "With maxUnavailable 0 an update first starts a new pod while all old ones stay. There is never room for one more, so \
        the new pod stays Pending and no old one is ever stopped.",
    fix: "Set maxUnavailable to 1, or use the strategy Recreate, or add a node.",
};

/// Whether some pods fit together.
enum Fit {
    Yes,
    No(Why, Vec<Evidence>),
    Open(String),
}

/// The label by which pods of one revision are told from those of another.
const REVISION: &str = "pod-template-hash";

/// Looks for both.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let workloads = scene.declared();
    let world = scene.world.clone().standing();
    let budget = scene.budget();
    let mut asking = Asking::new(&world, Means { budget: &budget, memory: scene.memory });
    scene.each(workloads, |scene, (name, pod, declared)| item(scene, &mut asking, name, pod, declared))
}

fn item(scene: &mut Scene<'_>, asking: &mut Asking<'_>, name: &str, pod: PodId, declared: Declared) -> Option<Item> {
    let m = scene.model();
    if m.pod(pod).barred.is_some() || declared.replicas == 0 {
        return None;
    }
    if declared.per_node {
        return daemon_rollout(scene, name, pod, declared);
    }
    let all = together(scene, asking, pod, declared.replicas);
    match all {
        Fit::Yes => stuck(scene, asking, name, pod, declared),
        // One that cannot run at all is another finding.
        Fit::No(why, evidence) if declared.replicas > 1 && !is_impossible(scene, pod) => {
            let (most, counted) = most_at_once(scene, asking, pod, declared.replicas);
            let (reason, evidence) = counted.unwrap_or((why.clone(), evidence));
            // The same reason is given with the number that is asked for.
            let why = if reason.is_like(&why) { why } else { reason };
            let message =
                format!("{name} asks for {} replicas, but {most} can run at the same time", declared.replicas);
            let mut item = scene.item(&REPLICAS, &[name.to_owned()], message);
            item.explanation.push(renamed(&m, pod, name, &why.to_string()));
            item.evidence = evidence;
            Some(item)
        }
        Fit::Open(why) if declared.replicas > 1 => {
            let what = format!("whether all {} replicas of {name} fit at the same time", declared.replicas);
            scene.undecided(&REPLICAS, &[name.to_owned()], &what, &why)
        }
        Fit::No(..) | Fit::Open(_) => None,
    }
}

fn is_impossible(scene: &mut Scene<'_>, pod: PodId) -> bool {
    let goal = scene.anywhere(pod);
    scene.ask(From::Now, &goal).checked.answer() != Some(true)
}

/// Whether so many of a pod can be there at the same time.
///
/// What packs in the model can never be ruled out, whatever is in doubt about it.
fn together(scene: &Scene<'_>, asking: &mut Asking<'_>, pod: PodId, count: u64) -> Fit {
    let want = want(&scene.now, pod, count);
    if packed(&scene.fresh, std::slice::from_ref(&want), &|| scene.is_stopped()).is_some() {
        return Fit::Yes;
    }
    match outcome(asking, &want) {
        Outcome::Can(_) => Fit::Yes,
        Outcome::Never(why, evidence) => Fit::No(why, evidence),
        Outcome::Open(why) => Fit::Open(why),
    }
}

fn want(problem: &Problem, pod: PodId, count: u64) -> Want {
    let nodes = problem.model.nodes().filter(|&node| problem.is_possible((pod, node))).collect();
    Want { pod, count, nodes, apart: None }
}

/// `at most 3`, if that is known, with the reason why not one more; else `at least 2 and not all`.
fn most_at_once(
    scene: &Scene<'_>,
    asking: &mut Asking<'_>,
    pod: PodId,
    count: u64,
) -> (String, Option<(Why, Vec<Evidence>)>) {
    let problem = &scene.now;
    let found = most(&scene.fresh, &[want(problem, pod, count)], &|| scene.is_stopped());
    let running = problem.start.of(pod).fold(0_u64, |sum, (_, count)| sum.saturating_add(count));
    let least = found.map_or(0, |(met, ..)| met).max(running.min(count));
    match together(scene, asking, pod, least + 1) {
        Fit::No(why, evidence) if least == 0 => ("none".to_owned(), Some((why, evidence))),
        Fit::No(why, evidence) => (format!("at most {least}"), Some((why, evidence))),
        _ => (format!("not all of them (at least {least})"), None),
    }
}

/// A sentence about a type, about one of its workloads.
fn renamed(m: &Model, pod: PodId, name: &str, sentence: &str) -> String {
    sentence.replace(m.pod_name(pod), name)
}

/// An update that has to start one more pod, for which there is never room.
fn stuck(scene: &Scene<'_>, asking: &mut Asking<'_>, name: &str, pod: PodId, declared: Declared) -> Option<Item> {
    let (surge, unavailable) = declared.rollout?;
    if surge == 0 || unavailable > 0 || tells_revisions_apart(&scene.now.model, pod) {
        return None;
    }
    let (why, evidence) = match together(scene, asking, pod, declared.replicas + 1) {
        Fit::No(why, evidence) => (why, evidence),
        Fit::Yes => return None,
        Fit::Open(why) => return rollout_open(scene, name, &why),
    };
    let message = format!(
        "a rolling update of {name} must get stuck: there is never room for a pod beside its {}",
        match declared.replicas {
            1 => "1 replica".to_owned(),
            count => format!("{count} replicas"),
        }
    );
    let mut item = scene.item(&ROLLOUT, &[name.to_owned()], message);
    item.explanation.push(renamed(&scene.now.model, pod, name, &why.to_string()));
    item.fix = Some(rollout_fix(&scene.now.model, pod));
    item.evidence = evidence;
    Some(item)
}

fn rollout_open(scene: &Scene<'_>, name: &str, why: &str) -> Option<Item> {
    let what = format!("whether there is room for one more pod while {name} is updated");
    scene.undecided(&ROLLOUT, &[name.to_owned()], &what, why)
}

/// What to do about it: terms can tell revisions apart, host ports and room cannot.
fn rollout_fix(m: &Model, pod: PodId) -> String {
    let spec = m.pod(pod);
    let apart =
        spec.anti_affinity.iter().map(|term| term.matcher).chain(spec.spread.iter().map(|spread| spread.matcher));
    let keeps_apart = apart.into_iter().any(|matcher| m.sees_unbound(matcher, pod));
    if !keeps_apart {
        return ROLLOUT.fix.to_owned();
    }
    let general = ROLLOUT.fix.trim_end_matches('.');
    format!(
        "{general}; or let the term that keeps the pods apart compare only pods of one revision (matchLabelKeys: [pod-template-hash])."
    )
}

/// The same for a DaemonSet, whose new pod has to go to the node of the old one.
fn daemon_rollout(scene: &mut Scene<'_>, name: &str, pod: PodId, declared: Declared) -> Option<Item> {
    let (surge, unavailable) = declared.rollout?;
    let m = scene.model();
    if surge == 0 || unavailable > 0 || tells_revisions_apart(&m, pod) {
        return None;
    }
    let nodes: Vec<NodeId> = m.nodes().filter(|&node| m.placeable(pod, node)).collect();
    let goal = Goal { any: nodes.iter().map(|&node| [((pod, node), 2)].into_iter().collect()).collect() };
    let decision = if nodes.is_empty() { return None } else { scene.ask(From::Now, &goal) };
    if decision.checked.answer().is_none() {
        return rollout_open(scene, name, &reason(&decision));
    }
    if decision.checked.answer() != Some(false) || is_impossible(scene, pod) {
        return None;
    }
    let message =
        format!("a rolling update of {name} must get stuck: no node ever has room for a new pod beside the old one");
    let mut item = scene.item(&ROLLOUT, &[name.to_owned()], message);
    item.fix = Some(rollout_fix(&m, pod));
    item.evidence = vec![Evidence::new("two of its pods can never be on one node", decision)];
    Some(item)
}

/// Whether a constraint of a pod looks at the label that tells revisions apart: then a new pod is not refused for the old ones.
fn tells_revisions_apart(m: &Model, pod: PodId) -> bool {
    let Some(key) = m.cluster().symbols.symbol(REVISION) else { return false };
    matchers(m, pod).any(|matcher| m.cluster().matchers[matcher].selector.mentions(key))
}

/// The matchers of a pod's constraints.
pub(super) fn matchers(m: &Model, pod: PodId) -> impl Iterator<Item = MatcherId> + '_ {
    let spec = m.pod(pod);
    let terms = spec.affinity.iter().chain(&spec.anti_affinity).map(|term| term.matcher);
    terms.chain(spec.spread.iter().map(|spread| spread.matcher))
}
