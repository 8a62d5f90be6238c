//! F0108: does any single pod match all terms of a required affinity?

use podreach_core::{Model, PodId, Semantics};

use super::Finding;
use super::scene::{From, Scene, Subject, UNSEEN};
use crate::audit::item::{Evidence, Item, Severity};
use crate::words;

/// An affinity of several terms that nothing satisfies.
pub(super) const AFFINITY: Finding = Finding {
    code: "F0108",
    title: "no single pod matches all terms of its required affinity",
    severity: Severity::Error,
    explanation: "kube-scheduler counts a running pod for required pod affinity only if it matches the selectors of all terms at once. \
        Each term has pods that match it, but no pod matches them all, so the workload is never scheduled.",
    fix: "Keep one term that names what the workload has to be near; make the others preferred, or give one workload all the labels.",
};

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let m = scene.model();
    if m.semantics() == Semantics::Paper {
        return Vec::new();
    }
    let subjects = scene.subjects.iter().filter(|subject| has_split_terms(&m, subject.pod));
    let subjects: Vec<Subject> = subjects.cloned().collect();
    scene.each(&subjects, item)
}

fn item(scene: &mut Scene<'_>, subject: &Subject) -> Option<Item> {
    let m = scene.model();
    let spec = m.pod(subject.pod);
    let terms: Vec<String> =
        spec.affinity.iter().map(|term| words::matcher(&m, term.matcher, spec.namespace)).collect();
    let message =
        format!("{} needs a pod that matches all of {}, and there is none", subject.shown(), words::all(&terms));
    let mut item = scene.item(&AFFINITY, &subject.names, message);
    if m.nodes().len() == 0 {
        if scene.may_have_unseen_pods() {
            let what =
                format!("whether some pod matches all of {}, as {} needs it,", words::all(&terms), subject.shown());
            return scene.undecided(&AFFINITY, &subject.names, &what, UNSEEN);
        }
        return Some(item);
    }
    let goal = scene.anywhere(subject.pod);
    let decision = scene.ask(From::Fresh, &goal);
    if decision.checked.answer() != Some(false) {
        return None;
    }
    item.evidence = vec![Evidence::new("from an empty cluster no node can ever run it", decision)];
    Some(item)
}

/// Whether each term of a pod's affinity has pods that match it, and no pod matches them all.
fn has_split_terms(m: &Model, pod: PodId) -> bool {
    let terms = &m.pod(pod).affinity;
    let matches = |q: PodId, matcher| m.depends_on_node(matcher) || m.sees_unbound(matcher, q);
    terms.len() > 1
        && !m.pods().any(|q| terms.iter().all(|term| matches(q, term.matcher)))
        && terms.iter().all(|term| m.pods().any(|q| matches(q, term.matcher)))
}
