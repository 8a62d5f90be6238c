//! Packing: deploy what is wanted one pod after the other, and see how far that goes.
//!
//! The obvious way to show that many pods can be up at the same time. Several orders and several choices of nodes are tried, and a pod
//! that finds no node may have another one moved; where all that fails, nothing is concluded. What packing finds is a run, and is
//! checked like any other.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use podreach_core::cancel::{self, polled};
use podreach_core::cluster::Spread;
use podreach_core::id::DomainId;
use podreach_core::register::Register;
use podreach_core::resource::Amount;
use podreach_core::rule::{Refusal, first_refusal};
use podreach_core::running::{Changing, Running};
use podreach_core::{Action, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Verdict, check};
use rustc_hash::FxHashMap;

use super::share::{Shares, full};
use crate::engine::Decision;

/// So many instances of a pod type on some nodes.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) pod: PodId,
    pub(crate) count: u64,
    /// Where; mostly shared, since there may be as many wants as pods.
    pub(crate) nodes: Arc<[NodeId]>,
    /// For each node (by its index), the place it is in, when no two instances may be in one place.
    pub(crate) apart: Option<Vec<usize>>,
}

impl Want {
    /// The place of a node; `None` when places do not matter.
    pub(crate) fn place(&self, node: NodeId) -> Option<usize> {
        self.apart.as_ref().map(|places| places[node.index()])
    }
}

/// Which node a pod goes to, of those that take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    First,
    Last,
    /// The one with the fewest pods.
    Emptiest,
    /// The one with the fewest pods of its own kind in the domains it spreads over.
    Even,
    /// The one with the least room left.
    Tightest,
}

/// Which pods come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Those that need nobody, and of them those with the fewest nodes.
    Narrow,
    /// Those that request most.
    Large,
    /// As they were given.
    Given,
}

/// What is tried, one after the other.
const WAYS: [(Order, Choice); 10] = [
    (Order::Narrow, Choice::First),
    (Order::Large, Choice::Tightest),
    (Order::Narrow, Choice::Even),
    (Order::Narrow, Choice::Emptiest),
    (Order::Narrow, Choice::Tightest),
    (Order::Large, Choice::First),
    (Order::Large, Choice::Emptiest),
    (Order::Narrow, Choice::Last),
    (Order::Given, Choice::First),
    (Order::Given, Choice::Last),
];

/// How many pairs of a pod and a node there may be for choices that look at all nodes in detail.
const DETAILED: u64 = 2_000_000;

/// The ways that are quick enough for so many pods and nodes.
fn ways(wants: &[Want]) -> impl Iterator<Item = (Order, Choice)> {
    let pairs =
        wants.iter().map(|want| want.count.saturating_mul(want.nodes.len() as u64)).fold(0, u64::saturating_add);
    WAYS.into_iter().filter(move |&(_, choice)| pairs <= DETAILED || !matches!(choice, Choice::Even | Choice::Tightest))
}

/// How many pods may be missing for others to be moved, how many are, and how many pods and nodes are looked at for each move.
const MISSING: u64 = 32;
const MOVES: usize = 64;
const LOOKS: usize = 4_096;

/// Deploys all that is wanted on top of the kept pods; the verdict is checked against the problem.
pub(crate) fn packed(problem: &Problem, wants: &[Want], stop: &dyn Fn() -> bool) -> Option<Decision> {
    let shares = Shares::new(&problem.model);
    for (order, choice) in ways(wants) {
        if stop() {
            return None;
        }
        let mut packing = Packing::new(problem, wants, choice);
        if packing.run(&ordered(&problem.model, &shares, wants, order), stop) {
            return packing.verdict(problem);
        }
    }
    None
}

