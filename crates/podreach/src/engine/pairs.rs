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
        let mut fixpoint = Fixpoint::new(system, pairs);
        while fixpoint.grow() {}
        fixpoint.pairs
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

/// The pairs so far, and when they changed: a rule is looked at again only when something that it looks at has.
struct Fixpoint<'a> {
    system: &'a System,
    pairs: Pairs,
    /// The classes of each form.
    members: Vec<Bits>,
    /// For each rule, the classes of which not even one may be there.
    barred: Vec<Bits>,
    /// How many rules were looked at.
    now: u64,
    /// When a class became possible for the last time.
    possible_at: u64,
    /// When something became possible with each class for the last time.
    changed_at: Vec<u64>,
    /// When each rule was looked at.
    seen_at: Vec<u64>,
}

impl<'a> Fixpoint<'a> {
    fn new(system: &'a System, pairs: Pairs) -> Self {
        let classes = system.classes.len();
        let members = system.forms.weights.iter();
        let members =
            members.map(|weights| Bits::of(classes, weights.iter().map(|&(class, _)| class as usize))).collect();
        Self {
            system,
            pairs,
            members,
            barred: system.rules.iter().map(|rule| barred(system, &rule.guard)).collect(),
            now: 0,
            possible_at: 1,
            changed_at: vec![0; classes],
            seen_at: vec![0; system.rules.len()],
        }
    }

    /// Looks at all rules that may have more to say; tells whether one had.
    fn grow(&mut self) -> bool {
        let mut changed = false;
        for rule in 0..self.system.rules.len() {
            let seen = self.seen_at[rule];
            let guard = &self.system.rules[rule].guard;
            let forms = guard.affinity.iter().flat_map(|condition| &condition.near);
            let fresh = self.possible_at > seen
                || forms.into_iter().any(|&form| {
                    let mut members = self.system.forms.weights[form as usize].iter();
                    members.any(|&(class, _)| self.changed_at[class as usize] > seen)
                });
            if fresh {
                self.now += 1;
                self.seen_at[rule] = self.now;
                changed |= self.apply(rule);
            }
        }
        changed
    }

    /// Adds what a deployment by a rule allows; says whether that was anything new.
    fn apply(&mut self, rule: usize) -> bool {
        let guard = &self.system.rules[rule].guard;
        let head = self.system.rules[rule].head as usize;
        let Some(mut company) = self.company(guard, &self.barred[rule]) else { return false };
        let mut changed = !self.pairs.possible.contains(head);
        // What is found out now may matter to this very rule.
        let after = self.now + 1;
        if changed {
            self.pairs.possible.insert(head);
            self.possible_at = after;
        }
        company.subtract(&self.pairs.together[head]);
        for other in company.ones() {
            self.pairs.together[head].insert(other);
            self.pairs.together[other].insert(head);
            (self.changed_at[head], self.changed_at[other]) = (after, after);
            changed = true;
        }
        changed
    }

    /// The classes that may be present when the guard holds; `None` when it cannot hold.
    fn company(&self, guard: &FormGuard, barred: &Bits) -> Option<Bits> {
        let mut company = self.pairs.possible.clone();
        company.subtract(barred);
        let free = company.clone();
        let required = guard.affinity.iter().filter(|condition| condition.first_unless.is_none());
        let groups = required.flat_map(|condition| &condition.near).map(|&form| {
            let mut group = self.members[form as usize].clone();
            group.retain_within(&free);
            group
        });
        self.hoods(groups.collect())?.iter().for_each(|hood| company.retain_within(hood));
        for condition in guard.affinity.iter().filter(|condition| condition.first_unless.is_some()) {
            company.retain_within(&self.company_of_first(condition, &free));
        }
        Some(company)
    }

    /// What may be present with one of each group, once witnesses that leave another group without one are dropped; `None` when a
    /// group has none left.
    fn hoods(&self, mut groups: Vec<Bits>) -> Option<Vec<Bits>> {
        loop {
            let hoods: Vec<Bits> = groups.iter().map(|group| self.neighbourhood(group)).collect();
            let mut changed = false;
            for (index, group) in groups.iter_mut().enumerate() {
                let before = group.len();
                let others = hoods.iter().enumerate().filter(|&(other, _)| other != index);
                others.for_each(|(_, hood)| group.retain_within(hood));
                changed |= group.len() != before;
            }
            if groups.iter().any(Bits::is_empty) {
                return None;
            }
            if !changed {
                return Some(hoods);
            }
        }
    }

    /// The members of a group and what may be present with one of them.
    fn neighbourhood(&self, group: &Bits) -> Bits {
        let mut hood = group.clone();
        group.ones().for_each(|class| hood.extend(&self.pairs.together[class]));
        hood
    }

    /// What may be present with a pod that has its witnesses or is the first of its kind.
    fn company_of_first(&self, condition: &FormAffinity, free: &Bits) -> Bits {
        let mut first = free.clone();
        condition.first_unless.into_iter().for_each(|form| first.subtract(&self.members[form as usize]));
        let mut witnessed = free.clone();
        for &form in &condition.near {
            let mut group = self.members[form as usize].clone();
            group.retain_within(free);
            witnessed.retain_within(&self.neighbourhood(&group));
        }
        first.extend(&witnessed);
        first
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
