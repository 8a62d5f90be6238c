//! Linear forms: the sums over counts that guards compare, each kept once and updated as pods come and go.
//!
//! Many guards share a sum: every pod on a node looks at the same free memory, every pod of a group at the same witnesses. A state
//! carries the value of each form, so that a guard is a few comparisons and a step touches only the forms its class is in.

use rustc_hash::FxHashMap;

use super::group::{Class, Group};

/// A form, by its index.
pub type Form = u32;

/// The forms of a system.
#[derive(Clone, Debug)]
pub struct Forms {
    /// The weights of each form, by class.
    pub weights: Vec<Vec<(Class, u128)>>,
    /// The forms each class is in, with its weight.
    pub of: Vec<Vec<(Form, u128)>>,
    known: FxHashMap<Vec<(Class, u128)>, Form>,
}

impl Forms {
    /// No forms yet, over so many classes.
    pub fn new(classes: usize) -> Self {
        Self { weights: Vec::new(), of: vec![Vec::new(); classes], known: FxHashMap::default() }
    }

    /// The form with these weights, sorted by class, made if there is none.
    pub fn intern(&mut self, weights: Vec<(Class, u128)>) -> Form {
        if let Some(&form) = self.known.get(&weights) {
            return form;
        }
        let form = self.weights.len() as Form;
        weights.iter().for_each(|&(class, weight)| self.of[class as usize].push((form, weight)));
        self.weights.push(weights.clone());
        self.known.insert(weights, form);
        form
    }

    /// The form with these weights, sorted by class.
    pub fn number(&self, weights: &[(Class, u128)]) -> Option<Form> {
        self.known.get(weights).copied()
    }

    /// The weight of a class in a form.
    pub fn weight(&self, form: Form, class: Class) -> u128 {
        let weights = &self.weights[form as usize];
        weights.binary_search_by_key(&class, |entry| entry.0).map_or(0, |at| weights[at].1)
    }
}

/// A guard in terms of forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormGuard {
    /// The value of each form must not exceed the bound.
    pub at_most: Vec<(Form, u128)>,
    /// The upper bounds on things that several pods may share.
    pub distinct: Vec<FormDistinct>,
    /// The witnesses it needs.
    pub affinity: Vec<FormAffinity>,
    /// The balances it needs.
    pub spread: Vec<FormSpread>,
}

/// A form and the number of positive ones among others must not exceed a bound, unless all of some forms are positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormDistinct {
    /// What counts by instance.
    pub weights: Form,
    /// What counts once.
    pub groups: Vec<Form>,
    /// The most that may be.
    pub bound: u128,
    /// The forms that make the bound irrelevant if all are positive; without any, it never is.
    pub unless: Vec<Form>,
}

/// Every local form is positive, or the cluster-wide one is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormAffinity {
    /// One form per topology key.
    pub near: Vec<Form>,
    /// The form that must be zero for the pod to be the first of its kind.
    pub first_unless: Option<Form>,
}

/// No domain is further behind the own one than the skew allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormSpread {
    /// The domains, each with what is counted of kept pods.
    pub domains: Vec<(Form, u64)>,
    /// The index of the own domain.
    pub own: usize,
    /// One if the pod itself counts.
    pub joins: u64,
    /// How far ahead the own domain may be.
    pub max_skew: u64,
}

impl FormGuard {
    /// Whether it asks only for presence and absence.
    pub fn is_plain(&self) -> bool {
        self.spread.is_empty()
            && self.distinct.is_empty()
            && self.at_most.iter().all(|&(_, bound)| bound == 0)
            && self.affinity.iter().all(|condition| condition.first_unless.is_none())
    }

    /// Whether every upper bound holds.
    pub fn is_bounded(&self, state: &State) -> bool {
        self.at_most.iter().all(|&(form, bound)| state.value(form) <= bound)
            && !self.distinct.iter().any(|condition| condition.is_hopeless(state))
    }

