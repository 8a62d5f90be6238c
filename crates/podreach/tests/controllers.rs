//! What controllers and kubelets add to pods: labels of revisions and jobs, how many pods there are at a time, amounts in the status.

use podreach::answer::Oracle;
use podreach::engine::Budget;
use podreach::lower::{Instances, Keep, Lowered, Options};
use podreach::question;
use podreach_core::{Goal, Semantics};

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: 4, pods: 110}}
---
";

fn lowered(text: &str, options: &Options) -> Lowered {
    crate::accepted::lowered(&format!("{NODE}{text}"), options)
}

fn codes(text: &str) -> Vec<&'static str> {
    lowered(text, &Options::default()).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Whether so many of these pods can be on the node together; `None` where that is held back.
fn together(text: &str, options: &Options, pods: &[(&str, u64)]) -> Option<bool> {
    let lowered = lowered(text, options);
    let node = question::node(&lowered.cluster, "n1").expect("the node is there");
    let pod = |name| question::pod(&lowered.cluster, name).expect("the pod is there");
    let goal = Goal::all(pods.iter().map(|&(name, count)| ((pod(name), node), count)).collect());
    let problem = podreach::problem(&lowered, Semantics::KubeScheduler);
    Oracle::new(&problem, &lowered.diagnostics).answer(&problem.with_goal(goal), &Budget::unlimited()).checked.answer()
}

/// A workload whose pods keep away from other `app: web` that have the same value of a label.
fn apart(kind: &str, name: &str, label: &str, labels: &str) -> String {
    let version = if kind.ends_with("Job") { "batch/v1" } else { "apps/v1" };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  template: {{metadata: {{labels: {{app: web{labels}}}}}, spec: \
         {{containers: [{{name: c}}], {}}}}}\n---\n",
        apart_by(label)
    )
}

fn apart_by(label: &str) -> String {
    format!(
        "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, \
         labelSelector: {{matchLabels: {{app: web}}}}, matchLabelKeys: [{label}]}}]}}}}"
    )
}

const HASH: &str = "pod-template-hash";

#[test]
fn templates_that_differ_have_hashes_that_differ() {
    let text = apart("Deployment", "stable", HASH, ", track: stable")
        + &apart("Deployment", "canary", HASH, ", track: canary");
    assert_eq!(together(&text, &Options::default(), &[("stable", 1), ("canary", 1)]), Some(true));
    assert_eq!(together(&text, &Options::default(), &[("stable", 2)]), Some(false));
    let twins = apart("Deployment", "one", HASH, "") + &apart("Deployment", "two", HASH, "");
    assert_eq!(together(&twins, &Options::default(), &[("one", 2)]), Some(false), "they are one type");
}

#[test]
fn jobs_that_have_no_id_yet_will_have_different_ones() {
    for label in ["controller-uid", "batch.kubernetes.io/controller-uid", "job-name"] {
        let text = apart("Job", "one", label, "") + &apart("Job", "two", label, "");
        assert_eq!(together(&text, &Options::default(), &[("one", 1), ("two", 1)]), Some(true), "{label}");
        assert_eq!(together(&text, &Options::default(), &[("one", 2)]), Some(false), "{label}");
    }
}

#[test]
fn a_job_with_a_selector_of_its_own_gives_its_pods_no_labels() {
    let job = |rest: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec:\n  {rest}\n  template: {{metadata: {{labels: {{app: web}}}}, spec: \
             {{containers: [{{name: c}}], affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
             [{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{job-name: j}}}}}}]}}}}}}}}\n"
        )
    };
    for (rest, answer) in [("manualSelector: false", false), ("manualSelector: true", true)] {
        assert_eq!(together(&job(rest), &Options::default(), &[("j", 2)]), Some(answer), "{rest}");
    }
}

#[test]
fn a_revision_that_is_not_known_is_in_doubt() {
    let other =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: other, labels: {app: web}}\nspec: {containers: [{name: c}]}\n";
    for (kind, label) in [
        ("StatefulSet", "controller-revision-hash"),
        ("DaemonSet", "controller-revision-hash"),
        ("CronJob", "batch.kubernetes.io/job-name"),
    ] {
        let text = match kind {
            "CronJob" => {
                let job = apart("Job", "own", label, "").replace("kind: Job", "kind: CronJob");
                job.replace("spec:\n  template:", "spec:\n  jobTemplate:\n    spec:\n      template:")
            }
            _ => apart(kind, "own", label, ""),
        };
        assert_eq!(codes(&text), ["S0422"], "{kind}");
        assert_eq!(together(&(text + other), &Options::default(), &[("own", 1), ("other", 1)]), None, "{kind}");
    }
}

