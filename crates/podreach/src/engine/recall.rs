//! Searches of earlier runs, found again by all that an engine sees.
//!
//! What engines find is a function of the compiled system: classes by number, rules over sums of them, the start and the goals. So a
//! search is remembered under exactly that. A cluster that differs elsewhere compiles to the same system and gets the same run or the
//! same groups; how they are made into evidence about today's cluster is worked out as ever. Nothing that is remembered is believed: a
//! run is tried on the system first, and the checker looks at what came of it like at any engine's claim.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::form::State;
use super::group::{self, Class, Group};
use super::portfolio::{self, Outcome};
use super::run::{Parts, Run};
use super::{Budget, Engine, Found, System};

/// Where earlier runs left what they found out.
pub trait Memory: Sync {
    /// What was kept for a question.
    fn recall(&self, question: &str) -> Option<String>;
    /// Keeps an answer for a question.
    fn keep(&self, question: &str, answer: &str);
}

/// A memory that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

impl Memory for Forgetful {
    fn recall(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, _: &str, _: &str) {}
}

/// What is kept of a search: the question; the engine; how often it asked whether to stop, which is what it takes of a budget that
/// counts work; a run, or else groups, and whether all of these matter.
type Kept = (String, String, u64, Option<Parts>, Option<Vec<Group>>, bool);

/// So often is asked whether to stop where nothing is searched; a budget that counts more than this is not spent by looking up.
const ASKED: u64 = 1 << 20;

/// What the portfolio finds, from an earlier run if there is one.
pub(super) fn portfolio(system: &System, engines: &'static [Engine], budget: &Budget<'_>) -> Outcome {
    let Some(memory) = budget.known else { return portfolio::portfolio(system, engines, budget) };
    let question = question(system, engines, budget);
    let known = memory.recall(&question).and_then(|text| serde_json::from_str::<Kept>(&text).ok());
    if let Some(kept) = known.filter(|kept| kept.0 == question)
        && let Some(outcome) = again(kept, system, budget)
    {
        return outcome;
    }
    let asked = AtomicU64::new(0);
    let interrupt = || {
        asked.fetch_add(1, Ordering::Relaxed);
        (budget.interrupt)()
    };
    let outcome = portfolio::portfolio(system, engines, &Budget { interrupt: &interrupt, known: None, ..*budget });
    let asked = asked.into_inner();
    if let Some(kept) = kept(&question, &outcome, asked) {
        memory.keep(&question, &json!(kept).to_string());
    }
    outcome
}

/// All that a search depends on, as a number. How much memory it has, and whether engines take turns, may change which run is found.
fn question(system: &System, engines: &[Engine], budget: &Budget<'_>) -> String {
    let rules: Vec<_> = system.rules.iter().map(|rule| (rule.head, &rule.guard, rule.consumes)).collect();
    let tables = (system.classes.len(), rules, &system.start, &system.goals, &system.forms.weights);
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    json!(["search", names, budget.memory, budget.threads == 1, number(&format!("{tables:?}"))]).to_string()
}

/// A number for a text, wide enough that no two texts that anyone meets share it by accident: FNV-1a of 128 bits.
pub(crate) fn number(text: &str) -> String {
    let fold = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    format!("{:032x}", text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, fold))
}

/// What is worth keeping: a decision, and nothing that was cut short.
fn kept(question: &str, outcome: &Outcome, asked: u64) -> Option<Kept> {
    let (run, groups, reduced) = match &outcome.found {
        Found::Reached(run) => (Some(run.parts()), None, false),
        Found::Never(groups) => (None, Some(groups.clone()), false),
        Found::Reduced(groups) => (None, Some(groups.clone()), true),
        Found::Spent | Found::Stopped { .. } => return None,
    };
    Some((question.to_owned(), outcome.engine.to_owned(), asked, run, groups, reduced))
}

/// The same outcome again, if it makes sense for the system and the budget has room for it.
fn again((_, engine, asked, run, groups, reduced): Kept, system: &System, budget: &Budget<'_>) -> Option<Outcome> {
    let engine = Engine::ALL.into_iter().map(Engine::name).chain(["pairs"]).find(|name| *name == engine)?;
    let found = match (run.map(Run::from_parts), groups) {
        (Some(run), None) if run.is_legal(system) => Found::Reached(run),
        (None, Some(groups)) if groups.iter().all(|group| is_group(system, group)) => {
            if reduced {
                Found::Reduced(groups)
            } else {
                Found::Never(groups)
            }
        }
        _ => return None,
    };
    // A budget of work is spent as if the work had been done, so that the rest of the question gets no more than it would.
    let spent = (0..asked.min(ASKED)).any(|_| (budget.interrupt)().is_some());
    (!spent).then_some(Outcome { found, engine, efforts: Vec::new() })
}

/// Whether a list is a group of a system: sorted classes, each at least once.
fn is_group(system: &System, group: &[(Class, u64)]) -> bool {
    let ascending = group.windows(2).all(|pair| pair[0].0 < pair[1].0);
    ascending && group.iter().all(|&(class, count)| (class as usize) < system.classes.len() && count > 0)
}

impl Run {
    /// Whether it is a run of a system to one of its goals.
    fn is_legal(&self, system: &System) -> bool {
        let has = |group: &Group| is_group(system, group);
        if !self.is_whole(system) || !has(self.needs()) || !has(self.reaches()) {
            return false;
        }
        if self.needs().iter().any(|&(class, count)| system.start[class as usize] < count) {
            return false;
        }
        let mut state = State::of_group(&system.forms, self.needs());
        for (rule, drops) in self.deployments() {
            let rule = &system.rules[rule];
            if !rule.guard.is_bounded(&state) || rule.guard.needed(&state).is_some() {
                return false;
            }
            for class in drops {
                if state.counts[class as usize] == 0 {
                    return false;
                }
                state.remove(&system.forms, class, 1);
            }
            state.add(&system.forms, rule.head, 1);
        }
        let there = state.group();
        let within = |goal: &Group| goal.iter().all(|&(class, count)| group::count(&there, class) >= count);
        within(self.reaches()) && system.goals.iter().any(within)
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn different_texts_have_different_numbers() {
        assert_ne!(number("a"), number("b"));
        assert_eq!(number(""), "6c62272e07bb014262b821756295c58d");
    }
}
