//! What controllers, admission and people make of pods: types, names, defaults, limits, and what is said about the rest.

use std::collections::BTreeSet;
use std::sync::Arc;

use podreach::diagnostic::Effect;
use podreach::lower::{self, Instances, Keep, Lowered, Options, Release, Start};
use podreach::question;
use podreach::read::{SourceId, documents};
use podreach_core::{Cluster, Model, Semantics};

const NODES: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
";

fn with(options: &Options, text: &str) -> Lowered {
    crate::accepted::lowered(&format!("{NODES}{text}"), options)
}

fn lowered(text: &str) -> Lowered {
    with(&Options::default(), text)
}

/// The names of the types.
fn types(lowered: &Lowered) -> Vec<String> {
    lowered.cluster.pods.values().map(|pod| pod.name.clone()).collect()
}

/// What runs, as `type@node*count`.
fn running(cluster: &Cluster, configuration: &podreach_core::Configuration) -> Vec<String> {
    let node = |id| cluster.symbols.str(cluster.nodes[id].name);
    configuration.iter().map(|((p, n), count)| format!("{}@{}*{count}", cluster.pods[p].name, node(n))).collect()
}

fn codes(lowered: &Lowered) -> Vec<(&'static str, Effect, Option<&str>)> {
    lowered.diagnostics.iter().map(|d| (d.code, d.effect, d.pods.first().map(String::as_str))).collect()
}

/// A workload of a kind with a template of that spec (in flow style, without braces) and labels.
fn workload(kind: &str, name: &str, labels: &str, spec: &str, rest: &str) -> String {
    let version = if kind.ends_with("Job") { "batch/v1" } else { "apps/v1" };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  {rest}\n  \
         template: {{metadata: {{labels: {{{labels}}}}}, spec: {{containers: [{{name: c}}]{spec}}}}}\n---\n"
    )
}

/// A pod with an owner on a node.
fn pod(name: &str, labels: &str, owner: (&str, &str), node: &str, spec: &str) -> String {
    let (kind, owner) = owner;
    let references = match kind {
        "" => String::new(),
        _ => format!(
            ", ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: u, controller: true}}]"
        ),
    };
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{labels}}}{references}}}\n\
         spec: {{nodeName: {node}, containers: [{{name: c}}]{spec}}}\n---\n"
    )
}

const REPLICA_SET: &str = "apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-HASH
  annotations: {deployment.kubernetes.io/revision: 'REVISION'}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]
spec:
  replicas: COUNT
  template: {metadata: {labels: {app: web, pod-template-hash: HASH}}, spec: {containers: [{name: c}]SPEC}}
---
";

fn replica_set(hash: &str, revision: &str, count: &str, spec: &str) -> String {
    let text = REPLICA_SET.replace("HASH", hash).replace("REVISION", revision);
    text.replace("COUNT", count).replace("SPEC", spec)
}

const LOOKS_AT_HASH: &str = ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: \
                             DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}]";

#[test]
fn a_running_pod_goes_under_its_owner() {
    let text = workload("Deployment", "web", "app: web", "", "")
        + &replica_set("aaa", "2", "2", "")
        + &replica_set("bbb", "1", "0", ", hostNetwork: true")
        + &pod("web-aaa-1", "app: web, pod-template-hash: aaa", ("ReplicaSet", "web-aaa"), "n1", "")
        + &pod("web-aaa-2", "app: web, pod-template-hash: aaa", ("ReplicaSet", "web-aaa"), "n1", "");
    let lowered = lowered(&text);
    assert_eq!(types(&lowered), ["deployment/default/web"]);
    assert_eq!(running(&lowered.cluster, &lowered.start), ["deployment/default/web@n1*2"]);
    assert_eq!(lowered.diagnostics, []);
}

#[test]
fn a_pod_of_an_old_template_is_a_type_of_its_own() {
    let old = ", nodeSelector: {disk: ssd}";
    let text = workload("Deployment", "web", "app: web", "", "")
        + &replica_set("aaa", "2", "1", "")
        + &replica_set("bbb", "1", "1", old)
        + &pod("web-bbb-1", "app: web, pod-template-hash: bbb", ("ReplicaSet", "web-bbb"), "n2", old)
        + &pod("web-ccc-1", "app: web, pod-template-hash: ccc", ("ReplicaSet", "web-ccc"), "n2", ", hostNetwork: true");
    let lowered = lowered(&text);
    assert_eq!(types(&lowered), ["deployment/default/web", "replicaset/default/web-bbb"]);
    let running = running(&lowered.cluster, &lowered.start);
    assert_eq!(
        running,
        ["deployment/default/web@n2*1", "replicaset/default/web-bbb@n2*1"],
        "without ports hostNetwork is nothing"
    );
}

