//! Rules as masks: where no more than one pod of each class is ever of use, a rule that asks only for presence and absence.

use super::bits::Bits;
use super::form::{Form, FormGuard};
use super::system::{Rule, System};

/// The rules of a system, as masks where that is possible.
pub struct Masks {
    masks: Vec<Option<Mask>>,
    /// For each class, the rules that cannot do without one of a few classes, this one among them.
    waiting: Vec<Vec<u32>>,
    /// The rules that need no witness.
    free: Vec<u32>,
    /// The rules that are not masks.
    pub others: Vec<usize>,
}

struct Mask {
    /// The word and the bit of what it deploys.
    head: (usize, u64),
    near: Vec<Bits>,
    barred: Bits,
}

impl Masks {
    /// The rules of a system whose configurations are sets (`unit`); otherwise none is a mask.
    pub fn new(system: &System, unit: bool) -> Self {
        let masks: Vec<Option<Mask>> = system.rules.iter().map(|rule| mask(system, rule).filter(|_| unit)).collect();
        let mut all = Self {
            masks: Vec::new(),
            waiting: vec![Vec::new(); system.classes.len()],
            free: Vec::new(),
            others: Vec::new(),
        };
        // How many rules could be filed under each class: a rule waits where the fewest others do.
        let mut crowd = vec![0usize; system.classes.len()];
        let near = || masks.iter().flatten().flat_map(|mask| &mask.near);
        near().for_each(|near| near.ones().for_each(|class| crowd[class] += 1));
        for (rule, mask) in masks.iter().enumerate() {
            let Some(mask) = mask else {
                all.others.push(rule);
                continue;
            };
            let quiet = |near: &&Bits| near.ones().map(|class| crowd[class]).sum::<usize>();
            match mask.near.iter().min_by_key(quiet) {
                Some(near) => near.ones().for_each(|class| all.waiting[class].push(rule as u32)),
                None => all.free.push(rule as u32),
            }
        }
        Self { masks, ..all }
    }

    /// Whether a rule is a mask.
    pub fn is_mask(&self, rule: usize) -> bool {
        self.masks[rule].is_some()
    }

    /// The rules that might deploy something in a configuration; some perhaps twice.
    pub fn near(&self, here: &[u64]) -> Vec<u32> {
        let mut rules = self.free.clone();
        if self.others.len() < self.masks.len() {
            ones(here).for_each(|class| rules.extend(&self.waiting[class]));
        }
        rules
    }

    /// Writes what is there once a rule has deployed its pod and everything barred is gone; `false` when it cannot.
    pub fn open(&self, rule: u32, here: &[u64], left: &mut [u64]) -> bool {
        let mask = self.masks[rule as usize].as_ref().expect("only masks open");
        let (word, bit) = mask.head;
        if here[word] & bit != 0 {
            return false;
        }
        left.iter_mut().zip(here).zip(mask.barred.words()).for_each(|((left, here), barred)| *left = here & !barred);
        let open = mask.near.iter().all(|near| near.words().iter().zip(&*left).any(|(near, left)| near & left != 0));
        left[word] |= bit;
        open
    }

    /// Deploys everything that can be deployed without deleting anything, and tells of each rule and what was there before it; says
    /// whether there was any.
    pub fn fill(&self, here: &mut [u64], mut each: impl FnMut(u32, &[u64])) -> bool {
        let mut any = false;
        let mut rules = self.near(here);
        while let Some(rule) = rules.pop() {
            let mask = self.masks[rule as usize].as_ref().expect("only masks are near");
            if !mask.fits(here) {
                continue;
            }
            each(rule, here);
            let (word, bit) = mask.head;
            here[word] |= bit;
            any = true;
            // Other rules may have waited for this.
            rules = self.near(here);
        }
        any
    }
}

impl Mask {
    /// Whether it deploys something new without deleting anything.
    fn fits(&self, here: &[u64]) -> bool {
        let (word, bit) = self.head;
        here[word] & bit == 0
            && self.barred.words().iter().zip(here).all(|(barred, here)| barred & here == 0)
            && self.near.iter().all(|near| near.words().iter().zip(here).any(|(near, here)| near & here != 0))
    }
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors((word != 0).then_some(word), |&rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
    })
}

/// The mask of a rule that asks only for presence and absence.
fn mask(system: &System, rule: &Rule) -> Option<Mask> {
    let guard: &FormGuard = &rule.guard;
    let members = |form: Form| system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
    let bits = |form: Form| Bits::of(system.classes.len(), members(form));
    guard.is_plain().then(|| Mask {
        head: (rule.head as usize / 64, 1 << (rule.head % 64)),
        near: guard.affinity.iter().flat_map(|condition| &condition.near).map(|&form| bits(form)).collect(),
        barred: Bits::of(system.classes.len(), guard.at_most.iter().flat_map(|&(form, _)| members(form))),
    })
}
