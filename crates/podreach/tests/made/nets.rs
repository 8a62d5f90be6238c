//! Random nets.

use std::collections::BTreeSet;

use podreach::encode::net::Net;
use podreach_core::testing::Rng;

/// A small net: a few places, a few transitions with at most three arcs a side.
pub(crate) fn random_net(rng: &mut Rng) -> Net {
    let mut net = Net::new("random");
    let places = 2 + rng.below(5);
    for place in 0..places {
        net.add_place(format!("P{place}"), u64::from(rng.one_in(2)));
    }
    for a in 0..1 + rng.below(5) {
        let mut side = |most: usize| {
            let arcs: BTreeSet<usize> = (0..rng.below(most + 1)).map(|_| rng.below(places)).collect();
            arcs.into_iter().collect::<Vec<_>>()
        };
        let (pre, post) = (side(3), side(2));
        net.add_transition(format!("t{a}"), &pre, &post);
    }
    net
}
