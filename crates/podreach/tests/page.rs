//! What pages show is what was found out: films replay, proofs lead where they say, maps have the cells of their matrix.

use std::collections::{BTreeMap, BTreeSet};

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::matrix::Matrix;
use podreach::report::{self, AnnotatedStep, Answered, html};
use podreach_core::rule::{Rule, first_refusal};
use podreach_core::testing::{Rng, Shape, cases, problem};
use podreach_core::{Action, Atom, Configuration, Goal, Id, NodeId, PodId, Problem, Proof, Semantics, Trace, Verdict};
use serde_json::Value;

#[path = "../examples/hostile.rs"]
#[allow(dead_code)]
mod hostile;

/// Random problems with their page, under both semantics.
fn each_page(seed: u64, count: usize, mut test: impl FnMut(&Problem, &Verdict, &Value)) {
    let mut rng = Rng::new(seed);
    for case in 0..count {
        let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
        let problem = problem(&mut rng, Shape::small(semantics));
        let decision = Oracle::new(&problem, &[]).answer(&problem, &Budget::unlimited());
        let options = Options::default();
        let answered = Answered { options: &options, decision: &decision, assumptions: &[] };
        let data = html::data(&problem, "a test", (&Value::Null, &[]), html::View::Answers(&[(answered, Value::Null)]));
        test(&problem, decision.checked.verdict(), &data);
    }
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}

