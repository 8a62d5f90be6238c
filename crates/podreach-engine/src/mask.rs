//! Rules as masks: where no more than one pod of each class is ever of use, a rule that asks only for presence and absence.
//!
//! Most witnesses are of one class, so what a rule cannot do without is one mask, and what it cannot do with is another. A step
//! changes what few rules can do: those that waited for what came, and those that make what is gone. Sets of rules say which these
//! are; rules whose pod is there already, or that lack a witness they are filed under, are struck out of them many at a time.

use super::bits::Bits;
use super::form::Form;
use super::system::System;
use podreach_core::cancel;

/// The rules of a system, as masks where that is possible.
pub struct Masks {
    /// How many words a configuration has, and how many a set of rules.
    words: usize,
    rule_words: usize,
    masks: Vec<Option<Mask>>,
    /// What each rule cannot do without, word by word.
    needed: Vec<u64>,
    /// What must be gone for each rule, word by word.
    barred: Vec<u64>,
    /// For each class, all rules that it can be a witness of.
    woken: Vec<Few>,
    /// For each class, the rules that make it.
    makers: Vec<Few>,
    /// For each class, rules that cannot do without it. Each is filed under several classes, and the sets of rules for the first
    /// of these, the second and so on lie one after the other.
    filed: Vec<Few>,
    /// The rules that are not filed so often.
    free: Vec<u64>,
    /// The rules that are not masks.
    pub others: Vec<usize>,
    /// Whether some rule is a mask.
    pub any: bool,
}

/// Under how many classes a rule is filed.
const FILED: usize = 3;

/// A few rules, as words of a set of rules that are not empty.
type Few = Vec<(u32, u64)>;

struct Mask {
    /// The word and the bit of what it deploys.
    head: (usize, u64),
    class: usize,
    /// The witnesses of which there is a choice; none of them must be gone.
    near: Vec<Bits>,
}

/// A configuration along the way of a search.
#[derive(Clone, Debug, Default)]
pub struct Spot {
    /// What is there, as bits.
    pub words: Vec<u64>,
    /// The rules that led here from the configuration before.
    pub rules: Vec<u32>,
    /// The rules that can deploy something once others are gone.
    doors: Vec<u64>,
    /// The rules that make what is there already.
    made: Vec<u64>,
    /// The rules that do not lack the first class that they are filed under, those that do not lack the second, and so on.
    alive: Vec<u64>,
    /// The rules to look at.
    todo: Vec<u64>,
}

impl Spot {
    /// The rules that can deploy something once others are gone, in order.
    pub fn doors(&self) -> impl Iterator<Item = u32> + '_ {
        ones(self.doors.iter().copied()).map(|rule| rule as u32)
    }
}

impl Masks {
    /// The rules of a system whose configurations are sets (`unit`); otherwise none is a mask.
    pub fn new(system: &System, unit: bool) -> Self {
        let (classes, rules) = (system.classes.len(), system.rules.len());
        let words = classes.div_ceil(64);
        let mut all = Self {
            words,
            rule_words: rules.div_ceil(64),
            masks: (0..rules).map(|_| None).collect(),
            needed: vec![0; rules * words],
            barred: vec![0; rules * words],
            woken: vec![Few::new(); classes],
            makers: vec![Few::new(); classes],
            filed: vec![Few::new(); classes],
            free: vec![0; FILED * rules.div_ceil(64)],
            others: Vec::new(),
            any: false,
        };
        let mut near = Vec::new();
        for rule in 0..rules {
            near.push(Vec::new());
            // What turns into something else is left to the engines that go back from the goal.
            if system.rules[rule].consumes.is_some() {
                continue;
            }
            if unit && system.rules[rule].guard.is_plain() {
                near[rule] = all.add(system, rule);
                all.any = true;
            } else {
                all.others.push(rule);
            }
        }
        all.file(&near);
        all
    }

