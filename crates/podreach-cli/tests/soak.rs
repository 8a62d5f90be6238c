//! A soak of the real server: mixed requests, tabs that are closed, jobs that are left and cancelled, descriptors that run out. Memory
//! stays flat, no slot is lost, and every answer is that of `check`.
//!
//! `PODREACH_SOAK=10000 PODREACH_SOAK_NODES=5000 cargo test --release -p podreach-cli --test soak` is the whole of it; without them it is
//! a small one.
#![cfg(all(feature = "serve", target_os = "linux"))]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Numbers that look random and never change.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// Nodes in three zones, and workloads that avoid themselves, want others near, or are refused by a taint.
fn cluster(nodes: usize) -> PathBuf {
    let workloads = (nodes / 5).max(8);
    let node = |at: usize| {
        let labels =
            json!({"kubernetes.io/hostname": format!("n{at}"), "topology.kubernetes.io/zone": format!("z{}", at % 3)});
        let taints = if at.is_multiple_of(7) {
            json!([{"key": "only", "value": "few", "effect": "NoSchedule"}])
        } else {
            json!([])
        };
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{at}"), "labels": labels},
            "spec": {"taints": taints}, "status": {"allocatable": {"cpu": "32", "pods": "110"}}})
    };
    let spec = |app: usize| {
        let term = |app: usize, key: &str| json!([{"labelSelector": {"matchLabels": {"app": format!("a{app}")}}, "topologyKey": key}]);
        let affinity = match app % 4 {
            0 => {
                json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term(app, "kubernetes.io/hostname")}})
            }
            1 => {
                json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term(app - 1, "topology.kubernetes.io/zone")}})
            }
            _ => json!({}),
        };
        let tolerations = if app.is_multiple_of(3) { json!([{"operator": "Exists"}]) } else { json!([]) };
        json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": format!("{}m", 100 + app % 9)}}}],
            "affinity": affinity, "tolerations": tolerations})
    };
    let workload = |app: usize| {
        let labels = json!({"app": format!("a{app}")});
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": format!("a{app}"), "namespace": "d"},
            "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec(app)}}})
    };
    let items: Vec<Value> = (0..nodes).map(node).chain((0..workloads).map(workload)).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
        .expect("a writable folder");
    path
}

/// A running server.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// With few descriptors, so that they run out now and then.
    fn start(input: &Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -n 40; exec \"$0\" serve -q --memory 1Gi -f \"$1\"", env!("CARGO_BIN_EXE_podreach")])
            .arg(input)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("podreach serves http://127.0.0.1:").expect("an address on loopback");
        let (port, token) = address.split_once("/#").expect("a token");
        Self { child, port: port.parse().expect("a port"), token: token.to_owned() }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        stream
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let body = body.map(Value::to_string).unwrap_or_default();
        format!(
            "{method} /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\nAuthorization: Bearer {1}\r\n\
             Content-Type: application/json\r\nContent-Length: {2}\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        )
    }

    /// Asks until there is an answer: where nothing is to be had at the moment, later.
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let began = Instant::now();
        loop {
            let mut stream = self.connect();
            let _ = stream.write_all(self.request(method, path, body).as_bytes());
            let mut text = String::new();
            let _ = stream.read_to_string(&mut text);
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
            let status = head.split(' ').nth(1).unwrap_or_default();
            if ["200", "202", "400", "404"].contains(&status) {
                return serde_json::from_str(body).expect("JSON");
            }
            assert!(began.elapsed() < Duration::from_secs(120), "{method} {path} is not answered: {head}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn outcome(&self, mut job: Value) -> Value {
        while job["state"] == "running" {
            std::thread::sleep(Duration::from_millis(2));
            job = self.send("GET", &format!("jobs/{}", job["id"]), None);
        }
        job
    }

    /// Kibibytes of memory that it holds.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
        line.trim().strip_suffix("kB").and_then(|count| count.trim().parse().ok()).expect("a number")
    }
}

