//! Transitions as bit masks, where one pod of each class is enough and a transition asks only for presence and absence.
//!
//! Most witnesses are of one class, so what a transition needs is one mask, and what it bars is another. A transition that is applicable
//! without a deletion is applied at once: the state is saturated. A *move* is a transition that first deletes what it bars. After a step
//! only few transitions can have become applicable: those with a new witness, and those that make what was deleted. Transitions whose pod
//! is there already, or that lack a class they watch, are removed from that set many at a time; watching follows Moskewicz, Madigan, Zhao,
//! Zhang and Malik, *Chaff: Engineering an Efficient SAT Solver* (DAC 2001).
//!
//! Invariant: a saturated state has no applicable transition but its moves. Cost of a step: the words of the transitions that it wakes.

mod saturation;

use podreach_core::cancel;

use crate::bits::Bits;
use crate::compile::{Sum, System};
pub use saturation::MaskState;

/// The transitions of a system, as masks where that is possible.
pub struct Masks {
    /// How many words a configuration has, and how many a set of transitions.
    words: usize,
    transition_words: usize,
    masks: Vec<Option<Mask>>,
    /// The classes that each transition needs, word by word.
    needed: Vec<u64>,
    /// The classes that each transition bars, word by word.
    barred: Vec<u64>,
    /// For each class, all transitions that it can be a witness of.
    transitions_with_witness: Vec<Few>,
    /// For each class, the transitions that make it.
    transitions_making: Vec<Few>,
    /// For each class, transitions that need it and watch it. A transition watches several classes; the sets of transitions for the first
    /// of these, the second and so on lie one after the other.
    watched_by: Vec<Few>,
    /// The transitions that watch fewer classes, in the same order.
    unwatched: Vec<u64>,
    /// The transitions that are not masks.
    pub others: Vec<usize>,
    /// Whether some transition is a mask.
    pub any: bool,
}

/// How many classes a transition watches.
const WATCHES: usize = 3;

/// A few transitions, as words of a set of transitions that are not empty.
type Few = Vec<(u32, u64)>;

struct Mask {
    /// The word and the bit of what it deploys.
    head: (usize, u64),
    class: usize,
    /// The witnesses to choose among; none of them is barred.
    choices: Vec<Bits>,
}

impl Masks {
    /// The transitions of a system whose configurations are sets (`unit`); otherwise none is a mask.
    pub fn new(system: &System, unit: bool) -> Self {
        let (classes, transitions) = (system.classes.len(), system.transitions.len());
        let words = classes.div_ceil(64);
        let mut all = Self {
            words,
            transition_words: transitions.div_ceil(64),
            masks: (0..transitions).map(|_| None).collect(),
            needed: vec![0; transitions * words],
            barred: vec![0; transitions * words],
            transitions_with_witness: vec![Few::new(); classes],
            transitions_making: vec![Few::new(); classes],
            watched_by: vec![Few::new(); classes],
            unwatched: vec![0; WATCHES * transitions.div_ceil(64)],
            others: Vec::new(),
            any: false,
        };
        let mut witnesses = Vec::new();
        for transition in 0..transitions {
            witnesses.push(Vec::new());
            // What turns into something else is left to the engines that go back from the goal.
            if system.transitions[transition].consumes.is_some() {
                continue;
            }
            if unit && system.transitions[transition].guard.is_plain() {
                witnesses[transition] = all.add(system, transition);
                all.any = true;
            } else {
                all.others.push(transition);
            }
        }
        all.watch(&witnesses);
        all
    }

    /// Makes a transition a mask; returns the classes of each of its witnesses.
    fn add(&mut self, system: &System, transition: usize) -> Vec<Bits> {
        cancel::poll();
        let guard = &system.transitions[transition].guard;
        let barred = classes_of(system, guard.at_most.iter().map(|&(sum, _)| sum));
        let needed = guard.affinity.iter().flat_map(|condition| condition.near.iter().copied());
        let mut witnesses: Vec<Bits> = needed.map(|sum| classes_of(system, std::iter::once(sum))).collect();
        witnesses.iter_mut().for_each(|witnesses| witnesses.subtract(&barred));
        let row = transition * self.words..(transition + 1) * self.words;
        self.barred[row.clone()].copy_from_slice(barred.words());
        for single in witnesses.iter().filter(|witnesses| witnesses.len() == 1) {
            self.needed[row.clone()].iter_mut().zip(single.words()).for_each(|(needed, one)| *needed |= one);
        }
        let class = system.transitions[transition].head as usize;
        let choices = witnesses.iter().filter(|witnesses| witnesses.len() != 1).cloned().collect();
        self.masks[transition] = Some(Mask { head: (class / 64, 1 << (class % 64)), class, choices });
        witnesses
    }

