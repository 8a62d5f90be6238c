//! Forward search over maximal configurations.
//!
//! More pods never hurt where they can be deleted at any time, so only maximal configurations matter. To deploy a pod, delete just what
//! its guard forbids: without capacity and spread that choice is unique, with capacity there is one per least eviction. Copies that no
//! guard and no goal counts are not made. Breadth first, so runs are short in deployments; each configuration is cheap, so runs of
//! exponential length are found too.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::form::{Form, FormGuard, State};
use super::group::{self, Class, Group};
use super::run::{Run, Step};
use super::system::System;
use super::{Budget, Engine, Found, Pursuit};

/// A configuration, packed: one bit per class where no more than one of each is ever needed, one word otherwise.
type Packed = Box<[u64]>;

/// A search that can be paused.
pub struct Forward<'a> {
    system: &'a System,
    /// How many pods of each class can be of use.
    caps: Vec<u64>,
    unit: bool,
    /// The configurations, in the order they were found, each with its parent and the rule that led to it.
    found: Vec<(Packed, u32, u32)>,
    known: FxHashMap<Packed, u32>,
    todo: VecDeque<u32>,
    /// How many configurations were made, new or not.
    made: u64,
}

impl<'a> Forward<'a> {
    /// A search from the start.
    pub fn new(system: &'a System) -> Self {
        let caps: Vec<u64> = caps(system);
        let unit = caps.iter().all(|&cap| cap == 1);
        let mut search =
            Self { system, caps, unit, found: Vec::new(), known: FxHashMap::default(), todo: VecDeque::new(), made: 0 };
        let counts: Vec<u64> = system.start.iter().zip(&search.caps).map(|(&count, &cap)| count.min(cap)).collect();
        search.add(search.pack(&counts), u32::MAX, u32::MAX);
        search
    }

    fn pack(&self, counts: &[u64]) -> Packed {
        if !self.unit {
            return counts.into();
        }
        let word = |chunk: &[u64]| chunk.iter().rev().fold(0, |word, &count| word << 1 | count);
        counts.chunks(64).map(word).collect()
    }

    fn unpack(&self, packed: &Packed) -> Group {
        let counts = (0..self.system.classes.len()).map(|class| match self.unit {
            true => (class as Class, packed[class / 64] >> (class % 64) & 1),
            false => (class as Class, packed[class]),
        });
        counts.filter(|&(_, count)| count > 0).collect()
    }

    fn add(&mut self, packed: Packed, parent: u32, rule: u32) -> Option<u32> {
        if self.known.contains_key(&packed) {
            return None;
        }
        let id = self.found.len() as u32;
        self.known.insert(packed.clone(), id);
        self.found.push((packed, parent, rule));
        self.todo.push_back(id);
        Some(id)
    }

    /// Looks at every deployment from one configuration; says which new one meets a goal.
    fn expand(&mut self, id: u32) -> Option<u32> {
        let group = self.unpack(&self.found[id as usize].0);
        let state = State::of_group(&self.system.forms, &group);
        let system = self.system;
        self.made += 1;
        for (index, rule) in system.rules.iter().enumerate() {
            if state.counts[rule.head as usize] >= self.caps[rule.head as usize] {
                continue;
            }
            for mut next in openings(system, &rule.guard, &state) {
                self.made += 1;
                next.add(&system.forms, rule.head, 1);
                let met = system.goals.iter().any(|goal| group::is_covered(goal, &next.counts));
                let added = self.add(self.pack(&next.counts), id, index as u32);
                if met && added.is_some() {
                    return added;
                }
            }
        }
        None
    }

    /// The deployments that lead to a configuration, each with what must be there before it.
    fn trail(&self, id: u32) -> Run {
        let goal = |counts: &Group| {
            let met = |goal: &&Group| group::is_within(goal, counts);
            self.system.goals.iter().find(met).cloned().expect("the trail ends in a goal")
        };
        let mut needs = goal(&self.unpack(&self.found[id as usize].0));
        let (reaches, mut steps, mut at) = (needs.clone(), Vec::new(), id);
        while let (_, parent, rule) = &self.found[at as usize]
            && *parent != u32::MAX
        {
            let rule = *rule as usize;
            let opening = group::without(&self.unpack(&self.found[at as usize].0), self.system.rules[rule].head);
            if let Some(support) = self.support(rule, &opening, &needs) {
                steps.push(Step { rule, needs: support.clone() });
                needs = support;
            }
            at = *parent;
        }
        steps.reverse();
        Run { steps, reaches }
    }

