//! Saturation: applies every transition that needs no deletion, and keeps track of the moves.

use super::{Masks, WATCHES, ones};

/// A state, and which transitions are applicable in it.
#[derive(Clone, Debug, Default)]
pub struct MaskState {
    /// What is there, as bits.
    pub words: Vec<u64>,
    /// The transitions that led here from the state before.
    pub transitions: Vec<u32>,
    /// The moves: transitions that are applicable after deletions.
    moves: Vec<u64>,
    /// The transitions whose head is there already.
    made: Vec<u64>,
    /// The transitions whose first watched class is there, those whose second is, and so on.
    unblocked: Vec<u64>,
    /// The transitions to look at.
    todo: Vec<u64>,
}

impl MaskState {
    /// The transitions that are applicable after deletions, in order.
    pub fn moves(&self) -> impl Iterator<Item = u32> + '_ {
        ones(self.moves.iter().copied()).map(|transition| transition as u32)
    }
}

impl Masks {
    /// Applies every transition that needs no deletion, and records each; finds the moves.
    pub fn saturate(&self, state: &mut MaskState) {
        let MaskState { words, made, unblocked, todo, .. } = &mut *state;
        made.clear();
        made.resize(self.transition_words, 0);
        unblocked.clone_from(&self.unwatched);
        for class in ones(words.iter().copied()) {
            self.mark_present(class, made, unblocked);
        }
        todo.clear();
        todo.resize(self.transition_words, u64::MAX);
        self.saturate_from_todo(state);
    }

    /// Applies a move to a copy, and saturates.
    pub fn apply_to(&self, transition: u32, here: &MaskState, next: &mut MaskState) {
        next.words.clone_from(&here.words);
        next.moves.clone_from(&here.moves);
        next.made.clone_from(&here.made);
        next.unblocked.clone_from(&here.unblocked);
        self.apply(transition, next);
    }

    /// Applies a move in place, and saturates.
    ///
    /// A transition that is applicable now was applicable before, or its head was deleted, or it has a new witness.
    pub fn apply(&self, transition: u32, state: &mut MaskState) {
        let MaskState { words, transitions, moves, made, unblocked, todo } = &mut *state;
        std::mem::swap(moves, todo);
        let gone = words.iter().zip(self.row(&self.barred, transition)).map(|(here, barred)| here & barred);
        for class in ones(gone) {
            for &(word, transitions) in &self.transitions_making[class] {
                made[word as usize] &= !transitions;
                todo[word as usize] |= transitions;
            }
            self.watched_by[class].iter().for_each(|&(word, transitions)| unblocked[word as usize] &= !transitions);
        }
        words.iter_mut().zip(self.row(&self.barred, transition)).for_each(|(here, barred)| *here &= !barred);
        let mask = self.mask(transition);
        words[mask.head.0] |= mask.head.1;
        self.mark_present(mask.class, made, unblocked);
        self.transitions_with_witness[mask.class]
            .iter()
            .for_each(|&(word, transitions)| todo[word as usize] |= transitions);
        transitions.clear();
        transitions.push(transition);
        self.saturate_from_todo(state);
    }

    /// One more class is there.
    fn mark_present(&self, class: usize, made: &mut [u64], unblocked: &mut [u64]) {
        self.transitions_making[class].iter().for_each(|&(word, transitions)| made[word as usize] |= transitions);
        self.watched_by[class].iter().for_each(|&(word, transitions)| unblocked[word as usize] |= transitions);
    }

    /// Looks at the transitions that may be applicable.
    fn saturate_from_todo(&self, state: &mut MaskState) {
        let MaskState { words, transitions, moves, made, unblocked, todo } = state;
        moves.clear();
        moves.resize(self.transition_words, 0);
        let mut at = 0;
        while at < todo.len() {
            todo[at] &= (0..WATCHES)
                .fold(!made[at], |transitions, watch| transitions & unblocked[watch * self.transition_words + at]);
            if todo[at] == 0 {
                at += 1;
                continue;
            }
            let bit = todo[at] & todo[at].wrapping_neg();
            todo[at] &= !bit;
            let transition = at as u32 * 64 + bit.trailing_zeros();
            if !self.has_witnesses(transition, words) {
                continue;
            }
            if !words.iter().zip(self.row(&self.barred, transition)).all(|(here, barred)| here & barred == 0) {
                moves[at] |= bit;
                continue;
            }
            let mask = self.mask(transition);
            words[mask.head.0] |= mask.head.1;
            transitions.push(transition);
            self.mark_present(mask.class, made, unblocked);
            // Other transitions may have lacked this witness.
            for &(word, transitions) in &self.transitions_with_witness[mask.class] {
                todo[word as usize] |= transitions;
                at = at.min(word as usize);
            }
        }
        moves.iter_mut().zip(&*made).for_each(|(moves, made)| *moves &= !made);
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, Switches, cases};

    use super::*;
    use crate::bits::Bits;
    use crate::compile::{System, slice};

    #[test]
    fn after_each_step_all_that_a_survey_sees_is_known() {
        let (mut rng, mut steps) = (Rng::new(79), 0);
        let cases = cases(300);
        for case in 0..cases {
            let problem = Switches::random(&mut rng).problem();
            let system = System::new(&problem, slice(&problem));
            let masks = Masks::new(&system, true);
            let present = (0..system.classes.len()).filter(|&class| system.start[class] > 0);
            let words = Bits::of(system.classes.len(), present).words().to_vec();
            let mut state = MaskState { words, ..MaskState::default() };
            masks.saturate(&mut state);
            for _ in 0..20 {
                let moves: Vec<u32> = state.moves().collect();
                if moves.is_empty() {
                    break;
                }
                let (transition, mut opened) = (rng.pick(&moves), Vec::new());
                masks.apply_alone(transition, &state.words, &mut opened);
                masks.apply(transition, &mut state);
                steps += 1;
                assert!(opened.iter().zip(&state.words).all(|(opened, there)| opened & !there == 0), "case {case}");
                let mut seen = MaskState { words: state.words.clone(), ..MaskState::default() };
                masks.saturate(&mut seen);
                assert!(seen.transitions.is_empty(), "case {case}: {:?} deploy more", seen.transitions);
                assert!(seen.moves().eq(state.moves()), "case {case}: {seen:?} and {state:?}");
                differences_do_not_last(&masks, &state);
            }
        }
        assert!(steps > cases, "only {steps} steps");
    }

    /// What is left out makes no difference after any move.
    fn differences_do_not_last(masks: &Masks, state: &MaskState) {
        let (mut without_deleted, mut whole, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        masks.without_deleted(state, &mut without_deleted);
        for transition in state.moves() {
            masks.apply_alone(transition, &state.words, &mut whole);
            masks.apply_alone(transition, &without_deleted, &mut rest);
            assert!(whole == rest && masks.has_witnesses(transition, &without_deleted), "{state:?}: {transition}");
        }
    }
}
