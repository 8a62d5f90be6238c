//! Live input against a small API server of our own, which answers as it is told, also badly.
#![cfg(feature = "live")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What a server says to a request: a status and a document, or nothing at all.
type Answer = Option<(u16, Value)>;

/// A server on loopback, and everything it was asked.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A request: its method, path and headers.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
}

impl Server {
    /// Starts one that answers by this function, and with empty lists where it says `Some((0, _))`.
    fn start(answer: impl Fn(&Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                serve(&stream, &answer, &seen);
            }
        });
        Self { address, asked }
    }

    fn paths(&self) -> Vec<String> {
        self.asked.lock().expect("a lock").iter().map(|asked| asked.path.clone()).collect()
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).args(["--server", &self.address]).output().expect("the program runs").into()
    }

    /// The program without any configuration of whoever runs the tests.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
        command.args(args).env("HOME", env!("CARGO_TARGET_TMPDIR")).env_remove("KUBECONFIG");
        command
    }
}

fn serve(stream: &TcpStream, answer: &impl Fn(&Asked) -> Answer, seen: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let Some(first) = lines.first() else { return };
    let mut words = first.split(' ').map(str::to_owned);
    let header = |line: &String| line.split_once(": ").map(|(key, value)| (key.to_lowercase(), value.to_owned()));
    let asked = Asked {
        method: words.next().unwrap_or_default(),
        path: words.next().unwrap_or_default(),
        headers: lines.iter().skip(1).filter_map(header).collect(),
    };
    let length = asked.headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    seen.lock().expect("a lock").push(asked.clone());
    let Some((status, document)) = answer(&asked) else { return };
    let (status, document) = if status == 0 { (200, usual(&asked)) } else { (status, document) };
    let text = document.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
}

/// What an empty cluster says.
fn usual(asked: &Asked) -> Value {
    let group =
        |name: &str| json!({"name": name, "versions": [{"groupVersion": format!("{name}/v1"), "version": "v1"}]});
    match asked.path.as_str() {
        "/version" => json!({"gitVersion": "v1.36.3"}),
        "/apis" => json!({"groups": [group("apps"), group("batch"), group("storage.k8s.io"), group("example.com")]}),
        _ => json!({"kind": "List", "metadata": {}, "items": []}),
    }
}

const USUAL: Answer = Some((0, Value::Null));

fn refused(status: u16, message: &str) -> Answer {
    Some((
        status,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": status}),
    ))
}

fn list(items: &[Value], token: &str) -> Answer {
    Some((200, json!({"kind": "List", "metadata": {"continue": token}, "items": items})))
}

#[derive(Debug)]
struct Ran {
    exit: i32,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { exit: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

fn node(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}})
}

fn pod(name: &str, friend: Option<&str>) -> Value {
    let mut pod = json!({"metadata": {"name": name, "namespace": "shop", "labels": {"app": name}, "managedFields": ["x"]},
        "spec": {"containers": [{"name": "c", "image": "secret", "env": [{"name": "A", "value": "secret"}]}]}});
    if let Some(friend) = friend {
        let term =
            json!([{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": friend}}}]);
        pod["spec"]["affinity"] = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}});
    }
    pod
}

