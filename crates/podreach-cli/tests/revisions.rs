//! Whose pods are meant: pods of StatefulSets with claims of their own, former revisions, and the release that a cluster is of.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ordinals");

/// The volumes of all three pods are in one zone; these nodes are in two others, and all of them in three.
const LOST: [&str; 2] = ["nodes-bc.json", "sts-pods.json"];
const WHOLE: [&str; 1] = ["nodes6.json"];
const DATABASE: [&str; 4] = ["sc.yaml", "csi.yaml", "sts-pv.json", "db.yaml"];

fn podreach(args: &[&str], files: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(Path::new(DATA)).args(args);
    for file in files {
        command.args(["-f", file]);
    }
    command.output().expect("the command runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn with_database(files: &[&'static str]) -> Vec<&'static str> {
    files.iter().chain(&DATABASE).copied().collect()
}

/// The standing of each rule of a policy, by name.
fn rules(policy: &str, more: &[&str], files: &[&str]) -> Vec<(String, String)> {
    let args = ["audit", policy, "--no-findings", "--no-cache", "-o", "json"];
    let output = podreach(&[&args[..], more].concat(), files);
    let audit: Value = serde_json::from_str(&text(&output)).expect("output is JSON");
    let items = audit["items"].as_array().expect("items");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut rules: Vec<_> = items.iter().map(|item| (word(&item["rule"]), word(&item["status"]))).collect();
    rules.sort();
    rules
}

fn expected(rules: &[(&str, &str)]) -> Vec<(String, String)> {
    rules.iter().map(|(rule, status)| ((*rule).to_owned(), (*status).to_owned())).collect()
}

#[test]
fn pods_whose_volumes_are_out_of_reach_can_never_run() {
    let output = podreach(&["check", "db-0", "--any-node"], &with_database(&LOST));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

#[test]
fn an_audit_judges_the_pods_that_a_stateful_set_has() {
    let output = podreach(&["audit", "--no-cache"], &with_database(&LOST));
    let found = text(&output);
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert!(found.contains("F0101") && found.contains("pod/default/db-0"), "{found}");
    assert!(found.contains("none of the 3 pods that are declared can ever be up"), "{found}");
}

#[test]
fn rules_about_a_stateful_set_are_about_its_pods() {
    let found = rules("sts-pol2.yaml", &[], &with_database(&LOST));
    let violated = [("all", "violated"), ("kinds-recover", "violated"), ("label-recover", "violated")];
    assert_eq!(found, expected(&[&violated[..], &[("never-in-a-by-label", "holds")]].concat()));
    let found = rules("sts-pol.yaml", &[], &with_database(&WHOLE));
    let rest = [("never-in-a", "violated"), ("never-in-b", "holds"), ("recover", "holds"), ("three-zones", "violated")];
    assert_eq!(found, expected(&rest));
}

#[test]
fn nothing_is_wrong_with_a_stateful_set_all_of_whose_pods_can_run() {
    let files = with_database(&["nodes6.json", "sts-pods.json"]);
    for instances in ["declared", "unlimited"] {
        let output = podreach(&["audit", "--no-cache", "--instances", instances], &files);
        assert!(!text(&output).contains("F0101"), "{instances}: {}", text(&output));
        assert_eq!(output.status.code(), Some(0), "{instances}: {}", text(&output));
    }
}

#[test]
fn a_rule_about_a_deployment_is_about_its_former_revisions() {
    let violated = [("by-label", "violated"), ("by-name", "violated"), ("by-namespace", "violated")];
    assert_eq!(rules("oldrev-pol.yaml", &[], &["oldrev.yaml"]), expected(&violated));
}

#[test]
fn the_newest_kubelet_says_which_release_counts() {
    let output = podreach(&["check", "web", "e1"], &["kubelets.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("kube-scheduler of 1.30"), "{}", text(&output));
    assert!(text(&output).contains("A0102 Kubernetes 1.30 by its kubelets"), "{}", text(&output));
    let all = podreach(&["check", "web", "e1", "-v"], &["kubelets.yaml"]);
    assert!(text(&all).contains("up to 1.33"), "{}", text(&all));
    let told = podreach(&["check", "web", "e1", "--kubernetes-version", "1.37"], &["kubelets.yaml"]);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told));
    assert!(!text(&told).contains("A0102"), "{}", text(&told));
}

#[test]
fn a_certificate_is_of_a_release() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (release, verdict, shown) in [("1.30", "NEVER", "of 1.30"), ("1.37", "DEPLOYABLE", "(kube-scheduler, ")] {
        let args = ["check", "web", "e1", "--kubernetes-version", release, "-o", "json"];
        let document = text(&podreach(&args, &["kubelets.yaml"]));
        let question: Value = serde_json::from_str(&document).expect("output is JSON");
        assert_eq!(question["question"]["kubernetesVersion"], release);
        let path = folder.join(format!("release-{release}.json"));
        std::fs::write(&path, document).expect("a file for tests");
        let verified = podreach(&["verify", path.to_str().expect("a path")], &["kubelets.yaml"]);
        let said = text(&verified);
        assert!(said.contains(&format!("PROVED  {verdict}")) && said.contains(shown), "{said}");
    }
}
