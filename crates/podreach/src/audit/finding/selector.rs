//! F0111 and F0112: do the selectors of a workload's constraints match anything, and itself where that was meant?

use podreach_core::cluster::Term;
use podreach_core::id::MatcherId;
use podreach_core::selector::Selector;
use podreach_core::{Model, PodId};

use super::Finding;
use super::scene::{From, Scene, Subject, UNSEEN};
use crate::audit::item::{Evidence, Item, Severity};
use crate::words;

/// A selector that matches nothing.
pub(super) const NOTHING: Finding = Finding {
    code: "F0111",
    title: "a selector matches no pod",
    severity: Severity::Warning,
    explanation: "No pod and no workload of the input has the labels, in the namespaces, that the term asks for. A required affinity of \
        that kind is never satisfied; an anti-affinity has no effect.",
    fix: "Compare the selector and its namespaces with the labels of the pods that it is meant for.",
};

/// A selector that does not match the pod that has it.
pub(super) const NOT_ITSELF: Finding = Finding {
    code: "F0112",
    title: "a selector does not match the workload's own pods",
    severity: Severity::Warning,
    explanation: "The constraint is meant to keep the workload's own pods apart, but its selector does not match their labels, and \
        matches nothing else either: it has no effect, and all pods may end up in one place.",
    fix: "Give the selector the labels of the workload's pod template.",
};

/// Looks for both.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let subjects = scene.subjects.clone();
    let unseen = scene.may_have_unseen_pods();
    scene.each(&subjects, |scene, subject| {
        let mut items = Vec::new();
        let m = scene.model();
        let spec = m.pod(subject.pod);
        for term in spec.affinity.iter().filter(|term| matches_nothing(&m, term.matcher)) {
            items.extend(unsatisfied(scene, subject, *term));
        }
        for term in spec.anti_affinity.iter().filter(|term| matches_nothing(&m, term.matcher)) {
            items.extend(without_effect(scene, subject, *term).and_then(|item| held_back(scene, item, unseen)));
        }
        for constraint in spec.spread.iter().filter(|spread| matches_nothing(&m, spread.matcher)) {
            let item = not_itself(scene, subject, constraint.matcher, "the topology spread");
            items.extend(held_back(scene, item, unseen));
        }
        items
    })
}

/// A finding that rests on what the input does not have: not decided where there may be pods that it does not show.
fn held_back(scene: &Scene<'_>, item: Item, unseen: bool) -> Option<Item> {
    if !unseen {
        return Some(item);
    }
    let what = format!("whether {}", item.message);
    let open = scene.undecided(&NOTHING, &[], &what, UNSEEN)?;
    Some(Item { status: open.status, message: open.message, explanation: open.explanation, fix: None, ..item })
}

fn matches_nothing(m: &Model, matcher: MatcherId) -> bool {
    !m.depends_on_node(matcher) && !m.pods().any(|pod| m.sees_unbound(matcher, pod) || m.notices(matcher, pod))
}

/// A required affinity that is never satisfied.
fn unsatisfied(scene: &mut Scene<'_>, subject: &Subject, term: Term) -> Option<Item> {
    let m = scene.model();
    if m.nodes().len() == 0 {
        // Manifests without a cluster leave out what else runs there.
        return None;
    }
    let goal = scene.anywhere(subject.pod);
    let decision = scene.ask(From::Fresh, &goal);
    if decision.checked.answer() != Some(false) {
        return None;
    }
    let wanted = words::matcher(&m, term.matcher, m.pod(subject.pod).namespace);
    let message = format!("{} must run near a pod with {wanted}, and there is none", subject.shown());
    let evidence = vec![Evidence::new("from an empty cluster no node can ever run it", decision)];
    let item = scene.item(&NOTHING, &subject.names, message);
    Some(Item { severity: Severity::Error, evidence, ..about(item, &wanted) })
}

/// An anti-affinity without effect: surely a mistake if the pod has the labels with other values, else perhaps foresight.
fn without_effect(scene: &Scene<'_>, subject: &Subject, term: Term) -> Option<Item> {
    let m = scene.model();
    if has_the_keys(&m, subject.pod, term.matcher) {
        return Some(not_itself(scene, subject, term.matcher, "the anti-affinity"));
    }
    if m.nodes().len() == 0 {
        return None;
    }
    let wanted = words::matcher(&m, term.matcher, m.pod(subject.pod).namespace);
    let message = format!("{} keeps away from pods with {wanted}, and there is none", subject.shown());
    let item = scene.item(&NOTHING, &subject.names, message);
    Some(Item { severity: Severity::Note, ..about(item, &wanted) })
}

fn not_itself(scene: &Scene<'_>, subject: &Subject, matcher: MatcherId, what: &str) -> Item {
    let m = scene.model();
    let wanted = words::matcher(&m, matcher, m.pod(subject.pod).namespace);
    let message =
        format!("{what} of {} selects {wanted}, which matches neither its own pods nor any other", subject.shown());
    about(scene.item(&NOT_ITSELF, &subject.names, message), &wanted)
}

/// The same item with what it is about in its identity, since a workload may have several.
fn about(mut item: Item, wanted: &str) -> Item {
    item.subject.push(wanted.to_owned());
    item
}

/// Whether a selector asks for keys that the pod itself has, with other values, in its own namespace.
fn has_the_keys(m: &Model, pod: PodId, matcher: MatcherId) -> bool {
    let spec = m.pod(pod);
    let matcher = &m.cluster().matchers[matcher];
    let Selector::Every(entries) = &matcher.selector else { return true };
    matcher.scope.listed.contains(&spec.namespace)
        && !entries.is_empty()
        && entries.keys().all(|&key| spec.labels.value(key).is_some())
}