/// A cluster with two nodes and three pods on two pages.
fn shop(asked: &Asked) -> Answer {
    let path = asked.path.as_str();
    match path {
        _ if path.starts_with("/api/v1/nodes?") => list(&[node("n1"), node("n2")], ""),
        _ if path.starts_with("/api/v1/pods?") && path.contains("continue=more%2Fthere%3D") => {
            list(&[pod("web", Some("cache"))], "")
        }
        _ if path.starts_with("/api/v1/pods?") => {
            list(&[pod("cache", None), pod("lonely", Some("nobody"))], "more/there=")
        }
        _ => USUAL,
    }
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_cluster_is_read_in_pages_and_only_by_listing() {
    let server = Server::start(shop);
    let ran = server.run(&["check", "web", "n2", "--chunk-size", "2"]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(ran.out.contains("deploy pod/shop/cache"), "{ran:?}");
    assert_eq!(server.run(&["check", "-n", "shop", "lonely", "n1"]).exit, 1);
    let asked = server.asked.lock().expect("a lock").clone();
    assert!(asked.iter().all(|asked| asked.method == "GET"), "{asked:?}");
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert!(paths.iter().all(|path| !path.contains("secrets") && !path.contains("configmaps")), "{paths:?}");
    assert!(paths.contains(&"/api/v1/pods?limit=2&continue=more%2Fthere%3D"), "{paths:?}");
    assert!(paths.iter().all(|path| !path.contains("resource.k8s.io")), "a group that is not there is not asked for");
}

/// A cluster with custom resources of one kind, of which there is the one given.
fn custom(group: &'static str, kind: &'static str, item: Option<Value>) -> Server {
    Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/apis" => {
            let version = format!("{group}/v1");
            Some((200, json!({"groups": [{"name": group, "versions": [{"groupVersion": version, "version": "v1"}]}]})))
        }
        path if path == format!("/apis/{group}/v1") => {
            let resources = json!([{"name": "things", "kind": kind, "verbs": ["get", "list"]},
                {"name": "things/status", "kind": kind, "verbs": ["get"]}]);
            Some((200, json!({"kind": "APIResourceList", "resources": resources})))
        }
        path if path.starts_with(&format!("/apis/{group}/v1/things?")) => match &item {
            Some(item) => list(std::slice::from_ref(item), ""),
            None => refused(403, "not for you"),
        },
        _ => shop(asked),
    })
}

#[test]
fn custom_resources_mean_what_they_mean_in_a_file() {
    let thing = || Some(json!({"metadata": {"name": "t"}, "status": {}}));
    let cases = [
        ("example.com", "Fleet", thing(), 3, "S0401"),
        ("example.com", "Fleet", None, 3, "S0401"),
        ("kafka.strimzi.io", "Kafka", thing(), 3, "S0401"),
        ("kafka.strimzi.io", "KafkaTopic", thing(), 1, ""),
        ("cert-manager.io", "Issuer", thing(), 1, ""),
        ("cert-manager.io", "Issuer", Some(json!({"spec": {"acme": {}}})), 3, "S0401"),
        ("argoproj.io", "Application", thing(), 1, "W0312"),
    ];
    for (at, (group, kind, item, exit, code)) in cases.into_iter().enumerate() {
        let server = custom(group, kind, item);
        let ran = server.run(&["check", "-n", "shop", "lonely", "n1"]);
        assert_eq!((ran.exit, ran.err.contains(code)), (exit, true), "{group} {kind}: {ran:?}");
        assert!(code == "S0401" || !ran.err.contains("S0401"), "{ran:?}");
        let closed = server.run(&["check", "-n", "shop", "lonely", "n1", "--complete", "pods"]);
        assert_eq!(closed.exit, 1, "{closed:?}");
        let file = scratch(&format!("custom-{at}.json"));
        assert_eq!(server.run(&["snapshot", "-o", &file.to_string_lossy()]).exit, 0);
        let mut again = server.command(&["check", "-n", "shop", "lonely", "n1", "-f"]);
        let again: Ran = again.arg(&file).output().expect("it runs").into();
        assert_eq!(again.exit, exit, "{again:?}");
    }
    let none = Server::start(shop);
    assert_eq!(none.run(&["check", "-n", "shop", "lonely", "n1"]).exit, 1, "a kind without objects does nothing");
}

/// A cluster with Karpenter's pools, or one that does not let them be listed.
fn with_pools(allowed: bool) -> Server {
    Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/apis" => {
            let version = json!({"groupVersion": "karpenter.sh/v1", "version": "v1"});
            Some((200, json!({"groups": [{"name": "karpenter.sh", "versions": [version]}]})))
        }
        "/apis/karpenter.sh/v1" => {
            let resources = json!([{"name": "nodepools", "kind": "NodePool", "verbs": ["get", "list"]}]);
            Some((200, json!({"kind": "APIResourceList", "resources": resources})))
        }
        path if path.starts_with("/apis/karpenter.sh/v1/nodepools") && !allowed => refused(403, "not for you"),
        path if path.starts_with("/apis/karpenter.sh/v1/nodepools") => {
            let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "secret"});
            let taints = json!([{"key": "t", "effect": "NoSchedule"}]);
            let spec = json!({"requirements": [], "nodeClassRef": class, "taints": taints});
            list(&[json!({"metadata": {"name": "general"}, "spec": {"template": {"spec": spec}}})], "")
        }
        _ => shop(asked),
    })
}

