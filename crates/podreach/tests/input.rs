//! What the input says and what it leaves open: kinds that make pods, lists that are whole, things that are said twice, names.

use std::sync::Arc;

use podreach::answer::Oracle;
use podreach::assumption::Topic;
use podreach::diagnostic::Effect;
use podreach::engine::Budget;
use podreach::lower::{Kind, Lowered, Options};
use podreach::matrix::{Cell, Matrix};
use podreach::question::{self, NameError};
use podreach::read::{Source, Sources};
use podreach::report::{Why, matrix_json, why_json};
use podreach_core::{Goal, Problem, Semantics};

const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}}, status: {allocatable: {cpu: 4, pods: 10}}}\n---\n";

/// A pod that needs another one which nothing in the input makes.
const LONELY: &str = "{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: c}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: egg}}}]}}}}\n---\n";

fn read_as(name: &str, text: &str, options: &Options) -> Lowered {
    let mut sources = Sources::default();
    sources.add(Source { name: name.into(), text: text.into() });
    podreach::lowered(&sources, options)
}

fn read(text: &str) -> Lowered {
    read_as("f.yaml", text, &Options::default())
}

fn codes(lowered: &Lowered) -> Vec<(&str, Effect)> {
    lowered.diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.effect)).collect()
}

/// The verdict about a pod on `n1`: `None` if it is unknown.
fn answer(lowered: &Lowered, pod: &str) -> Option<bool> {
    assert!(!lowered.is_stopped(), "{:?}", lowered.diagnostics);
    let problem = podreach::problem(lowered, Semantics::KubeScheduler);
    let atom = (
        question::pod(&lowered.cluster, pod).expect("a pod type"),
        question::node(&lowered.cluster, "n1").expect("a node"),
    );
    Oracle::new(&problem, &lowered.diagnostics)
        .answer(&problem.with_goal(Goal::atom(atom)), &Budget::unlimited())
        .checked
        .answer()
}

fn object(version: &str, kind: &str, rest: &str) -> String {
    format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: x}}{rest}}}\n---\n")
}

#[test]
fn custom_resources_spoil_what_they_could_change_and_nothing_else() {
    let harmless = [
        ("cert-manager.io/v1", "Certificate", ""),
        ("cert-manager.io/v1", "Issuer", ", spec: {ca: {}}"),
        ("external-secrets.io/v1", "ExternalSecret", ""),
        ("networking.istio.io/v1", "VirtualService", ""),
        ("security.istio.io/v1", "AuthorizationPolicy", ""),
        ("cilium.io/v2", "CiliumNetworkPolicy", ""),
        ("projectcalico.org/v3", "GlobalNetworkPolicy", ""),
        ("route.openshift.io/v1", "Route", ""),
        ("keda.sh/v1alpha1", "ScaledObject", ""),
        ("kafka.strimzi.io/v1", "KafkaTopic", ""),
        ("argoproj.io/v1alpha1", "AppProject", ""),
        ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", ", spec: {updatePolicy: {updateMode: 'Off'}}"),
    ];
    for (version, kind, rest) in harmless {
        let lowered = read(&format!("{NODE}{LONELY}{}", object(version, kind, rest)));
        assert_eq!((codes(&lowered), answer(&lowered, "web")), (vec![], Some(false)), "{kind}");
    }
    let hiding = [
        ("cert-manager.io/v1", "Issuer", ", spec: {acme: {}}", "S0401"),
        ("keda.sh/v1alpha1", "ScaledJob", "", "S0401"),
        ("kafka.strimzi.io/v1", "Kafka", "", "S0401"),
        ("argoproj.io/v1alpha1", "Workflow", "", "S0401"),
        ("example.com/v1", "Fleet", "", "S0401"),
        ("argoproj.io/v1alpha1", "Application", "", "S0404"),
    ];
    for (version, kind, rest, code) in hiding {
        let text = format!("{NODE}{LONELY}{}", object(version, kind, rest));
        let lowered = read(&text);
        assert_eq!(
            (codes(&lowered), answer(&lowered, "web")),
            (vec![(code, Effect::UnderApproximates)], None),
            "{kind}"
        );
        let closed = Options { complete: [Kind::Pod].into(), ..Options::default() };
        let lowered = read_as("f.yaml", &text, &closed);
        assert_eq!(
            (codes(&lowered), answer(&lowered, "web")),
            (vec![(code, Effect::Assumes(Topic::Pods))], Some(false)),
            "{kind}"
        );
    }
    let applied =
        read(&format!("{NODE}{LONELY}{}", object("argoproj.io/v1alpha1", "Application", ", status: {sync: {}}")));
    assert_eq!(
        (codes(&applied), answer(&applied, "web")),
        (vec![("W0312", Effect::Assumes(Topic::Pods))], Some(false))
    );
}

