//! A register: what runs, with the answer to every question of a rule kept ready as pods come and go.
//!
//! A long trace asks the rules millions of times, and each step changes what few of them see. So what each selector sees is a list,
//! and a step touches the lists that its pod is in. Lists are sorted as a configuration is, so a register answers not just alike but
//! in the same order; tests compare the two along random walks.

use std::collections::BTreeSet;

use crate::configuration::{Atom, Configuration};
use crate::id::{IdVec, MatcherId, NodeId, PodId};
use crate::model::Model;
use crate::resource::Amount;
use crate::running::{Changing, Running};

/// What runs, listed by node, by pod type and by what sees it.
#[derive(Clone, Debug)]
pub struct Register<'m> {
    m: &'m Model,
    on: IdVec<NodeId, Vec<(PodId, u64)>>,
    /// How many pods that is.
    crowds: IdVec<NodeId, Amount>,
    of: IdVec<PodId, Vec<(NodeId, u64)>>,
    seen: IdVec<MatcherId, Vec<(Atom, u64)>>,
    /// For each pod type, the matchers that may see it.
    seen_by: IdVec<PodId, Vec<MatcherId>>,
    /// The nodes that still have what passes on them.
    unsettled: BTreeSet<NodeId>,
}

impl<'m> Register<'m> {
    /// The register of a configuration.
    pub fn new(m: &'m Model, s: &Configuration) -> Self {
        let matchers = m.cluster().matchers.entries().ids();
        let mut register = Self {
            m,
            on: m.nodes().map(|_| Vec::new()).collect(),
            crowds: m.nodes().map(|_| 0).collect(),
            of: m.every_pod().map(|_| Vec::new()).collect(),
            seen: matchers.clone().map(|_| Vec::new()).collect(),
            seen_by: seen_by(m),
            unsettled: s.unsettled().clone(),
        };
        s.iter().for_each(|(atom, count)| register.change(atom, |now| now.saturating_add(count)));
        register
    }

    /// Puts a new count in every list that an atom is in.
    fn change(&mut self, (pod, node): Atom, count: impl Fn(u64) -> u64 + Copy) {
        if node != NodeId::NOWHERE {
            let (before, after) = change(&mut self.on[node], pod, count);
            self.crowds[node] = self.crowds[node] + Amount::from(after) - Amount::from(before);
        }
        change(&mut self.of[pod], node, count);
        for &matcher in &self.seen_by[pod] {
            if !self.m.depends_on_node(matcher) || self.m.sees(matcher, pod, node) {
                change(&mut self.seen[matcher], (pod, node), count);
            }
        }
    }
}

/// For each pod type, the matchers that may see it, in order.
fn seen_by(m: &Model) -> IdVec<PodId, Vec<MatcherId>> {
    let mut seen_by: IdVec<PodId, Vec<MatcherId>> = m.every_pod().map(|_| Vec::new()).collect();
    for matcher in m.cluster().matchers.entries().ids() {
        let all = m.depends_on_node(matcher).then(|| m.every_pod().collect());
        let seen: Vec<PodId> = all.unwrap_or_else(|| m.seen_unbound(&[matcher]));
        seen.into_iter().for_each(|pod| seen_by[pod].push(matcher));
    }
    seen_by
}

/// Changes the count of an entry of a sorted list without zeros; returns it as it was and as it is.
fn change<K: Ord>(list: &mut Vec<(K, u64)>, key: K, count: impl Fn(u64) -> u64) -> (u64, u64) {
    let place = list.binary_search_by(|entry| entry.0.cmp(&key));
    let before = place.map_or(0, |at| list[at].1);
    let after = count(before);
    match place {
        Ok(at) if after == 0 => drop(list.remove(at)),
        Ok(at) => list[at].1 = after,
        Err(at) if after > 0 => list.insert(at, (key, after)),
        Err(_) => {}
    }
    (before, after)
}

