//! F0109: do all nodes that a workload may use have the topology keys that its constraints name?

use std::collections::BTreeMap;

use podreach_core::id::KeyId;
use podreach_core::{Goal, Model, NodeId, PodId};

use super::Finding;
use super::scene::{From, Scene, Subject};
use crate::audit::item::{Evidence, Item, Severity};
use crate::audit::policy::ruling::reason;
use crate::words;

/// A topology key that some nodes lack.
pub(super) const KEY: Finding = Finding {
    code: "F0109",
    title: "some nodes lack the topology key of a constraint",
    severity: Severity::Warning,
    explanation: "A node without the key is in no domain. Required affinity and hard spread constraints refuse it; required anti-affinity \
        does not hold there at all, so pods that were to be kept apart can meet.",
    fix: "Label the nodes, or correct the key; if the nodes are not meant for the workload, say so with node affinity.",
};

/// What a missing key does to a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Affinity,
    AntiAffinity,
    Spread,
}

/// Looks for it.
pub(super) fn items(scene: &mut Scene<'_>) -> Vec<Item> {
    let subjects = scene.subjects.clone();
    scene.each(&subjects, |scene, subject| {
        let uses = uses(&scene.now.model, subject.pod);
        uses.into_iter().filter_map(|(key, uses)| item(scene, subject, key, &uses)).collect::<Vec<_>>()
    })
}

/// The topology keys of a pod's constraints, and what uses each.
fn uses(m: &Model, pod: PodId) -> BTreeMap<KeyId, Vec<Use>> {
    let spec = m.pod(pod);
    let affinity = spec.affinity.iter().map(|term| (term.key, Use::Affinity));
    let anti_affinity = spec.anti_affinity.iter().map(|term| (term.key, Use::AntiAffinity));
    let spread = spec.spread.iter().map(|constraint| (constraint.key, Use::Spread));
    let mut uses = BTreeMap::<KeyId, Vec<Use>>::new();
    for (key, used) in affinity.chain(anti_affinity).chain(spread) {
        let all = uses.entry(key).or_default();
        if !all.contains(&used) {
            all.push(used);
        }
    }
    uses
}

fn item(scene: &mut Scene<'_>, subject: &Subject, key: KeyId, uses: &[Use]) -> Option<Item> {
    let m = scene.model();
    let usable: Vec<NodeId> = m.nodes().filter(|&node| m.placeable(subject.pod, node)).collect();
    let lacking: Vec<NodeId> = usable.iter().copied().filter(|&node| m.domain(key, node).is_none()).collect();
    if lacking.is_empty() {
        return None;
    }
    let nodes = match lacking.len() == usable.len() {
        true => "no node that it may use has it".to_owned(),
        false => {
            let names = words::first(lacking.iter().map(|&node| m.node_name(node).to_owned()), 4);
            format!("{} of its {} nodes lack it: {}", lacking.len(), usable.len(), words::all(&names))
        }
    };
    let what: Vec<String> = uses.iter().map(|used| used.name().to_owned()).collect();
    let key_name = m.str(m.cluster().keys[key]).to_owned();
    let message = format!("{} of {} uses {key_name}, and {nodes}", words::all(&what), subject.shown());
    let mut item = scene.item(&KEY, &subject.names, message);
    // A name of its own for each key, so that one is not taken for the other.
    item.subject.push(key_name);
    if uses.iter().any(|used| *used != Use::AntiAffinity) {
        let goal = Goal { any: lacking.iter().map(|&node| [((subject.pod, node), 1)].into_iter().collect()).collect() };
        let decision = scene.ask(From::Fresh, &goal);
        match decision.checked.answer() {
            Some(false) => {}
            Some(true) => return None,
            None => {
                let what = format!(
                    "whether {} can start on the nodes without {}",
                    subject.shown(),
                    item.subject[item.subject.len() - 1]
                );
                return scene.undecided(&KEY, &item.subject, &what, &reason(&decision));
            }
        }
        item.evidence.push(Evidence::new("it can never start on the nodes without the key", decision));
    } else if !can_meet(&m, subject.pod, key, &lacking) {
        return None;
    }
    Some(item)
}

/// Whether some pod that the anti-affinity is about may also use one of the nodes.
fn can_meet(m: &Model, pod: PodId, key: KeyId, nodes: &[NodeId]) -> bool {
    let terms = m.pod(pod).anti_affinity.iter().filter(|term| term.key == key);
    let mut about = terms.flat_map(|term| m.pods().filter(|&q| m.sees_unbound(term.matcher, q)));
    about.any(|q| nodes.iter().any(|&node| m.placeable(q, node)))
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Self::Affinity => "the affinity",
            Self::AntiAffinity => "the anti-affinity",
            Self::Spread => "the topology spread",
        }
    }
}
