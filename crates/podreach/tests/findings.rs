//! Findings say what exhaustive search says: who can start, who can start again, who needs others, and how many fit together.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach::audit::memory::{Cache, NoCache};
use podreach::audit::{Item, Origin, Status, finding};
use podreach::engine::Budget;
use podreach::lower::{self, Declared, Kind, Lowered};
use podreach::read::{SourceId, Span};
use podreach_core::cluster::Barred;
use podreach_core::testing::{Rng, Shape, cases, exhaustive, problem, reachable};
use podreach_core::{Configuration, Goal, Model, PodId, Problem, Semantics, Verdict, check, short};

/// A random cluster as if it had been read, in which every pod type is a Deployment that asks for `replicas`.
fn lowered(problem: &Problem, mut replicas: impl FnMut() -> u64) -> Lowered {
    let cluster = problem.model.facts();
    let mut lowered =
        Lowered { start: (*problem.start).clone(), kept: (*problem.kept).clone(), cluster, ..Lowered::default() };
    for pod in lowered.cluster.pods.values() {
        let origin = lower::Origin {
            declared: Some(Declared { replicas: replicas(), per_node: false, rollout: Some((1, 0)) }),
            ..lower::Origin::plain(
                Kind::Deployment,
                "",
                BTreeMap::new(),
                Span { source: SourceId(0), start: 0, end: 0 },
            )
        };
        lowered.origins.pods.insert(pod.name.clone(), origin);
    }
    lowered
}

fn items(lowered: &Lowered, semantics: Semantics, memory: &dyn Cache) -> Vec<Item> {
    finding::items(lowered, semantics, &Budget::unlimited(), memory, &|| ())
}

fn each_problem(seed: u64, count: usize, mut test: impl FnMut(usize, &Problem, &mut Rng)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        test(case, &problem, &mut rng);
    }
}

fn anywhere(m: &Model, pod: PodId) -> Goal {
    Goal { any: m.nodes().map(|node| [((pod, node), 1)].into_iter().collect()).collect() }
}

fn truth(problem: &Problem, goal: Goal) -> bool {
    exhaustive(&problem.with_goal(goal), 200_000).expect("small problems have few configurations")
}

/// The codes of violated findings about a name.
fn codes<'i>(items: &'i [Item], name: &str) -> Vec<&'i str> {
    let about = |item: &&Item| item.status == Status::Violated && item.subject.iter().any(|subject| subject == name);
    let code = |item: &'i Item| match item.origin {
        Origin::Finding(code) => Some(code),
        Origin::Rule { .. } => None,
    };
    items.iter().filter(about).filter_map(code).collect()
}

#[test]
fn who_can_start_and_who_needs_whom() {
    let mut seen = BTreeMap::<&str, usize>::new();
    each_problem(71, cases(600), |case, problem, _| {
        let m = &problem.model;
        let items = items(&lowered(problem, || 1), m.semantics(), &NoCache);
        let fresh = Problem { start: problem.kept.clone(), ..problem.clone() };
        for pod in m.pods().filter(|&pod| is_wanted(m, pod)) {
            let goal = anywhere(m, pod);
            let expected = match (truth(problem, goal.clone()), truth(&fresh, goal.clone())) {
                (false, _) => Some("F0101"),
                (true, false) => Some("F0103"),
                (true, true) => (!truth(&alone(&fresh, pod), goal)).then_some("F0102"),
            };
            let found: Vec<&str> =
                codes(&items, m.pod_name(pod)).into_iter().filter(|code| ("F0101".."F0104").contains(code)).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "case {case}, {pod:?} of {problem:#?}");
            *seen.entry(expected.unwrap_or("none")).or_default() += 1;
        }
    });
    println!("{seen:?}");
    assert!(["none", "F0101", "F0102", "F0103"].iter().all(|code| seen.contains_key(code)), "{seen:?}");
}

/// Whether someone wants a pod to run: also where the API server refuses it.
fn is_wanted(m: &Model, pod: PodId) -> bool {
    m.pod(pod).barred.as_ref().is_none_or(|why| matches!(why, Barred::Refused(_)))
}

/// The same cluster in which only one pod type can be deployed.
fn alone(problem: &Problem, pod: PodId) -> Problem {
    let mut cluster = problem.model.facts();
    for other in cluster.pods.ids().filter(|&other| other != pod).collect::<Vec<_>>() {
        Arc::make_mut(&mut cluster.pods[other].spec).barred = Some(Barred::LeftOut("not to take part"));
    }
    Problem { model: Arc::new(Model::new(cluster, problem.model.semantics())), ..problem.clone() }
}

fn total(s: &Configuration, pod: PodId) -> u64 {
    s.of(pod).map(|(_, count)| count).sum()
}

#[test]
fn how_many_replicas_fit_together() {
    let mut seen = BTreeMap::<&str, usize>::new();
    each_problem(73, cases(300), |case, problem, rng| {
        let m = &problem.model;
        let lowered = lowered(problem, || 1 + rng.below(4) as u64);
        let items = items(&lowered, m.semantics(), &NoCache);
        let all = reachable(problem, 400_000).expect("small problems have few configurations");
        for pod in m.pods().filter(|&pod| m.pod(pod).barred.is_none()) {
            let name = m.pod_name(pod);
            let replicas = lowered.origins.pods[name].declared.map_or(0, |declared| declared.replicas);
            let most = all.iter().map(|s| total(s, pod)).max().unwrap_or(0);
            let found = codes(&items, name);
            let open = items.iter().any(|item| item.status == Status::Undecided && item.subject == [name]);
            let too_many = most > 0 && most < replicas;
            let about = || format!("case {case}, {pod:?}: {replicas} of at most {most} of {problem:#?}\n{items:#?}");
            assert!(!found.contains(&"F0105") || too_many, "{}", about());
            assert!(!too_many || found.contains(&"F0105") || open, "{}", about());
            assert!(!found.contains(&"F0106") || most == replicas, "{}", about());
            *seen.entry(if too_many { if open { "open" } else { "too many" } } else { "fit" }).or_default() += 1;
            let said = items.iter().find(|item| item.origin == Origin::Finding("F0105") && item.subject == [name]);
            if let Some(bound) = said.and_then(|item| number_after(&item.message, "at most ")) {
                assert_eq!(bound, most, "{}", about());
            }
        }
    });
    println!("{seen:?}");
    assert!(seen.get("too many") > seen.get("open"), "most cases are decided: {seen:?}");
}

