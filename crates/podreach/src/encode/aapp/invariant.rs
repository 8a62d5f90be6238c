//! Groups of invocations that never run together, checked on the policy itself.
//!
//! ```text
//! b may be completed by (f, w) ∈ b  iff  some block of f with the worker w lets f start where b − (f, w) runs and, for each affine entry
//!                                        that this does not satisfy, some function that it names; and no group is within all that
//! ```
//! At first nothing runs, so a set of groups is an invariant if none of them can be completed. Priorities are left out: they only forbid.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::policy::{Block, Entry, Policy, Query};

/// So many invocations of functions on workers.
pub type Group = BTreeMap<(usize, usize), u64>;

/// The most groups, squared, for which an invariant is looked for.
const INVARIANT_EFFORT: usize = 100_000_000;

impl Query {
    /// The groups of which one is within every configuration that has what is asked for.
    pub fn wanted(&self) -> Vec<Group> {
        let workers = self.goal.worker.map_or_else(|| (0..self.policy.workers.len()).collect(), |worker| vec![worker]);
        workers.into_iter().map(|worker| self.wanted_on(worker)).collect()
    }

    /// What a goal asks for on a worker.
    fn wanted_on(&self, worker: usize) -> Group {
        let mut group = Group::new();
        self.goal.functions.iter().for_each(|&function| *group.entry((function, worker)).or_default() += 1);
        group
    }

    /// The functions that can help: those asked for, and whatever one of these wants to run beside it.
    pub(super) fn helpers(&self) -> BTreeSet<usize> {
        let mut helpers: BTreeSet<usize> = self.goal.functions.iter().copied().collect();
        let mut todo: Vec<usize> = helpers.iter().copied().collect();
        while let Some(function) = todo.pop() {
            let entries = self.policy.blocks(function).into_iter().flat_map(|block| &block.affine);
            let entries: BTreeSet<Entry> = entries.copied().collect();
            let named = entries.into_iter().flat_map(|entry| self.policy.named(entry));
            todo.extend(named.filter(|&named| helpers.insert(named)));
        }
        helpers
    }

    /// The largest part of these groups that is inductive, without those that have another within, if it rules out the goal.
    pub fn inductive(&self, groups: impl IntoIterator<Item = Group>) -> Option<Vec<Group>> {
        let groups: BTreeSet<Group> = groups.into_iter().filter(|group| !group.is_empty()).collect();
        let mut groups: Vec<Group> = groups.into_iter().collect();
        if groups.len().saturating_mul(groups.len()) > INVARIANT_EFFORT {
            return None;
        }
        loop {
            let index = Index::new(&groups);
            let kept: Vec<Group> =
                groups.iter().filter(|group| !is_completed(&self.policy, group, &index)).cloned().collect();
            if kept.len() == groups.len() {
                break;
            }
            groups = kept;
        }
        let index = Index::new(&groups);
        let smallest: Vec<Group> = groups.iter().filter(|group| !index.has_another_within(group)).cloned().collect();
        self.wanted().iter().all(|wanted| index.has_within(wanted)).then_some(smallest)
    }
}

/// Whether some start completes a group where no group runs.
fn is_completed(policy: &Policy, group: &Group, groups: &Index<'_>) -> bool {
    group.keys().any(|&(function, worker)| {
        let mut rest = group.clone();
        take(&mut rest, (function, worker));
        let mut blocks = policy
            .blocks(function)
            .into_iter()
            .filter(|block| block.workers.as_ref().is_none_or(|workers| workers.contains(&worker)));
        blocks.any(|block| starts(policy, (function, worker), block, &block.affine, rest.clone(), groups))
    })
}

fn take(group: &mut Group, atom: (usize, usize)) {
    if let Some(count) = group.get_mut(&atom) {
        *count -= 1;
    }
    group.retain(|_, count| *count > 0);
}

/// Whether a function can start where at least `rest` runs, with witnesses for these entries.
fn starts(
    policy: &Policy,
    (function, worker): (usize, usize),
    block: &Block,
    entries: &[Entry],
    rest: Group,
    groups: &Index<'_>,
) -> bool {
    if is_in_the_way(policy, function, worker, block, &rest) || groups.has_within(&rest) {
        return false;
    }
    let Some((&entry, entries)) = entries.split_first() else { return true };
    if policy.named(entry).any(|named| rest.contains_key(&(named, worker))) {
        return starts(policy, (function, worker), block, entries, rest, groups);
    }
    policy.named(entry).any(|witness| {
        let mut more = rest.clone();
        more.insert((witness, worker), 1);
        starts(policy, (function, worker), block, entries, more, groups)
    })
}

/// Whether what runs keeps a function from starting, whatever else runs.
fn is_in_the_way(policy: &Policy, function: usize, worker: usize, block: &Block, running: &Group) -> bool {
    let here = || running.iter().filter(|&(&(_, at), _)| at == worker).map(|(&(other, _), &count)| (other, count));
    let used: u128 = here().map(|(other, n)| u128::from(policy.functions[other].memory) * u128::from(n)).sum();
    let invocations: u64 = here().map(|(_, count)| count).sum();
    used + u128::from(policy.functions[function].memory) > u128::from(policy.room(block, worker))
        || block.max_concurrent_invocations.is_some_and(|most| invocations >= most)
        || here().any(|(other, _)| block.anti_affine.iter().any(|&entry| policy.names(entry, other)))
}

/// Groups by their first member, to find those within another quickly.
struct Index<'g> {
    by_first: HashMap<(usize, usize), Vec<&'g Group>>,
}

impl<'g> Index<'g> {
    fn new(groups: &'g [Group]) -> Self {
        let mut by_first: HashMap<(usize, usize), Vec<&Group>> = HashMap::new();
        for group in groups {
            by_first.entry(*group.keys().next().expect("empty groups are left out")).or_default().push(group);
        }
        Self { by_first }
    }

    fn within<'i>(&'i self, whole: &'i Group) -> impl Iterator<Item = &'g Group> + 'i {
        let starting = whole.keys().filter_map(|first| self.by_first.get(first)).flatten().copied();
        starting.filter(|group| group.iter().all(|(atom, count)| whole.get(atom).is_some_and(|there| there >= count)))
    }

    fn has_within(&self, whole: &Group) -> bool {
        self.within(whole).next().is_some()
    }

    fn has_another_within(&self, whole: &Group) -> bool {
        self.within(whole).any(|group| group != whole)
    }
}
