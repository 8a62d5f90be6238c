//! What the API server's admission and the scheduler's profiles make of pods: added, refused, counted, exempt.

use podreach::diagnostic::Effect;
use podreach::lower::{self, Lowered, Options, Release};
use podreach::read::{SourceId, documents};
use podreach_core::cluster::PodSpec;
use podreach_core::rule::Rule;
use podreach_core::{Atom, Configuration, Model, Semantics, rule};

const NODES: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: a}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9, gpu.io/x: 1}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {pool: b}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9, gpu.io/x: 1}}}
---
";

fn lowered(text: &str) -> Lowered {
    crate::accepted::lowered(&format!("{NODES}{text}"), &Options::default())
}

/// A pod with one container of these resources, and more of its spec, both in flow style.
fn pod(name: &str, resources: &str, spec: &str) -> String {
    let container = format!("{{name: c, resources: {{{resources}}}}}");
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{containers: [{container}]{spec}}}}}\n---\n"
    )
}

fn object(kind: &str, rest: &str) -> String {
    let version = if kind == "RuntimeClass" { "node.k8s.io/v1" } else { "v1" };
    format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: x}}, {rest}}}\n---\n")
}

fn limits(items: &str) -> String {
    object("LimitRange", &format!("spec: {{limits: [{items}]}}"))
}

fn quota(spec: &str) -> String {
    object("ResourceQuota", &format!("spec: {{{spec}}}"))
}

fn spec<'l>(lowered: &'l Lowered, name: &str) -> &'l PodSpec {
    let id = podreach::question::pod(&lowered.cluster, name).expect("a pod of that name");
    &lowered.cluster.pods[id].spec
}

fn requests(lowered: &Lowered, name: &str) -> Vec<(String, u128)> {
    let str = |resource| lowered.cluster.symbols.str(lowered.cluster.resources[resource]).to_owned();
    spec(lowered, name).requests.iter().map(|(resource, amount)| (str(resource), amount)).collect()
}

fn barred(lowered: &Lowered, name: &str) -> Option<String> {
    spec(lowered, name).barred.as_ref().map(ToString::to_string)
}

fn codes(lowered: &Lowered) -> Vec<(&'static str, Effect)> {
    lowered.diagnostics.iter().map(|d| (d.code, d.effect)).collect()
}

#[test]
fn a_limit_range_gives_requests_to_those_who_state_none() {
    let range = limits(
        "{type: Container, default: {cpu: 2, memory: 2Gi}, defaultRequest: {cpu: 500m}, max: {ephemeral-storage: 5}}",
    );
    let text = range
        + &pod("silent", "", "")
        + &pod("limited", "limits: {cpu: 1}", "")
        + &pod("stated", "requests: {cpu: 1, memory: 1}, limits: {ephemeral-storage: 3}", "");
    let lowered = lowered(&text);
    let of = |name| requests(&lowered, name);
    let list = |cpu, memory, storage| {
        vec![("cpu".to_owned(), cpu), ("memory".to_owned(), memory), ("ephemeral-storage".to_owned(), storage)]
    };
    let mut silent = of("silent");
    silent.sort_by_key(|(name, _)| list(0, 0, 0).iter().position(|(other, _)| other == name));
    // The default limit is the default request of what has none, and a maximum is the default limit.
    assert_eq!(silent, list(500, 2 << 30, 5));
    assert_eq!(of("limited").iter().find(|(name, _)| name == "cpu"), Some(&("cpu".to_owned(), 1000)));
    assert_eq!(of("stated").len(), 3);
    assert_eq!(codes(&lowered), []);
}

#[test]
fn a_running_pod_is_its_owners_when_admission_made_it_so() {
    let template = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}";
    let owner = format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: web}}, spec: {{template: {template}}}}}\n---\n"
    );
    let running = "{apiVersion: v1, kind: Pod, metadata: {name: web-1, labels: {app: a}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, \
                   name: web, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 500m}, \
                   limits: {cpu: 2}}}]}}\n---\n";
    let range = limits("{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 500m}}");
    let lowered = lowered(&(owner + running + &range));
    let names: Vec<_> = lowered.cluster.pods.values().map(|pod| pod.name.as_str()).collect();
    assert_eq!(names, ["replicaset/default/web"]);
}

