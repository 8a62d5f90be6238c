//! What `proofs/theories/Quotient.v` asks of a quotient: no table tells types of a kind apart, and the types that are left out do not run
//! at first and help nobody.

use podreach_core::rule::{self, volume_limits, volume_restrictions};
use podreach_core::testing::{Rng, Shape, cases, problem, some_terminating};
use podreach_core::{Model, PodId, Problem, Quotient, Semantics};

fn some_problem(rng: &mut Rng, case: usize) -> Problem {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape::small(semantics);
    let problem = problem(rng, if case.is_multiple_of(3) { shape.with_volumes() } else { shape });
    if case.is_multiple_of(5) { some_terminating(rng, problem) } else { problem }
}

/// All that tables say of a pod type, as one that comes and as one that runs.
fn row(m: &Model, pod: PodId) -> String {
    let spec = m.pod(pod);
    let nodes = || m.nodes();
    let others = || m.every_pod();
    let placeable: Vec<bool> = nodes().map(|node| m.placeable(pod, node)).collect();
    let eligible: Vec<Vec<bool>> =
        (0..spec.spread.len()).map(|index| nodes().map(|node| m.eligible(pod, index, node)).collect()).collect();
    let matchers = || m.cluster().matchers.entries().ids();
    let seen: Vec<Vec<bool>> =
        matchers().map(|matcher| nodes().map(|node| m.sees(matcher, pod, node)).collect()).collect();
    let noticed: Vec<(bool, bool)> =
        matchers().map(|matcher| (m.sees_unbound(matcher, pod), m.notices(matcher, pod))).collect();
    let conflicts: Vec<[bool; 6]> = others().map(|other| conflicts(m, pod, other)).collect();
    let limits: Vec<bool> = m.cluster().limits.iter().map(|limit| limit.pods.contains(&pod)).collect();
    let missing: Vec<bool> = nodes().map(|node| volume_limits::driver_missing(m, pod, node).is_some()).collect();
    let volumes: Vec<_> = volume_limits::drivers(m, pod)
        .into_iter()
        .map(|driver| (driver, volume_limits::shared(m, pod, driver), volume_limits::private(m, pod, driver)))
        .collect();
    let claim = volume_restrictions::missing(m, pod).is_some();
    let counted = rule::spread::is_counted(m, pod);
    format!(
        "{placeable:?} {eligible:?} {seen:?} {noticed:?} {conflicts:?} {limits:?} {missing:?} {volumes:?} {claim} {counted} {spec:?}"
    )
}

fn conflicts(m: &Model, pod: PodId, other: PodId) -> [bool; 6] {
    [
        rule::port::conflict(m, pod, other),
        rule::port::conflict(m, other, pod),
        volume_restrictions::disks_conflict(m, pod, other),
        volume_restrictions::disks_conflict(m, other, pod),
        volume_restrictions::claims_conflict(m, pod, other),
        volume_restrictions::claims_conflict(m, other, pod),
    ]
}

/// Whether a type can help another as a witness, a counterweight, or by a volume that both attach.
fn helps(m: &Model, other: PodId, pod: PodId) -> bool {
    let sees = |matcher| m.nodes().any(|node| m.sees(matcher, other, node));
    let spec = m.pod(pod);
    let shares = |driver| {
        let own = volume_limits::shared(m, pod, driver);
        volume_limits::shared(m, other, driver).iter().any(|volume| own.contains(volume))
    };
    spec.affinity.iter().any(|term| sees(term.matcher))
        || rule::spread::is_counted(m, other) && spec.spread.iter().any(|constraint| sees(constraint.matcher))
        || volume_limits::drivers(m, pod).into_iter().any(shares)
}

#[test]
fn types_of_a_kind_have_the_same_tables() {
    let (mut rng, mut merged, mut with_shadows) = (Rng::new(81), 0, 0);
    for case in 0..cases(4_000) {
        let problem = some_problem(&mut rng, case);
        let m = &problem.model;
        for kind in Quotient::new(&problem).kinds() {
            for &pod in &kind[1..] {
                assert_eq!(row(m, kind[0]), row(m, pod));
                merged += 1;
                let shadows = (m.shadow(kind[0]), m.shadow(pod));
                assert_eq!(shadows.0.is_some(), shadows.1.is_some());
                if let (Some(one), Some(other)) = shadows {
                    assert_eq!(row(m, one), row(m, other));
                    with_shadows += 1;
                }
            }
        }
    }
    println!("{merged} types are like another, {with_shadows} of them while they are being deleted");
    assert!(merged > 100 && with_shadows > 50, "{merged}, {with_shadows}");
}

#[test]
fn types_that_are_left_out_help_nobody() {
    let (mut rng, mut left_out) = (Rng::new(82), 0);
    for case in 0..cases(4_000) {
        let problem = some_problem(&mut rng, case);
        let quotient = Quotient::new(&problem);
        let view = quotient.view(&problem.goal);
        let (m, merged) = (&problem.model, &view.problem);
        let others = m.every_pod().filter(|&pod| m.shadowed(pod).is_some() && !merged.roster.contains(pod));
        for pod in others {
            let base = m.shadowed(pod).unwrap();
            // One of another type stands for it if its own type has one that does.
            let kind = quotient.kinds().iter().find(|kind| kind.contains(&base)).unwrap();
            let stood_for = kind.iter().filter_map(|&like| m.shadow(like)).any(|shadow| merged.roster.contains(shadow));
            if !stood_for {
                assert!(problem.start.of(pod).next().is_none(), "it runs at first");
                assert!(m.every_pod().all(|other| !helps(m, pod, other)), "it helps");
                left_out += 1;
            }
        }
    }
    println!("{left_out} types are left out");
    assert!(left_out > 100, "{left_out}");
}