/// The most of what is wanted that packing deploys at the same time: how many, and the run.
pub(crate) fn most(problem: &Problem, wants: &[Want], stop: &dyn Fn() -> bool) -> Option<(u64, Decision)> {
    let asked: u64 = wants.iter().fold(0, |sum, want| sum.saturating_add(want.count));
    let shares = Shares::new(&problem.model);
    let mut best: Option<(u64, Packing<'_>)> = None;
    for (order, choice) in ways(wants) {
        let mut packing = Packing::new(problem, wants, choice);
        packing.run(&ordered(&problem.model, &shares, wants, order), stop);
        let left = packing.left.iter().fold(0_u64, |sum, &left| sum.saturating_add(left));
        let met = asked.saturating_sub(left);
        if best.as_ref().is_none_or(|(most, _)| met > *most) {
            best = Some((met, packing));
        }
        if met == asked || stop() {
            break;
        }
    }
    let (met, packing) = best?;
    Some((met, packing.verdict(problem)?))
}

fn ordered(m: &Model, shares: &Shares, wants: &[Want], order: Order) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..wants.len()).collect();
    if wants.len() < 2 {
        return indices;
    }
    let needy = |pod: PodId| !m.pod(pod).affinity.is_empty();
    let size = |pod: PodId| std::cmp::Reverse(shares.of(m, pod));
    match order {
        Order::Given => {}
        Order::Narrow => indices.sort_by_cached_key(|&at| {
            cancel::poll();
            let Want { pod, nodes, .. } = &wants[at];
            let open = nodes.iter().filter(|&&node| m.placeable(*pod, node)).count();
            (needy(*pod), open, size(*pod))
        }),
        Order::Large => indices.sort_by_key(|&at| (needy(wants[at].pod), size(wants[at].pod))),
    }
    indices
}

struct Packing<'p> {
    m: &'p Model,
    wants: &'p [Want],
    choice: Choice,
    /// What is there by now: rules ask about it for every pod and node that is tried.
    s: Register<'p>,
    steps: Vec<Action>,
    left: Vec<u64>,
    /// The nodes that may still take a pod of each want: a node that is too full stays so, until a pod is moved.
    open: Vec<Option<Vec<NodeId>>>,
    taken: Vec<Vec<usize>>,
    /// For each pod type, the want whose pods may be anywhere else, if there is just that one.
    movable: Vec<Option<usize>>,
    kept: &'p Configuration,
    moves: usize,
}

impl<'p> Packing<'p> {
    fn new(problem: &'p Problem, wants: &'p [Want], choice: Choice) -> Self {
        let mut packing = Self {
            m: &problem.model,
            wants,
            choice,
            s: Register::new(&problem.model, &problem.kept),
            steps: Vec::new(),
            left: wants.iter().map(|want| want.count).collect(),
            open: Vec::new(),
            taken: vec![Vec::new(); wants.len()],
            movable: movable(&problem.model, wants),
            kept: &problem.kept,
            moves: MOVES,
        };
        packing.open_all();
        packing.count_kept();
        packing
    }

    /// Takes every node for one that may take a pod, from when a want has its turn.
    fn open_all(&mut self) {
        self.open = vec![None; self.wants.len()];
    }

    fn opened(&self, want: &Want) -> Vec<NodeId> {
        let nodes = want.nodes.iter().copied().filter(|&node| self.m.placeable(want.pod, node));
        let mut nodes: Vec<NodeId> = nodes.collect();
        if self.choice == Choice::Last {
            nodes.reverse();
        }
        nodes
    }

    /// What is kept and wanted need not be deployed.
    fn count_kept(&mut self) {
        for (at, want) in polled(self.wants.iter().enumerate()) {
            if self.s.of(want.pod).next().is_none() {
                continue;
            }
            for &node in want.nodes.iter() {
                let place = want.place(node);
                for _ in 0..self.s.count((want.pod, node)) {
                    if self.left[at] > 0 && place.is_none_or(|place| !self.taken[at].contains(&place)) {
                        self.left[at] -= 1;
                        self.taken[at].extend(place);
                    }
                }
            }
        }
    }

    /// Goes round until all is there, or nothing more can be deployed.
    fn run(&mut self, order: &[usize], stop: &dyn Fn() -> bool) -> bool {
        loop {
            let before = self.steps.len();
            for &want in order {
                self.place(want);
                if stop() {
                    return false;
                }
            }
            if self.left.iter().all(|&left| left == 0) {
                return true;
            }
            let missing = self.left.iter().fold(0, |sum: u64, &left| sum.saturating_add(left));
            let worth = self.steps.len() == before && missing <= MISSING && self.moves > 0;
            let moved = worth && order.iter().any(|&want| self.left[want] > 0 && self.make_room(want));
            if self.steps.len() == before && !moved {
                return false;
            }
        }
    }