#[test]
fn limit_ranges_that_contradict_each_other_leave_it_to_chance() {
    let other = limits("{type: Container, defaultRequest: {cpu: 1}}").replace("name: x", "name: z");
    let one = limits("{type: Container, defaultRequest: {cpu: 2}}");
    assert_eq!(codes(&lowered(&format!("{one}{other}{}", pod("a", "", "")))), [("S0416", Effect::Both)]);
    assert_eq!(codes(&lowered(&format!("{one}{other}{}", pod("a", "requests: {cpu: 3}", "")))), []);
    // And so whether what it is given is too much.
    let [narrow, wide] = ["{type: Container, max: {cpu: 1}}", "{type: Container, max: {cpu: 2}}"].map(limits);
    let chance = lowered(&format!("{narrow}{}{}", wide.replace("name: x", "name: z"), pod("a", "", "")));
    assert_eq!((barred(&chance, "a"), codes(&chance)), (None, vec![("S0416", Effect::Both)]));
}

#[test]
fn what_a_pod_requests_as_a_whole_is_settled_after_the_limit_range_since_1_37() {
    let range = limits("{type: Container, min: {memory: 1Mi}}");
    let text = format!("{NODES}{range}{}", pod("a", "", ", resources: {limits: {memory: 2Gi}}"));
    let memory = |minor| {
        let (documents, _) = documents(SourceId(0), &text);
        let lowered = lower::cluster(&documents, &Options { release: Release { minor }, ..Options::default() });
        requests(&lowered, "a")
    };
    assert_eq!(memory(36), [("memory".to_owned(), 2 << 30)]);
    assert_eq!(memory(37), [("memory".to_owned(), 1 << 20)]);
}

fn daemon(spec: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: d}}, spec: {{template: {{spec: {{containers: [{{name: c}}]{spec}}}}}}}}}\n---\n"
    )
}

#[test]
fn the_controller_of_daemon_sets_looks_at_taints_whatever_a_class_or_a_profile_says() {
    let tainted = "{apiVersion: v1, kind: Node, metadata: {name: n3}, spec: {taints: [{key: k, effect: NoSchedule}]}, status: {allocatable: {pods: 9}}}\n---\n";
    let class = object("RuntimeClass", "handler: h, scheduling: {tolerations: [{operator: Exists}]}");
    let off = configuration("{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}", "");
    let refuses = |text: String, pod: &str| {
        let lowered = lowered(&format!("{tainted}{text}"));
        let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
        let pod = podreach::question::pod(&lowered.cluster, pod).expect("a pod of that name");
        let node = podreach::question::node(&lowered.cluster, "n3").expect("a node of that name");
        Rule::TaintToleration.refusal(&model, &lowered.start, pod, node).is_some()
    };
    for (with, spec) in [(&class, ", runtimeClassName: x"), (&off, "")] {
        assert!(!refuses(format!("{with}{}", pod("a", "", spec)), "a"), "a pod is let through: {with}");
        assert!(refuses(format!("{with}{}", daemon(spec)), "daemonset/default/d"), "none is made: {with}");
    }
}

#[test]
fn limit_ranges_refuse_what_is_out_of_bounds() {
    let cases = [
        ("{type: Container, max: {cpu: 1}}", "limits: {cpu: 2}", "", Some("allows less cpu per container")),
        ("{type: Container, max: {cpu: 2}}", "limits: {cpu: 2}", "", None),
        ("{type: Container, min: {cpu: 1}}", "requests: {cpu: 500m}", "", Some("asks for more cpu per container")),
        (
            "{type: Pod, max: {cpu: 2}}",
            "limits: {cpu: 2}",
            ", initContainers: [{name: i, resources: {limits: {cpu: 3}}}]",
            Some("allows less cpu per pod"),
        ),
        ("{type: Pod, max: {cpu: 2}}", "requests: {cpu: 1}", "", Some("allows less cpu per pod")),
        ("{type: Pod, min: {memory: 1Gi}}", "requests: {memory: 1Gi}", "", None),
        ("{type: Container, maxLimitRequestRatio: {cpu: 2}}", "requests: {cpu: 1}, limits: {cpu: 2}", "", None),
        (
            "{type: Container, maxLimitRequestRatio: {cpu: 2}}",
            "requests: {cpu: 1}, limits: {cpu: 2001m}",
            "",
            Some("wants the limit of cpu nearer to the request per container"),
        ),
        // The API server's own arithmetic: 2.007 times 1000 is a little more than 2007.
        (
            "{type: Container, maxLimitRequestRatio: {cpu: 2007m}}",
            "requests: {cpu: 1}, limits: {cpu: 2007m}",
            "",
            Some("wants the limit of cpu nearer to the request per container"),
        ),
    ];
    for (item, resources, more, why) in cases {
        let lowered = lowered(&(limits(item) + &pod("a", resources, more)));
        let why = why.map(|why| format!("the LimitRange default/x {why}"));
        assert_eq!(barred(&lowered, "a"), why, "{item} {resources}");
    }
}

