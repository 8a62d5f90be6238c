//! The server of `podreach serve` over plain sockets: whom it answers, whom it refuses, and that long questions can be ended.
#![cfg(feature = "serve")]

mod server;
#[cfg(target_os = "linux")]
mod soak;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use podreach::encode::graph::Graph;
use podreach::encode::pebbling::game;
use serde_json::{Value, json};
use server::{Answer, Server};

fn podreach() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

fn start(args: &[&str]) -> Server {
    Server::run(podreach().args(["serve", "-q"]).args(args))
}

/// What became of a job.
fn outcome(server: &Server, started: &Answer) -> Value {
    server.ended(started).json()
}

const DEMO: [&str; 2] = ["-f", "examples/demo.yaml"];

#[test]
fn the_page_needs_no_token_and_has_no_data() {
    let server = start(&DEMO);
    let page = server.request("GET", "/", &format!("Host: localhost:{}\r\n", server.port), "");
    assert_eq!(page.status, 200);
    assert!(page.body.starts_with("<!doctype html>") && !page.body.contains("edge-1"));
    for field in [
        "Content-Security-Policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'; frame-ancestors 'none'",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin",
    ] {
        assert!(page.head.contains(field), "{field}: {}", page.head);
    }
}

#[test]
fn only_its_own_page_is_answered() {
    let server = start(&DEMO);
    let (port, token) = (server.port, &server.token);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let get = |fields: &str| server.request("GET", "/api/page", fields, "").status;
    assert_eq!(get(&format!("{host}{bearer}")), 200);
    assert_eq!(get(&host), 401, "without the token");
    assert_eq!(get(&format!("{host}Authorization: Bearer {}\r\n", "0".repeat(token.len()))), 401, "with a wrong one");
    assert_eq!(get(&format!("{host}{bearer}{bearer}")), 401, "with two");
    for foreign in
        ["evil.example", "127.0.0.1", "localhost.evil.example", &format!("127.0.0.1:{}", port ^ 1), "[::1]", ""]
    {
        assert_eq!(get(&format!("Host: {foreign}\r\n{bearer}")), 421, "Host: {foreign}");
    }
    assert_eq!(get(&bearer), 421, "without a host");
    assert_eq!(get(&format!("{host}{host}{bearer}")), 421, "with two hosts");
    for foreign in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        &format!("https://127.0.0.1:{port}"),
        &format!("http://127.0.0.1:{port}.evil.example"),
    ] {
        assert_eq!(get(&format!("{host}{bearer}Origin: {foreign}\r\n")), 403, "Origin: {foreign}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(get(&format!("{host}{bearer}Sec-Fetch-Site: {site}\r\n")), 403, "{site}");
    }
    let without_origin =
        server.request("POST", "/api/cluster", &format!("{host}{bearer}Content-Type: application/json\r\n"), "{}");
    assert_eq!(without_origin.status, 403, "a post says where it comes from");
}