    /// A form that must grow for the guard to hold; `None` when it asks for no more.
    pub fn needed(&self, state: &State) -> Option<Form> {
        let lonely = self.affinity.iter().find_map(|condition| condition.lonely(state));
        let lonely = lonely.or_else(|| self.distinct.iter().find_map(|condition| condition.lacking(state)));
        lonely.or_else(|| self.spread.iter().find_map(|condition| condition.behind(state)))
    }
}

impl FormDistinct {
    /// Whether the bound does not hold.
    pub fn exceeds(&self, state: &State) -> bool {
        let there = self.groups.iter().filter(|&&form| state.value(form) > 0).count();
        state.value(self.weights).saturating_add(there as u128) > self.bound
    }

    /// Whether the bound holds, or does not matter.
    pub fn holds(&self, state: &State) -> bool {
        !self.exceeds(state) || (!self.unless.is_empty() && self.lacking(state).is_none())
    }

    /// Whether the bound does not hold, and no more pods can make it irrelevant.
    pub fn is_hopeless(&self, state: &State) -> bool {
        self.unless.is_empty() && self.exceeds(state)
    }

    /// A form that must be positive since the bound does not hold, and is not.
    pub fn lacking(&self, state: &State) -> Option<Form> {
        self.unless.iter().copied().find(|&form| state.value(form) == 0).filter(|_| self.exceeds(state))
    }

    /// Every form that is compared with the bound.
    pub fn counted(&self) -> impl Iterator<Item = Form> + '_ {
        std::iter::once(self.weights).chain(self.groups.iter().copied())
    }
}

impl FormAffinity {
    /// A local form that is zero, unless the pod may be the first.
    pub fn lonely(&self, state: &State) -> Option<Form> {
        let form = self.near.iter().copied().find(|&form| state.value(form) == 0)?;
        let first = self.first_unless.is_some_and(|form| state.value(form) == 0);
        (!first).then_some(form)
    }
}

impl FormSpread {
    /// The form of a domain that is too far behind.
    pub fn behind(&self, state: &State) -> Option<Form> {
        let size = |(form, base): (Form, u64)| state.value(form).saturating_add(base.into());
        let here = size(self.domains[self.own]).saturating_add(self.joins.into());
        let behind = |&&domain: &&(Form, u64)| here.saturating_sub(size(domain)) > self.max_skew.into();
        self.domains.iter().find(behind).map(|&(form, _)| form)
    }
}

/// Counts per class, with the value of every form.
#[derive(Clone, Debug)]
pub struct State {
    /// How many pods of each class.
    pub counts: Vec<u64>,
    values: Vec<u128>,
}

impl State {
    /// Nothing but the kept pods.
    pub fn empty(forms: &Forms) -> Self {
        Self { counts: vec![0; forms.of.len()], values: vec![0; forms.weights.len()] }
    }

    /// Exactly a group.
    pub fn of_group(forms: &Forms, group: &[(Class, u64)]) -> Self {
        let mut state = Self::empty(forms);
        group.iter().for_each(|&(class, count)| state.add(forms, class, count));
        state
    }

    /// The value of a form.
    pub fn value(&self, form: Form) -> u128 {
        self.values[form as usize]
    }

    /// More pods of a class.
    pub fn add(&mut self, forms: &Forms, class: Class, count: u64) {
        self.counts[class as usize] += count;
        for &(form, weight) in &forms.of[class as usize] {
            let value = &mut self.values[form as usize];
            *value = value.saturating_add(weight.saturating_mul(count.into()));
        }
    }

    /// Fewer pods of a class.
    pub fn remove(&mut self, forms: &Forms, class: Class, count: u64) {
        self.counts[class as usize] -= count;
        for &(form, weight) in &forms.of[class as usize] {
            self.values[form as usize] -= weight.saturating_mul(count.into());
        }
    }

    /// The counts as a group.
    pub fn group(&self) -> Group {
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.map(|(class, &count)| (class as Class, count)).collect()
    }
}