#[test]
fn pools_are_listed_where_they_are_served_and_snapshots_carry_them() {
    let question = ["check", "-n", "shop", "cache", "-l", "karpenter.sh/nodepool=general"];
    let server = with_pools(true);
    let ran = server.run(&question);
    assert_eq!(ran.exit, 1, "{ran:?}");
    assert!(ran.out.contains("nodepool/general/1.1") && !ran.err.contains("W0313"), "{ran:?}");
    let file = scratch("live-pools.json");
    assert_eq!(server.run(&["snapshot", "-q", "-o", &file.to_string_lossy()]).exit, 0);
    let again: Ran = server.command(&question).arg("-f").arg(&file).output().expect("it runs").into();
    assert_eq!((again.exit, &again.out), (1, &ran.out), "{again:?}");
    let refused = with_pools(false);
    assert_eq!(refused.run(&question).exit, 2, "no such node is known");
    let ran = refused.run(&["check", "-n", "shop", "lonely", "n1"]);
    assert!(ran.exit == 1 && ran.err.contains("nodepools.karpenter.sh may not be listed"), "{ran:?}");
}

/// A cluster that is managed by Cluster API, itself or another one, with a MachineDeployment and how its nodes register.
fn with_machines(cluster: &'static str) -> Server {
    let group = |group: &str| {
        let version = json!({"groupVersion": format!("{group}/v1beta2"), "version": "v1beta2"});
        json!({"name": group, "versions": [version]})
    };
    let resource = |name: &str, kind: &str| {
        let resources = json!([{"name": name, "kind": kind, "namespaced": true, "verbs": ["get", "list"]}]);
        Some((200, json!({"kind": "APIResourceList", "resources": resources})))
    };
    Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/apis" => Some((200, json!({"groups": [group("cluster.x-k8s.io"), group("bootstrap.cluster.x-k8s.io")]}))),
        "/apis/cluster.x-k8s.io/v1beta2" => resource("machinedeployments", "MachineDeployment"),
        "/apis/bootstrap.cluster.x-k8s.io/v1beta2" => resource("kubeadmconfigtemplates", "KubeadmConfigTemplate"),
        path if path.starts_with("/apis/cluster.x-k8s.io/v1beta2/machinedeployments") => {
            let template =
                json!({"spec": {"bootstrap": {"configRef": {"kind": "KubeadmConfigTemplate", "name": "batch"}}}});
            let spec = json!({"clusterName": cluster, "replicas": 2, "template": template});
            list(&[json!({"metadata": {"name": "batch", "namespace": "shop"}, "spec": spec})], "")
        }
        path if path.starts_with("/apis/bootstrap.cluster.x-k8s.io/v1beta2/kubeadmconfigtemplates") => {
            let taints = json!([{"key": "t", "effect": "NoSchedule"}]);
            let labels = json!([{"name": "node-labels", "value": "tier=batch"}, {"name": "token", "value": "hunter2"}]);
            let join = json!({"nodeRegistration": {"taints": taints, "kubeletExtraArgs": labels}});
            let spec = json!({"joinConfiguration": join, "files": [{"content": "hunter2"}]});
            list(
                &[json!({"metadata": {"name": "batch", "namespace": "shop"}, "spec": {"template": {"spec": spec}}})],
                "",
            )
        }
        path if path.starts_with("/api/v1/nodes?") => {
            let mut own = node("n1");
            own["metadata"]["annotations"] =
                json!({"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/cluster-namespace": "shop"});
            list(&[own, node("n2")], "")
        }
        _ => shop(asked),
    })
}

