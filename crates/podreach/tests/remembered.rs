//! Whoever remembers says the same, to the letter: random clusters and policies, edited again and again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use podreach::audit::memory::{Cache, Means, NoCache};
use podreach::audit::{Actor, Outcome, finding, policy};
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach::report::{Detail, audit};
use podreach_core::Semantics;
use podreach_core::testing::{Rng, cases};

/// A memory in a map, which counts how often it was of use.
#[derive(Default)]
struct Notes {
    kept: Mutex<BTreeMap<String, String>>,
    recalled: AtomicUsize,
    /// What becomes of an answer before it is handed out.
    damage: Option<fn(&str) -> String>,
}

impl Cache for Notes {
    fn get(&self, question: &str) -> Option<String> {
        let known = self.kept.lock().expect("nobody panics with it").get(question).cloned()?;
        self.recalled.fetch_add(1, Ordering::Relaxed);
        Some(self.damage.map_or(known.clone(), |damage| damage(&known)))
    }

    fn put(&self, question: &str, answer: &str) {
        self.kept.lock().expect("nobody panics with it").insert(question.to_owned(), answer.to_owned());
    }
}

/// An audit in full, as text and as a document.
fn told(documents: &[String], semantics: Semantics, memory: &dyn Cache) -> String {
    told_of(documents, POLICY, semantics, memory)
}

fn told_of(documents: &[String], policy: &str, semantics: Semantics, memory: &dyn Cache) -> String {
    let mut sources = Sources::default();
    let text = documents.join("---\n") + "---\n" + policy;
    sources.add(Source::from_bytes("input.yaml", text.clone().into_bytes()).expect("text"));
    let options = Options::default();
    let lowered = podreach::lowered(&sources, &options);
    assert!(!lowered.is_stopped(), "{text}\n{:#?}", lowered.diagnostics);
    let budget = Budget::unlimited();
    let means = Means { budget: &budget, memory };
    let mut items = policy::items(&lowered, &lowered.policies, semantics, &Actor::AsIs, means, &|| ());
    items.extend(finding::items(&lowered, semantics, &budget, memory, &|| ()));
    let outcome = Outcome::new(items, &lowered.origins);
    let (outcome, sources, options) = (&outcome, &sources, &options);
    let audits = [audit::AuditReport {
        outcome,
        sources,
        options,
        semantics,
        assumptions: &[],
        diagnostics: &[],
        fail_on: None,
    }];
    format!("{}\n{:#}", audit::text(&audits, Detail::Verbose), audit::document(&audits))
}

const POLICY: &str = "
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: p}
spec:
  rules:
  - {name: never, never: {pods: {names: [w0, w1]}, nodes: {matchLabels: {pool: a}}}, allowEmpty: true}
  - {name: apart, neverTogether: {pods: [{names: [w0]}, {names: [w2]}], topologyKey: zone}, allowEmpty: true}
  - {name: many, possible: {pods: {names: [w1, w2]}, count: 2, spreadOver: zone}, allowEmpty: true}
  - {name: again, recoverable: {pods: {names: [w0, w3]}}, allowEmpty: true}
";

fn node(rng: &mut Rng, at: usize) -> String {
    let mut labels = format!("kubernetes.io/hostname: n{at}");
    for key in ["zone", "pool"] {
        if rng.below(4) > 0 {
            let _ = write!(labels, ", {key}: {}", ["a", "b"][rng.below(2)]);
        }
    }
    let taint = if rng.below(3) == 0 { "taints: [{key: t, effect: NoSchedule}]" } else { "" };
    let cpu = 1 + rng.below(3);
    format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: n{at}, labels: {{{labels}}}}}, spec: {{{taint}}}, \
         status: {{allocatable: {{cpu: {cpu}, pods: 4}}}}}}\n"
    )
}

