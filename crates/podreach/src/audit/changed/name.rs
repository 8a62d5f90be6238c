//! Changes by name, as documents have them: written from a cluster, and read back into one.
//!
//! A change is written in one way only: what is read must be what would be written, so that nothing in a document is left unread.

use std::collections::BTreeMap;
use std::sync::Arc;

use podreach_core::change::Change;
use podreach_core::cluster::{Pod, PodSpec, Taint, TaintEffect, Toleration, TolerationOperator};
use podreach_core::id::{QuotaId, ResourceId, Symbol};
use podreach_core::label::Labels;
use podreach_core::resource::Resources;
use podreach_core::rule::Rule;
use podreach_core::{Cluster, NodeId, PodId};
use serde_json::{Map, Value, json};

use super::{ChangeError, Step};
use crate::lower::Scheduling;

/// What comes after the name of a pod type that waits for a node: no name ends so.
const WAITED: &str = " waited";

/// The name of a pod type, which no other has.
fn pod_name(cluster: &Cluster, pod: PodId) -> String {
    let name = &cluster.pods[pod].name;
    if cluster.is_twin(pod) { format!("{name}{WAITED}") } else { name.clone() }
}

/// A step by name; `profiles` are those that added pods go through.
pub(super) fn named(cluster: &Cluster, step: &Step, profiles: &[Scheduling]) -> Value {
    let pod = |id: PodId| ("pod", pod_name(cluster, id));
    let node = |id: NodeId| ("node", cluster.symbols.str(cluster.nodes[id].name).to_owned());
    match step {
        Step::Change(change) => of_cluster(cluster, change, profiles),
        Step::Drain(id) => change_of("drain", node(*id)),
        Step::LoseNode(id) => change_of("lose", node(*id)),
        Step::LosePod(id) => change_of("lose", pod(*id)),
        Step::Only { pods, nodes } => {
            let pods: Vec<String> = pods.iter().map(|&id| pod(id).1).collect();
            let nodes = nodes.as_ref().map(|nodes| nodes.iter().map(|&id| node(id).1).collect::<Vec<_>>());
            json!({"change": "only", "pods": pods, "nodes": nodes})
        }
    }
}

fn change_of(change: &str, object: (&str, String)) -> Value {
    json!({"change": change, object.0: object.1})
}

fn of_cluster(cluster: &Cluster, change: &Change, profiles: &[Scheduling]) -> Value {
    let text = |symbol: Symbol| cluster.symbols.str(symbol);
    let mut document = Map::new();
    let mut put = |key: &str, value: Value| drop(document.insert(key.to_owned(), value));
    put("change", kind(change).into());
    match change.object() {
        (Some(pod), _) => put("pod", pod_name(cluster, pod).into()),
        (_, Some(node)) => put("node", text(cluster.nodes[node].name).into()),
        _ => {}
    }
    match *change {
        Change::Untaint(_, taint) | Change::Tolerate(_, taint) => {
            put("key", text(taint.key).into());
            put("value", text(taint.value).into());
            put("effect", effect(taint.effect).into());
        }
        Change::Label(_, key, value) | Change::PodLabel(_, key, value) => {
            put("key", text(key).into());
            put("value", value.map(text).into());
        }
        Change::NamespaceLabel(namespace, key, value) => {
            put("namespace", text(cluster.namespaces[namespace]).into());
            put("key", text(key).into());
            put("value", value.map(text).into());
        }
        Change::NodeSelector(_, key) => put("key", text(key).into()),
        Change::Enlarge(_, resource) | Change::Shrink(_, resource) | Change::Request(_, resource) => {
            put("resource", text(cluster.resources[resource]).into());
        }
        Change::Affinity(_, at) | Change::AntiAffinity(_, at) | Change::Spread(_, at) | Change::Untolerate(_, at) => {
            put("index", at.into())
        }
        Change::Quota(id) => {
            put("quota", cluster.quotas[id].name.as_str().into());
            put("resource", cluster.quotas[id].resource.as_str().into());
        }
        Change::Add(ref pod) => added(cluster, pod, profiles, &mut put),
        _ => {}
    }
    document.into()
}

