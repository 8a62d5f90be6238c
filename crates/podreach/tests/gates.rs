//! What stands at the entrance of a cluster besides LimitRanges and quotas: namespaces, names that must exist, webhooks and policies,
//! policy engines, and running pods that show what admission does.

use std::collections::BTreeSet;

use podreach::answer::Oracle;
use podreach::assumption::Topic;
use podreach::diagnostic::Effect;
use podreach::engine::Budget;
use podreach::lower::{self, Lowered, Options};
use podreach::read::{SourceId, documents};
use podreach_core::{Goal, Model, Problem, Semantics};

const NODES: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/os: linux}}, status: {allocatable: {cpu: 4, pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: gpu, labels: {kubernetes.io/os: linux}}, spec: {taints: [{key: gpu, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a}}}
---
";

fn lowered_with(text: &str, options: &Options) -> Lowered {
    crate::accepted::lowered(&format!("{NODES}{text}"), options)
}

fn lowered(text: &str) -> Lowered {
    lowered_with(text, &Options::default())
}

/// Whether a pod can run on a node, if that is sure.
fn answer(lowered: &Lowered, pod: &str, node: &str) -> Option<bool> {
    let pod = podreach::question::pod(&lowered.cluster, pod).expect("a pod of that name");
    let node =
        lowered.cluster.nodes.iter().find(|(_, n)| lowered.cluster.symbols.str(n.name) == node).expect("a node").0;
    let goal = Goal::atom((pod, node));
    let model = Model::new(lowered.cluster.clone(), Semantics::KubeScheduler);
    let mut problem = Problem::new(model.into(), lowered.start.clone(), goal.clone());
    problem.kept = lowered.kept.clone().into();
    Oracle::new(&problem, &lowered.diagnostics).answer(&problem.asking(&goal), &Budget::unlimited()).checked.answer()
}

fn barred(lowered: &Lowered, name: &str) -> Option<String> {
    let id = podreach::question::pod(&lowered.cluster, name).expect("a pod of that name");
    lowered.cluster.pods[id].spec.barred.as_ref().map(ToString::to_string)
}

/// The codes of what is said, with the pod types that each is about.
fn codes(lowered: &Lowered) -> BTreeSet<(&'static str, Effect, String)> {
    lowered.diagnostics.iter().map(|d| (d.code, d.effect, d.pods.join(" "))).collect()
}

fn doubts<'l>(lowered: &'l Lowered, code: &str) -> Vec<&'l str> {
    let about = lowered.diagnostics.iter().filter(|d| d.code == code);
    let mut pods: Vec<&str> = about.flat_map(|d| d.pods.iter().map(String::as_str)).collect();
    pods.sort_unstable();
    pods
}

/// A pod with a label `app` and a spec in flow style.
fn pod(namespace: &str, name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: {namespace}, labels: {{app: {name}}}}}, \
         spec: {{containers: [{{name: c, ports: [{{containerPort: {}}}]}}]{spec}}}}}\n---\n",
        name.len()
    )
}

fn namespace(name: &str, rest: &str) -> String {
    format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, {rest}}}}}\n---\n")
}

fn webhook(kind: &str, rest: &str) -> String {
    format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: {kind}WebhookConfiguration, metadata: {{name: hooks}}, \
         webhooks: [{{name: w.example.com, {rest}}}]}}\n---\n"
    )
}

const PODS: &str = "rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]";

#[test]
fn a_namespace_refuses_what_its_level_forbids() {
    let level = |level: &str| namespace("strict", &format!("labels: {{pod-security.kubernetes.io/enforce: {level}}}"));
    let port = pod("strict", "a", ", hostNetwork: true");
    assert_eq!(barred(&lowered(&format!("{}{port}", level("privileged"))), "a"), None);
    let reason = barred(&lowered(&format!("{}{port}", level("baseline"))), "a").expect("it is refused");
    assert!(reason.ends_with("the pod security level baseline, which it violates: host namespaces"), "{reason}");
    let reason = barred(&lowered(&format!("{port}{}", level("restricted"))), "a").expect("it is refused");
    assert!(
        reason.contains("host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities"),
        "{reason}"
    );
    // A level that there is not is the strictest.
    assert!(barred(&lowered(&format!("{port}{}", level("basic"))), "a").is_some());
    // What runs may stay, and is not deployed again.
    let running = pod("strict", "a", ", hostPID: true, nodeName: n1");
    let lowered = lowered(&format!("{running}{}", level("baseline")));
    assert_eq!((lowered.start.iter().count(), barred(&lowered, "a").is_some()), (1, true));
}

