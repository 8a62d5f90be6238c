//! The query of IC3: can a group be completed from a configuration that the lemmas allow?
//!
//! A backtracking search: for each pod of the group as the last, and each transition that makes it, add witnesses and counterweights until
//! the guard holds and no lemma is met. Goals ask only for presence, so a predecessor is what was there and needed. When there is none, the
//! search has recorded which pods of the group were in the way (an unsatisfiable core, often a small part) and which lemmas.
//!
//! Invariant: between queries the cursor is empty. Cost: exponential in the choices of witnesses, which are few; where there is no choice,
//! lemmas are not asked.

use crate::bits::Bits;
use crate::compile::{State, Sum, SumGuard, System};
use crate::group::{self, Class, Group};
use crate::lemmas::{Lemmas, NONE, Within, signature};
use crate::mutex::Mutexes;

/// The search, with everything that it would otherwise allocate anew for each question.
pub struct Predecessors<'a> {
    system: &'a System,
    mutexes: &'a Mutexes,
    /// The configuration that is being completed.
    cursor: State,
    /// The group but for its last pod.
    base: Group,
    signature: u64,
    /// For each class of the latest group, its place in the group.
    places: Vec<u32>,
    group: Vec<Class>,
    /// What was added to the base so far.
    added: Group,
    /// The places of the classes of the base that the present argument uses.
    used: Bits,
    /// Why the latest group without a predecessor has none: for each of its classes, if it comes last, the places that rule it out.
    cores: Vec<Bits>,
    /// The lemmas that were in the way.
    support: Vec<u32>,
    /// How many questions were asked.
    pub asked: u64,
    /// How much work that was, in units of about one new configuration of the forward search.
    pub work: u64,
}

/// How many nodes of the set-trie are visited in one unit of work.
const VISITS_PER_WORK: u64 = 16;

impl<'a> Predecessors<'a> {
    /// For the groups of a system.
    pub fn new(system: &'a System, mutexes: &'a Mutexes) -> Self {
        Self {
            system,
            mutexes,
            cursor: State::empty(&system.sums),
            base: Group::new(),
            signature: 0,
            places: vec![NONE; system.classes.len()],
            group: Vec::new(),
            added: Group::new(),
            used: Bits::none(0),
            cores: Vec::new(),
            support: Vec::new(),
            asked: 0,
            work: 0,
        }
    }

    /// A configuration that no lemma of `level` forbids (at level 0: one within the start), and a transition that completes `group` from it.
    pub fn find(&mut self, lemmas: &mut Lemmas, group: &Group, level: u32) -> Option<(Group, usize)> {
        let visits = lemmas.visits;
        self.begin(group);
        group.iter().for_each(|&(class, count)| self.cursor.add(&self.system.sums, class, count));
        let found = group.iter().find_map(|&(last, count)| {
            self.cursor.remove(&self.system.sums, last, 1);
            let found = self.find_with_last(lemmas, group, level, last, count);
            self.cursor.add(&self.system.sums, last, 1);
            found
        });
        group.iter().for_each(|&(class, count)| self.cursor.remove(&self.system.sums, class, count));
        self.work += (lemmas.visits - visits) / VISITS_PER_WORK;
        found
    }

    /// Forgets the latest group for this one.
    fn begin(&mut self, group: &Group) {
        self.group.drain(..).for_each(|class| self.places[class as usize] = NONE);
        self.group.extend(group.iter().map(|entry| entry.0));
        self.group.iter().zip(0..).for_each(|(&class, place)| self.places[class as usize] = place);
        self.signature = signature(group);
        self.cores.clear();
        self.support.clear();
        self.used.resize(group.len());
    }

    fn find_with_last(
        &mut self,
        lemmas: &mut Lemmas,
        group: &Group,
        level: u32,
        last: Class,
        count: u64,
    ) -> Option<(Group, usize)> {
        self.base.clone_from(group);
        group::remove(&mut self.base, last);
        let place = self.places[last as usize];
        if count == 1 {
            self.places[last as usize] = NONE;
        }
        self.used.clear();
        self.added.clear();
        let transitions = &self.system.transitions_of[last as usize];
        // A lemma that the base has is one reason for all transitions; a single transition finds its own.
        let hopeless = transitions.len() > 1 && self.contains_lemma(lemmas, level);
        let found = transitions.iter().copied().filter(|_| !hopeless).find(|&transition| {
            self.asked += 1;
            self.work += 1;
            match self.system.transitions[transition].consumes {
                Some(source) => self.turn(lemmas, transition, level, last, source),
                None => self.extend(lemmas, transition, level, last),
            }
        });
        self.places[last as usize] = place;
        if let Some(transition) = found {
            let mut before = std::mem::take(&mut self.base);
            for &(class, _) in &self.added {
                group::add(&mut before, class);
                self.cursor.remove(&self.system.sums, class, 1);
            }
            return Some((before, transition));
        }
        self.cores.push(self.used.clone());
        None
    }