#[test]
fn a_runtime_class_adds_overhead_selector_and_tolerations() {
    let class = object(
        "RuntimeClass",
        "handler: h, overhead: {podFixed: {cpu: 250m}}, scheduling: {nodeSelector: {pool: b}, tolerations: [{key: k, operator: Exists}]}",
    );
    let text = pod("a", "requests: {cpu: 1}", ", runtimeClassName: x") + &class;
    let found = lowered(&text);
    assert_eq!(requests(&found, "a"), [("cpu".to_owned(), 1250)]);
    let key = found.cluster.symbols.symbol("k");
    assert!(spec(&found, "a").tolerations.iter().any(|toleration| toleration.key == key));
    let model = Model::new(found.cluster.clone(), Semantics::KubeScheduler);
    let pod_id = model.pods().next().expect("a type");
    assert_eq!(model.nodes().map(|node| model.static_ok(pod_id, node)).collect::<Vec<_>>(), [false, true]);
    assert_eq!(codes(&found), []);
    for (more, why) in [
        (", runtimeClassName: x, overhead: {cpu: 1}", "the RuntimeClass x has another overhead"),
        (", runtimeClassName: x, nodeSelector: {pool: a}", "the RuntimeClass x asks for another node label pool"),
        (", overhead: {cpu: 1}", "the API server allows overhead only where a RuntimeClass says so"),
    ] {
        let refused = lowered(&(class.clone() + &pod("a", "", more)));
        assert_eq!(barred(&refused, "a").as_deref(), Some(why));
    }
    assert_eq!(codes(&lowered(&(class + &pod("a", "", ", runtimeClassName: other")))), [("S0413", Effect::Both)]);
}

/// Whether the first pod may be deployed on the first node while so many of it run there.
fn admits(lowered: &Lowered, running: u64) -> bool {
    let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
    let atom: Atom = (model.pods().next().expect("a type"), model.nodes().next().expect("a node"));
    let s: Configuration = [(atom, running)].into_iter().collect();
    rule::hard(&model, &s, atom.0, atom.1)
}

#[test]
fn a_quota_caps_what_the_pods_of_its_namespace_take_together() {
    for (hard, resources, most) in [
        ("pods: 2", "", 2),
        ("count/pods: 3", "", 3),
        ("requests.cpu: 1", "requests: {cpu: 400m}", 2),
        ("limits.memory: 3Gi", "limits: {memory: 1Gi}", 3),
        ("requests.gpu.io/x: 0", "requests: {gpu.io/x: 1}, limits: {gpu.io/x: 1}", 0),
        ("services: 0", "", 9),
    ] {
        let lowered = lowered(&(quota(&format!("hard: {{{hard}}}")) + &pod("a", resources, "")));
        assert_eq!((0..10).find(|&running| !admits(&lowered, running)), Some(most), "{hard}");
        assert_eq!(codes(&lowered), []);
    }
}

#[test]
fn a_quota_of_cpu_wants_every_container_to_state_it() {
    let quota = quota("hard: {limits.cpu: 4}");
    let why = Some("the ResourceQuota default/x wants every container to state limits.cpu".to_owned());
    assert_eq!(barred(&lowered(&(quota.clone() + &pod("a", "requests: {cpu: 1}", ""))), "a"), why);
    assert_eq!(barred(&lowered(&(quota.clone() + &pod("a", "", ", resources: {limits: {cpu: 1}}"))), "a"), None);
    // What a LimitRange adds counts as stated.
    let range = limits("{type: Container, default: {cpu: 1}}");
    assert_eq!(barred(&lowered(&(quota + &range + &pod("a", "", ""))), "a"), None);
}

