//! What `check` writes, `verify` accepts; what was tampered with, it refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn podreach(args: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    Command::new(env!("CARGO_BIN_EXE_podreach")).args(args).current_dir(root).output().expect("it runs")
}

fn code(args: &[&str]) -> i32 {
    podreach(args).status.code().expect("it exits by itself")
}

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    folder
}

#[test]
fn a_certificate_proves_its_verdict_and_no_damaged_one_does() {
    let folder = folder("certificates");
    let questions: [(&[&str], i32); 6] = [
        (&["-f", "examples/demo.yaml", "web", "edge-1"], 0),
        (&["-f", "examples/demo.yaml", "ledger", "--any-node"], 1),
        (&["-f", "examples/demo.yaml", "web", "edge-1", "--keep", "app=batch"], 1),
        (&["-f", "examples/demo.yaml", "cache", "edge-1", "--start", "empty", "--instances", "declared"], 0),
        (&["-f", "examples/pyramid.yaml"], 0),
        (&["-f", "crates/podreach-cli/tests/data/pyramid.yaml"], 1),
    ];
    for (at, (question, exit)) in questions.into_iter().enumerate() {
        let path = folder.join(format!("{at}.json"));
        let path = path.to_str().unwrap();
        let (check, verify) =
            ([&["check", "--proof-out", path], question].concat(), ["verify", path, "-f", question[1]]);
        assert_eq!((code(&check), code(&verify)), (exit, 0), "{question:?}");
        let text = std::fs::read_to_string(path).unwrap();
        for (from, to) in [
            ("\"trace\": [", "\"proof\": ["),
            ("\"deploy\"", "\"delete\""),
            ("\"forbidden\": [", "\"forbidden\": [], \"x\": ["),
        ] {
            if text.contains(from) {
                std::fs::write(path, text.replacen(from, to, 1)).unwrap();
                assert_ne!(code(&verify), 0, "{question:?} {to}");
            }
        }
    }
}

#[test]
fn every_step_and_every_group_is_needed() {
    let folder = folder("damage");
    for (input, key) in [("examples/demo.yaml", "trace"), ("crates/podreach-cli/tests/data/pyramid.yaml", "forbidden")]
    {
        let question: &[&str] = if key == "trace" { &["web", "edge-1"] } else { &[] };
        let written = podreach(&[&["check", "-o", "json", "-f", input], question].concat()).stdout;
        let whole: serde_json::Value = serde_json::from_slice(&written).unwrap();
        let pointer = if key == "trace" { "/trace" } else { "/proof/forbidden" };
        for at in 0..whole.pointer(pointer).unwrap().as_array().unwrap().len() {
            let mut damaged = whole.clone();
            damaged.pointer_mut(pointer).unwrap().as_array_mut().unwrap().remove(at);
            let path = folder.join("damaged.json");
            std::fs::write(&path, damaged.to_string()).unwrap();
            assert_eq!(code(&["verify", path.to_str().unwrap(), "-f", input]), 1, "{key} without {at}");
        }
    }
}

const QUOTA: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: one, namespace: shop}, spec: {hard: {pods: '1'}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: waits, namespace: shop, uid: a}, spec: {containers: [{name: main, image: a}]}, status: {phase: Pending}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: a}]}}
";

#[test]
fn a_run_that_leaves_a_waiting_pod_in_its_way_is_not_possible() {
    let folder = folder("waiting");
    let (input, path) = (folder.join("quota.yaml"), folder.join("run.json"));
    std::fs::write(&input, QUOTA).unwrap();
    let (input, path) = (input.to_str().unwrap(), path.to_str().unwrap());
    let written = podreach(&["check", "-o", "json", "-f", input, "shop/web", "n1"]).stdout;
    let mut run: serde_json::Value = serde_json::from_slice(&written).unwrap();
    let ops: Vec<&str> = run["trace"].as_array().unwrap().iter().filter_map(|step| step["op"].as_str()).collect();
    assert_eq!(ops, ["delete", "deploy"]);
    std::fs::write(path, run.to_string()).unwrap();
    assert_eq!(code(&["verify", path, "-f", input]), 0);
    run["trace"].as_array_mut().unwrap().remove(0);
    std::fs::write(path, run.to_string()).unwrap();
    let refused = podreach(&["verify", path, "-f", input]);
    let said = String::from_utf8(refused.stdout).unwrap();
    let why = "NOT PROVED  step 1 cannot deploy deployment/shop/web on n1: ResourceQuota refuses";
    assert!(refused.status.code() == Some(1) && said.starts_with(why), "{said}");
}

#[cfg(unix)]
#[test]
fn a_folder_is_read_with_care() {
    use std::os::unix::fs::symlink;
    let (outside, folder) = (folder("outside"), folder("inside"));
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/demo.yaml");
    std::fs::copy(demo, folder.join("demo.yaml")).unwrap();
    std::fs::write(folder.join("README.txt"), "not a manifest").unwrap();
    std::fs::write(outside.join("secret.yaml"), "{").unwrap();
    symlink(outside.join("secret.yaml"), folder.join("leads-out.yaml")).unwrap();
    symlink(folder.join("nowhere"), folder.join("dangling.yaml")).unwrap();
    symlink(&folder, folder.join("loop")).unwrap();
    symlink(folder.join("demo.yaml"), folder.join("twice.yaml")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("pipe.yaml")).status().unwrap().success());
    let output = podreach(&["check", "-R", "-v", "-f", folder.to_str().unwrap(), "web", "edge-1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for left_out in ["leads-out.yaml\" is left out", "dangling.yaml\" is left out", "pipe.yaml\" is left out"] {
        assert!(said.contains(left_out), "{left_out}: {said}");
    }
}

#[test]
fn standard_input_is_read() {
    use std::io::Write;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-podreach"));
    let command = command.args(["check", "-q", "-f", "-", "web", "edge-1"]).current_dir(root);
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let demo = std::fs::read(format!("{root}/examples/demo.yaml")).unwrap();
    child.stdin.take().unwrap().write_all(&demo).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