    /// Makes a rule a mask; returns the classes of each of its witnesses.
    fn add(&mut self, system: &System, rule: usize) -> Vec<Bits> {
        cancel::poll();
        let guard = &system.rules[rule].guard;
        let members = |form: Form| system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
        let barred = Bits::of(system.classes.len(), guard.at_most.iter().flat_map(|&(form, _)| members(form)));
        let witnesses = |form: Form| {
            let mut near = Bits::of(system.classes.len(), members(form));
            near.subtract(&barred);
            near
        };
        let near: Vec<Bits> =
            guard.affinity.iter().flat_map(|condition| &condition.near).map(|&form| witnesses(form)).collect();
        let row = rule * self.words..(rule + 1) * self.words;
        self.barred[row.clone()].copy_from_slice(barred.words());
        for single in near.iter().filter(|near| near.len() == 1) {
            self.needed[row.clone()].iter_mut().zip(single.words()).for_each(|(needed, one)| *needed |= one);
        }
        let class = system.rules[rule].head as usize;
        let choices = near.iter().filter(|near| near.len() != 1).cloned().collect();
        self.masks[rule] = Some(Mask { head: (class / 64, 1 << (class % 64)), class, near: choices });
        near
    }

    /// Files each mask that can ever deploy something under the witnesses that the fewest others need, and the one that the most
    /// rules delete: where it cannot deploy anything, mostly one of these is missing.
    fn file(&mut self, near: &[Vec<Bits>]) {
        let (mut crowd, mut deleted) = (vec![0usize; self.woken.len()], vec![0usize; self.woken.len()]);
        near.iter().flatten().flat_map(Bits::ones).for_each(|class| crowd[class] += 1);
        let rows = self.barred.chunks(self.words.max(1));
        rows.flat_map(|row| ones(row.iter().copied())).for_each(|class| deleted[class] += 1);
        for (rule, near) in near.iter().enumerate() {
            let Some(mask) = &self.masks[rule] else { continue };
            if near.iter().any(Bits::is_empty) {
                continue;
            }
            let mut needed: Vec<usize> = near.iter().filter(|near| near.len() == 1).flat_map(Bits::ones).collect();
            needed.sort_by_key(|&class| crowd[class]);
            if let Some(fleeting) = (0..needed.len()).max_by_key(|&at| deleted[needed[at]]) {
                needed[fleeting..].rotate_left(1);
            }
            let quiet = (0..FILED - 1).map(|at| needed.get(at));
            for (at, class) in quiet.chain([needed.last()]).enumerate() {
                let rule = at * self.rule_words * 64 + rule;
                match class {
                    Some(&class) => insert(&mut self.filed[class], rule),
                    None => self.free[rule / 64] |= 1 << (rule % 64),
                }
            }
            near.iter().flat_map(Bits::ones).for_each(|class| insert(&mut self.woken[class], rule));
            insert(&mut self.makers[mask.class], rule);
        }
    }

    /// Whether a rule is a mask.
    pub fn is_mask(&self, rule: usize) -> bool {
        self.masks[rule].is_some()
    }

    fn mask(&self, rule: u32) -> &Mask {
        self.masks[rule as usize].as_ref().expect("only masks are asked for")
    }