#[test]
fn fields_of_pod_security_are_read_strictly_where_they_matter() {
    let wrong = pod("strict", "a", ", securityContext: {runAsNonRot: true}");
    assert_eq!(lowered(&wrong).diagnostics, []);
    let text =
        format!("{NODES}{wrong}{}", namespace("strict", "labels: {pod-security.kubernetes.io/enforce: baseline}"));
    let found = lower::cluster(&documents(SourceId(0), &text).0, &Options::default());
    assert_eq!(found.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["E0204"]);
}

#[test]
fn pods_that_differ_only_in_what_levels_forbid_are_told_apart() {
    let level = namespace("strict", "labels: {pod-security.kubernetes.io/enforce: baseline}");
    let probe = |host: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p{}, namespace: strict}}, spec: {{containers: \
        [{{name: c, livenessProbe: {{httpGet: {{port: 1{host}}}}}}}]}}}}\n---\n",
            host.len()
        )
    };
    let lowered = lowered(&format!("{level}{}{}", probe(""), probe(", host: h")));
    assert_eq!((barred(&lowered, "p0"), barred(&lowered, "p9").is_some()), (None, true));
    let armor = |name: &str, value: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: strict, annotations: \
        {{container.apparmor.security.beta.kubernetes.io/c: {value}}}}}, spec: {{containers: [{{name: c}}]}}}}\n---\n"
        )
    };
    let lowered = self::lowered(&format!("{level}{}{}", armor("a", "unconfined"), armor("b", "runtime/default")));
    assert_eq!((barred(&lowered, "a").is_some(), barred(&lowered, "b")), (true, None));
}

#[test]
fn no_pod_is_made_in_a_namespace_that_is_being_deleted() {
    for ending in [
        "deletionTimestamp: '2026-11-16T08:00:00Z'}, status: {phase: Terminating",
        "finalizers: []}, status: {phase: Terminating",
    ] {
        let lowered = lowered(&format!("{}{}", namespace("old", ending), pod("old", "a", "")));
        assert_eq!(barred(&lowered, "a").as_deref(), Some("the namespace old is being deleted"));
        assert_eq!(answer(&lowered, "a", "n1"), Some(false));
    }
}

#[test]
fn classes_and_accounts_must_exist() {
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}\n---\n";
    let high = pod("shop", "a", ", priorityClassName: high");
    let other = pod("shop", "b", ", priorityClassName: low");
    let system = pod("shop", "c", ", priorityClassName: system-node-critical");
    let all = format!("{high}{other}{system}");
    // Nobody looked, or not for all of them.
    assert_eq!(lowered(&all).diagnostics, []);
    assert_eq!(doubts(&lowered(&format!("{class}{all}")), "S0465"), ["pod/shop/b"]);
    let item = class.trim_end_matches("\n---\n");
    let list = format!("{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClassList, items: [{item}]}}\n---\n");
    let found = lowered(&format!("{list}{all}"));
    assert_eq!(barred(&found, "b").as_deref(), Some("the PriorityClass low that it names does not exist"));
    assert_eq!([barred(&found, "a"), barred(&found, "c")], [None, None]);
    let account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop}}";
    let robots = ["robot", "default", "ghost"].map(|name| pod("shop", name, &format!(", serviceAccountName: {name}")));
    let elsewhere = pod("default", "far", ", serviceAccountName: ghost");
    let all = format!("{}{elsewhere}", robots.concat());
    assert_eq!(doubts(&lowered(&format!("{account}\n---\n{all}")), "S0465"), ["pod/shop/ghost"]);
    let list = format!("{{apiVersion: v1, kind: ServiceAccountList, items: [{account}]}}\n---\n");
    let found = lowered(&format!("{list}{all}"));
    assert_eq!(barred(&found, "ghost").as_deref(), Some("the ServiceAccount ghost that it names does not exist"));
    assert_eq!(["robot", "far"].map(|name| barred(&found, name)), [None, None]);
}

