//! A cache of searches: found again by everything that an engine sees.
//!
//! What engines find is a function of the compiled system: classes by number, transitions over sums of them, the start and the goals. A
//! search is stored under a fingerprint of that. A cluster that differs elsewhere compiles to the same system and gets the same plan or
//! groups, which are made into evidence about today's cluster as usual. Nothing that is stored is trusted: a plan is tried on the system
//! first, and the checker treats what comes of it like the candidate of any engine.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::budget::Budget;
use crate::compile::{State, System};
use crate::group::{self as groups, Class, Group};
use crate::plan::Plan;
use crate::portfolio::{self, Outcome};
use crate::pursuit::{Engine, Found};

/// What is kept of a search.
struct Kept {
    engine: String,
    /// How often it asked whether to stop, which is what it takes of a budget that counts work.
    asked: u64,
    found: Found,
}

/// So often is asked whether to stop where nothing is searched; a budget that counts more than this is not spent by looking up.
const ASKED: u64 = 1 << 20;

/// What the portfolio finds, from the cache if it is there.
pub fn portfolio(system: &System, engines: &'static [Engine], budget: &Budget<'_>) -> Outcome {
    let Some(cache) = budget.cache else { return portfolio::portfolio(system, engines, budget) };
    let question = question(system, engines, budget);
    let known = cache.get(&question).and_then(|text| read(&question, &text));
    if let Some(kept) = known
        && let Some(outcome) = again(kept, system, budget)
    {
        return outcome;
    }
    let asked = AtomicU64::new(0);
    let interrupt = || {
        asked.fetch_add(1, Ordering::Relaxed);
        (budget.interrupt)()
    };
    let outcome = portfolio::portfolio(system, engines, &Budget { interrupt: &interrupt, cache: None, ..*budget });
    let asked = asked.into_inner();
    if let Some(text) = written(&question, &outcome, asked) {
        cache.put(&question, &text);
    }
    outcome
}

/// All that a search depends on, as a number. How much memory it has, and whether engines take turns, may change which plan is found.
fn question(system: &System, engines: &[Engine], budget: &Budget<'_>) -> String {
    let transitions: Vec<_> =
        system.transitions.iter().map(|transition| (transition.head, &transition.guard, transition.consumes)).collect();
    let tables = (system.classes.len(), transitions, &system.start, &system.goals, &system.sums.weights);
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    let system = fingerprint(&format!("{tables:?}"));
    format!("search {} {} {} {system}", names.join(","), budget.memory, budget.threads == 1)
}

/// A number for a text, wide enough that no two texts that anyone meets share it by accident: FNV-1a of 128 bits.
pub fn fingerprint(text: &str) -> String {
    format!("{:032x}", text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, fold))
}

