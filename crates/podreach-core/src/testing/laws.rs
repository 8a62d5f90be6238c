//! Proofs that say pairs as laws, as only large ones do otherwise.

use std::collections::BTreeSet;

use super::Rng;
use crate::verdict::{Group, Law, Proof};

/// A law that grows by some of these classes of which no pod is ever there with those of other parts; seldom by another one.
pub fn law(rng: &mut Rng, classes: &[usize], never: &dyn Fn(usize, usize) -> bool) -> Law {
    let mut law: Law = Vec::new();
    for &class in classes {
        if rng.one_in(3) {
            continue;
        }
        let own = (0..law.len()).find(|_| rng.one_in(3));
        let others = law.iter().enumerate().filter(|&(at, _)| Some(at) != own).flat_map(|(_, part)| part);
        let fits = others.copied().all(|other| never(class, other)) || rng.one_in(40);
        match own {
            Some(own) if fits => law[own].push(class),
            None if fits => law.push(vec![class]),
            _ => {}
        }
    }
    law
}

/// A proof that says some of its pairs as a few laws, where so many pods of each class are kept. Seldom, a law is wrong, or about kept pods.
pub fn said_as_laws(rng: &mut Rng, proof: &Proof, kept: &[u64]) -> Proof {
    let groups: BTreeSet<&Group> = proof.forbidden.iter().collect();
    let is_group =
        |classes: &[usize]| groups.contains(&classes.iter().map(|&class| (class, kept[class] + 1)).collect::<Group>());
    let never = |a: usize, b: usize| is_group(&[a, b]) || is_group(&[a]) || is_group(&[b]);
    let careless = rng.one_in(6);
    let free: Vec<usize> = (0..proof.classes.len()).filter(|&class| careless || kept[class] == 0).collect();
    let laws: Vec<Law> = (0..1 + rng.below(3)).map(|_| law(rng, &free, &never)).collect();
    let said = Proof { laws: laws.clone(), ..Proof::default() };
    let said: BTreeSet<Group> = said.in_groups().forbidden.iter().cloned().collect();
    let forbidden = proof.forbidden.iter().filter(|group| !said.contains(group)).cloned().collect();
    Proof { forbidden, laws, ..proof.clone() }
}
