//! Placements of earlier runs: replayed, and counted again.

use std::collections::BTreeSet;

use podreach_core::{Configuration, Goal};

use super::packing::{Want, packed};
use super::ruling::Asking;
use crate::audit::content;
use crate::engine::Decision;

impl Asking<'_> {
    /// Nodes for all that is wanted, from an earlier run if they still do; `None` if packing finds none.
    pub(crate) fn packed(&mut self, wants: &[Want]) -> Option<(Goal, Decision)> {
        let question = self.question("placement", &content::wants(self.world, wants));
        if let Some((goal, decision)) = self.recalled(&question) {
            let all = !goal.any.is_empty() && goal.any.iter().all(|chosen| meets(wants, chosen));
            if all && decision.checked.answer() == Some(true) {
                return Some((goal, decision));
            }
        }
        let problem = &self.world.problem;
        let (goal, decision) = packed(problem, wants, &|| self.is_stopped())?;
        let decision = self.stands(&goal, decision);
        if decision.checked.answer() != Some(true) {
            return None;
        }
        // Small ones are found as fast as they are read.
        if wants.iter().fold(0, |sum: u64, want| sum.saturating_add(want.count)) > 16 {
            self.keep(&question, &goal, &decision);
        }
        Some((goal, decision))
    }
}

/// Whether a placement has all that is wanted; some that have are not recognised, if wants share pods.
fn meets(wants: &[Want], chosen: &Configuration) -> bool {
    let mut left = chosen.clone();
    wants.iter().all(|want| {
        let (mut missing, mut places) = (want.count, BTreeSet::new());
        for &node in &want.nodes {
            let atom = (want.pod, node);
            let most = match want.place(node) {
                Some(place) if left.count(atom) > 0 => u64::from(places.insert(place)),
                Some(_) => 0,
                None => missing,
            };
            let taken = most.min(missing).min(left.count(atom));
            left.set(atom, left.count(atom) - taken);
            missing -= taken;
        }
        missing == 0
    })
}
