//! Net families: each a 1-safe net with the places that are asked for.

use podreach::encode::Encoded;
use podreach::encode::net::Net;
use podreach::encode::petri::Encoding;
use podreach_core::Semantics;

/// A net and the places to be marked together.
pub(crate) struct Query {
    pub(crate) net: Net,
    pub(crate) goal: Vec<usize>,
}

impl Query {
    /// The question as a cluster, through the paper's encoding.
    pub(crate) fn encoded(&self) -> Encoded {
        Encoding::new(&self.net, &self.goal, Semantics::Paper).encoded()
    }
}

/// One place per index, all with the same number of tokens.
fn row(net: &mut Net, name: &str, n: usize, tokens: u64) -> Vec<usize> {
    (0..n).map(|i| net.add_place(format!("{name}{i}"), tokens)).collect()
}

struct Table {
    net: Net,
    first_fork: Vec<usize>,
    eating: Vec<usize>,
}

/// `n` philosophers who all take the left fork first.
fn table(n: usize) -> Table {
    let mut net = Net::new(format!("philosophers-{n}"));
    let [forks, thinking] = ["fork", "thinking"].map(|name| row(&mut net, name, n, 1));
    let [first_fork, eating] = ["first", "eating"].map(|name| row(&mut net, name, n, 0));
    for seat in 0..n {
        let (left, right) = (forks[seat], forks[(seat + 1) % n]);
        net.add_transition(format!("reach{seat}"), &[thinking[seat], left], &[first_fork[seat]]);
        net.add_transition(format!("begin{seat}"), &[first_fork[seat], right], &[eating[seat]]);
        net.add_transition(format!("finish{seat}"), &[eating[seat]], &[thinking[seat], left, right]);
    }
    Table { net, first_fork, eating }
}

/// Can two neighbours eat at the same time? Never: they share a fork.
pub(crate) fn philosophers_mutex(n: usize) -> Query {
    let Table { net, eating, .. } = table(n);
    Query { net, goal: eating[..2].to_vec() }
}

/// Can everyone hold the left fork and wait for the right one?
pub(crate) fn philosophers_deadlock(n: usize) -> Query {
    let Table { net, first_fork, .. } = table(n);
    Query { net, goal: first_fork }
}

/// A binary counter, and the places of its bits.
struct Counter {
    net: Net,
    off: Vec<usize>,
    on: Vec<usize>,
}

fn bits(n: usize) -> Counter {
    let mut net = Net::new(format!("counter-{n}"));
    let (off, on) = (row(&mut net, "off", n, 1), row(&mut net, "on", n, 0));
    for bit in 0..n {
        let take: Vec<usize> = on[..bit].iter().copied().chain([off[bit]]).collect();
        let give: Vec<usize> = off[..bit].iter().copied().chain([on[bit]]).collect();
        net.add_transition(format!("carry{bit}"), &take, &give);
    }
    Counter { net, off, on }
}

/// Does a binary counter of `n` bits reach its end? After 2ⁿ − 1 firings and not before.
pub(crate) fn counter(n: usize) -> Query {
    let Counter { net, on, .. } = bits(n);
    Query { net, goal: on }
}

/// Can the lowest bit of a counter be both on and off? Never.
pub(crate) fn counter_torn(n: usize) -> Query {
    let Counter { net, off, on } = bits(n);
    Query { net, goal: vec![off[0], on[0]] }
}

/// `n` stations that pass one token around.
struct Ring {
    net: Net,
    waiting: Vec<usize>,
    critical: Vec<usize>,
}

fn ring(n: usize) -> Ring {
    let mut net = Net::new(format!("token-ring-{n}"));
    let token: Vec<usize> = (0..n).map(|i| net.add_place(format!("token{i}"), u64::from(i == 0))).collect();
    let idle = row(&mut net, "idle", n, 1);
    let [waiting, critical] = ["waiting", "critical"].map(|name| row(&mut net, name, n, 0));
    for station in 0..n {
        let (here, next) = (token[station], token[(station + 1) % n]);
        net.add_transition(format!("want{station}"), &[idle[station]], &[waiting[station]]);
        net.add_transition(format!("enter{station}"), &[waiting[station], here], &[critical[station]]);
        net.add_transition(format!("leave{station}"), &[critical[station]], &[idle[station], next]);
        net.add_transition(format!("hand{station}"), &[idle[station], here], &[idle[station], next]);
    }
    Ring { net, waiting, critical }
}

