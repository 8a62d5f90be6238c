//! One budget for every command: time, memory and Ctrl-C end it within a second and ten per cent, with what is known and exit status 3.
//!
//! Inputs are made here: a puzzle whose search takes hours, and a cluster that takes a while to read. `PODREACH_LIMITS=5000` makes the
//! cluster as large as that many nodes, with 30 pods on each, and counts the seconds strictly; `PODREACH_BINARY` names another build to try.
#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use podreach::encode::graph::Graph;
use podreach::encode::pebbling::game;
use serde_json::{Value, json};

/// What the machine that runs the tests may take besides: it may be busy with others.
const BUSY: Duration = Duration::from_secs(4);

fn strict() -> Option<usize> {
    std::env::var("PODREACH_LIMITS").ok().and_then(|nodes| nodes.parse().ok())
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a writable folder");
    path
}

/// A pyramid of pebbles with one too few: small to read, and hours to decide.
static PUZZLE: LazyLock<PathBuf> = LazyLock::new(|| {
    let game = game(Graph::pyramid(10), "v10-0", 11).expect("the top exists");
    file("limits-puzzle.json", &game.encoded().json().to_string())
});

/// The same graph, to look for the smallest number of pebbles.
static GRAPH: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut text = String::new();
    for row in 0..12 {
        for at in 0..=row {
            text += &format!("a{}x{at} a{row}x{at}\na{}x{} a{row}x{at}\n", row + 1, row + 1, at + 1);
        }
    }
    file("limits-graph.txt", &text)
});

/// A cluster that takes a while to read, with a workload for every other node and anti-affinity in each.
static CLUSTER: LazyLock<PathBuf> = LazyLock::new(|| {
    let nodes = strict().unwrap_or(4_000);
    file("limits-cluster.json", &cluster(nodes).to_string())
});

fn cluster(nodes: usize) -> Value {
    let workloads = nodes / 2;
    let spec = |app: usize| {
        let own = json!({"labelSelector": {"matchLabels": {"app": format!("a{app}")}}, "topologyKey": "kubernetes.io/hostname"});
        json!({
            "containers": [{"name": "c", "resources": {"requests": {"cpu": format!("{}m", 50 + app % 40)}}}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [own]}},
        })
    };
    let node = |at: usize| {
        let labels = json!({"kubernetes.io/hostname": format!("n{at}"), "rack": format!("r{at}")});
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{at}"), "labels": labels},
            "status": {"allocatable": {"cpu": "64", "pods": "250"}}})
    };
    let workload = |app: usize| {
        let labels = json!({"app": format!("a{app}")});
        let template = json!({"metadata": {"labels": labels}, "spec": spec(app)});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": format!("a{app}"), "namespace": "d"},
            "spec": {"replicas": 60, "selector": {"matchLabels": labels}, "template": template}})
    };
    let pod = |at: usize| {
        let app = at % workloads;
        let mut spec = spec(app);
        spec["nodeName"] = format!("n{}", at % nodes).into();
        json!({"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Running"},
            "metadata": {"name": format!("p{at}"), "namespace": "d", "labels": {"app": format!("a{app}")}}})
    };
    let items: Vec<Value> =
        (0..nodes).map(node).chain((0..workloads).map(workload)).chain((0..30 * nodes).map(pod)).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn podreach(args: &[&str]) -> Command {
    let program = std::env::var("PODREACH_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_podreach").to_owned());
    let mut command = Command::new(program);
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("KUBECONFIG");
    command
}

/// How a command is stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Time(Duration),
    Interrupt,
    Memory(usize),
}

/// What a command came to, and how long after its limit.
struct Ended {
    output: Output,
    late: Duration,
}

/// Whether a process catches Ctrl-C by now.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

fn run(args: &[&str], limit: Limit) -> Ended {
    let mut command = podreach(args);
    match limit {
        Limit::Time(time) => command.args(["--timeout", &format!("{}ms", time.as_millis())]),
        Limit::Memory(mebibytes) => command.args(["--timeout", "10m", "--memory", &format!("{mebibytes}Mi")]),
        Limit::Interrupt => command.args(["--timeout", "10m"]),
    };
    let mut child = command.spawn().expect("it runs");
    let mut due = Instant::now();
    match limit {
        Limit::Time(time) => due += time + time / 10,
        Limit::Memory(_) => due += Duration::from_secs(600),
        Limit::Interrupt => {
            while !listens(&child) {
                assert!(child.try_wait().expect("a status").is_none(), "it ended before it could be stopped");
                std::thread::yield_now();
            }
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(sent.is_ok_and(|status| status.success()));
            due = Instant::now();
        }
    }
    let output = child.wait_with_output().expect("it ends");
    Ended { output, late: Instant::now().saturating_duration_since(due) }
}

