//! Guards over atoms as guards over classes.
//!
//! What has no class is never there. Lists of weights that guards share are folded once.

use podreach_core::Atom;
use podreach_core::cancel;
use podreach_core::guard::{Affinity, Distinct, Guard, Spread, Weights};
use rustc_hash::FxHashMap;

use super::form::{Form, FormAffinity, FormDistinct, FormGuard, FormSpread, Forms};
use super::group::Class;

/// Makes guards over classes, and the forms that these compare.
pub struct Fold<'a> {
    class_of: &'a FxHashMap<Atom, Class>,
    forms: Forms,
    /// The forms of shared lists, by where these are and how long.
    known: FxHashMap<(usize, usize), Form>,
}

impl<'a> Fold<'a> {
    /// For so many classes, to which these atoms belong.
    pub fn new(class_of: &'a FxHashMap<Atom, Class>, classes: usize) -> Self {
        Self { class_of, forms: Forms::new(classes), known: FxHashMap::default() }
    }

    /// The forms of all guards so far.
    pub fn into_forms(self) -> Forms {
        self.forms
    }

    /// The guard over classes; `None` when it never holds, since a witness that it needs is never there. All guards must live until
    /// the last one is folded.
    pub fn guard(&mut self, guard: &Guard) -> Option<FormGuard> {
        let mut at_most: Vec<(Form, u128)> =
            guard.at_most.iter().map(|condition| (self.weights(&condition.weights), condition.bound)).collect();
        at_most.retain(|&(form, _)| !self.is_empty(form));
        at_most.sort_by_key(|&(form, bound)| (&self.forms.weights[form as usize], bound));
        at_most.dedup();
        let distinct = guard.distinct.iter().filter_map(|condition| self.distinct(condition)).collect();
        let affinity = guard.affinity.iter().map(|condition| self.affinity(condition)).collect::<Option<_>>()?;
        let spread = guard.spread.iter().map(|condition| self.spread(condition)).collect();
        Some(FormGuard { at_most, distinct, affinity, spread })
    }

    fn distinct(&mut self, condition: &Distinct) -> Option<FormDistinct> {
        let weights = self.weights(&condition.weights);
        let mut groups = self.groups(&condition.groups);
        groups.retain(|&group| !self.is_empty(group));
        let unless = self.groups(&condition.unless);
        let unless = if unless.iter().any(|&group| self.is_empty(group)) { Vec::new() } else { unless };
        let idle = self.is_empty(weights) && groups.is_empty();
        (!idle).then_some(FormDistinct { weights, groups, bound: condition.bound, unless })
    }

    fn affinity(&mut self, condition: &Affinity) -> Option<FormAffinity> {
        let near = self.groups(&condition.near);
        let first_unless = condition.first_unless.as_ref().map(|group| self.group(group));
        let lost = first_unless.is_none() && near.iter().any(|&group| self.is_empty(group));
        (!lost).then_some(FormAffinity { near, first_unless })
    }

    fn spread(&mut self, condition: &Spread) -> FormSpread {
        let domains = condition.domains.iter().map(|domain| (self.group(&domain.atoms), domain.base)).collect();
        FormSpread { domains, own: condition.own, joins: condition.joins, max_skew: condition.max_skew }
    }

    fn is_empty(&self, form: Form) -> bool {
        self.forms.weights[form as usize].is_empty()
    }

    fn weights(&mut self, weights: &Weights) -> Form {
        let place = (weights.as_ptr().addr(), weights.len());
        if let Some(&form) = self.known.get(&place) {
            return form;
        }
        let form = self.form(weights.iter().copied());
        self.known.insert(place, form);
        form
    }

    fn groups(&mut self, groups: &[Vec<Atom>]) -> Vec<Form> {
        groups.iter().map(|group| self.group(group)).collect()
    }

    fn group(&mut self, atoms: &[Atom]) -> Form {
        self.form(atoms.iter().map(|&atom| (atom, 1)))
    }

    fn form(&mut self, atoms: impl Iterator<Item = (Atom, u128)>) -> Form {
        cancel::poll();
        let classes = atoms.filter_map(|(atom, weight)| Some((*self.class_of.get(&atom)?, weight)));
        let mut classes: Vec<(Class, u128)> = classes.collect();
        classes.sort_unstable();
        classes.dedup();
        self.forms.intern(classes)
    }
}