#[test]
fn a_quota_with_scopes_counts_some_pods() {
    let scoped = |scope: &str| quota(&format!("hard: {{pods: 0}}, scopes: [{scope}]"));
    for (scope, resources, more, counted) in [
        ("BestEffort", "", "", true),
        ("BestEffort", "requests: {cpu: 1}", "", false),
        ("NotBestEffort", "limits: {memory: 1}", "", true),
        ("Terminating", "", ", activeDeadlineSeconds: 5", true),
        ("NotTerminating", "", ", activeDeadlineSeconds: 5", false),
    ] {
        let lowered = lowered(&(scoped(scope) + &pod("a", resources, more)));
        assert_eq!(admits(&lowered, 0), !counted, "{scope} {resources} {more}");
    }
    let unclear = lowered(&(scoped("PriorityClass") + &pod("a", "", "")));
    assert_eq!(codes(&unclear), [("S0418", Effect::OverApproximates)]);
}

fn configuration(profiles: &str, rest: &str) -> String {
    format!(
        "{{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{profiles}]{rest}}}\n---\n"
    )
}

#[test]
fn a_profile_switches_filters_off() {
    let exempt = |plugins: &str| {
        let profile = configuration(&format!("{{plugins: {{{plugins}}}}}"), "");
        let lowered = lowered(&(profile + &pod("a", "", "")));
        (spec(&lowered, "a").exempt.iter().copied().collect::<Vec<Rule>>(), codes(&lowered))
    };
    let taints = vec![Rule::TaintToleration];
    assert_eq!(exempt("filter: {disabled: [{name: TaintToleration}]}"), (taints.clone(), vec![]));
    assert_eq!(exempt("multiPoint: {disabled: [{name: TaintToleration}]}"), (taints, vec![]));
    assert_eq!(exempt("score: {disabled: [{name: '*'}]}"), (vec![], vec![]));
    let all = exempt("multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodePorts}]}").0;
    assert!(
        !all.contains(&Rule::NodePorts) && all.contains(&Rule::NodeAffinity) && !all.contains(&Rule::ResourceQuota)
    );
    assert_eq!(exempt("filter: {disabled: [{name: NodeAffinity}]}").1, [("S0431", Effect::Both)]);
    assert_eq!(exempt("permit: {enabled: [{name: Coscheduling}]}").1, [("S0430", Effect::OverApproximates)]);
}

#[test]
fn a_profile_adds_node_affinity_to_its_own_pods() {
    let terms = "{nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [b]}]}]}";
    let args = format!("{{addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}");
    let pinned = format!("{{schedulerName: pinned, pluginConfig: [{{name: NodeAffinity, args: {args}}}]}}");
    let text = configuration(&format!("{{schedulerName: default-scheduler}}, {pinned}"), "")
        + &pod("free", "", "")
        + &pod("tied", "", ", schedulerName: pinned")
        + &pod("lost", "", ", schedulerName: nobody");
    let lowered = lowered(&text);
    let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
    let nodes = |name| {
        let pod = podreach::question::pod(&lowered.cluster, name).expect("a pod of that name");
        model.nodes().map(|node| model.static_ok(pod, node)).collect::<Vec<_>>()
    };
    assert_eq!((nodes("free"), nodes("tied")), (vec![true, true], vec![false, true]));
    let lost: Vec<_> = lowered.diagnostics.iter().map(|d| (d.code, d.pods.first().map(String::as_str))).collect();
    assert_eq!(lost, [("S0415", Some("pod/default/lost"))]);
}

#[test]
fn resources_that_no_profile_looks_at_are_no_obstacle() {
    let ignoring = "{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [gpu.io]}}]}";
    let greedy = pod("a", "requests: {gpu.io/x: 7}, limits: {gpu.io/x: 7}", "");
    assert!(!admits(&lowered(&greedy), 0));
    assert!(admits(&lowered(&(configuration(ignoring, "") + &greedy)), 0));
    let extender = ", extenders: [{urlPrefix: u, managedResources: [{name: gpu.io/x, ignoredByScheduler: true}]}]";
    assert!(admits(&lowered(&(configuration("", extender) + &greedy)), 0));
    let mixed = configuration(&format!("{ignoring}, {{schedulerName: other}}"), "");
    assert_eq!(codes(&lowered(&(mixed + &greedy))), [("S0433", Effect::Both)]);
}

