//! Placement policies over manifests: what each rule kind and each actor comes to, and what stands behind it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

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
fn tenants_bring_pods_of_their_own() {
    let never = "{name: r, never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}}";
    let by_actor = |actor: &str| decided(CLUSTER, never, actor)[0].status;
    assert_eq!(by_actor("as-is"), Status::Holds);
    assert_eq!(by_actor("tenant=shop"), Status::Holds);
    assert_eq!(by_actor("tenant-no-tolerations=payments"), Status::Holds);
    let broken = decided(CLUSTER, never, "tenant=payments");
    assert_eq!(
        (broken[0].status, broken[0].message.as_str()),
        (Status::Violated, "pod/payments/any can run on edge-1")
    );
    assert_eq!(decided(CLUSTER, never, "tenant=nowhere")[0].status, Status::Undecided);
}

#[test]
fn a_tenant_can_be_the_witness_that_another_waits_for() {
    let wait = |namespaces: &str| {
        let affinity = format!(
            "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, {namespaces}labelSelector: {{matchLabels: {{app: ghost}}}}}}]}}}}"
        );
        CLUSTER.replace("spec: {containers", &format!("spec: {{{affinity}, containers"))
    };
    let rule = "{name: r, never: {pods: {names: [payments/api]}, nodes: {names: [core-1]}}}";
    assert_eq!(statuses(&decided(&wait(""), rule, "as-is")), [Status::Holds]);
    assert_eq!(statuses(&decided(&wait(""), rule, "tenant=payments")), [Status::Violated]);
    assert_eq!(
        statuses(&decided(&wait(""), rule, "tenant=shop")),
        [Status::Holds],
        "terms look at their own namespace"
    );
    assert_eq!(statuses(&decided(&wait("namespaces: [shop], "), rule, "tenant=shop")), [Status::Violated]);
    assert_eq!(
        statuses(&decided(&wait("namespaces: [shop], "), rule, "tenant-no-tolerations=shop")),
        [Status::Violated]
    );
}

#[test]
fn a_kubelet_relabels_its_node_but_for_restricted_labels() {
    let pinned =
        |key: &str| CLUSTER.replace("spec: {containers", &format!("spec: {{nodeSelector: {{{key}: x}}, containers"));
    let rule = "{name: r, never: {pods: {namespaces: [payments]}, nodes: {names: [core-2]}}}";
    let by = |key: &str, actor: &str| decided(&pinned(key), rule, actor)[0].status;
    assert_eq!(by("secure", "as-is"), Status::Holds);
    assert_eq!(by("secure", "node-compromise=core-2"), Status::Violated);
    assert_eq!(by("secure", "node-compromise=core-1"), Status::Holds);
    assert_eq!(by("node-restriction.kubernetes.io/secure", "node-compromise=core-2"), Status::Holds);
    assert_eq!(by("node-role.kubernetes.io/secure", "node-compromise=core-2"), Status::Holds);
    assert_eq!(by("secure", "node-compromise=core-9"), Status::Undecided);
}

/// Two namespaces on one node in zone east; the pods of payments with this affinity.
fn guarded(affinity: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: n1, labels: {{kubernetes.io/hostname: n1, topology.kubernetes.io/zone: east}}}}, status: {{allocatable: {{cpu: 4, pods: 10}}}}}}
---
{{apiVersion: v1, kind: Namespace, metadata: {{name: shop}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: card, namespace: payments, labels: {{app: card}}}}, spec: {{containers: [{{name: c}}], affinity: {affinity}}}}}
"
    )
}

fn apart_from(selector: &str) -> String {
    format!(
        "{{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, labelSelector: {selector}, namespaces: [shop]}}]}}}}"
    )
}

const APART: &str = "{name: r, neverTogether: {pods: [{namespaces: [shop], matchLabels: {app: web}}, {namespaces: [payments]}], topologyKey: kubernetes.io/hostname}, allowEmpty: true}";

