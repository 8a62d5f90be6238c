//! What holds a rule up: a minimal set of facts, and the single edits that break it.
//!
//! ```text
//! fact    something that keeps pods off nodes: a taint, a selector, a required term, a request, a label by which pods avoid others …
//! core    with these facts alone, all others dropped, the rule holds; without any one of them it does not
//! edit    one change that someone could make to one object
//! escape  an edit after which the rule is broken, with the run that breaks it
//! ```
//! A rule of what is possible stands on the opposite: facts that let pods run (`support.rs`), which are there or are lost. With those of its
//! core alone it holds, and each edit is the loss of one: of the core, or of any, where facts may be in the way as well (`hindrance.rs`).

mod cache;
mod core;
mod edit;
mod fact;
mod hindrance;
mod label;
mod loss;
mod minimal;
mod support;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use podreach_core::{Goal, NodeId, PodId};
use serde_json::Value;

use super::changed::by_name;
use super::content;
use super::item::{Boundary, Escape, Evidence};
use super::memory::Means;
use super::policy::Property;
use super::policy::property::forbidden;
use super::policy::ruling::{ALTERNATIVES, Asking, Ruling};
use super::policy::world::World;
use crate::lower::Lowered;
pub(crate) use fact::term;

/// How many edits are tried for one rule.
const EDITS: usize = 2_000;

/// What holds up a rule that holds.
pub(crate) fn of(lowered: &Lowered, property: &Property, world: &World, ruling: &Ruling, means: Means<'_>) -> Boundary {
    let Some(goal) = forbidden(lowered, property, world) else {
        return loss::boundary(lowered, property, world, ruling, means);
    };
    if goal.any.len() > 16 * ALTERNATIVES {
        let left_out = "What holds it up was not looked for: it speaks of too many pods and nodes.";
        return Boundary { left_out: Some(left_out.to_owned()), ..Boundary::default() };
    }
    let (mut pods, nodes) = scope(world, &goal);
    if label::look_for_others(world.model(), &pods) {
        pods = world.model().pods().collect();
    }
    // Nothing else is looked at, so that what is kept for this part is what would be found out anew.
    let (part, map) = world.part(|pod| pods.contains(&pod), |node| nodes.contains(&node));
    let goal = map.goal(&goal);
    let entry = cache::Entry::new(means.memory, &(content::world(&part) + &content::goal(&part, &goal)));
    entry.or_else(|known| known_escape(&part, &goal, known, means), || of_never(&part, &goal, means), means)
}

/// The escape that was found before, by its name, if it still is one.
fn known_escape(part: &World, goal: &Goal, known: &Value, means: Means<'_>) -> Option<Escape> {
    let edits = edit::edits(part, goal);
    let edit = edits.iter().find(|edit| by_name(part.model(), &edit.change) == *known)?;
    escape(part, goal, edit, means)
}

/// The pods and nodes that a goal's answer depends on, after any edit.
pub(crate) fn scope(world: &World, goal: &Goal) -> (BTreeSet<PodId>, BTreeSet<NodeId>) {
    let m = world.model();
    let atoms = goal.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom));
    let (pods, nodes): (BTreeSet<PodId>, BTreeSet<NodeId>) = atoms.unzip();
    let pods = world.relevant(pods);
    if edit::is_social(m, &pods) {
        return (pods, m.nodes().collect());
    }
    // Kept pods count for limits and quotas, wherever they are.
    let kept = world.problem.kept.iter().map(|((_, node), _)| node);
    let nodes = nodes.into_iter().chain(kept).collect();
    (pods, nodes)
}

fn of_never(world: &World, goal: &Goal, means: Means<'_>) -> Boundary {
    let (core, sure) = core::core(world, goal, &means.searching());
    let (_, nodes) = scope(world, goal);
    let mut boundary =
        Boundary { core: core.iter().map(|fact| fact.shown(world.model(), &nodes)).collect(), ..Boundary::default() };
    let mut left_out = Vec::new();
    if !sure {
        left_out.push("whether the facts are as few as can be".to_owned());
    }
    let edits = edit::edits(world, goal);
    for (tried, edit) in edits.iter().enumerate() {
        if tried >= EDITS || (means.budget.interrupt)().is_some() {
            left_out.push(format!("{} of {} single edits", edits.len() - tried, edits.len()));
            break;
        }
        boundary.escapes.extend(escape(world, goal, edit, means));
    }
    boundary.left_out = (!left_out.is_empty()).then(|| format!("Not looked at: {}.", left_out.join(", ")));
    boundary
}

/// The run that breaks the rule after an edit, if there is one.
fn escape(world: &World, goal: &Goal, edit: &edit::Edit, means: Means<'_>) -> Option<Escape> {
    let (part, goal, edit_in_part) = edit.part(world, goal);
    if goal.any.is_empty() {
        return None;
    }
    let edited = part.changed(std::slice::from_ref(&edit_in_part.change));
    let text = edit.shown(world.model());
    let mut asking = Asking::new(&edited, means);
    let decision = asking.answer(&goal);
    (decision.checked.answer() == Some(true)).then(|| {
        let shows = "the rule is broken after this edit";
        let changed = Some(format!("if {text}"));
        let evidence = Some(Evidence { changed, ..asking.evidence(shows, decision) });
        Escape { edit: text, change: by_name(world.model(), &edit.change), evidence }
    })
}
