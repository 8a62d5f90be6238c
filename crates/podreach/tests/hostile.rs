//! Input made to mislead: quantities, selectors, names and owners that are nearly right, or right and surprising.
//!
//! Each case says what a correct reader does: refuse it, or read it exactly as kubectl and the API server do.

use podreach::diagnostic::{Diagnostic, Effect};
use podreach::lower::{self, Lowered, Options};
use podreach::question;
use podreach::read::{SourceId, documents};
use podreach_core::rule;
use podreach_core::{Configuration, Model, Semantics};

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels: {kubernetes.io/hostname: n1, zone: a}\nstatus:\n  allocatable: {cpu: '4', memory: 8Gi, pods: '110'}\n";

/// What a correct reader does with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Refuses it.
    Reject,
    /// Reads it, and the pod can be placed on the node.
    Accept,
    /// Reads it, and the pod cannot be placed on the node even when nothing else runs.
    Never,
}
use Outcome::{Accept, Never, Reject};

/// The pod of most cases; each field can be replaced.
struct Pod<'a> {
    name: &'a str,
    labels: &'a str,
    meta: &'a str,
    requests: &'a str,
    extra: &'a str,
}

const POD: Pod<'_> = Pod { name: "p1", labels: "{app: a}", meta: "", requests: "cpu: 100m", extra: "" };

impl Pod<'_> {
    fn text(&self) -> String {
        let Self { name, labels, meta, requests, extra } = self;
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  namespace: default\n  labels: {labels}\n{meta}spec:\n  \
             containers:\n  - name: c\n    image: i\n    resources: {{requests: {{{requests}}}}}\n{extra}"
        )
    }

    fn beside_node(&self) -> String {
        format!("{NODE}---\n{}", self.text())
    }
}

fn lowered(text: &str) -> Lowered {
    let (documents, problems) = documents(SourceId(0), text);
    let mut lowered = lower::cluster(&documents, &Options::default());
    lowered.diagnostics.extend(problems);
    lowered
}

fn stops(lowered: &Lowered) -> Vec<&Diagnostic> {
    lowered.diagnostics.iter().filter(|d| d.effect == Effect::Stops).collect()
}

/// Whether `pod` can be placed on the node of the cluster when nothing runs.
fn placeable(lowered: &Lowered, pod: &str) -> bool {
    let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
    let pod = question::pod(model.cluster(), pod).expect("the pod is a type");
    let node = question::node(model.cluster(), "n1").expect("the node is there");
    rule::hard(&model, &Configuration::new(), pod, node)
}

fn outcome(text: &str) -> Outcome {
    let lowered = lowered(text);
    if lowered.is_stopped() {
        assert!(stops(&lowered).iter().all(|d| d.span.is_some()), "a refusal says where: {text}");
        return Reject;
    }
    if placeable(&lowered, "p1") { Accept } else { Never }
}

#[test]
fn the_plain_case_is_accepted() {
    assert_eq!(outcome(&POD.beside_node()), Accept);
    assert_eq!(lowered(&POD.beside_node()).diagnostics, []);
}

#[test]
fn quantities_are_read_as_kubectl_reads_them() {
    for (requests, expected) in [
        ("cpu: NaN", Reject),
        ("cpu: .inf", Reject),
        ("cpu: 1e400", Reject),
        ("memory: 9223372036854775808", Reject),
        ("memory: 18446744073709551616", Reject),
        ("memory: 340282366920938463463374607431768211456", Reject),
        ("memory: 8Ei", Never),
        ("memory: 9999999999Ei", Never),
        ("cpu: -1", Reject),
        ("cpu: -0", Accept),
        ("cpu: +1", Accept),
        ("cpu: 0.0001", Accept),
        ("cpu: 1e-10", Accept),
        ("cpu: .5", Accept),
        ("cpu: 5.", Never),
        ("cpu: 1E", Never),
        ("cpu: 1e3", Never),
        ("cpu: 0x10", Never),
        ("cpu: '0x10'", Reject),
        ("cpu: ' 1 '", Accept),
        ("cpu: ' '", Reject),
        ("cpu: null", Accept),
        ("cpu: 1_000m", Reject),
        ("cpu: 100M", Never),
        ("memory: 100m", Accept),
        ("memory: 1kI", Reject),
        ("cpu: \u{661}", Reject),
        ("cpu: ''", Reject),
        ("cpu: [1]", Reject),
        ("cpu: true", Reject),
        ("nvidia.com/gpu: 0.5", Reject),
        ("'': 1", Reject),
        ("pods: 1", Reject),
    ] {
        assert_eq!(outcome(&Pod { requests, ..POD }.beside_node()), expected, "{requests}");
    }
}

