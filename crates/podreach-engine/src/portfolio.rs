//! Engines side by side, in rounds of growing portions of work, until one decides.
//!
//! Portions count work and not time, so that the same problem always ends with the same evidence, on any number of threads.

use std::sync::Mutex;

use podreach_core::Learned;
use podreach_core::cancel::Token;

use super::ahead::Ahead;
use super::pairs::Pairs;
use super::reduce::reduced;
use super::{Budget, Engine, Found, Stop, System};

/// A search that works in portions, so that several can take turns.
pub trait Pursuit {
    /// Works on; `None` when the portion is used up and nothing is decided.
    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found>;
    /// Whether there is nothing left to look at, although nothing is decided.
    fn is_spent(&self) -> bool {
        false
    }
    /// Whether it seems to get anywhere.
    fn outlook(&self) -> Outlook {
        Outlook::Open
    }
    /// What it did so far.
    fn effort(&self) -> Vec<(&'static str, u64)>;
}

/// What a search thinks of its own chances; it depends on what was done, and on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It may well come to an end.
    Good,
    /// Nobody knows.
    Open,
    /// It sees more and more to do.
    Bad,
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

/// Portions that are not worth a thread.
const BRIEF: u64 = 1 << 12;

/// By how much a portion is cut while another engine has a good outlook, and while its own is bad.
const BESIDE_GOOD: u64 = 16;
const BAD: u64 = 4;

/// The portions of a round. Work is not fair where one engine can tell that it is its turn, or that it is not.
fn portions(running: &[Running<'_>], work: u64) -> Vec<u64> {
    let outlooks: Vec<Outlook> = running.iter().map(|(_, pursuit)| pursuit.outlook()).collect();
    let any_good = outlooks.contains(&Outlook::Good);
    let portion = |outlook: &Outlook| match outlook {
        Outlook::Good => work,
        _ if any_good => work / BESIDE_GOOD,
        Outlook::Bad => work / BAD,
        Outlook::Open => work,
    };
    outlooks.iter().map(portion).collect()
}

/// Up to so many classes, all pairs cost less than a climb; they then come first, since they make shorter runs.
const FEW: usize = 256;

/// What can end early comes first: a climb, then the pairs, then the engines.
pub fn portfolio(system: &System, engines: &'static [Engine], budget: &Budget<'_>) -> Outcome {
    let climbs = system.classes.len() > FEW && engines.contains(&Engine::Forward);
    let mut ahead = climbs.then(|| Ahead::new(system));
    if let Some(found) = ahead.as_mut().and_then(|ahead| ahead.climb_to_the_end(budget)) {
        return Outcome {
            found,
            engine: Engine::Forward.name(),
            efforts: Vec::from_iter(ahead.map(|a| a.as_effort())),
        };
    }
    let climbed = ahead.as_ref().map(Ahead::as_effort);
    let pairs = match Pairs::new(system, budget) {
        Ok(pairs) => pairs,
        Err(stop) => {
            let found = Found::Stopped { stop, learned: Learned::default() };
            return Outcome { found, engine: "pairs", efforts: Vec::from_iter(climbed) };
        }
    };
    let mut outcome = if system.goals.iter().all(|goal| pairs.exclusive(goal).is_some()) {
        Outcome { found: Found::Never(Vec::new()), engine: "pairs", efforts: Vec::from_iter(climbed) }
    } else {
        with_pairs(system, &pairs, engines, ahead, budget)
    };
    if let Found::Never(groups) = &outcome.found
        && let Some(needed) = reduced(system, &pairs, groups.clone())
    {
        outcome.found = Found::Reduced(needed);
    }
    outcome
}

/// Lets engines work side by side, each with its share of the memory; where that is not enough, one after the other with all of it.
/// So whatever one of them decides alone is decided.
fn with_pairs<'a>(
    system: &'a System,
    pairs: &'a Pairs,
    engines: &'static [Engine],
    ahead: Option<Ahead<'a>>,
    budget: &Budget<'_>,
) -> Outcome {
    let mut outcome = side_by_side(system, pairs, engines, ahead, budget);
    for engine in engines.iter().filter(|_| engines.len() > 1) {
        if outcome.lacks_memory() {
            outcome = outcome.then(side_by_side(system, pairs, engine.alone(), None, budget));
        }
    }
    outcome
}

impl Outcome {
    fn lacks_memory(&self) -> bool {
        matches!(self.found, Found::Spent | Found::Stopped { stop: Stop::Memory, .. })
    }

