//! A portfolio: engines side by side, in rounds of doubling portions of work, until one decides.
//!
//! Portions count work and not time, so the same problem always ends with the same evidence, on any number of threads. An engine whose
//! open list keeps growing gets a smaller share, and so does one that runs beside an engine making progress. After Gomes and Selman,
//! *Algorithm Portfolios* (Artificial Intelligence 126, 2001).
//!
//! Invariant: what one engine decides alone is decided, if the memory suffices for it alone. Cost: at most a constant factor over the best
//! engine alone.

use std::sync::Mutex;

use podreach_core::Learned;
use podreach_core::cancel::Token;

use crate::backward::Backward;
use crate::budget::{Budget, Stop};
use crate::compile::System;
use crate::evidence::reduced;
use crate::forward::Staged;
use crate::ic3::Ic3;
use crate::mutex::Mutexes;
use crate::pursuit::{Effort, Engine, Found, Outlook, Pursuit};

/// How a portfolio ended.
pub struct Outcome {
    pub found: Found,
    pub engine: &'static str,
    pub efforts: Vec<Effort>,
}

type Entrant<'a> = (Engine, Box<dyn Pursuit + Send + 'a>);

/// The first portion.
const WORK: u64 = 256;

/// Portions that are not worth a thread.
const BRIEF: u64 = 1 << 12;

/// By how much a portion is cut while another engine has a good outlook, and while its own is bad.
const BESIDE_GOOD: u64 = 16;
const BAD: u64 = 4;

/// The portions of a round: less for engines that expect little of themselves, or that run beside one that expects much.
fn portions(running: &[Entrant<'_>], work: u64) -> Vec<u64> {
    let outlooks: Vec<Outlook> = running.iter().map(|(_, pursuit)| pursuit.outlook()).collect();
    let any_good = outlooks.contains(&Outlook::Good);
    outlooks.iter().map(|outlook| portion(work, any_good, outlook)).collect()
}

fn portion(work: u64, any_good: bool, outlook: &Outlook) -> u64 {
    match outlook {
        Outlook::Good => work,
        _ if any_good => work / BESIDE_GOOD,
        Outlook::Bad => work / BAD,
        Outlook::Open => work,
    }
}

/// Up to so many classes, mutexes cost less than following relaxed plans; they then come first, since they lead to shorter plans.
const FEW: usize = 256;

/// What can end early comes first: relaxed plans, then mutexes, then the engines.
pub fn portfolio(system: &System, engines: &'static [Engine], budget: &Budget<'_>) -> Outcome {
    let climbs = system.classes.len() > FEW && engines.contains(&Engine::Forward);
    let mut staged = climbs.then(|| Staged::new(system));
    if let Some(found) = staged.as_mut().and_then(|staged| staged.follow_to_the_end(budget)) {
        return Outcome {
            found,
            engine: Engine::Forward.name(),
            efforts: Vec::from_iter(staged.map(|a| a.as_effort())),
        };
    }
    let climbed = staged.as_ref().map(Staged::as_effort);
    let mutexes = match Mutexes::new(system, budget) {
        Ok(mutexes) => mutexes,
        Err(stop) => {
            let found = Found::Stopped { stop, learned: Learned::default() };
            return Outcome { found, engine: "pairs", efforts: Vec::from_iter(climbed) };
        }
    };
    let mut outcome = if system.goals.iter().all(|goal| mutexes.mutex_in(goal).is_some()) {
        Outcome { found: Found::Never(Vec::new()), engine: "pairs", efforts: Vec::from_iter(climbed) }
    } else {
        with_mutexes(system, &mutexes, engines, staged, budget)
    };
    if let Found::Never(groups) = &outcome.found
        && let Some(needed) = reduced(system, &mutexes, groups.clone())
    {
        outcome.found = Found::Reduced(needed);
    }
    outcome
}

/// Lets engines work side by side, each with its share of the memory; where that is not enough, one after the other with all of it.
/// So whatever one of them decides alone is decided.
fn with_mutexes<'a>(
    system: &'a System,
    mutexes: &'a Mutexes,
    engines: &'static [Engine],
    staged: Option<Staged<'a>>,
    budget: &Budget<'_>,
) -> Outcome {
    let mut outcome = side_by_side(system, mutexes, engines, staged, budget);
    for engine in engines.iter().filter(|_| engines.len() > 1) {
        if outcome.lacks_memory() {
            outcome = outcome.then(side_by_side(system, mutexes, engine.alone(), None, budget));
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
/// and the others go on with more. The forward search goes on from its earlier stages.
fn side_by_side<'a>(
    system: &'a System,
    mutexes: &'a Mutexes,
    engines: &[Engine],
    mut staged: Option<Staged<'a>>,
    budget: &Budget<'_>,
) -> Outcome {
    let mut running: Vec<Entrant<'_>> = Vec::new();
    for &engine in engines {
        running.push(match staged.take_if(|_| engine == Engine::Forward) {
            Some(staged) => (engine, Box::new(staged)),
            None => (engine, pursuit(engine, system, mutexes)),
        });
    }
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
        // What an engine did in a round that an earlier one ended depends on the threads, so it is not reported.
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

/// The search of an engine, from its beginning.
fn pursuit<'a>(engine: Engine, system: &'a System, mutexes: &'a Mutexes) -> Box<dyn Pursuit + Send + 'a> {
    match engine {
        Engine::Backward => Box::new(Backward::new(system, mutexes)),
        Engine::Inductive => Box::new(Ic3::new(system, mutexes)),
        Engine::Forward => Box::new(Staged::new(system)),
    }
}

fn effort((engine, pursuit): &Entrant<'_>) -> Effort {
    Effort { part: engine.name(), counts: pursuit.effort() }
}

/// One portion each, one after the other; nobody needs to work once a more important engine has decided.
fn in_turn(running: &mut [Entrant<'_>], portions: &[u64], budget: &Budget<'_>) -> Vec<Option<Found>> {
    let mut found = Vec::new();
    for ((_, pursuit), &work) in running.iter_mut().zip(portions) {
        found.push(pursuit.pursue(work, budget));
        if matches!(found.last(), Some(Some(Found::Reached(_) | Found::Never(_) | Found::Reduced(_)))) {
            break;
        }
    }
    found
}

fn in_parallel(running: &mut [Entrant<'_>], portions: &[u64], budget: &Budget<'_>) -> Vec<Option<Found>> {
    let token = Token::current().unwrap_or_default();
    let (count, found) = (running.len(), Mutex::new(Vec::new()));
    let pursuits = Mutex::new(running.iter_mut().zip(portions).enumerate());
    let next = || pursuits.lock().expect("no engine has the lock").next();
    let pursue_all = || {
        while let Some((at, ((_, pursuit), &work))) = next() {
            let result = token.during(|| pursuit.pursue(work, budget)).unwrap_or_else(given_up);
            found.lock().expect("no engine has the lock").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        // Where there are no more threads, engines take turns on those that there are.
        (1..count).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, pursue_all)));
        pursue_all();
    });
    let mut found = found.into_inner().expect("no engine has the lock");
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, result)| result).collect()
}

fn given_up(stop: Stop) -> Option<Found> {
    Some(Found::Stopped { stop, learned: Learned::default() })
}
