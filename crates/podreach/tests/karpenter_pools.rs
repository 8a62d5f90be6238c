//! Random pools of Karpenter's, compared with exhaustive search in clusters that list nodes with every label that such a pool may bring.
//!
//! What a pool brings is said here once more, key by key and without templates: [`may_have`] for *never*, [`makes`] for runs.

use std::collections::BTreeSet;
use std::fmt::Write;

use podreach::lower::{Nodes, Options};
use podreach::read::{Source, Sources};
use podreach::{Analysis, question};
use podreach_core::cluster::Lifetime;
use podreach_core::testing::{Rng, cases, exhaustive};
use podreach_core::{Action, Goal, NodeId, Problem, Semantics, Trace, Verdict};
use serde_json::{Value, json};

use crate::elastic::is_legal;

const ZONE: &str = "topology.kubernetes.io/zone";
const POOL: &str = "karpenter.sh/nodepool";
const KEYS: [&str; 2] = ["team", "size"];
const VALUES: [&str; 4] = ["x", "y", "3", "7"];
const DRAWN: [&str; 4] = ["0", "3", "7", "12"];

/// What a pool or a pod says about a key.
#[derive(Clone, Debug)]
enum Says {
    Nothing,
    In(Vec<&'static str>),
    NotIn(Vec<&'static str>),
    Exists,
    Absent,
    Above(i64),
}

use Says::{Above, Absent, Exists, In, NotIn, Nothing};

struct Pool {
    says: [Says; 2],
    zones: Option<Vec<&'static str>>,
    tainted: bool,
    /// Whether it has brought a node, in zone a.
    has_node: bool,
}

struct Pod {
    says: [Says; 2],
    tolerates: bool,
    rest: String,
}

struct World {
    nodes: String,
    pool: Pool,
    pods: Vec<Pod>,
}

fn some(rng: &mut Rng) -> Vec<&'static str> {
    let mut values: Vec<&str> = VALUES.into_iter().filter(|_| rng.one_in(3)).collect();
    values.extend(values.is_empty().then(|| VALUES[rng.below(4)]));
    values
}

fn says(rng: &mut Rng) -> Says {
    match rng.below(8) {
        0 | 1 => In(some(rng)),
        2 => NotIn(some(rng)),
        3 => Exists,
        4 => Absent,
        5 => Above([2, 5][rng.below(2)]),
        _ => Nothing,
    }
}

fn world(rng: &mut Rng) -> World {
    let zones =
        if rng.one_in(3) { None } else { Some([vec!["a"], vec!["a", "b"], vec!["b", "c"]][rng.below(3)].clone()) };
    let pool = Pool { says: [says(rng), says(rng)], zones, tainted: rng.one_in(3), has_node: !rng.one_in(3) };
    let pods = 2 + rng.below(2);
    let pods = (0..pods).map(|_| pod(rng, pods)).collect();
    let nodes = format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: n0, labels: {{kubernetes.io/hostname: n0, {ZONE}: {}}}}}, status: {{allocatable: {{cpu: 4, pods: 1}}}}}}\n",
        ["a", "b"][rng.below(2)]
    );
    World { nodes, pool, pods }
}

fn pod(rng: &mut Rng, pods: usize) -> Pod {
    let key = |rng: &mut Rng| if rng.one_in(3) { "kubernetes.io/hostname" } else { ZONE };
    let other = |rng: &mut Rng| format!("labelSelector: {{matchLabels: {{app: p{}}}}}", rng.below(pods));
    let mut rest = String::new();
    for kind in ["podAffinity", "podAntiAffinity"] {
        if rng.one_in(3) {
            let term = format!("{{topologyKey: {}, {}}}", key(rng), other(rng));
            let _ = write!(rest, ", {kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}");
        }
    }
    rest += "}";
    if rng.one_in(3) {
        let spread =
            format!("{{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: {}, {}}}", key(rng), other(rng));
        let _ = write!(rest, ", topologySpreadConstraints: [{spread}]");
    }
    Pod { says: [says(rng), says(rng)], tolerates: rng.one_in(2), rest }
}

