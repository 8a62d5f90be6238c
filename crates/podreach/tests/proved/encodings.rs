//! Questions that nets, pebble games and aAPP policies are encoded as.

use podreach::encode::aapp::{self, Priorities, Query};
use podreach::encode::explore::{Safety, safety};
use podreach::encode::pebbling::Game;
use podreach::encode::petri;
use podreach::encode::{Encoded, line};
use podreach::engine::{Budget, decide};
use podreach_core::Semantics;
use podreach_core::testing::{Rng, cases};

use crate::comparison::Comparison;
use crate::damage::damaged;
use crate::graphs::random_graph;
use crate::nets::random_net;
use crate::policies::{random_goal, random_policy};

fn compare(both: &mut Comparison, rng: &mut Rng, encoded: &Encoded) {
    let problem = line::problem(encoded).unwrap_or_else(|refused| panic!("{refused:?}\n{}", encoded.yaml()));
    let checked = decide(&problem, &Budget::unlimited()).checked;
    both.verdict(&problem, &problem.goal, checked.verdict());
    both.verdict(&problem, &problem.goal, &damaged(rng, &problem.model, checked.verdict()));
}

#[test]
fn nets() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut tried) = (Rng::new(41), 0);
    while tried < cases(200) {
        let net = random_net(&mut rng);
        if safety(&net, 10_000) != Safety::Safe {
            continue;
        }
        tried += 1;
        let goal = [rng.below(net.places.len())];
        for semantics in [Semantics::Paper, Semantics::KubeScheduler] {
            compare(&mut both, &mut rng, &petri::Encoding::new(&net, &goal, semantics).encoded());
        }
    }
    both.end("nets", 100);
}

#[test]
fn pebble_games() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(42);
    for _ in 0..cases(300) {
        let graph = random_graph(&mut rng, 6);
        let target = graph.vertices.len() - 1;
        let truth = graph.pebbling_number(target);
        for pebbles in truth.saturating_sub(1)..=truth {
            compare(&mut both, &mut rng, &Game { graph: graph.clone(), target, pebbles }.encoded());
        }
    }
    both.end("pebble games", 100);
}

#[test]
fn policies() {
    let Some(mut both) = Comparison::start() else { return };
    let mut rng = Rng::new(19);
    for _ in 0..cases(500) {
        let policy = random_policy(&mut rng);
        let goal = random_goal(&mut rng, &policy);
        let query = Query { policy, goal, priorities: Priorities::Ignore };
        compare(&mut both, &mut rng, &aapp::Encoding::new(&query).encoded());
    }
    both.end("policies", 100);
}
