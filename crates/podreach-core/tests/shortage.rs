//! Random small clusters: whatever shortage is accepted, no configuration of any run meets the demand; and honest ones are accepted.

#[path = "made/demands.rs"]
mod demands;

use std::collections::BTreeMap;

use podreach_core::demand::{Argument, Demand, Inequality, Place, Shortage, Want};
use podreach_core::testing::{Rng, Shape, cases, problem, reachable, some_waiting};
use podreach_core::{Atom, Configuration, Flaw, Goal, Id, NodeId, PodId, Problem, Proof, Semantics, short};

use demands::{absent, some_demand, some_inequality};

fn each_case(seed: u64, count: usize, mut test: impl FnMut(usize, &mut Rng, &Problem, &[Configuration])) {
    let mut rng = Rng::new(seed);
    for number in 0..count {
        let semantics = if number % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let problem = if number % 5 == 1 { some_waiting(&mut rng, &problem) } else { problem };
        if let Some(reachable) = reachable(&problem, 4_000) {
            test(number, &mut rng, &problem, &reachable);
        }
    }
}

/// A pod that is being deleted comes without being deployed, so that no guard keeps it away and no inequality need hold of it.
#[test]
fn a_demand_for_pods_that_are_being_deleted_is_refused() {
    let mut rng = Rng::new(79);
    let mut refused = 0;
    for _ in 0..cases(300) {
        let problem = problem(&mut rng, Shape::small(Semantics::KubeScheduler));
        let shadows = problem.model.pods().filter_map(|pod| problem.model.shadow(pod));
        for shadow in shadows {
            let atom = (shadow, NodeId::from_index(0));
            let wants = vec![Want { count: 1, places: vec![Place { atoms: vec![atom], most: 1 }] }];
            let none = Inequality::Few(vec![atom], 0);
            let shortage = Shortage {
                ruled_out: Goal::default(),
                proof: Proof::default(),
                argument: Argument::Sum { worth: vec![1], inequalities: vec![(none, 1)] },
            };
            assert_eq!(short(&problem, Demand { wants }, shortage, &|| false), Err(Flaw::BadWant(0)));
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Whether a configuration has enough for every want from `want` on, no pod counted twice.
fn meets(demand: &Demand, s: &Configuration, want: usize) -> bool {
    let Some(Want { count, places }) = demand.wants.get(want) else { return true };
    let atoms: Vec<(usize, Atom)> =
        places.iter().enumerate().flat_map(|(at, place)| place.atoms.iter().map(move |&atom| (at, atom))).collect();
    let room = places.iter().map(|place| place.most).collect();
    takes(demand, &mut s.clone(), want, *count, &atoms, room)
}

fn takes(
    demand: &Demand,
    s: &mut Configuration,
    want: usize,
    left: u64,
    atoms: &[(usize, Atom)],
    room: Vec<u64>,
) -> bool {
    if left == 0 {
        return meets(demand, s, want + 1);
    }
    (0..atoms.len()).any(|at| {
        let (place, atom) = atoms[at];
        if room[place] == 0 || s.count(atom) == 0 {
            return false;
        }
        let (mut less, mut room) = (s.clone(), room.clone());
        less.remove(atom);
        room[place] -= 1;
        takes(demand, &mut less, want, left - 1, &atoms[at..], room)
    })
}

#[test]
fn no_forged_shortage_is_accepted() {
    let (mut accepted, mut refused, mut possible) = (BTreeMap::<&str, usize>::new(), 0, 0);
    each_case(71, cases(4_000), |number, rng, problem, reachable| {
        let demand = some_demand(rng, problem);
        let truth = reachable.iter().any(|s| meets(&demand, s, 0));
        possible += usize::from(truth);
        for _ in 0..12 {
            let mut groups = if rng.one_in(3) { Vec::new() } else { absent(reachable, &demand) };
            if rng.one_in(4) && !groups.is_empty() {
                groups.remove(rng.below(groups.len()));
            }
            let ruled_out = Goal { any: groups.clone() };
            let argument = if rng.one_in(4) {
                Argument::Cover
            } else {
                let worth = demand.wants.iter().map(|_| rng.below(3) as u128).collect();
                let inequalities = (0..rng.below(7))
                    .map(|_| (some_inequality(rng, problem, &demand, &ruled_out), rng.below(3) as u128));
                Argument::Sum { worth, inequalities: inequalities.collect() }
            };
            let kind = if argument == Argument::Cover { "cover" } else { "sum" };
            let shortage = Shortage { ruled_out, proof: Proof::of_configurations(&groups), argument };
            match short(problem, demand.clone(), shortage.clone(), &|| false) {
                Ok(_) => {
                    assert!(!truth, "case {number}: {shortage:#?} about {demand:#?} in {problem:#?}");
                    *accepted.entry(kind).or_default() += 1;
                }
                Err(_) => refused += 1,
            }
        }
    });
    assert!(accepted.len() == 2 && accepted.values().all(|&count| count > 100), "{accepted:?}");
    assert!(refused > 1_000 && possible > 500, "{refused} {possible}");
}

#[test]
fn sums_of_what_nodes_have_are_accepted_exactly_if_they_are_short() {
    let mut seen = BTreeMap::<bool, usize>::new();
    each_case(72, cases(3_000), |number, rng, problem, reachable| {
        let m = &problem.model;
        let pod = PodId::from_index(rng.below(m.pods().len()));
        let atoms: Vec<Atom> = m.nodes().map(|node| (pod, node)).collect();
        let most: Vec<u64> =
            atoms.iter().map(|&atom| reachable.iter().map(|s| s.count(atom)).max().unwrap_or(0)).collect();
        let groups: Vec<Configuration> =
            atoms.iter().zip(&most).map(|(&atom, most)| [(atom, most + 1)].into_iter().collect()).collect();
        let count = rng.below(6) as u64;
        let demand = Demand { wants: vec![Want { count, places: vec![Place { atoms: atoms.clone(), most: count }] }] };
        let inequalities =
            atoms.iter().zip(&most).map(|(&atom, most)| (Inequality::Below(atom, most + 1), 1)).collect();
        let shortage = Shortage {
            ruled_out: Goal { any: groups.clone() },
            proof: Proof::of_configurations(&groups),
            argument: Argument::Sum { worth: vec![1], inequalities },
        };
        match short(problem, demand, shortage, &|| false) {
            Ok(_) => assert!(most.iter().sum::<u64>() < count, "case {number}"),
            Err(Flaw::SumTooSmall) => assert!(most.iter().sum::<u64>() >= count, "case {number}"),
            // Groups by themselves need not be inductive.
            Err(_) => return,
        }
        *seen.entry(most.iter().sum::<u64>() < count).or_default() += 1;
    });
    assert!(seen.len() == 2 && seen.values().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn a_demand_that_is_no_demand_is_refused() {
    let mut rng = Rng::new(73);
    let problem = problem(&mut rng, Shape::small(Semantics::KubeScheduler));
    let atom = (PodId::from_index(0), NodeId::from_index(0));
    let nowhere = (PodId::from_index(99), NodeId::from_index(0));
    let nothing = || Shortage { ruled_out: Goal::default(), proof: Proof::default(), argument: Argument::Cover };
    for atoms in [vec![atom, atom], vec![nowhere]] {
        let demand = Demand { wants: vec![Want { count: 1, places: vec![Place { atoms, most: 1 }] }] };
        assert_eq!(short(&problem, demand, nothing(), &|| false), Err(Flaw::BadWant(0)));
    }
    let endless = Demand { wants: vec![Want { count: u64::MAX, places: vec![Place { atoms: vec![atom], most: 1 }] }] };
    assert_eq!(short(&problem, endless, nothing(), &|| false), Err(Flaw::Uncovered));
    assert_eq!(
        short(&problem, Demand::default(), nothing(), &|| false),
        Err(Flaw::Uncovered),
        "nothing is always there"
    );
}
