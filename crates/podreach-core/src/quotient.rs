//! Types that nothing but their names tells apart, and how a question about some of them is asked of fewer types.
//!
//! Types with one spec and the same limits are *alike*: every rule treats a pod of one as a pod of any other. So a configuration may
//! give the pods of some of them to one, their *representative*, and every step of the one is a step of the other:
//!
//! ```text
//! h(s)(r, n)  =  Σ { s(p, n) : p is alike to r and not asked about }          s –a→ s'   iff   h(s) –h(a)→ h(s')
//! ```
//! (`h` is a bisimulation.) A goal speaks of types, not of what they look like, so those that it names stay apart from the others. Most
//! goals ask for one pod on one node. Then the pod is deployed at some time, unless it runs there at first, and what happened before
//! does not depend on which of its kind it is. So one type of each kind represents all pods that run, and another, with no pods at
//! first, whatever type is asked about: one quotient serves all such goals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::cancel;
use crate::configuration::{Atom, Configuration};
use crate::goal::Goal;
use crate::id::{IdVec, NodeId, PodId};
use crate::model::Model;
use crate::roster::Roster;
use crate::rule::passing;
use crate::step::{Action, Problem};
use crate::trace::Trace;
use crate::verdict::Proof;

/// A problem with types that are alike, and its quotient for goals of one pod.
#[derive(Clone, Debug)]
pub struct Quotient {
    full: Problem,
    kinds: Arc<Kinds>,
    single: Problem,
}

/// Which types are alike.
#[derive(Clone, Debug, Default)]
struct Kinds {
    of: IdVec<PodId, usize>,
    /// The types of each kind, in order; shadows are with their types.
    members: Vec<Vec<PodId>>,
}

/// A goal as its quotient has it.
#[derive(Clone, Debug)]
pub struct View {
    /// The problem in which it is asked.
    pub problem: Problem,
    /// What is asked there.
    pub goal: Goal,
    /// The type that each type of the quotient goes under, where that is another.
    names: BTreeMap<PodId, PodId>,
    /// What each atom of the goal in the quotient is in the goal as asked.
    asked: BTreeMap<Atom, Atom>,
    kinds: Arc<Kinds>,
}

impl Quotient {
    /// The quotient of a problem.
    pub fn new(full: &Problem) -> Self {
        let kinds = Arc::new(Kinds::new(&full.model));
        let mut quotient = Self { full: full.clone(), single: full.clone(), kinds };
        let stand: Vec<Vec<PodId>> =
            quotient.kinds.members.iter().map(|kind| kind.iter().copied().take(2).collect()).collect();
        quotient.single = quotient.merged(&stand, |kind| Some(kind[0]), &|_| false);
        quotient
    }

    /// The problem as it is.
    pub fn full(&self) -> &Problem {
        &self.full
    }

    /// The problem in which goals of one pod are asked.
    pub fn single(&self) -> &Problem {
        &self.single
    }

    /// The atom of [`Quotient::single`] that stands for a pod which is yet to be deployed.
    pub fn yet_to_come(&self, (pod, node): Atom) -> Atom {
        (self.kinds.newcomer(pod), node)
    }

    /// The kinds: types that are alike, in order.
    pub fn kinds(&self) -> &[Vec<PodId>] {
        &self.kinds.members
    }

    /// A goal that the start does not meet, as a quotient has it.
    pub fn view(&self, goal: &Goal) -> View {
        let of_one_pod = goal.any.iter().all(|alternative| alternative.size() == 1);
        if of_one_pod { self.view_of_one(goal) } else { self.view_of_several(goal) }
    }

