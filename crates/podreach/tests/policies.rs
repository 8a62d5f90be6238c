//! Placement policies over manifests: what each rule kind and each actor comes to, and what stands behind it.

mod actors;
mod documents;
mod memory;

use podreach::audit::memory::{Cache, Means, NoCache};
use podreach::audit::{Actor, Item, Status, policy};
use podreach::engine::Budget;
use podreach::lower::{Lowered, Options};
use podreach::read::{Source, Sources};
use podreach_core::{Semantics, Verdict, check};

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: edge-1, labels: {pool: public, kubernetes.io/hostname: edge-1, topology.kubernetes.io/zone: a}}, spec: {taints: [{key: pool, value: public, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: core-1, labels: {pool: core, kubernetes.io/hostname: core-1, topology.kubernetes.io/zone: a}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: core-2, labels: {pool: core, kubernetes.io/hostname: core-2, topology.kubernetes.io/zone: b}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: payments}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: payments}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api, tenant: a}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tenant: b}}
    spec:
      tolerations: [{key: pool, operator: Exists}]
      containers: [{name: c, resources: {requests: {cpu: 1}}}]
";

fn read(texts: &[&str]) -> (Lowered, Sources) {
    let mut sources = Sources::default();
    for (at, text) in texts.iter().enumerate() {
        sources.add(Source::from_bytes(format!("input-{at}.yaml"), text.as_bytes().to_vec()).expect("text"));
    }
    let lowered = podreach::lowered(&sources, &Options::default());
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    (lowered, sources)
}

fn policy(rules: &str) -> String {
    let head = "apiVersion: podreach.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: p}\nspec:\n  rules:\n";
    rules.lines().fold(head.to_owned(), |text, rule| format!("{text}  - {}\n", rule.trim()))
}

/// The items of these rules, one per line, each with all its evidence checked again.
fn decided(cluster: &str, rules: &str, actor: &str) -> Vec<Item> {
    let (lowered, _) = read(&[cluster, &policy(rules)]);
    let actor = Actor::parse(actor).expect("an actor");
    let items = with_memory(&lowered, &actor, &NoCache);
    items.iter().for_each(checks);
    items
}

fn with_memory(lowered: &Lowered, actor: &Actor, memory: &dyn Cache) -> Vec<Item> {
    let means = Means { budget: &Budget::unlimited(), memory };
    policy::items(lowered, &lowered.policies, Semantics::KubeScheduler, actor, means, &|| ())
}

/// Every trace replays and every proof checks, those of escapes too.
fn checks(item: &Item) {
    let escapes = item.boundary.iter().flat_map(|boundary| boundary.escapes.iter().filter_map(|e| e.evidence.as_ref()));
    for evidence in item.evidence.iter().chain(escapes) {
        let verdict = evidence.decision.checked.verdict().clone();
        assert!(check(evidence.problem(), verdict).is_ok(), "{}: {}", item.message, evidence.shows);
    }
}

fn statuses(items: &[Item]) -> Vec<Status> {
    items.iter().map(|item| item.status).collect()
}

#[test]
fn never_holds_where_a_taint_keeps_pods_off_and_not_where_it_is_tolerated() {
    let items = decided(
        CLUSTER,
        "{name: payments, never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}}
         {name: shop, never: {pods: {namespaces: [shop]}, nodes: {matchLabels: {pool: public}}}}",
        "as-is",
    );
    assert_eq!(statuses(&items), [Status::Holds, Status::Violated]);
    println!("{:#?}", items[0].boundary);
    assert_eq!(items[1].message, "deployment/shop/web can run on edge-1");
    assert_eq!(items[1].subject, ["deployment/shop/web"]);
    assert!(matches!(items[1].evidence[0].decision.checked.verdict(), Verdict::Deployable(_)));
}

#[test]
fn a_boundary_names_what_holds_it_up_and_what_breaks_it() {
    let items = decided(
        CLUSTER,
        "{name: payments, never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}}",
        "as-is",
    );
    let boundary = items[0].boundary.as_ref().expect("a rule that holds has one");
    assert_eq!(boundary.core, ["taint pool=public:NoSchedule on edge-1"]);
    let edits: Vec<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
    let expected =
        ["node edge-1 lost taint pool=public:NoSchedule", "deployment/payments/api tolerated pool=public:NoSchedule"];
    assert_eq!(edits, expected);
    assert_eq!(boundary.left_out, None);
}