#[test]
fn policy_engines_are_no_makers_of_pods() {
    let sociable = LONELY.replace("app: egg", "app: web");
    let rule = |does: &str| format!(", spec: {{rules: [{{name: r, match: {{resources: {{kinds: [Pod]}}}}, {does}}}]}}");
    let (refuses, changes) = (("S0462", Effect::OverApproximates), ("S0461", Effect::Both));
    for (version, kind, rest, remark) in [
        ("kyverno.io/v1", "ClusterPolicy", rule("validate: {failureAction: Enforce}"), refuses),
        ("kyverno.io/v1", "ClusterPolicy", rule("mutate: {}"), changes),
        ("constraints.gatekeeper.sh/v1beta1", "K8sAllowed", String::new(), refuses),
        ("policies.kubewarden.io/v1", "ClusterAdmissionPolicy", String::new(), ("S0405", Effect::Both)),
    ] {
        let read = |pod: &str| read(&format!("{NODE}{pod}{}", object(version, kind, &rest)));
        let (lonely, sociable) = (read(LONELY), read(&sociable));
        assert_eq!((codes(&sociable), answer(&sociable, "web")), (vec![remark], None), "{kind}{rest}");
        // What only refuses pods brings none that the other one needs.
        assert_eq!(answer(&lonely, "web"), (remark == refuses).then_some(false), "{kind}{rest}");
    }
    let idle = read(&format!("{NODE}{sociable}{}", object("kyverno.io/v1", "ClusterPolicy", "")));
    assert_eq!((codes(&idle), answer(&idle, "web")), (vec![], Some(true)), "a policy without rules");
}

#[test]
fn an_autoscaler_of_requests_is_about_one_workload() {
    let pods = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, ports: [{containerPort: 1, hostPort: 1}]}]}}\n---\n";
    let scaler = |name: &str| {
        object(
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            &format!(", spec: {{targetRef: {{kind: Pod, name: {name}}}}}"),
        )
    };
    let lowered = read(&format!("{NODE}{pods}{}", scaler("a")));
    assert_eq!((answer(&lowered, "a"), answer(&lowered, "b")), (None, Some(true)));
    let lowered = read(&format!("{NODE}{pods}{}", scaler("elsewhere")));
    assert_eq!((codes(&lowered), answer(&lowered, "a")), (vec![], Some(true)));
}

#[test]
fn why_does_not_wait_for_pods_that_may_be_made_later() {
    let lowered = read(&format!("{NODE}{LONELY}{}", object("example.com/v1", "Fleet", "")));
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    let pod = question::pod(&lowered.cluster, "web").unwrap();
    let nodes: Vec<_> = lowered.cluster.nodes.ids().collect();
    let why = Why::new(&problem, &lowered.diagnostics, pod, &nodes);
    assert_eq!(why.answer(), Some(false));
    let document = why_json(&why);
    assert_eq!((&document["kind"], &document["semantics"]), (&"Why".into(), &"kube-scheduler".into()));
}

const USER: &str = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}\n---\n";

fn claim(namespace: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: other, namespace: {namespace}}}, spec: {{accessModes: [ReadWriteOnce]}}}}"
    )
}

