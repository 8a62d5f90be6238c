//! A tenant within limit ranges and quotas: as strong as all pods of a small space, each taken through admission.

use std::fmt::Write as _;

use podreach::audit::memory::{Forgetful, Means};
use podreach::audit::{Actor, Status, policy};
use podreach::engine::Budget;
use podreach::lower::Options;
use podreach::read::{Source, Sources};
use podreach_core::Semantics;
use podreach_core::testing::{Rng, cases};

/// Nodes, a limit range, quotas and what runs already.
fn cluster(rng: &mut Rng) -> String {
    let mut text = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n".to_owned();
    for node in 0..1 + rng.below(2) {
        let cpu = rng.pick(&["400m", "1", "2"]);
        let labels = format!("{{kubernetes.io/hostname: n{node}}}");
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: Node, metadata: {{name: n{node}, labels: {labels}}}, status: {{allocatable: {{cpu: {cpu}, memory: 1Gi, pods: 3}}}}}}"
        );
    }
    if !rng.one_in(3) {
        let kind = rng.pick(&["Container", "Container", "Pod"]);
        let mut says = Vec::new();
        for (field, values) in
            [("min", ["500m", "1"]), ("max", ["1", "2"]), ("default", ["1", "2"]), ("defaultRequest", ["500m", "1"])]
        {
            let of_container = field.starts_with("default");
            if rng.one_in(2) && !(of_container && kind == "Pod") {
                says.push(format!("{field}: {{cpu: {}}}", rng.pick(&values)));
            }
        }
        if rng.one_in(4) {
            says.push("maxLimitRequestRatio: {cpu: 2}".to_owned());
        }
        let says = says.iter().map(|part| format!(", {part}")).collect::<String>();
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: LimitRange, metadata: {{name: range, namespace: shop}}, spec: {{limits: [{{type: {kind}{says}}}]}}}}"
        );
    }
    for quota in 0..rng.below(3) {
        let hard = rng.pick(&[
            "pods: 0",
            "pods: 1",
            "pods: 2",
            "requests.cpu: 500m",
            "requests.cpu: 1",
            "limits.cpu: 1",
            "limits.cpu: 1m",
            "count/pods: 1",
            "requests.cpu: 0",
        ]);
        let scope = rng.pick(&[
            "",
            "",
            ", scopes: [BestEffort]",
            ", scopes: [NotBestEffort]",
            ", scopes: [Terminating]",
            ", scopes: [NotTerminating]",
        ]);
        let scope = if hard.starts_with("pods") || hard.starts_with("count") || !scope.contains("[BestEffort") {
            scope
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q{quota}, namespace: shop}}, spec: {{hard: {{{hard}}}{scope}}}}}"
        );
    }
    text
}

/// Every pod of a small space; one that requests more than its own limit is no pod.
fn space() -> String {
    let mut text = String::new();
    let said =
        |name: &str, amount: Option<u64>| amount.map(|amount| format!("{name}: {amount}m, ")).unwrap_or_default();
    let amounts = [None, Some(0), Some(1), Some(500), Some(1_000), Some(2_000)];
    let mut number = 0;
    for request in amounts {
        for limit in
            amounts.into_iter().filter(|limit| limit.is_none_or(|limit| request.is_none_or(|asked| asked <= limit)))
        {
            for memory in ["", "memory: 1"] {
                for deadline in ["", "activeDeadlineSeconds: 5, "] {
                    number += 1;
                    let resources =
                        format!("requests: {{{}}}, limits: {{{}{memory}}}", said("cpu", request), said("cpu", limit));
                    let _ = writeln!(
                        text,
                        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: s{number}, namespace: shop}}, spec: {{{deadline}containers: [{{name: c, resources: {{{resources}}}}}]}}}}"
                    );
                }
            }
        }
    }
    text
}

const RULES: &str = "---
apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: p}
spec:
  rules:
  - name: anywhere
    never: {pods: {namespaces: [shop]}, nodes: {}}
  - name: two
    neverTogether: {pods: [{namespaces: [shop]}, {namespaces: [shop]}], topologyKey: kubernetes.io/hostname}
";

fn statuses(texts: &[&str], actor: &Actor) -> Option<Vec<(Status, String)>> {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", texts.concat().into_bytes()).expect("text"));
    let lowered = podreach::lowered(&sources, &Options::default());
    // Requests above their limits and the like are refused when they are read.
    if lowered.is_stopped() {
        return None;
    }
    let means = Means { budget: &Budget::unlimited(), memory: &Forgetful };
    let items = policy::items(&lowered, &lowered.policies, Semantics::KubeScheduler, actor, means, &|| ());
    Some(items.into_iter().map(|item| (item.status, item.message)).collect())
}

#[test]
fn a_tenant_within_limit_ranges_and_quotas_is_as_strong_as_all_pods_of_a_small_space() {
    let mut rng = Rng::new(77);
    let (mut held, mut broken, mut differ) = (0, 0, 0);
    let tenant = Actor::parse("tenant=shop").expect("an actor");
    for case in 0..cases(120) {
        let cluster = cluster(&mut rng);
        let found = statuses(&[&cluster, RULES], &tenant).expect("usable");
        let truth = statuses(&[&cluster, &space(), RULES], &Actor::AsIs).expect("usable");
        for ((is, message), (should, why)) in found.iter().zip(&truth) {
            // Without a pod that is ever let in, the rule selects nothing, and that is no violation of it.
            let nothing = message.contains("the rule says nothing");
            let is = if nothing { Status::Holds } else { *is };
            assert_eq!(is, *should, "case {case}: {message} {why}\n{cluster}");
            *(if is == Status::Holds { &mut held } else { &mut broken }) += 1;
        }
        differ += usize::from(found[0].0 != found[1].0);
    }
    assert!(held > 20 && broken > 20 && differ > 5, "{held} {broken} {differ}");
}