fn workload(rng: &mut Rng, at: usize) -> String {
    let mut spec = String::new();
    if rng.below(2) == 0 {
        spec += "tolerations: [{key: t, operator: Exists}], ";
    }
    if rng.below(4) == 0 {
        let _ = write!(spec, "nodeSelector: {{pool: {}}}, ", ["a", "b"][rng.below(2)]);
    }
    let mut terms = |most: usize| -> String {
        let term = |rng: &mut Rng| {
            let (app, key) = (rng.below(4), ["kubernetes.io/hostname", "zone"][rng.below(2)]);
            format!("{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: w{app}}}}}}}")
        };
        let terms: Vec<String> = (0..rng.below(most)).map(|_| term(rng)).collect();
        format!("{{requiredDuringSchedulingIgnoredDuringExecution: [{}]}}", terms.join(", "))
    };
    let (near, far) = (terms(3), terms(3));
    let _ = write!(spec, "affinity: {{podAffinity: {near}, podAntiAffinity: {far}}}, ");
    let (replicas, cpu) = (1 + rng.below(2), 1 + rng.below(2));
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: w{at}, namespace: d}}, spec: {{replicas: {replicas}, \
         selector: {{matchLabels: {{app: w{at}}}}}, template: {{metadata: {{labels: {{app: w{at}}}}}, spec: {{{spec}\
         containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}}}\n"
    )
}

/// A cluster of three nodes and four workloads.
fn cluster(rng: &mut Rng) -> Vec<String> {
    let nodes: Vec<String> = (0..3).map(|at| node(rng, at)).collect();
    nodes.into_iter().chain((0..4).map(|at| workload(rng, at))).collect()
}

/// Something else about one object, another order, or something new that is in nobody's way.
fn edited(rng: &mut Rng, mut documents: Vec<String>) -> Vec<String> {
    let at = rng.below(documents.len());
    match rng.below(5) {
        0 => {
            let other = rng.below(documents.len());
            documents.swap(at, other);
        }
        1 => {
            let name = format!("extra{}", rng.below(1_000));
            let text = format!(
                "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: other, labels: {{{name}: x}}}}, \
                 spec: {{containers: [{{name: c}}]}}}}\n"
            );
            documents.insert(at, text);
        }
        2 => documents[at] = documents[at].replace("cpu: 1", "cpu: 2"),
        _ => {
            let fresh = cluster(rng);
            let name = |text: &str| {
                text.split("name: ").nth(1).and_then(|rest| rest.split([',', '}']).next()).map(str::to_owned)
            };
            if let Some(other) = fresh.into_iter().find(|text| name(text) == name(&documents[at])) {
                documents[at] = other;
            }
        }
    }
    documents
}

#[test]
fn an_audit_that_remembers_prints_what_one_that_does_not_prints() {
    let (mut rng, mut recalled) = (Rng::new(101), 0);
    for case in 0..cases(25) {
        let semantics = if case % 4 == 3 { Semantics::Paper } else { Semantics::KubeScheduler };
        let (mut documents, notes) = (cluster(&mut rng), Notes::default());
        for edit in 0..6 {
            let truth = told(&documents, semantics, &NoCache);
            for again in 0..2 {
                let said = told(&documents, semantics, &notes);
                assert!(
                    said == truth,
                    "case {case}, edit {edit}, {again}:\n{}\n{truth}\n-- but --\n{said}",
                    documents.join("---\n")
                );
            }
            documents = edited(&mut rng, documents);
        }
        recalled += notes.recalled.into_inner();
    }
    println!("{recalled} answers were remembered");
    assert!(recalled > 500, "{recalled}");
}

#[test]
fn what_a_possibility_stands_on_is_remembered() {
    let policy = "
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: p}
spec: {rules: [{name: room, possible: {pods: {names: [w]}, count: 2}}, {name: again, recoverable: {pods: {names: [w]}}}]}
";
    let documents = [
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: a}}, status: {allocatable: {cpu: 4, pods: 4}}}\n",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: d}, spec: {replicas: 2, selector: {matchLabels: {app: w}}, \
         template: {metadata: {labels: {app: w}}, spec: {nodeSelector: {pool: a}, containers: [{name: c}]}}}}\n",
    ]
    .map(str::to_owned);
    let notes = Notes::default();
    let boundaries = |notes: &Notes| {
        let kept = notes.kept.lock().expect("nobody panics with it");
        kept.keys().filter(|question| question.starts_with("[\"boundary\"")).count()
    };
    let first = told_of(&documents, policy, Semantics::KubeScheduler, &notes);
    assert!(first.contains("with label pool=a"), "{first}");
    assert_eq!(boundaries(&notes), 2);
    let before = notes.recalled.load(Ordering::Relaxed);
    assert_eq!(told_of(&documents, policy, Semantics::KubeScheduler, &notes), first);
    assert!(notes.recalled.load(Ordering::Relaxed) >= before + 2);
    let elsewhere = [documents[0].replace("pool: a", "pool: b"), documents[1].replace("pool: a", "pool: b")];
    assert_ne!(told_of(&elsewhere, policy, Semantics::KubeScheduler, &notes), first);
    assert_eq!(boundaries(&notes), 4, "another label is another question");
}

#[test]
fn answers_that_were_cut_changed_or_forged_change_nothing() {
    let mut rng = Rng::new(102);
    let damages: [fn(&str) -> String; 5] = [
        |text| text[..text.len() / 2].to_owned(),
        |_| String::new(),
        |text| text.replace('0', "4000000000"),
        |text| text.replace('1', "0"),
        |text| text.replace("false", "true").replace("[]", "[[0,1]]"),
    ];
    for case in 0..cases(8) {
        let documents = cluster(&mut rng);
        let truth = told(&documents, Semantics::KubeScheduler, &NoCache);
        let mut notes = Notes::default();
        told(&documents, Semantics::KubeScheduler, &notes);
        for (which, damage) in damages.into_iter().enumerate() {
            let kept = notes.kept.into_inner().expect("nobody panicked");
            notes = Notes { kept: Mutex::new(kept.clone()), damage: Some(damage), ..Notes::default() };
            let status = |text: &str| text.lines().next().map(str::to_owned);
            let said = told(&documents, Semantics::KubeScheduler, &notes);
            assert_eq!(status(&said), status(&truth), "case {case}, damage {which}");
            notes = Notes { kept: Mutex::new(kept), ..Notes::default() };
        }
    }
}
