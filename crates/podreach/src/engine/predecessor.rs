//! The question at the heart of the inductive engine: could this group be completed from somewhere the lemmas allow?
//!
//! A small search: for each pod of the group as the last, and each rule that makes it, add witnesses and counterweights until the
//! guard holds, staying clear of what is forbidden. Goals ask only for presence, so a predecessor is what was there and needed, and
//! needs no lifting. When there is none, the search has noted which pods of the group stood in the way: often a small part.

use super::bits::Bits;
use super::form::{Form, FormGuard, State};
use super::group::{self, Class, Group};
use super::lemmas::Lemmas;
use super::pairs::Pairs;
use super::system::{Rule, System};

/// The search, with everything that it would otherwise allocate anew for each question.
pub struct Predecessors<'a> {
    system: &'a System,
    pairs: &'a Pairs,
    /// The classes that each rule's guard may ask for.
    helpers_of_rule: Vec<Bits>,
    /// The same for all rules of a class together.
    helpers_of_class: Vec<Bits>,
    /// The configuration that is being completed.
    cursor: State,
    /// The group but for its last pod, and its classes.
    base: Group,
    support: Bits,
    /// The classes that the cursor can come to have.
    reach: Bits,
    /// The lemmas that any question about the group could meet, and those that the present one could.
    nearby: Vec<u32>,
    near: Vec<u32>,
    /// What was added to the base so far.
    added: Vec<Class>,
    /// The classes of the base that the present argument uses.
    used: Bits,
    /// Why the latest group without a predecessor has none: for each class that could have come last, the classes that rule it out.
    cores: Vec<(Class, Bits)>,
    /// How many questions were asked.
    pub asked: u64,
    /// How much work that was, in units of about one new configuration of the forward search.
    pub work: u64,
}

/// The classes that a rule's guard may ask for.
fn helpers(system: &System, rule: &Rule) -> Bits {
    let near = rule.guard.affinity.iter().flat_map(|condition| condition.near.iter().copied());
    let spread = rule.guard.spread.iter().flat_map(|condition| condition.domains.iter().map(|domain| domain.0));
    let sharing = rule.guard.distinct.iter().flat_map(|condition| condition.unless.iter().copied());
    let classes = near.chain(spread).chain(sharing).flat_map(|form| &system.forms.weights[form as usize]);
    Bits::of(system.classes.len(), classes.map(|&(class, _)| class as usize))
}

impl<'a> Predecessors<'a> {
    /// For the groups of a system.
    pub fn new(system: &'a System, pairs: &'a Pairs) -> Self {
        let none = || Bits::none(system.classes.len());
        let helpers_of_rule: Vec<Bits> = system.rules.iter().map(|rule| helpers(system, rule)).collect();
        let together = |rules: &Vec<usize>| {
            let mut all = none();
            rules.iter().for_each(|&rule| all.extend(&helpers_of_rule[rule]));
            all
        };
        Self {
            system,
            pairs,
            helpers_of_class: system.rules_of.iter().map(together).collect(),
            helpers_of_rule,
            cursor: State::empty(&system.forms),
            base: Group::new(),
            support: none(),
            reach: none(),
            nearby: Vec::new(),
            near: Vec::new(),
            added: Vec::new(),
            used: none(),
            cores: Vec::new(),
            asked: 0,
            work: 0,
        }
    }

    /// A configuration that no lemma of `level` forbids (at level 0: one within the start), and a rule that completes `group` from it.
    pub fn find(&mut self, lemmas: &Lemmas, group: &Group, level: u32) -> Option<(Group, usize)> {
        self.look_around(lemmas, group, level);
        self.cores.clear();
        group.iter().for_each(|&(class, count)| self.cursor.add(&self.system.forms, class, count));
        let found = group.iter().find_map(|&(last, count)| {
            self.cursor.remove(&self.system.forms, last, 1);
            let found = self.find_with_last(lemmas, group, level, last, count);
            self.cursor.add(&self.system.forms, last, 1);
            found
        });
        group.iter().for_each(|&(class, count)| self.cursor.remove(&self.system.forms, class, count));
        found
    }

    /// Finds the lemmas that could matter to the group.
    fn look_around(&mut self, lemmas: &Lemmas, group: &Group, level: u32) {
        self.support.clear();
        group.iter().for_each(|&(class, _)| self.support.insert(class as usize));
        self.reach.clone_from(&self.support);
        group.iter().for_each(|&(class, _)| self.reach.extend(&self.helpers_of_class[class as usize]));
        self.work += 1 + lemmas.filed_within(&self.reach) as u64 / 32;
        self.nearby.clear();
        lemmas.find_within(&self.reach, level, &mut self.nearby);
    }

