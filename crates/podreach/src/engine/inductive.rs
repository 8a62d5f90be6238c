//! Incremental inductive coverability: IC3 for systems in which everything can be deleted.
//!
//! Frame `k` holds groups that no configuration within `k` deployments contains. To show that a goal is not reached within `k`
//! deployments, ask of each pod of it: could it have come last, on top of a configuration that frame `k − 1` allows? If so, that
//! configuration's least part is a goal for `k − 1`; if not, the goal is forbidden at `k`, and so is as small a part of it as the
//! same argument carries. When two frames agree, they are an invariant and the proof.
//!
//! Goals ask only for presence, so predecessors need no lifting and groups no negation. After Kloos, Majumdar, Niksic and Piskac,
//! *Incremental, Inductive Coverability* (CAV 2013), with the obligation queue and generalisation of Bradley, Eén and others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

use super::bits::Bits;
use super::form::{Form, FormGuard, State};
use super::group::{self, Class, Group};
use super::lemmas::Lemmas;
use super::run::{Run, Step};
use super::system::{Rule, System};
use super::{Budget, Engine, Found, Pursuit, Stop};

/// How many counterexamples to generalisation are blocked before an entry is kept, and how deeply.
const COUNTEREXAMPLES: usize = 3;
const COUNTEREXAMPLE_DEPTH: usize = 1;

/// How a search ends, or why it pauses.
enum End {
    Reached(usize),
    Invariant(u32),
    Stopped(Stop),
    Paused,
}

/// A goal and where it came from: deploying by the rule on top of it leads to the parent.
struct Obligation {
    group: Group,
    parent: Option<(usize, usize)>,
}

/// A search that can be paused.
pub struct Inductive<'a> {
    system: &'a System,
    lemmas: Lemmas,
    /// The configuration that is being completed.
    cursor: State,
    /// The lemmas that it could come to contain.
    near: Vec<u32>,
    /// The group that is being completed, but for its last pod.
    base: Group,
    /// The classes of the base that the present argument uses.
    used: Bits,
    /// Why the latest group without a predecessor has none: for each class that could have come last, the classes that rule it out.
    cores: Vec<(Class, Bits)>,
    /// The classes that each rule's guard may ask for.
    helpers_of_rule: Vec<Bits>,
    /// The same for all rules of a class together.
    helpers_of_class: Vec<Bits>,
    goals: Vec<Obligation>,
    /// Goals to block, lowest level first, newest first.
    queue: BinaryHeap<(Reverse<u32>, usize)>,
    activity: Vec<f64>,
    bump: f64,
    top: u32,
    questions: u64,
    /// The number of questions at which to pause.
    pause: u64,
}

/// The classes that a rule's guard may ask for.
fn helpers(system: &System, rule: &Rule) -> Bits {
    let near = rule.guard.affinity.iter().flat_map(|condition| condition.near.iter().copied());
    let spread = rule.guard.spread.iter().flat_map(|condition| condition.domains.iter().map(|domain| domain.0));
    let classes = near.chain(spread).flat_map(|form| &system.forms.weights[form as usize]);
    Bits::of(system.classes.len(), classes.map(|&(class, _)| class as usize))
}

impl<'a> Inductive<'a> {
    /// A search for the goals of a system.
    pub fn new(system: &'a System) -> Self {
        let helpers_of_rule: Vec<Bits> = system.rules.iter().map(|rule| helpers(system, rule)).collect();
        let together = |rules: &Vec<usize>| {
            let mut all = Bits::none(system.classes.len());
            rules.iter().for_each(|&rule| all.extend(&helpers_of_rule[rule]));
            all
        };
        let mut search = Self {
            system,
            lemmas: Lemmas::new(system.classes.len()),
            cursor: State::empty(&system.forms),
            near: Vec::new(),
            base: Group::new(),
            used: Bits::none(system.classes.len()),
            cores: Vec::new(),
            helpers_of_class: system.rules_of.iter().map(together).collect(),
            helpers_of_rule,
            goals: system.goals.iter().map(|group| Obligation { group: group.clone(), parent: None }).collect(),
            queue: BinaryHeap::new(),
            activity: vec![0.0; system.classes.len()],
            bump: 1.0,
            top: 1,
            questions: 0,
            pause: 0,
        };
        search.aim();
        search
    }

    /// Asks for every goal at the top level.
    fn aim(&mut self) {
        self.queue.extend((0..self.system.goals.len()).map(|goal| (Reverse(self.top), goal)));
    }

