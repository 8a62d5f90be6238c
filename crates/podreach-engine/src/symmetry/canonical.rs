//! Canonical states: of states that are equal up to automorphisms, one is looked at.
//!
//! What can be reached from a state can be reached, permuted, from its image, and goals stay goals. Automorphisms are applied greedily
//! while one leads to a lower state; where they exchange neighbours in a row of nodes, that sorts the nodes, and all images have the same
//! lowest state. Elsewhere some images are looked at twice, and nothing is lost. After Ip and Dill, *Better Verification Through Symmetry*
//! (Formal Methods in System Design 9, 1996), and Pochter, Zohar and Rosenschein, *Exploiting Problem Symmetries in State-Based Planners*
//! (AAAI 2011).
//!
//! Cost: the classes that automorphisms move, once for each round that lowers the state.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::automorphism::{Automorphism, automorphisms};
use crate::bits::Bits;
use crate::compile::System;
use crate::group::{self, Class, Group};

/// How many classes are moved in one unit of work.
const MOVES_PER_WORK: u64 = 64;

/// The permutations that keep the transitions and the goals of a system.
pub struct Canonical {
    /// Each with the classes that it moves.
    permutations: Vec<(Automorphism, Bits)>,
    /// Whether a configuration is a set of bits; otherwise it is a word per class.
    unit: bool,
}

impl Canonical {
    /// None at all: every state is its own lowest image.
    pub fn trivial(unit: bool) -> Self {
        Self { permutations: Vec::new(), unit }
    }

    /// The permutations of a system that are easily found.
    pub fn new(system: &System, unit: bool) -> Self {
        let goals: BTreeSet<&Group> = system.goals.iter().collect();
        let colours: Vec<u64> = (0..system.classes.len()).map(|class| colour(&goals, class as Class)).collect();
        let mut permutations = automorphisms(system, &colours);
        permutations.retain(|permutation| {
            goals.iter().all(|goal| permutation.image(goal).is_none_or(|image| goals.contains(&image)))
        });
        let with_moved = permutations.into_iter().map(|permutation| {
            let moved = permutation.moved.iter().map(|&class| class as usize);
            let moved = Bits::of(system.classes.len(), moved);
            (permutation, moved)
        });
        Self { permutations: with_moved.collect(), unit }
    }

    /// How much work the lowest image of a state is, in units of storing one that has no images.
    pub fn work(&self) -> u64 {
        let moved: usize = self.permutations.iter().map(|(permutation, _)| permutation.moved.len()).sum();
        moved as u64 / MOVES_PER_WORK
    }

    /// Whether there is no permutation.
    pub fn is_trivial(&self) -> bool {
        self.permutations.is_empty()
    }

    /// The lowest image of a configuration that one permutation after the other leads to.
    pub fn lowest<'p>(&self, packed: &'p [u64]) -> Cow<'p, [u64]> {
        let mut lowest = Cow::Borrowed(packed);
        let mut image = Vec::new();
        loop {
            let mut changed = false;
            for (permutation, moved) in &self.permutations {
                self.image(permutation, moved, &lowest, &mut image);
                if image.iter().rev().lt(lowest.iter().rev()) {
                    lowest.to_mut().copy_from_slice(&image);
                    changed = true;
                }
            }
            if !changed {
                return lowest;
            }
        }
    }

    fn image(&self, permutation: &Automorphism, moved: &Bits, packed: &[u64], image: &mut Vec<u64>) {
        image.clear();
        image.extend_from_slice(packed);
        let to = |class: Class| permutation.classes[class as usize] as usize;
        if !self.unit {
            permutation.moved.iter().for_each(|&class| image[to(class)] = packed[class as usize]);
            return;
        }
        // Of what moves, little is there.
        image.iter_mut().zip(moved.words()).for_each(|(word, moved)| *word &= !moved);
        for (index, (word, moved)) in packed.iter().zip(moved.words()).enumerate() {
            let mut rest = word & moved;
            while rest != 0 {
                let to = to((index * 64) as Class + rest.trailing_zeros());
                image[to / 64] |= 1 << (to % 64);
                rest &= rest - 1;
            }
        }
    }
}

/// A number for how often goals ask for a class, whatever their order.
fn colour(goals: &BTreeSet<&Group>, class: Class) -> u64 {
    let asked = goals.iter().map(|goal| group::count(goal, class));
    asked.fold(0, |colour: u64, count| colour.wrapping_add(count.wrapping_mul(count).wrapping_add(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_move_to_where_their_classes_do_and_the_lowest_image_is_found() {
        let classes: Vec<Class> = (0..130).map(|class| (class + 43) % 130).collect();
        let moved: Vec<Class> = (0..130).collect();
        let all = Bits::of(130, 0..130);
        let canonical = Canonical { permutations: vec![(Automorphism { classes, moved }, all)], unit: true };
        let (permutation, moved) = &canonical.permutations[0];
        let (from, to) = (Bits::of(130, [2, 64, 129].into_iter()), Bits::of(130, [45, 107, 42].into_iter()));
        let mut image = Vec::new();
        canonical.image(permutation, moved, from.words(), &mut image);
        assert_eq!(image, to.words());
        // Once more leads lower still, and a third time does not.
        let lowest = Bits::of(130, [88, 20, 85].into_iter());
        assert!([&from, &to, &lowest].iter().all(|bits| *canonical.lowest(bits.words()) == *lowest.words()));
    }
}