    fn view_of_one(&self, goal: &Goal) -> View {
        let (mut names, mut asked, mut any) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for atom @ (pod, _) in goal.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom)) {
            let instead = self.yet_to_come(atom);
            if asked.insert(instead, *asked.get(&instead).unwrap_or(&atom)).is_none() {
                any.push([(instead, 1)].into_iter().collect());
            }
            if let Some((newcomer, representative)) = self.kinds.pair(pod)
                && !names.contains_key(&newcomer)
            {
                let other = if pod == representative { newcomer } else { representative };
                names.extend([(newcomer, pod), (representative, other)]);
            }
        }
        View { problem: self.single.clone(), goal: Goal { any }, names, asked, kinds: self.kinds.clone() }
    }

    fn view_of_several(&self, goal: &Goal) -> View {
        let named: BTreeSet<PodId> =
            goal.any.iter().flat_map(|alternative| alternative.iter().map(|((pod, _), _)| pod)).collect();
        let asked: BTreeSet<PodId> = named.iter().map(|&pod| self.full.model.base(pod)).collect();
        let other = |kind: &[PodId]| kind.iter().copied().find(|pod| !asked.contains(pod));
        let stand =
            |kind: &Vec<PodId>| kind.iter().copied().filter(|pod| asked.contains(pod)).chain(other(kind)).collect();
        let stand: Vec<Vec<PodId>> = self.kinds.members.iter().map(stand).collect();
        let problem = self.merged(&stand, |kind| other(kind), &|pod| asked.contains(&pod));
        let kinds = self.kinds.clone();
        View { problem, goal: goal.clone(), names: BTreeMap::new(), asked: BTreeMap::new(), kinds }
    }

    /// The problem that a proof about a goal is about, in the names of the proof.
    pub fn named(&self, goal: &Goal) -> Problem {
        let view = self.view(goal);
        if !view.is_single() {
            return view.problem;
        }
        let stand = self.kinds.members.iter();
        let stand: Vec<Vec<PodId>> =
            stand.map(|kind| kind.iter().take(2).map(|&pod| view.base_name(pod)).collect()).collect();
        self.merged(&stand, |kind| Some(view.base_name(kind[0])), &|_| false)
    }

    /// The problem in which of each kind only some types take part, and one has the pods of all that do not stay apart.
    fn merged(
        &self,
        stand: &[Vec<PodId>],
        representative: impl Fn(&[PodId]) -> Option<PodId>,
        apart: &dyn Fn(PodId) -> bool,
    ) -> Problem {
        let m = &self.full.model;
        let settled: Configuration = self.full.start.iter().collect();
        let mut merged = Problem { start: Arc::new(settled), ..self.full.clone() };
        if self.kinds.members.iter().any(|kind| kind.len() > 1) {
            let instead = |pod: PodId| {
                if m.bound(pod).is_some() {
                    return pod;
                }
                let base = m.base(pod);
                let kind = &self.kinds.members[self.kinds.of[base]];
                let base = representative(kind).filter(|_| !apart(base)).unwrap_or(base);
                if m.shadowed(pod).is_some() { m.shadow(base).unwrap_or(pod) } else { base }
            };
            let moved =
                |s: &Configuration| s.iter().map(|((pod, node), count)| ((instead(pod), node), count)).collect();
            merged.start = Arc::new(moved(&self.full.start));
            merged.kept = Arc::new(moved(&self.full.kept));
        }
        let listed = stand.iter().flatten().copied();
        let shadows = listed.clone().filter(|&pod| m.is_wanted(pod) || apart(pod)).filter_map(|pod| m.shadow(pod));
        let present = merged.start.iter().map(|((pod, _), _)| pod);
        merged.roster = Roster::of(m.every_pod().len(), listed.chain(shadows).chain(present));
        merged
    }
}

impl Kinds {
    fn new(m: &Model) -> Self {
        let cluster = m.cluster();
        let mut limits = BTreeMap::<PodId, Vec<usize>>::new();
        for (index, limit) in cluster.limits.iter().enumerate() {
            limit.pods.iter().for_each(|&pod| limits.entry(pod).or_default().push(index));
        }
        let (mut kinds, mut numbers) = (Self::default(), HashMap::new());
        for pod in m.pods() {
            // What waits is told apart: each such pod is bound as what it is.
            let waits = cluster.waiting.contains_key(&pod).then_some(pod);
            let key = (Arc::as_ptr(&cluster.pods[pod].spec), limits.remove(&pod).unwrap_or_default(), waits);
            let number = *numbers.entry(key).or_insert(kinds.members.len());
            if number == kinds.members.len() {
                kinds.members.push(Vec::new());
            }
            kinds.members[number].push(pod);
            kinds.of.push(number);
        }
        kinds
    }