    fn run(&mut self, budget: &Budget<'_>) -> Result<Infallible, End> {
        loop {
            // A goal leaves the queue only once it is dealt with, so that a pause loses nothing.
            while let Some(&(Reverse(level), goal)) = self.queue.peek() {
                let again = self.block(goal, level, budget)?;
                self.queue.pop();
                self.queue.extend(again);
            }
            self.propagate(budget)?;
            self.top += 1;
            self.aim();
        }
    }

    /// Shows that a goal is not reached within `level` deployments, or asks the same of a predecessor first; returns what to do next.
    fn block(&mut self, goal: usize, level: u32, budget: &Budget<'_>) -> Result<Vec<(Reverse<u32>, usize)>, End> {
        let group = self.goals[goal].group.clone();
        if group::is_covered(&group, &self.system.start) {
            return Err(End::Reached(goal));
        }
        if let Some(known) = self.conflict(&group, level) {
            return Ok(self.again(goal, known.saturating_add(1)));
        }
        if let Some((before, rule)) = self.predecessor(&group, level, budget)? {
            self.goals.push(Obligation { group: before, parent: Some((goal, rule)) });
            return Ok(vec![(Reverse(level), goal), (Reverse(level - 1), self.goals.len() - 1)]);
        }
        let known = self.learn(group, level, 0, budget)?;
        Ok(self.again(goal, known + 1))
    }

    fn again(&self, goal: usize, level: u32) -> Vec<(Reverse<u32>, usize)> {
        if level <= self.top { vec![(Reverse(level), goal)] } else { Vec::new() }
    }

    /// Generalises a group that is forbidden at `level`, raises it as far as it goes, and files it.
    fn learn(&mut self, group: Group, level: u32, depth: usize, budget: &Budget<'_>) -> Result<u32, End> {
        let group = self.generalise(group, level, depth, budget)?;
        let mut level = level;
        while level < self.top && self.is_forbidden(&group, level + 1, budget)? {
            level += 1;
        }
        for &(class, _) in &group {
            self.activity[class as usize] += self.bump;
        }
        self.bump *= 1.02;
        if self.bump > 1e100 {
            self.activity.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.bump *= 1e-100;
        }
        self.lemmas.add(group, level);
        Ok(level)
    }

    /// A part of the group, as small as dropping one pod after the other gives, that is still forbidden at `level`. The group was
    /// just found to have no predecessor.
    fn generalise(&mut self, group: Group, level: u32, depth: usize, budget: &Budget<'_>) -> Result<Group, End> {
        let mut kept = self.argument(group);
        let mut order: Vec<Class> = kept.iter().map(|entry| entry.0).collect();
        order.sort_by(|&a, &b| self.activity[a as usize].total_cmp(&self.activity[b as usize]).then(a.cmp(&b)));
        for class in order {
            while group::count(&kept, class) > 0 {
                let smaller = group::without(&kept, class);
                if !self.is_forbidden_with_help(&smaller, level, depth, budget)? {
                    break;
                }
                kept = self.argument(smaller);
            }
        }
        Ok(kept)
    }

