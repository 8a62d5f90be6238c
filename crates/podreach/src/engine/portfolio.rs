//! Engines side by side, in rounds of growing portions of work, until one decides.
//!
//! Portions count work and not time, so that the same problem always ends with the same evidence, on any number of threads.

use podreach_core::Learned;

use super::pairs::Pairs;
use super::{Budget, Engine, Found, Stop, System};

/// A search that works in portions, so that several can take turns.
pub trait Pursuit {
    /// Works on; `None` when the portion is used up and nothing is decided.
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found>;
    /// Whether there is nothing left to look at, although nothing is decided.
    fn is_spent(&self) -> bool {
        false
    }
    /// What it did so far.
    fn effort(&self) -> Vec<(&'static str, u64)>;
}

/// What a part of a search did, in numbers that do not depend on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The part: an engine, or the compiled system.
    pub part: &'static str,
    /// What was counted, and how many.
    pub counts: Vec<(&'static str, u64)>,
}

/// How a portfolio ended.
pub struct Outcome {
    pub found: Found,
    pub engine: &'static str,
    pub efforts: Vec<Effort>,
}

type Running<'a> = (Engine, Box<dyn Pursuit + Send + 'a>);

/// The first portion.
const WORK: u64 = 256;

/// Lets engines work until one decides; of several in one round, the first in the list. An engine that runs out of memory retires,
/// and the others go on.
pub fn portfolio(system: &System, pairs: &Pairs, engines: &[Engine], budget: &Budget<'_>) -> Outcome {
    let mut running: Vec<Running<'_>> = engines.iter().map(|&engine| (engine, engine.pursuit(system, pairs))).collect();
    let (mut learned, mut retired, mut work) = (Learned::default(), Vec::new(), WORK);
    loop {
        let before: Vec<Effort> = running.iter().map(effort).collect();
        let round = if budget.threads > 1 {
            in_parallel(&mut running, work, budget)
        } else {
            in_turn(&mut running, work, budget)
        };
        // What an engine did in a round that an earlier one ended depends on the threads, so it is not told.
        let efforts = |decided: usize| {
            let efforts = running.iter().zip(before).enumerate();
            efforts
                .map(|(at, (running, before))| if at <= decided { effort(running) } else { before })
                .collect::<Vec<_>>()
        };
        let mut stopped = Vec::new();
        for (at, found) in round.into_iter().enumerate() {
            match found {
                Some(Found::Stopped { stop, learned: more }) => {
                    learned.deployments_ruled_out = learned.deployments_ruled_out.max(more.deployments_ruled_out);
                    learned.explored += more.explored;
                    stopped.push((at, stop));
                }
                Some(found) => {
                    retired.extend(efforts(at));
                    return Outcome { found, engine: running[at].0.name(), efforts: retired };
                }
                None => {}
            }
        }
        let all = stopped.len() == running.len();
        if let Some(&(_, stop)) = stopped.iter().find(|(_, stop)| *stop != Stop::Memory || all) {
            retired.extend(efforts(usize::MAX));
            return Outcome { found: Found::Stopped { stop, learned }, engine: engines[0].name(), efforts: retired };
        }
        for (at, _) in stopped.into_iter().rev() {
            retired.push(effort(&running.remove(at)));
        }
        if running.iter().all(|(_, pursuit)| pursuit.is_spent()) {
            retired.extend(running.iter().map(effort));
            return Outcome { found: Found::Spent, engine: engines[0].name(), efforts: retired };
        }
        work *= 2;
    }
}

fn effort((engine, pursuit): &Running<'_>) -> Effort {
    Effort { part: engine.name(), counts: pursuit.effort() }
}

/// One portion each, one after the other; nobody needs to work once a more important engine has decided.
fn in_turn(running: &mut [Running<'_>], work: u64, budget: &Budget<'_>) -> Vec<Option<Found>> {
    let mut found = Vec::new();
    for (_, pursuit) in running {
        found.push(pursuit.pursue(work, budget));
        if matches!(found.last(), Some(Some(Found::Reached(_) | Found::Never(_) | Found::Reduced(_)))) {
            break;
        }
    }
    found
}

fn in_parallel(running: &mut [Running<'_>], work: u64, budget: &Budget<'_>) -> Vec<Option<Found>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            running.iter_mut().map(|(_, pursuit)| scope.spawn(|| pursuit.pursue(work, budget))).collect();
        threads.into_iter().map(|thread| thread.join().expect("engines do not panic")).collect()
    })
}