#[test]
fn only_lists_say_that_there_is_nothing_else() {
    let list = |head: &str, items: &[String]| {
        format!("{NODE}{USER}{{apiVersion: v1, {head}, items: [{}]}}\n", items.join(", "))
    };
    let kubectl = "kind: List, metadata: {resourceVersion: ''}";
    let typed = "kind: PersistentVolumeClaimList";
    let [shop, other] = ["shop", "other"].map(claim);
    let all = [shop.clone(), other.clone()];
    let cases = [
        ("a claim by itself", format!("{NODE}{USER}{shop}"), None),
        ("a list that someone wrote", list("kind: List", &all), None),
        ("kubectl's of all namespaces", list(kubectl, &all), Some(false)),
        ("kubectl's of this namespace", list(kubectl, &all[..1]), Some(false)),
        ("kubectl's of another one", list(kubectl, &all[1..]), None),
        ("kubectl's of nothing", list(kubectl, &[]), None),
        ("the API's of all namespaces", list(typed, &all), Some(false)),
        ("the API's of another one", list(typed, &all[1..]), None),
        ("the API's of nothing", list(typed, &[]), Some(false)),
        ("the API's of nothing at all", list(typed, &[]).replace("items: []", "items: null"), Some(false)),
        (
            "a snapshot's",
            format!("{{apiVersion: podreach.dev/v1alpha1, kind: Snapshot}}\n---\n{}", list(typed, &all[1..])),
            Some(false),
        ),
    ];
    for (what, text, wanted) in &cases {
        let lowered = read(text);
        assert_eq!(answer(&lowered, "web"), *wanted, "{what}");
        let says = codes(&lowered).contains(&("S0441", Effect::OverApproximates));
        assert_eq!(says, wanted.is_none(), "{what}");
    }
    let whole = Options { complete: [Kind::PersistentVolumeClaim].into(), ..Options::default() };
    assert_eq!(answer(&read_as("f.yaml", &cases[0].1, &whole), "web"), Some(false));
}

#[test]
fn lists_of_json_are_as_whole_as_those_of_yaml() {
    let item =
        r#"{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"o","namespace":"NS"},"spec":{}}"#;
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]}}"#;
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"pods":"9"}}}"#;
    for (namespace, wanted) in [("shop", Some(false)), ("other", None)] {
        let items = [node, pod, &item.replace("NS", namespace)].join(",");
        let text =
            format!(r#"{{"apiVersion":"v1","items":[{items}],"kind":"List","metadata":{{"resourceVersion":""}}}}"#);
        assert_eq!(answer(&read_as("f.json", &text, &Options::default()), "web"), wanted, "{namespace}");
        // What follows the list is not in it.
        let after = format!(
            r#"{{"apiVersion":"v1","items":[{node},{pod}],"kind":"List","metadata":{{"resourceVersion":""}}}}"#
        ) + &item.replace("NS", namespace);
        assert_eq!(answer(&read_as("f.json", &after, &Options::default()), "web"), None, "{namespace}");
    }
}

const SET: &str = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]}}\n---\n";

fn class(mode: &str) -> String {
    format!(
        "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: s, annotations: {{storageclass.kubernetes.io/is-default-class: 'true'}}}}, provisioner: csi.example.com, volumeBindingMode: {mode}}}\n---\n"
    )
}

#[test]
fn the_first_volume_on_a_node_is_taken_to_fit_and_the_second_is_not_known() {
    let lowered = read(&format!("{NODE}{SET}{}", class("WaitForFirstConsumer")));
    assert_eq!(
        codes(&lowered),
        [("S0442", Effect::Assumes(Topic::Volumes)), ("S0447", Effect::Assumes(Topic::Volumes))]
    );
    assert_eq!(answer(&lowered, "db"), Some(true));
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    let atom = (question::pod(&lowered.cluster, "db").unwrap(), question::node(&lowered.cluster, "n1").unwrap());
    let two = Goal { any: vec![[(atom, 2)].into_iter().collect()] };
    let decision = Oracle::new(&problem, &lowered.diagnostics).answer(&problem.asking(&two), &Budget::unlimited());
    assert_eq!(decision.checked.answer(), None);
    let full = Problem { start: Arc::new([(atom, 1)].into_iter().collect()), ..problem.clone() };
    let why = Why::new(&full, &[], atom.0, &[atom.1]);
    assert_eq!(why.answer(), None, "whether there is room for a second one is not known");
    let limit = |count| {
        format!(
            "{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: n1}}, spec: {{drivers: [{{name: csi.example.com, nodeID: x, allocatable: {{count: {count}}}}}]}}}}\n---\n"
        )
    };
    for (count, wanted) in [(1, Some(false)), (2, Some(true))] {
        let lowered = read(&format!("{NODE}{SET}{}{}", class("WaitForFirstConsumer"), limit(count)));
        let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
        let decision = Oracle::new(&problem, &lowered.diagnostics).answer(&problem.asking(&two), &Budget::unlimited());
        assert_eq!(decision.checked.answer(), wanted, "a limit of {count}");
    }
}