    /// The smallest part of a group that the latest argument is about: whichever of its pods came last, the part rules it out, and
    /// the start does not have it.
    fn argument(&self, group: Group) -> Group {
        let beyond_start = group.iter().filter(|&&(class, count)| count > self.system.start[class as usize]);
        let parts = beyond_start.filter_map(|&(class, _)| self.closure(class));
        let Some(part) = parts.min_by_key(|part| part.ones().count()) else { return group };
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

    /// Whether a group is forbidden at `level`, after blocking a few counterexamples that stand in the way.
    fn is_forbidden_with_help(
        &mut self,
        group: &Group,
        level: u32,
        depth: usize,
        budget: &Budget<'_>,
    ) -> Result<bool, End> {
        if group::is_covered(group, &self.system.start) {
            return Ok(false);
        }
        for _ in 0..=COUNTEREXAMPLES {
            if self.conflict(group, level).is_some() {
                self.cores.clear();
                return Ok(true);
            }
            let Some((before, _)) = self.predecessor(group, level, budget)? else { return Ok(true) };
            let hopeless =
                depth >= COUNTEREXAMPLE_DEPTH || level <= 1 || group::is_covered(&before, &self.system.start);
            if hopeless || !self.is_forbidden(&before, level - 1, budget)? {
                return Ok(false);
            }
            self.learn(before, level - 1, depth + 1, budget)?;
        }
        Ok(false)
    }

    fn is_forbidden(&mut self, group: &Group, level: u32, budget: &Budget<'_>) -> Result<bool, End> {
        Ok(!group::is_covered(group, &self.system.start) && self.predecessor(group, level, budget)?.is_none())
    }

    /// The level of a lemma that forbids the group at `level` or beyond.
    fn conflict(&self, group: &Group, level: u32) -> Option<u32> {
        let support = Bits::of(self.system.classes.len(), group.iter().map(|entry| entry.0 as usize));
        self.lemmas.conflict(group, &support, level)
    }

    /// Raises lemmas to the next level where they hold there too; ends the search when two frames agree.
    fn propagate(&mut self, budget: &Budget<'_>) -> Result<(), End> {
        for level in 1..=self.top {
            for lemma in self.lemmas.at(level) {
                // Another lemma may have replaced it meanwhile.
                if self.lemmas.level(lemma) == level {
                    let group = self.lemmas.group(lemma).clone();
                    if self.is_forbidden(&group, level + 1, budget)? {
                        self.lemmas.raise(lemma, level + 1);
                    }
                }
            }
            if self.lemmas.at(level).is_empty() {
                return Err(End::Invariant(level + 1));
            }
        }
        Ok(())
    }

    /// A configuration within `level − 1` deployments, as far as the frames know, and a rule that completes `group` from it.
    fn predecessor(&mut self, group: &Group, level: u32, budget: &Budget<'_>) -> Result<Option<(Group, usize)>, End> {
        let system = self.system;
        let classes = system.classes.len();
        let mut reach = Bits::of(classes, group.iter().map(|entry| entry.0 as usize));
        group.iter().for_each(|&(class, _)| reach.extend(&self.helpers_of_class[class as usize]));
        let near: Vec<u32> = self.lemmas.within(&reach, level - 1).collect();
        self.cores.clear();
        for &(last, _) in group {
            self.base = group::without(group, last);
            self.used = Bits::none(classes);
            let support = Bits::of(classes, self.base.iter().map(|entry| entry.0 as usize));
            self.cursor = State::of_group(&system.forms, &self.base);
            for &rule in &system.rules_of[last as usize] {
                self.ask(budget)?;
                let mut reach = support.clone();
                reach.extend(&self.helpers_of_rule[rule]);
                self.near =
                    near.iter().copied().filter(|&lemma| self.lemmas.support(lemma).is_within(&reach)).collect();
                let mut added = Vec::new();
                if self.extend(rule, level - 1, last, &mut added) {
                    let before = added.iter().fold(self.base.clone(), |before, &class| group::with(&before, class));
                    return Ok(Some((before, rule)));
                }
            }
            self.cores.push((last, self.used.clone()));
        }
        Ok(None)
    }

    /// Counts a question, and says when to stop or to pause.
    fn ask(&mut self, budget: &Budget<'_>) -> Result<(), End> {
        self.questions += 1;
        if self.questions >= self.pause {
            return Err(End::Paused);
        }
        match self.questions % 64 {
            0 => budget.stop(self.bytes()).map_or(Ok(()), |stop| Err(End::Stopped(stop))),
            _ => Ok(()),
        }
    }

    /// Adds to the cursor what the rule's guard needs, staying clear of the lemmas of `level`; what was added stays if that works, and
    /// what of the base was in the way is noted if not. Adding `last` would make the group that is to be completed only now.
    fn extend(&mut self, rule: usize, level: u32, last: Class, added: &mut Vec<Class>) -> bool {
        let system = self.system;
        let guard = &system.rules[rule].guard;
        if self.exceeds_bound(guard) || self.contains_lemma() || (level == 0 && self.exceeds_start()) {
            return false;
        }
        let Some(form) = self.most_wanted(guard, level, last) else { return true };
        self.note_need(guard, form);
        for class in self.choices(form, level, last) {
            self.cursor.add(&system.forms, class, 1);
            added.push(class);
            if self.extend(rule, level, last, added) {
                return true;
            }
            added.pop();
            self.cursor.remove(&system.forms, class, 1);
        }
        if level == 0 {
            // What the start has of it may be used up by the base.
            self.note_base(form);
        }
        false
    }

    /// Whether an upper bound is exceeded; notes pods of the base that suffice for that.
    fn exceeds_bound(&mut self, guard: &FormGuard) -> bool {
        let exceeded = guard.at_most.iter().find(|&&(form, bound)| self.cursor.value(form) > bound);
        let Some(&(form, bound)) = exceeded else { return false };
        let weights = &self.system.forms.weights[form as usize];
        let there = |class: Class| u128::from(self.cursor.counts[class as usize]);
        let mut from_base: Vec<(Class, u128)> = weights
            .iter()
            .filter(|&&(class, _)| group::count(&self.base, class) > 0)
            .map(|&(c, w)| (c, w * there(c)))
            .collect();
        let mut sum = self.cursor.value(form) - from_base.iter().map(|&(_, weight)| weight).sum::<u128>();
        from_base.sort_by_key(|&(class, weight)| (std::cmp::Reverse(weight), class));
        for (class, weight) in from_base {
            if sum > bound {
                break;
            }
            sum += weight;
            self.used.insert(class as usize);
        }
        true
    }

    /// Whether the cursor contains a lemma; notes its part of the base.
    fn contains_lemma(&mut self) -> bool {
        let contained = |&&lemma: &&u32| group::is_covered(self.lemmas.group(lemma), &self.cursor.counts);
        let Some(&lemma) = self.near.iter().find(contained) else { return false };
        for &(class, _) in self.lemmas.group(lemma) {
            if group::count(&self.base, class) > 0 {
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

    /// A form that must grow for the guard to hold, the one with the fewest choices; `None` when the guard asks for no more.
    fn most_wanted(&self, guard: &FormGuard, level: u32, last: Class) -> Option<Form> {
        let lonely = guard.affinity.iter().filter(|condition| condition.lonely(&self.cursor).is_some());
        let forms =
            lonely.flat_map(|condition| condition.near.iter().copied().filter(|&form| self.cursor.value(form) == 0));
        let wanted = forms.min_by_key(|&form| self.choices(form, level, last).len());
        wanted.or_else(|| guard.spread.iter().find_map(|condition| condition.behind(&self.cursor)))
    }

    /// Notes the pods of the base that make a form needed at all: those that keep the pod from being the first of its kind, and
    /// those in its own domain.
    fn note_need(&mut self, guard: &FormGuard, form: Form) {
        let first =
            guard.affinity.iter().filter(|condition| condition.near.contains(&form)).filter_map(|c| c.first_unless);
        let own = guard.spread.iter().filter(|condition| condition.domains.iter().any(|domain| domain.0 == form));
        let own = own.map(|condition| condition.domains[condition.own].0);
        let forms: Vec<Form> = first.chain(own).collect();
        forms.into_iter().for_each(|form| self.note_base(form));
    }

    fn note_base(&mut self, form: Form) {
        for &(class, _) in &self.system.forms.weights[form as usize] {
            if group::count(&self.base, class) > 0 {
                self.used.insert(class as usize);
            }
        }
    }

    fn choices(&self, form: Form, level: u32, last: Class) -> Vec<Class> {
        let (start, counts) = (&self.system.start, &self.cursor.counts);
        let classes = self.system.forms.weights[form as usize].iter().map(|&(class, _)| class);
        classes
            .filter(|&class| class != last && (level > 0 || counts[class as usize] < start[class as usize]))
            .collect()
    }

    fn bytes(&self) -> usize {
        (self.lemmas.ever() + self.goals.len()) * 200
    }

    /// The deployments that lead from the start to a root goal, each with what must be there before it.
    fn trail(&self, mut at: usize) -> Run {
        let mut steps = Vec::new();
        while let Some((parent, rule)) = self.goals[at].parent {
            steps.push(Step { rule, needs: self.goals[at].group.clone() });
            at = parent;
        }
        Run { steps, reaches: self.goals[at].group.clone() }
    }
}

impl Pursuit for Inductive<'_> {
    fn engine(&self) -> Engine {
        Engine::Inductive
    }

    fn pursue(&mut self, work: u64, budget: &Budget<'_>) -> Option<Found> {
        self.pause = self.questions + work;
        match self.run(budget) {
            Err(End::Reached(goal)) => Some(Found::Reached(self.trail(goal))),
            Err(End::Invariant(level)) => Some(Found::Never(self.lemmas.from(level))),
            Err(End::Stopped(stop)) => {
                let ruled_out = Some(u64::from(self.top) - 1);
                Some(Found::Stopped { stop, ruled_out, explored: self.questions })
            }
            Err(End::Paused) => None,
        }
    }
}