#[test]
fn a_pod_runs_only_on_its_operating_system() {
    let windows = pod("shop", "w", ", os: {name: windows}");
    let linux = pod("shop", "l", ", os: {name: linux}");
    let text = format!("{windows}{linux}");
    let found = lowered(&text);
    assert_eq!((answer(&found, "w", "n1"), answer(&found, "l", "n1")), (Some(false), Some(true)));
    // A node that does not say which it has may have either.
    let bare = "{apiVersion: v1, kind: Node, metadata: {name: bare}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n";
    let found = lowered(&format!("{bare}{text}"));
    assert_eq!(
        (answer(&found, "w", "n1"), answer(&found, "w", "bare"), answer(&found, "l", "bare")),
        (Some(false), None, None)
    );
}

#[test]
fn a_webhook_that_may_change_pods_leaves_nothing_sure() {
    let pods = format!("{}{}", pod("shop", "a", ""), pod("default", "b", ""));
    let found = lowered(&format!("{pods}{}", webhook("Mutating", PODS)));
    let both = ["pod/default/b", "pod/shop/a"];
    assert_eq!(doubts(&found, "S0461"), both);
    assert_eq!((answer(&found, "a", "n1"), answer(&found, "a", "gpu")), (None, None));
    // One that may only refuse them makes nothing possible.
    let found = lowered(&format!("{pods}{}", webhook("Validating", PODS)));
    assert_eq!(
        (doubts(&found, "S0462").len(), answer(&found, "a", "n1"), answer(&found, "a", "gpu")),
        (2, None, Some(false))
    );
    // What is said is the same about all of them, and is told once.
    assert_eq!(found.diagnostics.len(), 1);
    let trusting = Options { keeps_pods: true, ..Options::default() };
    let found = lowered_with(&format!("{pods}{}", webhook("Mutating", PODS)), &trusting);
    assert_eq!(codes(&found), BTreeSet::from([("W0361", Effect::Assumes(Topic::Admission), String::new())]));
    assert_eq!((answer(&found, "a", "n1"), answer(&found, "a", "gpu")), (Some(true), Some(false)));
}

#[test]
fn a_webhook_is_about_the_pods_that_it_selects() {
    let pods = format!("{}{}", pod("shop", "a", ""), pod("shop", "b", ""));
    let about = |rest: &str| {
        let found = lowered(&format!("{pods}{}", webhook("Mutating", rest)));
        doubts(&found, "S0461")
            .iter()
            .map(|name| name.rsplit('/').next().unwrap_or_default().to_owned())
            .collect::<String>()
    };
    let all = |rest: &str| about(&format!("{PODS}, {rest}"));
    assert_eq!(about("rules: []"), "");
    assert_eq!(about(&PODS.replace("CREATE", "UPDATE")), "");
    assert_eq!(about(&PODS.replace("CREATE", "'*'")), "ab");
    assert_eq!(about(&PODS.replace("[pods]", "['*/*']")), "ab");
    assert_eq!(about(&PODS.replace("[pods]", "[pods/binding]")), "ab");
    assert_eq!(about(&PODS.replace("[pods]", "[pods/status, deployments]")), "");
    assert_eq!(about(&PODS.replace("['']", "[apps]")), "");
    assert_eq!(about(&PODS.replace("[v1]", "[v2]")), "");
    assert_eq!(about(&PODS.replace("{api", "{scope: Cluster, api")), "");
    assert_eq!(all("objectSelector: {matchLabels: {app: a}}"), "a");
    assert_eq!(all("objectSelector: {matchExpressions: [{key: app, operator: NotIn, values: [a]}]}"), "b");
    assert_eq!(all("objectSelector: {matchLabels: {pod-template-hash: x}}"), "ab");
    assert_eq!(all("namespaceSelector: {matchLabels: {team: a}}"), "ab");
    assert_eq!(all("namespaceSelector: {matchLabels: {team: b}}"), "");
    assert_eq!(all("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}"), "ab");
    assert_eq!(all("matchConditions: [{name: x, expression: 'false'}]"), "ab");
}