    /// The same for a transition that turns one pod into another: the one is there before, besides all that is there after.
    fn turn(&mut self, lemmas: &mut Lemmas, transition: usize, level: u32, last: Class, source: Class) -> bool {
        if level == 0 && self.cursor.counts[source as usize] >= self.system.start[source as usize] {
            self.note(source);
            return false;
        }
        if self.excludes(source) {
            return false;
        }
        self.take(source);
        let found = self.extend(lemmas, transition, level, last);
        if !found {
            self.give_back(0);
        }
        found
    }

    /// Adds to the cursor what the transition's guard needs; what was added stays if that works, and what of the base was in the way is
    /// noted if not. Adding `last` would make the group that is to be completed only now.
    fn extend(&mut self, lemmas: &mut Lemmas, transition: usize, level: u32, last: Class) -> bool {
        let system = self.system;
        let guard = &system.transitions[transition].guard;
        let before = self.added.len();
        // Where there is no choice, lemmas need not be asked until there is one.
        let wanted = loop {
            if self.exceeds_bound(guard) || self.overflows(guard) {
                self.give_back(before);
                return false;
            }
            let Some(sum) = self.most_wanted(guard, level, last) else { break None };
            self.note_need(guard, sum);
            let members = &system.sums.weights[sum as usize];
            let mut choices =
                members.iter().map(|&(class, _)| class).filter(|&class| self.is_choice(class, level, last));
            match (choices.next(), choices.next()) {
                (Some(class), None) if !self.excludes(class) => self.take(class),
                _ => break Some(sum),
            }
        };
        let forbidden = self.contains_lemma(lemmas, level) || (level == 0 && self.exceeds_start());
        let found = !forbidden && wanted.is_none_or(|sum| self.choose(lemmas, transition, level, last, sum));
        if !found {
            self.give_back(before);
        }
        found
    }

    /// Tries the classes of a sum one after the other.
    fn choose(&mut self, lemmas: &mut Lemmas, transition: usize, level: u32, last: Class, sum: Sum) -> bool {
        for &(class, _) in &self.system.sums.weights[sum as usize] {
            if !self.is_choice(class, level, last) || self.excludes(class) {
                continue;
            }
            let mark = self.added.len();
            self.take(class);
            if self.extend(lemmas, transition, level, last) {
                return true;
            }
            self.give_back(mark);
        }
        if level == 0 {
            // What the start has of it may be used up by the base.
            self.note_base(sum);
        }
        false
    }

    /// Adds one of a class to the cursor.
    fn take(&mut self, class: Class) {
        self.cursor.add(&self.system.sums, class, 1);
        self.added.push((class, 1));
    }

    /// Takes back what was added to the cursor, but for so many.
    fn give_back(&mut self, length: usize) {
        while self.added.len() > length {
            let (class, _) = self.added.pop().expect("it is longer than that");
            self.cursor.remove(&self.system.sums, class, 1);
        }
    }

    fn is_choice(&self, class: Class, level: u32, last: Class) -> bool {
        let class_index = class as usize;
        class != last && (level > 0 || self.cursor.counts[class_index] < self.system.start[class_index])
    }

    /// How many classes of a sum can be added.
    fn choices(&self, sum: Sum, level: u32, last: Class) -> usize {
        self.system.sums.members(sum).filter(|&class| self.is_choice(class, level, last)).count()
    }