#[test]
fn never_together_speaks_of_nodes_that_share_a_value() {
    let rule = |key: &str| {
        format!(
            "{{name: r, neverTogether: {{pods: [{{matchLabels: {{tenant: a}}}}, {{matchLabels: {{tenant: b}}}}], topologyKey: {key}}}}}"
        )
    };
    let apart = CLUSTER
        .replace("spec: {containers", "spec: {nodeSelector: {kubernetes.io/hostname: core-1}, containers")
        .replace("      tolerations", "      nodeSelector: {pool: public}\n      tolerations");
    assert_eq!(statuses(&decided(CLUSTER, &rule("kubernetes.io/hostname"), "as-is")), [Status::Violated]);
    assert_eq!(statuses(&decided(&apart, &rule("kubernetes.io/hostname"), "as-is")), [Status::Holds]);
    let zone = decided(&apart, &rule("topology.kubernetes.io/zone"), "as-is");
    assert_eq!(statuses(&zone), [Status::Violated]);
    let message = "deployment/payments/api on core-1 and deployment/shop/web on edge-1 can be there at the same time";
    assert_eq!(zone[0].message, message);
}

#[test]
fn two_instances_of_one_workload_are_together_too() {
    let rule = "{name: r, neverTogether: {pods: [{namespaces: [payments]}, {namespaces: [payments]}], topologyKey: kubernetes.io/hostname}}";
    assert_eq!(statuses(&decided(CLUSTER, rule, "as-is")), [Status::Violated]);
    let anti = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: api}}}]}}";
    let alone = CLUSTER.replace("spec: {containers", &format!("spec: {{{anti}, containers"));
    let items = decided(&alone, rule, "as-is");
    assert_eq!(statuses(&items), [Status::Holds]);
    let boundary = items[0].boundary.as_ref().expect("a boundary");
    assert_eq!(
        boundary.core,
        [
            "deployment/payments/api requires anti-affinity from app=api by kubernetes.io/hostname",
            "deployment/payments/api has label app=api",
            "nodes have label kubernetes.io/hostname"
        ]
    );
}

#[test]
fn possible_counts_places() {
    let rule = |count: u64, rest: &str| {
        format!("{{name: r{count}, possible: {{pods: {{names: [api]}}, count: {count}{rest}}}}}")
    };
    let spread = ", spreadOver: topology.kubernetes.io/zone";
    let rules = [rule(2, spread), rule(3, spread)].join("\n");
    let items = decided(CLUSTER, &rules, "as-is");
    assert_eq!(statuses(&items), [Status::Holds, Status::Violated]);
    let boundary = items[0].boundary.as_ref().expect("a boundary");
    let expected = [
        "node core-1, with label topology.kubernetes.io/zone=a, 4 cpu and room for 10 pods",
        "node core-2, with label topology.kubernetes.io/zone=b, 4 cpu and room for 10 pods",
    ];
    assert_eq!(boundary.core, expected);
    let edits: Vec<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
    let lost = ["were lost", "lost label topology.kubernetes.io/zone", "had no cpu", "had no room for pods"];
    let each = |node: &str| -> Vec<String> { lost.iter().map(|what| format!("node {node} {what}")).collect() };
    assert_eq!(edits, [each("core-1"), each("core-2")].concat());
    let room = decided(CLUSTER, &[rule(8, ""), rule(9, "")].join("\n"), "as-is");
    assert_eq!(statuses(&room), [Status::Holds, Status::Violated]);
    assert!(room[1].explanation[0].starts_with("All nodes together can have 8 of"), "{:?}", room[1].explanation);
    let core = decided(CLUSTER, &rule(5, ", nodes: {names: [core-1]}"), "as-is");
    assert_eq!(statuses(&core), [Status::Violated]);
}

#[test]
fn recoverable_is_about_all_together_and_from_nothing() {
    let rule = "{name: r, recoverable: {pods: {}}}";
    assert_eq!(statuses(&decided(CLUSTER, rule, "as-is")), [Status::Holds]);
    let large = CLUSTER.replace("replicas: 2", "replicas: 7");
    let items = decided(&large, rule, "as-is");
    assert_eq!(statuses(&items), [Status::Violated]);
    assert!(items[0].explanation[0].contains("cpu together"), "{:?}", items[0].explanation);
    let wait = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: ghost}}}]}}";
    let waiting = CLUSTER.replace("spec: {containers", &format!("spec: {{{wait}, containers"));
    let items = decided(&waiting, rule, "as-is");
    assert_eq!(statuses(&items), [Status::Violated]);
    assert_eq!(items[0].subject, ["deployment/payments/api"]);
}

#[test]
fn a_rule_that_selects_nothing_does_not_pass_in_silence() {
    let rules = "{name: a, never: {pods: {namespaces: [payment]}, nodes: {}}}
        {name: b, allowEmpty: true, never: {pods: {namespaces: [payment]}, nodes: {}}}
        {name: c, never: {pods: {}, nodes: {matchLabels: {pool: pubic}}}}
        {name: d, neverTogether: {pods: [{}, {}], topologyKey: rack}}";
    let items = decided(CLUSTER, rules, "as-is");
    assert_eq!(statuses(&items), [Status::Violated, Status::Holds, Status::Violated, Status::Violated]);
    assert_eq!(items[0].message, "its selection of pods matches no pod type of the input: the rule says nothing");
}