    /// What must be there before a deployment so that what is needed is there after it; `None` when the deployment is not needed.
    ///
    /// A part of the opening: what is needed later but for the deployed pod, and witnesses for the guard.
    fn support(&self, rule: usize, opening: &Group, needs: &Group) -> Option<Group> {
        let (system, head) = (self.system, self.system.rules[rule].head);
        if group::count(needs, head) == 0 {
            return None;
        }
        let rest = group::without(needs, head);
        let guard = &system.rules[rule].guard;
        let mut state = State::of_group(&system.forms, &rest);
        while let Some(form) = guard.needed(&state) {
            let more = |&&(class, _): &&(Class, u128)| state.counts[class as usize] < group::count(opening, class);
            let &(class, _) =
                system.forms.weights[form as usize].iter().find(more).expect("the guard holds in the opening");
            state.add(&system.forms, class, 1);
        }
        Some(state.group())
    }
}

impl Pursuit for Forward<'_> {
    fn engine(&self) -> Engine {
        Engine::Forward
    }

    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        let until = self.made + work;
        while self.made < until {
            let bytes = self.found.len() * (2 * self.found[0].0.len() * 8 + 64);
            let stopped = |stop| Found::Stopped { stop, ruled_out: None, explored: self.found.len() as u64 };
            if let Some(stop) = budget.stop(bytes) {
                return Some(stopped(stop));
            }
            let id = self.todo.pop_front()?;
            if let Some(goal) = self.expand(id) {
                return Some(Found::Reached(self.trail(goal)));
            }
        }
        None
    }

    fn is_spent(&self) -> bool {
        self.todo.is_empty()
    }
}

/// How many pods of each class can be of use: one as a witness, as many as a goal asks for, any number where they are counted.
fn caps(system: &System) -> Vec<u64> {
    let mut caps = vec![1; system.classes.len()];
    for &(class, count) in system.goals.iter().flatten() {
        caps[class as usize] = caps[class as usize].max(count);
    }
    let spread = system.rules.iter().flat_map(|rule| &rule.guard.spread);
    for (form, _) in spread.flat_map(|condition| &condition.domains) {
        system.forms.weights[*form as usize].iter().for_each(|&(class, _)| caps[class as usize] = u64::MAX);
    }
    caps
}

/// The maximal configurations within `state` where the guard holds.
fn openings(system: &System, guard: &FormGuard, state: &State) -> Vec<State> {
    // Witnesses that are not there now will not be there after a deletion either.
    let near = |form: &Form| state.value(*form) > 0;
    if guard.affinity.iter().any(|condition| condition.first_unless.is_none() && !condition.near.iter().all(near)) {
        return Vec::new();
    }
    let mut openings: Vec<State> = Vec::new();
    let mut todo = vec![state.clone()];
    while let Some(state) = todo.pop() {
        match excess(guard, &state) {
            Excess::None => openings.push(state),
            Excess::Hopeless => {}
            Excess::Clear(form) => todo.push(clear(system, state, form)),
            Excess::Reduce(form) => todo.extend(reductions(system, &state, form)),
        }
        if todo.len() > 1 {
            todo.sort_by(|a, b| a.counts.cmp(&b.counts));
            todo.dedup_by(|a, b| a.counts == b.counts);
        }
    }
    maximal(openings)
}

/// What deletions a guard asks for next.
enum Excess {
    /// None: the guard holds.
    None,
    /// No deletion can help.
    Hopeless,
    /// Every pod of a form must go.
    Clear(Form),
    /// Some pod of a form must go.
    Reduce(Form),
}

fn excess(guard: &FormGuard, state: &State) -> Excess {
    if let Some(&(form, bound)) = guard.at_most.iter().find(|&&(form, bound)| state.value(form) > bound) {
        return if bound == 0 { Excess::Clear(form) } else { Excess::Reduce(form) };
    }
    if let Some(condition) = guard.affinity.iter().find(|condition| condition.lonely(state).is_some()) {
        return condition.first_unless.map_or(Excess::Hopeless, Excess::Clear);
    }
    let uneven = guard.spread.iter().find(|condition| condition.behind(state).is_some());
    let Some(condition) = uneven else { return Excess::None };
    let own = condition.domains[condition.own].0;
    if state.value(own) == 0 { Excess::Hopeless } else { Excess::Reduce(own) }
}

fn clear(system: &System, mut state: State, form: Form) -> State {
    for &(class, _) in &system.forms.weights[form as usize] {
        let count = state.counts[class as usize];
        state.remove(&system.forms, class, count);
    }
    state
}

fn reductions<'a>(system: &'a System, state: &'a State, form: Form) -> impl Iterator<Item = State> + 'a {
    let there = system.forms.weights[form as usize].iter().filter(|&&(class, _)| state.counts[class as usize] > 0);
    there.map(|&(class, _)| {
        let mut less = state.clone();
        less.remove(&system.forms, class, 1);
        less
    })
}

fn maximal(mut states: Vec<State>) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let below = |a: &State, b: &State| a.counts != b.counts && a.counts.iter().zip(&b.counts).all(|(a, b)| a <= b);
    let dominated: Vec<bool> = states.iter().map(|a| states.iter().any(|b| below(a, b))).collect();
    let mut dominated = dominated.into_iter();
    states.retain(|_| !dominated.next().expect("one per state"));
    states
}
