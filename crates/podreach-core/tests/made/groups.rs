//! Classes that come to mind, and what no configuration has of them.

use std::collections::BTreeMap;

use podreach_core::testing::Rng;
use podreach_core::verdict::Group;
use podreach_core::{Atom, Configuration, PodId, Problem};

/// Each atom by itself, all nodes of a type together, or sometimes two types.
pub(crate) fn some_classes(rng: &mut Rng, problem: &Problem) -> Vec<Vec<Atom>> {
    let whole = rng.one_in(3);
    let mut classes: Vec<Vec<Atom>> = Vec::new();
    for pod in problem.pods().collect::<Vec<PodId>>() {
        let atoms: Vec<Atom> = problem.model.places(pod).map(|node| (pod, node)).collect();
        if whole || rng.one_in(4) {
            classes.push(atoms);
        } else {
            classes.extend(atoms.into_iter().map(|atom| vec![atom]));
        }
    }
    if rng.one_in(4) && classes.len() > 1 {
        let more = classes.pop().unwrap_or_default();
        classes[0].extend(more);
    }
    classes
}

/// What no configuration has: of one class too many, or two together.
pub(crate) fn absent(classes: &[Vec<Atom>], reachable: &[Configuration]) -> Vec<Group> {
    let count = |s: &Configuration, class: &Vec<Atom>| class.iter().map(|&atom| s.count(atom)).sum::<u64>();
    let counts: Vec<Vec<u64>> =
        reachable.iter().map(|s| classes.iter().map(|class| count(s, class)).collect()).collect();
    let most: Vec<u64> = (0..classes.len()).map(|class| counts.iter().map(|s| s[class]).max().unwrap_or(0)).collect();
    let mut groups: Vec<Group> = most.iter().enumerate().map(|(class, most)| [(class, most + 1)].into()).collect();
    for (a, b) in (0..classes.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        for (more, less) in (1..=most[a]).flat_map(|more| (1..=most[b]).map(move |less| (more, less))) {
            let there = |s: &Vec<u64>| s[a] >= more && s[b] >= less;
            let smaller = |g: &Group| {
                g.iter().all(|(class, n)| *n <= BTreeMap::from([(a, more), (b, less)]).get(class).copied().unwrap_or(0))
            };
            if !counts.iter().any(there) && !groups.iter().any(smaller) {
                groups.push([(a, more), (b, less)].into());
            }
        }
    }
    groups
}
