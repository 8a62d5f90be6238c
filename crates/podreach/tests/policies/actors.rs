//! Rules under actors: what tenants and kubelets can make of a cluster.

use podreach::audit::Status;

use super::{CLUSTER, decided, statuses};

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
