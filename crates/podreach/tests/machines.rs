//! Pools of Cluster API, from objects to answers.

use podreach::lower::{Nodes, Options};
use podreach::read::{Source, Sources};
use podreach::{Analysis, question};
use podreach_core::cluster::Lifetime;
use podreach_core::{Goal, NodeId, Semantics};

/// A deployment of machines whose size an autoscaler changes, how its nodes register, and a node of its cluster.
const BATCH: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: batch
  annotations:
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: '0'
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '10'
    capacity.cluster-autoscaler.kubernetes.io/cpu: '8'
    capacity.cluster-autoscaler.kubernetes.io/memory: 32Gi
spec:
  clusterName: prod
  template:
    metadata: {labels: {node-role.kubernetes.io/batch: '', team: red}}
    spec:
      bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: batch}}
      taints: [{key: first, effect: NoSchedule, propagation: OnInitialization}]
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: batch}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: ARGUMENTS, taints: [{key: tier, value: batch, effect: NoSchedule}]}}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: c1, labels: {kubernetes.io/hostname: c1}, annotations: {cluster.x-k8s.io/cluster-name: prod, cluster.x-k8s.io/cluster-namespace: default}}, status: {allocatable: {cpu: 1, pods: 110}}}
";

const LABELS: &str = "[{name: max-pods, value: '50'}, {name: node-labels, value: 'tier=batch,size=4'}]";

/// The same with a pod that tolerates `tier` and `first`, and has this besides.
fn with(machines: &str, pod: &str) -> String {
    let tolerations = "tolerations: [{key: tier, operator: Exists}, {key: first, operator: Exists}]";
    let requests = "requests: {cpu: 4}";
    format!(
        "{}---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p0}}, spec: {{{pod}, {tolerations}, containers: [{{name: c, image: i, resources: {{{requests}}}}}]}}}}\n",
        machines.replace("ARGUMENTS", LABELS)
    )
}

