//! How workloads, their revisions and running pods become pod types: who deploys what again, and what an input proves without having it.

use podreach::answer::Oracle;
use podreach::diagnostic::Effect;
use podreach::engine::Budget;
use podreach::lower::{Keep, Lowered, Options};
use podreach::question;
use podreach_core::{Action, Goal, Semantics, Verdict};

use crate::accepted::lowered;

pub(crate) fn codes(lowered: &Lowered) -> Vec<&'static str> {
    lowered.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

pub(crate) fn names(lowered: &Lowered) -> Vec<&str> {
    lowered.origins.pods.keys().map(String::as_str).collect()
}

fn ask(lowered: &Lowered, semantics: Semantics, pod: &str, node: &str) -> Verdict {
    let pod = question::pod(&lowered.cluster, pod).expect("the pod is there");
    let node = question::node(&lowered.cluster, node).expect("the node is there");
    let goal = Goal::all([((pod, node), 1)].into_iter().collect());
    let problem = podreach::problem(lowered, semantics);
    let decision = Oracle::new(&problem, &lowered.diagnostics).answer(&problem.with_goal(goal), &Budget::unlimited());
    decision.checked.verdict().clone()
}

/// Whether a pod can ever be on a node; `None` where that is held back.
pub(crate) fn can(lowered: &Lowered, pod: &str, node: &str) -> Option<bool> {
    match ask(lowered, Semantics::KubeScheduler, pod, node) {
        Verdict::Deployable(_) => Some(true),
        Verdict::Never(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The steps to a pod on a node, in words.
pub(crate) fn steps(lowered: &Lowered, pod: &str, node: &str) -> Vec<String> {
    let Verdict::Deployable(trace) = ask(lowered, Semantics::KubeScheduler, pod, node) else { return Vec::new() };
    let cluster = &lowered.cluster;
    let atom = |verb: &str, pod, node| {
        let node: &podreach_core::cluster::Node = &cluster.nodes[node];
        let pod: &podreach_core::cluster::Pod = &cluster.pods[pod];
        format!("{verb} {} on {}", pod.name, cluster.symbols.str(node.name))
    };
    let word = |action: Action| match action {
        Action::Deploy(pod, node) => atom("deploy", pod, node),
        Action::Delete(pod, node) => atom("delete", pod, node),
        Action::Terminate(pod, node) => atom("terminate", pod, node),
        Action::Settle(node) => format!("settle {}", cluster.symbols.str(cluster.nodes[node].name)),
        Action::Withdraw(pod) => format!("withdraw {}", cluster.pods[pod].name),
        Action::Add(_) | Action::Remove(_) => "a node comes or goes".to_owned(),
    };
    trace.iter().map(word).collect()
}

pub(crate) fn nodes(names: &[&str]) -> String {
    let node = |name: &&str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, \
             topology.kubernetes.io/zone: zone-{name}}}}}, status: {{allocatable: {{cpu: 4, pods: 10}}}}}}\n---\n"
        )
    };
    names.iter().map(node).collect()
}

/// A pod that must be near one that a selector matches.
pub(crate) fn near(name: &str, selector: &str) -> String {
    friend("podAffinity", name, selector)
}

/// A pod that must not be near one that a selector matches.
fn away(name: &str, selector: &str) -> String {
    friend("podAntiAffinity", name, selector)
}

fn friend(kind: &str, name: &str, selector: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: [{{name: c}}]\n  affinity: {{{kind}: \
         {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, labelSelector: {selector}}}]}}}}\n---\n"
    )
}

fn workload(kind: &str, metadata: &str, replicas: u64, labels: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{{metadata}}}\nspec:\n  replicas: {replicas}\n  template: {{metadata: {{labels: \
         {{{labels}}}}}, spec: {{containers: [{{name: c}}]}}}}\n---\n"
    )
}

/// A running pod of an owner.
fn running(name: &str, owner: &str, labels: &str, node: &str) -> String {
    let owner = if owner.is_empty() {
        String::new()
    } else {
        let (kind, of) = owner.split_once('/').expect("kind/name");
        format!(", ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {of}, uid: u, controller: true}}]")
    };
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{{labels}}}{owner}}}, spec: {{nodeName: {node}, \
         containers: [{{name: c}}]}}, status: {{phase: Running}}}}\n---\n"
    )
}

const OWNED: &str = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]";