#[test]
fn template_hashes_tell_revisions_apart_where_something_looks_at_them() {
    let text = workload("Deployment", "web", "app: web", LOOKS_AT_HASH, "")
        + &replica_set("aaa", "2", "1", LOOKS_AT_HASH)
        + &replica_set("bbb", "1", "1", LOOKS_AT_HASH)
        + &pod("web-aaa-1", "app: web, pod-template-hash: aaa", ("ReplicaSet", "web-aaa"), "n1", LOOKS_AT_HASH)
        + &pod("web-bbb-1", "app: web, pod-template-hash: bbb", ("ReplicaSet", "web-bbb"), "n2", LOOKS_AT_HASH);
    let lowered = lowered(&text);
    let running = running(&lowered.cluster, &lowered.start);
    assert_eq!(running, ["deployment/default/web@n1*1", "replicaset/default/web-bbb@n2*1"]);
}

#[test]
fn a_replica_set_that_is_not_in_the_input_is_known_by_its_name() {
    let text = workload("Deployment", "web", "app: web", LOOKS_AT_HASH, "")
        + &pod("web-aaa-1", "app: web, pod-template-hash: aaa", ("ReplicaSet", "web-aaa"), "n1", LOOKS_AT_HASH);
    let lowered = lowered(&text);
    assert_eq!(running(&lowered.cluster, &lowered.start), ["deployment/default/web@n1*1"]);
}

#[test]
fn daemon_pods_are_unpinned_and_tolerate_what_their_controller_says() {
    let pin = ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: \
               [{key: metadata.name, operator: In, values: [n1]}]}]}}}, tolerations: [TOLERATIONS]";
    let exists =
        |key: &str, effect: &str| format!("{{key: node.kubernetes.io/{key}, operator: Exists, effect: {effect}}}");
    let given = [
        exists("not-ready", "NoExecute"),
        exists("unreachable", "NoExecute"),
        exists("disk-pressure", "NoSchedule"),
        exists("memory-pressure", "NoSchedule"),
        exists("pid-pressure", "NoSchedule"),
        exists("unschedulable", "NoSchedule"),
    ];
    let pin = pin.replace("TOLERATIONS", &given.join(", "));
    let text = workload("DaemonSet", "log", "app: log", "", "")
        + &pod("log-1", "app: log, controller-revision-hash: x", ("DaemonSet", "log"), "n1", &pin)
        + &pod("other-1", "app: other", ("DaemonSet", "other"), "n1", &pin);
    let lowered = lowered(&text);
    assert_eq!(types(&lowered), ["daemonset/default/log", "daemonset/default/other", "pod/default/other-1"]);
    assert_eq!(lowered.start.size(), 2);
    assert_eq!(codes(&lowered), [("S0426", Effect::UnderApproximates, Some("daemonset/default/other"))]);
}

#[test]
fn zone_labels_that_binding_added_are_taken_back() {
    let anti = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, \
                labelSelector: {matchLabels: {topology.kubernetes.io/zone: a}}}]}}";
    let labels = "app: web, topology.kubernetes.io/zone: a";
    let text = workload("StatefulSet", "web", "app: web", anti, "")
        + &pod("web-0", labels, ("StatefulSet", "web"), "n1", anti);
    assert_eq!(types(&lowered(&text)), ["statefulset/default/web"]);
    let before = Options { release: Release { minor: 34 }, ..Options::default() };
    assert_eq!(types(&with(&before, &text)), ["statefulset/default/web", "pod/default/web-0"]);
}

#[test]
fn labels_that_nothing_looks_at_do_not_tell_specs_apart() {
    let text = workload("Deployment", "a", "app: a", "", "") + &workload("StatefulSet", "b", "app: b", "", "");
    let specs = |lowered: &Lowered| {
        let specs: BTreeSet<_> = lowered.cluster.pods.values().map(|pod| Arc::as_ptr(&pod.spec)).collect();
        (lowered.cluster.pods.len(), specs.len())
    };
    let merged = lowered(&text);
    assert_eq!(types(&merged), ["deployment/default/a", "statefulset/default/b"]);
    assert_eq!(specs(&merged), (2, 1), "each is a type, of one spec");
    assert_eq!(merged.origins.pods["statefulset/default/b"].labels["app"], "b");
    let anti = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: \
                {matchLabels: {app: a}}}]}}";
    let looked_at = lowered(&(text + &workload("Deployment", "c", "app: c", anti, "")));
    assert_eq!(specs(&looked_at), (3, 3));
}