#[test]
fn how_much_of_the_desired_state_can_be_up() {
    let mut seen = BTreeMap::<&str, usize>::new();
    each_problem(79, cases(300), |case, problem, rng| {
        let m = &problem.model;
        let lowered = lowered(problem, || rng.below(3) as u64);
        let items = items(&lowered, m.semantics(), &NoCache);
        let fresh = Problem { start: problem.kept.clone(), ..problem.clone() };
        let wanted = |pod: PodId| match is_wanted(m, pod) {
            false => 0,
            true => lowered.origins.pods[m.pod_name(pod)].declared.map_or(0, |declared| declared.replicas),
        };
        let asked: u64 = m.pods().map(wanted).sum();
        let met = |s: &Configuration| m.pods().map(|pod| total(s, pod).min(wanted(pod))).sum::<u64>();
        let most = reachable(&fresh, 400_000)
            .expect("small problems have few configurations")
            .iter()
            .map(met)
            .max()
            .unwrap_or(0);
        let said = items.iter().find(|item| item.origin == Origin::Finding("F0104"));
        let about = || format!("case {case}: {most} of {asked} of {problem:#?}\n{said:#?}");
        match said {
            None => assert_eq!(most, asked, "{}", about()),
            Some(item) if item.status == Status::Violated => {
                assert!(most < asked, "{}", about());
                let least = number_after(&item.message, "at least ");
                let none =
                    (item.message.starts_with("none of ") || item.message.starts_with("the one pod ")).then_some(0);
                let bound = none.or_else(|| number_after(&item.message, "at most "));
                assert!(
                    least.is_none_or(|least| least <= most) && bound.is_some_and(|bound| most <= bound),
                    "{}",
                    about()
                );
                assert!(least.is_some() || bound == Some(most), "{}", about());
                // That there can never be more than the bound is argued for any choice of nodes.
                assert!(item.evidence.iter().any(|evidence| evidence.short.is_some()), "{}", about());
            }
            Some(_) => {}
        }
        let kind = said.map_or("fits", |item| if item.status == Status::Violated { "never" } else { "open" });
        *seen.entry(kind).or_default() += 1;
    });
    println!("{seen:?}");
    assert!(seen.get("never") > seen.get("open"), "most cases are decided: {seen:?}");
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let rest = &text[text.find(words)? + words.len()..];
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn every_piece_of_evidence_checks() {
    let mut count = 0;
    each_problem(83, cases(300), |case, problem, rng| {
        let items = items(&lowered(problem, || 1 + rng.below(3) as u64), problem.model.semantics(), &NoCache);
        for evidence in items.iter().flat_map(|item| &item.evidence) {
            let verdict = evidence.decision.checked.verdict().clone();
            if !matches!(verdict, Verdict::Unknown(_)) {
                check(evidence.problem(), verdict)
                    .unwrap_or_else(|flaw| panic!("case {case}: {flaw}: {}", evidence.shows));
                if let Some(found) = &evidence.short {
                    short(evidence.problem(), found.demand().clone(), found.shortage().clone(), &|| false)
                        .unwrap_or_else(|flaw| panic!("case {case}: {flaw}: {}", evidence.shows));
                }
                count += 1;
            }
        }
    });
    assert!(count > 100, "{count}");
}

/// A memory that keeps everything in a map, and hands it out for every question if it lies.
#[derive(Default)]
struct Notes {
    kept: std::sync::Mutex<BTreeMap<String, String>>,
    recalled: std::sync::atomic::AtomicUsize,
    lies: bool,
}

impl Cache for Notes {
    fn get(&self, question: &str) -> Option<String> {
        let kept = self.kept.lock().expect("no test panics with it");
        let found = if self.lies { kept.values().next().cloned() } else { kept.get(question).cloned() };
        self.recalled.fetch_add(usize::from(found.is_some()), std::sync::atomic::Ordering::Relaxed);
        found
    }

    fn put(&self, question: &str, certificate: &str) {
        self.kept.lock().expect("no test panics with it").insert(question.to_owned(), certificate.to_owned());
    }
}

#[test]
fn no_memory_changes_what_is_found() {
    let mut notes = Notes::default();
    each_problem(89, cases(200), |case, problem, _| {
        let lowered = lowered(problem, || 2);
        let words = |items: &[Item]| items.iter().map(|item| (item.status, item.message.clone())).collect::<Vec<_>>();
        let truth = words(&items(&lowered, problem.model.semantics(), &NoCache));
        // The notes of other clusters are there already, under the same names of pods and nodes.
        let once = items(&lowered, problem.model.semantics(), &notes);
        let again = items(&lowered, problem.model.semantics(), &notes);
        notes.lies = true;
        let deceived = items(&lowered, problem.model.semantics(), &notes);
        notes.lies = false;
        for (which, items) in [("once", &once), ("again", &again), ("deceived", &deceived)] {
            assert_eq!(words(items), truth, "case {case}, {which}: {problem:#?}");
        }
    });
    let recalled = notes.recalled.into_inner();
    assert!(recalled > 10, "{recalled}");
}