    /// Places pods of a want until it is met, or none of its nodes takes one more.
    fn place(&mut self, at: usize) {
        if self.left[at] == 0 {
            return;
        }
        let want = &self.wants[at];
        let mut nodes = self.open[at].take().unwrap_or_else(|| self.opened(want));
        self.sort(want.pod, &mut nodes);
        while let Some(index) = self.place_one(at, &mut nodes) {
            if self.left[at] == 0 {
                // A want that is met asks no more, and there may be many.
                return;
            }
            self.sort_again(want.pod, &mut nodes, index);
        }
        self.open[at] = Some(nodes);
    }

    /// Places one pod on the first node that takes it, and leaves out those before that never will; where the node is by then.
    fn place_one(&mut self, at: usize, nodes: &mut Vec<NodeId>) -> Option<usize> {
        cancel::poll();
        let want = &self.wants[at];
        let (mut open, mut found) = (0, None);
        for index in 0..nodes.len() {
            let node = nodes[index];
            let place = want.place(node);
            if place.is_some_and(|place| self.taken[at].contains(&place)) {
                continue;
            }
            match first_refusal(self.m, &self.s, want.pod, node) {
                None => {
                    found = Some(index);
                    break;
                }
                Some((_, Refusal::NoWitness(_) | Refusal::Skew { .. })) => {
                    nodes[open] = node;
                    open += 1;
                }
                Some(_) => {}
            }
        }
        nodes.drain(open..found.unwrap_or(nodes.len()));
        found?;
        self.deploy(at, nodes[open]);
        Some(open)
    }

    /// The nodes in the order in which they are tried.
    fn sort(&self, pod: PodId, nodes: &mut [NodeId]) {
        match self.choice {
            Choice::First | Choice::Last => {}
            Choice::Emptiest | Choice::Tightest => nodes.sort_by_cached_key(|&node| self.load(node)),
            Choice::Even => {
                let near = self.near(pod);
                nodes.sort_by_cached_key(|&node| {
                    let own = near.iter().map(|(spread, counts)| {
                        self.m.domain(spread.key, node).and_then(|domain| counts.get(&domain)).copied().unwrap_or(0)
                    });
                    (own.sum::<u64>(), self.s.count((pod, node)), self.s.crowd(node), node)
                });
            }
        }
    }

    /// The same order, after a pod was deployed on the node at an index.
    fn sort_again(&self, pod: PodId, nodes: &mut [NodeId], index: usize) {
        match self.choice {
            Choice::First | Choice::Last => {}
            Choice::Even => self.sort(pod, nodes),
            Choice::Emptiest | Choice::Tightest => {
                let load = self.load(nodes[index]);
                let before = nodes[..index].partition_point(|&other| self.load(other) < load);
                if before < index {
                    nodes[before..=index].rotate_right(1);
                } else {
                    let after = nodes[index + 1..].partition_point(|&other| self.load(other) < load);
                    nodes[index..=index + after].rotate_left(1);
                }
            }
        }
    }

    /// What decides when a node is tried: how many pods it has, or how little room is left.
    fn load(&self, node: NodeId) -> (Reverse<Amount>, Amount, NodeId) {
        match self.choice {
            Choice::Tightest => (Reverse(full(self.m, &self.s, node)), 0, node),
            _ => (Reverse(0), self.s.crowd(node), node),
        }
    }

    /// For each spread constraint of a pod, how many of its kind are in each domain.
    fn near(&self, pod: PodId) -> Vec<(Spread, FxHashMap<DomainId, u64>)> {
        let of_constraints = self.m.pod(pod).spread.iter().map(|&spread| {
            let mut counts = FxHashMap::default();
            for (node, count) in self.s.of(pod) {
                if let Some(domain) = self.m.domain(spread.key, node) {
                    *counts.entry(domain).or_default() += count;
                }
            }
            (spread, counts)
        });
        of_constraints.collect()
    }