    fn find_with_last(
        &mut self,
        lemmas: &Lemmas,
        group: &Group,
        level: u32,
        last: Class,
        count: u64,
    ) -> Option<(Group, usize)> {
        self.base.clone_from(group);
        group::remove(&mut self.base, last);
        if count == 1 {
            self.support.remove(last as usize);
        }
        self.used.clear();
        let found = self.system.rules_of[last as usize].iter().copied().find(|&rule| {
            self.asked += 1;
            self.work += 1 + self.nearby.len() as u64 / 32;
            self.reach.clone_from(&self.support);
            self.reach.extend(&self.helpers_of_rule[rule]);
            let (near, reach) = (&mut self.near, &self.reach);
            near.clear();
            near.extend(self.nearby.iter().copied().filter(|&lemma| lemmas.is_within(lemma, reach)));
            self.added.clear();
            self.extend(lemmas, rule, level, last)
        });
        self.support.insert(last as usize);
        if let Some(rule) = found {
            let mut before = std::mem::take(&mut self.base);
            for &class in &self.added {
                group::add(&mut before, class);
                self.cursor.remove(&self.system.forms, class, 1);
            }
            return Some((before, rule));
        }
        self.cores.push((last, self.used.clone()));
        None
    }

    /// Adds to the cursor what the rule's guard needs; what was added stays if that works, and what of the base was in the way is
    /// noted if not. Adding `last` would make the group that is to be completed only now.
    fn extend(&mut self, lemmas: &Lemmas, rule: usize, level: u32, last: Class) -> bool {
        let system = self.system;
        let guard = &system.rules[rule].guard;
        if self.exceeds_bound(guard)
            || self.overflows(guard)
            || self.contains_lemma(lemmas)
            || (level == 0 && self.exceeds_start())
        {
            return false;
        }
        let Some(form) = self.most_wanted(guard, level, last) else { return true };
        self.note_need(guard, form);
        for &(class, _) in &system.forms.weights[form as usize] {
            if !self.is_choice(class, level, last) || self.excludes(class) {
                continue;
            }
            self.cursor.add(&system.forms, class, 1);
            self.added.push(class);
            if self.extend(lemmas, rule, level, last) {
                return true;
            }
            self.added.pop();
            self.cursor.remove(&system.forms, class, 1);
        }
        if level == 0 {
            // What the start has of it may be used up by the base.
            self.note_base(form);
        }
        false
    }

    fn is_choice(&self, class: Class, level: u32, last: Class) -> bool {
        let class_index = class as usize;
        class != last && (level > 0 || self.cursor.counts[class_index] < self.system.start[class_index])
    }