#[test]
fn what_is_no_request_is_refused() {
    let server = start(&DEMO);
    let own = server.own();
    let long = "x".repeat(20_000);
    let many: String = (0..80).map(|at| format!("X-{at}: y\r\n")).collect();
    let cases: Vec<(u16, String)> = vec![
        (400, "this is not HTTP\r\n\r\n".into()),
        (400, "\0\0\0\0\r\n\r\n".into()),
        (400, format!("GET / HTTP/1.1\r\n{own}Bad Header\r\n\r\n")),
        (431, format!("GET /{long} HTTP/1.1\r\n{own}\r\n")),
        (431, format!("GET / HTTP/1.1\r\n{own}{many}\r\n")),
        (413, format!("POST /api/ask HTTP/1.1\r\n{own}Content-Length: 99999999\r\n\r\n")),
        (400, format!("POST /api/ask HTTP/1.1\r\n{own}Content-Length: -1\r\n\r\n")),
        (400, format!("POST /api/ask HTTP/1.1\r\n{own}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}")),
        (400, format!("POST /api/ask HTTP/1.1\r\n{own}Content-Length: 99999999999999999999999\r\n\r\n")),
        (501, format!("POST /api/ask HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
        (404, format!("GET /../../etc/passwd HTTP/1.1\r\n{own}\r\n")),
        (404, format!("GET /api/jobs/999 HTTP/1.1\r\n{own}\r\n")),
        (404, format!("GET /api/jobs/x HTTP/1.1\r\n{own}\r\n")),
        (404, format!("POST /api/nothing HTTP/1.1\r\n{own}\r\n")),
        (405, format!("POST / HTTP/1.1\r\n{own}\r\n")),
        (405, format!("GET /api/ask HTTP/1.1\r\n{own}\r\n")),
        (405, format!("PUT /api/page HTTP/1.1\r\n{own}\r\n")),
        (400, format!("POST /api/ask HTTP/1.1\r\n{own}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}")),
    ];
    for (status, request) in cases {
        let answer = server.send(request.as_bytes());
        assert_eq!(answer.status, status, "{:.120}: {answer:?}", request);
    }
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"pod\": 1}",
        "{\"what\": 1}",
        "{\"edits\": [{\"op\": \"explode\"}]}",
        "{\"edits\": {}}",
        "{\"pod\": \"web\"}",
        "{\"pod\": \"<b>\", \"node\": \"edge-1\"}",
        "{\"pod\": \"web\", \"node\": \"nowhere\"}",
    ] {
        let fields = format!("{own}Content-Type: application/json\r\n");
        assert_eq!(server.request("POST", "/api/ask", &fields, body).status, 400, "{body}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(
        server.request("POST", "/api/ask", &format!("{own}Content-Type: application/json\r\n"), &deep).status,
        400
    );
    assert_eq!(server.request("GET", "/api/page", &own, "").status, 200, "and it still answers");
}

#[test]
fn who_dawdles_is_sent_away_and_holds_nobody_up() {
    let server = start(&DEMO);
    let started = Instant::now();
    let mut slow = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("a start");
    assert_eq!(server.get("/api/page").status, 200);
    slow.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut text = String::new();
    let _ = slow.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 408 ") && started.elapsed() >= Duration::from_secs(5), "{text}");
}

#[test]
fn it_listens_on_the_loopback_address_alone() {
    let server = start(&DEMO);
    let taken = TcpListener::bind(("127.0.0.1", server.port));
    assert!(taken.is_err(), "the loopback address is in use");
    // Another loopback address is another address: whoever listens on all of them would hold it, too.
    assert!(TcpListener::bind(("127.0.0.2", server.port)).is_ok() || cfg!(not(target_os = "linux")));
}

#[test]
fn questions_are_answered_with_evidence_and_changes_flip_verdicts() {
    let server = start(&DEMO);
    let asked = json!({"pod": "web", "node": "core-1"});
    let why = server.post("/api/why", &asked).json();
    assert_eq!(why["nodes"]["core-1"]["rules"]["TaintToleration"]["ok"], false);
    let job = outcome(&server, &server.post("/api/ask", &asked));
    assert_eq!((job["state"].as_str(), job["result"]["answer"]["verdict"].as_str()), (Some("done"), Some("never")));
    let edits = json!([{"op": "untaint", "node": "core-1", "key": "dedicated"}]);
    let job = outcome(&server, &server.post("/api/ask", &json!({"pod": "web", "node": "core-1", "edits": edits})));
    assert_eq!(job["result"]["answer"]["verdict"], "deployable");
    assert_eq!(
        job["result"]["answer"]["certificate"],
        Value::Null,
        "no input exists that it could be verified against"
    );
    let job = outcome(&server, &server.post("/api/flips", &json!({"edits": edits})));
    assert_eq!(job["result"]["all"], 2, "{job}");
    let refused = server.post("/api/cluster", &json!({"edits": [{"op": "untaint", "node": "edge-1", "key": "x"}]}));
    assert_eq!((refused.status, refused.json()["error"].as_str()), (400, Some("the node has no taint x")));
}

#[test]
fn files_are_made_when_they_are_asked_for() {
    let server = start(&DEMO);
    let asked = json!({"pod": "web", "node": "edge-1"});
    let job = outcome(&server, &server.post("/api/ask", &asked));
    assert_eq!(job["result"]["answer"]["verdict"], "deployable");
    let files = ["question.yaml", "policy.yaml", "run.mmd", "run.svg", "run.itf.json", "report.html"];
    assert_eq!(job["result"]["files"], json!(files));
    let text = |file: &str| {
        let made = outcome(&server, &server.post("/api/file", &json!({"pod": "web", "node": "edge-1", "file": file})));
        made["result"][file].as_str().map(str::to_owned)
    };
    let begins = ["apiVersion:", "apiVersion:", "sequenceDiagram", "<svg", "{\"#meta\"", "<!doctype html>"];
    for (file, begin) in files.iter().zip(begins) {
        assert!(text(file).is_some_and(|text| text.starts_with(begin)), "{file}: {:?}", text(file));
    }
    assert_eq!(text("run.exe"), None);
}

/// A puzzle that takes hours for each pair.
fn puzzle() -> String {
    let game = game(Graph::pyramid(10), "v10-0", 11).expect("the top exists");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-puzzle.json");
    std::fs::write(&path, game.encoded().json().to_string()).expect("a writable folder");
    path.to_string_lossy().into_owned()
}

#[test]
fn a_cancelled_job_says_what_it_knows_and_a_shared_one_goes_on() {
    let server = start(&["-f", &puzzle(), "--semantics", "paper", "--timeout", "10m"]);
    let (one, other) = (server.post("/api/matrix", &json!({})), server.post("/api/matrix", &json!({})));
    assert_eq!(one.json()["id"], other.json()["id"], "the same question is asked once");
    let path = format!("/api/jobs/{}", one.json()["id"]);
    let left = server.request("DELETE", &path, &server.own(), "");
    assert_eq!(left.json()["state"], "running", "someone else wants to know");
    let asked = Instant::now();
    server.request("DELETE", &path, &server.own(), "");
    let job = outcome(&server, &one);
    assert_eq!(
        (job["state"].as_str(), job["result"]["stopped"].as_str()),
        (Some("done"), Some("interrupted")),
        "{job}"
    );
    assert!(job["result"]["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "what is known is there");
    assert!(asked.elapsed() < Duration::from_secs(6), "{:?}", asked.elapsed());
}

#[test]
fn orphans_give_their_slots_back() {
    let server = start(&["-f", &puzzle(), "--semantics", "paper", "--timeout", "10m"]);
    let edits =
        |at: usize| json!({"edits": [{"op": "label", "node": node(&server), "key": "k", "value": format!("{at}")}]});
    let ids: BTreeSet<u64> =
        (0..4).map(|at| server.post("/api/matrix", &edits(at)).json()["id"].as_u64().expect("an id")).collect();
    assert_eq!(ids.len(), 4, "four jobs work");
    assert_eq!(server.post("/api/matrix", &edits(4)).status, 429, "a fifth waits");
    let began = Instant::now();
    while server.post("/api/matrix", &edits(4)).status == 429 {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody looks at the four, and they hold their slots");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The name of some node.
fn node(server: &Server) -> String {
    let page = server.get("/api/page").json();
    page["cluster"]["nodes"][0][0].as_str().expect("a node").to_owned()
}

/// Runs a server under a limit of the shell.
#[cfg(target_os = "linux")]
fn limited(limit: &str, args: &[&str]) -> Server {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit {limit}; exec \"$0\" serve -q \"$@\""), env!("CARGO_BIN_EXE_podreach")])
        .args(args)
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    Server::run(&mut shell)
}

/// A number of a process, from a file about it.
#[cfg(target_os = "linux")]
fn figure(server: &Server, file: &str, find: impl Fn(&str) -> Option<u64>) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", server.child.id())).expect("it runs");
    find(&text).expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn without_descriptors_it_waits_and_does_not_spin() {
    let server = limited("-n 16", &DEMO);
    let ticks = || {
        figure(&server, "stat", |text| {
            let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
            Some(fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?)
        })
    };
    let held: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(("127.0.0.1", server.port)).expect("a place in the queue")).collect();
    let before = ticks();
    std::thread::sleep(Duration::from_secs(2));
    let spent = ticks() - before;
    assert!(spent < 60, "{spent} hundredths of a second of two were spent on nothing");
    drop(held);
    let began = Instant::now();
    while server.get("/api/page").status != 200 {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not recover");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_threads_no_slot_is_lost() {
    let free = limited("-c 0", &DEMO);
    let kilobytes = figure(&free, "status", |text| {
        text.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix("kB")?.trim().parse().ok())
    });
    // Room for connections, and none for the stack of a job.
    let server = limited(&format!("-v {}", kilobytes + 40 * 1024), &DEMO);
    for round in 0..12 {
        let job = outcome(&server, &server.post("/api/ask", &json!({"pod": "web", "node": "edge-1"})));
        assert_eq!(job["state"], "failed", "round {round}: {job}");
        assert!(job["error"].as_str().is_some_and(|error| error.contains("no thread")), "{job}");
    }
}

/// A stand-in for the desktop's opener, which writes down what it is called with.
#[cfg(unix)]
#[test]
fn the_token_is_on_no_command_line() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("open-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (opener, record) =
        (folder.join(if cfg!(target_os = "macos") { "open" } else { "xdg-open" }), folder.join("called"));
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.new && mv {0}.new {0}\n", record.display());
    fs::write(&opener, script).expect("it can be written");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let server = Server::run(
        podreach()
            .args(["serve", "-q", "--open", "-f", "examples/two-witnesses.yaml"])
            .env("PATH", path)
            .env("XDG_RUNTIME_DIR", &folder),
    );
    let port = server.port;
    let until = Instant::now() + Duration::from_secs(60);
    let called = loop {
        match fs::read_to_string(&record) {
            Ok(called) => break called,
            Err(_) => assert!(Instant::now() < until, "nothing was opened"),
        }
        std::thread::yield_now();
    };
    assert!(!called.contains(&server.token), "{called}");
    let file = std::path::Path::new(called.trim());
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(file), mode(file.parent().expect("a folder"))), (0o600, 0o700));
    let address = format!("http://127.0.0.1:{port}/#{}", server.token);
    assert!(fs::read_to_string(file).expect("it is ours").contains(&address));
    let visit = |site: &str, mode: &str, path: &str| {
        let fields = format!(
            "Host: 127.0.0.1:{port}\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: document\r\n"
        );
        server.request("GET", path, &fields, "").status
    };
    assert_eq!(visit("cross-site", "navigate", "/"), 200, "the file leads to the page");
    assert_eq!((visit("cross-site", "no-cors", "/"), visit("cross-site", "navigate", "/api/page")), (403, 403));
    assert!(file.exists(), "nobody has shown the token yet");
    assert_eq!(server.get("/api/page").status, 200);
    assert!(
        !file.exists() && !file.parent().is_some_and(std::path::Path::exists),
        "the way in is gone once it was used"
    );
    let _ = fs::remove_dir_all(&folder);
}