/// A requirement or an expression; nothing for nothing.
fn written(key: &str, says: &Says) -> Option<String> {
    let (operator, values) = match says {
        Nothing => return None,
        In(values) => ("In", values.clone()),
        NotIn(values) => ("NotIn", values.clone()),
        Exists => ("Exists", Vec::new()),
        Absent => ("DoesNotExist", Vec::new()),
        Above(number) => return Some(format!("{{key: {key}, operator: Gt, values: ['{number}']}}")),
    };
    let values = if values.is_empty() { String::new() } else { format!(", values: ['{}']", values.join("', '")) };
    Some(format!("{{key: {key}, operator: {operator}{values}}}"))
}

fn all_written(says: &[Says; 2]) -> Vec<String> {
    KEYS.iter().zip(says).filter_map(|(key, says)| written(key, says)).collect()
}

impl World {
    fn pods(&self) -> String {
        let mut text = String::new();
        for (number, pod) in self.pods.iter().enumerate() {
            let terms = all_written(&pod.says);
            let affinity = if terms.is_empty() {
                "x: y".to_owned()
            } else {
                let terms = terms.join(", ");
                format!(
                    "nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{terms}]}}]}}}}"
                )
            };
            let affinity = affinity.replace("x: y", "podAffinity: {}");
            let affinity = match pod.rest.starts_with(", podAffinity") {
                true => affinity.replace("podAffinity: {}", "nodeAffinity: {}"),
                false => affinity,
            };
            let tolerations = if pod.tolerates { ", tolerations: [{key: t, operator: Exists}]" } else { "" };
            let _ = write!(
                text,
                "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p{number}, labels: {{app: p{number}, slot: x}}}}, spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}], affinity: {{{affinity}{}{tolerations}}}}}\n",
                pod.rest
            );
        }
        text
    }

    /// A node that the pool has brought.
    fn member(&self) -> String {
        if !self.pool.has_node {
            return String::new();
        }
        format!(
            "---\n{{apiVersion: v1, kind: Node, metadata: {{name: m0, labels: {{kubernetes.io/hostname: m0, {ZONE}: a, {POOL}: k}}}}, status: {{allocatable: {{cpu: 2, pods: 1}}}}}}\n"
        )
    }

    fn with_pool(&self) -> String {
        let pool = &self.pool;
        let mut requirements = all_written(&pool.says);
        requirements.extend(
            pool.zones.iter().map(|zones| format!("{{key: {ZONE}, operator: In, values: [{}]}}", zones.join(", "))),
        );
        let taint = if pool.tainted { ", taints: [{key: t, effect: NoSchedule}]" } else { "" };
        format!(
            "{}{}---\n{{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: k}}, spec: {{template: {{spec: {{requirements: [{}], nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}{taint}}}}}}}}}\n{}",
            self.nodes,
            self.member(),
            requirements.join(", "),
            self.pods()
        )
    }

    /// The same with a few kinds of nodes that the pool may bring, each as a pool that brings nothing else.
    fn listed(&self, rng: &mut Rng) -> String {
        let mut text = self.nodes.clone() + &self.member();
        // It owns the node that is there and brings none.
        let _ = write!(
            text,
            "---\n{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: k}}, spec: {{labels: {{{POOL}: k}}, maxNodes: 0}}}}\n"
        );
        let taint = if self.pool.tainted { ", taints: [{key: t, effect: NoSchedule}]" } else { "" };
        for number in 0..2 + rng.below(2) {
            let mut labels = vec![format!("{POOL}: k")];
            for (key, says) in KEYS.iter().enumerate().map(|(at, key)| (key, &self.pool.says[at])) {
                let values = may_have(says, self.pods.iter().map(|pod| &pod.says[usize::from(*key == KEYS[1])]));
                labels.extend(values[rng.below(values.len())].map(|value| format!("{key}: '{value}'")));
            }
            let zones = self.pool.zones.clone().unwrap_or(vec!["a", "b", "other", "own"]);
            let zone = zones[rng.below(zones.len())];
            let (zone, most) =
                if zone == "own" { (format!("own{number}"), ", maxNodes: 1") } else { (zone.to_owned(), "") };
            labels.push(format!("{ZONE}: {zone}"));
            let pods = 1 + rng.below(2);
            let _ = write!(
                text,
                "---\n{{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {{name: r{number}}}, spec: {{labels: {{{}}}, allocatable: {{cpu: 100, pods: {pods}}}{most}{taint}}}}}\n",
                labels.join(", ")
            );
        }
        text + &self.pods()
    }
}

