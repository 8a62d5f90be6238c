//! What holds a rule up: a minimal set of facts, and the single edits that break it.
//!
//! ```text
//! fact    something that keeps pods off nodes: a taint, a selector, a required term, a request …
//! core    with these facts alone, all others dropped, the rule holds; without any one of them it does not
//! edit    one change that someone could make to one object
//! escape  an edit after which the rule is broken, with the run that breaks it
//! ```
//! A rule of what is possible is held up by nodes: its core are nodes that suffice, its escapes the nodes it cannot do without.

mod core;
mod edit;
mod fact;
mod loss;
#[cfg(test)]
mod tests;

use podreach_core::Goal;

use super::item::{Boundary, Escape};
use super::policy::Claim;
use super::policy::claim::forbidden;
use super::policy::ruling::{ALTERNATIVES, Asking, Ruling};
use super::policy::world::World;
use crate::engine::Budget;
use crate::lower::Lowered;

/// How many edits are tried for one rule.
const EDITS: usize = 2_000;

/// What holds up a rule that holds.
pub(crate) fn of(lowered: &Lowered, claim: &Claim, world: &World, ruling: &Ruling, budget: &Budget<'_>) -> Boundary {
    let Some(goal) = forbidden(lowered, claim, world) else {
        return loss::boundary(lowered, claim, world, ruling, budget);
    };
    if goal.any.len() > 16 * ALTERNATIVES {
        let left_out = "What holds it up was not looked for: it speaks of too many pods and nodes.";
        return Boundary { left_out: Some(left_out.to_owned()), ..Boundary::default() };
    }
    of_never(world, &goal, budget)
}

fn of_never(world: &World, goal: &Goal, budget: &Budget<'_>) -> Boundary {
    let (core, sure) = core::core(world, goal, budget);
    let mut boundary =
        Boundary { core: core.iter().map(|fact| fact.shown(world.model())).collect(), ..Boundary::default() };
    let mut left_out = Vec::new();
    if !sure {
        left_out.push("whether the facts are as few as can be".to_owned());
    }
    let edits = edit::edits(world, goal);
    for (tried, edit) in edits.iter().enumerate() {
        if tried >= EDITS || (budget.interrupt)().is_some() {
            left_out.push(format!("{} of {} single edits", edits.len() - tried, edits.len()));
            break;
        }
        boundary.escapes.extend(escape(world, goal, edit, budget));
    }
    boundary.left_out = (!left_out.is_empty()).then(|| format!("Not looked at: {}.", left_out.join(", ")));
    boundary
}

/// The run that breaks the rule after an edit, if there is one.
fn escape(world: &World, goal: &Goal, edit: &edit::Edit, budget: &Budget<'_>) -> Option<Escape> {
    let (part, goal, edit_in_part) = edit.part(world, goal);
    if goal.any.is_empty() {
        return None;
    }
    let mut cluster = part.model().cluster().clone();
    edit_in_part.apply(&mut cluster);
    let edited = part.with_cluster(cluster);
    let mut asking = Asking::new(&edited, budget);
    let decision = asking.answer(&goal);
    (decision.checked.answer() == Some(true)).then(|| {
        let shows = "the rule is broken after this edit";
        let evidence = Some(asking.evidence(shows, goal, decision));
        Escape { edit: edit.shown(world.model()), evidence }
    })
}
