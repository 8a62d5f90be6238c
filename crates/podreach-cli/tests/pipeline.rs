//! The GitHub Action and the pre-commit hook, run as their hosts run them: the scripts of `action.yml` by bash, with the inputs as
//! environment; the entry of the hook with its arguments.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use podreach::read::{Source, Sources};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PROGRAM: &str = env!("CARGO_BIN_EXE_podreach");

/// A step of the action: its script, and its environment as it is written.
struct Step {
    script: String,
    env: Vec<(String, String)>,
}

/// The names of the inputs, and the steps.
fn action() -> (BTreeSet<String>, Vec<Step>) {
    let mut sources = Sources::default();
    let text = fs::read(format!("{ROOT}/action.yml")).expect("the action");
    let id = sources.add(Source::from_bytes("action.yml", text).expect("text"));
    let (documents, diagnostics) = sources.documents(id);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let map = |tree: &podreach::read::Tree<'_>, key: &str| -> Vec<(String, String)> {
        let entries = tree.field(key).and_then(podreach::read::Tree::map).unwrap_or_default();
        entries.iter().map(|entry| (entry.key.to_string(), entry.value.str().unwrap_or_default().to_owned())).collect()
    };
    let inputs = map(&documents[0], "inputs").into_iter().map(|(name, _)| name).collect();
    let steps = documents[0].field("runs").and_then(|runs| runs.field("steps")).and_then(podreach::read::Tree::seq);
    let step = |tree: &podreach::read::Tree<'_>| {
        assert_eq!(tree.field("shell").and_then(podreach::read::Tree::str), Some("bash"));
        let script = tree.field("run").and_then(podreach::read::Tree::str).expect("a script").to_owned();
        Step { script, env: map(tree, "env") }
    };
    (inputs, steps.expect("steps").iter().map(step).collect())
}

/// A new folder with manifests, and the program in a folder of its own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pipeline-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("bin")).expect("a folder for tests");
    std::os::unix::fs::symlink(PROGRAM, folder.join("bin/podreach")).expect("a link");
    for file in ["broken-workloads.yaml", "healthy.yaml", "policy.yaml"] {
        let from = format!("{}/tests/data/audit/{file}", env!("CARGO_MANIFEST_DIR"));
        fs::copy(from, folder.join(file)).expect("test data");
    }
    folder
}

/// Runs a step with its environment given, as a runner would.
fn run(step: &Step, folder: &Path, given: &[(&str, &str)]) -> Output {
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &step.script]).current_dir(folder);
    command.env("PATH", path).env("RUNNER_TEMP", folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.env("GITHUB_PATH", folder.join("path")).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    for (name, _) in &step.env {
        let value = given.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value);
        command.env(name, value);
    }
    for (name, _) in given {
        assert!(step.env.iter().any(|(known, _)| known == name), "the step has no {name}");
    }
    command.output().expect("bash runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_input_of_the_action_is_used_and_every_one_used_is_an_input() {
    let (inputs, steps) = action();
    let used = steps.iter().flat_map(|step| &step.env).filter_map(|(_, value)| {
        let name = value.strip_prefix("${{ inputs.")?.strip_suffix(" }}")?;
        Some(name.to_owned())
    });
    assert_eq!(used.collect::<BTreeSet<_>>(), inputs);
    for Step { script, .. } in &steps {
        assert!(!script.contains("${{"), "an input within a script would be run as a part of it: {script}");
    }
}