    fn row<'t>(&self, table: &'t [u64], rule: u32) -> &'t [u64] {
        &table[rule as usize * self.words..][..self.words]
    }

    /// Writes what is there once a rule that can do so has deployed its pod and everything barred is gone.
    pub fn open(&self, rule: u32, here: &[u64], left: &mut Vec<u64>) {
        left.clear();
        left.extend(here.iter().zip(self.row(&self.barred, rule)).map(|(here, barred)| here & !barred));
        let (word, bit) = self.mask(rule).head;
        left[word] |= bit;
    }

    /// Whether a rule that can deploy something here is a mask and deletes something for it.
    pub fn is_door(&self, rule: u32, here: &[u64]) -> bool {
        self.is_mask(rule as usize)
            && !here.iter().zip(self.row(&self.barred, rule)).all(|(here, barred)| here & barred == 0)
    }

    /// Whether a door leads anywhere that what was there before did not: unless it deletes all that is new.
    pub fn leads_on(&self, door: u32, here: &[u64], before: &[u64]) -> bool {
        let new = here.iter().zip(before).map(|(here, before)| here & !before);
        before.is_empty() || !new.zip(self.row(&self.barred, door)).all(|(new, barred)| new & !barred == 0)
    }

    /// Writes what is there but for what every way on deletes first, which nothing after it can depend on.
    pub fn lasting(&self, spot: &Spot, lasting: &mut Vec<u64>) {
        lasting.clear();
        lasting.resize(self.words, u64::MAX);
        for door in spot.doors() {
            lasting.iter_mut().zip(self.row(&self.barred, door)).for_each(|(word, barred)| *word &= barred);
        }
        lasting.iter_mut().zip(&spot.words).for_each(|(word, here)| *word = here & !*word);
    }

    /// Deploys everything that can be deployed without deleting anything, and notes each rule; lists the doors to elsewhere.
    pub fn survey(&self, spot: &mut Spot) {
        let Spot { words, made, alive, todo, .. } = &mut *spot;
        made.clear();
        made.resize(self.rule_words, 0);
        alive.clone_from(&self.free);
        for class in ones(words.iter().copied()) {
            self.appear(class, made, alive);
        }
        todo.clear();
        todo.resize(self.rule_words, u64::MAX);
        self.look(spot);
    }

    /// Goes through a door, and surveys what is there then.
    pub fn enter(&self, door: u32, here: &Spot, next: &mut Spot) {
        next.words.clone_from(&here.words);
        next.doors.clone_from(&here.doors);
        next.made.clone_from(&here.made);
        next.alive.clone_from(&here.alive);
        self.pass(door, next);
    }

    /// The same, and leaves where it was.
    ///
    /// A rule that can deploy something now either could before, or what it makes was deleted, or it waited for something new.
    pub fn pass(&self, door: u32, spot: &mut Spot) {
        let Spot { words, rules, doors, made, alive, todo } = &mut *spot;
        std::mem::swap(doors, todo);
        let gone = words.iter().zip(self.row(&self.barred, door)).map(|(here, barred)| here & barred);
        for class in ones(gone) {
            for &(word, rules) in &self.makers[class] {
                made[word as usize] &= !rules;
                todo[word as usize] |= rules;
            }
            self.filed[class].iter().for_each(|&(word, rules)| alive[word as usize] &= !rules);
        }
        words.iter_mut().zip(self.row(&self.barred, door)).for_each(|(here, barred)| *here &= !barred);
        let mask = self.mask(door);
        words[mask.head.0] |= mask.head.1;
        self.appear(mask.class, made, alive);
        self.woken[mask.class].iter().for_each(|&(word, rules)| todo[word as usize] |= rules);
        rules.clear();
        rules.push(door);
        self.look(spot);
    }

    /// One more class is there.
    fn appear(&self, class: usize, made: &mut [u64], alive: &mut [u64]) {
        self.makers[class].iter().for_each(|&(word, rules)| made[word as usize] |= rules);
        self.filed[class].iter().for_each(|&(word, rules)| alive[word as usize] |= rules);
    }

    /// Looks at the rules that may be able to deploy something.
    fn look(&self, spot: &mut Spot) {
        let Spot { words, rules, doors, made, alive, todo } = spot;
        doors.clear();
        doors.resize(self.rule_words, 0);
        let mut at = 0;
        while at < todo.len() {
            todo[at] &= (0..FILED).fold(!made[at], |rules, sheet| rules & alive[sheet * self.rule_words + at]);
            if todo[at] == 0 {
                at += 1;
                continue;
            }
            let bit = todo[at] & todo[at].wrapping_neg();
            todo[at] &= !bit;
            let rule = at as u32 * 64 + bit.trailing_zeros();
            if !self.has_witnesses(rule, words) {
                continue;
            }
            if !words.iter().zip(self.row(&self.barred, rule)).all(|(here, barred)| here & barred == 0) {
                doors[at] |= bit;
                continue;
            }
            let mask = self.mask(rule);
            words[mask.head.0] |= mask.head.1;
            rules.push(rule);
            self.appear(mask.class, made, alive);
            // Other rules may have waited for this.
            for &(word, rules) in &self.woken[mask.class] {
                todo[word as usize] |= rules;
                at = at.min(word as usize);
            }
        }
        doors.iter_mut().zip(&*made).for_each(|(doors, made)| *doors &= !made);
    }

    fn has_witnesses(&self, rule: u32, here: &[u64]) -> bool {
        // All words at once: branches would be hard to predict.
        let missing = here.iter().zip(self.row(&self.needed, rule)).fold(0, |all, (here, needed)| all | needed & !here);
        missing == 0 && self.mask(rule).near.iter().all(|near| meets(near, here))
    }

    /// Adds to what is needed after a deployment what is needed for it, of what is there before it; tells of each class.
    pub fn require(&self, rule: u32, needs: &mut [u64], there: &[u64], mut each: impl FnMut(usize)) {
        let mut add = |needs: &mut [u64], class: usize| {
            needs[class / 64] |= 1 << (class % 64);
            each(class);
        };
        for (word, needed) in self.row(&self.needed, rule).iter().enumerate() {
            let missing = needed & !needs[word];
            ones([missing].into_iter()).for_each(|bit| add(needs, word * 64 + bit));
        }
        for near in &self.mask(rule).near {
            if !meets(near, needs) {
                let witness = near.ones().find(|&class| there[class / 64] >> (class % 64) & 1 == 1);
                add(needs, witness.expect("the rule can deploy from here"));
            }
        }
    }
}