/// What is said of a pod type that is added: all that actors choose about theirs.
fn added(cluster: &Cluster, pod: &Pod, profiles: &[Scheduling], put: &mut dyn FnMut(&str, Value)) {
    let text = |symbol: Symbol| cluster.symbols.str(symbol);
    let spec = &*pod.spec;
    put("pod", pod.name.as_str().into());
    put("namespace", text(cluster.namespaces[spec.namespace]).into());
    put("labels", spec.labels.iter().map(|(key, value)| (text(key).to_owned(), Value::from(text(value)))).collect());
    put("tolerations", spec.tolerations.iter().map(|of| toleration(cluster, of)).collect());
    let amount =
        |(id, amount): (ResourceId, u128)| (text(cluster.resources[id]).to_owned(), Value::from(amount.to_string()));
    put("requests", spec.requests.iter().map(amount).collect());
    put("quotas", spec.quota.iter().map(|one| quota(cluster, one)).collect());
    put("nodeName", spec.node_name.map(text).into());
    put("exempt", spec.exempt.iter().map(|rule| rule.name()).collect());
    // What a profile adds is read from the input.
    let profile = profiles.iter().find(|of| spec.added_affinity.is_some() && of.added_affinity == spec.added_affinity);
    put("profile", profile.map(|of| of.name.as_str()).into());
}

fn quota(cluster: &Cluster, (id, amount): (&QuotaId, &u128)) -> Value {
    let quota = &cluster.quotas[*id];
    json!({"quota": quota.name, "resource": quota.resource, "amount": amount.to_string()})
}

fn toleration(cluster: &Cluster, of: &Toleration) -> Value {
    let value = if let TolerationOperator::Equal(value) = of.operator { Some(value) } else { None };
    let [key, value] = [of.key, value].map(|symbol| symbol.map(|symbol| cluster.symbols.str(symbol)));
    json!({"key": key, "value": value, "effect": of.effect.map(effect)})
}

fn effect(effect: TaintEffect) -> &'static str {
    match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    }
}

fn kind(change: &Change) -> &'static str {
    match change {
        Change::Add(_) => "add",
        Change::Alone(_) => "alone",
        Change::Open(_) => "open",
        Change::Close(_) => "close",
        Change::Cordon(_) => "cordon",
        Change::Untaint(..) => "untaint",
        Change::Uncordon(_) => "uncordon",
        Change::Label(..) | Change::PodLabel(..) | Change::NamespaceLabel(..) => "label",
        Change::Enlarge(..) => "enlarge",
        Change::Ask(_) => "ask",
        Change::Shrink(..) => "shrink",
        Change::Tolerate(..) => "tolerate",
        Change::Untolerate(..) => "drop-toleration",
        Change::NodeName(_) => "drop-node-name",
        Change::NodeSelector(..) => "drop-node-selector",
        Change::NodeAffinity(_) => "drop-node-affinity",
        Change::Affinity(..) => "drop-affinity",
        Change::AntiAffinity(..) => "drop-anti-affinity",
        Change::Spread(..) => "drop-spread",
        Change::Ports(_) => "drop-ports",
        Change::Request(..) => "drop-request",
        Change::Volumes(_) => "drop-volumes",
        Change::Devices(_) => "drop-devices",
        Change::Quota(_) => "quota",
    }
}

/// The step that a document names, in a cluster that learns the words it does not know; or what is wrong with it.
pub(super) fn resolved(cluster: &mut Cluster, document: &Value, profiles: &[Scheduling]) -> Result<Step, ChangeError> {
    let mut reader = Reader { cluster, document, profiles };
    let step = reader.step()?;
    if named(cluster, &step, profiles) == *document { Ok(step) } else { Err(ChangeError::Form(document.to_string())) }
}

struct Reader<'r> {
    cluster: &'r mut Cluster,
    document: &'r Value,
    profiles: &'r [Scheduling],
}

type Found<T> = Result<T, ChangeError>;

impl<'r> Reader<'r> {
    fn step(&mut self) -> Found<Step> {
        let (of_pod, of_node) = (self.has("pod"), self.has("node"));
        Ok(match self.text("change")? {
            "drain" => Step::Drain(self.node()?),
            "lose" if of_node => Step::LoseNode(self.node()?),
            "lose" => Step::LosePod(self.pod()?),
            "only" => self.only()?,
            "add" => Step::Change(Change::Add(Box::new(self.added()?))),
            kind => Step::Change(match (of_pod, of_node) {
                (true, _) => self.of_pod(kind)?,
                (_, true) => self.of_node(kind)?,
                _ => self.of_neither(kind)?,
            }),
        })
    }

