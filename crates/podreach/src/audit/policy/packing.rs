//! Packing: deploy what is wanted one pod after the other, and see how far that goes.
//!
//! The obvious way to show that many pods can be up at the same time. Several orders and several choices of nodes are tried, and a pod
//! that finds no node may have another one moved; where all that fails, nothing is concluded. What packing finds is a run, and is
//! checked like any other.

use std::sync::Arc;

use podreach_core::cancel::{self, polled};
use podreach_core::rule::{Refusal, first_refusal};
use podreach_core::{Action, Configuration, Goal, Model, NodeId, PodId, Problem, Verdict, check};

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
        use podreach_core::Id;
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
    let detailed = |choice: Choice| matches!(choice, Choice::Even | Choice::Tightest);
    WAYS.into_iter().filter(move |&(_, choice)| pairs <= DETAILED || !detailed(choice))
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
    s: Configuration,
    steps: Vec<Action>,
    left: Vec<u64>,
    /// The nodes that may still take a pod of each want: a node that is too full stays so, until a pod is moved.
    open: Vec<Option<Vec<NodeId>>>,
    taken: Vec<Vec<usize>>,
    kept: &'p Configuration,
    moves: usize,
}

impl<'p> Packing<'p> {
    fn new(problem: &'p Problem, wants: &'p [Want], choice: Choice) -> Self {
        let mut packing = Self {
            m: &problem.model,
            wants,
            choice,
            s: (*problem.kept).clone(),
            steps: Vec::new(),
            left: wants.iter().map(|want| want.count).collect(),
            open: Vec::new(),
            taken: vec![Vec::new(); wants.len()],
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
                while self.left[want] > 0 && self.place_one(want) {}
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

    fn place_one(&mut self, at: usize) -> bool {
        cancel::poll();
        let want = &self.wants[at];
        let mut nodes = self.open[at].take().unwrap_or_else(|| self.opened(want));
        self.sort(want.pod, &mut nodes);
        let mut found = None;
        let mut kept = Vec::with_capacity(nodes.len());
        for (index, &node) in nodes.iter().enumerate() {
            let place = want.place(node);
            if place.is_some_and(|place| self.taken[at].contains(&place)) {
                continue;
            }
            match first_refusal(self.m, &self.s, want.pod, node) {
                None => {
                    found = Some(node);
                    kept.extend_from_slice(&nodes[index..]);
                    break;
                }
                Some((_, Refusal::NoWitness(_) | Refusal::Skew { .. })) => kept.push(node),
                Some(_) => {}
            }
        }
        if let Some(node) = found {
            self.deploy(at, node);
        }
        // A want that is met asks no more, and there may be many.
        self.open[at] = (self.left[at] > 0).then_some(kept);
        found.is_some()
    }

    /// The nodes in the order in which they are tried.
    fn sort(&self, pod: PodId, nodes: &mut [NodeId]) {
        let (m, s) = (self.m, &self.s);
        match self.choice {
            Choice::First | Choice::Last => {}
            Choice::Emptiest => {
                nodes.sort_by_cached_key(|&node| (s.on(node).map(|(_, count)| count).sum::<u64>(), node));
            }
            Choice::Even => nodes.sort_by_cached_key(|&node| {
                let near = |key| m.neighbours(key, node).iter().map(|&near| s.count((pod, near))).sum::<u64>();
                let own = m.pod(pod).spread.iter().map(|spread| near(spread.key)).sum::<u64>();
                (own, s.count((pod, node)), s.on(node).map(|(_, count)| count).sum::<u64>(), node)
            }),
            Choice::Tightest => nodes.sort_by_cached_key(|&node| (std::cmp::Reverse(full(m, s, node)), node)),
        }
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
        let free = |pod: &PodId| {
            let mut own = self.wants.iter().filter(|want| want.pod == *pod);
            own.next().is_some_and(|want| want.apart.is_none() && want.nodes.len() > 1) && own.next().is_none()
        };
        let deployed = |pod: &PodId| self.s.count((*pod, node)) > self.kept.count((*pod, node));
        self.s.on(node).map(|(pod, _)| pod).filter(free).filter(deployed).collect()
    }

    fn elsewhere(&self, pod: PodId, not: NodeId, looks: &mut usize) -> Option<NodeId> {
        let want = self.wants.iter().find(|want| want.pod == pod)?;
        let mut nodes = want.nodes.iter().copied().filter(|&node| node != not && self.m.placeable(pod, node));
        nodes.find(|&node| {
            *looks = looks.saturating_sub(1);
            *looks > 0 && first_refusal(self.m, &self.s, pod, node).is_none()
        })
    }

    /// The steps after which each node is as it was taken here: without what passes.
    fn settled(&self, problem: &Problem) -> Vec<Action> {
        let used = |node: &NodeId| self.steps.iter().any(|step| matches!(step, Action::Deploy(_, at) if at == node));
        let needed = problem.start.unsettled().iter().copied().filter(|node| self.m.settling_matters() || used(node));
        needed.map(Action::Settle).collect()
    }

    fn verdict(self, problem: &Problem) -> Option<Decision> {
        let pods: Vec<PodId> = self.wants.iter().map(|want| want.pod).collect();
        let goal = Goal::all(self.s.iter().filter(|((pod, _), _)| pods.contains(pod)).collect());
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