#[test]
fn legal_but_surprising_quantities_are_remarked_on() {
    for (requests, code) in [("memory: 8Ei", "W0301"), ("cpu: 100M", "W0302"), ("memory: 100m", "W0302")] {
        let lowered = lowered(&Pod { requests, ..POD }.beside_node());
        let codes: Vec<_> = lowered.diagnostics.iter().map(|d| (d.code, d.effect)).collect();
        assert_eq!(codes, [(code, Effect::Notes)], "{requests}");
    }
}

#[test]
fn small_requests_round_up() {
    for (requests, resource, amount) in
        [("cpu: 0.0001", "cpu", 1), ("cpu: 1e-10", "cpu", 1), ("memory: 100m", "memory", 1), ("cpu: 1500u", "cpu", 2)]
    {
        let lowered = lowered(&Pod { requests, ..POD }.beside_node());
        let mut cluster = lowered.cluster;
        let resource = cluster.resource(resource);
        let pod = question::pod(&cluster, "p1").expect("the pod");
        assert_eq!(cluster.pods[pod].spec.requests.amount(resource), amount, "{requests}");
    }
}

#[test]
fn sums_beyond_64_bits_do_not_wrap() {
    let node = NODE.replace("8Gi", "9223372036854775807");
    let requests = "memory: 9223372036854775807";
    let pods = ["p1", "p2", "p3"].map(|name| Pod { name, requests, extra: "  nodeName: n1\n", ..POD }.text());
    let lowered = lowered(&format!("{node}---\n{}", pods.join("---\n")));
    assert_eq!(stops(&lowered), Vec::<&Diagnostic>::new());
    assert_eq!((lowered.start.size(), lowered.cluster.pods.len()), (3, 3));
    let model = Model::new(lowered.cluster, Semantics::KubeScheduler);
    let (pod, node) = (model.pods().next().expect("a type"), model.nodes().next().expect("a node"));
    assert!(!rule::hard(&model, &lowered.start, pod, node), "the node is over-committed");
}

#[test]
fn nodes_must_say_what_they_have() {
    let pod = POD.text();
    assert_eq!(outcome(&format!("{}---\n{pod}", NODE.replace("cpu: '4'", "cpu: '-4'"))), Reject);
    let (head, _) = NODE.split_once("status").expect("a status");
    assert_eq!(outcome(&format!("{head}---\n{pod}")), Reject);
    assert_eq!(outcome(&format!("{head}status: {{}}\n---\n{pod}")), Reject);
    assert_eq!(outcome(&format!("{head}status: {{allocatable: {{}}}}\n---\n{pod}")), Never);
    assert_eq!(outcome(&format!("{}---\n{pod}", NODE.replace("allocatable", "capacity"))), Accept);
}

#[test]
fn huge_replica_counts_cost_nothing() {
    let text = format!(
        "{NODE}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  replicas: 2147483647\n  \
         selector: {{matchLabels: {{app: a}}}}\n  template:\n    metadata: {{labels: {{app: a}}}}\n    \
         spec: {{containers: [{{name: c, image: i}}]}}\n"
    );
    let lowered = lowered(&text);
    assert!(!lowered.is_stopped() && placeable(&lowered, "deployment/default/d"));
}

fn anti_affinity(term: &str) -> String {
    let extra = format!(
        "  affinity:\n    podAntiAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n      - {term}\n"
    );
    Pod { extra: &extra, ..POD }.beside_node()
}

#[test]
fn selectors_say_something_sensible_or_are_refused() {
    for expression in [
        "{key: app, operator: Foo, values: [a]}",
        "{key: app, operator: in, values: [a]}",
        "{key: app, operator: In, values: []}",
        "{key: app, operator: Exists, values: [a]}",
        "{key: app, operator: Gt, values: ['1']}",
        "{operator: Exists}",
        "{key: 'a b', operator: Exists}",
    ] {
        let term = format!("{{topologyKey: zone, labelSelector: {{matchExpressions: [{expression}]}}}}");
        assert_eq!(outcome(&anti_affinity(&term)), Reject, "{expression}");
    }
    assert_eq!(outcome(&anti_affinity("{topologyKey: '', labelSelector: {}}")), Reject);
    assert_eq!(outcome(&anti_affinity("{labelSelector: {}}")), Reject);
}

#[test]
fn an_empty_selector_matches_all_pods_and_a_missing_one_none() {
    let key = "topologyKey: kubernetes.io/hostname";
    for (selector, matches) in [(", labelSelector: {}", true), ("", false), (", labelSelector: null", false)] {
        let lowered = lowered(&anti_affinity(&format!("{{{key}{selector}}}")));
        assert!(!lowered.is_stopped());
        let model = Model::new(lowered.cluster, Semantics::KubeScheduler);
        let pod = model.pods().next().expect("a type");
        let term = model.pod(pod).anti_affinity[0];
        assert_eq!(model.sees_unbound(term.matcher, pod), matches, "{selector}");
    }
}

