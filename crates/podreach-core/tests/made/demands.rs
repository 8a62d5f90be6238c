//! Random demands, and inequalities for them.

use podreach_core::demand::{Argument, Demand, Inequality, Place, Want};
use podreach_core::rule;
use podreach_core::testing::Rng;
use podreach_core::{Atom, Configuration, Goal, Id, NodeId, PodId, Problem};

/// One or two wants of a few pods, on most nodes.
pub(crate) fn some_demand(rng: &mut Rng, problem: &Problem) -> Demand {
    let m = &problem.model;
    let mut want = || {
        let (pod, count) = (PodId::from_index(rng.below(m.pods().len())), 1 + rng.below(4) as u64);
        let nodes: Vec<NodeId> = m.nodes().filter(|_| !rng.one_in(5)).collect();
        let atoms: Vec<Atom> = nodes.into_iter().map(|node| (pod, node)).collect();
        let places = match rng.below(3) {
            0 => atoms.iter().map(|&atom| Place { atoms: vec![atom], most: 1 }).collect(),
            1 if atoms.len() > 1 => {
                let (left, right) = atoms.split_at(1);
                [left, right].map(|atoms| Place { atoms: atoms.to_vec(), most: 1 + count % 2 }).to_vec()
            }
            _ => vec![Place { atoms, most: count }],
        };
        Want { count, places }
    };
    let wants = if want().count > 2 { vec![want()] } else { vec![want(), want()] };
    Demand { wants }
}

/// An inequality that may hold, about what may exist.
pub(crate) fn some_inequality(rng: &mut Rng, problem: &Problem, demand: &Demand, ruled_out: &Goal) -> Inequality {
    let m = &problem.model;
    let atoms: Vec<Atom> =
        demand.wants.iter().flat_map(|want| want.places.iter().flat_map(|place| place.atoms.clone())).collect();
    let want = rng.below(demand.wants.len());
    match rng.below(6) {
        0 => {
            let resources: Vec<_> = m.cluster().resources.entries().ids().collect();
            Inequality::Capacity(NodeId::from_index(rng.below(m.nodes().len() + 1)), rng.pick(&resources))
        }
        1 => Inequality::Quota(Id::from_index(rng.below(m.cluster().quotas.len() + 1))),
        2 => Inequality::Limit(rng.below(m.cluster().limits.len() + 1)),
        3 => {
            let mut some: Vec<Atom> = atoms.iter().copied().filter(|_| !rng.one_in(3)).collect();
            some.sort_unstable();
            some.dedup();
            Inequality::Few(some, rng.below(3) as u64)
        }
        4 if !ruled_out.any.is_empty() => {
            let alternative = &ruled_out.any[rng.below(ruled_out.any.len())];
            let (atom, count) = alternative.iter().next().expect("alternatives are not empty");
            Inequality::Below(atom, count)
        }
        _ => Inequality::Place(want, rng.below(demand.wants[want].places.len() + 1)),
    }
}

/// Inequalities that can be enough by themselves.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "one of the tests has inequalities of all kinds at once")]
pub(crate) enum Kind {
    Capacity,
    Quota,
    Limit,
    Few,
}

/// A few pods of a type, and inequalities of one kind that each of them counts in.
#[allow(dead_code, reason = "one of the tests has inequalities of all kinds at once")]
pub(crate) fn some_sum(rng: &mut Rng, problem: &Problem, kind: Kind, pod: PodId) -> (Demand, Argument) {
    let (m, cluster) = (&problem.model, problem.model.cluster());
    let nodes: Vec<NodeId> = m.nodes().filter(|_| !rng.one_in(5)).collect();
    let atoms: Vec<Atom> = nodes.iter().map(|&node| (pod, node)).collect();
    let (worth, inequalities) = match kind {
        Kind::Capacity => {
            let resources: Vec<_> = cluster.resources.entries().ids().collect();
            let resource = rng.pick(&resources);
            let inequalities = nodes.iter().map(|&node| Inequality::Capacity(node, resource)).collect();
            (rule::fit::weight(m, pod, resource), inequalities)
        }
        Kind::Quota => {
            let quota = Id::from_index(rng.below(cluster.quotas.len().max(1)));
            (rule::quota::weight(m, pod, quota), vec![Inequality::Quota(quota)])
        }
        Kind::Limit => (1, vec![Inequality::Limit(rng.below(cluster.limits.len().max(1)))]),
        Kind::Few => (1, vec![Inequality::Few(atoms.clone(), rng.below(4) as u64)]),
    };
    let count = 1 + rng.below(8) as u64;
    let demand = Demand { wants: vec![Want { count, places: vec![Place { atoms, most: count }] }] };
    (
        demand,
        Argument::Sum {
            worth: vec![worth],
            inequalities: inequalities.into_iter().map(|inequality| (inequality, 1)).collect(),
        },
    )
}

/// What no configuration has, as groups; mostly they prove themselves, since they are all there is.
pub(crate) fn absent(reachable: &[Configuration], demand: &Demand) -> Vec<Configuration> {
    let atoms = demand.wants.iter().flat_map(|want| want.places.iter().flat_map(|place| place.atoms.iter().copied()));
    let mut groups = Vec::new();
    for atom in atoms {
        let most = reachable.iter().map(|s| s.count(atom)).max().unwrap_or(0);
        groups.push([(atom, most + 1)].into_iter().collect::<Configuration>());
    }
    groups.sort();
    groups.dedup();
    groups
}