    /// A sum that must grow for the guard to hold, the one with the fewest choices; `None` when the guard asks for no more.
    fn most_wanted(&self, guard: &SumGuard, level: u32, last: Class) -> Option<Sum> {
        let lonely = guard.affinity.iter().filter(|condition| condition.lonely(&self.cursor).is_some());
        let sums =
            lonely.flat_map(|condition| condition.near.iter().copied().filter(|&sum| self.cursor.value(sum) == 0));
        let wanted = sums.min_by_key(|&sum| self.choices(sum, level, last));
        let wanted = wanted.or_else(|| guard.distinct.iter().find_map(|condition| condition.lacking(&self.cursor)));
        wanted.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(&self.cursor)))
    }

    /// Whether one more of `class` is never present with what the cursor has; notes what of the base rules it out.
    fn excludes(&mut self, class: Class) -> bool {
        let compatible = &self.mutexes.compatible[class as usize];
        let excluded = |entry: &&(Class, u64)| !compatible.contains(entry.0 as usize);
        if !self.mutexes.possible.contains(class as usize) || self.added.iter().any(|entry| excluded(&entry)) {
            return true;
        }
        let Some(&(other, _)) = self.base.iter().find(excluded) else { return false };
        self.note(other);
        true
    }

    /// Notes that the argument uses what the base has of a class, if that is anything.
    fn note(&mut self, class: Class) {
        let place = self.places[class as usize];
        if place != NONE {
            self.used.insert(place as usize);
        }
    }

    fn is_of_base(&self, class: Class) -> bool {
        self.places[class as usize] != NONE
    }

    /// Whether an upper bound is exceeded; notes pods of the base that suffice for that.
    fn exceeds_bound(&mut self, guard: &SumGuard) -> bool {
        let exceeded = guard.at_most.iter().find(|&&(sum, bound)| self.cursor.value(sum) > bound);
        let Some(&(sum, bound)) = exceeded else { return false };
        let sums = &self.system.sums;
        let there = &self.cursor.counts;
        let of_base = self.base.iter().map(|&(class, _)| (class, sums.weight(sum, class)));
        let of_base = of_base.filter(|&(class, weight)| weight > 0 && self.is_of_base(class));
        let mut of_base: Vec<(Class, u128)> =
            of_base.map(|(class, weight)| (class, weight.saturating_mul(there[class as usize].into()))).collect();
        let added = self.added.iter().filter(|entry| !self.is_of_base(entry.0));
        let mut total = added.fold(0u128, |total, &(class, _)| total.saturating_add(sums.weight(sum, class)));
        of_base.sort_by_key(|&(class, weight)| (std::cmp::Reverse(weight), class));
        for (class, weight) in of_base {
            if total > bound {
                break;
            }
            total = total.saturating_add(weight);
            self.note(class);
        }
        true
    }

    /// Whether there is too much of what several pods may share; notes the pods of the base that count.
    fn overflows(&mut self, guard: &SumGuard) -> bool {
        let Some(condition) = guard.distinct.iter().find(|condition| condition.is_hopeless(&self.cursor)) else {
            return false;
        };
        condition.counted().for_each(|sum| self.note_base(sum));
        true
    }

    /// Whether the cursor contains a lemma of `level`; notes it, and its part of the base.
    fn contains_lemma(&mut self, lemmas: &mut Lemmas, level: u32) -> bool {
        let counts = &self.cursor.counts;
        let within = Within {
            classes: [&self.base, &self.added],
            signature: self.signature | signature(&self.added),
            count: |class: Class| counts[class as usize],
        };
        let Some(lemma) = lemmas.find(&within, level) else { return false };
        self.support.push(lemma);
        lemmas.group(lemma).iter().for_each(|&(class, _)| self.note(class));
        true
    }

    /// Whether the cursor has more than the start; notes of what.
    fn exceeds_start(&mut self) -> bool {
        let start = &self.system.start;
        let more = self.base.iter().find(|&&(class, _)| self.cursor.counts[class as usize] > start[class as usize]);
        let Some(&(class, _)) = more else { return false };
        self.note(class);
        true
    }

    /// Notes the pods of the base that make a sum needed at all: those that keep the pod from being the first of its kind, those
    /// that fill the node, and those in its own domain.
    fn note_need(&mut self, guard: &SumGuard, sum: Sum) {
        for condition in guard.affinity.iter().filter(|condition| condition.near.contains(&sum)) {
            condition.first_unless.into_iter().for_each(|sum| self.note_base(sum));
        }
        for condition in guard.distinct.iter().filter(|condition| condition.unless.contains(&sum)) {
            condition.counted().for_each(|sum| self.note_base(sum));
        }
        for condition in &guard.spread {
            for domain in condition.domains.iter().filter(|domain| domain.sum == sum) {
                self.note_base(condition.domains[condition.own].sum);
                domain.while_any.into_iter().for_each(|sum| self.note_base(sum));
            }
        }
    }

    fn note_base(&mut self, sum: Sum) {
        let system = self.system;
        system.sums.weights[sum as usize].iter().for_each(|&(class, _)| self.note(class));
    }

    /// The lemmas that support the latest group without a predecessor.
    pub fn support(&mut self) -> Box<[u32]> {
        self.support.sort_unstable();
        self.support.dedup();
        self.support.as_slice().into()
    }

    /// The smallest part of a group that the latest argument is about: whichever of its pods came last, the part rules it out, and
    /// the start does not have it.
    pub fn argument(&self, group: Group) -> Group {
        if self.cores.is_empty() {
            return group;
        }
        let beyond_start = group.iter().enumerate().filter(|(_, entry)| entry.1 > self.system.start[entry.0 as usize]);
        let parts = beyond_start.map(|(place, _)| self.closure(place));
        let Some(part) = parts.min_by_key(Bits::len) else { return group };
        let entries = group.into_iter().enumerate().filter(|&(place, _)| part.contains(place));
        entries.map(|(_, entry)| entry).collect()
    }

    /// The places that are needed to rule out the one at `place`, and those needed to rule out these, and so on.
    fn closure(&self, place: usize) -> Bits {
        let mut part = Bits::of(self.cores.len(), std::iter::once(place));
        let mut todo = vec![place];
        while let Some(place) = todo.pop() {
            for needed in self.cores[place].ones() {
                if !part.contains(needed) {
                    part.insert(needed);
                    todo.push(needed);
                }
            }
        }
        part
    }

    /// Forgets the latest argument: it is about another group.
    pub fn forget_argument(&mut self) {
        self.cores.clear();
    }
}
