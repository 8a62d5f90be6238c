//! Which two pods can ever be present together.
//!
//! A polynomial fixpoint over pairs of classes. When a pod is deployed, what else can be there? Whatever no bound rules out and has,
//! for each affinity group, a witness that can be there at the same time. What the fixpoint does not reach is never present
//! together: pairs that are an invariant of their own, and a sieve for every other search.

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
        let present = |least: u64| Bits::of(classes, (0..classes).filter(|&class| system.start[class] >= least));
        let mut mutexes = Self { possible: present(1), compatible: vec![Bits::none(classes); classes] };
        for class in mutexes.possible.clone().ones() {
            mutexes.compatible[class] = present(1);
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
