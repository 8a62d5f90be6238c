//! What breaks a rule of what is possible: losses of facts outside its core, where something else is in the way.

use podreach::audit::memory::{Means, NoCache};
use podreach::audit::{Actor, Boundary, Status, policy};
use podreach::engine::Budget;
use podreach::lower::{Keep, Options};
use podreach::read::{Source, Sources};
use podreach_core::Semantics;

/// What holds up one rule about a cluster, and what would break it; pods with the label `kept` are kept.
fn boundary(cluster: &str, rule: &str) -> Boundary {
    let head = "apiVersion: podreach.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - ";
    let mut sources = Sources::default();
    let text = format!("{cluster}\n---\n{head}{rule}\n");
    sources.add(Source::from_bytes("input.yaml", text.into_bytes()).expect("text"));
    let options = Options { keep: vec![Keep::Selector("kept".to_owned())], ..Options::default() };
    let lowered = podreach::lowered(&sources, &options);
    assert!(!lowered.is_stopped(), "{:#?}", lowered.diagnostics);
    let means = Means { budget: &Budget::unlimited(), memory: &NoCache };
    let as_is = &Actor::AsIs;
    let items = policy::items(&lowered, &lowered.policies, Semantics::KubeScheduler, as_is, means, &|| ());
    assert_eq!(items[0].status, Status::Holds, "{}", items[0].message);
    items.into_iter().next().and_then(|item| item.boundary).expect("a rule that holds has one")
}

fn losses(boundary: &Boundary) -> Vec<&str> {
    assert_eq!(boundary.left_out, None);
    boundary.escapes.iter().map(|escape| escape.edit.as_str()).collect()
}

/// Nodes, each with its labels.
fn nodes(nodes: &[(&str, &str)]) -> String {
    let node = |(name, labels): &(&str, &str)| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, {labels}}}}}, \
             status: {{allocatable: {{cpu: 1, pods: 10}}}}}}\n---\n"
        )
    };
    nodes.iter().map(node).collect()
}

/// It joins others in its zone and shares a node with nobody. Of two pods that are kept, one is there to be joined; were its node lost,
/// the other would still be in the way of being the first. Without both nodes it would be the first: the core has neither.
#[test]
fn a_kept_pod_that_is_joined_is_lost_with_its_node() {
    let cluster = nodes(&[("a1", "zone: a"), ("b1", "zone: b"), ("b2", "zone: b")])
        + "
{apiVersion: v1, kind: Pod, metadata: {name: one, labels: {kept: here}}, spec: {nodeName: a1, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: two, labels: {kept: here}}, spec: {nodeName: b1, containers: [{name: c}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: three}
spec:
  containers: [{name: c}]
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {}}";
    let boundary = boundary(&cluster, "{name: r, possible: {pods: {names: [three]}, count: 1}}");
    let losses = losses(&boundary);
    assert!(boundary.core.iter().all(|line| !line.starts_with("node b1")), "{:?}", boundary.core);
    for loss in ["node b1 were lost", "node b1 lost label zone", "node b2 were lost"] {
        assert!(losses.contains(&loss), "{loss}: {losses:?}");
    }
    assert!(!losses.contains(&"node a1 were lost"), "{losses:?}");
}

/// Two that keep apart by zone could share one node if that had no zone. It has one, so it takes both nodes.
#[test]
fn a_label_that_keeps_pods_apart_does_not_hide_that_two_nodes_are_needed() {
    let cluster = nodes(&[("a1", "zone: a"), ("b1", "zone: b")])
        + "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}";
    let boundary = boundary(&cluster, "{name: r, possible: {pods: {names: [web]}, count: 2}}");
    let expected =
        ["node a1 were lost", "node a1 had no room for pods", "node b1 were lost", "node b1 had no room for pods"];
    assert_eq!(losses(&boundary), expected);
}

/// A DaemonSet wants nothing of a node that is lost, but its pod needs room on each node that is there and admits it.
#[test]
fn a_daemon_set_needs_room_on_each_node_and_the_labels_that_keep_it_off() {
    let cluster = nodes(&[("real", "kind: real"), ("small", "virtual: ''")]).replacen("cpu: 1", "cpu: 2", 1)
        + "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: c, resources: {requests: {cpu: 2}}}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: virtual, operator: DoesNotExist}]}]";
    let boundary = boundary(&cluster, "{name: r, recoverable: {pods: {names: [agent]}}}");
    let expected = ["node real had no cpu", "node real had no room for pods", "node small lost label virtual"];
    assert_eq!(losses(&boundary), expected);
}

/// Pods join one that is kept, by a label that they have themselves and by which they keep apart. They could share a node if they had it
/// not; or if their namespace had not the one by which both are found.
#[test]
fn nor_does_a_label_of_pods_or_of_their_namespace() {
    let base = nodes(&[("a1", "zone: a"), ("a2", "zone: a"), ("a3", "zone: a")])
        + "
{apiVersion: v1, kind: Namespace, metadata: {name: base, labels: {team: x}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: x}}}
---
apiVersion: v1
kind: Pod
metadata: {name: first, namespace: base, labels: {app: web, kept: here}}
spec: {nodeName: a3, nodeSelector: {kubernetes.io/hostname: a3}, containers: [{name: c}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c}]
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: zone, labelSelector: PODS, namespaceSelector: NAMESPACES}
          - {topologyKey: zone, labelSelector: {matchLabels: {kept: here}}, namespaceSelector: {}}
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: PODS, namespaceSelector: NAMESPACES}";
    let by_pods = base.replace("PODS", "{matchLabels: {app: web}}").replace("NAMESPACES", "{}");
    let by_namespaces = base.replace("PODS", "{}").replace("NAMESPACES", "{matchLabels: {team: x}}");
    for cluster in [by_pods, by_namespaces] {
        let boundary = boundary(&cluster, "{name: r, possible: {pods: {names: [web]}, count: 2}}");
        let losses = losses(&boundary);
        for loss in ["node a1 were lost", "node a2 were lost"] {
            assert!(losses.contains(&loss), "{loss}: {losses:?} {:?}", boundary.core);
        }
    }
}