/// The values that a node of a pool may have for a custom key; `None` is no label.
fn may_have<'s>(pool: &Says, mut pods: impl Iterator<Item = &'s Says>) -> Vec<Option<&'static str>> {
    let free = || VALUES.into_iter().chain(["zz", "0", "12"]);
    let above =
        |number: i64| DRAWN.into_iter().filter(move |value| value.parse::<i64>().is_ok_and(|value| value > number));
    match pool {
        Nothing if pods.any(|says| matches!(says, NotIn(_))) => DRAWN.into_iter().map(Some).chain([None]).collect(),
        Nothing | Absent => vec![None],
        In(values) => values.iter().copied().map(Some).collect(),
        Exists => free().map(Some).collect(),
        // Karpenter draws an integer without looking at what is excluded.
        NotIn(values) => {
            let kept = free().filter(|value| !values.contains(value));
            kept.chain(DRAWN).map(Some).chain([None]).collect()
        }
        Above(number) => above(*number).map(Some).collect(),
    }
}

/// Whether Karpenter gives a node of a pool this value for a pod; `None` is no label. `named` are the values that somebody asks for.
fn makes(pool: &Says, pod: &Says, value: Option<&str>, named: &BTreeSet<&str>) -> bool {
    let number = |value: &str| value.parse::<i64>().ok();
    // An integer that is drawn is none that anybody names.
    let drawn = |least: i64| {
        value.is_some_and(|value| !named.contains(value) && number(value).is_some_and(|number| number > least))
    };
    let is_asked = |values: &[&str], allowed: &dyn Fn(&str) -> bool| {
        value.is_some_and(|value| values.contains(&value) && allowed(value))
    };
    match (pool, pod) {
        // It draws an integer for a pod that says `NotIn`; one that says nothing gets none.
        (Nothing | Absent, Nothing | Absent | NotIn(_)) => {
            value.is_none() || (matches!((pool, pod), (Nothing, NotIn(_))) && drawn(-1))
        }
        (Nothing | Absent, _) | (In(_) | Exists | Above(_), Absent) => false,
        (In(own), In(wanted)) => is_asked(own, &|value| wanted.contains(&value)),
        (In(own), NotIn(but)) => is_asked(own, &|value| !but.contains(&value)),
        (In(own), Above(least)) => is_asked(own, &|value| number(value).is_some_and(|number| number > *least)),
        (In(own), _) => is_asked(own, &|_| true),
        (Exists, In(wanted)) => is_asked(wanted, &|_| true),
        (NotIn(but), In(wanted)) => is_asked(wanted, &|value| !but.contains(&value)),
        (Above(least), In(wanted)) => is_asked(wanted, &|value| number(value).is_some_and(|number| number > *least)),
        (NotIn(_), Absent) => value.is_none(),
        (Above(one), Above(two)) => drawn(*one.max(two)),
        (Above(least), _) | (_, Above(least)) => drawn(*least),
        (Exists | NotIn(_), _) => drawn(-1),
    }
}