    /// The types of a type's kind.
    fn alike(&self, pod: PodId) -> &[PodId] {
        &self.members[self.of[pod]]
    }

    /// The type that stands for whatever is asked about of a kind.
    fn newcomer(&self, pod: PodId) -> PodId {
        self.pair(pod).map_or(pod, |(newcomer, _)| newcomer)
    }

    /// The newcomer of a type's kind and its representative, where the two are not the type alone.
    fn pair(&self, pod: PodId) -> Option<(PodId, PodId)> {
        let kind = self.alike(pod);
        kind.get(1).map(|&newcomer| (newcomer, kind[0]))
    }
}

impl View {
    /// Whether it is asked in the quotient for goals of one pod.
    pub fn is_single(&self) -> bool {
        !self.asked.is_empty() || self.goal.any.is_empty()
    }

    /// Whether the quotient is the whole problem, and evidence about the one is evidence about the other.
    pub fn is_plain(&self, full: &Problem) -> bool {
        full.start.unsettled().is_empty() && self.kinds.members.iter().all(|kind| kind.len() == 1)
    }

    /// The type that a type of the quotient goes under.
    fn name(&self, m: &Model, pod: PodId) -> PodId {
        match m.shadowed(pod) {
            Some(base) => m.shadow(self.base_name(base)).unwrap_or(pod),
            None => self.base_name(pod),
        }
    }

    /// The same of a type that is not being deleted.
    fn base_name(&self, pod: PodId) -> PodId {
        self.names.get(&pod).copied().unwrap_or(pod)
    }

    /// A proof about the quotient in the names of the types asked about; and one in these names as it is about the quotient.
    ///
    /// The names of a kind are exchanged two by two, or one is used that no type of the quotient has, so both are the same function.
    pub fn renamed(&self, proof: &Proof) -> Proof {
        let m = &*self.problem.model;
        let back: BTreeMap<PodId, PodId> = self.names.iter().map(|(&from, &to)| (to, from)).collect();
        let rename = |pod: PodId| {
            let base = m.base(pod);
            let to = self.names.get(&base).or_else(|| back.get(&base)).copied().unwrap_or(base);
            if m.shadowed(pod).is_some() { m.shadow(to).unwrap_or(pod) } else { to }
        };
        let classes = proof.classes.iter();
        let classes = classes.map(|class| class.iter().map(|&(pod, node)| (rename(pod), node)).collect());
        Proof { classes: classes.collect(), ..proof.clone() }
    }

    /// The types that a type in the names of a proof stands for besides itself.
    pub fn stands_for(&self, pod: PodId) -> Vec<PodId> {
        let base = self.problem.model.base(pod);
        let apart = self.apart();
        if apart.contains(&base) || self.problem.model.bound(base).is_some() {
            return Vec::new();
        }
        self.kinds.alike(base).iter().copied().filter(|other| *other != base && !apart.contains(other)).collect()
    }

    /// The types that the goal names.
    fn apart(&self) -> BTreeSet<PodId> {
        let named = self.goal.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom));
        let named = named.map(|atom| self.asked.get(&atom).copied().unwrap_or(atom));
        named.map(|(pod, _)| self.problem.model.base(pod)).collect()
    }

    /// A trace of the quotient as one of the whole problem: with the types that were asked about, deleting what is there. Nodes settle
    /// when a pod needs it; or all of them at first, since spread constraints may refuse what they would accept on settled nodes.
    pub fn lifted(&self, full: &Problem, trace: &Trace, settling: Settling) -> Trace {
        let (s, steps) = ((*full.start).clone(), Vec::with_capacity(trace.len()));
        let mut lift = Lift { view: self, full, apart: self.apart(), s, steps };
        if settling == Settling::AtFirst {
            lift.settle_all();
        }
        trace.iter().for_each(|action| lift.step(action));
        while matches!(lift.steps.last(), Some(Action::Terminate(..))) {
            lift.steps.pop();
        }
        lift.steps.into_iter().collect()
    }
}