fn insert(few: &mut Few, rule: usize) {
    let (word, bit) = ((rule / 64) as u32, 1 << (rule % 64));
    match few.iter_mut().rev().find(|(other, _)| *other == word) {
        Some((_, rules)) => *rules |= bit,
        None => few.push((word, bit)),
    }
}

fn meets(bits: &Bits, words: &[u64]) -> bool {
    bits.words().iter().zip(words).any(|(bits, words)| bits & words != 0)
}

fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(index, word)| {
        std::iter::successors((word != 0).then_some(word), |&rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, cases};

    use super::*;
    use crate::slice;
    use crate::walk::tests::random_switches;

    #[test]
    fn after_each_step_all_that_a_survey_sees_is_known() {
        let (mut rng, mut steps) = (Rng::new(79), 0);
        let cases = cases(300);
        for case in 0..cases {
            let (_, _, problem) = random_switches(&mut rng);
            let system = System::new(&problem, slice::slice(&problem));
            let masks = Masks::new(&system, true);
            let present = (0..system.classes.len()).filter(|&class| system.start[class] > 0);
            let words = Bits::of(system.classes.len(), present).words().to_vec();
            let mut spot = Spot { words, ..Spot::default() };
            masks.survey(&mut spot);
            for _ in 0..20 {
                let doors: Vec<u32> = spot.doors().collect();
                if doors.is_empty() {
                    break;
                }
                let (door, mut opened) = (rng.pick(&doors), Vec::new());
                masks.open(door, &spot.words, &mut opened);
                masks.pass(door, &mut spot);
                steps += 1;
                assert!(opened.iter().zip(&spot.words).all(|(opened, there)| opened & !there == 0), "case {case}");
                let mut seen = Spot { words: spot.words.clone(), ..Spot::default() };
                masks.survey(&mut seen);
                assert!(seen.rules.is_empty(), "case {case}: {:?} deploy more", seen.rules);
                assert!(seen.doors().eq(spot.doors()), "case {case}: {seen:?} and {spot:?}");
                differences_do_not_last(&masks, &spot);
            }
        }
        assert!(steps > cases, "only {steps} steps");
    }

    /// What is left out of what lasts makes no difference behind any door.
    fn differences_do_not_last(masks: &Masks, spot: &Spot) {
        let (mut lasting, mut whole, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        masks.lasting(spot, &mut lasting);
        for door in spot.doors() {
            masks.open(door, &spot.words, &mut whole);
            masks.open(door, &lasting, &mut rest);
            assert!(whole == rest && masks.has_witnesses(door, &lasting), "{spot:?}: {door}");
        }
    }
}
