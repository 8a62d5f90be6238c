//! h² mutexes: pairs of classes that are never present together.
//!
//! A pair is possible if the start has it, or if a transition makes one of the two while the other can be there: no upper bound rules it out,
//! and every condition of the transition has a witness that is possible together with it. What is not derivable is a mutex. Mutexes are an
//! inductive invariant by themselves and prune every other engine. After Haslum and Geffner, *Admissible Heuristics for Optimal Planning*
//! (AIPS 2000); the mutexes of Blum and Furst, *Fast Planning Through Planning Graph Analysis* (Artificial Intelligence 90, 1997), hold
//! for one layer, these for all.
//!
//! Cost: quadratic memory in the number of classes, in bits; for time see `fixpoint.rs`. Where the memory does not suffice, no pair is a
//! mutex, which is sound.

mod bit_matrix;
mod fixpoint;
mod preconditions;

use crate::bits::Bits;
use crate::budget::{Budget, Stop};
use crate::compile::System;
use crate::group::{Class, Group};
use fixpoint::Fixpoint;
use preconditions::Preconditions;

/// The pairs of classes that may be present together.
#[derive(Clone, Debug)]
pub struct Mutexes {
    /// The classes that may be present at all.
    pub possible: Bits,
    /// For each class, those that may be present with it; the class itself if two of it may.
    pub compatible: Vec<Bits>,
}

impl Mutexes {
    /// The fixpoint of a system. Where it does not fit into the memory, no pair is ruled out.
    pub fn new(system: &System, budget: &Budget<'_>) -> Result<Self, Stop> {
        let preconditions = Preconditions::new(system);
        if Fixpoint::bytes(system, &preconditions) > budget.memory {
            return Ok(Self::any(system));
        }
        let classes = system.classes.len();
        let mut mutexes = Self { possible: present(system, 1), compatible: vec![Bits::none(classes); classes] };
        for class in mutexes.possible.clone().ones() {
            mutexes.compatible[class] = present(system, 1);
            if system.start[class] < 2 {
                mutexes.compatible[class].remove(class);
            }
        }
        Fixpoint::new(system, &preconditions, mutexes).reached(budget)
    }

    /// Every class may be present with every other.
    fn any(system: &System) -> Self {
        let classes = system.classes.len();
        let all = Bits::of(classes, 0..classes);
        Self { compatible: vec![all.clone(); classes], possible: all }
    }

    /// A pair (or a single class) of the group that is never present.
    pub fn mutex_in(&self, group: &[(Class, u64)]) -> Option<Group> {
        for (index, &(a, count)) in group.iter().enumerate() {
            if !self.possible.contains(a as usize) {
                return Some(vec![(a, 1)]);
            }
            if count > 1 && !self.compatible[a as usize].contains(a as usize) {
                return Some(vec![(a, 2)]);
            }
            let other = group[index + 1..].iter().find(|&&(b, _)| !self.compatible[a as usize].contains(b as usize));
            if let Some(&(b, _)) = other {
                return Some(if self.possible.contains(b as usize) { vec![(a, 1), (b, 1)] } else { vec![(b, 1)] });
            }
        }
        None
    }
}

/// The classes with so many pods at the start.
fn present(system: &System, least: u64) -> Bits {
    let classes = system.classes.len();
    Bits::of(classes, (0..classes).filter(|&class| system.start[class] >= least))
}