    fn deploy(&mut self, at: usize, node: NodeId) {
        let want = &self.wants[at];
        self.s.add((want.pod, node));
        self.steps.push(Action::Deploy(want.pod, node));
        self.left[at] -= 1;
        self.taken[at].extend(want.place(node));
    }

    /// Moves one pod elsewhere, so that one of a want finds a node.
    fn make_room(&mut self, at: usize) -> bool {
        let Want { pod, nodes, .. } = &self.wants[at];
        let mut looks = LOOKS;
        self.moves = self.moves.saturating_sub(1);
        for &node in nodes.iter().filter(|&&node| self.m.placeable(*pod, node)) {
            if self.wants[at].place(node).is_some_and(|place| self.taken[at].contains(&place)) {
                continue;
            }
            for other in self.movable(node) {
                if looks == 0 {
                    return false;
                }
                looks -= 1;
                self.s.remove((other, node));
                if first_refusal(self.m, &self.s, *pod, node).is_none() {
                    self.s.add((*pod, node));
                    let elsewhere = self.elsewhere(other, node, &mut looks);
                    self.s.remove((*pod, node));
                    if let Some(elsewhere) = elsewhere {
                        self.steps.push(Action::Delete(other, node));
                        self.deploy(at, node);
                        self.s.add((other, elsewhere));
                        self.steps.push(Action::Deploy(other, elsewhere));
                        self.open_all();
                        return true;
                    }
                }
                self.s.add((other, node));
            }
        }
        false
    }

    /// The pods on a node that were deployed here and may be anywhere else.
    fn movable(&self, node: NodeId) -> Vec<PodId> {
        let movable = self.s.on(node).map(|(pod, _)| pod).filter(|pod| self.movable[pod.index()].is_some());
        movable.filter(|&pod| self.s.count((pod, node)) > self.kept.count((pod, node))).collect()
    }

    fn elsewhere(&self, pod: PodId, not: NodeId, looks: &mut usize) -> Option<NodeId> {
        let want = &self.wants[self.movable[pod.index()]?];
        let mut nodes = want.nodes.iter().copied().filter(|&node| node != not && self.m.placeable(pod, node));
        nodes.find(|&node| {
            *looks = looks.saturating_sub(1);
            *looks > 0 && first_refusal(self.m, &self.s, pod, node).is_none()
        })
    }

    /// The steps after which each node is as it was taken here: without what passes.
    fn settled(&self, problem: &Problem) -> Vec<Action> {
        let needed = problem.start.unsettled().iter().copied().filter(|node| {
            self.m.settling_matters()
                || self.steps.iter().any(|step| matches!(step, Action::Deploy(_, at) if at == node))
        });
        needed.map(Action::Settle).collect()
    }

    fn verdict(self, problem: &Problem) -> Option<Decision> {
        let pods: BTreeSet<PodId> = self.wants.iter().map(|want| want.pod).collect();
        let there = pods.iter().flat_map(|&pod| self.s.of(pod).map(move |(node, count)| ((pod, node), count)));
        let goal = Goal::all(there.collect());
        let m = &problem.model;
        let gone = problem.start.minus(&problem.kept);
        // What waits for a node and is wanted is bound.
        let gone = gone.iter().filter(|((pod, _), _)| m.bound(*pod).is_none_or(|bound| !pods.contains(&bound)));
        let gone = gone.flat_map(|(atom, count)| (0..count).map(move |_| m.deletion(atom)));
        let trace = gone.chain(self.settled(problem)).chain(self.steps).collect();
        let checked = check(&problem.with_goal(goal), Verdict::Deployable(trace)).ok()?;
        Some(Decision { checked, engine: "packing", efforts: Vec::new() })
    }
}

/// For each pod type, the want whose pods may be anywhere else, if there is just that one.
fn movable(m: &Model, wants: &[Want]) -> Vec<Option<usize>> {
    let (mut movable, mut seen) = (vec![None; m.every_pod().len()], vec![false; m.every_pod().len()]);
    for (at, want) in wants.iter().enumerate() {
        let free = want.apart.is_none() && want.nodes.len() > 1 && !seen[want.pod.index()];
        movable[want.pod.index()] = free.then_some(at);
        seen[want.pod.index()] = true;
    }
    movable
}