#[test]
fn a_hash_is_known_from_pods_only_if_the_template_makes_such_pods() {
    let running = |requests: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web-aaa-1, labels: {{app: web, pod-template-hash: aaa}}, ownerReferences: \
             [{{apiVersion: apps/v1, kind: ReplicaSet, name: web-aaa, uid: u, controller: true}}]}}\n\
             spec: {{nodeName: n1, containers: [{{name: c{requests}}}], {}}}\n",
            apart_by(HASH)
        )
    };
    let kept = Options { keep: vec![Keep::Namespace("default".to_owned())], ..Options::default() };
    let text = apart("Deployment", "web", HASH, "");
    assert_eq!(together(&(text.clone() + &running("")), &kept, &[("web", 2)]), Some(false));
    let changed = text + &running(", resources: {requests: {cpu: 1}}");
    assert_eq!(
        together(&changed, &kept, &[("deployment/default/web", 1)]),
        None,
        "of the old template, or changed by a webhook"
    );
}

#[test]
fn a_job_has_no_more_pods_at_a_time_than_it_has_completions() {
    let job = |rest: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{{rest}, template: {{spec: {{containers: [{{name: c}}]}}}}}}\n"
        )
    };
    let declared = Options { instances: Instances::Declared, ..Options::default() };
    for (rest, most) in [
        ("parallelism: 5", 5),
        ("parallelism: 5, completions: 2", 2),
        ("parallelism: 2, completions: 5", 2),
        ("completions: 5", 1),
    ] {
        let limits = lowered(&job(rest), &declared).cluster.limits;
        assert_eq!(limits.iter().map(|l| (l.most, l.waits)).collect::<Vec<_>>(), [(most, false)], "{rest}");
        assert_eq!(together(&job(rest), &declared, &[("j", most)]), Some(true), "{rest}");
        // A pod that is being deleted still runs, and another one is made in its place.
        assert_eq!(together(&job(rest), &declared, &[("j", most + 1)]), Some(true), "{rest}");
    }
    for late in ["podReplacementPolicy: Failed", "podFailurePolicy: {rules: []}"] {
        let job = job(&format!("parallelism: 2, {late}"));
        for (count, answer) in [(2, true), (3, false)] {
            assert_eq!(
                together(&job, &declared, &[("j", count)]),
                Some(answer),
                "{late}: a pod is replaced once it is gone"
            );
        }
    }
    let early = job("parallelism: 2, podFailurePolicy: {rules: []}, podReplacementPolicy: TerminatingOrFailed");
    assert_eq!(together(&early, &declared, &[("j", 3)]), Some(true));
    let set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}\n";
    for (count, answer) in [(2, true), (3, false)] {
        assert_eq!(together(set, &declared, &[("s", count)]), Some(answer), "its pods are replaced once they are gone");
    }
}

#[test]
fn a_pod_that_is_being_resized_is_not_what_its_template_says() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n1, runtimeClassName: gvisor, containers: [{name: c, \
                resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running, ";
    let container = |rest: &str| format!("{text}containerStatuses: [{{name: c, {rest}}}]}}\n");
    let more = text.replace("containers", "resources: {requests: {memory: 1Gi}}, containers");
    let both = |rest: &str| format!("{more}{rest}}}\n");
    let whole = |rest: &str| format!("{text}{rest}}}\n");
    for same in [
        container("resources: {requests: {cpu: 1000m}}, allocatedResources: {cpu: 1}"),
        whole("allocatedResources: {cpu: 1}, resources: {requests: {cpu: 980m}}"),
    ] {
        assert_eq!(codes(&same), Vec::<&str>::new(), "{same}");
    }
    for other in [
        container("resources: {requests: {cpu: '2'}}"),
        container("resources: {requests: {cpu: 2}}"),
        container("resources: {requests: {cpu: 1}}, allocatedResources: {cpu: 2}"),
        whole("allocatedResources: {cpu: 2}, resources: {requests: {cpu: 1}}"),
        whole("allocatedResources: {cpu: 1}, resources: {requests: {cpu: 2}}"),
        both("resources: {requests: {cpu: 980m, memory: 1Gi}}"),
    ] {
        assert_eq!(codes(&other), ["S0428"], "{other}");
    }
}