/// Runs a command into a limit: it ends in time, and with the exit status of what is not known. Returns what it wrote.
fn stopped(args: &[&str], limit: Limit) -> String {
    let Ended { output, late } = run(args, limit);
    ended(args, limit, &output, late)
}

fn ended(args: &[&str], limit: Limit, output: &Output, late: Duration) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{args:?} {limit:?}: {text:.600}");
    in_time(args, limit, late);
    text
}

fn in_time(args: &[&str], limit: Limit, late: Duration) {
    let most = Duration::from_secs(1) + if strict().is_some() { Duration::ZERO } else { BUSY };
    assert!(late <= most, "{args:?} {limit:?}: {late:?} too late");
}

/// The same for a command that may be done before anything is cut short, as on a fast machine; then there is nothing to return.
fn stopped_unless_done(args: &[&str], limit: Limit) -> Option<String> {
    let Ended { output, late } = run(args, limit);
    let is_done = output.status.code() != Some(3) && late < GRACE && !matches!(limit, Limit::Memory(_));
    if is_done { None } else { Some(ended(args, limit, &output, late)) }
}

/// How long after its limit a command is cut short.
const GRACE: Duration = Duration::from_millis(400);

const SOON: Limit = Limit::Time(Duration::from_millis(400));

#[test]
fn what_is_known_of_a_long_search_is_shown() {
    let puzzle = PUZZLE.to_str().expect("a path");
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits-page.html");
    let page = page.to_str().expect("a path");
    for limit in [SOON, Limit::Interrupt, Limit::Memory(2)] {
        let why = match limit {
            Limit::Time(_) => "time ran out",
            Limit::Interrupt => "interrupted",
            Limit::Memory(_) => "memory ran out",
        };
        let checked = stopped(&["check", "-f", puzzle], limit);
        assert!(checked.contains("UNKNOWN") && checked.contains(why), "{limit:?}: {checked}");
        let checked = stopped(&["check", "-f", puzzle, "-o", "json"], limit);
        assert!(checked.contains(r#""verdict": "unknown""#) && checked.contains(why), "{limit:?}: {checked}");
        let searched = stopped(&["encode", "pebbling", GRAPH.to_str().expect("a path"), "--target", "a0x0"], limit);
        assert!(searched.contains("E0525"), "{limit:?}: {searched}");
        let _ = std::fs::remove_file(page);
        stopped(&["report", "check", "-f", puzzle, "-o", page], limit);
        let written = std::fs::read_to_string(page).expect("what is known is saved");
        assert!(written.contains(r#""verdict":"unknown""#) && written.contains(why), "{limit:?}");
    }
}

#[test]
fn a_matrix_and_an_audit_are_shown_as_far_as_they_came() {
    let puzzle = PUZZLE.to_str().expect("a path");
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits-matrix.html");
    let page = page.to_str().expect("a path");
    for (limit, why) in [(Limit::Time(Duration::from_secs(2)), "time ran out"), (Limit::Interrupt, "interrupted")] {
        let text = stopped(&["matrix", "--semantics", "paper", "-f", puzzle], limit);
        assert!(
            text.contains(&format!("Partial: {why} before every pair was looked at.")) && text.contains("unknown"),
            "{text:.600}"
        );
        let document = stopped(&["matrix", "--semantics", "paper", "-q", "-f", puzzle, "-o", "json"], limit);
        let document: Value = serde_json::from_str(&document).expect("JSON");
        assert_eq!(document["stopped"], why);
        assert!(document["rows"].as_array().is_some_and(|rows| rows.len() > 50), "every pod type has its row");
        let _ = std::fs::remove_file(page);
        stopped(&["report", "matrix", "--semantics", "paper", "-f", puzzle, "-o", page], limit);
        let written = std::fs::read_to_string(page).expect("what is known is saved");
        assert!(written.contains(&format!(r#""stopped":"{why}""#)) && written.contains("leftOut"), "{limit:?}");
        let audited = run(&["audit", "--semantics", "paper", "--no-cache", "-f", puzzle, "-o", "json"], limit);
        let document: Value = serde_json::from_slice(&audited.output.stdout).expect("JSON");
        let codes: Vec<&Value> =
            document["items"].as_array().expect("items").iter().map(|item| &item["finding"]).collect();
        assert!(codes.iter().any(|code| **code == "F0100"), "it says that it is not all: {codes:?}");
        assert!(matches!(audited.output.status.code(), Some(1 | 3)), "what is wrong is wrong, and the rest undecided");
        let _ = std::fs::remove_file(page);
        let args = ["report", "audit", "--semantics", "paper", "--no-cache", "-f", puzzle, "-o", page];
        let shown = run(&args, limit);
        let written = std::fs::read_to_string(page).expect("what is known is saved");
        assert!(written.contains("F0100") && written.contains(why), "{limit:?}");
        assert!(matches!(shown.output.status.code(), Some(1 | 3)), "{limit:?}");
    }
}

#[test]
fn commands_that_read_much_end_while_they_read() {
    let input = CLUSTER.to_str().expect("a path");
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits-none");
    let page = page.to_str().expect("a path");
    let _ = std::fs::remove_file(page);
    let certificate = file(
        "limits-certificate.json",
        r#"{"apiVersion": "podreach.dev/v1alpha1", "kind": "Verdict", "verdict": "deployable", "checked": true,
            "question": {"semantics": "kube-scheduler", "start": "current", "goal": [{"pod": "deployment/d/a1", "node": "n1", "count": 1}]},
            "trace": [{"op": "deploy", "pod": "deployment/d/a1", "node": "n1"}]}"#,
    );
    let questions = questions(page);
    let others: [&[&str]; 5] = [
        &["verify", certificate.to_str().expect("a path")],
        &["encode", "--to", "pnml", "--goal", "deployment/d/a1@n1"],
        &["snapshot", "-o", page],
        &["snapshot", "--pseudonymise", "-o", page],
        &["lower"],
    ];
    let commands: Vec<&[&str]> = questions.iter().map(Vec::as_slice).chain(others).collect();
    let mut cut_short = 0;
    for &command in &commands {
        let command = [command, &["-f", input]].concat();
        for limit in [Limit::Time(Duration::from_millis(1)), Limit::Interrupt, Limit::Memory(1)] {
            let Some(text) = stopped_unless_done(&command, limit) else {
                let _ = std::fs::remove_file(page);
                continue;
            };
            cut_short += 1;
            let why = match limit {
                Limit::Time(_) => "time ran out",
                Limit::Interrupt => "interrupted",
                Limit::Memory(_) => "memory ran out",
            };
            assert!(text.contains(why), "{command:?} {limit:?}: {text:.400}");
        }
        assert!(!Path::new(page).exists(), "{command:?} wrote half a file");
    }
    assert!(cut_short > commands.len(), "{cut_short} runs were cut short");
}

/// Commands that answer a question about the cluster, in a terminal and as a page.
fn questions(page: &str) -> [Vec<&str>; 7] {
    let page = ["-o", page];
    [
        vec!["check", "deployment/d/a1", "n1"],
        vec!["why", "deployment/d/a1"],
        vec!["matrix"],
        vec!["audit", "--no-cache"],
        [&["report", "check", "deployment/d/a1", "n1"], &page[..]].concat(),
        [&["report", "matrix"], &page[..]].concat(),
        [&["report", "audit", "--no-cache"], &page[..]].concat(),
    ]
}

/// Limits hold whatever a command is at: while it lowers, works out tables, searches, and writes.
#[test]
fn limits_hold_later_as_well() {
    let input = CLUSTER.to_str().expect("a path");
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits-later.html");
    let page = page.to_str().expect("a path");
    let times = if strict().is_some() { &[1_000, 2_000, 4_000, 8_000][..] } else { &[500] };
    for command in questions(page) {
        let command = [&command[..], &["-f", input]].concat();
        for limit in times.iter().map(|&time| Limit::Time(Duration::from_millis(time))) {
            let _ = std::fs::remove_file(page);
            let Ended { output, late } = run(&command, limit);
            in_time(&command, limit, late);
            let said = [&output.stdout[..], &output.stderr, &std::fs::read(page).unwrap_or_default()].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{command:?} {limit:?}: {said:.400}");
            let cut_short = output.status.code() == Some(3);
            assert!(!cut_short || said.contains("time ran out"), "{command:?} {limit:?}: {said:.400}");
            println!("{command:?} {limit:?}: exit {:?}, {late:?} after the limit and a tenth", output.status.code());
        }
    }
}

/// A cluster that takes a connection and says nothing.
#[cfg(feature = "live")]
#[test]
fn a_cluster_that_says_nothing_holds_nobody_up() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", silent.local_addr().expect("an address"));
    let verdict = file(
        "limits-verdict.json",
        r#"{"apiVersion": "podreach.dev/v1alpha1", "kind": "Verdict", "verdict": "deployable",
        "question": {"semantics": "kube-scheduler", "start": "current", "goal": [{"pod": "pod/default/a", "node": "n1", "count": 1}]},
        "trace": [{"op": "deploy", "pod": "pod/default/a", "node": "n1"}]}"#,
    );
    for command in [&["check", "a", "n1"][..], &["snapshot", "-o", "-"], &["replay", verdict.to_str().expect("a path")]]
    {
        for limit in [SOON, Limit::Interrupt] {
            let text = stopped(&[command, &["--server", &address]].concat(), limit);
            assert!(text.contains("stopped: "), "{command:?}: {text}");
        }
    }
}
