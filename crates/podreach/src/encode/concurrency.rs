//! A polynomial reason for a net to be 1-safe: which two places can be marked together, at most.
//!
//! ```text
//! at first      the marked places are together with one another
//! a can fire    if the places of Pre(a) are together with one another; then those of Post(a) come together with one another,
//!               and with every place outside Pre(a) that is together with all of Pre(a)
//! ```
//! The relation only grows, so it contains what any run can show. If it never lets a transition put a token on a place that may have one,
//! no run does, and the net is 1-safe. The converse does not hold: where this says nothing, a search may still.

use super::net::Net;

/// The most places, times transitions, that are looked at.
const MOST: usize = 50_000_000;

/// Whether the relation shows that a net is 1-safe.
pub fn is_safe(net: &Net) -> bool {
    let small = net.places.len().saturating_mul(net.places.len().max(net.transitions.len())) <= MOST;
    small && net.places.iter().all(|place| place.tokens <= 1) && Together::new(net).is_closed(net)
}

/// For each place, the places that may be marked together with it; itself if it may be marked at all.
struct Together {
    rows: Vec<Vec<u64>>,
}

impl Together {
    fn new(net: &Net) -> Self {
        let words = net.places.len().div_ceil(64);
        let mut together = Self { rows: vec![vec![0; words]; net.places.len()] };
        let marked: Vec<usize> = net.initial().into_keys().collect();
        for &p in &marked {
            marked.iter().for_each(|&q| set(&mut together.rows[p], q));
        }
        together
    }

    /// Lets every transition fire until nothing changes; `false` when one may put a second token on a place.
    fn is_closed(&mut self, net: &Net) -> bool {
        loop {
            let mut changed = false;
            for a in &net.transitions {
                let pre: Vec<usize> = a.pre.keys().copied().collect();
                if !pre.iter().all(|&p| pre.iter().all(|&q| has(&self.rows[p], q))) {
                    continue;
                }
                let beside = self.beside(&pre);
                if a.produced().any(|place| has(&beside, place)) {
                    return false;
                }
                changed |= self.join(&a.post.keys().copied().collect::<Vec<_>>(), &beside);
            }
            if !changed {
                return true;
            }
        }
    }

    /// The places outside `pre` that may be marked together with all of it.
    fn beside(&self, pre: &[usize]) -> Vec<u64> {
        let mut beside = pre.first().map_or_else(|| self.alive(), |&first| self.rows[first].clone());
        for &p in pre {
            beside.iter_mut().zip(&self.rows[p]).for_each(|(word, other)| *word &= other);
        }
        pre.iter().for_each(|&p| beside[p / 64] &= !(1 << (p % 64)));
        beside
    }

    /// The places that may be marked.
    fn alive(&self) -> Vec<u64> {
        let mut alive = vec![0; self.rows.len().div_ceil(64)];
        (0..self.rows.len()).filter(|&p| has(&self.rows[p], p)).for_each(|p| set(&mut alive, p));
        alive
    }

    /// Brings the places of `post` together with one another and with those beside; whether that was new.
    fn join(&mut self, post: &[usize], beside: &[u64]) -> bool {
        let mut all = beside.to_vec();
        post.iter().for_each(|&p| set(&mut all, p));
        let mut changed = false;
        for &p in post {
            for (word, new) in self.rows[p].iter_mut().zip(&all) {
                changed |= *new & !*word != 0;
                *word |= new;
            }
            for q in (0..self.rows.len()).filter(|&q| has(&all, q)) {
                set(&mut self.rows[q], p);
            }
        }
        changed
    }
}

fn has(row: &[u64], place: usize) -> bool {
    row[place / 64] >> (place % 64) & 1 == 1
}

fn set(row: &mut [u64], place: usize) {
    row[place / 64] |= 1 << (place % 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Philosophers who take one fork after the other: far too many markings to look at each.
    #[test]
    fn a_hundred_philosophers_are_safe() {
        let mut net = Net::new("philosophers");
        let forks: Vec<usize> = (0..100).map(|i| net.add_place(format!("fork{i}"), 1)).collect();
        for i in 0..100 {
            let [thinks, holds, eats] =
                ["thinks", "holds", "eats"].map(|s| net.add_place(format!("{s}{i}"), u64::from(s == "thinks")));
            let next = forks[(i + 1) % 100];
            net.add_transition(format!("left{i}"), &[thinks, forks[i]], &[holds]);
            net.add_transition(format!("right{i}"), &[holds, next], &[eats]);
            net.add_transition(format!("release{i}"), &[eats], &[thinks, forks[i], next]);
        }
        assert!(is_safe(&net));
        net.add_transition("more", &[forks[0]], &[forks[0], forks[1]]);
        assert!(!is_safe(&net));
    }

    #[test]
    fn a_source_of_tokens_is_not_safe() {
        let mut net = Net::new("source");
        let p = net.add_place("p", 0);
        net.add_transition("make", &[], &[p]);
        assert!(!is_safe(&net));
    }
}