#[test]
fn an_identity_that_a_selector_looks_at_is_reported() {
    let anti = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, \
                labelSelector: {matchLabels: {apps.kubernetes.io/pod-index: '0'}}}]}}";
    let text = workload("StatefulSet", "db", "app: db", anti, "")
        + &pod("db-0", "app: db, apps.kubernetes.io/pod-index: '0'", ("StatefulSet", "db"), "n1", anti);
    let lowered = lowered(&text);
    assert_eq!(types(&lowered), ["statefulset/default/db"]);
    assert_eq!(codes(&lowered), [("S0422", Effect::Both, Some("statefulset/default/db"))]);
}

#[test]
fn pods_that_the_scheduler_does_not_place_are_barred() {
    let mirror = "apiVersion: v1\nkind: Pod\nmetadata: {name: etcd, annotations: {kubernetes.io/config.mirror: x}}\nspec: {nodeName: n1, \
                  containers: [{name: c}]}\n---\n";
    let leaving = "apiVersion: v1\nkind: Pod\nmetadata: {name: gone, deletionTimestamp: '2026-01-01T00:00:00Z'}\nspec: {nodeName: n2, \
                   containers: [{name: c}]}\n---\n";
    let lowered = lowered(&format!("{mirror}{leaving}{}", pod("plain", "", ("", ""), "n1", "")));
    let why = |name: &str| {
        let id = question::pod(&lowered.cluster, name).expect("a type");
        let spec = &lowered.cluster.pods[id].spec;
        (spec.barred.as_ref().map(ToString::to_string), spec.terminating)
    };
    assert_eq!(why("etcd"), (Some("the kubelet starts it, not the scheduler".to_owned()), false));
    assert_eq!(why("gone"), (Some("it is being deleted".to_owned()), true));
    assert_eq!(why("plain"), (None, false));
    assert_eq!(lowered.start.size(), 3);
}

#[test]
fn finished_pods_do_not_run() {
    let done = pod("done", "", ("", ""), "n1", "")
        + "apiVersion: v1\nkind: Pod\nmetadata: {name: over}\nspec: {nodeName: n1, \
               containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Succeeded}\n";
    let lowered = lowered(&done);
    assert_eq!(running(&lowered.cluster, &lowered.start), ["pod/default/done@n1*1"]);
    assert_eq!(types(&lowered), ["pod/default/done", "pod/default/over"]);
}

#[test]
fn jobs_and_cron_jobs() {
    let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {template: \
                {spec: {restartPolicy: Never, containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}}}}}\n---\n";
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: nightly-1, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: \
               nightly, uid: u}]}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, ports: [{containerPort: 80, hostPort: \
               80}]}]}}}\n---\n";
    let run = pod("nightly-1-x", "job-name: nightly-1", ("Job", "nightly-1"), "n1", "")
        .replace("containers: [{name: c}]", "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]");
    let lowered = lowered(&format!("{cron}{job}{run}"));
    assert_eq!(types(&lowered), ["cronjob/default/nightly"]);
    assert_eq!(running(&lowered.cluster, &lowered.start), ["cronjob/default/nightly@n1*1"]);
}

#[test]
fn a_template_may_name_its_node_and_a_running_pod_may_not() {
    let text = workload("Deployment", "web", "app: web", ", nodeName: n2", "") + &pod("p", "", ("", ""), "n1", "");
    let lowered = lowered(&text);
    let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
    let (web, p) =
        (question::pod(model.cluster(), "web").expect("web"), question::pod(model.cluster(), "p").expect("p"));
    let nodes: Vec<_> = model.nodes().collect();
    assert_eq!(nodes.iter().map(|&n| model.static_ok(web, n)).collect::<Vec<_>>(), [false, true]);
    assert!(nodes.iter().all(|&n| model.static_ok(p, n)));
    assert_eq!(codes(&lowered), [("S0425", Effect::UnderApproximates, Some("deployment/default/web"))]);
}

