//! Which two pods can ever be present together.
//!
//! A polynomial fixpoint over pairs of classes. When a pod is deployed, what else can be there? Whatever no bound rules out and has,
//! for each affinity group, a witness that can be there at the same time. What the fixpoint does not reach is never present
//! together: pairs that are an invariant of their own, and a sieve for every other search.

use super::bits::Bits;
use super::form::{FormAffinity, FormGuard};
use super::group::{Class, Group};
use super::system::System;

/// The pairs of classes that may be present together.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The classes that may be present at all.
    pub possible: Bits,
    /// For each class, those that may be present with it; the class itself if two of it may.
    pub together: Vec<Bits>,
}

impl Pairs {
    /// The fixpoint of a system.
    pub fn new(system: &System) -> Self {
        let classes = system.classes.len();
        let present = |least: u64| Bits::of(classes, (0..classes).filter(|&class| system.start[class] >= least));
        let mut pairs = Self { possible: present(1), together: vec![Bits::none(classes); classes] };
        for class in pairs.possible.clone().ones() {
            pairs.together[class] = present(1);
            if system.start[class] < 2 {
                pairs.together[class].remove(class);
            }
        }
        let barred: Vec<Bits> = system.rules.iter().map(|rule| barred(system, &rule.guard)).collect();
        loop {
            let mut changed = false;
            for (rule, barred) in barred.iter().enumerate() {
                changed |= pairs.apply(system, rule, barred);
            }
            if !changed {
                return pairs;
            }
        }
    }

    /// Adds what a deployment by a rule allows; says whether that was anything new.
    fn apply(&mut self, system: &System, rule: usize, barred: &Bits) -> bool {
        let guard = &system.rules[rule].guard;
        let head = system.rules[rule].head as usize;
        let Some(company) = self.company(system, guard, barred) else { return false };
        let mut changed = !self.possible.contains(head);
        self.possible.insert(head);
        for other in company.ones() {
            if !self.together[head].contains(other) {
                self.together[head].insert(other);
                self.together[other].insert(head);
                changed = true;
            }
        }
        changed
    }

    /// The classes that may be present when the guard holds; `None` when it cannot hold.
    fn company(&self, system: &System, guard: &FormGuard, barred: &Bits) -> Option<Bits> {
        let mut free = self.possible.clone();
        free.subtract(barred);
        let required = guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
        let groups: Vec<Bits> = required
            .flat_map(|condition| &condition.near)
            .map(|&form| {
                let members = system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
                Bits::of(self.together.len(), members.filter(|&class| free.contains(class)))
            })
            .collect();
        let groups = self.consistent(groups)?;
        let mut company = free.clone();
        for group in &groups {
            company.retain_within(&self.neighbourhood(group));
        }
        for condition in guard.affinity.iter().filter(|condition| condition.first_unless.is_some()) {
            company.retain_within(&self.company_of_first(system, condition, &free));
        }
        Some(company)
    }

    /// Drops witnesses that leave another group without one; `None` when a group has none left.
    fn consistent(&self, mut groups: Vec<Bits>) -> Option<Vec<Bits>> {
        loop {
            let hoods: Vec<Bits> = groups.iter().map(|group| self.neighbourhood(group)).collect();
            let mut changed = false;
            for (index, group) in groups.iter_mut().enumerate() {
                let before = group.clone();
                hoods
                    .iter()
                    .enumerate()
                    .filter(|&(other, _)| other != index)
                    .for_each(|(_, hood)| group.retain_within(hood));
                changed |= *group != before;
            }
            if groups.iter().any(Bits::is_empty) {
                return None;
            }
            if !changed {
                return Some(groups);
            }
        }
    }

    /// The members of a group and what may be present with one of them.
    fn neighbourhood(&self, group: &Bits) -> Bits {
        let mut hood = group.clone();
        group.ones().for_each(|class| hood.extend(&self.together[class]));
        hood
    }

    /// What may be present with a pod that has its witnesses or is the first of its kind.
    fn company_of_first(&self, system: &System, condition: &FormAffinity, free: &Bits) -> Bits {
        let members = |form: u32| {
            let classes = system.forms.weights[form as usize].iter().map(|&(class, _)| class as usize);
            Bits::of(self.together.len(), classes)
        };
        let mut first = free.clone();
        condition.first_unless.into_iter().for_each(|form| first.subtract(&members(form)));
        let mut witnessed = free.clone();
        for &form in &condition.near {
            let mut group = members(form);
            group.retain_within(free);
            witnessed.retain_within(&self.neighbourhood(&group));
        }
        first.extend(&witnessed);
        first
    }

    /// A pair (or a single class) of the group that is never present.
    pub fn exclusive(&self, group: &[(Class, u64)]) -> Option<Group> {
        for (index, &(a, count)) in group.iter().enumerate() {
            if !self.possible.contains(a as usize) {
                return Some(vec![(a, 1)]);
            }
            if count > 1 && !self.together[a as usize].contains(a as usize) {
                return Some(vec![(a, 2)]);
            }
            let other = group[index + 1..].iter().find(|&&(b, _)| !self.together[a as usize].contains(b as usize));
            if let Some(&(b, _)) = other {
                return Some(if self.possible.contains(b as usize) { vec![(a, 1), (b, 1)] } else { vec![(b, 1)] });
            }
        }
        None
    }
}

/// The classes of which not even one may be there when the guard holds.
fn barred(system: &System, guard: &FormGuard) -> Bits {
    let too_heavy = guard.at_most.iter().flat_map(|&(form, bound)| {
        system.forms.weights[form as usize]
            .iter()
            .filter(move |&&(_, weight)| weight > bound)
            .map(|&(class, _)| class as usize)
    });
    Bits::of(system.classes.len(), too_heavy)
}