    fn has(&self, key: &str) -> bool {
        self.document.get(key).is_some()
    }

    fn of_pod(&mut self, kind: &str) -> Found<Change> {
        let pod = self.pod()?;
        let spec = self.cluster.pods[pod].spec.clone();
        Ok(match kind {
            "alone" => Change::Alone(pod),
            "tolerate" => Change::Tolerate(pod, self.taint()?),
            "drop-toleration" => Change::Untolerate(pod, self.index(spec.tolerations.len())?),
            "drop-node-name" => Change::NodeName(pod),
            "drop-node-selector" => Change::NodeSelector(pod, self.symbol("key")?),
            "drop-node-affinity" => Change::NodeAffinity(pod),
            "drop-affinity" => Change::Affinity(pod, self.index(spec.affinity.len())?),
            "drop-anti-affinity" => Change::AntiAffinity(pod, self.index(spec.anti_affinity.len())?),
            "drop-spread" => Change::Spread(pod, self.index(spec.spread.len())?),
            "drop-ports" => Change::Ports(pod),
            "drop-request" => Change::Request(pod, self.resource()?),
            "drop-volumes" => Change::Volumes(pod),
            "drop-devices" => Change::Devices(pod),
            "label" => Change::PodLabel(pod, self.symbol("key")?, self.symbol_if_any("value")),
            other => return Err(unknown(other)),
        })
    }

    fn of_node(&mut self, kind: &str) -> Found<Change> {
        let node = self.node()?;
        Ok(match kind {
            "open" => Change::Open(node),
            "close" => Change::Close(node),
            "cordon" => Change::Cordon(node),
            "untaint" => Change::Untaint(node, self.taint()?),
            "uncordon" => Change::Uncordon(node),
            "ask" => Change::Ask(node),
            "label" => Change::Label(node, self.symbol("key")?, self.symbol_if_any("value")),
            "enlarge" => Change::Enlarge(node, self.resource()?),
            "shrink" => Change::Shrink(node, self.resource()?),
            other => return Err(unknown(other)),
        })
    }

    fn of_neither(&mut self, kind: &str) -> Found<Change> {
        match kind {
            "label" => {
                let name = self.symbol("namespace")?;
                let namespace = self.cluster.namespaces.id(&name).ok_or(ChangeError::Namespace)?;
                Ok(Change::NamespaceLabel(namespace, self.symbol("key")?, self.symbol_if_any("value")))
            }
            "quota" => self.quota(self.document).map(Change::Quota),
            other => Err(unknown(other)),
        }
    }

    fn only(&self) -> Found<Step> {
        let pods: BTreeMap<String, PodId> =
            self.cluster.pods.ids().map(|pod| (pod_name(self.cluster, pod), pod)).collect();
        let nodes = self.cluster.nodes.iter().map(|(id, node)| (self.cluster.symbols.str(node.name), id));
        let nodes: BTreeMap<&str, NodeId> = nodes.collect();
        let pods =
            self.names("pods").ok_or_else(|| missing("pods"))?.filter_map(|name| pods.get(name).copied()).collect();
        let nodes = self.names("nodes").map(|all| all.filter_map(|name| nodes.get(name).copied()).collect());
        Ok(Step::Only { pods, nodes })
    }