#[test]
fn defaults_apply_to_templates() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {hostNetwork: true, containers: \
                [{name: c, ports: [{containerPort: 80}], resources: {limits: {cpu: 3}}}]}}}\n";
    let mut lowered = lowered(text);
    let cpu = lowered.cluster.resource("cpu");
    let spec = &lowered.cluster.pods.values().next().expect("a type").spec;
    assert_eq!((spec.requests.amount(cpu), spec.ports.len(), spec.tolerations.len()), (3000, 1, 2));
}

#[test]
fn the_start_may_be_empty_but_for_what_is_kept() {
    let text = pod("a", "app: a", ("DaemonSet", "a"), "n1", "")
        + &pod("b", "app: b", ("", ""), "n1", ", nodeSelector: {x: z}")
        + &pod("c", "app: c", ("", ""), "n2", ", hostNetwork: true");
    let kept = |keep: Vec<Keep>| {
        let lowered = with(&Options { start: Start::Empty, keep, ..Options::default() }, &text);
        assert_eq!(lowered.start, lowered.kept);
        (
            lowered.origins.instances.iter().filter(|i| i.kept).map(|i| i.name.clone()).collect::<Vec<_>>(),
            codes(&lowered).len(),
        )
    };
    assert_eq!(kept(vec![]), (vec![], 0));
    assert_eq!(kept(vec![Keep::DaemonSets]), (vec!["pod/default/a".to_owned()], 0));
    assert_eq!(kept(vec![Keep::Selector("app in (b,c)".to_owned())]).0.len(), 2);
    assert_eq!(kept(vec![Keep::Namespace("default".to_owned())]).0.len(), 3);
    assert_eq!(kept(vec![Keep::Namespace("other".to_owned())]), (vec![], 1));
    let (documents, _) = documents(SourceId(0), NODES);
    let options = Options { keep: vec![Keep::Selector("a in (".to_owned())], ..Options::default() };
    assert!(lower::cluster(&documents, &options).is_stopped());
}

#[test]
fn declared_instances_bound_each_workload() {
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {maxReplicas: 10, scaleTargetRef: \
               {apiVersion: apps/v1, kind: Deployment, name: scaled}}\n---\n";
    let distinct = |n: usize| format!(", nodeSelector: {{x: z{n}}}");
    let text = workload("Deployment", "plain", "app: a", &distinct(0), "replicas: 5")
        + &workload("Deployment", "recreate", "app: a", &distinct(1), "strategy: {type: Recreate}")
        + &workload("Deployment", "scaled", "app: a", &distinct(2), "strategy: {rollingUpdate: {maxSurge: 1}}")
        + &workload("DaemonSet", "each", "app: a", &distinct(3), "updateStrategy: {rollingUpdate: {maxSurge: 10%}}")
        + &workload("Job", "once", "app: a", &distinct(4), "parallelism: 3")
        + &workload("StatefulSet", "twin", "app: a", &distinct(0), "replicas: 2")
        + &pod("bare", "", ("", ""), "n1", "")
        + hpa;
    let lowered = with(&Options { instances: Instances::Declared, ..Options::default() }, &text);
    let mut limits: Vec<_> =
        lowered.cluster.limits.iter().map(|l| (l.name.as_str(), l.per_node, l.most, l.pods.len())).collect();
    limits.sort_unstable();
    assert_eq!(
        limits,
        [
            ("daemonset/default/each", true, 2, 1),
            ("deployment/default/plain", false, 7, 1),
            ("deployment/default/recreate", false, 1, 1),
            ("deployment/default/scaled", false, 11, 1),
            ("job/default/once", false, 3, 1),
            ("pod/default/bare", false, 1, 1),
            ("statefulset/default/twin", false, 2, 1),
        ]
    );
    assert!(with(&Options::default(), &text).cluster.limits.is_empty());
}

#[test]
fn what_is_not_modelled_spoils_the_type_that_uses_it() {
    for (spec, code, effect) in [
        (", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]", "S0441", Effect::OverApproximates),
        (", resourceClaims: [{name: gpu, resourceClaimName: g}]", "S0412", Effect::OverApproximates),
        (", runtimeClassName: gvisor", "S0413", Effect::Both),
        (", schedulingGates: [{name: g}]", "S0414", Effect::OverApproximates),
        (", schedulerName: volcano", "S0415", Effect::Both),
    ] {
        let lowered = lowered(&workload("Deployment", "web", "app: web", spec, ""));
        assert_eq!(codes(&lowered), [(code, effect, Some("deployment/default/web"))], "{spec}");
    }
    let harmless = ", volumes: [{name: v, emptyDir: {}}, {name: w, csi: {driver: d}}], hostNetwork: true, hostUsers: false, schedulerName: default-scheduler";
    assert_eq!(codes(&lowered(&workload("Deployment", "web", "app: web", harmless, ""))), []);
    let claims = "volumeClaimTemplates: [{metadata: {name: d}, spec: {}}]";
    assert_eq!(codes(&lowered(&workload("StatefulSet", "db", "app: db", "", claims)))[0].0, "S0441");
}