#[test]
fn a_hash_that_someone_wrote_down_is_compared_with_none_that_we_made_up() {
    let web = nodes(&["n1"]) + &workload("Deployment", "name: web", 1, "app: web");
    for selector in [
        "{matchLabels: {app: web, pod-template-hash: 5948c7d89c}}",
        "{matchLabels: {app: web}, matchExpressions: [{key: pod-template-hash, operator: NotIn, values: [5948c7d89c]}]}",
    ] {
        let lowered = lowered(&(web.clone() + &near("x", selector)), &Options::default());
        assert_eq!(can(&lowered, "x", "n1"), None, "{selector}");
        let remark = lowered.diagnostics.iter().find(|remark| remark.code == "S0422").expect("a remark");
        assert_eq!(remark.keys.keys().collect::<Vec<_>>(), ["pod-template-hash"]);
    }
    let unmeant = "{matchLabels: {app: db, pod-template-hash: 5948c7d89c}}";
    let other = lowered(&(web.clone() + &near("x", unmeant)), &Options::default());
    assert_eq!((can(&other, "x", "n1"), codes(&other)), (Some(false), vec![]), "it cannot mean web");
    let present = "{matchExpressions: [{key: pod-template-hash, operator: Exists}]}";
    let any = lowered(&(web + &near("x", present)), &Options::default());
    assert_eq!((can(&any, "x", "n1"), codes(&any)), (Some(true), vec![]), "it has one, whichever");
}

#[test]
fn what_is_made_up_is_not_shown() {
    let text = nodes(&["n1"])
        + "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      \
           containers: [{name: c}]\n      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: \
           DoNotSchedule, labelSelector: {matchLabels: {app: other}}, matchLabelKeys: [pod-template-hash]}]\n";
    let lowered = lowered(&text, &Options::default());
    let labels = &lowered.origins.pods["deployment/default/web"].labels;
    assert_eq!(labels.keys().collect::<Vec<_>>(), ["app"]);
}

#[test]
fn a_replica_set_with_replicas_makes_pods_whether_or_not_some_are_seen() {
    let text = nodes(&["n1"])
        + &workload("Deployment", "name: web", 3, "app: web, version: v2")
        + &workload("ReplicaSet", &format!("name: web-1, {OWNED}"), 2, "app: web, version: v1")
        + &near("x", "{matchLabels: {app: web, version: v1}}");
    let found = lowered(&text, &Options::default());
    assert_eq!(can(&found, "x", "n1"), Some(true));
    assert_eq!(found.origins.pods["replicaset/default/web-1"].owners.len(), 1);
    let scaled_down = lowered(&text.replace("replicas: 2", "replicas: 0"), &Options::default());
    assert_eq!(can(&scaled_down, "x", "n1"), Some(false), "it is a former revision");
    assert!(!names(&scaled_down).contains(&"replicaset/default/web-1"));
}

#[test]
fn a_replica_set_without_replicas_waits_for_an_owner_that_is_not_seen() {
    let set = |kind: &str, revision: u64, replicas| {
        let owner = OWNED.replace("Deployment", kind);
        let metadata = format!(
            "name: web-{revision}, {owner}, annotations: {{deployment.kubernetes.io/revision: \"{revision}\"}}"
        );
        workload("ReplicaSet", &metadata, replicas, &format!("app: web, version: v{revision}"))
    };
    let text = |kind: &str| nodes(&["n1"]) + &set(kind, 1, 0) + &near("x", "{matchLabels: {version: v1}}");
    let rollout = lowered(&text("Rollout"), &Options::default());
    assert_eq!((can(&rollout, "x", "n1"), codes(&rollout)), (None, vec!["S0471"]));
    let current = lowered(&text("Deployment"), &Options::default());
    assert_eq!(can(&current, "x", "n1"), Some(true), "someone may scale it, as any Deployment");
    let former = lowered(&(text("Deployment") + &set("Deployment", 2, 1)), &Options::default());
    assert_eq!(can(&former, "x", "n1"), Some(false), "its Deployment has a newer one");
}

fn daemon(node: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: agent-{node}, labels: {{app: agent, controller-revision-hash: x}}, ownerReferences: \
         [{{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}}]}}\nspec:\n  nodeName: {node}\n  containers: \
         [{{name: c}}]\n  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchFields: \
         [{{key: metadata.name, operator: In, values: [{node}]}}]}}]}}}}}}\n---\n"
    )
}

