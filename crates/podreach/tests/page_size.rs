//! Pages fit a mail, however many pods there are: they describe what they refer to, sum up the rest, and say so.

use std::collections::BTreeMap;

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach::lower::{Lowered, Options};
use podreach::matrix::Matrix;
use podreach::question;
use podreach::read::{Source, Sources};
use podreach::report::{Answered, html};
use podreach_core::rule::fit;
use podreach_core::{Id, Problem, Semantics};
use serde_json::{Value, json};

const NODES: usize = 200;
const PODS: usize = 20_000;
/// Each pod would have taken over 130 bytes; 150,000 on 5,000 nodes made 20 MB.
const MOST: usize = 1_300_000;

/// Pods without an owner, each of which is a type.
fn bare_pods() -> Lowered {
    let node = |at: usize| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{at}")},
            "status": {"allocatable": {"cpu": "64", "pods": "250"}}})
    };
    let pod = |at: usize| {
        let request = json!({"requests": {"cpu": format!("{}m", 50 + at % 40)}});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{at}"), "namespace": "d"},
            "spec": {"nodeName": format!("n{}", at % NODES), "containers": [{"name": "c", "resources": request}]},
            "status": {"phase": "Running"}})
    };
    let items: Vec<Value> = (0..NODES).map(node).chain((0..PODS).map(pod)).collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.json", text.into_bytes()).expect("text"));
    podreach::lowered(&sources, &Options::default())
}

/// The pod types of a page by number; those that it does not describe are null.
fn pods(data: &Value) -> Vec<Value> {
    let mut pods = Vec::new();
    for pod in data["cluster"]["pods"].as_array().expect("a list") {
        match pod.as_u64() {
            Some(gap) => pods.resize(pods.len() + usize::try_from(gap).expect("a small number"), Value::Null),
            None => pods.push(pod.clone()),
        }
    }
    pods
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}

/// What is taken of each resource on each node, as the page adds it up.
fn usage(data: &Value) -> BTreeMap<(usize, String), u64> {
    let (pods, mut usage) = (pods(data), BTreeMap::new());
    for entry in data["cluster"]["running"].as_array().expect("a list").chunks(3) {
        let [pod, node, count] = [0, 1, 2].map(|at| number(&entry[at]));
        for weight in pods[pod]["weights"].as_array().expect("what runs is described") {
            let resource = data["cluster"]["resources"][number(&weight[0])]["name"].as_str().expect("a name");
            *usage.entry((node, resource.to_owned())).or_default() += weight[1].as_u64().expect("small") * count as u64;
        }
    }
    usage
}

/// The same as the cluster has it.
fn taken(problem: &Problem) -> BTreeMap<(usize, String), u64> {
    let (m, mut taken) = (&problem.model, BTreeMap::new());
    for ((pod, node), count) in problem.start.iter() {
        for resource in m.cluster().resources.entries().ids() {
            let weight = u64::try_from(fit::weight(m, pod, resource)).expect("small");
            let name = m.str(m.cluster().resources[resource]).to_owned();
            *taken.entry((node.index(), name)).or_default() += weight * count;
        }
    }
    taken.retain(|_, sum| *sum > 0);
    taken
}

fn is_small_and_right(data: &Value, problem: &Problem) {
    let size = data.to_string().len();
    assert!(size < MOST, "{size} bytes");
    let left_out = data["cluster"]["leftOut"].as_str().expect("it says what is left out");
    assert!(left_out.contains(&PODS.to_string()) && left_out.contains("`podreach lower"), "{left_out}");
    assert_eq!(usage(data), taken(problem));
}

#[test]
fn pages_of_many_bare_pods_fit_a_mail_and_add_up() {
    let lowered = bare_pods();
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    assert_eq!(problem.model.pods().len(), PODS, "each is a type");
    let page = |view| html::data(&problem, "a test", (&Value::Null, &[]), view);
    is_small_and_right(&page(html::View::Audit(&[])), &problem);

    let oracle = Oracle::new(&problem, &lowered.diagnostics);
    let matrix = Matrix::new(&oracle, &Budget::unlimited(), 1, &|| ());
    let evidence = html::evidence(&matrix, matrix.answers(oracle, &Budget::unlimited()), 5, &|| None);
    let data = page(html::View::Matrices(&[(&matrix, evidence)]));
    is_small_and_right(&data, &problem);
    let rows = data["matrices"][0]["rows"].as_array().expect("rows");
    let types: usize = rows
        .iter()
        .map(|row| 1 + row[2].as_array().map_or(0, Vec::len) + row[3].as_u64().map_or(0, |more| more as usize))
        .sum();
    assert_eq!(types, matrix.types(), "every pod type is counted");
    let pods = pods(&data);
    assert!(rows.iter().all(|row| !pods[number(&row[0])].is_null()), "every row has a name");

    let last = problem.model.pods().last().expect("there are pods");
    let node = problem.model.nodes().next().expect("there are nodes");
    let asked = question::asking(&problem, podreach_core::Goal::atom((last, node))).expect("a question");
    let decision = Oracle::new(&asked, &lowered.diagnostics).answer(&asked, &Budget::unlimited());
    let options = Options::default();
    let answered = Answered { options: &options, decision: &decision, assumptions: &[] };
    let data = html::data(&asked, "a test", (&Value::Null, &[]), html::View::Answers(&[(answered, Value::Null)]));
    is_small_and_right(&data, &asked);
    let goal = number(&data["answers"][0]["goal"][0][0]);
    assert_eq!(self::pods(&data)[goal]["name"], problem.model.pod_name(last), "what is referred to has its name");
}

#[test]
fn a_served_cluster_is_shown_whole() {
    let lowered = bare_pods();
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    let served = html::cluster(&problem);
    assert_eq!(served["pods"].as_array().map(Vec::len), Some(PODS));
    assert!(served["leftOut"].is_null() && served["pods"][PODS - 1].is_object());
}