    /// A form that must grow for the guard to hold, the one with the fewest choices; `None` when the guard asks for no more.
    fn most_wanted(&self, guard: &FormGuard, level: u32, last: Class) -> Option<Form> {
        let lonely = guard.affinity.iter().filter(|condition| condition.lonely(&self.cursor).is_some());
        let forms =
            lonely.flat_map(|condition| condition.near.iter().copied().filter(|&form| self.cursor.value(form) == 0));
        let choices = |form: Form| {
            let classes = self.system.forms.weights[form as usize].iter();
            classes.filter(|&&(class, _)| self.is_choice(class, level, last)).count()
        };
        let wanted = forms.min_by_key(|&form| choices(form));
        let wanted = wanted.or_else(|| guard.distinct.iter().find_map(|condition| condition.lacking(&self.cursor)));
        wanted.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(&self.cursor)))
    }

    /// Whether one more of `class` is never present with what the cursor has; notes what of the base rules it out.
    fn excludes(&mut self, class: Class) -> bool {
        let together = &self.pairs.together[class as usize];
        let excluded = |other: Class| !together.contains(other as usize);
        if !self.pairs.possible.contains(class as usize) || self.added.iter().any(|&other| excluded(other)) {
            return true;
        }
        if self.support.is_within(together) {
            return false;
        }
        let Some(&(other, _)) = self.base.iter().find(|entry| excluded(entry.0)) else { return false };
        self.used.insert(other as usize);
        true
    }

    /// Whether an upper bound is exceeded; notes pods of the base that suffice for that.
    fn exceeds_bound(&mut self, guard: &FormGuard) -> bool {
        let exceeded = guard.at_most.iter().find(|&&(form, bound)| self.cursor.value(form) > bound);
        let Some(&(form, bound)) = exceeded else { return false };
        let weights = &self.system.forms.weights[form as usize];
        let there = |class: Class| u128::from(self.cursor.counts[class as usize]);
        let of_base = weights.iter().filter(|&&(class, _)| self.support.contains(class as usize));
        let mut of_base: Vec<(Class, u128)> =
            of_base.map(|&(class, w)| (class, w.saturating_mul(there(class)))).collect();
        let added = self.added.iter().filter(|&&class| !self.support.contains(class as usize));
        let weight = |class: Class| weights.iter().find(|entry| entry.0 == class).map_or(0, |entry| entry.1);
        let mut sum = added.fold(0u128, |sum, &class| sum.saturating_add(weight(class)));
        of_base.sort_by_key(|&(class, weight)| (std::cmp::Reverse(weight), class));
        for (class, weight) in of_base {
            if sum > bound {
                break;
            }
            sum = sum.saturating_add(weight);
            self.used.insert(class as usize);
        }
        true
    }

    /// Whether there is too much of what several pods may share; notes the pods of the base that count.
    fn overflows(&mut self, guard: &FormGuard) -> bool {
        let Some(condition) = guard.distinct.iter().find(|condition| condition.is_hopeless(&self.cursor)) else {
            return false;
        };
        condition.counted().for_each(|form| self.note_base(form));
        true
    }

    /// Whether the cursor contains a lemma; notes its part of the base.
    fn contains_lemma(&mut self, lemmas: &Lemmas) -> bool {
        let contained = |&&lemma: &&u32| group::is_covered(lemmas.group(lemma), &self.cursor.counts);
        let Some(&lemma) = self.near.iter().find(contained) else { return false };
        for &(class, _) in lemmas.group(lemma) {
            if self.support.contains(class as usize) {
                self.used.insert(class as usize);
            }
        }
        true
    }

    /// Whether the cursor has more than the start; notes of what.
    fn exceeds_start(&mut self) -> bool {
        let start = &self.system.start;
        let more = self.base.iter().find(|&&(class, _)| self.cursor.counts[class as usize] > start[class as usize]);
        let Some(&(class, _)) = more else { return false };
        self.used.insert(class as usize);
        true
    }

    /// Notes the pods of the base that make a form needed at all: those that keep the pod from being the first of its kind, those
    /// that fill the node, and those in its own domain.
    fn note_need(&mut self, guard: &FormGuard, form: Form) {
        for condition in guard.affinity.iter().filter(|condition| condition.near.contains(&form)) {
            condition.first_unless.into_iter().for_each(|form| self.note_base(form));
        }
        for condition in guard.distinct.iter().filter(|condition| condition.unless.contains(&form)) {
            condition.counted().for_each(|form| self.note_base(form));
        }
        for condition in &guard.spread {
            if condition.domains.iter().any(|domain| domain.0 == form) {
                self.note_base(condition.domains[condition.own].0);
            }
        }
    }

    fn note_base(&mut self, form: Form) {
        for &(class, _) in &self.system.forms.weights[form as usize] {
            if self.support.contains(class as usize) {
                self.used.insert(class as usize);
            }
        }
    }

    /// The smallest part of a group that the latest argument is about: whichever of its pods came last, the part rules it out, and
    /// the start does not have it.
    pub fn argument(&self, group: Group) -> Group {
        let beyond_start = group.iter().filter(|&&(class, count)| count > self.system.start[class as usize]);
        let parts = beyond_start.filter_map(|&(class, _)| self.closure(class));
        let Some(part) = parts.min_by_key(Bits::len) else { return group };
        group.into_iter().filter(|&(class, _)| part.contains(class as usize)).collect()
    }

    /// The classes that are needed to rule out `class`, and those needed to rule out these, and so on.
    fn closure(&self, class: Class) -> Option<Bits> {
        let mut part = Bits::of(self.system.classes.len(), std::iter::once(class as usize));
        let mut todo = vec![class as usize];
        while let Some(class) = todo.pop() {
            let (_, core) = self.cores.iter().find(|(last, _)| *last as usize == class)?;
            for needed in core.ones() {
                if !part.contains(needed) {
                    part.insert(needed);
                    todo.push(needed);
                }
            }
        }
        Some(part)
    }

    /// Forgets the latest argument: it is about another group.
    pub fn forget_argument(&mut self) {
        self.cores.clear();
    }
}
