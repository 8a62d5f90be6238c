//! Proofs that say pairs as at-most-one constraints, as only large ones do otherwise.

use std::collections::BTreeSet;

use super::Rng;
use crate::verdict::{AtMostOne, Group, Proof};

/// A constraint that grows by some of these classes of which no pod is ever there with those of other parts; seldom by another one.
pub fn constraint(rng: &mut Rng, classes: &[usize], never: &dyn Fn(usize, usize) -> bool) -> AtMostOne {
    let mut constraint: AtMostOne = Vec::new();
    for &class in classes {
        if rng.one_in(3) {
            continue;
        }
        let own = (0..constraint.len()).find(|_| rng.one_in(3));
        let others = constraint.iter().enumerate().filter(|&(at, _)| Some(at) != own).flat_map(|(_, part)| part);
        let fits = others.copied().all(|other| never(class, other)) || rng.one_in(40);
        match own {
            Some(own) if fits => constraint[own].push(class),
            None if fits => constraint.push(vec![class]),
            _ => {}
        }
    }
    constraint
}

/// A proof that says some of its pairs as a few constraints, where so many pods of each class are kept. Seldom, a constraint is wrong, or
/// about kept pods.
pub fn said_as_at_most_one(rng: &mut Rng, proof: &Proof, kept: &[u64]) -> Proof {
    let groups: BTreeSet<&Group> = proof.forbidden.iter().collect();
    let is_group =
        |classes: &[usize]| groups.contains(&classes.iter().map(|&class| (class, kept[class] + 1)).collect::<Group>());
    let never = |a: usize, b: usize| is_group(&[a, b]) || is_group(&[a]) || is_group(&[b]);
    let careless = rng.one_in(6);
    let free: Vec<usize> = (0..proof.classes.len()).filter(|&class| careless || kept[class] == 0).collect();
    let at_most_one: Vec<AtMostOne> = (0..1 + rng.below(3)).map(|_| constraint(rng, &free, &never)).collect();
    let said = Proof { at_most_one: at_most_one.clone(), ..Proof::default() };
    let said: BTreeSet<Group> = said.in_groups().forbidden.iter().cloned().collect();
    let forbidden = proof.forbidden.iter().filter(|group| !said.contains(group)).cloned().collect();
    Proof { forbidden, at_most_one, ..proof.clone() }
}
