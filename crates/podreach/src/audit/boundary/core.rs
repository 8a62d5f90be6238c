//! Cores: which facts a rule cannot do without.
//!
//! Most boundaries stand on what refuses the goal's own pods on its own nodes, so those facts are tried first; else all facts are
//! candidates. Halves are dropped before single facts, and at the end each fact left is dropped once more to see that it is needed.

use std::collections::BTreeSet;

use podreach_core::{Goal, Id, NodeId, PodId};

use super::fact::{Fact, facts, only, refusing};
use super::{label, scope};
use crate::audit::policy::world::World;
use crate::engine::{Budget, Decider};

/// How many clusters are looked at for one core.
const TRIES: usize = 400;

struct Trial<'a> {
    world: &'a World,
    goal: &'a Goal,
    pods: BTreeSet<PodId>,
    budget: &'a Budget<'a>,
    tries: usize,
    /// Whether every trial was decided.
    sure: bool,
}

/// A minimal set of facts that keeps the goal out of reach, and whether it is surely minimal.
pub(crate) fn core(world: &World, goal: &Goal, budget: &Budget<'_>) -> (Vec<Fact>, bool) {
    let (pods, nodes) = scope(world, goal);
    let (part, map) = world.part(|pod| pods.contains(&pod), |node| nodes.contains(&node));
    let goal = map.goal(goal);
    let mut trial =
        Trial { goal: &goal, pods: part.model().pods().collect(), world: &part, budget, tries: TRIES, sure: true };
    let all = facts(part.model(), &trial.pods);
    let likely = trial.likely();
    let mut core = if trial.holds(&likely) { trial.minimal(&[], &likely) } else { trial.minimal(&[], &all) };
    if !trial.holds(&core) {
        // Facts may also help each other's opposite, so that less is not always weaker: then one by one, from all of them.
        core = all;
    }
    trial.drop_one_by_one(&mut core);
    let sure = trial.sure && trial.tries > 0;
    (core.into_iter().map(|fact| back(fact, &map)).collect(), sure)
}

/// A fact of the part as a fact of the whole; resources and limits keep their ids.
fn back(fact: Fact, map: &crate::audit::policy::world::Part) -> Fact {
    let old = |new: PodId| {
        let at = map.pods.values().position(|pod| *pod == Some(new)).expect("the part has it from the whole");
        PodId::from_index(at)
    };
    let old_node = |new: NodeId| {
        let at = map.nodes.values().position(|node| *node == Some(new)).expect("the part has it from the whole");
        NodeId::from_index(at)
    };
    match fact {
        Fact::NodeName(pod) => Fact::NodeName(old(pod)),
        Fact::NodeSelector(pod, key) => Fact::NodeSelector(old(pod), key),
        Fact::NodeAffinity(pod) => Fact::NodeAffinity(old(pod)),
        Fact::Affinity(pod, at) => Fact::Affinity(old(pod), at),
        Fact::AntiAffinity(pod, at) => Fact::AntiAffinity(old(pod), at),
        Fact::Spread(pod, at) => Fact::Spread(old(pod), at),
        Fact::Ports(pod) => Fact::Ports(old(pod)),
        Fact::Request(pod, resource) => Fact::Request(old(pod), resource),
        Fact::Volumes(pod) => Fact::Volumes(old(pod)),
        Fact::Devices(pod) => Fact::Devices(old(pod)),
        Fact::Features(pod) => Fact::Features(old(pod)),
        Fact::AddedAffinity(pod) => Fact::AddedAffinity(old(pod)),
        Fact::Cordon(node) => Fact::Cordon(old_node(node)),
        Fact::PodRoom(node) => Fact::PodRoom(old_node(node)),
        Fact::PodLabel(pod, key) => Fact::PodLabel(old(pod), key),
        same @ (Fact::Taint(_) | Fact::Limit(_) | Fact::Quota(_) | Fact::NamespaceLabels(_) | Fact::NodeLabels(_)) => {
            same
        }
    }
}

impl Trial<'_> {
    /// The facts that refuse the goal's pods on its nodes by themselves.
    fn likely(&self) -> Vec<Fact> {
        let atoms: BTreeSet<_> =
            self.goal.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom)).collect();
        let found: BTreeSet<Fact> = atoms.into_iter().filter_map(|atom| refusing(&self.world.problem, atom)).collect();
        found.into_iter().chain(label::facts(self.world.model(), &self.pods)).collect()
    }

    /// Whether the rule holds with these facts alone; what is not decided counts as no.
    fn holds(&mut self, kept: &[Fact]) -> bool {
        if self.tries == 0 || (self.budget.interrupt)().is_some() {
            (self.sure, self.tries) = (false, 0);
            return false;
        }
        self.tries -= 1;
        let m = self.world.model();
        let world = self.world.with_cluster(only(m, kept, &self.pods));
        let answer = Decider::new(&world.problem).decide(self.goal, self.budget).checked.answer();
        self.sure &= answer.is_some();
        answer == Some(false)
    }

    /// The facts of `candidates` that are needed besides `kept`; those two together hold the rule up.
    fn minimal(&mut self, kept: &[Fact], candidates: &[Fact]) -> Vec<Fact> {
        if candidates.is_empty() || self.holds(kept) {
            return Vec::new();
        }
        if candidates.len() == 1 {
            return candidates.to_vec();
        }
        let (left, right) = candidates.split_at(candidates.len() / 2);
        let needed = self.minimal(&[kept, left].concat(), right);
        let rest = self.minimal(&[kept, &needed[..]].concat(), left);
        [rest, needed].concat()
    }

    fn drop_one_by_one(&mut self, core: &mut Vec<Fact>) {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            if self.holds(&fewer) {
                *core = fewer;
                at = 0;
            } else {
                at += 1;
            }
        }
    }
}
