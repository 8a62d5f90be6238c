//! Which pods the rules let in, on random configurations and on nodes that have not settled.

use podreach_core::rule::{Rule, hard};
use podreach_core::testing::{Rng, cases, problem, random_configuration};
use podreach_core::{Atom, Configuration, Problem};

use crate::export;
use crate::program::Proved;
use crate::questions::shape;

#[test]
fn rules_let_in_the_same() {
    let Some(mut proved) = Proved::start() else { return };
    let (mut rng, mut counts) = (Rng::new(8), [0u64; 2]);
    for case in 0..cases(4_000) {
        let problem = problem(&mut rng, shape(case));
        let s = random_configuration(&mut rng, &problem.model, 5);
        let s = if rng.one_in(2) { s } else { s.with_unsettled(problem.start.unsettled().iter().copied()) };
        let problem = Problem { start: s.into(), kept: Configuration::new().into(), ..problem };
        let (m, s) = (&*problem.model, &*problem.start);
        let atoms: Vec<Atom> = problem.pods().flat_map(|pod| m.nodes().map(move |node| (pod, node))).collect();
        let mut compare = |rule: Option<Rule>, lets_in: &dyn Fn(&Atom) -> bool| {
            let document = export::rules(&problem, [(rule, atoms.clone())]);
            let ours: String = atoms.iter().map(|atom| if lets_in(atom) { '1' } else { '0' }).collect();
            assert_eq!([&*ours], *proved.ask(&document), "{rule:?} in\n{document}");
            counts[0] += ours.matches('0').count() as u64;
            counts[1] += ours.matches('1').count() as u64;
        };
        compare(None, &|&(pod, node)| hard(m, s, pod, node));
        let rule = rng.pick(&Rule::DYNAMIC);
        let asks = |pod| !m.pod(pod).exempt.contains(&rule);
        compare(Some(rule), &|&(pod, node)| !asks(pod) || rule.refusal(m, s, pod, node).is_none());
    }
    println!("{} deployments refused by both, {} let in", counts[0], counts[1]);
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}