fn node_affinity(terms: &str) -> String {
    let extra = format!(
        "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms: {terms}\n"
    );
    Pod { extra: &extra, ..POD }.beside_node()
}

#[test]
fn node_affinity_terms() {
    for (terms, expected) in [
        ("[{matchExpressions: [{key: zone, operator: Gt, values: ['1.5']}]}]", Never),
        (
            "[{matchExpressions: [{key: zone, operator: Gt, values: [abc]}]}, {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]",
            Accept,
        ),
        ("[{matchExpressions: [{key: zone, operator: Gt, values: []}]}]", Reject),
        ("[]", Reject),
        ("[{}]", Never),
        ("[{matchExpressions: [{key: zone, operator: In, values: [a]}]}]", Accept),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]", Accept),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}]", Reject),
        ("[{matchFields: [{key: spec.unschedulable, operator: In, values: ['true']}]}]", Reject),
    ] {
        assert_eq!(outcome(&node_affinity(terms)), expected, "{terms}");
    }
}

#[test]
fn labels_are_compared_only_with_numbers_that_a_label_can_have() {
    for (bound, expected) in [("5", Accept), ("007", Never), ("-5", Never), ("+5", Never), ("many", Never), ("", Never)]
    {
        let terms = format!("[{{matchExpressions: [{{key: rank, operator: Gt, values: ['{bound}']}}]}}]");
        let text = node_affinity(&terms).replacen("zone: a", "rank: '7'", 1);
        assert_eq!(outcome(&text), expected, "{bound}");
    }
}

#[test]
fn fields_are_known_or_refused() {
    let misspelt = Pod { extra: "  afinity: {podAntiAffinity: {}}\n", ..POD }.beside_node();
    let lowered = lowered(&misspelt);
    let [error] = stops(&lowered)[..] else { panic!("one error") };
    assert_eq!((error.code, error.help.as_deref()), ("E0204", Some("did you mean affinity?")));
    let spread = |constraint: &str| {
        let extra = format!("  topologySpreadConstraints:\n  - {constraint}\n");
        outcome(&Pod { extra: &extra, ..POD }.beside_node())
    };
    assert_eq!(spread("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Maybe, labelSelector: {}}"), Reject);
    assert_eq!(spread("{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"), Reject);
    assert_eq!(
        spread("{maxSkew: 1.0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"),
        Accept
    );
    assert_eq!(
        spread("{maxSkew: 1.5, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"),
        Reject
    );
}

#[test]
fn comparing_tolerations_are_read_and_remarked_on() {
    let extra = "  tolerations: [{key: sla, operator: Gt, value: '950', effect: NoSchedule}]\n";
    let lowered = lowered(&Pod { extra, ..POD }.beside_node());
    assert_eq!(lowered.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["W0303"]);
    assert!(placeable(&lowered, "p1"));
}

#[test]
fn labels_and_names_are_what_the_api_server_takes() {
    let long = format!("{{app: {}}}", "a".repeat(64));
    for labels in ["{'bad key!': a}", long.as_str(), "{app: on}", "{app: 1}"] {
        assert_eq!(outcome(&Pod { labels, ..POD }.beside_node()), Reject, "{labels}");
    }
    for name in ["'../../etc/passwd'", "'<img src=x onerror=alert(1)>'", "\"p\\0\\x1b[31mEVIL\\x07\"", "''"] {
        let lowered = lowered(&Pod { name, ..POD }.beside_node());
        assert!(lowered.is_stopped(), "{name}");
        let harmless = |text: &str| text.chars().all(|c| !c.is_control());
        assert!(lowered.diagnostics.iter().all(|d| harmless(&d.message)), "{name}");
    }
    let meta = "  annotations: {x: '<script>alert(1)</script>'}\n";
    assert_eq!(outcome(&Pod { meta, ..POD }.beside_node()), Accept);
}

#[test]
fn two_objects_of_one_name_contradict_each_other() {
    let other = NODE.replace("cpu: '4'", "cpu: '1'");
    assert_eq!(outcome(&format!("{NODE}---\n{other}---\n{}", POD.text())), Reject);
}

