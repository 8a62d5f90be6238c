//! A soak of the real server: mixed requests, tabs that are closed, jobs that are left and cancelled, descriptors and threads that the
//! system refuses. Memory stays flat, no slot is lost, and every answer is that of `check`.
//!
//! `PODREACH_SOAK=10000 PODREACH_SOAK_NODES=5000 cargo test --release -p podreach-cli --test serve soak -- --nocapture` is the whole of
//! it, and prints how much memory is held on the way; without them it is a small one. With `PODREACH_BINARY` it is the server of another
//! build, so that the tests need not be built for release.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{self, Answer, Server};

/// The program: that of this build, or the one that `PODREACH_BINARY` names, such as a release build.
fn program() -> String {
    std::env::var("PODREACH_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_podreach").to_owned())
}

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

/// Limits on threads do not hold for root: what they are to hold for runs as nobody.
const AS_NOBODY: &str =
    "if [ \"$(id -u)\" = 0 ]; then nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'; fi; exec $nobody";

/// A server that is refused things now and then.
struct Soaked {
    server: Server,
    dice: Dice,
    /// How many threads its user may have otherwise.
    threads: String,
    /// How often there was no thread for a connection, and none for a job.
    refused: [usize; 2],
}

impl Soaked {
    /// The program and the input are opened before: nobody may not be allowed to.
    fn start(input: &Path) -> Self {
        let run = format!("{AS_NOBODY} /proc/self/fd/3 serve -q --memory 1Gi -f - 3<\"$0\" <\"$1\"");
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", &run, &program()]).arg(input).env_remove("MALLOC_ARENA_MAX");
        let server = Server::run(shell);
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.child.id())).expect("it runs");
        let threads = limits.lines().find_map(|line| line.strip_prefix("Max processes")).expect("a line");
        let threads = threads.split_whitespace().nth(1).expect("the hard limit").to_owned();
        let soaked = Self { server, dice: Dice(1), threads, refused: [0; 2] };
        soaked.allow_all();
        soaked
    }

    /// Sets what the system gives the server from now on.
    fn allow(&self, limits: &str) {
        let set = format!("{AS_NOBODY} prlimit --pid {} {limits}", self.server.child.id());
        assert!(Command::new("sh").args(["-c", &set]).status().is_ok_and(|status| status.success()), "{limits}");
    }

    fn allow_all(&self) {
        self.allow(&format!("--nofile=64: --nproc={}:", self.threads));
    }

    /// Sends a request once; every now and then something is refused that the server needs for it.
    fn send(&mut self, request: &str) -> Answer {
        let write = |mut stream: TcpStream| {
            let _ = stream.write_all(request.as_bytes());
            stream
        };
        match self.dice.below(60) {
            0 => {
                self.allow("--nofile=3:");
                let stream = write(self.server.connect());
                self.allow_all();
                server::answer(stream)
            }
            1 => {
                self.allow("--nproc=1:");
                let answer = server::answer(write(self.server.connect()));
                self.allow_all();
                self.refused[0] += usize::from(answer.status == 0);
                answer
            }
            _ => self.server.send(request.as_bytes()),
        }
    }

    /// Sends a request to a server that gets no more threads, on a connection that has its own: one that came later was answered.
    fn send_without_threads(&mut self, request: &str) -> Answer {
        let mut stream = self.server.connect();
        self.server.get("/api/jobs/0");
        self.allow("--nproc=1:");
        let _ = stream.write_all(request.as_bytes());
        let answer = server::answer(stream);
        self.allow_all();
        answer
    }

    /// Asks until there is an answer: where nothing is to be had at the moment, later.
    fn ask(&mut self, request: &str) -> Value {
        let began = Instant::now();
        loop {
            let answer = self.send(request);
            if [200, 202, 400, 404].contains(&answer.status) {
                return answer.json();
            }
            assert!(began.elapsed() < Duration::from_secs(300), "{request} is not answered: {}", answer.head);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let request = self.server.posted(path, body);
        self.ask(&request)
    }

    fn job(&mut self, method: &str, job: &Value) -> Value {
        let request = server::request(method, &format!("/api/jobs/{}", job["id"]), &self.server.own(), "");
        self.ask(&request)
    }

    /// What becomes of a job.
    fn outcome(&mut self, mut job: Value) -> Value {
        while job["state"] == "running" {
            std::thread::sleep(Duration::from_millis(2));
            job = self.job("GET", &job);
        }
        job
    }

    /// What a job comes to.
    fn done(&mut self, path: &str, body: &Value) -> Value {
        let started = self.post(path, body);
        let job = self.outcome(started);
        assert_eq!(job["state"], "done", "{path} {body}: {job:.400}");
        job["result"].clone()
    }

    /// Kibibytes of memory that it holds.
    fn resident(&self) -> u64 {
        super::figure(&self.server, "status", |text| {
            text.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse().ok())
        })
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
        let output = Command::new(program()).args(["check", "-q", &pod, &node, "-f"]).arg(input).output();
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
fn soaked_memory_stays_flat_and_no_slot_is_lost() {
    let (requests, nodes) = (setting("PODREACH_SOAK", 600), setting("PODREACH_SOAK_NODES", 40));
    let input = cluster(nodes);
    let verdicts: Vec<((String, String), String)> = checked(&input, nodes).into_iter().collect();
    let mut soaked = Soaked::start(&input);
    let (mut held, mut answers, mut idle) = (Vec::new(), 0, Vec::new());
    for number in 0..requests {
        if number % (requests / 20).max(1) == 0 {
            held.push(soaked.resident());
            println!("{number} requests: {} KiB", soaked.resident());
        }
        let ((pod, node), verdict) = &verdicts[soaked.dice.below(verdicts.len())];
        let asked = json!({"pod": pod, "node": node});
        let edits = json!({"edits": [{"op": "cordon", "node": format!("n{}", soaked.dice.below(nodes.min(20)))}]});
        match soaked.dice.below(100) {
            // A tab that is closed before its answer is there.
            0..10 => {
                let request = soaked.server.posted("/api/ask", &asked);
                let _ = soaked.server.connect().write_all(request.as_bytes());
            }
            // One that asks for nothing, and holds its place for a while.
            10..18 => idle.push(soaked.server.connect()),
            18..24 => idle.clear(),
            // A job that nobody waits for.
            24..26 => drop(soaked.post("/api/matrix", &edits)),
            // One that there is no thread for; nobody has asked for it before.
            26..28 => {
                let new = json!({"edits": [{"op": "label", "node": "n1", "key": "k", "value": format!("{number}")}]});
                let request = soaked.server.posted("/api/matrix", &new);
                let job = soaked.send_without_threads(&request);
                let failed = job.status == 202 && job.body.contains("there is no thread for this now");
                assert!(failed || job.status == 429, "{job:?}");
                soaked.refused[1] += usize::from(failed);
            }
            28..30 => {
                let job = soaked.post("/api/matrix", &edits);
                soaked.job("DELETE", &job);
            }
            30..38 => {
                let page = soaked.server.request("GET", "/api/page", &soaked.server.own(), "");
                assert!(page.status != 200 || page.json()["cluster"].is_object());
            }
            38..42 => assert!(soaked.done("/api/flips", &edits)["all"].is_u64()),
            42..50 => {
                let file = ["question.yaml", "report.html"][soaked.dice.below(2)];
                let mut wanted = asked.clone();
                wanted["file"] = file.into();
                assert!(soaked.done("/api/file", &wanted)[file].is_string());
            }
            50..65 => assert!(soaked.post("/api/why", &asked)["nodes"].is_object()),
            _ => {
                let result = soaked.done("/api/ask", &asked);
                assert_eq!(result["answer"]["verdict"].as_str(), Some(verdict.as_str()), "{pod} on {node}");
                answers += 1;
            }
        }
    }
    assert!(answers > requests / 5, "{answers} answers were compared");
    assert!(soaked.refused.iter().all(|&count| count > 0), "refused threads: {:?}", soaked.refused);
    // After the first tenth it holds no more in the second half than it did in the first.
    let (first, second) = held[2..].split_at((held.len() - 2) / 2);
    let [first, second] = [first, second].map(|held| held.iter().max().copied().unwrap_or_default());
    assert!(second <= first + first / 10 + (8 << 10), "{held:?} KiB");
    // Every slot is free again: as many jobs as there are slots start at once.
    idle.clear();
    let label = |at: usize| json!({"edits": [{"op": "label", "node": "n1", "key": "soak", "value": format!("{at}")}]});
    let jobs: Vec<Value> = (0..4).map(|at| soaked.post("/api/flips", &label(at))).collect();
    let states: Vec<Value> = jobs.into_iter().map(|job| soaked.outcome(job)["state"].clone()).collect();
    assert!(states.iter().all(|state| state == "done" || state == "failed"), "{states:?}");
}