#[test]
fn machines_are_listed_and_snapshots_hold_only_how_their_nodes_register() {
    let question = ["check", "-n", "shop", "cache", "-l", "tier=batch"];
    let server = with_machines("prod");
    let ran = server.run(&question);
    assert_eq!(ran.exit, 1, "{ran:?}");
    assert!(ran.out.contains("machinedeployment/shop/batch/1.1") && !ran.err.contains("W0313"), "{ran:?}");
    let file = scratch("live-machines.json");
    assert_eq!(server.run(&["snapshot", "-q", "-o", &file.to_string_lossy()]).exit, 0);
    let text = std::fs::read_to_string(&file).expect("a snapshot");
    assert!(text.contains("tier=batch") && !text.contains("hunter2") && !text.contains("token"), "{text}");
    let again: Ran = server.command(&question).arg("-f").arg(&file).output().expect("it runs").into();
    assert_eq!((again.exit, &again.out), (1, &ran.out), "{again:?}");
    let other = with_machines("test").run(&question);
    assert!(other.exit == 2 && other.err.contains("W0313"), "pools of another cluster: {other:?}");
}

#[test]
fn a_snapshot_says_the_same_and_holds_no_secrets() {
    let server = Server::start(shop);
    let file = scratch("live-snapshot.json");
    let ran = server.run(&["snapshot", "-o", &file.to_string_lossy()]);
    assert_eq!((ran.exit, ran.out.as_str()), (0, ""), "{ran:?}");
    let text = std::fs::read_to_string(&file).expect("a snapshot");
    assert!(!text.contains("secret") && !text.contains("managedFields"), "{text}");
    let live = server.run(&["matrix", "-o", "json", "-q"]);
    let again: Ran = server.command(&["matrix", "-o", "json", "-q", "-f"]).arg(&file).output().expect("it runs").into();
    assert_eq!((live.exit, live.out), (again.exit, again.out));
}

#[test]
fn a_right_that_is_missing_spoils_only_what_it_can_change() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        path if path.starts_with("/apis/batch/v1/jobs") => refused(403, "no jobs for you"),
        path if path.starts_with("/apis/batch/v1/namespaces/default/jobs") => refused(403, "none here either"),
        _ => shop(asked),
    });
    let exits = |pod: &str| server.run(&["check", pod, "n1"]).exit;
    assert_eq!(["web", "lonely"].map(exits), [0, 3], "an unseen job may keep the lonely company");
    let ran = server.run(&["check", "lonely", "n1"]);
    assert!(ran.err.contains("S0452") && ran.err.contains("jobs.batch may not be listed"), "{ran:?}");
    // A snapshot keeps what was not seen.
    let file = scratch("live-unseen.json");
    assert_eq!(server.run(&["snapshot", "-q", "-o", &file.to_string_lossy()]).exit, 0);
    let again: Ran = server.command(&["check", "lonely", "n1", "-f"]).arg(&file).output().expect("it runs").into();
    assert_eq!((again.exit, again.err.contains("jobs.batch may not be listed")), (3, true), "{again:?}");
}

#[test]
fn rights_in_one_namespace_are_used() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        path if path.starts_with("/api/v1/pods?") => refused(403, "not all"),
        path if path.starts_with("/api/v1/namespaces/shop/pods?") => list(&[pod("cache", None)], ""),
        _ => shop(asked),
    });
    let ran = server.run(&["check", "-n", "shop", "cache", "n1"]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(ran.err.contains("only in namespace shop"), "{ran:?}");
}

#[test]
fn nodes_that_may_not_be_listed_stop_the_run() {
    let server = Server::start(|asked: &Asked| match asked.path.starts_with("/api/v1/nodes") {
        true => refused(403, "no nodes"),
        false => shop(asked),
    });
    let ran = server.run(&["check", "web", "n1"]);
    assert_eq!((ran.exit, ran.err.contains("nodes may not be listed")), (2, true), "{ran:?}");
}

