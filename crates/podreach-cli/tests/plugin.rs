//! What makes the program a plugin of kubectl: its name, its manual pages, its completion.

use std::path::{Path, PathBuf};
use std::process::Command;

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn usage_speaks_of_kubectl_where_kubectl_was_called() {
    let help =
        Command::new(env!("CARGO_BIN_EXE_kubectl-podreach")).args(["check", "--help"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&help.stdout).contains("Usage: kubectl podreach check"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = scratch("man");
    let status = Command::new(env!("CARGO_BIN_EXE_podreach")).arg("man").arg(&folder).status().expect("it runs");
    assert!(status.success());
    for name in ["podreach", "podreach-check", "podreach-snapshot", "podreach-encode-petri"] {
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).expect(name);
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn kubectl_gets_completions() {
    let shim = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/kubectl_complete-podreach");
    let beside = Path::new(env!("CARGO_BIN_EXE_kubectl-podreach")).parent().expect("a folder");
    let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap_or_default());
    let said = Command::new(shim).arg("matr").env("PATH", path).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "matrix\tEvery pod type against every node\n:4\n");
}
