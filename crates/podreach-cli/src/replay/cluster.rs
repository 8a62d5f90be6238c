//! The steps of a replay as requests to an API server, and what is seen of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use super::LABEL;
use super::inert::CLASS;
use super::outcome::Outcome;
use super::plan::{Deed, Step};
use crate::args::Replay;
use crate::budget::Clock;
use crate::live::connection::Connection;
use crate::live::failure::Failure;

/// How a cluster says that it is for tests: this label or annotation of the namespace kube-system.
const MARK: &str = "podreach.dev/test-cluster";

/// How often a step is tried: the scheduler may not have heard of the step before when it looks.
const ATTEMPTS: usize = 3;

/// How long a refusal must last to be believed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A cluster to replay on.
pub(crate) struct Cluster<'c> {
    connection: &'c Connection,
    /// How long and how much.
    pub(crate) clock: &'c Clock,
    timeout: Duration,
    grace: Option<u64>,
    /// The name of this run.
    pub(crate) run: String,
}

/// Pods that steps created, by the number of the step: their namespace and name.
pub(crate) type Created = BTreeMap<usize, (String, String)>;

impl<'c> Cluster<'c> {
    /// Behind a connection; nothing is sent yet.
    pub(crate) fn new(connection: &'c Connection, args: &Replay, clock: &'c Clock) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let run = format!("{:x}-{:x}", now.as_millis(), std::process::id());
        Self { connection, clock, timeout: args.step_timeout, grace: args.grace_period, run }
    }

    /// Whether no more steps are to be made.
    pub(crate) fn is_stopped(&self) -> bool {
        self.clock.stop().is_some()
    }

    /// The address of its server.
    pub(crate) fn server(&self) -> &str {
        &self.connection.server
    }

    /// Whether someone marked it as a test cluster.
    pub(crate) fn is_for_tests(&self) -> Result<bool, Failure> {
        let namespace = self.connection.get("/api/v1/namespaces/kube-system")?;
        let marked = |part: &str| namespace["metadata"][part][MARK] == "true";
        Ok(marked("labels") || marked("annotations"))
    }

    /// Makes a step and says what came of it.
    pub(crate) fn step(&self, step: &Step, created: &mut Created) -> Outcome {
        let done = match &step.deed {
            Deed::Create(pod) => self.deploy(step, pod, created),
            Deed::DeleteOwn(number) => match created.remove(number) {
                Some((namespace, name)) => self.delete(&namespace, &name, Some(0)),
                None => Ok(Outcome::Failed(format!("step {number} created nothing"))),
            },
            Deed::DeleteOther(namespace, name) => self.delete(namespace, name, self.grace),
            Deed::TerminateOwn(number) => match created.get(number) {
                Some((namespace, name)) => self.terminate(namespace, name),
                None => Ok(Outcome::Failed(format!("step {number} created nothing"))),
            },
            Deed::TerminateOther(namespace, name) => self.terminate(namespace, name),
        };
        done.unwrap_or_else(|failure| Outcome::Failed(failure.to_string()))
    }

    fn deploy(&self, step: &Step, pod: &Value, created: &mut Created) -> Result<Outcome, Failure> {
        let owner = self.class()?;
        let mut outcome = Outcome::Interrupted;
        for attempt in 1..=ATTEMPTS {
            let (namespace, name) = self.create(step, attempt, pod, &owner)?;
            outcome = self.bound(&namespace, &name, &step.node)?;
            if outcome == Outcome::Agreed {
                created.insert(step.number, (namespace, name));
                return Ok(outcome);
            }
            self.delete(&namespace, &name, Some(0))?;
            let again = matches!(outcome, Outcome::Elsewhere(_)) && attempt < ATTEMPTS && !self.is_stopped();
            if !again {
                return Ok(outcome);
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(outcome)
    }

    /// Creates a pod behind a gate, nominates its node, and lifts the gate.
    fn create(&self, step: &Step, attempt: usize, pod: &Value, owner: &Value) -> Result<(String, String), Failure> {
        let mut pod = pod.clone();
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
        let name = format!("{CLASS}-{}-{}-{attempt}", self.run, step.number);
        pod["metadata"]["name"] = name.as_str().into();
        pod["metadata"]["labels"][LABEL] = self.run.as_str().into();
        pod["metadata"]["ownerReferences"] = json!([owner]);
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        self.post(&pods, &pod)?;
        let nominated = json!({"status": {"nominatedNodeName": step.node}});
        self.connection.send(Method::PATCH, &format!("{pods}/{name}/status"), Some(&nominated))?;
        let lifted = json!({"spec": {"schedulingGates": null}});
        self.connection.send(Method::PATCH, &format!("{pods}/{name}"), Some(&lifted))?;
        Ok((namespace, name))
    }

    /// Creates a pod; admission may hear of its class only a moment after that was made.
    fn post(&self, pods: &str, pod: &Value) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            match self.connection.send(Method::POST, pods, Some(pod)) {
                Err(Failure::Status(403, message))
                    if message.contains("no PriorityClass") && began.elapsed() < PATIENCE =>
                {
                    pause(began);
                }
                other => return other.map(|_| ()),
            }
        }
    }

    /// Waits until a pod is bound, or refused for good.
    fn bound(&self, namespace: &str, name: &str, node: &str) -> Result<Outcome, Failure> {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let began = Instant::now();
        let mut refused: Option<Instant> = None;
        while began.elapsed() < self.timeout {
            if self.is_stopped() {
                return Ok(Outcome::Interrupted);
            }
            let pod = self.connection.get(&path)?;
            if let Some(bound) = pod.pointer("/spec/nodeName").and_then(Value::as_str) {
                return Ok(if bound == node { Outcome::Agreed } else { Outcome::Elsewhere(bound.to_owned()) });
            }
            match refusal(&pod) {
                Some(why) if refused.is_some_and(|since| since.elapsed() >= PATIENCE) => {
                    return Ok(Outcome::Refused(why));
                }
                Some(_) => _ = refused.get_or_insert_with(Instant::now),
                None => refused = None,
            }
            pause(began);
        }
        Ok(Outcome::Late(format!("the scheduler did nothing within {:?}", self.timeout)))
    }

    /// Begins to delete a pod, which has an hour to go.
    fn terminate(&self, namespace: &str, name: &str) -> Result<Outcome, Failure> {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 3600});
        self.connection.send(Method::DELETE, &path, Some(&options))?;
        match self.connection.get(&path) {
            Err(failure) if failure.is(404) => Ok(Outcome::Failed(format!("pod {namespace}/{name} is gone already"))),
            other => other.map(|_| Outcome::Agreed),
        }
    }

    /// Deletes a pod and waits until it is gone.
    fn delete(&self, namespace: &str, name: &str, grace: Option<u64>) -> Result<Outcome, Failure> {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        if let Some(seconds) = grace {
            options["gracePeriodSeconds"] = seconds.into();
        }
        let deleted = match self.connection.send(Method::DELETE, &path, Some(&options)) {
            Err(failure) if failure.is(404) => return Ok(Outcome::Agreed),
            other => other?,
        };
        let began = Instant::now();
        while began.elapsed() < self.timeout {
            match self.connection.get(&path) {
                Err(failure) if failure.is(404) => return Ok(Outcome::Agreed),
                Err(failure) => return Err(failure),
                Ok(pod) if uid(&pod) != uid(&deleted) => return Ok(Outcome::Agreed),
                Ok(_) => pause(began),
            }
        }
        Ok(Outcome::Late(format!("pod {namespace}/{name} is still there after {:?}", self.timeout)))
    }

    /// The class of all replayed pods, as an owner; made if it is not there.
    fn class(&self) -> Result<Value, Failure> {
        const PATH: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
        let class = match self.connection.get(&format!("{PATH}/{CLASS}")) {
            Err(failure) if failure.is(404) => {
                let class = json!({
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": CLASS, "labels": {LABEL: self.run}},
                    "value": 0,
                    "preemptionPolicy": "Never",
                    "description": "Pods of podreach replay, which never preempt others.",
                });
                self.connection.send(Method::POST, PATH, Some(&class))?
            }
            other => other?,
        };
        Ok(json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "name": CLASS,
            "uid": class["metadata"]["uid"],
            "controller": true,
            "blockOwnerDeletion": false,
        }))
    }

    /// Removes the pods of a run, or of all runs with what else they left; says how many pods.
    pub(crate) fn clean(&self, run: Option<&str>) -> Result<usize, Failure> {
        let only = run.map(|run| format!("%3D{run}")).unwrap_or_default();
        let pods = self.connection.get(&format!("/api/v1/pods?labelSelector={LABEL}{only}"))?;
        let mut removed = 0;
        for pod in pods["items"].as_array().into_iter().flatten() {
            let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default();
            // The label alone is not enough to have something deleted.
            if text("name").starts_with(CLASS) && pod["metadata"]["ownerReferences"][0]["name"] == CLASS {
                self.delete(text("namespace"), text("name"), Some(0))?;
                removed += 1;
            }
        }
        let others = self.connection.get(&format!("/api/v1/pods?labelSelector={LABEL}&limit=1"))?;
        if others["items"].as_array().is_none_or(Vec::is_empty) {
            let path = format!("/apis/scheduling.k8s.io/v1/priorityclasses/{CLASS}");
            match self.connection.send(Method::DELETE, &path, None) {
                Err(failure) if !failure.is(404) => return Err(failure),
                _ => {}
            }
        }
        Ok(removed)
    }
}

fn uid(pod: &Value) -> Option<Value> {
    pod.pointer("/metadata/uid").cloned()
}

/// Why the scheduler found no node for a pod, if it said so.
fn refusal(pod: &Value) -> Option<String> {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array)?;
    let condition = conditions
        .iter()
        .find(|condition| condition["type"] == "PodScheduled" && condition["reason"] == "Unschedulable")?;
    Some(condition["message"].as_str().unwrap_or("it says nothing").to_owned())
}

/// Waits a little, and longer the longer it takes.
fn pause(began: Instant) {
    let millis = (began.elapsed().as_millis() / 5).clamp(10, 200);
    std::thread::sleep(Duration::from_millis(u64::try_from(millis).unwrap_or(200)));
}