/// The answer for the pod on any node that may come; verified.
fn answer(text: &str) -> (Option<bool>, String) {
    let mut sources = Sources::default();
    sources.add(Source::from_bytes("input.yaml", text.as_bytes().to_vec()).expect("it is text"));
    let options = Options { nodes: Nodes::Elastic, ..Options::default() };
    let analysis = Analysis::load(sources, options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let pod = question::pod(analysis.cluster(), "p0").expect("it is there");
    let nodes = &analysis.cluster().nodes;
    let is_new = |node: &NodeId| matches!(nodes[*node].lifetime, Lifetime::New(_));
    let on = |node| [((pod, node), 1)].into_iter().collect();
    let goal = Goal { any: nodes.ids().filter(is_new).map(on).collect() };
    let remarks = analysis.remarks().iter().map(|remark| format!("{}: {}\n", remark.code, remark.message));
    let remarks: String = remarks.collect();
    if goal.any.is_empty() {
        return (None, format!("no node may come\n{remarks}"));
    }
    let answer = analysis.ask_goal(Semantics::KubeScheduler, goal).expect("it can be asked").decide();
    let verified = analysis.verify(&answer.certificate()).expect("it is a certificate");
    assert!(answer.is_deployable().is_none() || verified.iter().all(|one| one.is_proved()), "{answer}: {verified:?}");
    (answer.is_deployable(), format!("{answer}\n{remarks}"))
}

fn asked(pod: &str) -> Option<bool> {
    answer(&with(BATCH, pod)).0
}

#[test]
fn nodes_register_as_their_configuration_says() {
    let (found, text) = answer(&with(BATCH, "nodeSelector: {tier: batch}"));
    assert!(found == Some(true) && text.contains("machinedeployment/default/batch brings"), "{text}");
    assert!(!text.contains("W0313"), "{text}");
    assert_eq!(asked("nodeSelector: {tier: web}"), Some(false), "a label that is pinned");
    assert_eq!(asked("nodeSelector: {other: x}"), Some(false), "a label that nobody gives");
    assert_eq!(asked("nodeSelector: {node-role.kubernetes.io/batch: ''}"), Some(true), "a label that is copied");
    assert_eq!(asked("nodeSelector: {team: red}"), None, "a label that is copied only where flags say so");
    assert_eq!(asked("nodeSelector: {team: blue}"), Some(false));
    let other = "---\n{apiVersion: v1, kind: Pod, metadata: {name: p1}, spec: {nodeSelector: {team: red}, containers: [{name: c, image: i}]}}\n";
    let beside = with(BATCH, "nodeSelector: {tier: batch}") + other;
    assert_eq!(answer(&beside).0, Some(true), "without flags it is not copied");
    assert_eq!(asked("nodeSelector: {topology.kubernetes.io/zone: a}"), None, "a label of the cloud");
    let mapped = with(&BATCH.replace("ARGUMENTS", "{node-labels: tier=batch}"), "nodeSelector: {tier: batch}");
    assert_eq!(answer(&mapped).0, Some(true), "arguments as a mapping");
    let untolerated = with(BATCH, "nodeSelector: {tier: batch}").replace("{key: tier, operator: Exists}, ", "");
    assert_eq!(answer(&untolerated).0, Some(false), "a taint that lasts");
    let first = with(BATCH, "nodeSelector: {tier: batch}").replace(", {key: first, operator: Exists}", "");
    assert_eq!(answer(&first).0, None, "a taint that is put on at first, and may be taken off");
}

#[test]
fn capacity_is_what_annotations_say_and_may_be_more() {
    let of = |cpu: &str| answer(&with(BATCH, "nodeSelector: {tier: batch}").replace("cpu: 4}", cpu)).0;
    assert_eq!(of("cpu: 8}"), Some(true));
    assert_eq!(of("cpu: 9}"), None, "the annotation is what an autoscaler believes");
    let without = BATCH.replace("capacity.cluster-autoscaler.kubernetes.io/memory: 32Gi", "note: x");
    assert_eq!(answer(&with(&without, "nodeSelector: {tier: batch}")).0, None, "cpu alone is not enough");
}

/// A node of the pool.
const MEMBER: &str = "---
{apiVersion: v1, kind: Node, metadata: {name: w1, labels: {kubernetes.io/hostname: w1, tier: batch, team: red, size: '4', topology.kubernetes.io/zone: a, by: hand}, annotations: {cluster.x-k8s.io/cluster-name: prod, cluster.x-k8s.io/cluster-namespace: default, cluster.x-k8s.io/owner-kind: MachineSet, cluster.x-k8s.io/owner-name: batch-x7k2p}}, spec: {taints: [{key: tier, value: batch, effect: NoSchedule}]}, status: {allocatable: {cpu: 16, pods: 110}}}
";

#[test]
fn nodes_of_a_pool_show_what_it_brings() {
    let machines = format!("{BATCH}{MEMBER}");
    let of = |pod: &str, cpu: &str| answer(&with(&machines, pod).replace("requests: {cpu: 4}", cpu));
    let (found, text) = of("nodeSelector: {topology.kubernetes.io/zone: a}", "requests: {cpu: 16}");
    assert_eq!(found, Some(true), "another one like it: {text}");
    assert_eq!(of("nodeSelector: {topology.kubernetes.io/zone: b}", "requests: {cpu: 16}").0, None);
    assert_eq!(of("nodeSelector: {team: red}", "requests: {cpu: 16}").0, Some(true), "the label is copied there");
    let (by_hand, text) = of("nodeSelector: {by: hand}", "requests: {cpu: 16}");
    assert_eq!(by_hand, None, "nothing says why it has that label: {text}");
    assert_eq!(of("nodeSelector: {by: machine}", "requests: {cpu: 16}").0, Some(false));
}

#[test]
fn what_is_not_known_of_bootstrap_may_be_anything() {
    let unknown =
        BATCH.replace("kind: KubeadmConfigTemplate, name: batch}}", "kind: TalosConfigTemplate, name: batch}}");
    let of = |machines: &str, pod: &str| answer(&with(machines, pod)).0;
    assert_eq!(of(&unknown, "nodeSelector: {other: x}"), None);
    assert_eq!(of(&unknown, "nodeSelector: {node-role.kubernetes.io/batch: x}"), Some(false), "a label that is copied");
    let member = format!("{unknown}{MEMBER}");
    assert_eq!(of(&member, "nodeSelector: {by: hand}"), Some(true), "another one like it");
    let made = BATCH.replace("ARGUMENTS", "[{name: node-labels, value: 'tier={{ ds.meta_data.tier }}'}]");
    assert_eq!(of(&made, "nodeSelector: {tier: web}"), None, "a value that is made on the machine");
    assert_eq!(of(&made, "nodeSelector: {other: x}"), Some(false));
}

#[test]
fn pools_of_other_clusters_bring_nothing_here() {
    for (from, to) in
        [("clusterName: prod", "clusterName: test"), ("name: batch\n", "name: batch\n  namespace: test\n")]
    {
        let (found, text) = answer(&with(&BATCH.replace(from, to), "nodeSelector: {tier: batch}"));
        assert!(found.is_none() && text.contains("no node may come") && text.contains("W0313"), "{text}");
    }
}

#[test]
fn a_pool_that_nothing_scales_has_its_replicas() {
    let fixed = BATCH.replace("    cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '10'\n", "");
    let of = |replicas: &str| {
        let machines = fixed.replace("clusterName: prod", &format!("clusterName: prod\n  replicas: {replicas}"));
        answer(&with(&machines, "nodeSelector: {tier: batch}"))
    };
    assert_eq!(of("1").0, Some(true));
    assert!(of("0").1.contains("no node may come"), "{}", of("0").1);
}

#[test]
fn sets_of_a_deployment_are_part_of_it() {
    let set = "---
{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineSet, metadata: {name: batch-old, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, name: batch, uid: u, controller: true}]}, spec: {clusterName: prod, replicas: COUNT, template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: old}}}}}}
---
{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, metadata: {name: old}, spec: {template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {node-labels: tier=old}}}}}}}
";
    let of =
        |count: &str| answer(&with(&format!("{BATCH}{}", set.replace("COUNT", count)), "nodeSelector: {tier: old}"));
    let (found, text) = of("1");
    assert!(found == Some(true) && text.contains("machinedeployment/default/batch brings"), "{text}");
    assert_eq!(of("0").0, Some(false), "an earlier revision that has no machines makes none");
}

#[test]
fn beliefs_of_an_autoscaler_are_said_where_nothing_bears_them_out() {
    let believes = |labels: &str| {
        let annotation = format!("annotations:\n    capacity.cluster-autoscaler.kubernetes.io/labels: {labels}\n");
        answer(&with(&BATCH.replacen("annotations:\n", &annotation, 1), "nodeSelector: {tier: batch}")).1
    };
    assert!(believes("tier=batch,colour=blue").contains("W0318"), "{}", believes("tier=batch,colour=blue"));
    assert!(believes("colour=blue").contains("colour=blue, and neither"), "{}", believes("colour=blue"));
    assert!(!believes("tier=batch,topology.kubernetes.io/zone=a").contains("W0318"));
}