#[test]
fn a_tenant_relabels_pods_that_run() {
    let items = decided(&guarded(&apart_from("{matchLabels: {app: web}}")), APART, "tenant=shop,no-node-name");
    assert_eq!(statuses(&items), [Status::Violated], "{items:#?}");
    assert!(items[0].message.contains("pod/shop/any-relabelled[app=web]"), "{}", items[0].message);
    assert!(items[0].explanation.iter().any(|said| said.contains("any-relabelled")), "{:?}", items[0].explanation);
}

#[test]
fn a_tenant_names_nodes_unless_that_is_forbidden() {
    let everyone = guarded(&apart_from("{}"));
    let items = decided(&everyone, APART, "tenant=shop");
    assert_eq!(statuses(&items), [Status::Holds]);
    assert!(items[0].message.ends_with("but for pods that name their node"), "{}", items[0].message);
    assert!(!items[0].explanation.iter().any(|said| said.contains("exact")), "{:?}", items[0].explanation);
    let items = decided(&everyone, APART, "tenant=shop,no-node-name");
    assert!(items[0].status == Status::Holds && !items[0].message.contains("but for"), "{}", items[0].message);
    assert!(items[0].explanation.iter().any(|said| said.contains("exact")), "{:?}", items[0].explanation);
}

#[test]
fn a_tenant_chooses_its_profile() {
    let profiles = "---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  plugins: {multiPoint: {disabled: [{name: InterPodAffinity}]}}
";
    let cluster = guarded(&apart_from("{}"));
    assert_eq!(statuses(&decided(&cluster, APART, "tenant=shop,no-node-name")), [Status::Holds]);
    let items = decided(&format!("{cluster}{profiles}"), APART, "tenant=shop,no-node-name");
    assert_eq!(statuses(&items), [Status::Violated]);
    assert!(items[0].message.contains("any-by-packer"), "{}", items[0].message);
}

#[test]
fn labels_that_a_node_gives_tell_a_tenants_pods_apart() {
    let selector = "{matchLabels: {app: web, topology.kubernetes.io/zone: east}}";
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let term = format!("[{{topologyKey: kubernetes.io/hostname, labelSelector: {selector}, namespaces: [shop]}}]");
    let guard = format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: guard, namespace: guards}}, spec: {{containers: [{{name: c}}], affinity: {{podAntiAffinity: {{{required}: {term}}}}}}}}}\n"
    );
    let cluster = guarded(&format!("{{podAffinity: {{{required}: {term}}}}}")) + &guard;
    let rule = "{name: r, never: {pods: {namespaces: [payments]}, nodes: {}}}";
    assert_eq!(statuses(&decided(&cluster, rule, "as-is")), [Status::Holds]);
    assert_eq!(statuses(&decided(&cluster, rule, "tenant=shop")), [Status::Violated]);
}