#[test]
fn claims_that_are_bound_early_matter_only_where_there_are_several_places() {
    let lowered = read(&format!("{NODE}{SET}{}", class("Immediate")));
    assert!(codes(&lowered).contains(&("S0441", Effect::Assumes(Topic::Volumes))));
    assert_eq!(answer(&lowered, "db"), Some(true));
    let other = NODE.replace("name: n1", "name: n2").replace("zone: a", "zone: b");
    let lowered = read(&format!("{NODE}{other}{SET}{}", class("Immediate")));
    assert!(codes(&lowered).contains(&("S0441", Effect::OverApproximates)));
    assert_eq!(answer(&lowered, "db"), None);
    let lowered = read(&format!("{NODE}{}{SET}{}", other.replace("zone: b", "zone: a"), class("Immediate")));
    assert_eq!(answer(&lowered, "db"), Some(true));
}

#[test]
fn remarks_about_claims_say_what_is_missing_and_point_at_the_claim() {
    let text = format!("{NODE}{USER}");
    let lowered = read(&text);
    let remark = &lowered.diagnostics[0];
    let span = remark.span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "data");
    assert!(remark.message.contains("a claim that is not in the input"), "{}", remark.message);
    assert!(remark.help.as_ref().unwrap().contains("--complete pvc"));
    let text = format!("{NODE}{}", SET.replace("spec: {resources", "spec: {storageClassName: gone, resources"));
    let lowered = read(&text);
    let span = lowered.diagnostics[0].span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "data");
    assert!(lowered.diagnostics[0].message.contains("StorageClass that is not in the input"));
    let lowered = read(&format!("{text}{{apiVersion: storage.k8s.io/v1, kind: StorageClassList, items: []}}"));
    assert_eq!(codes(&lowered)[0], ("S0446", Effect::Assumes(Topic::Volumes)));
    assert!(lowered.diagnostics[0].message.contains("StorageClass that does not exist"));
}

#[test]
fn what_is_said_twice_in_the_same_words_is_read_once() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: a}]}}\n---\n";
    let turned = "{kind: Pod, apiVersion: v1, spec: {containers: [{image: a, name: c}]}, metadata: {name: p}}\n---\n";
    for second in [pod, turned] {
        let lowered = read(&format!("{NODE}{pod}{second}"));
        assert_eq!(codes(&lowered), [("W0314", Effect::Notes)]);
        assert_eq!((lowered.cluster.pods.len(), answer(&lowered, "p")), (1, Some(true)));
    }
    let other = pod.replace("image: a", "image: b");
    assert_eq!(codes(&read(&format!("{NODE}{pod}{other}"))), [("E0208", Effect::Stops)]);
    let listed = format!(
        "{{apiVersion: v1, kind: PodList, items: [{{metadata: {{name: p}}, spec: {{containers: [{{name: c, image: a}}]}}}}]}}\n---\n{pod}"
    );
    assert_eq!(codes(&read(&format!("{NODE}{listed}"))), [("W0314", Effect::Notes)]);
}

