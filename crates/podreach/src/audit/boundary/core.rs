//! Cores: which facts a rule cannot do without.
//!
//! Most boundaries stand on what refuses the goal's own pods on its own nodes, so those facts are tried first; else all facts are
//! candidates.

use std::collections::BTreeSet;

use podreach_core::{Goal, PodId};

use super::fact::{Fact, facts, only, refusing};
use super::minimal::Trial;
use super::{label, scope};
use crate::audit::policy::world::World;
use crate::engine::{Budget, Decider};

/// How many clusters are looked at for one core.
const TRIES: usize = 400;

/// A minimal set of facts that keeps the goal out of reach, and whether it is surely minimal.
pub(crate) fn core(world: &World, goal: &Goal, budget: &Budget<'_>) -> (Vec<Fact>, bool) {
    let (pods, nodes) = scope(world, goal);
    let (part, map) = world.part(|pod| pods.contains(&pod), |node| nodes.contains(&node));
    let goal = map.goal(goal);
    let pods: BTreeSet<PodId> = part.model().pods().collect();
    let mut trial = Trial::new(TRIES, |kept: &[Fact]| {
        if (budget.interrupt)().is_some() {
            return None;
        }
        let world = part.with_cluster(only(part.model(), kept, &pods));
        Decider::new(&world.problem).decide(&goal, budget).checked.answer().map(|reached| !reached)
    });
    let all = facts(part.model(), &pods);
    let likely = likely(&part, &goal, &pods);
    let mut core = if trial.holds(&likely) { trial.minimal(&[], &likely) } else { trial.minimal(&[], &all) };
    if !trial.holds(&core) {
        // Facts may also help each other's opposite, so that less is not always weaker: then one by one, from all of them.
        core = all;
    }
    trial.drop_one_by_one(&mut core);
    let sure = trial.is_sure();
    (core.into_iter().map(|fact| back(fact, &map)).collect(), sure)
}

/// The facts that refuse the goal's pods on its nodes by themselves.
fn likely(world: &World, goal: &Goal, pods: &BTreeSet<PodId>) -> Vec<Fact> {
    let atoms: BTreeSet<_> = goal.any.iter().flat_map(|alternative| alternative.iter().map(|(atom, _)| atom)).collect();
    let found: BTreeSet<Fact> = atoms.into_iter().filter_map(|atom| refusing(&world.problem, atom)).collect();
    found.into_iter().chain(label::facts(world.model(), pods)).collect()
}

/// A fact of the part as a fact of the whole; resources and limits keep their ids.
fn back(fact: Fact, map: &crate::audit::policy::world::Part) -> Fact {
    let (old, old_node) = (|new| map.old_pod(new), |new| map.old_node(new));
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
