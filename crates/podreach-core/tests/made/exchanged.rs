//! Proofs with exchanges of nodes: from what no configuration has, where all that can be exchanged start with as much as the one that
//! starts with most, or with as much as the last of them.

use podreach_core::testing::{Rng, reachable};
use podreach_core::{Configuration, Exchange, Goal, NodeId, Orbits, PodId, Problem, Proof, Quotient, is_symmetry};

use crate::groups::{absent, some_classes};

/// Permutations of nodes that come to mind, each of which is a symmetry but for a few.
fn some_exchanges(rng: &mut Rng, problem: &Problem) -> Vec<Exchange> {
    let nodes: Vec<NodeId> = problem.model.nodes().collect();
    let mut exchanges = Vec::new();
    for _ in 0..8 {
        let mut to = nodes.clone();
        for at in 1..to.len() {
            to.swap(at, rng.below(at + 1));
        }
        if rng.one_in(2) {
            to.clone_from(&nodes);
            to.swap(0, rng.below(nodes.len()));
        }
        let exchange: Exchange = nodes.iter().copied().zip(to).filter(|(from, to)| from != to).collect();
        if !exchange.is_empty() && (is_symmetry(problem, &exchange) || rng.one_in(40)) {
            exchanges.push(exchange);
        }
    }
    exchanges.truncate(1 + rng.below(4));
    exchanges
}

/// What no configuration has on any run from a start that the exchanges lead to itself; mostly where that is the goal, too.
pub(crate) fn exchanged_proof(rng: &mut Rng, problem: &Problem, goal: &Goal) -> Option<Proof> {
    let exchanges = some_exchanges(rng, problem);
    let verified: Vec<Exchange> = exchanges.iter().filter(|e| is_symmetry(problem, e)).cloned().collect();
    let orbits = Orbits::new(problem, &verified).ok()?;
    let mut classes = some_classes(rng, problem);
    classes.truncate(1 + rng.below(classes.len()));
    let above = orbits.above(problem, classes.iter().flatten().map(|&(pod, _)| pod));
    let reachable = reachable(&above, 1_500)?;
    let forbidden = absent(&classes, &reachable);
    let is_met = reachable.iter().any(|s| above.is_met(goal, s));
    (!exchanges.is_empty() && (!is_met || rng.one_in(8))).then_some(Proof {
        forbidden,
        classes,
        exchanges,
        ..Proof::default()
    })
}

/// A goal and proofs about it, one from what no configuration has where all of an orbit start with as much as the one with most, and one where
/// they start with as much as the last.
pub(crate) struct Uneven {
    pub(crate) problem: Problem,
    pub(crate) goal: Goal,
    pub(crate) proofs: [Proof; 2],
}

/// A start with more on a node than on the last that it can be exchanged with; the goal is as much on the last one, or one more.
pub(crate) fn uneven(rng: &mut Rng, problem: Problem) -> Option<Uneven> {
    let problem = Problem { kept: Configuration::new().into(), ..problem };
    let exchanges: Vec<Exchange> =
        some_exchanges(rng, &problem).into_iter().filter(|exchange| is_symmetry(&problem, exchange)).collect();
    let orbits = Orbits::new(&problem, &exchanges).ok()?;
    let orbit = orbits.all().iter().find(|orbit| orbit.len() > 1)?;
    let (first, last) = (orbit[0], orbit[orbit.len() - 1]);
    let pods: Vec<PodId> = problem.model.pods().collect();
    let pod = rng.pick(&pods);
    let start = |counts: [u64; 2]| {
        let mut start: Configuration = problem.start.iter().collect();
        orbit.iter().for_each(|&node| start.set((pod, node), 0));
        start.set((pod, first), counts[0]);
        start.set((pod, last), counts[1]);
        Problem { start: start.into(), ..problem.clone() }
    };
    // More than there is room for, so that what is not there at first never comes.
    let (most, least) = (3, 1);
    let goal = Goal { any: vec![[((pod, last), most + rng.below(2) as u64)].into_iter().collect()] };
    let proof = |counts: [u64; 2]| -> Option<Proof> {
        let asked = Quotient::new(&start(counts)).named(&goal);
        let classes: Vec<_> = asked.pods().flat_map(|pod| orbit.iter().map(move |&node| vec![(pod, node)])).collect();
        let above = orbits.above(&asked, classes.iter().flatten().map(|&(pod, _)| pod));
        let forbidden = absent(&classes, &reachable(&above, 3_000)?);
        Some(Proof { forbidden, classes, exchanges: exchanges.clone(), ..Proof::default() })
    };
    Some(Uneven { proofs: [proof([most, least])?, proof([least, least])?], problem: start([most, least]), goal })
}
