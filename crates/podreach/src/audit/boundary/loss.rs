//! Nodes that a possibility stands on.

use std::collections::BTreeSet;

use podreach_core::{NodeId, Verdict};

use crate::audit::content;
use crate::audit::item::{Boundary, Escape, Status};
use crate::audit::memory::Means;
use crate::audit::policy::Claim;
use crate::audit::policy::claim;
use crate::audit::policy::ruling::Ruling;
use crate::audit::policy::world::{World, nodes_named};
use crate::lower::Lowered;

/// The most nodes that are tried one by one.
const NODES: usize = 64;

/// Nodes that suffice, none of them in vain; and the nodes that the rule cannot do without.
pub(crate) fn boundary(lowered: &Lowered, claim: &Claim, world: &World, ruling: &Ruling, means: Means<'_>) -> Boundary {
    let m = world.model();
    let mut used = used(world, ruling);
    let within = |nodes: &BTreeSet<NodeId>| {
        let (part, _) = world.part(|_| true, |node| nodes.contains(&node));
        let names: Vec<&str> = nodes.iter().map(|&node| m.node_name(node)).collect();
        let about = format!("on {}", content::number(&names.join(" ")));
        claim::ruling(lowered, claim, &part, (means, &about))
    };
    let all: BTreeSet<NodeId> = m.nodes().collect();
    // A spread constraint may need nodes that no pod uses.
    if used.len() <= NODES && within(&used).status != Status::Holds {
        used = all.clone();
    }
    if used.len() > NODES {
        let left_out =
            Some(format!("The loss of single nodes was not looked at: the rule uses {} of them.", used.len()));
        return Boundary { left_out, ..Boundary::default() };
    }
    let mut sure = true;
    let mut core = used.clone();
    for &node in &used {
        let fewer: BTreeSet<NodeId> = core.iter().copied().filter(|&other| other != node).collect();
        let status = within(&fewer).status;
        sure &= status != Status::Undecided;
        if status == Status::Holds {
            core = fewer;
        }
    }
    let mut escapes = Vec::new();
    for &node in &core {
        let broken = without(lowered, claim, world, node, means);
        sure &= broken.status != Status::Undecided;
        if broken.status == Status::Violated {
            escapes.push(Escape { edit: lost(m.node_name(node)), evidence: broken.evidence.into_iter().next() });
        }
    }
    let core = core.into_iter().map(|node| format!("node {}", m.node_name(node))).collect();
    let left_out =
        (!sure).then(|| "For some nodes it was not decided whether the rule can do without them.".to_owned());
    Boundary { core, escapes, left_out }
}

fn lost(node: &str) -> String {
    format!("node {node} were lost")
}

fn without(lowered: &Lowered, claim: &Claim, world: &World, node: NodeId, means: Means<'_>) -> Ruling {
    let (part, _) = world.part(|_| true, |other| other != node);
    let about = format!("without {}", world.model().node_name(node));
    claim::ruling(lowered, claim, &part, (means, &about))
}

/// The escape of an edit in words, if it is one.
pub(crate) fn escape(lowered: &Lowered, claim: &Claim, world: &World, edit: &str, means: Means<'_>) -> Option<Escape> {
    let (node, _) = nodes_named(world.model()).find(|(_, name)| lost(name) == edit)?;
    let broken = without(lowered, claim, world, node, means);
    (broken.status == Status::Violated)
        .then(|| Escape { edit: edit.to_owned(), evidence: broken.evidence.into_iter().next() })
}

/// The nodes that the runs of a ruling end up using: any other node can be lost.
fn used(world: &World, ruling: &Ruling) -> BTreeSet<NodeId> {
    let mut used = BTreeSet::new();
    for evidence in &ruling.evidence {
        if let Verdict::Deployable(trace) = evidence.decision.checked.verdict() {
            let deployed = trace.0.iter().map(|action| match *action {
                podreach_core::Action::Deploy(_, node) | podreach_core::Action::Delete(_, node) => node,
            });
            used.extend(deployed);
            used.extend(evidence.problem.goal.any.iter().flat_map(|goal| goal.iter().map(|((_, node), _)| node)));
        }
    }
    used.extend(world.problem.kept.iter().map(|((_, node), _)| node));
    used
}