#[test]
fn a_workload_is_not_taken_for_another_with_equal_pods() {
    // Two workloads that nothing tells apart; a pod of the one runs where neither could be deployed today.
    let twins = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: public}}, spec: {taints: [{key: t, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, namespace: x, uid: ua}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: b, namespace: x, uid: ub}, spec: {replicas: 1, selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: c}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b-1, namespace: x, labels: {app: b}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: b, uid: ub, controller: true}]}, spec: {nodeName: n1, containers: [{name: c}]}}
";
    let (lowered, _) = read(&[twins]);
    assert_eq!(lowered.cluster.pods.len(), 2, "each is itself");
    let rules = "{name: a, never: {pods: {names: [x/a]}, nodes: {}}}
        {name: b, never: {pods: {matchLabels: {app: b}}, nodes: {}}}";
    assert_eq!(statuses(&decided(twins, rules, "as-is")), [Status::Holds, Status::Violated]);
}

#[test]
fn workloads_that_are_refused_cannot_be_up_again() {
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 10}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: usual, namespace: shop}, spec: {limits: [{type: Container, max: {cpu: 6}}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: whale, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: whale}}, template: {metadata: {labels: {app: whale}}, spec: {containers: [{name: c, resources: {limits: {cpu: 7}}}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: fish, namespace: shop}, spec: {selector: {matchLabels: {app: fish}}, template: {metadata: {labels: {app: fish}}, spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}}}}
";
    let items = decided(cluster, "{name: r, recoverable: {pods: {namespaces: [shop]}}}", "as-is");
    assert_eq!(statuses(&items), [Status::Violated]);
    assert!(items[0].message.contains("all 3 pods"), "{}", items[0].message);
    let without = "{name: r, recoverable: {pods: {names: [fish]}}}";
    assert_eq!(statuses(&decided(cluster, without, "as-is")), [Status::Holds]);
}

#[test]
fn what_is_not_modelled_holds_rulings_back() {
    let custom = "---\n{apiVersion: example.com/v1, kind: Database, metadata: {name: d}}\n";
    let wait = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: ghost}}}]}}";
    let waiting = CLUSTER.replace("spec: {containers", &format!("spec: {{{wait}, containers"));
    let rule = "{name: r, never: {pods: {namespaces: [payments]}, nodes: {names: [core-1]}}}";
    assert_eq!(statuses(&decided(&waiting, rule, "as-is")), [Status::Holds]);
    assert_eq!(statuses(&decided(&format!("{waiting}{custom}"), rule, "as-is")), [Status::Undecided]);
}

const LONELY: &str = "
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: lonely, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: lonely}}
  template:
    metadata: {labels: {app: lonely}}
    spec:
      containers: [{name: c}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: api}}, namespaceSelector: {}}
";

#[test]
fn labels_hold_rules_up_and_break_them() {
    let cluster = format!("{CLUSTER}{LONELY}");
    let items = decided(
        &cluster,
        "{name: apart, neverTogether: {pods: [{names: [api]}, {names: [lonely]}], topologyKey: kubernetes.io/hostname}}",
        "as-is",
    );
    let boundary = items[0].boundary.as_ref().expect("a rule that holds has one");
    let expected = [
        "deployment/shop/lonely requires anti-affinity from app=api in any namespace by kubernetes.io/hostname",
        "deployment/payments/api has label app=api",
        "nodes have label kubernetes.io/hostname",
    ];
    assert_eq!(boundary.core, expected);
    let edits: Vec<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
    assert!(edits.contains(&"deployment/payments/api lost label app"), "{edits:?}");
    // With a selector of namespaces, their labels matter, too.
    let selected = cluster.replace("namespaceSelector: {}", "namespaceSelector: {matchLabels: {team: a}}").replace(
        "kind: Namespace, metadata: {name: payments}",
        "kind: Namespace, metadata: {name: payments, labels: {team: a}}",
    );
    let items = decided(
        &selected,
        "{name: apart, neverTogether: {pods: [{names: [api]}, {names: [lonely]}], topologyKey: kubernetes.io/hostname}}",
        "as-is",
    );
    let boundary = items[0].boundary.as_ref().expect("a rule that holds has one");
    let edits: Vec<&str> = boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect();
    assert!(edits.contains(&"namespace payments lost label team"), "{edits:?}");
    assert!(boundary.core.contains(&"namespaces have label team".to_owned()), "{:?}", boundary.core);
}