    /// Lets each mask that is ever applicable watch the witnesses that the fewest others need, and the one that the most transitions
    /// delete: where it is not applicable, mostly one of these is missing.
    fn watch(&mut self, witnesses: &[Vec<Bits>]) {
        let (mut needed_by, mut deleted) =
            (vec![0usize; self.transitions_with_witness.len()], vec![0usize; self.transitions_with_witness.len()]);
        witnesses.iter().flatten().flat_map(Bits::ones).for_each(|class| needed_by[class] += 1);
        let rows = self.barred.chunks(self.words.max(1));
        rows.flat_map(|row| ones(row.iter().copied())).for_each(|class| deleted[class] += 1);
        for (transition, witnesses) in witnesses.iter().enumerate() {
            let Some(mask) = &self.masks[transition] else { continue };
            if witnesses.iter().any(Bits::is_empty) {
                continue;
            }
            let mut needed: Vec<usize> =
                witnesses.iter().filter(|witnesses| witnesses.len() == 1).flat_map(Bits::ones).collect();
            needed.sort_by_key(|&class| needed_by[class]);
            if let Some(most_deleted) = (0..needed.len()).max_by_key(|&at| deleted[needed[at]]) {
                needed[most_deleted..].rotate_left(1);
            }
            let seldom_needed = (0..WATCHES - 1).map(|at| needed.get(at));
            for (at, class) in seldom_needed.chain([needed.last()]).enumerate() {
                let transition = at * self.transition_words * 64 + transition;
                match class {
                    Some(&class) => insert(&mut self.watched_by[class], transition),
                    None => self.unwatched[transition / 64] |= 1 << (transition % 64),
                }
            }
            witnesses
                .iter()
                .flat_map(Bits::ones)
                .for_each(|class| insert(&mut self.transitions_with_witness[class], transition));
            insert(&mut self.transitions_making[mask.class], transition);
        }
    }

    /// Whether a transition is a mask.
    pub fn is_mask(&self, transition: usize) -> bool {
        self.masks[transition].is_some()
    }

    fn mask(&self, transition: u32) -> &Mask {
        self.masks[transition as usize].as_ref().expect("only masks are asked for")
    }

    fn row<'t>(&self, table: &'t [u64], transition: u32) -> &'t [u64] {
        &table[transition as usize * self.words..][..self.words]
    }

    /// Writes the state after an applicable transition, without saturation.
    pub fn apply_alone(&self, transition: u32, here: &[u64], left: &mut Vec<u64>) {
        left.clear();
        left.extend(here.iter().zip(self.row(&self.barred, transition)).map(|(here, barred)| here & !barred));
        let (word, bit) = self.mask(transition).head;
        left[word] |= bit;
    }

    /// Whether a transition that is applicable here is a mask and deletes something.
    pub fn is_move(&self, transition: u32, here: &[u64]) -> bool {
        self.is_mask(transition as usize)
            && !here.iter().zip(self.row(&self.barred, transition)).all(|(here, barred)| here & barred == 0)
    }

    /// Whether a move leads anywhere that the state before did not: not if it deletes all that is new.
    pub fn makes_progress(&self, transition: u32, here: &[u64], before: &[u64]) -> bool {
        let new = here.iter().zip(before).map(|(here, before)| here & !before);
        before.is_empty() || !new.zip(self.row(&self.barred, transition)).all(|(new, barred)| new & !barred == 0)
    }

    /// Writes the state without what every move deletes, which nothing after it can depend on.
    pub fn without_deleted(&self, state: &MaskState, without_deleted: &mut Vec<u64>) {
        without_deleted.clear();
        without_deleted.resize(self.words, u64::MAX);
        for transition in state.moves() {
            without_deleted
                .iter_mut()
                .zip(self.row(&self.barred, transition))
                .for_each(|(word, barred)| *word &= barred);
        }
        without_deleted.iter_mut().zip(&state.words).for_each(|(word, here)| *word = here & !*word);
    }

    /// Whether all that a transition needs is there.
    pub fn has_witnesses(&self, transition: u32, here: &[u64]) -> bool {
        // All words at once: branches would be hard to predict.
        let missing =
            here.iter().zip(self.row(&self.needed, transition)).fold(0, |all, (here, needed)| all | needed & !here);
        missing == 0 && self.mask(transition).choices.iter().all(|witnesses| meets(witnesses, here))
    }

    /// Adds to what is needed after a deployment what is needed for it, of what is there before it; calls `each` for every class.
    pub fn require(&self, transition: u32, needs: &mut [u64], there: &[u64], mut each: impl FnMut(usize)) {
        let mut add = |needs: &mut [u64], class: usize| {
            needs[class / 64] |= 1 << (class % 64);
            each(class);
        };
        for (word, needed) in self.row(&self.needed, transition).iter().enumerate() {
            let missing = needed & !needs[word];
            ones([missing].into_iter()).for_each(|bit| add(needs, word * 64 + bit));
        }
        for witnesses in &self.mask(transition).choices {
            if !meets(witnesses, needs) {
                let witness = witnesses.ones().find(|&class| there[class / 64] >> (class % 64) & 1 == 1);
                add(needs, witness.expect("the transition can deploy from here"));
            }
        }
    }
}

/// The classes of some sums.
fn classes_of(system: &System, sums: impl Iterator<Item = Sum>) -> Bits {
    let members = sums.flat_map(|sum| system.sums.members(sum));
    Bits::of(system.classes.len(), members.map(|class| class as usize))
}

fn insert(few: &mut Few, transition: usize) {
    let (word, bit) = ((transition / 64) as u32, 1 << (transition % 64));
    match few.iter_mut().rev().find(|(other, _)| *other == word) {
        Some((_, transitions)) => *transitions |= bit,
        None => few.push((word, bit)),
    }
}

fn meets(bits: &Bits, words: &[u64]) -> bool {
    bits.words().iter().zip(words).any(|(bits, words)| bits & words != 0)
}

fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(index, word)| {
        std::iter::successors((word != 0).then_some(word), |&rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
    })
}