#[test]
fn a_daemon_set_that_is_not_seen_may_have_pods_elsewhere() {
    let text = nodes(&["n1", "n2"])
        + &daemon("n1")
        + &near("x", "{matchLabels: {app: agent}}")
        + &near("other", "{matchLabels: {app: b}}");
    let lowered = lowered(&text, &Options::default());
    assert_eq!([can(&lowered, "x", "n1"), can(&lowered, "x", "n2")], [Some(true), None]);
    assert_eq!([can(&lowered, "other", "n1"), can(&lowered, "other", "n2")], [Some(false); 2], "it makes no such pods");
    assert_eq!([can(&lowered, "agent-n1", "n1"), can(&lowered, "agent-n1", "n2")], [Some(true), Some(false)]);
    assert_eq!(can(&lowered, "daemonset/default/agent", "n2"), None);
    let remark = lowered.diagnostics.iter().find(|remark| remark.code == "S0426").expect("a remark");
    assert_eq!(
        (remark.effect, remark.pods.as_slice()),
        (Effect::UnderApproximates, &["daemonset/default/agent".to_owned()][..])
    );
    let origin = &lowered.origins.pods["daemonset/default/agent"];
    assert_eq!((origin.unseen, origin.declared), (true, None));
}

#[test]
fn pods_keep_the_labels_that_they_have() {
    let selector = "{matchLabels: {app: cache, topology.kubernetes.io/zone: zone-e1}}";
    let text = |labels: &str| {
        nodes(&["e1"])
            + &running("cache", "", &format!("app: cache{labels}"), "e1")
            + &near("web", selector)
            + &away("shy", selector)
    };
    let keep = Options { keep: vec![Keep::Selector("app=cache".to_owned())], ..Options::default() };
    let before = lowered(&text(""), &keep);
    assert_eq!([can(&before, "web", "e1"), can(&before, "shy", "e1")], [Some(false), Some(true)]);
    let free = lowered(&text(""), &Options::default());
    let again =
        ["delete pod/default/cache (as it is) on e1", "deploy pod/default/cache on e1", "deploy pod/default/web on e1"];
    assert_eq!(steps(&free, "web", "e1"), again);
    let since = lowered(&text(", topology.kubernetes.io/zone: zone-e1"), &keep);
    assert_eq!([can(&since, "web", "e1"), can(&since, "shy", "e1")], [Some(true), Some(false)]);
    assert_eq!(names(&since), ["pod/default/cache", "pod/default/shy", "pod/default/web"]);
    let unasked = lowered(&(nodes(&["e1"]) + &running("cache", "", "app: cache", "e1")), &keep);
    assert_eq!(names(&unasked), ["pod/default/cache"], "nothing tells them apart");
}

#[test]
fn in_the_paper_running_pods_carry_their_labels_and_new_ones_get_none() {
    let selector = "{matchLabels: {app: cache, topology.kubernetes.io/zone: zone-e1}}";
    let labels = "app: cache, topology.kubernetes.io/zone: zone-e1";
    let web = nodes(&["e1"]) + &near("web", selector);
    let set = workload("ReplicaSet", "name: cache", 1, "app: cache");
    let deployable = |text: &str| {
        matches!(ask(&lowered(text, &Options::default()), Semantics::Paper, "web", "e1"), Verdict::Deployable(_))
    };
    assert!(deployable(&(web.clone() + &running("cache", "", labels, "e1"))));
    assert!(deployable(&(web.clone() + &set + &running("cache-a", "ReplicaSet/cache", labels, "e1"))));
    assert!(!deployable(&(web + &set)), "no label is given");
}

#[test]
fn pods_of_former_revisions_are_never_deployed_again() {
    let text = nodes(&["n1", "n2"])
        + &workload("StatefulSet", "name: web", 2, "app: web, version: v2")
        + &running("web-1", "StatefulSet/web", "app: web, version: v1", "n1")
        + &near("x", "{matchLabels: {version: v1}}");
    let lowered = lowered(&text, &Options::default());
    assert_eq!([can(&lowered, "x", "n1"), can(&lowered, "x", "n2")], [Some(true), Some(false)]);
    assert_eq!(
        [can(&lowered, "pod/default/web-1", "n1"), can(&lowered, "pod/default/web-1", "n2")],
        [Some(true), Some(false)]
    );
    let origin = &lowered.origins.pods["pod/default/web-1"];
    let owners: Vec<&str> = origin.owners.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!((origin.outdated, owners, origin.declared), (true, vec!["statefulset/default/web"], None));
}

