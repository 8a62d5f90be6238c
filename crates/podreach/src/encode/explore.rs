//! Native search of a net: breadth first, marking by marking, within a bound.
//!
//! Two questions need it: is the net 1-safe (the encodings are right for such nets only), and, in tests, is the goal coverable?
//! Both are as hard as the question that is being encoded, so the search gives up when its effort is spent.

use std::collections::HashMap;

use super::concurrency::is_safe;
use super::net::{Marking, Net, covers};

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explored {
    /// A marking of the kind looked for, by the firings that lead to it.
    Found(Vec<usize>),
    /// All reachable markings were seen; none is of that kind.
    Absent,
    /// The effort was spent first.
    Spent,
}

/// Whether a net is 1-safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Safety {
    /// No reachable marking has two tokens on a place.
    Safe,
    /// These firings put a second token on this place.
    Unsafe {
        /// The place.
        place: usize,
        /// The firings.
        firings: Vec<usize>,
    },
    /// The search gave up.
    Undecided,
}

/// Looks for a reason why there is never a second token on a place, and then for a run, trying at most `effort` firings.
pub fn safety(net: &Net, effort: usize) -> Safety {
    if is_safe(net) { Safety::Safe } else { searched(net, effort) }
}

/// Looks for a second token on some place, trying at most `effort` firings.
pub fn searched(net: &Net, effort: usize) -> Safety {
    match explore(net, effort, |marking| crowded(marking).is_some()) {
        Explored::Absent => Safety::Safe,
        Explored::Spent => Safety::Undecided,
        Explored::Found(firings) => {
            let marking = net.replay(&firings).expect("the search fires what is enabled");
            Safety::Unsafe { place: crowded(&marking).expect("the search ends where a place is crowded"), firings }
        }
    }
}

/// A place with more than one token.
fn crowded(marking: &Marking) -> Option<usize> {
    marking.iter().find(|&(_, &tokens)| tokens > 1).map(|(&place, _)| place)
}

/// Looks for a marking that covers the goal, trying at most `effort` firings.
pub fn coverage(net: &Net, goal: &[usize], effort: usize) -> Explored {
    explore(net, effort, |marking| covers(marking, goal))
}

/// Looks for a marking with a property, in the order of the number of firings.
pub fn explore(net: &Net, effort: usize, found: impl Fn(&Marking) -> bool) -> Explored {
    let mut search = Search { reached: vec![(net.initial(), None)], seen: HashMap::from([(net.initial(), 0)]) };
    if found(&search.reached[0].0) {
        return Explored::Found(Vec::new());
    }
    let (mut next, mut tried) = (0, 0);
    while next < search.reached.len() {
        for transition in 0..net.transitions.len() {
            tried += 1;
            if tried > effort {
                return Explored::Spent;
            }
            let Some(marking) = net.fire(&search.reached[next].0, transition) else { continue };
            if let Some(index) = search.reach(marking, (next, transition))
                && found(&search.reached[index].0)
            {
                return Explored::Found(search.firings(index));
            }
        }
        next += 1;
    }
    Explored::Absent
}

struct Search {
    /// Each marking, and the marking and transition it was first reached by.
    reached: Vec<(Marking, Option<(usize, usize)>)>,
    seen: HashMap<Marking, usize>,
}

impl Search {
    /// The index of a marking that was not seen before.
    fn reach(&mut self, marking: Marking, from: (usize, usize)) -> Option<usize> {
        let index = self.reached.len();
        if self.seen.contains_key(&marking) {
            return None;
        }
        self.seen.insert(marking.clone(), index);
        self.reached.push((marking, Some(from)));
        Some(index)
    }

    fn firings(&self, mut index: usize) -> Vec<usize> {
        let mut firings = Vec::new();
        while let Some((before, transition)) = self.reached[index].1 {
            firings.push(transition);
            index = before;
        }
        firings.reverse();
        firings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice() -> Net {
        let mut net = Net::new("twice");
        let [p, q, r] = [net.add_place("p", 1), net.add_place("q", 1), net.add_place("r", 0)];
        net.add_transition("a", &[p], &[r]);
        net.add_transition("b", &[q], &[r]);
        net
    }

    #[test]
    fn a_second_token_is_found_with_its_run() {
        assert_eq!(safety(&twice(), 100), Safety::Unsafe { place: 2, firings: vec![0, 1] });
        assert_eq!(safety(&twice(), 1), Safety::Undecided);
    }

    #[test]
    fn a_run_to_the_goal_is_shortest() {
        assert_eq!(coverage(&twice(), &[0, 2], 100), Explored::Found(vec![1]));
        assert_eq!(coverage(&twice(), &[0, 1, 2], 100), Explored::Absent);
        assert_eq!(coverage(&twice(), &[], 0), Explored::Found(vec![]));
    }
}
