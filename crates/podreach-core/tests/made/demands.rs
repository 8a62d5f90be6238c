//! Random demands.

use podreach_core::demand::{Demand, Place, Want};
use podreach_core::testing::Rng;
use podreach_core::{Atom, Configuration, Id, NodeId, PodId, Problem};

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