#[test]
fn namespace_selectors_need_the_namespaces() {
    let near = |selector: &str| {
        let spec = format!(
            ", affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: zone, labelSelector: {{}}, \
             namespaceSelector: {{matchLabels: {selector}}}}}]}}}}"
        );
        workload("Deployment", "web", "app: web", &spec, "")
    };
    let team = near("{team: x}");
    assert_eq!(codes(&lowered(&team)), [("S0424", Effect::Both, Some("deployment/default/web"))]);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: x}}\n---\n";
    assert_eq!(codes(&lowered(&format!("{namespace}{team}"))), []);
    let by_name = lowered(&near("{kubernetes.io/metadata.name: default}"));
    assert_eq!(codes(&by_name), []);
    let model = Model::new(by_name.cluster, Semantics::KubeScheduler);
    let pod = model.pods().next().expect("a type");
    assert!(model.sees_unbound(model.pod(pod).affinity[0].matcher, pod));
}

#[test]
fn questions_in_documents_are_read_and_resolved() {
    let question = "apiVersion: podreach.dev/v1alpha1\nkind: Question\nmetadata: {name: q}\nspec:\n  semantics: paper\n  goal:\n  \
                    - {pod: web, node: n1}\n  - {pod: deployment/default/web, node: n2, count: 3}\n";
    let lowered = lowered(&(workload("Deployment", "web", "app: web", "", "") + question));
    let [question] = &lowered.questions[..] else { panic!("one question") };
    assert_eq!((question.name.as_str(), question.semantics), ("q", Some(Semantics::Paper)));
    let goal = question.goal(&lowered.cluster).expect("both names resolve");
    let wanted = running(&lowered.cluster, &goal.any[0]);
    assert_eq!(wanted, ["deployment/default/web@n1*1", "deployment/default/web@n2*3"]);
    let mut lost = question.clone();
    lost.goal[0].pod = "wob".to_owned();
    let problems = lost.goal(&lowered.cluster).expect_err("no such pod");
    assert_eq!(problems[0].message, "there is no pod type \"wob\"; did you mean web?");
}

#[test]
fn bad_questions_are_refused() {
    for spec in [
        "{}",
        "{goal: []}",
        "{goal: [{pod: a}]}",
        "{goal: [{pod: a, node: b, count: 0}]}",
        "{semantics: x, goal: [{pod: a, node: b}]}",
        "{gaol: []}",
    ] {
        let text = format!("apiVersion: podreach.dev/v1alpha1\nkind: Question\nmetadata: {{name: q}}\nspec: {spec}\n");
        let (documents, _) = documents(SourceId(0), &text);
        assert!(lower::cluster(&documents, &Options::default()).is_stopped(), "{spec}");
    }
}

#[test]
fn names_are_as_short_as_is_unambiguous() {
    let text = workload("Deployment", "web", "app: web", "", "")
        + &workload("StatefulSet", "web", "app: web", ", hostNetwork: true", "")
        + &workload("StatefulSet", "db", "app: db", ", nodeSelector: {x: z}", "");
    let lowered = lowered(&text);
    let cluster = &lowered.cluster;
    assert_eq!(types(&lowered), ["deployment/default/web", "statefulset/default/db", "statefulset/default/web"]);
    assert!(question::pod(cluster, "web").is_err(), "two types, however alike");
    assert_ne!(question::pod(cluster, "deploy/web"), question::pod(cluster, "sts/web"));
    assert_eq!(question::pod(cluster, "statefulset/default/db"), question::pod(cluster, "db"));
    assert_eq!(question::pod(cluster, "default/db"), question::pod(cluster, "db"));
    let error = question::pod(cluster, "default/wed").expect_err("no such pod");
    assert_eq!(error.to_string(), "there is no pod type \"default/wed\"; did you mean default/web or default/db?");
    assert_eq!(
        question::node(cluster, "n3").expect_err("no such node").to_string(),
        "there is no node \"n3\"; did you mean n1 or n2?"
    );
    assert_eq!(question::nodes(cluster, "topology.kubernetes.io/zone in (b)").expect("a selector").len(), 1);
    assert_eq!(question::nodes(cluster, "!zone").expect("a selector").len(), 2);
}