#[test]
fn a_kubelet_says_of_its_node_what_it_likes() {
    let cluster = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {unschedulable: true}, status: {allocatable: {cpu: 8, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, spec: {taints: [{key: pool, effect: NoSchedule}]}, status: {allocatable: {cpu: 1, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: card, namespace: payments}, spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
";
    let rule =
        |node: &str| format!("{{name: r, never: {{pods: {{namespaces: [payments]}}, nodes: {{names: [{node}]}}}}}}");
    let by = |node: &str, actor: &str| decided(cluster, &rule(node), actor)[0].status;
    assert_eq!(by("n1", "as-is"), Status::Holds);
    assert_eq!(by("n1", "node-compromise=n1"), Status::Violated, "room");
    assert_eq!(by("n2", "node-compromise=n2"), Status::Violated, "the cordon");
    assert_eq!(by("n3", "node-compromise=n3"), Status::Holds, "taints are not the kubelet's");
    let possible = "{name: r, possible: {pods: {namespaces: [payments]}}}";
    let open = cluster.replace("cpu: 2", "cpu: 4").replace("cpu: 8", "cpu: 1");
    assert_eq!(statuses(&decided(&open, possible, "as-is")), [Status::Holds]);
    assert_eq!(statuses(&decided(&open, possible, "node-compromise=n1")), [Status::Violated], "no room");
}

#[test]
fn mirror_pods_are_what_others_wait_for() {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let near = format!(
        "{{podAffinity: {{{required}: [{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: ghost}}}}, namespaces: [shop]}}]}}}}"
    );
    let rule = "{name: r, never: {pods: {namespaces: [payments]}, nodes: {}}}";
    let cluster = guarded(&near);
    assert_eq!(statuses(&decided(&cluster, rule, "as-is")), [Status::Holds]);
    let items = decided(&cluster, rule, "node-compromise=n1");
    assert_eq!(statuses(&items), [Status::Violated]);
    let deployed = format!("{:?}", items[0].evidence[0].problem().model.cluster().pods);
    assert!(deployed.contains("pod/shop/mirror[app=ghost]"), "{deployed}");
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

fn refused(rules: &str) -> Vec<(String, usize, Option<String>)> {
    let mut sources = Sources::default();
    let id = sources.add(Source::from_bytes("policy.yaml", policy(rules).into_bytes()).expect("text"));
    let (_, diagnostics) = policy::read(&sources, [id]);
    let place =
        |d: &podreach::diagnostic::Diagnostic| d.span.and_then(|span| sources.place(span)).map_or(0, |p| p.line);
    diagnostics.iter().map(|d| (d.message.clone(), place(d), d.help.clone())).collect()
}

#[test]
fn a_misspelt_field_is_an_error_with_its_place() {
    let said = refused("{name: r, never: {pods: {namespace: [a]}, nodes: {}}}");
    let message = "a selection of pods has no field \"namespace\"".to_owned();
    assert_eq!(said, [(message, 6, Some("did you mean namespaces?".to_owned()))]);
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    for (rules, message) in [
        ("{name: r}", "a rule needs one of never, neverTogether, possible, recoverable"),
        (
            "{name: r, recoverable: {pods: {}}, never: {pods: {}, nodes: {}}}",
            "a rule says one thing, and this one has never and recoverable",
        ),
        ("{name: r, never: {pods: {}}}", "never needs the field nodes"),
        ("{name: r, never: {nodes: {}}}", "the field pods is missing"),
        (
            "{name: r, neverTogether: {pods: [{}], topologyKey: z}}",
            "neverTogether needs two selections of pods; they may be equal",
        ),
        ("{name: r, possible: {pods: {}, count: 0}}", "count must be between 1 and 100000"),
        ("{name: r, recoverable: {pods: {kinds: [Deploymnt]}}}", "\"Deploymnt\" is not a value of kinds"),
        ("{name: r, severity: bad, recoverable: {pods: {}}}", "\"bad\" is not a value of severity"),
        ("{name: R!, recoverable: {pods: {}}}", "\"R!\" is not a valid name"),
    ] {
        let said = refused(rules);
        assert!(said.iter().any(|(text, ..)| text.starts_with(message)), "{rules}: {said:?}");
    }
    let twice = refused("{name: r, recoverable: {pods: {}}}\n{name: r, recoverable: {pods: {}}}");
    assert_eq!(twice[0].0, "two rules of one policy have the name \"r\"");
}

#[test]
fn a_policy_file_holds_policies_and_nothing_else() {
    let mut sources = Sources::default();
    let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}";
    let id = sources.add(Source::from_bytes("policy.yaml", text.into()).expect("text"));
    let (policies, diagnostics) = policy::read(&sources, [id]);
    assert_eq!((policies.len(), diagnostics[0].code), (0, "E0241"));
}

/// A memory in a map, which counts what it is told anew.
#[derive(Default)]
struct Notes {
    kept: Mutex<BTreeMap<String, String>>,
    new: AtomicUsize,
    damaged: bool,
}

impl Cache for Notes {
    fn get(&self, question: &str) -> Option<String> {
        let known = self.kept.lock().expect("no panic").get(question).cloned();
        if self.damaged { known.map(|text| text[..text.len() / 2].to_owned()) } else { known }
    }

    fn put(&self, question: &str, certificate: &str) {
        self.new.fetch_add(1, Ordering::Relaxed);
        self.kept.lock().expect("no panic").insert(question.to_owned(), certificate.to_owned());
    }
}

const REMEMBERED: &str = "{name: taint, never: {pods: {namespaces: [payments]}, nodes: {matchLabels: {pool: public}}}}
     {name: apart, neverTogether: {pods: [{names: [api]}, {names: [lonely]}], topologyKey: kubernetes.io/hostname}}
     {name: many, possible: {pods: {names: [api]}, count: 8}}
     {name: all, recoverable: {pods: {}}}";

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

fn told(items: &[Item]) -> String {
    let boundary = |item: &Item| {
        let boundary = item.boundary.as_ref()?;
        let edits: Vec<_> = boundary.escapes.iter().map(|escape| (&escape.edit, escape.evidence.is_some())).collect();
        Some(format!("{:?} {edits:?} {:?}", boundary.core, boundary.left_out))
    };
    let evidence = |item: &Item| -> Vec<String> {
        item.evidence.iter().map(|shown| format!("{} {:?}", shown.shows, shown.decision.checked.answer())).collect()
    };
    items
        .iter()
        .map(|item| format!("{:?} {} {:?} {:?}\n", item.status, item.message, evidence(item), boundary(item)))
        .collect()
}

#[test]
fn rules_about_an_unchanged_part_are_remembered_and_others_are_not() {
    for actor in ["as-is", "tenant=shop", "node-compromise=core-1"] {
        let actor = Actor::parse(actor).expect("an actor");
        let mut notes = Notes::default();
        let run = |notes: &Notes, cluster: &str| {
            let (lowered, _) = read(&[cluster, &policy(REMEMBERED)]);
            notes.new.store(0, Ordering::Relaxed);
            let items = with_memory(&lowered, &actor, notes);
            items.iter().for_each(checks);
            assert_eq!(told(&items), told(&with_memory(&lowered, &actor, &NoCache)), "{actor}");
            notes.new.load(Ordering::Relaxed)
        };
        let cluster = format!("{CLUSTER}{LONELY}");
        let first = run(&notes, &cluster);
        assert!(first > 0, "{actor}: something is kept");
        assert_eq!(run(&notes, &cluster), 0, "{actor}: the same again is known");
        // Nobody looks at the label of another Deployment, nor at a Service; the rules of single pods do not look at it at all.
        let unrelated = cluster.replace("app: web", "app: website");
        let changed = run(&notes, &unrelated);
        assert!(changed < first, "{actor}: {changed} of {first}");
        let related = cluster
            .replace("key: pool, value: public, effect: NoSchedule", "key: pool, value: private, effect: NoSchedule");
        assert!(run(&notes, &related) > 0, "{actor}: another taint is another part");
        notes.damaged = true;
        run(&notes, &cluster);
    }
}

#[test]
fn a_rule_keeps_what_is_known_of_it_while_others_lose_theirs() {
    let (lowered, _) = read(&[CLUSTER, &policy(REMEMBERED.lines().next().unwrap_or_default())]);
    let notes = Notes::default();
    with_memory(&lowered, &Actor::AsIs, &notes);
    assert_eq!(notes.new.load(Ordering::Relaxed), 1, "what holds the rule up");
    let again = |text: &str| {
        let (lowered, _) = read(&[text, &policy(REMEMBERED.lines().next().unwrap_or_default())]);
        notes.new.store(0, Ordering::Relaxed);
        with_memory(&lowered, &Actor::AsIs, &notes);
        notes.new.load(Ordering::Relaxed)
    };
    // Another workload, another node, and something running there.
    let more = "\n---\n{apiVersion: v1, kind: Node, metadata: {name: core-3}, status: {allocatable: {cpu: 1}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {nodeName: core-3, containers: [{name: c}]}}\n";
    assert_eq!(again(&format!("{CLUSTER}{more}")), 0);
    assert_eq!(again(&CLUSTER.replace("tenant: b", "tenant: c")), 0);
    // A label that nobody looks at; the pod of the rule, and its node.
    assert_eq!(again(&CLUSTER.replace("tenant: a", "tenant: c")), 0);
    assert_eq!(again(&CLUSTER.replacen("spec: {containers", "spec: {nodeSelector: {a: b}, containers", 1)), 1);
    assert_eq!(again(&CLUSTER.replace("value: public", "value: open")), 1);
}

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
