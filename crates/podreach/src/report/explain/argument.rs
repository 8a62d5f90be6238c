//! The argument of a proof: for each forbidden group, why none of its pods could have come last.
//!
//! This is what the checker has verified, by name. Text and pages are made from it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use podreach_core::rule::{self, Refusal};
use podreach_core::{Atom, Configuration, Problem, Proof};

use super::need::{self, Lack};
use crate::words::reason::reason;

/// A proof, with its groups found quickly.
pub(crate) struct Argument<'a> {
    pub(crate) problem: &'a Problem,
    /// Without at-most-one constraints: the groups that they abbreviate are listed instead.
    pub(crate) proof: Cow<'a, Proof>,
    class: BTreeMap<Atom, usize>,
    /// The groups that count each class.
    groups: Vec<Vec<usize>>,
}

/// Why a pod could not come last.
pub(crate) struct Last {
    /// The clause, to its end.
    pub(crate) why: String,
    /// The groups that rule out what it would need.
    pub(crate) leans_on: BTreeSet<usize>,
    /// The ways to get what it would need, where company is what it lacks.
    pub(crate) ways: Vec<Way>,
}

/// A way to get what a pod lacks, and what becomes of it.
pub(crate) struct Way {
    /// The pods that would have to be there as well.
    pub(crate) with: Vec<Atom>,
    /// The group that this would complete; `None` when the pod would still be refused.
    pub(crate) hits: Option<usize>,
}

impl<'a> Argument<'a> {
    pub(crate) fn new(problem: &'a Problem, proof: &'a Proof) -> Self {
        let proof = proof.in_groups();
        let members = proof.classes.iter().enumerate();
        let class = members.flat_map(|(index, class)| class.iter().map(move |&atom| (atom, index))).collect();
        let mut groups = vec![Vec::new(); proof.classes.len()];
        for (index, group) in proof.forbidden.iter().enumerate() {
            group.keys().for_each(|&class| groups[class].push(index));
        }
        Self { problem, proof, class, groups }
    }

    /// The groups that rule the goal out, one for each alternative.
    pub(crate) fn goals(&self) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let found = self.problem.goal.any.iter().filter_map(|alternative| self.forbidden_within(alternative));
        found.filter(|&group| seen.insert(group)).collect()
    }

    /// Hands out groups, first those about the goal, then those they lean on, then the rest, until `tell` has had enough; `tell` says
    /// what a group leans on.
    pub(crate) fn walk(&self, mut tell: impl FnMut(usize) -> Option<BTreeSet<usize>>) {
        let mut queue: std::collections::VecDeque<usize> = self.goals().into();
        let mut seen: BTreeSet<usize> = queue.iter().copied().collect();
        let mut rest = 0..self.proof.forbidden.len();
        loop {
            if queue.is_empty() {
                queue.extend(rest.by_ref().find(|&group| seen.insert(group)));
            }
            let Some(leans_on) = queue.pop_front().and_then(&mut tell) else { break };
            queue.extend(leans_on.into_iter().filter(|&group| seen.insert(group)));
        }
    }

    /// Why the first member of a class cannot be the last of a group to come.
    pub(crate) fn last(&self, group: usize, class: usize) -> Last {
        let m = &self.problem.model;
        let atom = self.proof.classes[class][0];
        let mut others = self.representatives(group);
        others.remove(atom);
        if let Some(before) = m.shadowed(atom.0) {
            let mut earlier = others.clone();
            earlier.add((before, atom.1));
            let why = "before its deletion began it was there as what it had been, which is ruled out".to_owned();
            return Last { leans_on: self.forbidden_within(&earlier).into_iter().collect(), ..Last::flatly(why) };
        }
        if m.bound(atom.0).is_some() {
            return Last::flatly("no more pods wait for a node than at first".to_owned());
        }
        if let Some(unbound) = m.consumed(atom.0) {
            others.add(unbound);
            if self.problem.start.count(unbound) == 0 {
                return Last::flatly("no pod of it waits for a node".to_owned());
            }
        }
        let s = others.plus(&self.problem.kept);
        if let Some(why) = &m.pod(atom.0).barred {
            return Last::flatly(format!("nothing deploys it: {why}"));
        }
        match rule::first_refusal(m, &s, atom.0, atom.1) {
            Some((_, refusal @ (Refusal::NoWitness(_) | Refusal::Skew { .. }))) => {
                self.lacking(atom, &others, need::lack(self.problem, &s, atom, &refusal))
            }
            Some((_, refusal)) => Last::flatly(reason(m, atom.0, atom.1, &refusal)),
            None => Last {
                leans_on: self.forbidden_within(&others).into_iter().collect(),
                ..Last::flatly("what it would join is ruled out already".to_owned())
            },
        }
    }

    /// What becomes of every way to get what a pod lacks: another group forbids it, or the pod is refused all the same.
    fn lacking(&self, (pod, node): Atom, others: &Configuration, lack: Lack) -> Last {
        let m = &self.problem.model;
        let (mut ways, mut refused) = (Vec::new(), None);
        for with in lack.ways {
            let mut there = others.clone();
            with.iter().for_each(|&atom| there.add(atom));
            let hits = self.forbidden_within(&there);
            if hits.is_none() && refused.is_none() {
                refused = rule::first_refusal(m, &there.plus(&self.problem.kept), pod, node);
            }
            ways.push(Way { with, hits });
        }
        let leans_on: BTreeSet<usize> = ways.iter().filter_map(|way| way.hits).collect();
        let refused = refused.map(|(_, refusal)| reason(m, pod, node, &refusal));
        let tail = match (leans_on.is_empty(), refused) {
            (true, None) => String::new(),
            (false, None) => ", which is ruled out".to_owned(),
            (true, Some(why)) => format!(", and would still be refused: {why}"),
            (false, Some(why)) => format!(", which is ruled out, or would still be refused: {why}"),
        };
        Last { why: lack.text + &tail, leans_on, ways }
    }

    /// A group that a configuration contains.
    fn forbidden_within(&self, s: &Configuration) -> Option<usize> {
        let mut counts = BTreeMap::<usize, u64>::new();
        for (atom, count) in s.iter() {
            if let Some(&class) = self.class.get(&atom) {
                *counts.entry(class).or_default() += count;
            }
        }
        counts.keys().flat_map(|&class| &self.groups[class]).find(|&&group| self.is_within(&counts, group)).copied()
    }

    /// Whether these counts have a group within.
    fn is_within(&self, counts: &BTreeMap<usize, u64>, group: usize) -> bool {
        let needed = &self.proof.forbidden[group];
        needed.iter().all(|(class, count)| counts.get(class).is_some_and(|have| have >= count))
    }

    /// A group with the first member of each class for all of it.
    fn representatives(&self, group: usize) -> Configuration {
        self.proof.forbidden[group].iter().map(|(&class, &count)| (self.proof.classes[class][0], count)).collect()
    }
}

impl Last {
    fn flatly(why: String) -> Self {
        Self { why, leans_on: BTreeSet::new(), ways: Vec::new() }
    }
}