#[test]
fn who_asks_is_said_as_kubectl_says_it() {
    let server = Server::start(shop);
    let who = ["--token", "abc", "--as", "ann", "--as-group", "staff", "--as-group", "admins"];
    let ran = server.run(&[&["check", "web", "n1"], &who[..]].concat());
    assert_eq!(ran.exit, 0, "{ran:?}");
    let asked = server.asked.lock().expect("a lock").clone();
    for asked in asked {
        let header = |name: &str| asked.headers.get(name).map(String::as_str);
        assert_eq!(
            (header("authorization"), header("impersonate-user")),
            (Some("Bearer abc"), Some("ann")),
            "{asked:?}"
        );
        assert!(header("impersonate-group").is_some(), "{asked:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_exec_plugin_of_a_kubeconfig_logs_in() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start(shop);
    let plugin = scratch("plugin.sh");
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "from-plugin"}});
    std::fs::write(&plugin, format!("#!/bin/sh\necho '{credential}'\n")).expect("a plugin");
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let kubeconfig = scratch("exec.kubeconfig");
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "interactiveMode": "Never"});
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "none",
        "clusters": [{"name": "c", "cluster": {"server": server.address}}], "users": [{"name": "u", "user": {"exec": exec}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}]});
    std::fs::write(&kubeconfig, config.to_string()).expect("a kubeconfig");
    let command = server.command(&["check", "web", "n1", "--context", "x", "--kubeconfig"]).arg(&kubeconfig).output();
    let ran: Ran = command.expect("it runs").into();
    assert_eq!(ran.exit, 0, "{ran:?}");
    let asked = server.asked.lock().expect("a lock").clone();
    assert!(
        asked
            .iter()
            .all(|asked| asked.headers.get("authorization").is_some_and(|header| header == "Bearer from-plugin"))
    );
}

#[test]
fn a_server_that_dies_gives_an_error_and_no_file() {
    let server = Server::start(|asked: &Asked| if asked.path.contains("continue=") { None } else { shop(asked) });
    let file = scratch("live-half.json");
    let _ = std::fs::remove_file(&file);
    let ran = server.run(&["snapshot", "-o", &file.to_string_lossy()]);
    assert_eq!((ran.exit, file.exists()), (2, false), "{ran:?}");
    assert!(ran.err.contains("pods of http://127.0.0.1") && ran.err.contains("cannot be read"), "{ran:?}");
}

#[test]
fn nobody_listening_is_said_plainly() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let server = Server { address, asked: Arc::default() };
    let ran = server.run(&["check", "web", "n1"]);
    assert_eq!((ran.exit, ran.err.contains("cannot be read")), (2, true), "{ran:?}");
    let nothing: Ran = server.command(&["check", "web", "n1"]).output().expect("it runs").into();
    assert_eq!((nothing.exit, nothing.err.contains("there is no cluster to read")), (2, true), "{nothing:?}");
}

#[test]
fn a_list_that_expired_is_begun_again() {
    let expired = Mutex::new(true);
    let server = Server::start(move |asked: &Asked| {
        let first = asked.path.contains("continue=") && std::mem::take(&mut *expired.lock().expect("a lock"));
        if first { refused(410, "too old") } else { shop(asked) }
    });
    let ran = server.run(&["check", "web", "n2"]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert_eq!(server.paths().iter().filter(|path| *path == "/api/v1/pods?limit=500").count(), 2);
}

#[test]
fn a_replay_changes_nothing_unless_told_and_nothing_on_other_clusters() {
    let server = Server::start(shop);
    let file = scratch("live-verdict.json");
    let verdict = server.run(&["check", "web", "n2", "-o", "json"]);
    std::fs::write(&file, verdict.out).expect("a verdict");
    let dry = server.run(&["replay", &file.to_string_lossy()]);
    assert_eq!((dry.exit, dry.out.contains("DRY RUN")), (0, true), "{dry:?}");
    for force in [&[][..], &["--force"]] {
        let ran = server.run(&[&["replay", "--execute", &file.to_string_lossy()], force].concat());
        assert_eq!((ran.exit, ran.err.contains("not marked as a test cluster")), (2, true), "{ran:?}");
    }
    let asked = server.asked.lock().expect("a lock").clone();
    assert!(asked.iter().all(|asked| asked.method == "GET"), "{asked:?}");
}