    fn names(&self, key: &str) -> Option<impl Iterator<Item = &'r str>> {
        self.document[key].as_array().map(|all| all.iter().filter_map(Value::as_str))
    }

    fn added(&mut self) -> Found<Pod> {
        let name = self.text("pod")?.to_owned();
        if self.cluster.pods.values().any(|pod| pod.name == name) {
            return Err(ChangeError::Exists(name));
        }
        let namespace = self.text("namespace")?;
        let plain = PodSpec::plain(self.cluster.namespace(namespace));
        let document = self.document;
        let labels = document["labels"].as_object().ok_or_else(|| missing("labels"))?;
        let pairs = labels.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
        let labels: Labels = self.cluster.labels(pairs);
        let tolerations = items(document, "tolerations")?.iter().map(|of| self.toleration(of)).collect::<Found<_>>()?;
        let mut requests = Resources::default();
        for (resource, amount) in document["requests"].as_object().ok_or_else(|| missing("requests"))? {
            requests.set(self.cluster.resource(resource), number(amount)?);
        }
        let quota = items(document, "quotas")?
            .iter()
            .map(|of| Ok((self.quota(of)?, number(&of["amount"])?)))
            .collect::<Found<_>>()?;
        let exempt = items(document, "exempt")?.iter().filter_map(rule_called).collect();
        let node_name = self.symbol_if_any("nodeName");
        let profile = self.profiles.iter().find(|of| document["profile"].as_str() == Some(&of.name));
        let added_affinity = profile.and_then(|of| of.added_affinity.clone());
        let spec = PodSpec { labels, tolerations, requests, quota, node_name, exempt, added_affinity, ..plain };
        Ok(Pod { name, spec: Arc::new(spec) })
    }

    fn toleration(&mut self, of: &Value) -> Found<Toleration> {
        let operator = self.symbol_of(of, "value").map_or(TolerationOperator::Exists, TolerationOperator::Equal);
        let effect = of["effect"].as_str().map(effect_called).transpose()?;
        Ok(Toleration { key: self.symbol_of(of, "key"), operator, effect })
    }

    fn symbol_of(&mut self, of: &Value, key: &str) -> Option<Symbol> {
        of[key].as_str().map(|text| self.cluster.symbols.intern(text))
    }

    fn quota(&self, of: &Value) -> Found<QuotaId> {
        let found = self.cluster.quotas.iter().find(|one| is_quota(of, one)).map(|(id, _)| id);
        found.ok_or(ChangeError::Quota)
    }

    fn text(&self, key: &str) -> Found<&'r str> {
        self.document[key].as_str().ok_or_else(|| missing(key))
    }

    fn symbol(&mut self, key: &str) -> Found<Symbol> {
        self.text(key).map(|text| self.cluster.symbols.intern(text))
    }

    fn symbol_if_any(&mut self, key: &str) -> Option<Symbol> {
        self.symbol(key).ok()
    }

    fn resource(&mut self) -> Found<ResourceId> {
        self.text("resource").map(|text| self.cluster.resource(text))
    }

    fn index(&self, below: usize) -> Found<usize> {
        let index = self.document["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        index.filter(|&index| index < below).ok_or_else(|| missing("index"))
    }

    fn taint(&mut self) -> Found<Taint> {
        let effect = effect_called(self.text("effect")?)?;
        Ok(Taint { key: self.symbol("key")?, value: self.symbol("value")?, effect })
    }

    fn pod(&self) -> Found<PodId> {
        let name = self.text("pod")?;
        let found = self.cluster.pods.ids().find(|&pod| pod_name(self.cluster, pod) == name);
        found.ok_or_else(|| ChangeError::Pod(name.to_owned()))
    }

    fn node(&self) -> Found<NodeId> {
        let name = self.text("node")?;
        let found = self.cluster.nodes.iter().find(|(_, node)| self.cluster.symbols.str(node.name) == name);
        found.map(|(id, _)| id).ok_or_else(|| ChangeError::Node(name.to_owned()))
    }
}

fn is_quota(of: &Value, (_, quota): &(QuotaId, &podreach_core::cluster::Quota)) -> bool {
    (of["quota"].as_str(), of["resource"].as_str()) == (Some(&quota.name), Some(&quota.resource))
}

fn rule_called(of: &Value) -> Option<Rule> {
    Rule::ALL.into_iter().find(|rule| Some(rule.name()) == of.as_str())
}

/// The items of a field that has to be a list.
fn items<'d>(document: &'d Value, key: &str) -> Found<&'d Vec<Value>> {
    document[key].as_array().ok_or_else(|| missing(key))
}

fn effect_called(name: &str) -> Found<TaintEffect> {
    let all = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    all.into_iter().find(|&of| effect(of) == name).ok_or_else(|| missing("effect"))
}

fn number(value: &Value) -> Found<u128> {
    value.as_str().and_then(|text| text.parse().ok()).ok_or(ChangeError::Amount)
}

fn missing(key: &str) -> ChangeError {
    ChangeError::Lacks(key.to_owned())
}

fn unknown(kind: &str) -> ChangeError {
    ChangeError::Kind(kind.to_owned())
}