#[test]
fn the_action_annotates_summarises_and_fails_as_asked() {
    let (_, steps) = action();
    let folder = folder("audit");
    let given = |paths, more: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> {
        [("INPUT_PATHS", paths), ("INPUT_FAIL_ON", "warning")].into_iter().chain(more.iter().copied()).collect()
    };
    let healthy = run(&steps[1], &folder, &given("healthy.yaml\n", &[]));
    assert_eq!(healthy.status.code(), Some(0), "{}", text(&healthy.stderr));
    assert!(fs::read_to_string(folder.join("summary.md")).expect("a summary").starts_with("# podreach audit"));
    let sarif = [("INPUT_SARIF", "out.sarif"), ("INPUT_POLICIES", "policy.yaml\n")];
    let broken = run(&steps[1], &folder, &given("broken-workloads.yaml", &sarif));
    assert_eq!(broken.status.code(), Some(1), "{}", text(&broken.stderr));
    let annotations = text(&broken.stdout);
    assert!(
        annotations.lines().all(|line| line.starts_with("::")) && annotations.contains("::error "),
        "{annotations}"
    );
    assert!(fs::read_to_string(folder.join("out.sarif")).expect("SARIF").contains("\"2.1.0\""));
    let summary = fs::read_to_string(folder.join("summary.md")).expect("a summary");
    assert_eq!(summary.matches("# podreach audit").count(), 2, "a summary is added to, not replaced: {summary}");
    let spared = run(&steps[1], &folder, &given("broken-workloads.yaml", &[("INPUT_ARGS", "--fail-on never")]));
    assert_eq!(spared.status.code(), Some(2), "an option that is given twice is refused: {}", text(&spared.stderr));
    let written = [("INPUT_ARGS", "--write-baseline known.json")];
    assert_eq!(run(&steps[1], &folder, &given("broken-workloads.yaml", &written)).status.code(), Some(0));
    let known = [("INPUT_BASELINE", "known.json")];
    assert_eq!(run(&steps[1], &folder, &given("broken-workloads.yaml", &known)).status.code(), Some(0));
    assert_eq!(run(&steps[1], &folder, &given("missing.yaml", &[])).status.code(), Some(2));
}

#[test]
fn the_action_takes_a_release_only_with_its_sum() {
    let (_, steps) = action();
    let folder = folder("install");
    let release = folder.join("owner/podreach/releases/download/v1");
    fs::create_dir_all(&release).expect("a folder for tests");
    let archive = release.join("podreach-v1-x86_64-unknown-linux-musl.tar.gz");
    let (program, home) = (Path::new(PROGRAM), Path::new(PROGRAM).parent().expect("a folder"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(home).arg(program.file_name().expect("a name"));
    assert!(tar.status().expect("tar runs").success());
    let sum = text(&Command::new("sha256sum").arg(&archive).output().expect("sha256sum runs").stdout);
    let sum = sum.split(' ').next().unwrap_or_default().to_owned();
    let server = format!("file://{}", folder.display());
    let given = |sum: &str| {
        run(
            &steps[0],
            &folder,
            &[("VERSION", "v1"), ("SHA256", sum), ("REPOSITORY", "owner/podreach"), ("SERVER", &server)],
        )
    };
    for wrong in ["", &sum.replace(['0', '1'], "2")] {
        let refused = given(wrong);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stdout).starts_with("::error title=podreach::"), "{}", text(&refused.stdout));
        assert!(!folder.join("path").exists(), "nothing is installed");
    }
    let installed = given(&sum);
    assert_eq!(installed.status.code(), Some(0), "{}", text(&installed.stderr));
    let bin = fs::read_to_string(folder.join("path")).expect("a path");
    let version = Command::new(Path::new(bin.trim()).join("podreach")).arg("--version").output().expect("it runs");
    assert!(text(&version.stdout).starts_with("podreach "), "{}", text(&version.stdout));
}

#[test]
fn the_hook_audits_what_its_arguments_name() {
    let mut sources = Sources::default();
    let hooks = fs::read(format!("{ROOT}/.pre-commit-hooks.yaml")).expect("the hooks");
    let id = sources.add(Source::from_bytes(".pre-commit-hooks.yaml", hooks).expect("text"));
    let (documents, _) = sources.documents(id);
    let hook = &documents[0].seq().expect("a list of hooks")[0];
    let field = |key: &str| hook.field(key).and_then(podreach::read::Tree::str).unwrap_or_default().to_owned();
    assert_eq!((field("id").as_str(), field("language").as_str()), ("podreach-audit", "system"));
    let folder = folder("hook");
    let (entry, path) = (field("entry"), format!("{}:/usr/bin:/bin", folder.join("bin").display()));
    let run = |args: &[&str]| {
        let mut words = entry.split(' ');
        let mut command = Command::new("env");
        command.args(words.by_ref()).args(args).current_dir(&folder);
        command.env("PATH", &path).env("XDG_CACHE_HOME", folder.join("cache")).output().expect("the hook runs")
    };
    assert_eq!(run(&["-f", "healthy.yaml"]).status.code(), Some(0));
    let broken = run(&["policy.yaml", "-f", "broken-workloads.yaml"]);
    assert_eq!(broken.status.code(), Some(1), "{}", text(&broken.stderr));
}