fn atom(value: &Value) -> Atom {
    (PodId::from_index(number(&value[0])), NodeId::from_index(number(&value[1])))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn configuration(flat: &Value) -> Configuration {
    let entries = list(flat).chunks(3).map(|entry| (atom(&Value::from(entry)), entry[2].as_u64().expect("a count")));
    entries.collect()
}

/// An atom of a page as the model numbers it: what pods are while they are being deleted gets its number on the page when it is met.
fn in_model(problem: &Problem, data: &Value, (pod, node): Atom) -> Atom {
    let m = &problem.model;
    let name = data["cluster"]["pods"][pod.index()]["name"].as_str().expect("a name");
    let Some(base) = name.strip_suffix(" (terminating)") else { return (pod, node) };
    let base = m.pods().find(|&pod| m.pod_name(pod) == base).expect("a type of that name");
    (m.shadow(base).expect("it has a shadow"), node)
}

#[test]
fn a_film_replays_to_the_goal_as_its_trace_does() {
    let mut seen = 0;
    each_page(11, cases(2000), |problem, verdict, data| {
        let Verdict::Deployable(trace) = verdict else { return };
        let film = &data["answers"][0]["film"];
        let mut s = configuration(&data["cluster"]["running"]);
        assert!(s.iter().eq(problem.start.iter()));
        s = (*problem.start).clone();
        let mut steps = Vec::new();
        for step in list(&film["steps"]) {
            let meant = |value: &Value| in_model(problem, data, atom(value));
            let action = match (step["op"].as_str().expect("an operation"), step.get("at").map(meant)) {
                ("deploy", Some((pod, node))) => Action::Deploy(pod, node),
                ("delete", Some((pod, node))) => Action::Delete(pod, node),
                ("terminate", Some((pod, node))) => Action::Terminate(pod, node),
                ("ready" | "uncordon", None) => Action::Settle(NodeId::from_index(number(&step["node"]))),
                (other, _) => panic!("{other} is about a pod"),
            };
            assert!(list(&step["witnesses"]).iter().all(|witness| s.count(meant(witness)) > 0), "a witness is there");
            problem.step(&mut s, action).expect("every step of a film is legal");
            steps.push(action);
        }
        assert_eq!(steps.into_iter().collect::<Trace>(), *trace);
        let reached = number(&film["reached"]);
        let goal = Goal::all(configuration(&data["answers"][0]["goal"][reached]));
        assert!(problem.is_met(&goal, &s));
        seen += trace.len();
    });
    assert!(seen > 300, "there are steps to look at: {seen}");
}

#[test]
fn an_obstacle_is_what_the_rules_say_a_step_before() {
    let mut rules = BTreeSet::<Rule>::new();
    each_page(12, cases(600), |problem, verdict, _| {
        let Verdict::Deployable(trace) = verdict else { return };
        let mut before: Vec<Configuration> = vec![(*problem.start).clone()];
        for action in trace.iter() {
            let mut s = before.last().expect("the start").clone();
            problem.step(&mut s, action).expect("legal");
            before.push(s);
        }
        for (at, AnnotatedStep { action, obstacle, .. }) in report::annotate(problem, trace).into_iter().enumerate() {
            let (earlier, deployment) = match action {
                Action::Deploy(pod, node) => (at.checked_sub(1).map(|at| &before[at]), Some((pod, node))),
                _ => {
                    let next = trace.iter().skip(at).find_map(|action| match action {
                        Action::Deploy(pod, node) => Some((pod, node)),
                        _ => None,
                    });
                    (Some(&before[at]), next)
                }
            };
            let said = earlier.zip(deployment).and_then(|(s, (pod, node))| first_refusal(&problem.model, s, pod, node));
            assert_eq!(obstacle.as_ref().map(|obstacle| obstacle.rule), said.map(|(rule, _)| rule));
            rules.extend(obstacle.map(|obstacle| obstacle.rule));
        }
    });
    assert!(rules.len() >= 3, "several rules are in the way: {rules:?}");
}

#[test]
fn a_proof_is_walked_from_the_goal_and_every_link_leads_to_a_group_that_the_way_completes() {
    let mut links = 0;
    each_page(13, cases(2_000), |problem, verdict, data| {
        let Verdict::Never(proof) = verdict else { return };
        let walk = &data["answers"][0]["proof"];
        let groups = list(&walk["groups"]);
        let ids: Vec<usize> = groups.iter().map(|group| number(&group["id"])).collect();
        assert_eq!(ids.iter().copied().collect::<BTreeSet<_>>(), (0..proof.forbidden.len()).collect());
        assert_eq!(ids.len(), proof.forbidden.len());
        let goals: Vec<usize> = list(&walk["goals"]).iter().map(number).collect();
        assert_eq!(ids[..goals.len()], goals, "the walk starts at the goal");
        for (group, id) in groups.iter().zip(&ids) {
            let counts: BTreeMap<usize, u64> = list(&group["counts"])
                .iter()
                .map(|entry| (number(&entry[0]), entry[1].as_u64().expect("a count")))
                .collect();
            assert_eq!(counts, proof.forbidden[*id]);
            for (last, class) in list(&group["last"]).iter().zip(counts.keys()) {
                for way in list(&last["ways"]).iter().filter(|way| !way["hits"].is_null()) {
                    let with: Vec<Atom> =
                        list(&way["with"]).iter().map(|value| in_model(problem, data, atom(value))).collect();
                    completes(proof, *id, *class, &with, number(&way["hits"]), problem);
                    links += 1;
                }
            }
        }
    });
    assert!(links > 20, "there are links to follow: {links}");
}

/// The group without one of a class, and with what a way adds, contains the group that it hits.
fn completes(proof: &Proof, group: usize, class: usize, with: &[Atom], hits: usize, problem: &Problem) {
    let mut s: Configuration =
        proof.forbidden[group].iter().map(|(&class, &count)| (proof.classes[class][0], count)).collect();
    s.remove(proof.classes[class][0]);
    with.iter().for_each(|&atom| s.add(atom));
    let have = |class: usize| proof.classes[class].iter().map(|&atom| s.count(atom)).sum::<u64>();
    assert!(proof.forbidden[hits].iter().all(|(&class, &count)| have(class) >= count), "{:?}", problem.goal);
}

/// Runs of cells as the page reads them: `3yn` is `yyyn`.
fn unfolded(runs: &str) -> Vec<char> {
    let (mut cells, mut count) = (Vec::new(), String::new());
    for c in runs.chars() {
        if c.is_ascii_digit() {
            count.push(c);
        } else {
            cells.extend(std::iter::repeat_n(c, std::mem::take(&mut count).parse().unwrap_or(1)));
        }
    }
    cells
}

#[test]
fn a_map_has_the_cells_of_its_matrix_and_their_evidence() {
    let mut rng = Rng::new(14);
    for _ in 0..cases(60) {
        let problem = problem(&mut rng, Shape::small(Semantics::KubeScheduler));
        let oracle = Oracle::new(&problem, &[]);
        let matrix = Matrix::new(&oracle, &Budget::unlimited(), 1, &|| ());
        let evidence = html::evidence(&matrix, matrix.answers(oracle, &Budget::unlimited()), usize::MAX, &|| None);
        let data = html::data(&problem, "a test", (&Value::Null, &[]), html::View::Matrices(&[(&matrix, evidence)]));
        let map = &data["matrices"][0];
        let word = |letter| match letter {
            'y' => "deployable",
            'n' => "never",
            _ => "unknown",
        };
        let mut cells = BTreeMap::new();
        for (row, (pod, answers)) in list(&map["rows"]).iter().zip(&matrix.rows) {
            assert_eq!(number(&row[0]), pod.index());
            let others: Vec<usize> = matrix.aliases(*pod).iter().map(|other| other.index()).collect();
            assert_eq!(list(&row[2]).iter().map(number).collect::<Vec<_>>(), others);
            let letters = unfolded(row[1].as_str().expect("runs of letters"));
            assert_eq!(
                letters.iter().map(|&c| word(c)).collect::<Vec<_>>(),
                answers.iter().map(|cell| cell.name()).collect::<Vec<_>>()
            );
            cells.extend(letters.iter().enumerate().map(|(class, &letter)| ((pod.index(), class), letter)));
        }
        assert_eq!(list(&map["evidence"]).len(), cells.len(), "every cell has its evidence");
        for entry in list(&map["evidence"]) {
            let (row, class) = (number(&entry[0]), number(&entry[1]));
            assert_eq!(entry[2]["verdict"], word(cells[&(matrix.rows[row].0.index(), class)]));
        }
    }
}

#[test]
fn names_are_never_markup() {
    for kind in ["check", "audit"] {
        let page = hostile::page(kind);
        assert_eq!(page.matches("<script").count(), 2, "the data and the code");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img") && !page.contains("<b>"));
        assert_eq!(page, hostile::page(kind), "the same input, the same page");
    }
}

#[test]
fn a_page_carries_the_policy_that_lets_only_its_own_code_run() {
    let page = html::document(Some(&Value::Null));
    assert!(page.contains(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", *html::POLICY)));
    assert!(!html::POLICY.contains("unsafe") && html::POLICY.starts_with("default-src 'none'"));
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(!page.contains("https://"), "a page asks the network for nothing");
}