#[test]
fn a_key_twice_with_one_value_is_taken_and_with_two_is_refused() {
    let pod = |second: &str| {
        format!(
            "{NODE}{{apiVersion: v1, kind: Pod, metadata: {{name: p, labels: {{a: b, a: {second}}}}}, spec: {{containers: [{{name: c}}]}}}}\n"
        )
    };
    let lowered = read(&pod("b"));
    assert_eq!((codes(&lowered), answer(&lowered, "p")), (vec![("W0125", Effect::Notes)], Some(true)));
    assert_eq!(codes(&read(&pod("c"))), [("E0113", Effect::Stops)]);
    let json = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","name":"n1"},"status":{"allocatable":{}}}]}"#;
    assert_eq!(codes(&read_as("f.json", json, &Options::default())), [("W0125", Effect::Notes)]);
    let other = json.replacen("\"n1\"", "\"n2\"", 1);
    assert_eq!(codes(&read_as("f.json", &other, &Options::default())), [("E0113", Effect::Stops)]);
}

#[test]
fn names_are_understood_as_kubectl_does() {
    let deployment = |namespace: &str, port: u16| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: {namespace}}}, spec: {{selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: c, ports: [{{containerPort: 1, hostPort: {port}}}]}}]}}}}}}}}\n---\n"
        )
    };
    let pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c}]}}\n---\n";
    let one = read(&format!("{NODE}{pod}{}", deployment("shop", 1))).cluster;
    for given in ["deploy/web", "deployment/web", "deployments/web", "deployment.apps/web", "deploy/shop/web"] {
        assert_eq!(
            question::named(&one, given).map(|named| named.name),
            Ok("deployment/shop/web".to_owned()),
            "{given}"
        );
    }
    assert_eq!(question::named(&one, "po/web").map(|named| named.name), Ok("pod/shop/web".to_owned()));
    assert!(question::named(&one, "sts/web").is_err());
    for given in ["n1", "node/n1", "no/n1", "nodes/n1"] {
        assert!(question::node(&one, given).is_ok(), "{given}");
    }
    assert!(question::node(&one, "pod/n1").is_err());
    let two = read(&format!("{NODE}{}{}", deployment("shop", 1), deployment("test", 2))).cluster;
    let error: NameError = question::named(&two, "deploy/web").unwrap_err();
    assert!(error.to_string().contains("could be"), "{error}");
    // A namespace that is called like a kind is still a namespace.
    let three = read(&format!("{NODE}{}", deployment("deploy", 1))).cluster;
    assert_eq!(question::named(&three, "deploy/web").map(|named| named.name), Ok("deployment/deploy/web".to_owned()));
}

#[test]
fn a_wrong_value_is_pointed_at() {
    let text = format!(
        "{NODE}{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, ports: [{{containerPort: 1, protocol: XYZ}}]}}]}}}}\n"
    );
    let lowered = read(&text);
    let span = lowered.diagnostics[0].span.unwrap();
    assert_eq!((lowered.diagnostics[0].code, &text[span.start as usize..span.end as usize]), ("E0219", "XYZ"));
}

#[test]
fn columns_are_told_apart_only_by_what_some_rule_reads() {
    let node = |name: &str, rest: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{instance-id: i-{name}, {rest}}}}}, status: {{allocatable: {{pods: 9}}}}}}\n---\n"
        )
    };
    let pods = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: one}, spec: {containers: [{name: c}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: two}, spec: {containers: [{name: c}], nodeSelector: {disk: ssd}}}\n---\n";
    let text = [node("n1", "disk: ssd"), node("n2", "disk: ssd"), node("n3", "disk: hdd")].concat() + pods;
    let lowered = read(&text);
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    let oracle = Oracle::new(&problem, &lowered.diagnostics);
    let mut matrix = Matrix::new(&oracle, &Budget::unlimited(), 1, &|| ());
    let sizes: Vec<usize> = matrix.classes.iter().map(Vec::len).collect();
    assert_eq!((sizes, matrix.types()), (vec![2, 1], 2));
    matrix.keep("two");
    let names: Vec<&str> = matrix.rows.iter().map(|(pod, _)| problem.model.pod_name(*pod)).collect();
    assert_eq!((names, matrix.count(Cell::Deployable)), (vec!["pod/two/b"], 2));
    let document = matrix_json(&matrix, &[]);
    assert_eq!((&document["kind"], &document["semantics"]), (&"Matrix".into(), &"kube-scheduler".into()));
}
