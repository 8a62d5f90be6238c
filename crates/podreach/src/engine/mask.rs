//! Rules as masks: where no more than one pod of each class is ever of use, a rule that asks only for presence and absence.
//!
//! Most witnesses are of one class, so what a rule cannot do without is one mask, and what it cannot do with is another. Masks lie
//! side by side in one table: a search tries dozens of rules for each configuration that it makes.

use super::bits::Bits;
use super::form::Form;
use super::system::System;

/// The rules of a system, as masks where that is possible.
pub struct Masks {
    /// How many words a configuration has.
    words: usize,
    masks: Vec<Option<Mask>>,
    /// What each rule cannot do without, word by word.
    needed: Vec<u64>,
    /// What must be gone for each rule, word by word.
    barred: Vec<u64>,
    /// For each class, the rules that cannot do without one of a few classes, this one among them.
    waiting: Vec<Vec<u32>>,
    /// For each class, all rules that it can be a witness of.
    woken: Vec<Vec<u32>>,
    /// The rules that need no witness.
    free: Vec<u32>,
    /// The rules that are not masks.
    pub others: Vec<usize>,
}

struct Mask {
    /// The word and the bit of what it deploys.
    head: (usize, u64),
    class: usize,
    /// The witnesses of which there is a choice.
    near: Vec<Bits>,
}

/// A configuration along the way of a search.
#[derive(Clone, Debug, Default)]
pub struct Spot {
    /// What is there, as bits.
    pub words: Vec<u64>,
    /// The rules that can deploy something once others are gone, some perhaps twice.
    pub doors: Vec<u32>,
    /// The rules that led here from the configuration before.
    pub rules: Vec<u32>,
    /// The rules to look at.
    todo: Vec<u32>,
}

impl Masks {
    /// The rules of a system whose configurations are sets (`unit`); otherwise none is a mask.
    pub fn new(system: &System, unit: bool) -> Self {
        let (classes, rules) = (system.classes.len(), system.rules.len());
        let words = classes.div_ceil(64);
        let mut all = Self {
            words,
            masks: (0..rules).map(|_| None).collect(),
            needed: vec![0; rules * words],
            barred: vec![0; rules * words],
            waiting: vec![Vec::new(); classes],
            woken: vec![Vec::new(); classes],
            free: Vec::new(),
            others: Vec::new(),
        };
        let mut near = Vec::new();
        for rule in 0..rules {
            near.push(Vec::new());
            if unit && system.rules[rule].guard.is_plain() {
                near[rule] = all.add(system, rule);
            } else {
                all.others.push(rule);
            }
        }
        all.file(&near);
        all
    }

    /// Makes a rule a mask; returns the classes of each of its witnesses.
    fn add(&mut self, system: &System, rule: usize) -> Vec<Bits> {
        let guard = &system.rules[rule].guard;
        let members = |form: Form| system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
        let bits = |form: Form| Bits::of(system.classes.len(), members(form));
        let near: Vec<Bits> =
            guard.affinity.iter().flat_map(|condition| &condition.near).map(|&form| bits(form)).collect();
        let barred = Bits::of(system.classes.len(), guard.at_most.iter().flat_map(|&(form, _)| members(form)));
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

    /// Files each mask under the witness that the fewest others wait for.
    fn file(&mut self, near: &[Vec<Bits>]) {
        let mut crowd = vec![0usize; self.waiting.len()];
        near.iter().flatten().flat_map(Bits::ones).for_each(|class| crowd[class] += 1);
        for (rule, near) in near.iter().enumerate().filter(|&(rule, _)| self.masks[rule].is_some()) {
            let quiet = |near: &&Bits| near.ones().map(|class| crowd[class]).sum::<usize>();
            match near.iter().min_by_key(quiet) {
                Some(near) => near.ones().for_each(|class| self.waiting[class].push(rule as u32)),
                None => self.free.push(rule as u32),
            }
            near.iter().flat_map(Bits::ones).for_each(|class| self.woken[class].push(rule as u32));
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

    /// Writes what is there once a rule has deployed its pod and everything barred is gone; `false` when it cannot.
    pub fn open(&self, rule: u32, here: &[u64], left: &mut Vec<u64>) -> bool {
        let mask = self.mask(rule);
        let (word, bit) = mask.head;
        left.clear();
        if here[word] & bit != 0 {
            return false;
        }
        let (needed, barred) = (self.row(&self.needed, rule), self.row(&self.barred, rule));
        for ((here, needed), barred) in here.iter().zip(needed).zip(barred) {
            let rest = here & !barred;
            if rest & needed != *needed {
                return false;
            }
            left.push(rest);
        }
        let open = mask.near.iter().all(|near| meets(near, left));
        left[word] |= bit;
        open
    }

    /// Deploys everything that can be deployed without deleting anything, and notes each rule; lists the doors to elsewhere.
    pub fn survey(&self, spot: &mut Spot) {
        spot.doors.clear();
        spot.todo.clear();
        spot.todo.extend_from_slice(&self.free);
        ones(&spot.words).for_each(|class| spot.todo.extend_from_slice(&self.waiting[class]));
        while let Some(rule) = spot.todo.pop() {
            let mask = self.mask(rule);
            let (word, bit) = mask.head;
            let needed = self.row(&self.needed, rule);
            let has = |(here, needed): (&u64, &u64)| here & needed == *needed;
            if spot.words[word] & bit != 0 || !spot.words.iter().zip(needed).all(has) {
                continue;
            }
            if !mask.near.iter().all(|near| meets(near, &spot.words)) {
                continue;
            }
            if spot.words.iter().zip(self.row(&self.barred, rule)).all(|(here, barred)| here & barred == 0) {
                spot.words[word] |= bit;
                spot.rules.push(rule);
                // Other rules may have waited for this.
                spot.todo.extend_from_slice(&self.woken[mask.class]);
            } else {
                spot.doors.push(rule);
            }
        }
    }

    /// Adds to what is needed after a deployment what is needed for it, of what is there before it; tells of each class.
    pub fn require(&self, rule: u32, needs: &mut [u64], there: &[u64], mut each: impl FnMut(usize)) {
        let mut add = |needs: &mut [u64], class: usize| {
            needs[class / 64] |= 1 << (class % 64);
            each(class);
        };
        for (word, needed) in self.row(&self.needed, rule).iter().enumerate() {
            let missing = needed & !needs[word];
            ones(&[missing]).for_each(|bit| add(needs, word * 64 + bit));
        }
        for near in &self.mask(rule).near {
            if !meets(near, needs) {
                let witness = near.ones().find(|&class| there[class / 64] >> (class % 64) & 1 == 1);
                add(needs, witness.expect("the rule can deploy from here"));
            }
        }
    }
}

fn meets(bits: &Bits, words: &[u64]) -> bool {
    bits.words().iter().zip(words).any(|(bits, words)| bits & words != 0)
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors((word != 0).then_some(word), |&rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
    })
}
