//! The steps of a run as they will be made on a cluster: which pod is created from what, and which pod is deleted.

use std::collections::BTreeMap;
use std::fmt;

use podreach::lower::{Instance, Kind};
use podreach_core::{Action, Atom, PodId, Problem, Trace};
use serde_json::Value;

use super::inert;
use crate::input::session::Session;

/// All steps, in order.
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// The pod type, as the verdict names it.
    pub(crate) pod: String,
    /// The node.
    pub(crate) node: String,
    /// What is done.
    pub(crate) deed: Deed,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// Creates this pod, but for its name.
    Create(Box<Value>),
    /// Deletes the pod that an earlier step created, by its number.
    DeleteOwn(usize),
    /// Deletes a pod that was there before: its namespace and name.
    DeleteOther(String, String),
    /// Begins to delete the pod that an earlier step created, by its number.
    TerminateOwn(usize),
    /// Begins to delete a pod that was there before: its namespace and name.
    TerminateOther(String, String),
}

/// Why a run cannot be made on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanError {
    /// It starts from an empty cluster, and pods run.
    NotEmpty,
    /// A step deletes a pod that does not run.
    NotRunning(usize),
    /// A step deletes a pod that waits for a node.
    Waits(usize, String),
    /// A step adds or removes a node.
    Moves(usize, String),
    /// A step waits for a node.
    Settles(usize, String),
    /// The object behind a pod type is not there.
    NoObject(String),
    /// The object behind a pod type has no template.
    NoTemplate(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEmpty => write!(f, "it starts from an empty cluster, and pods run on this one"),
            Self::NotRunning(number) => write!(f, "step {number} deletes a pod that does not run"),
            Self::Waits(number, pod) => write!(
                f,
                "step {number} deletes {pod}, which waits for a node: delete it, and ask about the cluster as it is then"
            ),
            Self::Moves(number, node) => {
                write!(f, "step {number} adds or removes {node}, which is for its pool to do: a replay changes no node")
            }
            Self::Settles(number, node) => {
                write!(f, "step {number} waits until {node} is ready and not cordoned, and a replay changes no node")
            }
            Self::NoObject(pod) => write!(f, "the object behind {pod} is not there"),
            Self::NoTemplate(pod) => write!(f, "{pod} has no template"),
        }
    }
}

impl std::error::Error for PlanError {}

/// The steps of a trace; what the cluster runs is matched with what the trace deletes.
pub(crate) fn plan(session: &Session, problem: &Problem, trace: &Trace, objects: &[Value]) -> Result<Plan, PlanError> {
    let mut others: BTreeMap<Atom, Vec<&str>> = BTreeMap::new();
    for instance in session.lowered().origins.instances.iter().filter(|instance| !instance.kept) {
        others.entry(place(problem, instance)).or_default().push(&instance.name);
    }
    let running = problem.start.iter().filter(|((pod, _), _)| problem.model.bound(*pod).is_none());
    if !running.eq(others_as_start(session, problem).iter()) {
        return Err(PlanError::NotEmpty);
    }
    let mut own: BTreeMap<Atom, Vec<usize>> = BTreeMap::new();
    let mut steps = Vec::new();
    for (at, action) in trace.iter().enumerate() {
        let number = at + 1;
        let mut gone = |atom: Atom| match own.get_mut(&atom).and_then(Vec::pop) {
            Some(number) => Ok(Ok(number)),
            None => {
                let name = others.get_mut(&atom).and_then(Vec::pop);
                name.map(Err).ok_or(PlanError::NotRunning(number))
            }
        };
        let (deed, (pod, node)) = match action {
            Action::Deploy(pod, node) => {
                own.entry((pod, node)).or_default().push(number);
                (Deed::Create(Box::new(template(session, pod, objects)?)), (pod, node))
            }
            Action::Terminate(pod, node) => {
                let shadow = problem.model.shadow(pod).map(|shadow| (shadow, node));
                let deed = match gone((pod, node))? {
                    Ok(number) => {
                        shadow.into_iter().for_each(|shadow| own.entry(shadow).or_default().push(number));
                        Deed::TerminateOwn(number)
                    }
                    Err(name) => {
                        shadow.into_iter().for_each(|shadow| others.entry(shadow).or_default().push(name));
                        let (namespace, name) = parts(name);
                        Deed::TerminateOther(namespace, name)
                    }
                };
                (deed, (pod, node))
            }
            Action::Delete(pod, node) => match gone((pod, node))? {
                Ok(number) => (Deed::DeleteOwn(number), (pod, node)),
                Err(name) => {
                    let (namespace, name) = parts(name);
                    (Deed::DeleteOther(namespace, name), (pod, node))
                }
            },
            Action::Withdraw(pod) => {
                return Err(PlanError::Waits(number, problem.model.pod_name(pod).to_owned()));
            }
            Action::Add(node) | Action::Remove(node) => {
                return Err(PlanError::Moves(number, problem.model.node_name(node).to_owned()));
            }
            Action::Settle(node) => {
                return Err(PlanError::Settles(number, problem.model.node_name(node).to_owned()));
            }
        };
        let model = &problem.model;
        let (pod, node) = (model.pod_name(pod).to_owned(), model.node_name(node).to_owned());
        steps.push(Step { number, pod, node, deed });
    }
    Ok(Plan { steps })
}

/// The namespace and the name of a pod, `pod/namespace/name`.
fn parts(pod: &str) -> (String, String) {
    let mut parts = pod.splitn(3, '/').skip(1).map(str::to_owned);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn others_as_start(session: &Session, problem: &Problem) -> podreach_core::Configuration {
    session.lowered().origins.instances.iter().map(|instance| (place(problem, instance), 1)).collect()
}

/// What a running pod is, and where.
fn place(problem: &Problem, instance: &Instance) -> Atom {
    let shadow = problem.model.shadow(instance.pod).filter(|_| instance.terminating);
    (shadow.unwrap_or(instance.pod), instance.node)
}

/// An inert pod of a type.
fn template(session: &Session, id: PodId, objects: &[Value]) -> Result<Value, PlanError> {
    let cluster = session.cluster();
    let pod = &cluster.pods[id];
    let origin = session.lowered().origins.pods.get(&pod.name);
    let found = origin.zip(objects.iter().find(|object| is_named(object, &pod.name)));
    let (origin, object) = found.ok_or_else(|| PlanError::NoObject(pod.name.clone()))?;
    let place = match origin.kind {
        Kind::Pod => "/spec",
        Kind::PodTemplate => "/template/spec",
        Kind::CronJob => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    };
    let spec = object.pointer(place).ok_or_else(|| PlanError::NoTemplate(pod.name.clone()))?;
    // The node gives its pods these labels; they are the type's own only if the model says so.
    let given = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    let is_own = |key: &str| {
        let symbol = cluster.symbols.symbol(key);
        !given.contains(&key) || symbol.is_some_and(|key| pod.spec.labels.value(key).is_some())
    };
    let labels = origin.labels.iter().filter(|(key, _)| is_own(key));
    let labels = labels.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    Ok(inert::pod(origin.kind, &origin.namespace, labels, spec))
}

/// Whether an object has a name, as pod types are named.
fn is_named(object: &Value, name: &str) -> bool {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    let mut parts = name.splitn(3, '/');
    let kind = text("/kind").unwrap_or_default();
    parts.next().is_some_and(|wanted| kind.eq_ignore_ascii_case(wanted))
        && parts.next() == Some(text("/metadata/namespace").unwrap_or("default"))
        && parts.next() == text("/metadata/name")
}
