//! The preconditions of transitions as a prefix tree, along which the fixpoint of the mutexes goes.
//!
//! A transition has one precondition for each sum that its guard needs to be positive. Many transitions share a precondition, so each is
//! kept once; many share almost all of them, so transitions that begin with the same preconditions share that prefix. The root is the empty
//! prefix.
//!
//! Invariant: the path from the root to the end of a transition has exactly its preconditions, those that most transitions have first.
//! Cost: linear in the size of the guards, but for sorting.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::compile::{Sum, SumGuard, System};
use crate::group::Class;

/// The empty prefix.
pub(super) const ROOT: usize = 0;

/// The preconditions of the transitions of a system.
#[derive(Default)]
pub(super) struct Preconditions<'s> {
    /// Where each transition is in the tree.
    pub(super) paths: Vec<RulePath>,
    pub(super) conditions: Vec<Precondition>,
    pub(super) prefixes: Vec<Prefix>,
    /// The upper bounds of transitions, each list once.
    pub(super) bounds: Vec<&'s [(Sum, u128)]>,
}

/// A transition.
#[derive(Clone, Copy)]
pub(super) struct RulePath {
    pub(super) head: usize,
    /// Which list of upper bounds it has.
    pub(super) bounds: usize,
    /// The prefix of all its preconditions.
    pub(super) end: usize,
    /// Whether a required precondition has several witnesses: then it matters which of them may be there together.
    pub(super) has_choice: bool,
}

/// A witness that transitions need.
pub(super) struct Precondition {
    /// The classes that can be the witness and that no upper bound of the transitions rules out.
    pub(super) witnesses: Vec<usize>,
    /// Where the pod may also be the first of its kind: the sum that counts its kind. Other classes do not matter then.
    pub(super) first_unless: Option<Sum>,
    /// The prefixes that it extends, each with the longer one.
    pub(super) edges: Vec<(usize, usize)>,
}

impl Precondition {
    /// Whether its transitions are not applicable without one of the witnesses.
    pub(super) fn is_required(&self) -> bool {
        self.first_unless.is_none()
    }
}

/// A list of preconditions that some transition begins with.
#[derive(Default)]
pub(super) struct Prefix {
    /// The last of them.
    pub(super) condition: usize,
    /// The prefix without it.
    pub(super) before: usize,
    /// The preconditions that come next, each with the longer prefix.
    pub(super) edges: Vec<(usize, usize)>,
    /// The transitions that have no more than these.
    pub(super) transitions: Vec<usize>,
}

impl<'s> Preconditions<'s> {
    pub(super) fn new(system: &'s System) -> Self {
        let mut all = Self { prefixes: vec![Prefix::default()], ..Self::default() };
        let mut interned = Interned::default();
        let guards = system.transitions.iter().map(|transition| &transition.guard);
        let conditions: Vec<Vec<usize>> = guards.map(|guard| all.conditions_of(system, guard, &mut interned)).collect();
        // The earlier a precondition comes that many transitions have, the more they share. For transitions with just one it makes no
        // difference.
        let mut uses = vec![0usize; all.conditions.len()];
        conditions.iter().filter(|own| own.len() > 1).flatten().for_each(|&condition| uses[condition] += 1);
        for (transition, mut own) in system.transitions.iter().zip(conditions) {
            own.sort_unstable_by_key(|&condition| (Reverse(uses[condition]), condition));
            own.dedup();
            let end = own.iter().fold(ROOT, |before, &condition| all.prefix(before, condition, &mut interned));
            all.prefixes[end].transitions.push(all.paths.len());
            let has_choice = own.iter().any(|&condition| all.is_choice(condition));
            let bounds = all.bounds(&transition.guard.at_most, &mut interned);
            all.paths.push(RulePath { head: transition.head as usize, bounds, end, has_choice });
        }
        all
    }

    /// The required preconditions of a transition.
    pub(super) fn required(&self, transition: usize) -> impl Iterator<Item = &Precondition> {
        let prefixes =
            std::iter::successors(Some(self.paths[transition].end), |&prefix| Some(self.prefixes[prefix].before));
        let prefixes = prefixes.take_while(|&prefix| prefix != ROOT);
        let conditions = prefixes.map(|prefix| &self.conditions[self.prefixes[prefix].condition]);
        conditions.filter(|condition| condition.is_required())
    }

    fn is_choice(&self, condition: usize) -> bool {
        let condition = &self.conditions[condition];
        condition.is_required() && condition.witnesses.len() > 1
    }

    /// The preconditions of a guard; those that are new are added.
    fn conditions_of(&mut self, system: &System, guard: &SumGuard, interned: &mut Interned<'s>) -> Vec<usize> {
        let groups = guard.affinity.iter().flat_map(|c| c.near.iter().map(|&sum| (sum, c.first_unless)));
        let conditions = groups.map(|(sum, first_unless)| {
            let key = (witnesses(system, guard, sum), first_unless);
            *interned.conditions.entry(key).or_insert_with_key(|(witnesses, first_unless)| {
                let (witnesses, first_unless) = (witnesses.clone(), *first_unless);
                self.conditions.push(Precondition { witnesses, first_unless, edges: Vec::new() });
                self.conditions.len() - 1
            })
        });
        conditions.collect()
    }

    /// The prefix that is longer by a precondition; added if it is new.
    fn prefix(&mut self, before: usize, condition: usize, interned: &mut Interned<'s>) -> usize {
        *interned.prefixes.entry((before, condition)).or_insert_with(|| {
            let prefix = self.prefixes.len();
            self.prefixes[before].edges.push((condition, prefix));
            self.conditions[condition].edges.push((before, prefix));
            self.prefixes.push(Prefix { condition, before, ..Prefix::default() });
            prefix
        })
    }

    /// The number of a list of upper bounds; added if it is new.
    fn bounds(&mut self, bounds: &'s [(Sum, u128)], interned: &mut Interned<'s>) -> usize {
        *interned.bounds.entry(bounds).or_insert_with(|| {
            self.bounds.push(bounds);
            self.bounds.len() - 1
        })
    }
}

/// The numbers of what was added, by its content.
#[derive(Default)]
struct Interned<'s> {
    conditions: FxHashMap<(Vec<usize>, Option<Sum>), usize>,
    prefixes: FxHashMap<(usize, usize), usize>,
    bounds: FxHashMap<&'s [(Sum, u128)], usize>,
}

/// The classes of a sum of which one may be there when a guard holds.
fn witnesses(system: &System, guard: &SumGuard, sum: Sum) -> Vec<usize> {
    let allowed = system.sums.members(sum).filter(|&class| !is_barred(system, guard, class));
    allowed.map(|class| class as usize).collect()
}

/// Whether one pod of a class alone exceeds an upper bound.
fn is_barred(system: &System, guard: &SumGuard, class: Class) -> bool {
    guard.at_most.iter().any(|&(sum, bound)| system.sums.weight(sum, class) > bound)
}