    /// What came of another try: what it decided or why it did not, and all that was done.
    fn then(self, again: Self) -> Self {
        let mut efforts = self.efforts;
        for more in again.efforts {
            match efforts.iter_mut().find(|effort| effort.part == more.part) {
                Some(effort) => effort.counts.iter_mut().zip(more.counts).for_each(|(sum, more)| sum.1 += more.1),
                None => efforts.push(more),
            }
        }
        match again.found {
            Found::Spent => Self { efforts, ..self },
            found => Self { found, engine: again.engine, efforts },
        }
    }
}

/// Lets engines work until one decides; of several in one round, the first in the list. An engine that runs out of memory retires,
/// and the others go on with more. The forward search goes on where it was ahead.
fn side_by_side<'a>(
    system: &'a System,
    pairs: &'a Pairs,
    engines: &[Engine],
    mut ahead: Option<Ahead<'a>>,
    budget: &Budget<'_>,
) -> Outcome {
    let mut pursuit = |engine: Engine| -> Box<dyn Pursuit + Send + 'a> {
        match (engine, ahead.take_if(|_| engine == Engine::Forward)) {
            (_, Some(ahead)) => Box::new(ahead),
            (engine, None) => engine.pursuit(system, pairs),
        }
    };
    let mut running: Vec<Running<'_>> = engines.iter().map(|&engine| (engine, pursuit(engine))).collect();
    let (mut learned, mut retired, mut work) = (Learned::default(), Vec::new(), WORK);
    loop {
        let before: Vec<Effort> = running.iter().map(effort).collect();
        let (portions, share) = (portions(&running, work), budget.memory / running.len());
        let share = Budget { memory: share, ..*budget };
        let round = if budget.threads > 1 && work > BRIEF {
            in_parallel(&mut running, &portions, &share)
        } else {
            in_turn(&mut running, &portions, &share)
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
fn in_turn(running: &mut [Running<'_>], portions: &[u64], budget: &Budget<'_>) -> Vec<Option<Found>> {
    let mut found = Vec::new();
    for ((_, pursuit), &work) in running.iter_mut().zip(portions) {
        found.push(pursuit.pursue(work, budget));
        if matches!(found.last(), Some(Some(Found::Reached(_) | Found::Never(_) | Found::Reduced(_)))) {
            break;
        }
    }
    found
}

fn in_parallel(running: &mut [Running<'_>], portions: &[u64], budget: &Budget<'_>) -> Vec<Option<Found>> {
    let token = Token::current().unwrap_or_default();
    let (count, found) = (running.len(), Mutex::new(Vec::new()));
    let pursuits = Mutex::new(running.iter_mut().zip(portions).enumerate());
    let next = || pursuits.lock().expect("no engine has the lock").next();
    let work = || {
        while let Some((at, ((_, pursuit), &work))) = next() {
            let result = token.during(|| pursuit.pursue(work, budget)).unwrap_or_else(given_up);
            found.lock().expect("no engine has the lock").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        // Where there are no more threads, engines take turns on those that there are.
        (1..count).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    let mut found = found.into_inner().expect("no engine has the lock");
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, result)| result).collect()
}

fn given_up(stop: Stop) -> Option<Found> {
    Some(Found::Stopped { stop, learned: Learned::default() })
}
