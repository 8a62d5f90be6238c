//! A verdict that is given in spite of doubts holds in every cluster that the doubts allow: tried on the worst of them.

use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::diagnostic::{Diagnostic, Effect};
use podreach::engine::Budget;
use podreach_core::cluster::{Barred, Cluster, Pod, PodSpec, Toleration, TolerationOperator};
use podreach_core::testing::{Rng, Shape, exhaustive, problem};
use podreach_core::{Model, PodId, Problem, Semantics, Verdict, Weakening, check};

/// The same problem about a changed cluster.
fn changed(problem: &Problem, change: impl FnOnce(&mut Cluster)) -> Problem {
    let mut cluster = problem.model.facts();
    change(&mut cluster);
    Problem { model: Arc::new(Model::new(cluster, problem.model.semantics())), ..problem.clone() }
}

fn spec(cluster: &mut Cluster, pod: PodId) -> &mut PodSpec {
    Arc::make_mut(&mut cluster.pods[pod].spec)
}

/// A pod like this one that goes anywhere.
fn anywhere(spec: &PodSpec) -> PodSpec {
    let anything = Toleration { key: None, operator: TolerationOperator::Exists, effect: None };
    PodSpec { labels: spec.labels.clone(), tolerations: vec![anything], ..PodSpec::plain(spec.namespace) }
}

/// A cluster in which the pod type does its worst: nothing deploys it, and where it runs it takes all there is.
fn hostile(problem: &Problem, pod: PodId) -> Problem {
    changed(problem, |cluster| {
        let resources: Vec<_> = cluster.resources.entries().ids().collect();
        let spec = spec(cluster, pod);
        spec.barred = Some(Barred::LeftOut("the test says so"));
        resources.into_iter().for_each(|resource| spec.requests.set(resource, u128::MAX / 4));
    })
}

/// A cluster in which the pod type goes anywhere, unless it is certain that nothing deploys it.
fn helpful(problem: &Problem, pod: PodId) -> Problem {
    if problem.model.pod(pod).barred.as_ref().is_some_and(Barred::is_certain) {
        return problem.clone();
    }
    changed(problem, |cluster| *spec(cluster, pod) = anywhere(&cluster.pods[pod].spec.clone()))
}

/// A cluster with a pod type that was not seen, which goes anywhere and has the labels of this one.
fn unseen(problem: &Problem, pod: PodId) -> Problem {
    changed(problem, |cluster| {
        let spec = Arc::new(anywhere(&cluster.pods[pod].spec));
        cluster.pods.push(Pod { name: "unseen".to_owned(), spec });
    })
}

/// The truth, unless the problem is too large to find it out at once.
fn truth(problem: &Problem) -> Option<bool> {
    exhaustive(problem, 1_500)
}

#[test]
fn what_is_said_holds_whatever_the_doubts_hide() {
    let mut rng = Rng::new(17);
    let (mut said, mut held_back) = ([0, 0], 0);
    for case in 0..1_200 {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let pods: Vec<PodId> = problem.model.pods().collect();
        let pod = rng.pick(&pods);
        let effect = rng.pick(&[Effect::Notes, Effect::OverApproximates, Effect::UnderApproximates, Effect::Both]);
        let about_one = rng.one_in(2) || effect == Effect::OverApproximates;
        let doubt = Diagnostic::stops("S0000", None, "a doubt").with_effect(effect);
        let doubt = if about_one { doubt.about(problem.model.pod_name(pod)) } else { doubt };
        let answer = Oracle::new(&problem, &[doubt]).answer(&problem, &Budget::unlimited());
        let verdict = answer.checked.verdict().clone();
        match answer.checked.answer() {
            Some(true) if matches!(effect, Effect::Both) && about_one => {
                assert!(check(&hostile(&problem, pod), verdict).is_ok(), "case {case}");
            }
            Some(true) if matches!(effect, Effect::OverApproximates) => {
                let barred =
                    changed(&problem, |cluster| spec(cluster, pod).barred = Some(Barred::LeftOut("the test says so")));
                assert!(check(&barred, verdict).is_ok(), "case {case}");
            }
            Some(true) if matches!(effect, Effect::Both) => {
                let Verdict::Deployable(trace) = verdict else { unreachable!("it says deployable") };
                assert!(trace.is_empty(), "case {case}");
            }
            Some(false) if matches!(effect, Effect::UnderApproximates | Effect::Both) => {
                let real = if about_one { helpful(&problem, pod) } else { unseen(&problem, pod) };
                assert_ne!(truth(&real), Some(true), "case {case}: {effect:?} about one {about_one}");
            }
            Some(yes) => assert_ne!(truth(&problem), Some(!yes), "case {case}"),
            None => held_back += 1,
        }
        if let Some(yes) = answer.checked.answer() {
            said[usize::from(yes)] += 1;
        }
    }
    assert!(said.iter().all(|&count| count > 200) && held_back > 50, "{said:?} said, {held_back} held back");
}

#[test]
fn no_verdict_is_held_back_without_need() {
    let mut rng = Rng::new(19);
    for case in 0..600 {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let pods: Vec<PodId> = problem.model.pods().collect();
        let pod = rng.pick(&pods);
        let doubt =
            |effect| Diagnostic::stops("S0000", None, "a doubt").with_effect(effect).about(problem.model.pod_name(pod));
        let answer = |effect| Oracle::new(&problem, &[doubt(effect)]).answer(&problem, &Budget::unlimited());
        let barred = changed(&problem, |cluster| spec(cluster, pod).barred = Some(Barred::LeftOut("the test says so")));
        let (Some(plain), Some(without)) = (truth(&problem), truth(&barred)) else { continue };
        let expected = (plain == without).then_some(plain);
        assert_eq!(answer(Effect::OverApproximates).checked.answer(), expected, "case {case}: widens");
        // Nodes that settle may change what a spread constraint looks at; that is held back as well.
        let settles = problem.model.settling_matters() && !problem.start.unsettled().is_empty();
        let Some(helped) = truth(&problem.weakened(&[Weakening::Unruled(pod)])).filter(|_| !settles) else { continue };
        let expected = (plain == helped || plain).then_some(plain);
        assert_eq!(answer(Effect::UnderApproximates).checked.answer(), expected, "case {case}: narrows");
    }
}