#[test]
fn a_namespace_that_is_not_in_the_input_may_be_selected() {
    let far = pod("far", "a", "");
    let about = |selector: &str| {
        let rest = format!("{PODS}, namespaceSelector: {{matchLabels: {{{selector}}}}}");
        doubts(&lowered(&format!("{far}{}", webhook("Mutating", &rest))), "S0461").len()
    };
    assert_eq!(
        ["team: a", "kubernetes.io/metadata.name: far", "kubernetes.io/metadata.name: near"].map(about),
        [1, 1, 0]
    );
}

/// An admission policy and its binding.
fn policy(kind: &str, constraints: &str, binding: &str) -> String {
    let object = |suffix: &str, spec: &str| {
        format!(
            "{{apiVersion: admissionregistration.k8s.io/v1, kind: {kind}AdmissionPolicy{suffix}, metadata: {{name: p}}, spec: {{{spec}}}}}\n---\n"
        )
    };
    let bound =
        if binding.is_empty() { String::new() } else { object("Binding", &format!("policyName: p, {binding}")) };
    object("", &format!("matchConstraints: {{{constraints}}}")) + &bound
}

#[test]
fn a_policy_counts_with_a_binding_that_acts() {
    let constraints = PODS.replace("rules", "resourceRules");
    let count = |code: &str, policy: String| doubts(&lowered(&format!("{}{policy}", pod("shop", "a", ""))), code).len();
    assert_eq!(count("S0461", policy("Mutating", &constraints, "")), 0);
    assert_eq!(count("S0461", policy("Mutating", &constraints, "paramRef: {name: x}")), 1);
    let elsewhere = "matchResources: {namespaceSelector: {matchLabels: {team: z}}}";
    assert_eq!(count("S0461", policy("Mutating", &constraints, elsewhere)), 0);
    let excluded = format!("{constraints}, {}", PODS.replace("rules", "excludeResourceRules"));
    assert_eq!(count("S0461", policy("Mutating", &excluded, "paramRef: {name: x}")), 0);
    assert_eq!(count("S0462", policy("Validating", &constraints, "validationActions: [Audit, Warn]")), 0);
    assert_eq!(count("S0462", policy("Validating", &constraints, "validationActions: [Audit, Deny]")), 1);
}

#[test]
fn rules_of_policy_engines_change_or_refuse_pods() {
    let of = |text: &str| {
        let found = lowered(&format!("{}{text}", pod("shop", "a", "")));
        found.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>().join(" ")
    };
    let kyverno = |spec: &str| {
        format!("{{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {{name: p}}, spec: {{{spec}}}}}")
    };
    let rule = |kind: &str, does: &str| {
        format!("rules: [{{name: r, match: {{any: [{{resources: {{kinds: [{kind}]}}}}]}}, {does}}}]")
    };
    assert_eq!(of(&kyverno(&rule("Pod", "mutate: {}"))), "S0461");
    assert_eq!(of(&kyverno(&rule("ConfigMap", "mutate: {}"))), "");
    assert_eq!(of(&kyverno(&rule("Pod", "validate: {}"))), "");
    assert_eq!(of(&kyverno(&format!("validationFailureAction: Enforce, {}", rule("v1/Pod", "validate: {}")))), "S0462");
    assert_eq!(of(&kyverno(&rule("'*'", "validate: {failureAction: Enforce}"))), "S0462");
    assert_eq!(of(&kyverno(&rule("Namespace", "generate: {kind: NetworkPolicy}"))), "");
    assert_eq!(of(&kyverno(&rule("Namespace", "generate: {kind: Deployment}"))), "S0401");
    let constraint = |spec: &str| {
        format!(
            "{{apiVersion: constraints.gatekeeper.sh/v1beta1, kind: Limits, metadata: {{name: p}}, spec: {{{spec}}}}}"
        )
    };
    assert_eq!(of(&constraint("")), "S0462");
    assert_eq!(of(&constraint("enforcementAction: dryrun")), "");
    assert_eq!(of(&constraint("match: {kinds: [{apiGroups: [''], kinds: [Namespace]}]}")), "");
    let mutation = |kind: &str, spec: &str| {
        format!("{{apiVersion: mutations.gatekeeper.sh/v1, kind: {kind}, metadata: {{name: p}}, spec: {{{spec}}}}}")
    };
    assert_eq!(of(&mutation("Assign", "applyTo: [{groups: [''], kinds: [Pod], versions: [v1]}]")), "S0461");
    assert_eq!(of(&mutation("Assign", "applyTo: [{groups: [''], kinds: [Service], versions: [v1]}]")), "");
    assert_eq!(of(&mutation("AssignImage", "applyTo: [{groups: [''], kinds: [Pod], versions: [v1]}]")), "");
}