#[test]
fn owners_that_own_each_other_are_followed_once() {
    let meta = "  uid: u1\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: p1, uid: u1}]\n";
    assert_eq!(outcome(&Pod { meta, ..POD }.beside_node()), Accept);
    let metas = [0, 1, 2].map(|i| {
        let next = (i + 1) % 3;
        format!("  uid: u{i}\n  ownerReferences: [{{apiVersion: v1, kind: Pod, name: p{next}, uid: u{next}}}]\n")
    });
    let pods = [0, 1, 2].map(|i| Pod { name: &format!("p{i}"), meta: &metas[i], ..POD }.text());
    assert_eq!(outcome(&format!("{NODE}---\n{}", pods.join("---\n"))), Accept);
    let sets = ["a", "b"].map(|name| {
        let other = if name == "a" { "b" } else { "a" };
        format!(
            "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, \
             name: {other}, uid: u}}]}}\nspec: {{template: {{spec: {{containers: [{{name: c}}]}}}}}}\n"
        )
    });
    let meta = "  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: a, uid: u}]\n";
    let pod = Pod { meta, extra: "  nodeName: n1\n", ..POD }.text();
    assert!(!lowered(&format!("{NODE}---\n{}---\n{pod}", sets.join("---\n"))).is_stopped());
}

#[test]
fn a_pod_on_an_unknown_node_counts_nowhere() {
    let lowered = lowered(&Pod { extra: "  nodeName: ghost\n", ..POD }.beside_node());
    assert_eq!(lowered.diagnostics.iter().map(|d| (d.code, d.effect)).collect::<Vec<_>>(), [("W0304", Effect::Notes)]);
    assert!(lowered.start.is_empty() && placeable(&lowered, "p1"));
}

#[test]
fn secrets_are_never_repeated() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2-CANARY}\n";
    let lowered = lowered(&format!("{NODE}---\n{secret}---\n{}", POD.text()));
    assert_eq!(lowered.diagnostics, []);
    assert!(!format!("{lowered:?}").contains("CANARY"));
}

#[test]
fn ports_have_sixteen_bits() {
    let text = POD.beside_node().replace("image: i\n", "image: i\n    ports: [{containerPort: 80, hostPort: 70000}]\n");
    assert_eq!(outcome(&text), Reject);
}

#[test]
fn affinity_over_a_key_no_node_has_is_never_met() {
    let extra = "  affinity:\n    podAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n      \
                 - {topologyKey: nolabel, labelSelector: {matchLabels: {app: a}}}\n";
    assert_eq!(outcome(&Pod { extra, ..POD }.beside_node()), Never);
}

#[test]
fn sizes_beyond_the_usual_are_read() {
    let term = |i: usize| format!("      - {{topologyKey: t{i}, labelSelector: {{matchLabels: {{k{i}: v}}}}}}\n");
    let terms: String = (0..5000).map(term).collect();
    let head = "  affinity:\n    podAntiAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n";
    assert_eq!(outcome(&Pod { extra: &format!("{head}{terms}"), ..POD }.beside_node()), Accept);
    let nodes: String = (0..5000).map(|i| format!("---\n{}", NODE.replace("n1", &format!("n{i}")))).collect();
    assert_eq!(outcome(&format!("{nodes}---\n{}", POD.text())), Accept);
    let pods: String = (0..20_000).map(|i| format!("---\n{}", Pod { name: &format!("p{i}"), ..POD }.text())).collect();
    let lowered = lowered(&format!("{NODE}{pods}"));
    assert_eq!((lowered.cluster.pods.len(), lowered.diagnostics.len()), (20_000, 0));
}

#[test]
fn kinds_that_may_hide_pods_are_never_passed_over() {
    for (document, code) in [
        (
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {password: CANARY}\n",
            "S0404",
        ),
        ("replicaCount: 3\npassword: CANARY\n", "S0402"),
        ("apiVersion: v1\nkind: Frobnication\npassword: CANARY\n", "S0403"),
    ] {
        let lowered = lowered(&format!("{NODE}---\n{document}---\n{}", POD.text()));
        let found: Vec<_> = lowered.diagnostics.iter().map(|d| (d.code, d.effect)).collect();
        assert_eq!(found, [(code, Effect::UnderApproximates)], "{document}");
        assert!(!format!("{lowered:?}").contains("CANARY"));
    }
    for (document, code) in [
        ("apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: x}\n", "E0202"),
        ("apiVersion: v1\nkind: Pood\nmetadata: {name: x}\n", "E0203"),
        ("just text\n", "E0201"),
    ] {
        let lowered = lowered(document);
        assert_eq!(lowered.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [code]);
    }
}

#[test]
fn lists_unfold_but_not_without_end() {
    let pod = POD.text().replace('\n', "\n  ");
    let list = format!("{NODE}---\napiVersion: v1\nkind: List\nitems:\n- {}\n", pod.trim_end());
    assert_eq!(outcome(&list), Accept);
    let list = "apiVersion: v1\nkind: List\nitems: [{kind: List, apiVersion: v1, items: []}]\n";
    assert_eq!(lowered(list).diagnostics, []);
    let nested = (0..50).fold("[]".to_owned(), |inner, _| format!("[{{apiVersion: v1, kind: List, items: {inner}}}]"));
    let deep = lowered(&format!("apiVersion: v1\nkind: List\nitems: {nested}\n"));
    assert_eq!(deep.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["E0223"]);
}
