//! Placement policies: rules that a cluster is to keep, and whether it does.
//!
//! ```text
//! documents ─ document ─> Policy ─ subject ─> the cluster in the rule's terms ─ property ─> Item
//! ```

mod labelled;
pub(crate) mod never;
mod numbered;
pub(crate) mod packing;
pub(crate) mod placement;
pub(crate) mod possible;
pub(crate) mod property;
pub(crate) mod recoverable;
pub(crate) mod ruling;
mod share;
pub(crate) mod shortage;
pub(crate) mod sums;
mod together;
pub(crate) mod world;

use podreach_core::{Semantics, cancel};

use super::actor::Actor;
use super::item::Item;
use super::memory::Means;
use crate::lower::Lowered;

pub use crate::lower::policy::{NodeSelection, PodSelection, Policy, Property, Rule, duplicates, read};

/// Decides every rule of every policy, in order; `done` hears of each finished rule.
pub fn items(
    lowered: &Lowered,
    policies: &[Policy],
    semantics: Semantics,
    actor: &Actor,
    means: Means<'_>,
    done: &dyn Fn(),
) -> Vec<Item> {
    let rules = policies.iter().flat_map(|policy| policy.rules.iter().map(move |rule| (policy, rule)));
    let items = rules.map(|(policy, rule)| {
        let item = cancel::attempt(|| property::item(lowered, policy, rule, semantics, actor, means));
        let item = item.unwrap_or_else(|stop| Item {
            message: format!("it is not known whether this holds: {stop}"),
            ..property::undecided(policy, rule)
        });
        done();
        item
    });
    items.collect()
}