/// Can two stations be in the critical section? Never.
pub(crate) fn token_ring(n: usize) -> Query {
    let Ring { net, critical, .. } = ring(n);
    Query { net, goal: vec![critical[0], critical[n / 2]] }
}

/// Can the last station be in the critical section while all others wait?
pub(crate) fn token_ring_crowded(n: usize) -> Query {
    let Ring { net, mut waiting, critical } = ring(n);
    waiting[n - 1] = critical[n - 1];
    Query { net, goal: waiting }
}

/// The Chinese rings: ring `i` moves only when ring `i − 1` is off the bar and all before it are on it.
struct Puzzle {
    net: Net,
    last: usize,
    broken: usize,
}

fn puzzle(n: usize) -> Puzzle {
    let mut net = Net::new(format!("chinese-rings-{n}"));
    let (on, off) = (row(&mut net, "on", n, 1), row(&mut net, "off", n, 0));
    let broken = net.add_place("broken", 0);
    for ring in 0..n {
        let mut context: Vec<usize> = on[..ring.saturating_sub(1)].to_vec();
        context.extend(ring.checked_sub(1).map(|before| off[before]));
        let with = |place: usize| context.iter().copied().chain([place]).collect::<Vec<_>>();
        net.add_transition(format!("lift{ring}"), &with(on[ring]), &with(off[ring]));
        net.add_transition(format!("lower{ring}"), &with(off[ring]), &with(on[ring]));
    }
    net.add_transition("break", &[on[0], off[0]], &[on[0], broken]);
    Puzzle { last: off[n - 1], broken, net }
}

/// Can the last ring come off the bar? After exponentially many moves.
pub(crate) fn rings_solved(n: usize) -> Query {
    let Puzzle { net, last, .. } = puzzle(n);
    Query { net, goal: vec![last] }
}

/// Can the last ring be off while a ring is broken, which takes one that is on and off the bar? Never.
pub(crate) fn rings_broken(n: usize) -> Query {
    let Puzzle { net, last, broken } = puzzle(n);
    Query { net, goal: vec![last, broken] }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use podreach::encode::net::{Marking, covers};

    use super::*;

    /// How many firings a shortest run to the goal takes, by visiting every marking.
    fn distance(query: &Query) -> Option<usize> {
        let mut seen: BTreeSet<Marking> = BTreeSet::from([query.net.initial()]);
        let mut layer: Vec<Marking> = seen.iter().cloned().collect();
        for steps in 0.. {
            if layer.is_empty() {
                return None;
            }
            if layer.iter().any(|marking| covers(marking, &query.goal)) {
                return Some(steps);
            }
            let next = |m: &Marking| (0..query.net.transitions.len()).filter_map(|t| query.net.fire(m, t)).collect();
            let reached: Vec<Marking> = layer.iter().flat_map(|m| -> Vec<Marking> { next(m) }).collect();
            layer = reached.into_iter().filter(|marking| seen.insert(marking.clone())).collect();
        }
        None
    }

    #[test]
    fn families_are_what_they_say() {
        assert_eq!(distance(&philosophers_mutex(4)), None);
        assert_eq!(distance(&philosophers_deadlock(4)), Some(4));
        assert_eq!(distance(&counter(5)), Some(31));
        assert_eq!(distance(&counter_torn(5)), None);
        assert_eq!(distance(&token_ring(4)), None);
        // The token is handed on three times, and everyone asks for it.
        assert_eq!(distance(&token_ring_crowded(4)), Some(8));
        assert_eq!(distance(&rings_solved(5)), Some(16));
        assert_eq!(distance(&rings_broken(5)), None);
    }
}
