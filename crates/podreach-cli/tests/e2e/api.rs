//! The API server of the control plane, as an administrator sees it.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::paths::{collection, path};

/// The namespaces of all tests; they are never removed, since nobody here would finish that.
pub const NAMESPACES: [(&str, &str); 2] = [("east", "blue"), ("west", "green")];

/// A connection.
pub struct Api {
    runtime: Runtime,
    client: Client,
    /// Where the control plane keeps its files.
    pub folder: PathBuf,
}

impl Api {
    /// Connects to the control plane of a folder, and marks it as a test cluster.
    pub fn connect(folder: PathBuf) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::read_from(folder.join("kubeconfig")).expect("the kubeconfig of the folder");
            let options = KubeConfigOptions { context: Some("admin".into()), ..Default::default() };
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a usable kubeconfig");
            Client::try_from(config).expect("a client")
        });
        let api = Self { runtime, client, folder };
        let mark = json!({"metadata": {"labels": {"podreach.dev/test-cluster": "true"}}});
        api.wait_for("/api/v1/namespaces/kube-system");
        api.send(Method::PATCH, "/api/v1/namespaces/kube-system", Some(&mark)).expect("the mark is set");
        for (name, team) in NAMESPACES {
            api.apply(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}}),
            );
        }
        api
    }

    fn wait_for(&self, path: &str) {
        let began = Instant::now();
        while self.send(Method::GET, path, None).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "{path} does not appear");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Sends a request; an error is the status, or 0 without one.
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, (u16, String)> {
        let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = Request::builder().method(method).uri(path).header("content-type", kind).body(body);
        let text = self.runtime.block_on(self.client.request_text(request.expect("a request")));
        let text = text.map_err(|error| match error {
            kube::Error::Api(status) => (status.code, status.message.clone()),
            other => (0, other.to_string()),
        })?;
        Ok(serde_json::from_str(&text).expect("an answer in JSON"))
    }

    /// What is at a path.
    pub fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, None).unwrap_or_else(|(status, message)| panic!("{path}: {message} ({status})"))
    }

    /// The items of a list.
    pub fn list(&self, path: &str) -> Vec<Value> {
        self.get(path)["items"].as_array().cloned().unwrap_or_default()
    }

    /// Creates an object; one that is there already stays.
    pub fn apply(&self, object: &Value) {
        match self.send(Method::POST, &collection(object), Some(object)) {
            Ok(_) | Err((409, _)) => {}
            Err((status, message)) => panic!("{message} ({status}): {object}"),
        }
        // A status counts only where it is sent by itself.
        if let Some(status) = object.get("status") {
            let status = json!({"status": status});
            let place = format!("{}/status", path(object));
            self.send(Method::PATCH, &place, Some(&status)).unwrap_or_else(|why| panic!("{place}: {why:?}"));
        }
    }

    /// Deletes an object, at once; one that is not there is no matter.
    pub fn delete(&self, path: &str) {
        let now = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        match self.send(Method::DELETE, path, Some(&now)) {
            Ok(_) | Err((404, _)) => {}
            Err((status, message)) => panic!("{path}: {message} ({status})"),
        }
    }

    /// Removes everything that tests make.
    pub fn clear(&self) {
        let now = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        let workloads =
            ["deployments", "replicasets", "statefulsets", "daemonsets"].map(|plural| ("apis/apps/v1", plural));
        let namespaced = workloads.into_iter().chain([("apis/batch/v1", "jobs"), ("api/v1", "pods")]);
        for (root, plural) in namespaced {
            for namespace in ["default", NAMESPACES[0].0, NAMESPACES[1].0] {
                let all = format!("/{root}/namespaces/{namespace}/{plural}");
                self.send(Method::DELETE, &all, Some(&now)).unwrap_or_else(|why| panic!("{all}: {why:?}"));
            }
        }
        self.send(Method::DELETE, "/api/v1/nodes", Some(&now)).expect("the nodes are removed");
        for (plural, kind) in
            [("persistentvolumeclaims", "PersistentVolumeClaim"), ("persistentvolumes", "PersistentVolume")]
        {
            for mut object in self.list(&format!("/api/v1/{plural}")) {
                (object["apiVersion"], object["kind"]) = ("v1".into(), kind.into());
                let place = path(&object);
                // Nobody here would find out that a claim is no longer in use.
                let free = json!({"metadata": {"finalizers": null}});
                self.send(Method::PATCH, &place, Some(&free)).unwrap_or_else(|why| panic!("{place}: {why:?}"));
                self.delete(&place);
            }
        }
        self.delete("/apis/scheduling.k8s.io/v1/priorityclasses/podreach-replay");
    }

    /// Starts again whatever of the control plane has ended.
    pub fn start(&self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/control-plane/start");
        let status = Command::new(script).arg(&self.folder).stdout(std::process::Stdio::null()).status();
        assert!(status.expect("the script runs").success());
    }

    /// Where the API server listens, on loopback.
    pub fn port(&self) -> u16 {
        let port = std::fs::read_to_string(self.folder.join("secure.port")).expect("its port");
        port.trim().parse().expect("a number")
    }

    /// Ends the API server as a crash would.
    pub fn kill_server(&self) {
        let pid = std::fs::read_to_string(self.folder.join("kube-apiserver.pid")).expect("its process id");
        let killed = Command::new("kill").args(["-9", pid.trim()]).status().expect("kill runs");
        assert!(killed.success());
        // It still holds its memory and its port for a while, and whoever starts it again would take it for alive.
        let program = format!("/proc/{}/exe", pid.trim());
        let began = Instant::now();
        while std::fs::read_link(&program).is_ok() {
            assert!(began.elapsed() < Duration::from_secs(60), "the API server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