fn fold(hash: u128, byte: u8) -> u128 {
    (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
}

/// What is worth keeping, as lines of numbers below the question: a decision, and nothing that was cut short.
fn written(question: &str, outcome: &Outcome, asked: u64) -> Option<String> {
    let (kind, lists) = match &outcome.found {
        Found::Reached(plan) => {
            let (tape, needs, reaches) = plan.parts();
            let tape = tape.into_iter().map(u64::from).collect();
            (REACHED, vec![tape, flat(&needs), flat(&reaches)])
        }
        Found::Never(groups) => (NEVER, groups.iter().map(|group| flat(group)).collect()),
        Found::Reduced(groups) => (REDUCED, groups.iter().map(|group| flat(group)).collect()),
        Found::Spent | Found::Stopped { .. } => return None,
    };
    let mut text = format!("{question}\n{} {asked} {kind}\n", outcome.engine);
    for list in lists {
        let numbers: Vec<String> = list.iter().map(u64::to_string).collect();
        text += &(numbers.join(" ") + "\n");
    }
    Some(text)
}

/// The kinds of what is kept.
const REACHED: &str = "reached";
const NEVER: &str = "never";
const REDUCED: &str = "reduced";

/// What was kept, if it was kept for this question and is in order.
fn read(question: &str, text: &str) -> Option<Kept> {
    let mut lines = text.strip_prefix(question)?.strip_prefix('\n')?.lines();
    let mut head = lines.next()?.split(' ');
    let (engine, asked, kind) = (head.next()?.to_owned(), head.next()?.parse().ok()?, head.next()?);
    let lists = lines.map(numbers).collect::<Option<Vec<Vec<u64>>>>()?;
    let found = match kind {
        REACHED => {
            let [tape, needs, reaches] = <[Vec<u64>; 3]>::try_from(lists).ok()?;
            let tape = tape.into_iter().map(|entry| u32::try_from(entry).ok()).collect::<Option<_>>()?;
            Found::Reached(Plan::from_parts((tape, group(&needs)?, group(&reaches)?)))
        }
        NEVER => Found::Never(lists.iter().map(|list| group(list)).collect::<Option<_>>()?),
        REDUCED => Found::Reduced(lists.iter().map(|list| group(list)).collect::<Option<_>>()?),
        _ => return None,
    };
    Some(Kept { engine, asked, found })
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

/// A group as numbers: each class, and then how many of it.
fn flat(group: &[(Class, u64)]) -> Vec<u64> {
    group.iter().flat_map(|&(class, count)| [class.into(), count]).collect()
}

fn group(numbers: &[u64]) -> Option<Group> {
    numbers.chunks(2).map(|pair| Some((Class::try_from(pair[0]).ok()?, *pair.get(1)?))).collect()
}

/// The same outcome again, if it makes sense for the system and the budget has room for it.
fn again(Kept { engine, asked, found }: Kept, system: &System, budget: &Budget<'_>) -> Option<Outcome> {
    let engine = Engine::ALL.into_iter().map(Engine::name).chain(["pairs"]).find(|name| *name == engine)?;
    let makes_sense = match &found {
        Found::Reached(plan) => plan.is_legal(system),
        Found::Never(groups) | Found::Reduced(groups) => groups.iter().all(|group| is_group(system, group)),
        Found::Spent | Found::Stopped { .. } => false,
    };
    if !makes_sense {
        return None;
    }
    // A budget of work is spent as if the work had been done, so that later searches get no more than they would.
    let spent = (0..asked.min(ASKED)).any(|_| (budget.interrupt)().is_some());
    (!spent).then_some(Outcome { found, engine, efforts: Vec::new() })
}

/// Whether a list is a group of a system: sorted classes, each at least once.
fn is_group(system: &System, group: &[(Class, u64)]) -> bool {
    let ascending = group.windows(2).all(|pair| pair[0].0 < pair[1].0);
    ascending && group.iter().all(|&(class, count)| (class as usize) < system.classes.len() && count > 0)
}

impl Plan {
    /// Whether it is a plan of a system for one of its goals.
    fn is_legal(&self, system: &System) -> bool {
        if !self.is_whole(system) || !is_group(system, self.needs()) || !is_group(system, self.reaches()) {
            return false;
        }
        if self.needs().iter().any(|&(class, count)| system.start[class as usize] < count) {
            return false;
        }
        let mut state = State::of_group(&system.sums, self.needs());
        for (transition, drops) in self.deployments() {
            let transition = &system.transitions[transition];
            if !transition.guard.is_bounded(&state) || transition.guard.needed(&state).is_some() {
                return false;
            }
            for class in drops {
                if state.counts[class as usize] == 0 {
                    return false;
                }
                state.remove(&system.sums, class, 1);
            }
            state.add(&system.sums, transition.head, 1);
        }
        let there = state.group();
        is_within(&there, self.reaches()) && system.goals.iter().any(|goal| is_within(&there, goal))
    }
}

fn is_within(there: &Group, goal: &Group) -> bool {
    goal.iter().all(|&(class, count)| groups::count(there, class) >= count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_have_different_numbers() {
        assert_ne!(fingerprint("a"), fingerprint("b"));
        assert_eq!(fingerprint(""), "6c62272e07bb014262b821756295c58d");
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_else_is() {
        let groups = vec![vec![(1, 2), (7, u64::MAX)], vec![], vec![(u32::MAX, 1)]];
        let plan = Plan::from_parts((vec![2, 5, 8], vec![(0, 1)], vec![(3, 9)]));
        for found in [Found::Never(groups.clone()), Found::Reduced(groups), Found::Reached(plan)] {
            let outcome = Outcome { found, engine: "inductive", efforts: Vec::new() };
            let text = written("who?", &outcome, 17).expect("a decision is kept");
            let kept = read("who?", &text).expect("it is in order");
            assert_eq!((kept.engine.as_str(), kept.asked), ("inductive", 17));
            assert_eq!(format!("{:?}", kept.found), format!("{:?}", outcome.found));
            assert!(read("whom?", &text).is_none() && read("who", &text).is_none());
            assert!(read("who?", &text.replace("17", "-1")).is_none() && read("who?", &(text + "x\n")).is_none());
        }
        assert!(read("who?", "who?\ninductive 1 never\n4294967296 1\n").is_none());
        assert!(read("who?", "who?\ninductive 1 never\n1 2 3\n").is_none());
    }
}