/// When nodes settle in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// When a pod needs it.
    AsNeeded,
    /// All of them at first.
    AtFirst,
}

/// A trace on its way from the quotient to the whole problem.
struct Lift<'a> {
    view: &'a View,
    full: &'a Problem,
    /// The types that the goal names.
    apart: BTreeSet<PodId>,
    s: Configuration,
    steps: Vec<Action>,
}

impl Lift<'_> {
    fn settle_all(&mut self) {
        let nodes: Vec<NodeId> = self.s.unsettled().iter().copied().collect();
        nodes.into_iter().for_each(|node| self.take(Action::Settle(node)));
    }

    fn step(&mut self, action: Action) {
        cancel::poll();
        match action {
            Action::Deploy(pod, node) => {
                let pod = self.name(pod, node);
                if passing::refusal(&self.full.model, &self.s, pod, node).is_some() {
                    self.take(Action::Settle(node));
                }
                self.take(Action::Deploy(pod, node));
            }
            Action::Delete(pod, node) => {
                let pod = self.there(pod, node);
                self.take(Action::Delete(pod, node));
            }
            Action::Terminate(pod, node) => {
                let pod = self.there(pod, node);
                self.take(Action::Terminate(pod, node));
            }
            Action::Settle(_) | Action::Withdraw(_) | Action::Add(_) | Action::Remove(_) => self.take(action),
        }
    }

    /// The type that a type of the quotient goes under on a node.
    fn name(&self, pod: PodId, node: NodeId) -> PodId {
        self.view.asked.get(&(pod, node)).map_or_else(|| self.view.name(&self.full.model, pod), |atom| atom.0)
    }

    /// A type that is on a node, may go, and that a type of the quotient stands for. One that the goal names goes last, unless it is
    /// meant itself.
    fn there(&self, pod: PodId, node: NodeId) -> PodId {
        let m = &*self.full.model;
        let own = self.name(pod, node);
        let base = m.base(own);
        let first = Some(base).filter(|pod| self.apart.contains(pod));
        let (named, others): (Vec<PodId>, Vec<PodId>) =
            self.view.kinds.alike(base).iter().partition(|pod| self.apart.contains(pod));
        let candidates = first.into_iter().chain(others).chain(named);
        let mut candidates = candidates.filter_map(|pod| if base == own { Some(pod) } else { m.shadow(pod) });
        let free = candidates.find(|&pod| self.s.count((pod, node)) > self.full.kept.count((pod, node)));
        free.unwrap_or(own)
    }

    /// Takes a step, legal or not: whoever checks the trace will say so.
    fn take(&mut self, action: Action) {
        match action {
            Action::Deploy(pod, node) => {
                self.consume(pod);
                self.s.add((pod, node));
            }
            Action::Delete(pod, node) => drop(self.gone((pod, node))),
            Action::Terminate(pod, node) => {
                let shadow = self.full.model.shadow(pod).filter(|_| self.gone((pod, node)));
                shadow.into_iter().for_each(|shadow| self.s.add((shadow, node)));
            }
            Action::Settle(node) => drop(self.s.settle(node)),
            Action::Withdraw(pod) => self.consume(pod),
            Action::Add(_) | Action::Remove(_) => {}
        }
        self.steps.push(action);
    }

    /// One pod less of a type waits for a node, if any does.
    fn consume(&mut self, pod: PodId) {
        if let Some(unbound) = self.full.model.consumed(pod) {
            self.gone(unbound);
        }
    }

    fn gone(&mut self, atom: Atom) -> bool {
        let there = self.s.count(atom) > 0;
        if there {
            self.s.remove(atom);
        }
        there
    }
}