#[test]
fn annotations_of_a_namespace_put_its_pods_in_doubt() {
    let annotated = namespace("ml", "annotations: {scheduler.alpha.kubernetes.io/node-selector: pool=ml}");
    let text = format!("{annotated}{}{}", pod("ml", "a", ""), pod("shop", "b", ""));
    let found = lowered(&text);
    assert_eq!(codes(&found), BTreeSet::from([("S0463", Effect::Both, "pod/ml/a".to_owned())]));
    assert_eq!((answer(&found, "a", "n1"), answer(&found, "b", "n1")), (None, Some(true)));
}

/// A Deployment whose template has this container, its ReplicaSet, and pods of the latter with these specs.
fn rollout(container: &str, pods: &[&str]) -> String {
    let template = |labels: &str, container: &str| {
        format!("{{metadata: {{labels: {{app: web{labels}}}}}, spec: {{containers: [{container}]}}}}")
    };
    let owner = |kind: &str, name: &str| {
        format!("ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {name}, uid: u, controller: true}}]")
    };
    let mut text = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{template: {}}}}}\n---\n",
        template("", container)
    );
    text += &format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: web-5f, {}}}, spec: {{template: {}}}}}\n---\n",
        owner("Deployment", "web"),
        template(", pod-template-hash: 5f", "{name: c}")
    );
    for (at, spec) in pods.iter().enumerate() {
        text += &format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: web-5f-{at}, labels: {{app: web, pod-template-hash: 5f}}, {}}}, spec: \
             {{nodeName: n1, {spec}}}}}\n---\n",
            owner("ReplicaSet", "web-5f")
        );
    }
    text
}

const PLAIN: &str = "containers: [{name: c}]";
const TOLERANT: &str = "containers: [{name: c}], tolerations: [{key: gpu, operator: Exists}]";
const WEB: &str = "deployment/default/web";

#[test]
fn running_pods_show_what_admission_makes_of_a_template() {
    let current = |pods: &[&str]| lowered(&rollout("{name: c}", pods));
    let found = current(&[PLAIN, PLAIN]);
    assert_eq!((codes(&found), answer(&found, WEB, "gpu")), (BTreeSet::new(), Some(false)));
    // All of them tolerate what the template does not: so will the next.
    let found = current(&[TOLERANT, TOLERANT]);
    let all = codes(&found);
    assert!(
        all.iter().all(|(code, effect, _)| (*code, *effect) == ("S0464", Effect::Assumes(Topic::Admission))),
        "{all:?}"
    );
    assert_eq!(answer(&found, WEB, "gpu"), Some(true));
    // Some do: who knows.
    let found = current(&[TOLERANT, PLAIN]);
    assert!(doubts(&found, "S0467").contains(&WEB), "{:?}", codes(&found));
    assert_eq!(answer(&found, WEB, "gpu"), None);
    // Other requests may be a resize, unless there are other containers.
    let found = current(&["containers: [{name: c, resources: {requests: {cpu: 5}}}]"]);
    assert!(doubts(&found, "S0467").contains(&WEB), "{:?}", codes(&found));
    let found = current(&["containers: [{name: c}, {name: proxy, resources: {requests: {cpu: 5}}}]"]);
    assert!(doubts(&found, "S0464").contains(&WEB), "{:?}", codes(&found));
    assert_eq!(answer(&found, WEB, "gpu"), Some(false));
}

#[test]
fn pods_of_a_former_revision_show_nothing() {
    let found = lowered(&rollout("{name: c, ports: [{hostPort: 80, containerPort: 80}]}", &[TOLERANT]));
    assert!(!doubts(&found, "S0464").contains(&WEB) && !doubts(&found, "S0467").contains(&WEB), "{:?}", codes(&found));
    assert_eq!(answer(&found, WEB, "gpu"), Some(false));
}
