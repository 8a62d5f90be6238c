//! Clusters whose nodes are still starting, what they may become, and proofs that hold whatever that is.

use std::sync::Arc;

use podreach_core::testing::{Rng, Shape, cases, problem, reachable, settled, some_starting};
use podreach_core::verdict::Group;
use podreach_core::{Atom, Checker, Model, Problem, Proof, Quotient, Semantics, Verdict, Weakening};

use crate::comparison::Comparison;
use crate::damage::damaged;
use crate::groups::{absent, some_classes};
use crate::some_group;

/// A cluster, one of those that it may become, and a proof about all of them.
struct Started {
    now: Problem,
    then: Problem,
    proof: Proof,
    /// Whether the proof counts atoms one by one, by names that both clusters have.
    is_plain: bool,
}

/// From what no configuration of the cluster has, where what depends on what is yet to come is not asked.
fn started(rng: &mut Rng, case: usize) -> Option<Started> {
    let shape = Shape::small(Semantics::KubeScheduler);
    let problem = problem(rng, if case.is_multiple_of(3) { shape.with_volumes() } else { shape });
    let (now, then) = some_starting(rng, &problem.model.facts());
    let [now, then] = [now, then].map(|cluster| {
        let model = Model::new(cluster, Semantics::KubeScheduler);
        settled(&problem.with_model(Arc::new(model)).with_standing_goals())
    });
    let weakened = vec![Weakening::Starting];
    let weak = Quotient::new(&now.weakened(&weakened));
    let asked = weak.named(&problem.goal);
    let one_by_one = rng.one_in(2);
    let each = || asked.pods().flat_map(|pod| asked.model.places(pod).map(move |node| vec![(pod, node)]));
    let classes: Vec<Vec<Atom>> = if one_by_one { each().collect() } else { some_classes(rng, &asked) };
    let forbidden = absent(&classes, &reachable(&asked, 1_500)?);
    let proof = Proof { classes, forbidden, weakened, ..Proof::default() };
    let merges = |quotient: &Quotient| quotient.kinds().iter().any(|kind| kind.len() > 1);
    let is_plain = one_by_one && !merges(&weak) && !merges(&Quotient::new(&then));
    Some(Started { now, then, proof, is_plain })
}

/// The proof without its weakening. What can never be in the cluster counts for nothing there, and is ruled out by itself.
fn about(then: &Problem, proof: Proof) -> Proof {
    let never = (0..proof.classes.len()).filter(|&class| !then.is_possible(proof.classes[class][0]));
    let never: Vec<Group> = never.map(|class| Group::from([(class, 1)])).collect();
    let forbidden = proof.forbidden.into_iter().chain(never).collect();
    Proof { forbidden, weakened: Vec::new(), ..proof }
}

/// Nodes that are still starting: the weakened cluster as both see it, and what is accepted about it, of what the cluster may become.
#[test]
fn proofs_about_nodes_that_are_still_starting() {
    let Some(mut both) = Comparison::start() else { return };
    let (mut rng, mut later) = (Rng::new(37), 0);
    for case in 0..cases(3_000) {
        let Some(Started { now, then, proof, is_plain }) = started(&mut rng, case) else { continue };
        let goal = some_group(&mut rng, &now, &proof).filter(|_| !rng.one_in(4)).unwrap_or(now.goal.clone());
        let verdict = Verdict::Never(proof.clone());
        both.verdict(&now, &goal, &verdict);
        for _ in 0..3 {
            both.verdict(&now, &goal, &damaged(&mut rng, &now.model, &verdict));
        }
        let accepted = is_plain && Checker::new(&now).check(&goal, verdict, &|| false).is_ok();
        both.implied(accepted, &then, &goal, about(&then, proof));
        later += usize::from(accepted);
    }
    println!("nodes that are still starting: {later} proofs hold of what they may become");
    assert!(later >= cases(3_000) / 20, "too few to tell: {later}");
    both.end("proofs about nodes that are still starting", cases(3_000) / 20);
}
