//! Minimal sets: of facts that together do something, those it cannot do without.
//!
//! Halves are dropped before single facts, and at the end each fact left is dropped once more to see that it is needed.

type Enough<'t, F> = Box<dyn FnMut(&[F]) -> Option<bool> + 't>;

/// A question about sets of facts that can be asked a limited number of times; what is not decided counts as no.
pub(super) struct Trial<'t, F> {
    /// Whether these facts are enough.
    enough: Enough<'t, F>,
    tries: usize,
    /// Whether every trial was decided.
    sure: bool,
}

impl<'t, F: Clone> Trial<'t, F> {
    /// A question that may be asked so often.
    pub(super) fn new(tries: usize, enough: impl FnMut(&[F]) -> Option<bool> + 't) -> Self {
        Self { enough: Box::new(enough), tries, sure: true }
    }

    /// Whether everything asked was decided, and nothing was left unasked.
    pub(super) fn is_sure(&self) -> bool {
        self.sure && self.tries > 0
    }

    /// Whether these facts are enough.
    pub(super) fn holds(&mut self, kept: &[F]) -> bool {
        if self.tries == 0 {
            self.sure = false;
            return false;
        }
        self.tries -= 1;
        let answer = (self.enough)(kept);
        self.sure &= answer.is_some();
        answer == Some(true)
    }

    /// The facts of `candidates` that are needed besides `kept`, if those two together are enough.
    pub(super) fn minimal(&mut self, kept: &[F], candidates: &[F]) -> Vec<F> {
        if candidates.is_empty() || self.holds(kept) {
            return Vec::new();
        }
        if candidates.len() == 1 {
            return candidates.to_vec();
        }
        let (left, right) = candidates.split_at(candidates.len() / 2);
        let needed = self.minimal(&[kept, left].concat(), right);
        let rest = self.minimal(&[kept, &needed[..]].concat(), left);
        [rest, needed].concat()
    }

    /// Drops what can be dropped alone, until nothing can.
    pub(super) fn drop_one_by_one(&mut self, core: &mut Vec<F>) {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            if self.holds(&fewer) {
                *core = fewer;
                at = 0;
            } else {
                at += 1;
            }
        }
    }
}
