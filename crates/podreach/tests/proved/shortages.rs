//! Demands that can never be met, by what no choice of nodes avoids.

use podreach_core::demand::{Argument, Shortage};
use podreach_core::testing::{Rng, cases, problem, reachable};
use podreach_core::{Goal, Proof};

use crate::comparison::Comparison;
use crate::demands::{absent, some_demand};
use crate::questions::shape;

#[test]
fn shortages() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(71);
    for case in 0..cases(3_000) {
        let problem = problem(&mut rng, shape(2 * case));
        let Some(reachable) = reachable(&problem, 1_000) else { continue };
        let demand = some_demand(&mut rng, &problem);
        let mut groups = absent(&reachable, &demand);
        if rng.one_in(3) && !groups.is_empty() {
            groups.remove(rng.below(groups.len()));
        }
        let proof = Proof::of_configurations(&groups);
        let shortage = Shortage { ruled_out: Goal { any: groups }, proof, argument: Argument::Cover };
        both.shortage(&problem, &demand, &shortage);
    }
    both.end("shortages", 100);
}
