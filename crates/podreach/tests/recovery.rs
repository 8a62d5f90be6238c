//! Clusters of ordinary size, with hundreds of pods: whether all can be up together is decided, and known where it was made so.

use std::fmt::Write as _;

use podreach::audit::memory::{Means, NoCache};
use podreach::audit::{Actor, Item, Status, policy};
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach_core::testing::Rng;
use podreach_core::{Semantics, check, short};

const RULE: &str = "---
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: p}
spec:
  rules:
  - name: restartable
    recoverable: {pods: {}}
";

const SELF: &str = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: NAME}}}]}}, ";
const APART: &str = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [left, right]}]}}]}}, ";
const SPREAD: &str = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: NAME}}}], ";

fn nodes(text: &mut String, count: usize, cpu: usize) {
    for node in 0..count {
        let labels = format!(
            "{{kubernetes.io/hostname: n{node}, topology.kubernetes.io/zone: z{}, pool: p{}}}",
            node % 3,
            node % 4
        );
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: Node, metadata: {{name: n{node}, labels: {labels}}}, status: {{allocatable: {{cpu: {cpu}, memory: {}Gi, pods: 110}}}}}}",
            4 * cpu
        );
    }
}

fn deployment(text: &mut String, name: &str, replicas: usize, requests: &str, more: &str) {
    let more = more.replace("NAME", name);
    let _ = writeln!(
        text,
        "---\n{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{more}containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}}}}}}}"
    );
}

fn decided(text: &str) -> Item {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", format!("{text}{RULE}").into_bytes()).expect("text"));
    let lowered = podreach::lowered(&sources, &Options::default());
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    let means = Means { budget: &Budget::unlimited(), memory: &NoCache };
    let item =
        policy::items(&lowered, &lowered.policies, Semantics::KubeScheduler, &Actor::AsIs, means, &|| ()).remove(0);
    for evidence in &item.evidence {
        check(evidence.problem(), evidence.decision.checked.verdict().clone()).expect("evidence checks");
        if let Some(found) = &evidence.short {
            short(evidence.problem(), found.demand().clone(), found.shortage().clone(), &|| false)
                .expect("it is short");
        }
    }
    item
}

#[test]
fn ordinary_clusters_are_recoverable_and_it_is_seen() {
    let mut rng = Rng::new(91);
    for case in 0..12 {
        let mut text = "{apiVersion: v1, kind: Namespace, metadata: {name: default}}\n".to_owned();
        let count = 12 + rng.below(12);
        nodes(&mut text, count, 16);
        // Four fifths of the cpu are asked for, in pods of all sizes.
        let (mut free, mut name) = (count * 16_000 * 4 / 5, 0);
        while free > 4_000 {
            let size = rng.pick(&[100, 250, 500, 1_000, 2_000, 3_500]);
            let replicas = (1 + rng.below(count)).min(free / size);
            let more = rng.pick(&["", "", SELF, SPREAD, "nodeSelector: {pool: p1}, "]);
            let replicas = if more.starts_with("node") { 1 + replicas % 3 } else { replicas };
            deployment(
                &mut text,
                &format!("d{name}"),
                replicas,
                &format!("cpu: {size}m, memory: {}Mi", 2 * size),
                more,
            );
            (free, name) = (free.saturating_sub(replicas * size), name + 1);
        }
        let item = decided(&text);
        assert_eq!(item.status, Status::Holds, "case {case}: {} {:?}\n{text}", item.message, item.explanation);
    }
}

#[test]
fn why_hundreds_of_pods_are_too_many_is_proved() {
    type Workloads<'w> = &'w dyn Fn(&mut String);
    let cases: [(&str, Workloads<'_>); 5] = [
        ("request", &|text| (0..40).for_each(|at| deployment(text, &format!("d{at}"), 10, "cpu: 1", ""))),
        // Three fit on no node of sixteen, so that each node wastes some.
        ("room for", &|text| {
            (0..13).for_each(|at| deployment(text, &format!("d{at}"), 4, &format!("cpu: {}m", 6_000 + at), ""))
        }),
        ("domain", &|text| {
            ["left", "right"].iter().for_each(|name| deployment(text, name, 13, "cpu: 10m", APART));
            (0..30).for_each(|at| deployment(text, &format!("d{at}"), 10, "cpu: 100m", ""));
        }),
        ("Quota", &|text| {
            text.push_str(
                "---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 299}}}\n",
            );
            (0..30).for_each(|at| deployment(text, &format!("d{at}"), 10, "cpu: 100m", ""));
        }),
        ("request", &|text| {
            deployment(text, "pool", 100, "cpu: 1", "nodeSelector: {pool: p1}, ");
            (0..10).for_each(|at| deployment(text, &format!("d{at}"), 10, "cpu: 100m", ""));
        }),
    ];
    for (expected, workloads) in cases {
        let mut text = "{apiVersion: v1, kind: Namespace, metadata: {name: default}}\n".to_owned();
        nodes(&mut text, 24, 16);
        workloads(&mut text);
        let item = decided(&text);
        let why = item.explanation.join(" ");
        assert_eq!(item.status, Status::Violated, "{expected}: {} {why}", item.message);
        assert!(why.contains(expected), "{expected}: {why}");
        assert!(item.evidence.iter().all(|evidence| evidence.short.is_some()), "{expected}");
    }
}