/// The verdicts of `check` about some questions.
fn checked(input: &Path, nodes: usize) -> BTreeMap<(String, String), String> {
    let workloads = (nodes / 5).max(8);
    let mut dice = Dice(5);
    let mut verdicts = BTreeMap::new();
    for at in 0..10 {
        // Every other question is about a node that keeps most out.
        let node = if at % 2 == 0 { 7 * dice.below(nodes / 7) } else { dice.below(nodes) };
        let (pod, node) = (format!("statefulset/d/a{}", dice.below(workloads.min(12))), format!("n{node}"));
        let output =
            Command::new(env!("CARGO_BIN_EXE_podreach")).args(["check", "-q", &pod, &node, "-f"]).arg(input).output();
        let verdict = match output.expect("it runs").status.code() {
            Some(0) => "deployable",
            Some(1) => "never",
            _ => "unknown",
        };
        verdicts.insert((pod, node), verdict.to_owned());
    }
    let kinds: std::collections::BTreeSet<&String> = verdicts.values().collect();
    assert!(kinds.len() > 1, "both verdicts occur: {verdicts:?}");
    verdicts
}

#[test]
fn memory_stays_flat_and_no_slot_is_lost() {
    let (requests, nodes) = (setting("PODREACH_SOAK", 400), setting("PODREACH_SOAK_NODES", 40));
    let input = cluster(nodes);
    let verdicts: Vec<((String, String), String)> = checked(&input, nodes).into_iter().collect();
    let server = Server::start(&input);
    let mut dice = Dice(1);
    let (mut early, mut answers, mut idle) = (0, 0, Vec::new());
    for number in 0..requests {
        if number == requests / 10 {
            early = server.resident();
        }
        let ((pod, node), verdict) = &verdicts[dice.below(verdicts.len())];
        let asked = json!({"pod": pod, "node": node});
        let edits = json!({"edits": [{"op": "cordon", "node": format!("n{}", dice.below(nodes.min(20)))}]});
        match dice.below(100) {
            // A tab that is closed before its answer is there.
            0..10 => drop(server.connect().write_all(server.request("POST", "ask", Some(&asked)).as_bytes())),
            // One that asks for nothing, and holds its place for a while.
            10..18 => idle.push(server.connect()),
            18..24 => idle.clear(),
            // A job that nobody waits for.
            24..30 => drop(server.send("POST", "matrix", Some(&edits))),
            30..38 => {
                let job = server.send("POST", "matrix", Some(&edits));
                server.send("DELETE", &format!("jobs/{}", job["id"]), None);
                assert_ne!(server.outcome(job)["state"], "failed");
            }
            38..42 => assert!(server.send("GET", "page", None)["cluster"].is_object()),
            42..46 => assert_eq!(server.outcome(server.send("POST", "flips", Some(&edits)))["state"], "done"),
            46..52 => {
                let file = ["question.yaml", "report.html"][dice.below(2)];
                let mut wanted = asked.clone();
                wanted["file"] = file.into();
                assert!(server.outcome(server.send("POST", "file", Some(&wanted)))["result"][file].is_string());
            }
            52..70 => assert!(server.send("POST", "why", Some(&asked))["nodes"].is_object()),
            _ => {
                let job = server.outcome(server.send("POST", "ask", Some(&asked)));
                assert_eq!(
                    job["result"]["answer"]["verdict"].as_str(),
                    Some(verdict.as_str()),
                    "{pod} on {node}: {job:.400}"
                );
                answers += 1;
            }
        }
    }
    assert!(answers > requests / 10, "{answers} answers were compared");
    idle.clear();
    let late = server.resident();
    assert!(late <= early + early / 5 + (16 << 10), "{early} KiB after a tenth of the requests, {late} KiB at the end");
    // Every slot is free again: as many jobs as there are slots start at once.
    let began = Instant::now();
    let label = |at: usize| json!({"edits": [{"op": "label", "node": "n1", "key": "soak", "value": format!("{at}")}]});
    let jobs: Vec<Value> = (0..4).map(|at| server.send("POST", "flips", Some(&label(at)))).collect();
    jobs.into_iter().for_each(|job| assert_eq!(server.outcome(job)["state"], "done"));
    assert!(began.elapsed() < Duration::from_secs(120));
}