#[test]
fn a_job_that_waits_may_be_changed_before_it_starts() {
    let job = |labels: &str| {
        format!(
            "{}apiVersion: batch/v1\nkind: Job\nmetadata: {{name: train{labels}}}\nspec: {{suspend: true, template: {{spec: {{containers: \
             [{{name: c}}], nodeSelector: {{kubernetes.io/hostname: n2}}}}}}}}\n",
            nodes(&["n1"])
        )
    };
    let plain = lowered(&job(""), &Options::default());
    assert_eq!((can(&plain, "train", "n1"), codes(&plain)), (Some(false), vec!["W0321"]));
    let queued = lowered(&job(", labels: {kueue.x-k8s.io/queue-name: q}"), &Options::default());
    assert_eq!((can(&queued, "train", "n1"), codes(&queued)), (None, vec!["S0472"]));
}

#[test]
fn a_scheduler_that_was_told_otherwise_is_remarked_upon() {
    let pod = |flag: &str| {
        format!(
            "{}{{apiVersion: v1, kind: Pod, metadata: {{name: kube-scheduler-n1, namespace: kube-system}}, spec: {{nodeName: n1, containers: \
             [{{name: c, command: [kube-scheduler, {flag}]}}]}}}}\n",
            nodes(&["n1"])
        )
    };
    let said = |flag: &str| codes(&lowered(&pod(flag), &Options::default()));
    assert_eq!(said("--leader-elect=true"), Vec::<&str>::new());
    assert_eq!(said("--config=/etc/scheduler.yaml"), ["W0324"]);
    assert_eq!(said("\"--feature-gates=A=true\""), ["W0324"]);
}

#[test]
fn a_pod_that_waits_was_let_in_once() {
    let node = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}, \
             status: {{allocatable: {{cpu: 4, pods: 10, example.com/gpu: 9}}}}}}\n---\n"
        )
    };
    let resident = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, uid: {name}, labels: {{app: x}}, annotations: {{kubernetes.io/config.mirror: m}}}}, \
             spec: {{nodeName: n0, containers: [{{name: c}}]}}}}\n---\n"
        )
    };
    let waits = "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p, labels: {app: x}}, spec: {nodeSelector: {kubernetes.io/hostname: n1}, \
        containers: [{name: c, resources: {limits: {example.com/gpu: 1}}}]}, status: {phase: Pending}}\n---\n";
    let even = "{apiVersion: v1, kind: Pod, metadata: {name: t}, spec: {nodeSelector: {kubernetes.io/hostname: n0}, containers: [{name: c}], \
        topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, \
        labelSelector: {matchLabels: {app: x}}}]}}\n---\n";
    let quota = |most: u32| {
        format!(
            "{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q}}, spec: {{hard: {{requests.example.com/gpu: {most}}}}}}}\n---\n"
        )
    };
    // To be let in, t needs one pod fewer on n1 than n0 has; the quota has room for none, and p is in already.
    let cluster = |residents: &[&str], most: u32| {
        let residents: String = residents.iter().map(|name| resident(name)).collect();
        node("n0") + &node("n1") + &residents + waits + even + &quota(most)
    };
    let answer = |text: &str| can(&lowered(text, &Options::default()), "t", "n0");
    assert_eq!(answer(&cluster(&["a", "b"], 0)), Some(true));
    assert_eq!(answer(&cluster(&["a", "b", "d"], 0)), Some(false), "a second p would have to be let in");
    let free = cluster(&["a", "b", "d"], 0).replace(&quota(0), "");
    assert_eq!(answer(&free), Some(true), "without a quota nobody asks");
}

#[test]
fn a_pod_that_waits_is_charged_while_another_is_let_in_beside_it() {
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: 4, pods: 10}}}\n---\n";
    let friend =
        "{apiVersion: v1, kind: Pod, metadata: {name: x, labels: {app: x}}, spec: {containers: [{name: c}]}}\n---\n";
    let waits = "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p}, spec: {containers: [{name: c}], affinity: {podAffinity: \
        {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}]}}}, \
        status: {phase: Pending}}\n---\n";
    let runs = "{apiVersion: v1, kind: Pod, metadata: {name: r, uid: r}, spec: {nodeName: n1, containers: [{name: c}]}}\n---\n";
    let quota = |most: u32| {
        format!(
            "{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q}}, spec: {{hard: {{count/pods: {most}}}}}}}\n---\n"
        )
    };
    // What is made in the place of p would be let in beside x, or not at all. Pods that are being deleted are counted as well.
    let answer = |most: u32| {
        can(&lowered(&(node.to_owned() + friend + waits + runs + &quota(most)), &Options::default()), "p", "n1")
    };
    assert_eq!(answer(1), Some(false), "x is let in once p is gone, and p is not let in again");
    assert_eq!(answer(2), Some(true));
}