impl Running for Register<'_> {
    fn count(&self, (pod, node): Atom) -> u64 {
        let list = self.of.get(pod).map_or(&[][..], Vec::as_slice);
        list.binary_search_by_key(&node, |entry| entry.0).map_or(0, |at| list[at].1)
    }

    fn on(&self, node: NodeId) -> impl Iterator<Item = (PodId, u64)> {
        self.on[node].iter().copied()
    }

    fn crowd(&self, node: NodeId) -> Amount {
        self.crowds[node]
    }

    fn of(&self, pod: PodId) -> impl Iterator<Item = (NodeId, u64)> {
        self.of[pod].iter().copied()
    }

    fn is_settled(&self, node: NodeId) -> bool {
        !self.unsettled.contains(&node)
    }

    fn seen<'a>(
        &'a self,
        m: &'a Model,
        matchers: impl Iterator<Item = MatcherId> + Clone + 'a,
    ) -> impl Iterator<Item = (PodId, NodeId, u64)> + 'a {
        let first = matchers.clone().next();
        let listed = first.map_or(&[][..], |matcher| self.seen[matcher].as_slice());
        let everything = self.of.iter().take(if first.is_none() { usize::MAX } else { 0 });
        let everything = everything.flat_map(|(q, nodes)| nodes.iter().map(move |&(at, count)| (q, at, count)));
        let all = listed.iter().map(|&((q, at), count)| (q, at, count)).chain(everything);
        all.filter(move |&(q, at, _)| matchers.clone().skip(1).all(|matcher| m.sees(matcher, q, at)))
    }
}

impl Changing for Register<'_> {
    fn add(&mut self, atom: Atom) {
        self.change(atom, |now| now.saturating_add(1));
    }

    fn remove(&mut self, atom: Atom) {
        self.change(atom, |now| now.checked_sub(1).expect("only what runs can be removed"));
    }

    fn settle(&mut self, node: NodeId) -> bool {
        self.unsettled.remove(&node)
    }

    fn unsettle(&mut self, node: NodeId) {
        self.unsettled.insert(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Semantics;
    use crate::rule::first_refusal;
    use crate::step::{Action, Problem};
    use crate::testing::{Rng, Shape, cases, problem, some_waiting};

    /// Both answer every question of every rule alike, down to the culprit.
    fn agree(problem: &Problem, register: &Register<'_>, s: &Configuration) {
        let m = &problem.model;
        for pod in m.every_pod() {
            assert!(register.of(pod).eq(s.of(pod)));
            for node in m.nodes() {
                assert_eq!(first_refusal(m, register, pod, node), first_refusal(m, s, pod, node), "{s:?}");
            }
        }
        for matcher in m.cluster().matchers.entries().ids() {
            let (one, none) = (std::iter::once(matcher), std::iter::empty());
            assert!(register.seen(m, one.clone()).eq(s.seen(m, one)));
            assert!(register.seen(m, none.clone()).eq(s.seen(m, none)));
        }
        assert!(m.nodes().all(|node| register.on(node).eq(s.on(node)) && register.crowd(node) == s.crowd(node)));
    }

    #[test]
    fn a_register_answers_as_the_configuration_does_along_random_walks() {
        let mut rng = Rng::new(61);
        let cases = cases(2_000);
        let mut taken = 0;
        for case in 0..cases {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            let problem = problem(&mut rng, shape);
            let problem = if case % 4 == 1 { some_waiting(&mut rng, &problem) } else { problem };
            let mut s = (*problem.start).clone();
            let mut register = Register::new(&problem.model, &s);
            agree(&problem, &register, &s);
            let (pods, nodes) =
                (problem.model.every_pod().collect::<Vec<_>>(), problem.model.nodes().collect::<Vec<_>>());
            for _ in 0..20 {
                let (pod, node) = (rng.pick(&pods), rng.pick(&nodes));
                let action = match rng.below(8) {
                    7 => Action::Withdraw(pod),
                    0 | 1 => Action::Delete(pod, node),
                    2 => Action::Terminate(pod, node),
                    3 => Action::Settle(node),
                    _ => Action::Deploy(pod, node),
                };
                let outcome = problem.step(&mut s, action);
                assert_eq!(problem.step(&mut register, action), outcome);
                taken += usize::from(outcome.is_ok());
                agree(&problem, &register, &s);
            }
        }
        assert!(taken > cases, "only {taken} steps were legal");
    }
}