#[test]
fn a_resource_that_a_profile_ignores_may_still_be_a_device() {
    let ignoring = "{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [gpu.io]}}]}";
    let greedy = pod("a", "requests: {gpu.io/x: 7}, limits: {gpu.io/x: 7}", "");
    let class = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: x}, spec: {extendedResourceName: gpu.io/x}}\n---\n";
    assert_eq!(codes(&lowered(&format!("{class}{greedy}"))), [("S0421", Effect::Both)]);
    assert_eq!(codes(&lowered(&format!("{class}{}{greedy}", configuration(ignoring, "")))), [("S0421", Effect::Both)]);
}

#[test]
fn hard_default_spread_is_said_where_it_applies() {
    let args = "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}";
    let hard = configuration(&format!("{{pluginConfig: [{{name: PodTopologySpread, args: {args}}}]}}"), "");
    let own = ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]";
    assert_eq!(codes(&lowered(&(hard.clone() + &pod("a", "", "")))), [("S0432", Effect::OverApproximates)]);
    assert_eq!(codes(&lowered(&(hard.clone() + &pod("a", "", own)))), []);
    let soft = hard.replace("DoNotSchedule", "ScheduleAnyway");
    assert_eq!(codes(&lowered(&(soft + &pod("a", "", "")))), []);
}

#[test]
fn since_1_35_a_bound_pod_carries_the_zone_of_its_node() {
    let zones =
        NODES.replace("pool: a", "topology.kubernetes.io/zone: a").replace("pool: b", "topology.kubernetes.io/zone: b");
    let term =
        "{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {topology.kubernetes.io/zone: a}}}";
    let affinity = format!(", affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}");
    let text = format!("{zones}{}{}", pod("web", "", &affinity), pod("db", "", ""));
    let (documents, problems) = documents(SourceId(0), &text);
    assert_eq!(problems, []);
    // Whether `web` may join `db` where that is bound.
    let joins = |minor, at: &str| {
        let release = Release { minor };
        let Lowered { cluster, .. } = lower::cluster(&documents, &Options { release, ..Options::default() });
        let named = |name| podreach::question::pod(&cluster, name).expect("a pod of that name");
        let (web, db) = (named("web"), named("db"));
        let node = podreach::question::node(&cluster, at).expect("a node of that name");
        let s: Configuration = [((db, node), 1)].into_iter().collect();
        Rule::InterPodAffinity.refusal(&Model::new(cluster, Semantics::KubeScheduler), &s, web, node).is_none()
    };
    assert!(!joins(34, "n1") && !joins(34, "n2"));
    assert!(joins(35, "n1") && !joins(35, "n2"));
}

#[test]
fn host_networking_may_give_two_containers_one_port() {
    let pod = |containers: &str, more: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{hostNetwork: true, containers: [{containers}]{more}}}}}\n---\n"
        )
    };
    let with = |name: &str, port: &str| format!("{{name: {name}, ports: [{{{port}}}]}}");
    let twice = Some("its containers would take the host port TCP//81 twice".to_owned());
    let cases = [
        (with("c", "containerPort: 81") + ", " + &with("d", "containerPort: 81"), "", twice.clone()),
        (with("c", "containerPort: 81") + ", " + &with("d", "containerPort: 81, protocol: UDP"), "", None),
        // Addresses are compared as texts.
        (with("c", "containerPort: 81") + ", " + &with("d", "containerPort: 81, hostIP: 0.0.0.0"), "", None),
        (with("c", "containerPort: 81, hostIP: \"\"") + ", " + &with("d", "containerPort: 81"), "", twice.clone()),
        // Init containers are looked at one by one, whether or not they go on running.
        (with("c", "containerPort: 81"), ", initContainers: [{name: i, ports: [{containerPort: 81}]}]", None),
        (
            with("c", "containerPort: 80"),
            ", initContainers: [{name: i, ports: [{containerPort: 81}, {containerPort: 81}]}]",
            twice,
        ),
    ];
    for (containers, more, why) in cases {
        assert_eq!(barred(&lowered(&pod(&containers, more)), "a"), why, "{containers}{more}");
    }
    let both = with("c", "containerPort: 81") + ", " + &with("d", "containerPort: 81");
    let apart = pod(&both, "").replace("hostNetwork: true, ", "");
    assert_eq!(barred(&lowered(&apart), "a"), None, "without host networking the ports are the pod's own");
    let runs = pod(&both, ", nodeName: n1");
    assert_eq!(barred(&lowered(&runs), "a"), None, "what runs was let in");
}

