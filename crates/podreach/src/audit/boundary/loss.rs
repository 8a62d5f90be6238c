//! What a possibility stands on: facts that suffice, none of them in vain; and the single losses that break it.

use std::collections::BTreeSet;

use podreach_core::cluster::Lifetime;
use podreach_core::{Action, NodeId, Verdict};
use serde_json::Value;

use super::cache::Entry;
use super::hindrance;
use super::minimal::Trial;
use super::support::{Ground, Support, shown};
use crate::audit::content;
use crate::audit::item::{Boundary, Escape, Evidence, Status};
use crate::audit::memory::Means;
use crate::audit::policy::ruling::Ruling;
use crate::audit::policy::world::World;
use crate::audit::policy::{Property, property};
use crate::lower::Lowered;

/// The most nodes whose facts are looked at one by one, and the most facts.
const NODES: usize = 64;
const FACTS: usize = 1_000;

/// How many clusters are looked at for one core.
const TRIES: usize = 400;

/// What holds up a rule of what is possible that holds.
pub(crate) fn boundary(
    lowered: &Lowered,
    property: &Property,
    world: &World,
    ruling: &Ruling,
    means: Means<'_>,
) -> Boundary {
    let whole = Ground::new(lowered, property, world.clone());
    let used = used(world, ruling);
    let entry = Entry::new(means.memory, &(whole.content() + &content::nodes(world, &used)));
    entry.or_else(|known| known_loss(&whole, known, means), || found(&whole, &used, means), means)
}

/// The loss that was found before, by its name, if it still breaks the rule.
fn known_loss(whole: &Ground<'_>, known: &Value, means: Means<'_>) -> Option<Escape> {
    let m = whole.world.model();
    let facts = whole.facts(&whole.pods(), &m.nodes().collect());
    let loss = facts.into_iter().find(|fact| fact.loss_by_name(m) == *known)?;
    broken(whole, &loss, ruled(&whole.losing(&loss), means))
}

fn found(whole: &Ground<'_>, used: &BTreeSet<NodeId>, means: Means<'_>) -> Boundary {
    let Some(core) = core(whole, used, means) else {
        let left_out = format!("What holds it up was not looked for: the rule uses {} nodes.", used.len());
        return Boundary { left_out: Some(left_out), ..Boundary::default() };
    };
    let mut left_out = Vec::new();
    if !core.sure {
        left_out.push("whether the facts are as few as can be".to_owned());
    }
    let mut escapes = Vec::new();
    let losses = of_nodes_there(whole, losses(whole, &core, &mut left_out), &mut left_out);
    for (at, loss) in losses.iter().enumerate() {
        if (means.budget.interrupt)().is_some() {
            left_out.push(format!("{} of {} single losses", losses.len() - at, losses.len()));
            break;
        }
        let ruling = ruled(&whole.losing(loss), means);
        if ruling.status == Status::Undecided {
            left_out.push(format!("whether it breaks if {}", loss.lost(whole.world.model())));
        }
        escapes.extend(broken(whole, loss, ruling));
    }
    let left_out = (!left_out.is_empty()).then(|| format!("Not looked at: {}.", left_out.join(", ")));
    Boundary { core: shown(&core.ground, &core.facts), escapes, left_out }
}

/// What a loss shows, if the rule does not hold without the fact.
fn broken(whole: &Ground<'_>, loss: &Support, ruling: Ruling) -> Option<Escape> {
    if ruling.status != Status::Violated {
        return None;
    }
    let edit = loss.lost(whole.world.model());
    let changed = Some(format!("if {edit}"));
    let evidence = ruling.evidence.into_iter().next().map(|shown| Evidence { changed, ..shown });
    Some(Escape { edit, change: loss.loss_by_name(whole.world.model()), evidence })
}

/// A minimal set of facts, in the part of the world where it was found.
pub(super) struct Core<'a> {
    pub(super) ground: Ground<'a>,
    pub(super) facts: Vec<Support>,
    map: crate::audit::policy::world::Part,
    /// Whether it is surely minimal.
    pub(super) sure: bool,
}