fn read(text: &str, copies: usize, trust_pool_limits: bool) -> Analysis {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    let options = Options { nodes: Nodes::Elastic, copies, trust_pool_limits, ..Options::default() };
    Analysis::load(sources, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The first pod on any node.
fn goal(analysis: &Analysis) -> Goal {
    let pod = question::pod(analysis.cluster(), "p0").expect("it is there");
    Goal { any: analysis.cluster().nodes.ids().map(|node| [((pod, node), 1)].into_iter().collect()).collect() }
}

/// Whether Karpenter makes each node that a run adds, for some pod of the input.
fn are_made(world: &World, problem: &Problem, trace: &Trace) -> bool {
    let m = &problem.model;
    let said = |values: &Says| match values {
        In(values) | NotIn(values) => values.clone(),
        _ => Vec::new(),
    };
    let named = |at: usize| -> BTreeSet<&str> { world.pods.iter().flat_map(|pod| said(&pod.says[at])).collect() };
    let label = |node: NodeId, key: &str| {
        m.cluster().symbols.symbol(key).and_then(|key| m.node(node).labels.value(key)).map(|value| m.str(value))
    };
    let made = |node: NodeId| {
        let for_one = |pod: &Pod| {
            let keys = KEYS.iter().enumerate();
            (pod.tolerates || !world.pool.tainted)
                && keys
                    .into_iter()
                    .all(|(at, key)| makes(&world.pool.says[at], &pod.says[at], label(node, key), &named(at)))
        };
        world.pool.has_node && label(node, ZONE) == Some("a") && world.pods.iter().any(for_one)
    };
    let is_new = |node: NodeId| matches!(m.node(node).lifetime, Lifetime::New(_));
    trace.iter().all(|action| !matches!(action, Action::Add(node) if is_new(node) && !made(node)))
}

/// Certificates that say what is not so, made of one that is right.
fn damaged(certificate: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let alternatives = certificate["question"]["anyOf"].as_array().cloned().unwrap_or_default();
    if let Some(steps) = certificate["trace"].as_array() {
        for at in (0..steps.len()).filter(|&at| steps[at]["op"] == "add-node") {
            let mut one = certificate.clone();
            one["trace"].as_array_mut().expect("steps").remove(at);
            all.push(one);
        }
        let mut never = certificate.clone();
        (never["verdict"], never["trace"]) = ("never".into(), Value::Null);
        never["proof"] = json!({"forbidden": alternatives});
        all.push(never);
    } else {
        for goal in alternatives {
            let (pod, node) = (&goal[0]["pod"], &goal[0]["node"]);
            let add = json!({"op": "add-node", "node": node, "pool": "nodepool/k"});
            let deploy = json!({"op": "deploy", "pod": pod, "node": node});
            let is_new = node.as_str().is_some_and(|node| node.contains('/'));
            let mut one = certificate.clone();
            (one["verdict"], one["proof"]) = ("deployable".into(), Value::Null);
            one["trace"] = if is_new { json!([add, deploy]) } else { json!([deploy]) };
            all.push(one);
        }
        let mut empty = certificate.clone();
        empty["proof"]["forbidden"] = json!([]);
        all.push(empty);
    }
    all
}

#[test]
fn answers_about_karpenter_pools_hold_for_every_node_that_may_come() {
    let (mut never, mut compared, mut runs, mut unknown, mut refused) = (0, 0, 0, 0, 0);
    let all = cases(240);
    for case in 0..all {
        let mut rng = Rng::new(77_000 + case as u64);
        let world = world(&mut rng);
        let text = world.with_pool();
        let semantics = if case % 4 == 3 { Semantics::Paper } else { Semantics::KubeScheduler };
        let analysis = read(&text, 1 + case % 2, false);
        let answer = analysis.ask_goal(semantics, goal(&analysis)).expect("it can be asked").decide();
        match answer.verdict() {
            Verdict::Deployable(trace) => {
                assert!(is_legal(answer.problem(), trace), "case {case}: {answer}\n{text}");
                assert!(are_made(&world, answer.problem(), trace), "case {case}: {answer}\n{text}");
                runs += usize::from(trace.iter().any(|action| matches!(action, Action::Add(_))));
            }
            Verdict::Never(_) => {
                never += 1;
                for copies in 1..=2 {
                    let text = world.listed(&mut rng);
                    let more = read(&text, copies, true);
                    let problem = question::asking(more.problem(semantics), goal(&more)).expect("it can be asked");
                    let Some(truth) = exhaustive(&problem, 20_000) else { continue };
                    assert!(!truth, "case {case}: {answer}\n{}\n{text}", world.with_pool());
                    compared += 1;
                }
            }
            Verdict::Unknown(reason) => {
                unknown += 1;
                assert!(!reason.to_string().contains("bug"), "case {case}: {answer}\n{text}");
                continue;
            }
        }
        let certificate = answer.certificate();
        assert!(
            analysis.verify(&certificate).expect("it is one").iter().all(|one| one.is_proved()),
            "case {case}: {answer}\n{text}"
        );
        for one in damaged(&serde_json::from_str(&certificate).expect("it is JSON")) {
            let verified = analysis.verify(&one.to_string());
            let holds = verified.is_ok_and(|all| all.iter().all(|one| one.is_proved()));
            assert!(!holds, "case {case}: {one}\n{text}");
            refused += 1;
        }
    }
    println!(
        "{never} proofs, {compared} comparisons, {runs} runs with new nodes, {unknown} unknown, {refused} refused"
    );
    assert!(
        never > all / 8 && compared > all / 12 && runs > all / 30 && unknown > 0 && refused > all / 2,
        "{never}, {compared}, {runs}, {unknown}, {refused}"
    );
}