/// A StatefulSet whose pods have a claim of this class and size.
fn set(class: &str, size: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: db}}, spec: {{replicas: 2, serviceName: db, selector: {{}}, \
         template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: c}}]}}}}, volumeClaimTemplates: [{{metadata: {{name: data}}, \
         spec: {{{class}accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}}}}}]}}}}\n---\n"
    )
}

const CLASSES: &str = "{apiVersion: v1, kind: List, items: [{apiVersion: storage.k8s.io/v1, kind: StorageClassList, items: [\
     {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: gold, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}, \
      provisioner: x.io/d, volumeBindingMode: WaitForFirstConsumer}, \
     {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: iron}, provisioner: x.io/d, volumeBindingMode: WaitForFirstConsumer}]}]}\n---\n";

#[test]
fn claims_that_are_never_let_in_keep_a_stateful_set_from_making_pods() {
    let fewer =
        |resource: &str| Some(format!("the ResourceQuota default/x allows fewer {resource} than its claims take"));
    let gold = "gold.storageclass.storage.k8s.io/requests.storage";
    // The policy, the claim, why it is refused, and whether it is in doubt.
    let cases = [
        (quota("hard: {requests.storage: 1Gi}"), set("", "2Gi"), fewer("requests.storage"), false),
        (quota("hard: {requests.storage: 2Gi}"), set("", "2Gi"), None, true),
        (quota("hard: {persistentvolumeclaims: 0}"), set("", "1Gi"), fewer("persistentvolumeclaims"), false),
        (quota(&format!("hard: {{{gold}: 0}}")), set("", "1Gi"), fewer(gold), false),
        (quota(&format!("hard: {{{gold}: 0}}")), set("storageClassName: gold, ", "1Gi"), fewer(gold), false),
        (quota(&format!("hard: {{{gold}: 0}}")), set("storageClassName: iron, ", "1Gi"), None, false),
        (quota(&format!("hard: {{{gold}: 9Gi}}")), set("", "1Gi"), None, true),
        (
            quota("hard: {requests.cpu: 9}"),
            set("", "1Gi").replace("{name: c}", "{name: c, resources: {requests: {cpu: 1}}}"),
            None,
            false,
        ),
        (
            limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}"),
            set("", "2Gi"),
            Some("the LimitRange default/x allows less storage per claim".to_owned()),
            false,
        ),
        (
            limits("{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 2Gi}}"),
            set("", "2Gi"),
            None,
            false,
        ),
    ];
    for (policy, set, why, in_doubt) in cases {
        let lowered = lowered(&(policy.clone() + &set + CLASSES));
        assert_eq!(barred(&lowered, "db"), why, "{policy}{set}");
        let remark = lowered.diagnostics.iter().find(|remark| remark.code == "S0448");
        assert_eq!(remark.map(|remark| remark.effect), in_doubt.then_some(Effect::OverApproximates), "{policy}{set}");
    }
    // Pods with ephemeral volumes are made, and wait for their claims.
    let volume = "{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}}}";
    let ephemeral = pod("a", "", &format!(", volumes: [{volume}]"));
    let bounded = limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}");
    let found = lowered(&(bounded + &ephemeral + CLASSES));
    assert_eq!((barred(&found, "a"), codes(&found).contains(&("S0448", Effect::OverApproximates))), (None, true));
}

#[test]
fn a_pod_as_a_whole_may_come_to_request_more_than_its_limit() {
    let whole =
        |limit: &str| pod("a", "requests: {memory: 2Gi}", &format!(", resources: {{limits: {{memory: {limit}}}}}"));
    let why = "the pod as a whole would request more memory than its limit".to_owned();
    assert_eq!(barred(&lowered(&whole("1Gi")), "a"), Some(why));
    assert_eq!(barred(&lowered(&whole("2Gi")), "a"), None);
}