#[test]
fn ambiguous_names_list_what_they_could_be() {
    let text = workload("Deployment", "web", "app: web", "", "")
        + &workload("StatefulSet", "web", "app: web", ", nodeSelector: {x: z}", "");
    let error = question::pod(&lowered(&text).cluster, "web").expect_err("two types");
    assert_eq!(error.to_string(), "\"web\" could be deployment/default/web or statefulset/default/web");
}

#[test]
fn goals_from_pieces() {
    let text = workload("Deployment", "web", "app: web", "", "")
        + &workload("Deployment", "db", "app: db", ", nodeSelector: {x: z}", "");
    let lowered = lowered(&text);
    let cluster = &lowered.cluster;
    let (named, nodes) = (question::named(cluster, "web").expect("web"), cluster.nodes.ids().collect::<Vec<_>>());
    let beside = ["db@n1", "web@n1=3"].map(|piece| question::with(cluster, piece).expect("a piece"));
    let (goal, web) = (question::goal(&named, &nodes, &beside), named.pod);
    let alternatives: Vec<_> = goal.any.iter().map(|all| running(cluster, all).join(" ")).collect();
    assert_eq!(
        alternatives,
        [
            "deployment/default/db@n1*1 deployment/default/web@n1*3",
            "deployment/default/db@n1*1 deployment/default/web@n1*3 deployment/default/web@n2*1",
        ]
    );
    for bad in ["web", "web@n1=0", "web@n1=x", "web@nope", "nope@n1"] {
        assert!(question::with(cluster, bad).is_err(), "{bad}");
    }
    let kept = [((web, nodes[0]), 1)].into_iter().collect();
    assert!(question::exact(cluster, &kept, &[((web, nodes[0]), 2)]).is_ok());
    assert!(question::exact(cluster, &kept, &[((web, nodes[1]), 2)]).is_err());
}

#[test]
fn two_questions_of_one_name_are_one_too_many() {
    let question = "apiVersion: podreach.dev/v1alpha1\nkind: Question\nmetadata: {name: q}\nspec: {goal: [{pod: a, node: b}]}\n---\n";
    let other = question.replace("node: b", "node: c");
    for (text, code, questions) in [(question.repeat(2), "W0314", 1), (format!("{question}{other}"), "E0208", 1)] {
        let (documents, _) = documents(SourceId(0), &text);
        let lowered = lower::cluster(&documents, &Options::default());
        assert_eq!(lowered.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [code]);
        assert_eq!((lowered.questions.len(), lowered.is_stopped()), (questions, code == "E0208"));
    }
}

#[test]
fn label_keys_are_merged_into_the_selectors_of_templates() {
    let anti = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, \
                labelSelector: {matchLabels: {app: web}}, mismatchLabelKeys: [tenant]}]}}";
    let text = workload("Deployment", "a", "app: web, tenant: a", anti, "")
        + &workload("Deployment", "b", "app: web, tenant: b", anti, "");
    let model = Model::new(lowered(&text).cluster, Semantics::KubeScheduler);
    let [a, b] = ["a", "b"].map(|name| question::pod(model.cluster(), name).expect("a type"));
    let term = model.pod(a).anti_affinity[0].matcher;
    assert_eq!((model.sees_unbound(term, a), model.sees_unbound(term, b)), (false, true));
}

#[test]
fn two_workloads_that_are_alike_are_two_types() {
    let text = workload("Deployment", "web", "app: web", "", "") + &workload("Deployment", "api", "app: api", "", "");
    let lowered = lowered(&text);
    let cluster = &lowered.cluster;
    assert_eq!(cluster.pods.len(), 2, "though nothing looks at their labels");
    let goal = |beside: &str| {
        let beside = question::with(cluster, beside).expect("a piece");
        let goal = question::goal(&question::named(cluster, "web").expect("web"), &[beside.node], &[beside]);
        running(cluster, &goal.any[0])
    };
    assert_eq!(goal("api@n1"), ["deployment/default/api@n1*1", "deployment/default/web@n1*1"]);
    assert_eq!(goal("web@n1"), ["deployment/default/web@n1*1"]);
}