/// A minimal set of facts about nodes that a run uses, or else about all nodes; `None` where there are too many.
pub(super) fn core<'a>(whole: &Ground<'a>, used: &BTreeSet<NodeId>, means: Means<'_>) -> Option<Core<'a>> {
    let pods = whole.pods();
    let all: BTreeSet<NodeId> = whole.world.model().nodes().collect();
    // A spread constraint may need nodes that no pod uses.
    for nodes in [used, &all].into_iter().filter(|nodes| nodes.len() <= NODES) {
        let (ground, map) = whole.part(&pods, nodes);
        let m = ground.world.model();
        let all = ground.facts(&m.pods().collect(), &m.nodes().collect());
        let mut trial = Trial::new(TRIES, |kept: &[Support]| {
            let lost: Vec<Support> = all.iter().filter(|fact| !kept.contains(fact)).cloned().collect();
            decided(ruled(&ground.without(&lost), means).status)
        });
        if all.len() > FACTS || !trial.holds(&all) {
            continue;
        }
        // Whole nodes first: most of them go with all that is known of them.
        let (nodes, others): (Vec<_>, Vec<_>) = all.iter().cloned().partition(|fact| matches!(fact, Support::Node(_)));
        let nodes = trial.minimal(&others, &nodes);
        let mut facts = trial.minimal(&nodes, &others);
        facts.extend(nodes);
        if !trial.holds(&facts) {
            // Facts may also be in each other's way, so that more is not always better: then one by one, from all of them.
            facts = all.clone();
        }
        trial.drop_one_by_one(&mut facts);
        // What is known of one node stays together.
        facts.sort_by_key(|fact| (fact.node().is_none(), fact.node(), fact.clone()));
        let sure = trial.is_sure();
        drop(trial);
        return Some(Core { ground, facts, map, sure });
    }
    None
}

fn decided(status: Status) -> Option<bool> {
    match status {
        Status::Holds => Some(true),
        Status::Violated => Some(false),
        Status::Undecided => None,
    }
}

fn ruled(ground: &Ground<'_>, means: Means<'_>) -> Ruling {
    property::ruling(ground.lowered(), ground.property, &ground.world, means)
}

/// The losses that may break the rule. If what is not in the core can only help, the rule holds as long as the core is there, and no other
/// loss breaks it. If something may be in the way, any loss may break the rule that is about a node which matters.
fn losses(whole: &Ground<'_>, core: &Core<'_>, left_out: &mut Vec<String>) -> Vec<Support> {
    let m = core.ground.world.model();
    let near = core.ground.facts(&m.pods().collect(), &m.nodes().collect());
    let back = |facts: &[Support]| facts.iter().cloned().map(|fact| fact.back(&core.map)).collect();
    let pods = whole.pods();
    if !hindrance::unused_nodes_matter(whole, &pods) {
        let hindered = hindrance::is_outside(&core.facts, &near, &core.ground);
        return back(if hindered { &near } else { &core.facts });
    }
    let nodes: BTreeSet<NodeId> = whole.world.model().nodes().collect();
    if nodes.len() > NODES {
        left_out.push("the loss of other nodes and labels".to_owned());
        return back(&near);
    }
    let all = whole.facts(&pods, &nodes);
    if all.len() > FACTS {
        left_out.push("the loss of other facts".to_owned());
        return back(&near);
    }
    all
}

/// Those that are not about a node which is yet to come: where one differs, its pool brings another like it.
fn of_nodes_there(whole: &Ground<'_>, mut losses: Vec<Support>, left_out: &mut Vec<String>) -> Vec<Support> {
    let m = whole.world.model();
    let all = losses.len();
    losses.retain(|loss| !loss.node().is_some_and(|node| matches!(m.node(node).lifetime, Lifetime::New(_))));
    if losses.len() < all {
        left_out.push("what pools bring no more".to_owned());
    }
    losses
}

/// The nodes that the runs of a ruling end up using: any other node can be lost.
pub(super) fn used(world: &World, ruling: &Ruling) -> BTreeSet<NodeId> {
    let mut used = BTreeSet::new();
    for evidence in &ruling.evidence {
        if let Verdict::Deployable(trace) = evidence.decision.checked.verdict() {
            used.extend(trace.iter().filter_map(|action| match action {
                Action::Deploy(_, node) => Some(node),
                _ => None,
            }));
            used.extend(evidence.problem().goal.any.iter().flat_map(|goal| goal.iter().map(|((_, node), _)| node)));
        }
    }
    used.extend(world.problem.kept.iter().map(|((_, node), _)| node));
    used
}
