//! The API server, as an administrator sees it: many requests at a time.

use std::path::Path;
use std::time::{Duration, Instant};

use http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::paths::{collection, path};

/// How many requests are under way at a time.
const AT_ONCE: usize = 32;

/// A request: its method, its path and its body.
pub type Order = (Method, String, Value);

/// The answer to a request; an error is the status (0 without one) and what the server says.
pub type Answer = Result<Value, (u16, String)>;

/// A connection.
pub struct Api {
    runtime: Runtime,
    client: Client,
}

impl Api {
    /// Connects to the control plane of a folder.
    pub fn connect(folder: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::read_from(folder.join("kubeconfig")).expect("the kubeconfig of the folder");
            let options = KubeConfigOptions { context: Some("admin".into()), ..Default::default() };
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a usable kubeconfig");
            Client::try_from(config).expect("a client")
        });
        Self { runtime, client }
    }

    /// Sends requests, some at a time; the answers are in the same order.
    pub fn send_all(&self, orders: Vec<Order>) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = orders.iter().map(|_| None).collect();
        self.runtime.block_on(async {
            let mut under_way = JoinSet::new();
            let mut orders = orders.into_iter().enumerate();
            loop {
                while under_way.len() < AT_ONCE {
                    let Some((at, order)) = orders.next() else { break };
                    let client = self.client.clone();
                    under_way.spawn(async move { (at, sent(client, order).await) });
                }
                let Some(done) = under_way.join_next().await else { break };
                let (at, answer) = done.expect("no request panics");
                answers[at] = Some(answer);
            }
        });
        answers.into_iter().map(|answer| answer.expect("every request is answered")).collect()
    }

    /// Sends one request.
    pub fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        self.send_all(vec![(method, path.to_owned(), body)]).pop().expect("an answer")
    }

    /// What is at a path.
    pub fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, Value::Null).unwrap_or_else(|why| panic!("{path}: {why:?}"))
    }

    /// The items of a list, each with its version and kind, which lists leave out.
    pub fn list(&self, path: &str, version: &str, kind: &str) -> Vec<Value> {
        let mut items = self.get(path)["items"].as_array().cloned().unwrap_or_default();
        for item in &mut items {
            (item["apiVersion"], item["kind"]) = (version.into(), kind.into());
        }
        items
    }

    /// Creates objects that the server must take, with their status.
    pub fn create(&self, objects: &[Value]) {
        let orders = objects.iter().map(|object| (Method::POST, collection(object), object.clone())).collect();
        for (answer, object) in self.send_all(orders).into_iter().zip(objects) {
            match answer {
                Ok(_) | Err((409, _)) => {}
                Err((status, message)) => panic!("{message} ({status}): {object}"),
            }
        }
        let orders = objects.iter().filter_map(|object| {
            let status = object.get("status")?;
            Some((Method::PATCH, format!("{}/status", path(object)), json!({"status": status})))
        });
        self.send_all(orders.collect()).into_iter().for_each(|answer| _ = answer.expect("a status is taken"));
    }

    /// Asks again and again until there is an answer, for so many seconds at most.
    pub fn until<T>(&self, what: &str, seconds: u64, mut ask: impl FnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(began.elapsed() < Duration::from_secs(seconds), "{what} does not happen within {seconds} s");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

async fn sent(client: Client, (method, path, body): Order) -> Answer {
    let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder().method(method).uri(path).header("content-type", kind).body(body);
    let text = client.request_text(request.expect("a request")).await.map_err(|error| match error {
        kube::Error::Api(status) => (status.code, status.message.clone()),
        other => (0, other.to_string()),
    })?;
    Ok(serde_json::from_str(&text).expect("an answer in JSON"))
}
