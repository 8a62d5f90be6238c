//! Packing: deploy what is wanted one pod after the other, and see how far that goes.
//!
//! The obvious way to show that many pods can be up at the same time. Several orders and several choices of nodes are tried; where all
//! fail, nothing is concluded. What packing finds is a run, and is checked like any other.

use podreach_core::rule::{Refusal, first_refusal};
use podreach_core::{Action, Atom, Configuration, Goal, Model, NodeId, PodId, Problem, Trace, Verdict, check};

use crate::engine::Decision;

/// So many instances of a pod type on some nodes.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) pod: PodId,
    pub(crate) count: u64,
    pub(crate) nodes: Vec<NodeId>,
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
    Emptiest,
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

/// Deploys all that is wanted on top of the kept pods; the verdict is checked against the problem.
pub(crate) fn packed(problem: &Problem, wants: &[Want], stop: &dyn Fn() -> bool) -> Option<(Goal, Decision)> {
    for order in [Order::Narrow, Order::Large, Order::Given] {
        for choice in [Choice::First, Choice::Emptiest, Choice::Last] {
            if stop() {
                return None;
            }
            let mut packing = Packing::new(problem, wants, choice);
            if packing.run(&ordered(&problem.model, wants, order), stop) {
                return packing.verdict(problem);
            }
        }
    }
    None
}

/// The most of what is wanted that packing deploys at the same time: how many, and the run.
pub(crate) fn most(problem: &Problem, wants: &[Want], stop: &dyn Fn() -> bool) -> Option<(u64, Goal, Decision)> {
    let asked: u64 = wants.iter().fold(0, |sum, want| sum.saturating_add(want.count));
    let mut best: Option<(u64, Packing<'_>)> = None;
    for order in [Order::Narrow, Order::Large, Order::Given] {
        for choice in [Choice::First, Choice::Emptiest, Choice::Last] {
            let mut packing = Packing::new(problem, wants, choice);
            packing.run(&ordered(&problem.model, wants, order), stop);
            let left = packing.left.iter().fold(0_u64, |sum, &left| sum.saturating_add(left));
            let met = asked.saturating_sub(left);
            if best.as_ref().is_none_or(|(most, _)| met > *most) {
                best = Some((met, packing));
            }
            if met == asked || stop() {
                return best
                    .and_then(|(met, packing)| packing.verdict(problem).map(|(goal, found)| (met, goal, found)));
            }
        }
    }
    let (met, packing) = best?;
    let (goal, decision) = packing.verdict(problem)?;
    Some((met, goal, decision))
}

fn ordered(m: &Model, wants: &[Want], order: Order) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..wants.len()).collect();
    let needy = |pod: PodId| !m.pod(pod).affinity.is_empty();
    let size = |pod: PodId| m.pod(pod).requests.iter().map(|(_, amount)| amount).max().unwrap_or(0);
    match order {
        Order::Given => {}
        Order::Narrow => indices.sort_by_key(|&at| {
            let Want { pod, nodes, .. } = &wants[at];
            let open = nodes.iter().filter(|&&node| m.placeable(*pod, node)).count();
            (needy(*pod), open, std::cmp::Reverse(size(*pod)))
        }),
        Order::Large => indices.sort_by_key(|&at| (needy(wants[at].pod), std::cmp::Reverse(size(wants[at].pod)))),
    }
    indices
}

struct Packing<'p> {
    m: &'p Model,
    wants: &'p [Want],
    choice: Choice,
    s: Configuration,
    deployed: Vec<Atom>,
    left: Vec<u64>,
    /// The nodes that may still take a pod of each want: a node that is too full stays so.
    open: Vec<Vec<NodeId>>,
    taken: Vec<Vec<usize>>,
}

impl<'p> Packing<'p> {
    fn new(problem: &'p Problem, wants: &'p [Want], choice: Choice) -> Self {
        let m = &*problem.model;
        let open = |want: &Want| {
            let mut nodes: Vec<NodeId> =
                want.nodes.iter().copied().filter(|&node| m.placeable(want.pod, node)).collect();
            if choice == Choice::Last {
                nodes.reverse();
            }
            nodes
        };
        let mut packing = Self {
            m,
            wants,
            choice,
            s: (*problem.kept).clone(),
            deployed: Vec::new(),
            left: wants.iter().map(|want| want.count).collect(),
            open: wants.iter().map(open).collect(),
            taken: vec![Vec::new(); wants.len()],
        };
        packing.count_kept();
        packing
    }

    /// What is kept and wanted need not be deployed.
    fn count_kept(&mut self) {
        for (at, want) in self.wants.iter().enumerate() {
            for &node in &want.nodes {
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
            let before = self.deployed.len();
            for &want in order {
                while self.left[want] > 0 && self.place_one(want) {}
                if stop() {
                    return false;
                }
            }
            if self.left.iter().all(|&left| left == 0) {
                return true;
            }
            if self.deployed.len() == before {
                return false;
            }
        }
    }

    fn place_one(&mut self, at: usize) -> bool {
        let want = &self.wants[at];
        let mut nodes = std::mem::take(&mut self.open[at]);
        if self.choice == Choice::Emptiest {
            nodes.sort_by_key(|&node| (self.s.on(node).map(|(_, count)| count).sum::<u64>(), node));
        }
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
        self.open[at] = kept;
        let Some(node) = found else { return false };
        self.s.add((want.pod, node));
        self.deployed.push((want.pod, node));
        self.left[at] -= 1;
        self.taken[at].extend(want.place(node));
        true
    }

    fn verdict(self, problem: &Problem) -> Option<(Goal, Decision)> {
        let pods: Vec<PodId> = self.wants.iter().map(|want| want.pod).collect();
        let goal = Goal::all(self.s.iter().filter(|((pod, _), _)| pods.contains(pod)).collect());
        let gone = problem.start.minus(&problem.kept);
        let gone = gone.iter().flat_map(|((pod, node), count)| (0..count).map(move |_| Action::Delete(pod, node)));
        let deployed = self.deployed.iter().map(|&(pod, node)| Action::Deploy(pod, node));
        let trace = Trace(gone.chain(deployed).collect());
        let checked = check(&problem.with_goal(goal.clone()), Verdict::Deployable(trace)).ok()?;
        Some((goal, Decision { checked, engine: "packing", efforts: Vec::new() }))
    }
}
